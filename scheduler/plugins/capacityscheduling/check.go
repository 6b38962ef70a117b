package capacityscheduling

import (
	"sync"

	v1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// check is what PreFilter calculated for a pod. It does not change, but for what dry runs find.
type check struct {
	quotas *accounts
	// own is the namespace's quota; nil if it has none. The fields below are then empty.
	own *quota
	// exceeded is the rule that the pod breaks, result.ExceededMax or ExceededTotal; empty
	// for a pod that passes.
	exceeded string
	request  amounts
	// nominated are the requests of pods that wait for their victims: those of the same namespace
	// that are not less important. elsewhere are those of other namespaces within their min.
	nominated, elsewhere amounts
	waiting              []*v1.Pod
	// staysOn are the names of the nodes on which dry runs found victims without which the pod is
	// above a quota as before. Workers add to it.
	staysOn sync.Map
}

var _ fwk.StateData = (*check)(nil)

// Clone returns c: all clones share it.
func (c *check) Clone() fwk.StateData { return c }

func (c *check) inNamespace() amounts { return c.request.plus(c.nominated) }

// inAll adds the nominated pods of other namespaces.
func (c *check) inAll() amounts { return c.inNamespace().plus(c.elsewhere) }

// withinMin reports whether the min of the namespace covers its use, the pod and its
// nominated pods.
func (c *check) withinMin() bool { return !c.own.overMinWith(c.inNamespace()) }

func (p *Plugin) check(quotas *accounts, pod *v1.Pod, nodes []fwk.NodeInfo) *check {
	var waiting []*v1.Pod
	if quotas.of[pod.Namespace] != nil {
		for _, node := range nodes {
			for _, nominated := range p.handle.NominatedPodsForNode(node.Node().Name) {
				waiting = append(waiting, nominated.GetPod())
			}
		}
	}
	return checkBeside(waiting, quotas, pod)
}

// checkBeside checks a pod beside those that wait for their victims.
func checkBeside(waiting []*v1.Pod, quotas *accounts, pod *v1.Pod) *check {
	c := &check{quotas: quotas, own: quotas.of[pod.Namespace], waiting: waiting}
	if c.own == nil {
		return c
	}
	c.request, c.nominated, c.elsewhere = requestOf(pod), amounts{}, amounts{}
	for _, nominated := range waiting {
		c.count(pod, nominated)
	}
	switch {
	case c.own.overMax(c.inNamespace()):
		c.exceeded = result.ExceededMax
	case quotas.overTotal(c.inAll()):
		c.exceeded = result.ExceededTotal
	}
	return c
}

func (c *check) count(pod, nominated *v1.Pod) {
	q := c.quotas.of[nominated.Namespace]
	switch {
	case nominated.UID == pod.UID || q == nil:
	case nominated.Namespace != pod.Namespace:
		if !q.overMin() {
			c.elsewhere.add(requestOf(nominated))
		}
	case corev1helpers.PodPriority(nominated) >= corev1helpers.PodPriority(pod):
		c.nominated.add(requestOf(nominated))
	}
}
