package suggest

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// requestsOf returns what each pod of a set asks for, in the units of admission.
func requestsOf(set *kueue.PodSet) map[v1.ResourceName]int64 {
	each := map[v1.ResourceName]int64{}
	for name, amount := range resourcehelper.PodRequests(&v1.Pod{Spec: set.Template.Spec}, resourcehelper.PodResourcesOptions{}) {
		each[name] = valueOf(name, amount)
	}
	return each
}

func valueOf(name v1.ResourceName, amount resource.Quantity) int64 {
	if name == v1.ResourceCPU {
		return amount.MilliValue()
	}
	return amount.Value()
}

func sorted(m map[v1.ResourceName]int64) []v1.ResourceName { return slices.Sorted(maps.Keys(m)) }

// unitOf is the smallest amount that is suggested, in the units of admission: a core, a mebibyte or a piece.
func unitOf(r v1.ResourceName) int64 {
	switch r {
	case v1.ResourceCPU:
		return 1000
	case v1.ResourceMemory, v1.ResourceEphemeralStorage:
		return 1 << 20
	}
	return 1
}

func quantity(r v1.ResourceName, amount int64) *resource.Quantity {
	switch r {
	case v1.ResourceCPU:
		return resource.NewMilliQuantity(amount, resource.DecimalSI)
	case v1.ResourceMemory, v1.ResourceEphemeralStorage:
		return resource.NewQuantity(amount, resource.BinarySI)
	}
	return resource.NewQuantity(amount, resource.DecimalSI)
}
