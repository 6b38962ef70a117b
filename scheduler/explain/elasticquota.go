package explain

import (
	"slices"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// QuotaAtMax: CapacityScheduling rejected the pod, because its namespace would use more than the
// max of its quota.
type QuotaAtMax struct {
	Pod       string          `json:"pod"`
	Namespace string          `json:"namespace"`
	Short     []QuotaShortage `json:"short"`
}

// QuotasUsedUp: CapacityScheduling rejected the pod, because all quotas together would use more
// than the sum of their mins.
type QuotasUsedUp struct {
	Pod       string          `json:"pod"`
	Namespace string          `json:"namespace"`
	Short     []QuotaShortage `json:"short"`
}

// QuotaShortage is a resource by which a quota is exceeded: of CPU in thousandths of a core, of
// others in their own unit.
type QuotaShortage struct {
	Resource string `json:"resource"`
	// Used is what pods use without this one, and Nominated what others ask for that wait for
	// their victims to go.
	Used      int64 `json:"used"`
	Nominated int64 `json:"nominated"`
	Requested int64 `json:"requested"`
	Limit     int64 `json:"limit"`
}

// QuotaBorrowers: other namespaces use more than their mins.
type QuotaBorrowers struct {
	Loans []QuotaLoan `json:"loans"`
}

// QuotaLoan is what a namespace uses of a resource above its min.
type QuotaLoan struct {
	Namespace string `json:"namespace"`
	Resource  string `json:"resource"`
	Amount    int64  `json:"amount"`
}

// QuotaReclaims: the min of the pod's namespace covers it, so that it may take back what others
// borrow.
type QuotaReclaims struct {
	Namespace string `json:"namespace"`
}

// QuotaAboveMin: the min of the pod's namespace does not cover it, so that it may only take from
// less important pods of its own.
type QuotaAboveMin struct {
	Namespace string `json:"namespace"`
}

// QuotaNobody: on Nodes runs no pod from which this one may take.
type QuotaNobody struct {
	Nodes int `json:"nodes"`
}

// QuotaBorrows: with the pod, its namespace uses more than its min.
type QuotaBorrows struct {
	Namespace string `json:"namespace"`
	Loans     []Lack `json:"loans"`
}

func (s QuotaAtMax) english() string {
	return sprintf("%s was rejected before any node was checked: it would take %s above the max of its quota (%s).", s.Pod, s.Namespace, shortages(s.Short))
}

func (s QuotasUsedUp) english() string {
	return sprintf("%s was rejected before any node was checked: it would take all quotas together above the sum of their mins (%s).", s.Pod, shortages(s.Short))
}

func shortages(all []QuotaShortage) string {
	var parts []string
	for _, s := range all {
		part := sprintf("%s: %s used", s.Resource, amountOf(s.Resource, s.Used))
		if s.Nominated > 0 {
			part += sprintf(" + %s nominated", amountOf(s.Resource, s.Nominated))
		}
		parts = append(parts, part+sprintf(" + %s requested > %s", amountOf(s.Resource, s.Requested), amountOf(s.Resource, s.Limit)))
	}
	return strings.Join(parts, ", ")
}

func amountOf(resource string, n int64) string { return amount(Lack{Resource: resource, Amount: n}) }

func (s QuotaBorrowers) english() string {
	var parts []string
	for _, l := range s.Loans {
		parts = append(parts, sprintf("%s %s %s", l.Namespace, amountOf(l.Resource, l.Amount), l.Resource))
	}
	return sprintf("Above their mins, namespaces borrow: %s.", names(parts))
}

func (s QuotaReclaims) english() string {
	return sprintf("The min of %s covers the pod, so it may take back what other namespaces borrow.", s.Namespace)
}

func (s QuotaAboveMin) english() string {
	return sprintf("With the pod, %s would be above its min, so the pod may only take from less important pods of %s.", s.Namespace, s.Namespace)
}

func (s QuotaNobody) english() string {
	return sprintf("On %s, no pod runs that it may take from.", plural(s.Nodes, "node"))
}

func (s QuotaBorrows) english() string {
	return sprintf("With it, %s is above its min and borrows %s.", s.Namespace, amounts(s.Loans))
}

// quotas are the facts of the plugin CapacityScheduling.
type quotas struct {
	exceeded, takes string
	own, all        []quotaAmounts
	others          []quotaAmounts
}

type quotaAmounts struct {
	namespace, resource string
	result.QuotaAmounts
}

// quotasOf returns nil for a pod of a namespace without a quota.
func quotasOf(c *result.Cycle) *quotas {
	var q *quotas
	for _, f := range c.Facts {
		if f.Plugin != result.CapacityScheduling || f.Node != "" {
			continue
		}
		if q == nil {
			q = &quotas{}
		}
		q.read(c.Pod.Namespace, f.Key, f.Value)
	}
	return q
}

func (q *quotas) read(namespace, key, value string) {
	switch key {
	case result.QuotaExceeded:
		q.exceeded = value
	case result.QuotaTakes:
		q.takes = value
	}
	amounts, ok := result.ParseQuotaAmounts(value)
	if !ok {
		return
	}
	if resource, own := strings.CutPrefix(key, result.QuotaOwn); own {
		q.own = append(q.own, quotaAmounts{namespace, resource, amounts})
	}
	if resource, all := strings.CutPrefix(key, result.QuotaAll); all {
		q.all = append(q.all, quotaAmounts{"", resource, amounts})
	}
	if rest, other := strings.CutPrefix(key, result.QuotaOf); other {
		if at := strings.LastIndexByte(rest, ' '); at > 0 {
			q.others = append(q.others, quotaAmounts{rest[:at], rest[at+1:], amounts})
		}
	}
}

// short returns the resources by which the plugin's rule failed.
func (q *quotas) short() []QuotaShortage {
	out := []QuotaShortage{}
	total := q.exceeded == result.ExceededTotal
	all := q.own
	if total {
		all = q.all
	}
	for _, a := range all {
		if !a.Short(total) {
			continue
		}
		s := QuotaShortage{Resource: a.resource, Used: a.Used, Nominated: a.Nominated, Requested: a.Requested, Limit: a.Min}
		if !total {
			s.Limit = *a.Max
		}
		out = append(out, s)
	}
	return out
}

// refusedByQuota returns the headline of a pod that only CapacityScheduling rejected before Filter,
// or nil.
func refusedByQuota(c *result.Cycle) Operands {
	q := quotasOf(c)
	if q == nil || !slices.Equal(restricting(c.PreFilter, ""), []string{result.CapacityScheduling}) {
		return nil
	}
	switch q.exceeded {
	case result.ExceededMax:
		return QuotaAtMax{Pod: c.Pod.Name, Namespace: c.Pod.Namespace, Short: q.short()}
	case result.ExceededTotal:
		return QuotasUsedUp{Pod: c.Pod.Name, Namespace: c.Pod.Namespace, Short: q.short()}
	}
	return nil
}

// quotaRemarks says who borrows, and from whom the pod may take.
func quotaRemarks(c *result.Cycle, e Explanation) []Operands {
	q := quotasOf(c)
	if q == nil {
		return nil
	}
	if c.Outcome == result.Scheduled {
		return q.borrows(c.Pod.Namespace)
	}
	var out []Operands
	switch e.Headline.Operands.(type) {
	case QuotasUsedUp:
		out = q.borrowers()
	case QuotaAtMax:
	default:
		return nil
	}
	if q.takes == result.TakesBorrowed {
		out = append(out, QuotaReclaims{Namespace: c.Pod.Namespace})
	} else {
		out = append(out, QuotaAboveMin{Namespace: c.Pod.Namespace})
	}
	room := roomRemarks(c, e)
	if len(room) == 0 {
		room = noVictims(c)
	}
	return append(out, room...)
}

// borrowers returns what other namespaces use above their mins.
func (q *quotas) borrowers() []Operands {
	s := QuotaBorrowers{}
	for _, a := range q.others {
		if a.Used > a.Min {
			s.Loans = append(s.Loans, QuotaLoan{Namespace: a.namespace, Resource: a.resource, Amount: a.Used - a.Min})
		}
	}
	if len(s.Loans) == 0 {
		return nil
	}
	return []Operands{s}
}

// borrows returns what the pod's namespace uses above its min with the pod.
func (q *quotas) borrows(namespace string) []Operands {
	s := QuotaBorrows{Namespace: namespace}
	for _, a := range q.own {
		if with := a.Used + a.Requested; with > a.Min && a.Requested > 0 {
			s.Loans = append(s.Loans, Lack{Resource: a.resource, Amount: with - a.Min})
		}
	}
	if len(s.Loans) == 0 {
		return nil
	}
	return []Operands{s}
}

// noVictims counts the nodes on which a dry run found no pod to take from.
func noVictims(c *result.Cycle) []Operands {
	if c.Preemption == nil {
		return nil
	}
	s := QuotaNobody{}
	for _, u := range c.Preemption.Unhelpful {
		if u.Why == result.NobodyMay || u.Why == result.NoPods {
			s.Nodes += len(u.Nodes)
		}
	}
	if s.Nodes == 0 {
		return nil
	}
	return []Operands{s}
}
