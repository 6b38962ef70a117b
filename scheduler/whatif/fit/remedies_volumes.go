package fit

import (
	"cmp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	volumehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
)

// otherClasses returns cures that give claims of the pod which are not bound yet another storage class. They hold nothing, so nothing is lost. Whether
// the other class reaches a node is for the plugin to say.
func (s *search) otherClasses() []cure {
	objects, err := s.trial.List(storagev1.SchemeGroupVersion.WithKind("StorageClass"))
	if err != nil {
		return nil
	}
	var classes []*storagev1.StorageClass
	for _, object := range objects {
		class := object.(*storagev1.StorageClass)
		// A volume of another mode exists before the pod has a node.
		if ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate) == storagev1.VolumeBindingWaitForFirstConsumer {
			classes = append(classes, class)
		}
	}
	slices.SortFunc(classes, func(a, b *storagev1.StorageClass) int { return strings.Compare(a.Name, b.Name) })
	var out []cure
	for _, v := range s.pod.Spec.Volumes {
		claim := s.unboundClaim(v)
		if claim == nil {
			continue
		}
		from := volumehelpers.GetPersistentVolumeClaimClass(claim)
		for _, class := range classes {
			if class.Name != from {
				out = append(out, cure{reclassing(claim, from, class.Name)})
			}
		}
	}
	return out
}

// unboundClaim returns the claim of a volume, or nil if it is bound, or a controller owns it and would make it anew as it was.
func (s *search) unboundClaim(v v1.Volume) *v1.PersistentVolumeClaim {
	if v.PersistentVolumeClaim == nil {
		return nil
	}
	object, err := s.trial.Get(claimKind, s.pod.Namespace, v.PersistentVolumeClaim.ClaimName)
	if err != nil {
		return nil
	}
	claim := object.(*v1.PersistentVolumeClaim)
	if claim.Spec.VolumeName != "" || len(claim.OwnerReferences) > 0 || claim.Annotations[volumehelpers.AnnSelectedNode] != "" {
		return nil
	}
	return claim
}

func reclassing(claim *v1.PersistentVolumeClaim, from, to string) remedy {
	again := &v1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Name: claim.Name, Labels: claim.Labels, Annotations: claim.Annotations},
		Spec:       *claim.Spec.DeepCopy(),
	}
	again.Spec.StorageClassName = &to
	return remedy{
		says:  explain.ChangeStorageClass{Claim: claim.Name, From: cmp.Or(from, "none"), To: to},
		shape: "storageClass " + claim.Name + " " + to, disturbance: ofPod, cost: costOfClass,
		claims: []whatif.Change{{Delete: &whatif.ObjectRef{GVK: claimKind, Namespace: claim.Namespace, Name: claim.Name}}, {Apply: again}},
	}
}
