package coscheduling

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/plugins/coscheduling/v1alpha1"
)

// lacking returns what the nodes together lack of the group's minResources. It adds up what is free
// on each node, whether or not a member could run there; what the group's own pods use counts as
// free. A resource leaves the list as soon as there is enough, so later nodes do not matter.
func lacking(group *v1alpha1.PodGroup, nodes []fwk.NodeInfo) v1.ResourceList {
	gap := group.Spec.MinResources.DeepCopy()
	gap[v1.ResourcePods] = *resource.NewQuantity(int64(group.Spec.MinMember), resource.DecimalSI)
	for _, node := range nodes {
		free := freeOn(node, group)
		for name, quantity := range gap {
			switch name {
			case v1.ResourceCPU:
				quantity.Sub(*resource.NewMilliQuantity(free[name], resource.DecimalSI))
			default:
				quantity.Sub(*resource.NewQuantity(free[name], resource.DecimalSI))
			}
			if quantity.Sign() <= 0 {
				delete(gap, name)
				continue
			}
			gap[name] = quantity
		}
		if len(gap) == 0 {
			break
		}
	}
	return gap
}

// freeOn returns what is allocatable on a node less what pods outside the group request, CPU in
// thousandths. An overcommitted node has less than nothing.
func freeOn(node fwk.NodeInfo, group *v1alpha1.PodGroup) map[v1.ResourceName]int64 {
	free := map[v1.ResourceName]int64{}
	add := func(r fwk.Resource, sign int64) {
		free[v1.ResourceCPU] += sign * r.GetMilliCPU()
		free[v1.ResourceMemory] += sign * r.GetMemory()
		free[v1.ResourceEphemeralStorage] += sign * r.GetEphemeralStorage()
		for name, amount := range r.GetScalarResources() {
			free[name] += sign * amount
		}
	}
	add(node.GetAllocatable(), 1)
	add(node.GetRequested(), -1)
	free[v1.ResourcePods] = int64(node.GetAllocatable().GetAllowedPodNumber() - len(node.GetPods()))
	for _, info := range node.GetPods() {
		if belongs(info.GetPod(), group) {
			add(info.CalculateResource().Resource, 1)
			free[v1.ResourcePods]++
		}
	}
	return free
}

// amounts renders resources for people, by name.
func amounts(list v1.ResourceList) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		quantity := list[name]
		parts = append(parts, fmt.Sprintf("%s %s", name, quantity.String()))
	}
	return strings.Join(parts, ", ")
}
