package standalone

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/standin"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

// completeClass adds the default StorageClass of a new cluster, unless there is one of its name or
// another default.
func (r *reading) completeClass() error {
	class := objects.NewDefaultStorageClass()
	for _, o := range r.objects {
		var head struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
		}
		if o.gk != objects.StorageClass || json.Unmarshal(o.json, &head) != nil {
			continue
		}
		if head.Metadata.Name == class.Name || head.Metadata.Annotations[objects.IsDefaultClass] == "true" {
			return nil
		}
	}
	data, err := json.Marshal(class)
	if err != nil {
		return err
	}
	r.objects = append(r.objects, readObject{gk: objects.StorageClass, json: data, source: "the default StorageClass"})
	return nil
}

// complete does what an API server and controllers do with objects that come from elsewhere: it
// adds namespaces, and links objects that refer to each other by UID.
func (s *state) complete() {
	s.addNamespaces()
	for _, o := range s.list() {
		s.link(o)
	}
}

func (s *state) addNamespaces() {
	names := map[string]bool{metav1.NamespaceDefault: true}
	for k := range s.objects {
		if k.namespace != "" {
			names[k.namespace] = true
		}
	}
	for name := range names {
		if s.objects[key{objects.Namespace, "", name}] == nil {
			s.put(&corev1.Namespace{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: objects.Namespace.Kind},
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}},
			})
		}
	}
}

func (s *state) link(o runtime.Object) {
	switch o := o.(type) {
	case *corev1.Node:
		standin.Complete(o)
	case *corev1.PersistentVolume:
		s.linkVolume(o)
	case *resourcev1.ResourceClaim:
		s.linkConsumers(o)
	}
}

// linkVolume binds a volume to its claim, and makes one that has none available.
func (s *state) linkVolume(pv *corev1.PersistentVolume) {
	switch pv.Status.Phase {
	case corev1.VolumeReleased, corev1.VolumeFailed:
		return
	}
	ref := pv.Spec.ClaimRef
	if ref == nil {
		pv.Status.Phase = corev1.VolumeAvailable
		return
	}
	claim, _ := s.objects[key{objects.PersistentVolumeClaim, ref.Namespace, ref.Name}].(*corev1.PersistentVolumeClaim)
	if claim == nil || claim.Spec.VolumeName != "" && claim.Spec.VolumeName != pv.Name {
		return
	}
	ref.UID = claim.UID
	pv.Status.Phase = corev1.VolumeBound
	claim.Spec.VolumeName, claim.Status.Phase = pv.Name, corev1.ClaimBound
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volume.AnnBindCompleted, "yes")
}

// linkConsumers gives the pods that a claim is reserved for the UIDs that they have here.
func (s *state) linkConsumers(claim *resourcev1.ResourceClaim) {
	claim.Status.ReservedFor = slices.DeleteFunc(claim.Status.ReservedFor, func(c resourcev1.ResourceClaimConsumerReference) bool {
		return c.Resource == "pods" && s.objects[key{objects.Pod, claim.Namespace, c.Name}] == nil
	})
	for i := range claim.Status.ReservedFor {
		c := &claim.Status.ReservedFor[i]
		if pod, ok := s.objects[key{objects.Pod, claim.Namespace, c.Name}].(*corev1.Pod); ok && c.Resource == "pods" {
			c.UID = pod.UID
		}
	}
}

// restoreOwner makes the owner that an export has noted a reference again: topology spreading by
// default needs it.
func restoreOwner(o metav1.Object) {
	var noted struct{ APIVersion, Kind, Name string }
	if json.Unmarshal([]byte(o.GetAnnotations()[objects.AnnotationOwner]), &noted) != nil || noted.Name == "" || len(o.GetOwnerReferences()) > 0 {
		return
	}
	o.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: noted.APIVersion, Kind: noted.Kind, Name: noted.Name, Controller: ptr.To(true),
		UID: types.UID(noted.Kind + " " + o.GetNamespace() + "/" + noted.Name),
	}})
}

// keepClassless keeps a bound claim without a class as it is: admission would give it the default
// class, which its volume does not have.
func keepClassless(claim *corev1.PersistentVolumeClaim) {
	if claim.Spec.VolumeName != "" && claim.Spec.StorageClassName == nil && claim.Annotations[corev1.BetaStorageClassAnnotation] == "" {
		claim.Spec.StorageClassName = ptr.To("")
	}
}
