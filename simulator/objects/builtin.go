package objects

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// Kinds that more than one package treats specially.
var (
	Pod                   = schema.GroupKind{Kind: "Pod"}
	Node                  = schema.GroupKind{Kind: "Node"}
	Namespace             = schema.GroupKind{Kind: "Namespace"}
	PersistentVolume      = schema.GroupKind{Kind: "PersistentVolume"}
	PersistentVolumeClaim = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	Job                   = schema.GroupKind{Group: "batch", Kind: "Job"}
	PriorityClass         = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}
	PodDisruptionBudget   = schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"}
	ResourceClaim         = schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceClaim"}
	ResourceClaimTemplate = schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"}
	StorageClass          = schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}
	APIService            = schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}
	ValidatingWebhooks    = schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}
	MutatingWebhooks      = schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}
	Definition            = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
)

// The default StorageClass of a new simulated cluster. Several local clusters
// give their default class the same name, so that manifests made for those work
// here.
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
		TypeMeta:             metav1.TypeMeta{APIVersion: storagev1.SchemeGroupVersion.String(), Kind: StorageClass.Kind},
		ObjectMeta:           metav1.ObjectMeta{Name: DefaultStorageClass, Annotations: map[string]string{IsDefaultClass: "true"}},
		Provisioner:          DefaultProvisioner,
		ReclaimPolicy:        ptr.To(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode:    ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
		AllowVolumeExpansion: ptr.To(true),
	}
}

var systemNamespaces = []string{"default", "kube-system", "kube-public", "kube-node-lease"}

// IsSystemNamespace reports whether Kubernetes creates a namespace of that name.
func IsSystemNamespace(name string) bool { return slices.Contains(systemNamespaces, name) }

// IsBuiltIn reports whether every cluster has the object, because Kubernetes
// creates it.
func IsBuiltIn(gk schema.GroupKind, namespace, name string) bool {
	switch gk {
	case Namespace:
		return IsSystemNamespace(name)
	case PriorityClass:
		return strings.HasPrefix(name, "system-")
	case schema.GroupKind{Kind: "Service"}:
		return namespace == "default" && name == "kubernetes"
	case schema.GroupKind{Kind: "ServiceAccount"}:
		return name == "default"
	case schema.GroupKind{Kind: "ConfigMap"}:
		return name == "kube-root-ca.crt"
	}
	return false
}
