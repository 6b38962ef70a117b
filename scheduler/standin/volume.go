package standin

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"
)

const (
	// InTreePrefix marks the provisioners of the persistent volume controller itself,
	// including kubernetes.io/no-provisioner. It hands over all others to external
	// provisioners.
	InTreePrefix = "kubernetes.io/"
	// fallbackDriver is the CSI driver for provisioners whose names are no valid driver names, such
	// as example.com/nfs. A real one would use another kind of volume source, which makes no
	// difference to scheduling.
	fallbackDriver      = DefaultProvisioner
	maxDriverNameLength = 63
)

// The default StorageClass of a new simulated cluster. Several local clusters use its name, so
// their manifests work here.
const (
	DefaultStorageClass = "standard"
	// DefaultProvisioner makes the volumes of the default class, and those of
	// classes whose provisioner's name no CSI driver may have.
	DefaultProvisioner = "provisioner.simulator"
	// IsDefaultClass annotates a class that claims without one get, with the value "true".
	IsDefaultClass = "storageclass.kubernetes.io/is-default-class"
)

// NewDefaultStorageClass returns the class as a new cluster has it.
func NewDefaultStorageClass() *storagev1.StorageClass {
	return &storagev1.StorageClass{
		TypeMeta:             metav1.TypeMeta{APIVersion: storagev1.SchemeGroupVersion.String(), Kind: "StorageClass"},
		ObjectMeta:           metav1.ObjectMeta{Name: DefaultStorageClass, Annotations: map[string]string{IsDefaultClass: "true"}},
		Provisioner:          DefaultProvisioner,
		ReclaimPolicy:        ptr.To(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode:    ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
		AllowVolumeExpansion: ptr.To(true),
	}
}

// WantsVolume reports whether the persistent volume controller has requested the
// claim's volume from an external provisioner.
func WantsVolume(claim *corev1.PersistentVolumeClaim) bool {
	name := RequestedProvisioner(claim)
	return claim.DeletionTimestamp == nil &&
		claim.Spec.VolumeName == "" &&
		// As in the CSI provisioner: a new volume has no labels to select by.
		claim.Spec.Selector == nil &&
		name != "" && !strings.HasPrefix(name, InTreePrefix)
}

// RequestedProvisioner returns the provisioner from which the persistent volume controller has
// requested the claim's volume.
func RequestedProvisioner(claim *corev1.PersistentVolumeClaim) string {
	if name := claim.Annotations[storagehelpers.AnnStorageProvisioner]; name != "" {
		return name
	}
	return claim.Annotations[storagehelpers.AnnBetaStorageProvisioner]
}

// NewVolume returns the volume of a claim, without storage. Like CSI provisioners, it names the
// volume after the claim's UID, so that a second attempt finds the first one's volume.
func NewVolume(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, node *corev1.Node) *corev1.PersistentVolume {
	provisioner := RequestedProvisioner(claim)
	name := "pvc-" + string(claim.UID)
	reclaimPolicy := corev1.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		reclaimPolicy = *class.ReclaimPolicy
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{storagehelpers.AnnDynamicallyProvisioned: provisioner},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes: claim.Spec.AccessModes,
			VolumeMode:  claim.Spec.VolumeMode,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: driverName(provisioner), VolumeHandle: name},
			},
			StorageClassName:              class.Name,
			MountOptions:                  class.MountOptions,
			PersistentVolumeReclaimPolicy: reclaimPolicy,
			NodeAffinity:                  nodeAffinity(class.AllowedTopologies, node),
			ClaimRef: &corev1.ObjectReference{
				Kind:       "PersistentVolumeClaim",
				APIVersion: "v1",
				Namespace:  claim.Namespace,
				Name:       claim.Name,
				UID:        claim.UID,
			},
		},
	}
}

func driverName(provisioner string) string {
	invalid := validation.IsDNS1123Subdomain(strings.ToLower(provisioner))
	if len(invalid) > 0 || len(provisioner) > maxDriverNameLength {
		return fallbackDriver
	}
	return provisioner
}

// nodeAffinity keeps a volume within all topologies that its class allows or, given a node, within
// that node's part of the first one that contains it. Without allowed topologies every node can
// reach the volume.
func nodeAffinity(topologies []corev1.TopologySelectorTerm, node *corev1.Node) *corev1.VolumeNodeAffinity {
	var terms []corev1.NodeSelectorTerm
	for _, topology := range topologies {
		if len(topology.MatchLabelExpressions) == 0 {
			continue
		}
		term, matches := nodeSelectorTerm(topology, node)
		if node != nil && matches {
			terms = []corev1.NodeSelectorTerm{term}
			break
		}
		if node == nil {
			terms = append(terms, term)
		}
	}
	if len(terms) == 0 {
		return nil
	}
	return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: terms}}
}

// nodeSelectorTerm narrows the topology to the node's own values if a node is given. The second
// result says whether the topology includes the node.
func nodeSelectorTerm(topology corev1.TopologySelectorTerm, node *corev1.Node) (corev1.NodeSelectorTerm, bool) {
	var term corev1.NodeSelectorTerm
	matches := true
	for _, expression := range topology.MatchLabelExpressions {
		values := expression.Values
		if node != nil {
			value, labelled := node.Labels[expression.Key]
			matches = matches && labelled && slices.Contains(values, value)
			values = []string{value}
		}
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{
			Key:      expression.Key,
			Operator: corev1.NodeSelectorOpIn,
			Values:   values,
		})
	}
	return term, matches
}
