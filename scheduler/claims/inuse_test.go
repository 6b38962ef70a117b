package claims

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
)

// useFields are those of result.ResourceUse and of what it holds.
const useFields = " Use.Pods.Pod Use.Pods.Amount Use.Pods.Terminating Use.Pods.Until Use.Pods.Nominated Use.Pods.Permit" +
	" Use.Pods.Resize.Asked Use.Pods.Resize.Granted Use.Pods.Resize.State" +
	" Use.Pods.Request.Resource Use.Pods.Request.Amount Use.Pods.Request.PodLevel Use.Pods.Request.Init" +
	" Use.Pods.Request.Parts.Container Use.Pods.Request.Parts.Role Use.Pods.Request.Parts.Amount Use.Pods.Request.Parts.Default Use.Pods.Request.Overhead" +
	" Use.Others Use.OthersAmount Use.Terminating Use.TerminatingPods Use.Nominated Use.NominatedPods Use.Permit Use.PermitPods Use.Described"

// heldNow returns what is in use on a node for the pod, once the node has nothing of the resource.
func (l *lab) heldNow(node, name string) (int64, error) {
	l.Helper()
	l.changeNode(node, func(n *v1.Node) { setAmount(n, name, 0) })
	if c, _ := l.compare(l.pod, names.NodeResourcesFit, node); c != nil {
		for _, r := range c.Resources {
			if r.Name == name {
				return r.InUse, nil
			}
		}
	}
	return 0, errUntried
}

// without tries what is in use on a node after a change, and takes the change back.
func (l *lab) without(node, name string, want int64, what string, change func()) error {
	l.Helper()
	mark := l.trial.Mark()
	defer l.trial.Rollback(mark)
	change()
	got, err := l.heldNow(node, name)
	if err == nil && got != want {
		return fmt.Errorf("%s: %d %s in use on %s, and not %d", what, got, name, node, want)
	}
	return err
}

// removeWhere removes the pods of a node of which a condition is true.
func (l *lab) removeWhere(node string, is func(*v1.Pod) bool) func() {
	return func() {
		for _, p := range l.on(node) {
			if is(p) {
				l.remove(p.Namespace, p.Name)
			}
		}
	}
}

func terminating(p *v1.Pod) bool { return p.DeletionTimestamp != nil }
func onlyNominated(p *v1.Pod) bool {
	return p.Spec.NodeName == ""
}

// use: "8 in use: default/old 3 (terminating), default/db 3.5 (…), 2 others 1.5; kubectl describe shows 7". Without a pod, so much less is in
// use.
func (l *lab) use(node string, r result.ResourceComparison) error {
	u := r.Use
	if now, err := l.heldNow(node, r.Name); err != nil || now != r.InUse {
		return errUntried // An experiment of its own tries InUse.
	}
	named := map[string]bool{}
	for _, h := range u.Pods {
		named[h.Pod.Namespace+"/"+h.Pod.Name] = true
		remove := l.removeWhere(node, func(p *v1.Pod) bool { return p.Namespace == h.Pod.Namespace && p.Name == h.Pod.Name })
		if err := l.without(node, r.Name, r.InUse-h.Amount, "without "+h.Pod.Name, remove); err != nil {
			return err
		}
		if err := l.holder(node, r, h); err != nil {
			return err
		}
	}
	isNamed := func(p *v1.Pod) bool { return named[p.Namespace+"/"+p.Name] }
	if err := l.without(node, r.Name, u.OthersAmount, "without the named pods", l.removeWhere(node, isNamed)); err != nil {
		return err
	}
	if err := l.without(node, r.Name, r.InUse-u.Terminating, "without terminating pods", l.removeWhere(node, terminating)); err != nil {
		return err
	}
	if err := l.without(node, r.Name, r.InUse-u.Nominated, "without nominated pods", l.removeWhere(node, onlyNominated)); err != nil {
		return err
	}
	return l.describes(node, r.Name, u.Described)
}

// holder tries what is said of one pod.
func (l *lab) holder(node string, r result.ResourceComparison, h result.ResourceHolder) error {
	i := slices.IndexFunc(l.on(node), func(p *v1.Pod) bool { return p.Namespace == h.Pod.Namespace && p.Name == h.Pod.Name })
	if i < 0 {
		return fmt.Errorf("%s is not on %s", h.Pod.Name, node)
	}
	pod := l.on(node)[i]
	if h.Terminating != terminating(pod) || h.Nominated != onlyNominated(pod) {
		return fmt.Errorf("%s: terminating %t, nominated %t", h.Pod.Name, terminating(pod), onlyNominated(pod))
	}
	if h.Terminating && (h.Until == nil || !h.Until.Equal(pod.DeletionTimestamp.Time)) {
		return fmt.Errorf("%s is gone by %v", h.Pod.Name, pod.DeletionTimestamp)
	}
	if q := h.Request; q != nil && (q.Amount != h.Amount || q.PodLevel == nil && sumOf(*q) != q.Amount) {
		return fmt.Errorf("%s: %+v does not add up to %d", h.Pod.Name, q, h.Amount)
	}
	if h.Resize == nil {
		return nil
	}
	return l.resizes(node, r, pod, h.Amount, *h.Resize)
}

