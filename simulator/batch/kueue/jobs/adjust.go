package jobs

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Adjust fills in what a template leaves out, as the API server would in its pods: the overhead of its
// runtime class, the defaults of the namespace's limit ranges, and limits in place of missing requests.
func Adjust(spec *v1.PodSpec, overhead v1.ResourceList, ranges []*v1.LimitRange) {
	if spec.Overhead == nil {
		spec.Overhead = overhead
	}
	for _, list := range [][]v1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			r := &list[i].Resources
			fill(&r.Requests, r.Limits)
			for _, limits := range ranges {
				for _, item := range limits.Spec.Limits {
					if item.Type == v1.LimitTypeContainer {
						fill(&r.Limits, item.Default)
						fill(&r.Requests, item.DefaultRequest)
					}
				}
			}
			fill(&r.Requests, r.Limits)
		}
	}
}

func fill(into *v1.ResourceList, from v1.ResourceList) {
	for name, amount := range from {
		if _, here := (*into)[name]; here {
			continue
		}
		if *into == nil {
			*into = v1.ResourceList{}
		}
		(*into)[name] = resource.Quantity.DeepCopy(amount)
	}
}
