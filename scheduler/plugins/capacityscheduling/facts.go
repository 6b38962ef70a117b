package capacityscheduling

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/pluginfact"
	"kube-scheduler-simulator/scheduler/result"
)

// record attaches the arithmetic of the namespace and of all quotas to the pod's cycle and, for a
// rejected pod, the other quotas.
func (c *check) record(state fwk.CycleState, namespace string) {
	if c.own == nil || !pluginfact.Recorded(state) {
		return
	}
	set := func(key, value string) { pluginfact.Record(state, Name, key, value) }
	set(result.QuotaName, c.own.name)
	for _, name := range interesting(c.own.used, c.inNamespace(), c.own.min, c.own.max) {
		set(result.QuotaOwn+string(name), c.own.amounts(name, c.nominated[name], c.request[name]).String())
	}
	used, least := c.quotas.used(), c.quotas.min()
	for _, name := range interesting(used, c.inAll(), least) {
		set(result.QuotaAll+string(name), result.QuotaAmounts{
			Used: used[name], Nominated: sum(c.nominated[name], c.elsewhere[name]), Requested: c.request[name], Min: least[name],
		}.String())
	}
	if c.exceeded == "" {
		return
	}
	set(result.QuotaExceeded, c.exceeded)
	set(result.QuotaTakes, result.TakesOwn)
	if c.withinMin() {
		set(result.QuotaTakes, result.TakesBorrowed)
	}
	others := slices.DeleteFunc(slices.Collect(maps.Keys(c.quotas.of)), func(other string) bool { return other == namespace })
	slices.SortFunc(others, func(a, b string) int {
		return cmp.Or(first(c.quotas.of[a].overMin(), c.quotas.of[b].overMin()), cmp.Compare(a, b))
	})
	if more := len(others) - result.MaxQuotas; more > 0 {
		set(result.QuotaMore, strconv.Itoa(more))
		others = others[:result.MaxQuotas]
	}
	for _, other := range others {
		q := c.quotas.of[other]
		for _, name := range interesting(q.used, q.min, q.max) {
			set(result.QuotaOf+other+" "+string(name), q.amounts(name, 0, 0).String())
		}
	}
}

// first orders true before false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// interesting returns the resources with an amount anywhere, in the order of comparison.
func interesting(lists ...amounts) []v1.ResourceName {
	all := amounts{}
	for _, list := range lists {
		for name, amount := range list {
			if amount != 0 {
				all[name] = amount
			}
		}
	}
	return slices.DeleteFunc(all.compared(), func(name v1.ResourceName) bool { return all[name] == 0 })
}

func (q *quota) amounts(name v1.ResourceName, nominated, requested int64) result.QuotaAmounts {
	out := result.QuotaAmounts{Used: q.used[name], Nominated: nominated, Requested: requested, Min: q.min[name]}
	if limit, limited := q.limit(name); limited {
		out.Max = &limit
	}
	return out
}
