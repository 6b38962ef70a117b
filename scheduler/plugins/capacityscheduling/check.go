package capacityscheduling

import (
	"fmt"
	"maps"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/pluginfact"
)

// Exceeded is the rule by which PreFilter rejects a pod.
type Exceeded string

const (
	// Max: the namespace would use more than its max.
	Max Exceeded = "max"
	// Total: all quotas together would use more than the sum of their mins.
	Total Exceeded = "total"
)

// Check is what PreFilter calculated for a pod. It does not change.
type Check struct {
	Namespace string
	// Quota is the name of the namespace's ElasticQuota; empty if it has none. All fields
	// below are then empty.
	Quota string
	// Exceeded is empty for a pod that passed.
	Exceeded Exceeded
	Request  Amounts
	// Nominated are the requests of pods that wait for victims to go: those of the same
	// namespace that are not less important than the pod. NominatedElsewhere are those of
	// other namespaces that are within their min.
	Nominated, NominatedElsewhere Amounts

	quotas *accounts
}

var _ fwk.StateData = (*Check)(nil)

// Clone returns the same check, because it does not change.
func (c *Check) Clone() fwk.StateData { return c }

// own returns what the pod and the nominated pods of its namespace ask for.
func (c *Check) own() Amounts { return c.Request.plus(c.Nominated) }

// all returns what they and the nominated pods of other namespaces ask for.
func (c *Check) all() Amounts { return c.own().plus(c.NominatedElsewhere) }

// Of returns what PreFilter calculated in the cycle of state; nil if it did not run, or if
// the pod's namespace has no quota.
func Of(state fwk.CycleState) *Check {
	if _, check, ok := read(state); ok && check.Quota != "" {
		return check
	}
	return nil
}

// NamespaceQuota is the quota of a namespace and its use, without the pod.
type NamespaceQuota struct {
	Namespace, Quota string
	Used, Min        Amounts
	// Max is nil if nothing is limited.
	Max Amounts
}

// Quotas returns all quotas, by namespace.
func (c *Check) Quotas() []NamespaceQuota {
	out := make([]NamespaceQuota, 0, len(c.quotas.of))
	for _, namespace := range slices.Sorted(maps.Keys(c.quotas.of)) {
		q := c.quotas.of[namespace]
		out = append(out, NamespaceQuota{Namespace: namespace, Quota: q.name, Used: q.used, Min: q.min, Max: q.max})
	}
	return out
}

func (p *Plugin) check(quotas *accounts, pod *v1.Pod, nodes []fwk.NodeInfo) *Check {
	c := &Check{Namespace: pod.Namespace, quotas: quotas}
	own := quotas.of[pod.Namespace]
	if own == nil {
		return c
	}
	c.Quota, c.Request, c.Nominated, c.NominatedElsewhere = own.name, requestOf(pod), Amounts{}, Amounts{}
	for _, node := range nodes {
		for _, nominated := range p.handle.NominatedPodsForNode(node.Node().Name) {
			c.count(pod, nominated.GetPod())
		}
	}
	switch {
	case own.overMax(c.own()):
		c.Exceeded = Max
	case quotas.overTotal(c.all()):
		c.Exceeded = Total
	}
	return c
}

// count counts a pod that is nominated to a node.
func (c *Check) count(pod, nominated *v1.Pod) {
	q := c.quotas.of[nominated.Namespace]
	switch {
	case nominated.UID == pod.UID || q == nil:
	case nominated.Namespace != pod.Namespace:
		if !q.overMin() {
			c.NominatedElsewhere.add(requestOf(nominated))
		}
	case corev1helpers.PodPriority(nominated) >= corev1helpers.PodPriority(pod):
		c.Nominated.add(requestOf(nominated))
	}
}

// Excess is a resource by which the check failed.
type Excess struct {
	Resource v1.ResourceName
	// Used is the present use of the namespace or of all quotas, Nominated what
	// nominated pods ask for, and Limit the max or the sum of the mins.
	Used, Nominated, Request, Limit int64
}

// Excesses returns the resources by which the check failed, in the order in which they
// are compared.
func (c *Check) Excesses() (out []Excess) {
	switch c.Exceeded {
	case Max:
		own := c.quotas.of[c.Namespace]
		for _, name := range c.own().compared() {
			limit, limited := own.limit(name)
			e := Excess{Resource: name, Used: own.used[name], Nominated: c.Nominated[name], Request: c.Request[name], Limit: limit}
			if limited && e.exceeds() {
				out = append(out, e)
			}
		}
	case Total:
		used, limit, nominated := c.quotas.used(), c.quotas.min(), c.Nominated.plus(c.NominatedElsewhere)
		for _, name := range used.plus(c.all()).compared() {
			e := Excess{Resource: name, Used: used[name], Nominated: nominated[name], Request: c.Request[name], Limit: limit[name]}
			if e.exceeds() {
				out = append(out, e)
			}
		}
	}
	return out
}

func (e Excess) exceeds() bool { return sum(sum(e.Used, e.Nominated), e.Request) > e.Limit }

// WithinMin reports whether the min of the namespace covers its use, the pod, and its
// nominated pods. If so, the pod may take back what other namespaces have borrowed.
func (c *Check) WithinMin() bool { return !c.quotas.of[c.Namespace].overMinWith(c.own()) }

// record attaches the arithmetic of a rejection to the cycle.
func (c *Check) record(state fwk.CycleState) {
	of := "the max of " + c.Namespace
	if c.Exceeded == Total {
		of = "the sum of all mins"
	}
	for _, e := range c.Excesses() {
		nominated := ""
		if e.Nominated != 0 {
			nominated = fmt.Sprintf(" + %s nominated", written(e.Resource, e.Nominated))
		}
		pluginfact.Record(state, Name, string(e.Resource), fmt.Sprintf("%s used%s + %s requested > %s, %s",
			written(e.Resource, e.Used), nominated, written(e.Resource, e.Request), written(e.Resource, e.Limit), of))
	}
}

// written writes an amount in the unit that manifests use.
func written(name v1.ResourceName, amount int64) string {
	if name == v1.ResourceCPU && amount != math.MaxInt64 {
		return fmt.Sprint(float64(amount) / 1000)
	}
	return fmt.Sprint(amount)
}
