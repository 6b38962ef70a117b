package capacityscheduling

import (
	"maps"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

// amounts are quantities by resource: of CPU in thousandths of a core, of others in their own unit.
// Shared ones never change.
type amounts map[v1.ResourceName]int64

// always are the resources that count even when a pod does not request them.
var always = []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage}

// amountsOf returns the quantities that the scheduler accounts for: not pods, for
// example, which no container requests.
func amountsOf(list v1.ResourceList) amounts {
	out := make(amounts, len(list))
	for name, quantity := range list {
		switch {
		case name == v1.ResourceCPU:
			out[name] = quantity.MilliValue()
		case name == v1.ResourceMemory, name == v1.ResourceEphemeralStorage, util.IsScalarResourceName(name):
			out[name] = quantity.Value()
		}
	}
	return out
}

func (a amounts) add(more amounts) {
	for name, n := range more {
		a[name] = sum(a[name], n)
	}
}

func (a amounts) subtract(less amounts) {
	for name, n := range less {
		a[name] -= n
	}
}

// raise makes every amount of a at least that of other.
func (a amounts) raise(other amounts) {
	for name, n := range other {
		a[name] = max(a[name], n)
	}
}

func (a amounts) plus(b amounts) amounts {
	out := maps.Clone(a)
	if out == nil {
		out = amounts{}
	}
	out.add(b)
	return out
}

// sum adds without overflow.
func sum(a, b int64) int64 {
	switch {
	case a > 0 && b > math.MaxInt64-a:
		return math.MaxInt64
	case a < 0 && b < math.MinInt64-a:
		return math.MinInt64
	}
	return a + b
}

// compared returns the resources of a in order, after always.
func (a amounts) compared() []v1.ResourceName {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(a)), func(name v1.ResourceName) bool { return slices.Contains(always, name) })
	return append(slices.Clone(always), names...)
}

// requestOf returns what the original counts for a pod: the sum of its containers or, if greater,
// one init container, and the overhead. Sidecars count like other init containers; resources of the
// pod as a whole do not count.
func requestOf(pod *v1.Pod) amounts {
	request := amounts{}
	for i := range pod.Spec.Containers {
		request.add(amountsOf(pod.Spec.Containers[i].Resources.Requests))
	}
	for i := range pod.Spec.InitContainers {
		request.raise(amountsOf(pod.Spec.InitContainers[i].Resources.Requests))
	}
	request.add(amountsOf(pod.Spec.Overhead))
	return request
}
