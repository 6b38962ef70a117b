package objects

import (
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/scheduler/standin"
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

// The default StorageClass of a new simulated cluster; see package standin.
const (
	DefaultStorageClass = standin.DefaultStorageClass
	DefaultProvisioner  = standin.DefaultProvisioner
	IsDefaultClass      = standin.IsDefaultClass
)

// NewDefaultStorageClass returns the class as a new cluster has it.
func NewDefaultStorageClass() *storagev1.StorageClass { return standin.NewDefaultStorageClass() }

var systemNamespaces = []string{"default", "kube-system", "kube-public", "kube-node-lease"}

// IsSystemNamespace reports whether Kubernetes creates a namespace of that name.
func IsSystemNamespace(name string) bool { return slices.Contains(systemNamespaces, name) }

// IsBuiltIn reports whether Kubernetes creates the object in every cluster.
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
