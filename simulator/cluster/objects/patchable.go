package objects

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/scheduler/builtin"
)

// TakesStrategicMerge reports whether the kind is one of Kubernetes' own; others take merge patches.
func TakesStrategicMerge(gvk schema.GroupVersionKind) bool { return builtin.Is(gvk) }
