package claims

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	podresources "k8s.io/component-helpers/resource"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/result"
)

// needs reports whether the pod needs more of a resource than amount on a node.
func (l *lab) needs(pod *v1.Pod, node, name string, amount int64) bool {
	l.changeNode(node, func(n *v1.Node) { setAmount(n, name, amount) })
	return lacks(l.rejects(pod, names.NodeResourcesFit, node), name)
}

// exactly reports an error unless the pod needs just so much of a resource on a node.
func (l *lab) exactly(pod *v1.Pod, node, name string, amount int64, when string) error {
	if l.needs(pod, node, name, amount) {
		return fmt.Errorf("%s, %s needs more than %d", when, node, amount)
	}
	if !l.needs(pod, node, name, amount-1) {
		return fmt.Errorf("%s, %s needs no more than %d", when, node, amount-1)
	}
	return nil
}

// requestIs: "300m: the sidecar 100m + migrate 200m". With a hair more for a part, the pod needs a hair more.
func (l *lab) requestIs(pod *v1.Pod, r *result.PodRequest, needs func(changed *v1.Pod, more int64) error) error {
	sum := r.Overhead
	if r.PodLevel != nil {
		sum += *r.PodLevel
	}
	for _, part := range r.Parts {
		if sum += part.Amount; part.Default {
			continue
		}
		changed := pod.DeepCopy()
		c := containerNamed(changed, part.Container)
		if c == nil {
			return fmt.Errorf("there is no container %s", part.Container)
		}
		if had := amountOf(c.Resources.Requests, r.Resource); had != part.Amount {
			return fmt.Errorf("%s requests %d", part.Container, had)
		}
		if pod.Spec.NodeName != "" && pod.Status.ContainerStatuses != nil {
			continue // what was allocated counts too
		}
		setRequest(c, r.Resource, part.Amount+1)
		if err := needs(changed, 1); err != nil {
			return err
		}
	}
	if r.PodLevel != nil && r.Resource == string(v1.ResourceCPU) && pod.Status.ContainerStatuses == nil {
		changed := pod.DeepCopy()
		changed.Spec.Resources.Requests[v1.ResourceCPU] = quantity(r.Resource, *r.PodLevel+1)
		if err := needs(changed, 1); err != nil {
			return err
		}
	}
	if sum != r.Amount {
		return fmt.Errorf("the parts of the request add up to %d", sum)
	}
	return nil
}

func containerNamed(p *v1.Pod, name string) *v1.Container {
	for _, list := range [][]v1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

func setRequest(c *v1.Container, name string, amount int64) {
	if c.Resources.Requests == nil {
		c.Resources.Requests = v1.ResourceList{}
	}
	c.Resources.Requests[v1.ResourceName(name)] = quantity(name, amount)
	if _, limited := c.Resources.Limits[v1.ResourceName(name)]; limited {
		c.Resources.Limits[v1.ResourceName(name)] = quantity(name, amount)
	}
}

// examineRequests: how the pod's own requests follow from its spec.
func (l *lab) examineRequests() {
	if l.cycle.Filter == nil {
		return
	}
	for _, r := range l.cycle.Filter.Requests {
		l.claim("request", r, func() error {
			if asked := amountOf(podresources.PodRequests(l.pod, podresources.PodResourcesOptions{}), r.Resource); asked != r.Amount {
				return fmt.Errorf("the pod requests %d", asked)
			}
			empty := newNode("experiment")
			l.set(empty)
			return l.requestIs(l.pod, &r, func(changed *v1.Pod, more int64) error {
				if l.rejects(changed, names.NodeResourcesFit, empty.Name) != nil {
					return errUntried
				}
				return l.exactly(changed, empty.Name, r.Resource, r.Amount+more, fmt.Sprintf("with %d more", more))
			})
		})
	}
}
