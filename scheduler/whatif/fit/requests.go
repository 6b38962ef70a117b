package fit

import (
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/podrequest"
)

// lowerRequest makes a pod ask for no more than to of a resource, in the units of
// result.ResourceComparison. Containers that run side by side lose the same share each.
func lowerRequest(spec *v1.PodSpec, name v1.ResourceName, to int64) {
	to = max(to-podrequest.Amount(spec.Overhead, name), 0)
	if spec.Resources != nil && podrequest.Amount(spec.Resources.Requests, name) > to {
		setRequest(spec.Resources, name, to)
	}
	var together []*v1.ResourceRequirements
	for i := range spec.InitContainers {
		if restarts(&spec.InitContainers[i]) {
			together = append(together, &spec.InitContainers[i].Resources)
		}
	}
	for i := range spec.Containers {
		together = append(together, &spec.Containers[i].Resources)
	}
	share(together, name, to)
	left := to
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		switch request := podrequest.Amount(c.Resources.Requests, name); {
		case restarts(c):
			left -= request
		case request > left:
			setRequest(&c.Resources, name, left)
		}
	}
}

func restarts(c *v1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways
}

// share divides to in proportion to the requests. The largest gets what rounding leaves.
func share(all []*v1.ResourceRequirements, name v1.ResourceName, to int64) {
	var sum, given int64
	var largest *v1.ResourceRequirements
	for _, r := range all {
		request := podrequest.Amount(r.Requests, name)
		if sum += request; largest == nil || request > podrequest.Amount(largest.Requests, name) {
			largest = r
		}
	}
	if sum <= to {
		return
	}
	for _, r := range all {
		request := podrequest.Amount(r.Requests, name)
		if r == largest || request == 0 {
			continue
		}
		part := int64(float64(request) / float64(sum) * float64(to))
		given += part
		setRequest(r, name, part)
	}
	setRequest(largest, name, to-given)
}

// setRequest sets a request. Extended resources and huge pages have a limit that equals
// the request. Without a request, the API server would take the limit for it, so 0 stays
// where there is a limit.
func setRequest(r *v1.ResourceRequirements, name v1.ResourceName, to int64) {
	quantity := *resource.NewQuantity(to, r.Requests.Name(name, resource.DecimalSI).Format)
	if name == v1.ResourceCPU {
		quantity = *resource.NewMilliQuantity(to, resource.DecimalSI)
	}
	_, limited := r.Limits[name]
	switch {
	case to > 0:
		r.Requests[name] = quantity
		if limited && equalsLimit(name) {
			r.Limits[name] = quantity
		}
	case limited && !equalsLimit(name):
		r.Requests[name] = quantity
	default:
		delete(r.Requests, name)
		delete(r.Limits, name)
	}
}

// equalsLimit reports whether the API server wants a resource's request to equal its limit.
func equalsLimit(name v1.ResourceName) bool {
	return strings.HasPrefix(string(name), v1.ResourceHugePagesPrefix) || strings.Contains(string(name), "/")
}

// requestCuts says what containers ask for less after a change.
func requestCuts(before, after *v1.PodSpec) []explain.RequestCut {
	var out []explain.RequestCut
	compare := func(from, to v1.ResourceList, c explain.RequestCut) {
		for _, name := range slices.Sorted(maps.Keys(from)) {
			c.Resource, c.From, c.To = string(name), podrequest.Amount(from, name), podrequest.Amount(to, name)
			if c.From > c.To {
				out = append(out, c)
			}
		}
	}
	if before.Resources != nil && after.Resources != nil {
		compare(before.Resources.Requests, after.Resources.Requests, explain.RequestCut{})
	}
	for i := range before.InitContainers {
		c := &before.InitContainers[i]
		compare(c.Resources.Requests, after.InitContainers[i].Resources.Requests, explain.RequestCut{Container: c.Name, Init: true, Sidecar: restarts(c)})
	}
	for i := range before.Containers {
		compare(before.Containers[i].Resources.Requests, after.Containers[i].Resources.Requests, explain.RequestCut{Container: before.Containers[i].Name})
	}
	return out
}
