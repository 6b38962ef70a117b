package capacityscheduling

import (
	v1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// check is what PreFilter calculated for a pod. It does not change.
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
}

var _ fwk.StateData = (*check)(nil)

// Clone returns c, which does not change.
func (c *check) Clone() fwk.StateData { return c }

func (c *check) inNamespace() amounts { return c.request.plus(c.nominated) }

// inAll adds the nominated pods of other namespaces.
func (c *check) inAll() amounts { return c.inNamespace().plus(c.elsewhere) }

// withinMin reports whether the min of the namespace covers its use, the pod and its
// nominated pods.
func (c *check) withinMin() bool { return !c.own.overMinWith(c.inNamespace()) }

func (p *Plugin) check(quotas *accounts, pod *v1.Pod, nodes []fwk.NodeInfo) *check {
	c := &check{quotas: quotas, own: quotas.of[pod.Namespace]}
	if c.own == nil {
		return c
	}
	c.request, c.nominated, c.elsewhere = requestOf(pod), amounts{}, amounts{}
	for _, node := range nodes {
		for _, nominated := range p.handle.NominatedPodsForNode(node.Node().Name) {
			c.count(pod, nominated.GetPod())
		}
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
