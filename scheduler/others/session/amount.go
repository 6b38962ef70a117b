package session

import (
	"maps"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

// amounts is a vector of resources in the order of resources.names: CPU in milli-CPU, memory in bytes, everything
// else in thousandths.
type amounts []float64

func (a amounts) clone() amounts { return slices.Clone(a) }

func (a amounts) add(b amounts) {
	for i := range a {
		a[i] += b[i]
	}
}

func (a amounts) sub(b amounts) {
	for i := range a {
		a[i] -= b[i]
	}
}

func (a amounts) plus(b amounts) amounts {
	out := a.clone()
	out.add(b)
	return out
}

func (a amounts) minus(b amounts) amounts {
	out := a.clone()
	out.sub(b)
	return out
}

// Amounts is a list of resources in their natural units: CPUs, bytes, and the number of anything else.
type Amounts map[v1.ResourceName]float64

// resources is the order of the resources of a session, and its slack in comparisons.
type resources struct {
	names []v1.ResourceName
	index map[v1.ResourceName]int
	slack amounts
}

// newResources numbers the resources of the lists that kube-batch compares: CPU, memory and scalar resources. It leaves out pods,
// which kube-batch counts by themselves, and ephemeral storage, which it does not see.
func newResources(rules Rules, lists []v1.ResourceList) *resources {
	found := map[v1.ResourceName]bool{}
	for _, l := range lists {
		for name := range l {
			found[name] = true
		}
	}
	for _, known := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory, v1.ResourcePods} {
		delete(found, known)
	}
	if rules == KubeBatch {
		maps.DeleteFunc(found, func(name v1.ResourceName, _ bool) bool { return !util.IsScalarResourceName(name) })
	}
	r := &resources{names: append([]v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory}, slices.Sorted(maps.Keys(found))...), index: map[v1.ResourceName]int{}}
	for i, name := range r.names {
		r.index[name] = i
		slack := 0.1
		if rules == KubeBatch {
			slack = 10 // milli-CPU, or thousandths of a scalar
			if name == v1.ResourceMemory {
				slack = 10 << 20
			}
		}
		r.slack = append(r.slack, slack)
	}
	return r
}

func (r *resources) zero() amounts { return make(amounts, len(r.names)) }

func (r *resources) of(list v1.ResourceList) amounts {
	out := r.zero()
	for name, q := range list {
		if i, ok := r.index[name]; ok {
			out[i] = valueOf(name, q)
		}
	}
	return out
}

func valueOf(name v1.ResourceName, q resource.Quantity) float64 {
	if name == v1.ResourceMemory {
		return float64(q.Value())
	}
	return float64(q.MilliValue())
}

// public returns the resources that are not 0 in natural units.
func (r *resources) public(a amounts) Amounts {
	out := Amounts{}
	for i, v := range a {
		if v == 0 {
			continue
		}
		if r.names[i] != v1.ResourceMemory {
			v /= 1000
		}
		out[r.names[i]] = v
	}
	return out
}

// fits reports whether a ≤ b in every resource, with the slack.
func (r *resources) fits(a, b amounts) bool { return r.short(a, b) < 0 }

// short returns the first resource of which a has more than b, with the slack, or -1.
func (r *resources) short(a, b amounts) int {
	for i := range a {
		if a[i] >= b[i]+r.slack[i] {
			return i
		}
	}
	return -1
}

// empty reports whether every resource is below the slack.
func (r *resources) empty(a amounts) bool {
	for i := range a {
		if a[i] >= r.slack[i] {
			return false
		}
	}
	return true
}

// less reports whether a < b strictly in every resource that either has.
func (r *resources) less(a, b amounts) bool {
	for i := range a {
		if a[i] >= b[i] && (i < 2 || a[i] > 0 || b[i] > 0) {
			return false
		}
	}
	return true
}

func minimum(a, b amounts) amounts {
	out := a.clone()
	for i := range out {
		out[i] = math.Min(out[i], b[i])
	}
	return out
}

// share is x/y with the conventions of drf and proportion: x/0 = 1 and 0/0 = 0.
func share(x, y float64) float64 {
	switch {
	case y != 0:
		return x / y
	case x == 0:
		return 0
	}
	return 1
}

// dominant returns the largest share of any resource.
func dominant(x, y amounts) float64 {
	most := 0.0
	for i := range x {
		most = math.Max(most, share(x[i], y[i]))
	}
	return most
}

// requests returns the sum of a pod's containers, and the most that it needs at any time.
func requests(pod *v1.Pod) (running, initial v1.ResourceList) {
	initial = resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	if len(pod.Spec.InitContainers) == 0 {
		return initial, initial
	}
	without := *pod
	without.Spec.InitContainers = nil
	return resourcehelper.PodRequests(&without, resourcehelper.PodResourcesOptions{}), initial
}