// resizes: without its status, the pod counts what it asks for.
func (l *lab) resizes(node string, r result.ResourceComparison, pod *v1.Pod, amount int64, resize result.Resize) error {
	return l.without(node, r.Name, r.InUse-amount+resize.Asked, "without the status of "+pod.Name, func() {
		p := pod.DeepCopy()
		p.Status.ContainerStatuses, p.Status.InitContainerStatuses, p.Status.Conditions, p.Status.Resources, p.Status.AllocatedResources = nil, nil, nil, nil, nil
		l.set(p)
	})
}

func sumOf(r result.PodRequest) int64 {
	sum := r.Overhead
	for _, p := range r.Parts {
		sum += p.Amount
	}
	return sum
}

// describes: what kubectl adds up.
func (l *lab) describes(node, name string, want int64) error {
	var sum int64
	for _, p := range l.on(node) {
		switch {
		case onlyNominated(p):
		case name == string(v1.ResourcePods):
			sum++
		default:
			sum += amountOf(resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{}), name)
		}
	}
	if sum != want {
		return fmt.Errorf("kubectl describe shows %d %s on %s", sum, name, node)
	}
	return nil
}

// used returns the comparison of which statements of the nearest node speak.
func (l *lab) used(node, name string) result.ResourceComparison {
	for _, c := range l.cycle.Filter.Comparisons {
		for _, r := range c.Resources {
			if c.Node == node && r.Name == name {
				return r
			}
		}
	}
	return result.ResourceComparison{}
}

func (l *lab) leaving(s explain.Leaving) error {
	if got := l.used(s.Node, s.Resource).InUse; got != s.InUse {
		return fmt.Errorf("%d are in use", got)
	}
	return l.without(s.Node, s.Resource, s.InUse-s.Leaving, "without terminating pods", l.removeWhere(s.Node, terminating))
}

func (l *lab) resizing(s explain.Resizing) error {
	for _, c := range l.cycle.Filter.Comparisons {
		for _, r := range c.Resources {
			for _, p := range l.on(c.Node) {
				if r.Name == s.Resource && p.Namespace+"/"+p.Name == s.Pod {
					return l.resizes(c.Node, r, p, s.Amount, result.Resize{Asked: s.Asked, Granted: s.Granted})
				}
			}
		}
	}
	return fmt.Errorf("there is no such pod")
}

func (l *lab) describedBy(s explain.Described) error {
	return l.describes(s.Node, s.Resource, s.Described)
}

// derived: "0.3: the init container migrate (0.2) while the sidecar proxy (0.1) runs". With less for one of these, the pod requests less, and
// with less for another container it does not, unless it needs as much at another time.
func (l *lab) derived(s explain.Derived) error {
	requests := func(p *v1.Pod) int64 {
		return amountOf(resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{}), s.Request.Resource)
	}
	if got := requests(l.pod); got != s.Request.Amount || s.Request.PodLevel == nil && sumOf(s.Request) != got {
		return fmt.Errorf("the pod requests %d", got)
	}
	named := map[string]bool{}
	for _, p := range s.Request.Parts {
		named[p.Container] = true
	}
	less := func(is func(name string) bool) int64 {
		return requests(l.as(func(p *v1.Pod) {
			for _, list := range [][]v1.Container{p.Spec.InitContainers, p.Spec.Containers} {
				for i := range list {
					if has := amountOf(list[i].Resources.Requests, s.Request.Resource); has > 0 && is(list[i].Name) {
						list[i].Resources.Requests[v1.ResourceName(s.Request.Resource)] = quantity(s.Request.Resource, 0)
					}
				}
			}
		}))
	}
	if got := less(func(name string) bool { return !named[name] }); got != s.Request.Amount {
		return fmt.Errorf("with only the named containers the pod requests %d", got)
	}
	return nil
}

// scoreDefaults: so much of what is in use is not requested, and kubectl shows the rest. Each pod that is named has a container without a
// request.
func (l *lab) scoreDefaults(node, name string, d *result.ScoreDefaults) error {
	for _, named := range d.Pods {
		i := slices.IndexFunc(l.on(node), func(p *v1.Pod) bool { return p.Namespace == named.Namespace && p.Name == named.Name })
		if i < 0 {
			return fmt.Errorf("%s is not on %s", named.Name, node)
		}
		asks := func(c v1.Container) bool { _, ok := c.Resources.Requests[v1.ResourceName(name)]; return !ok }
		if p := l.on(node)[i]; !slices.ContainsFunc(p.Spec.Containers, asks) && !slices.ContainsFunc(p.Spec.InitContainers, asks) {
			return fmt.Errorf("all containers of %s request %s", named.Name, name)
		}
	}
	return l.describes(node, name, d.Described)
}
