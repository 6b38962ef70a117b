package result

import (
	"fmt"
	"math"
	"strings"
)

// CapacityScheduling is the plugin whose facts have the following keys. Pods of namespaces without
// an ElasticQuota have none.
const (
	CapacityScheduling = "CapacityScheduling"

	// QuotaName is the name of the ElasticQuota of the pod's namespace.
	QuotaName = "quota"
	// QuotaExceeded says by which rule the plugin rejected the pod: one of the Exceeded
	// constants. It is absent for a pod that passed.
	QuotaExceeded = "exceeded"
	// QuotaTakes says from whom a rejected pod may take by preemption: one of the Takes
	// constants.
	QuotaTakes = "takes"
	// QuotaStays is a fact about a node on which preemption found victims: without them, too, the
	// plugin rejects the pod. The dry run counts no nominated pods, and PreFilter does.
	QuotaStays = "stays rejected"
	// QuotaOwn and QuotaAll begin the keys of facts about a resource, such as "own cpu":
	// QuotaAmounts of the namespace, and of all quotas together.
	QuotaOwn = "own "
	QuotaAll = "all "
	// QuotaOf begins the keys of facts about a resource of another namespace, such as
	// "namespace team-b cpu". Rejected pods have them, for at most MaxQuotas namespaces, those
	// that borrow first. QuotaMore counts the other namespaces.
	QuotaOf   = "namespace "
	QuotaMore = "more namespaces"
)

// MaxQuotas bounds the namespaces whose quotas a cycle keeps.
const MaxQuotas = 32

// Why CapacityScheduling rejects a pod.
const (
	ExceededMax   = "max"   // its namespace would use more than its max
	ExceededTotal = "total" // all quotas together would use more than the sum of their mins
)

// From whom a pod may take by preemption.
const (
	TakesBorrowed = "borrowed" // its min covers it: from namespaces that use more than theirs
	TakesOwn      = "own"      // it does not: from less important pods of its namespace
)

// QuotaAmounts are those of a resource. CPU is in thousandths of a core, other resources in
// their own unit.
type QuotaAmounts struct {
	// Used is what other pods use, Nominated what pods request that wait for their victims to
	// terminate, and Requested what this pod requests.
	Used, Nominated, Requested int64
	Min                        int64
	// Max is nil for an unlimited resource, and for all quotas together.
	Max *int64
}

// Short reports whether the amounts break a rule: that of the max or, if total, that of the sum of
// the mins.
func (a QuotaAmounts) Short(total bool) bool {
	asked := saturated(saturated(a.Used, a.Nominated), a.Requested)
	if total {
		return asked > a.Min
	}
	return a.Max != nil && asked > *a.Max
}

// saturated adds without overflow.
func saturated(a, b int64) int64 {
	switch {
	case a > 0 && b > math.MaxInt64-a:
		return math.MaxInt64
	case a < 0 && b < math.MinInt64-a:
		return math.MinInt64
	}
	return a + b
}

// String returns a fact's value.
func (a QuotaAmounts) String() string {
	out := fmt.Sprintf("used %d, nominated %d, requested %d, min %d", a.Used, a.Nominated, a.Requested, a.Min)
	if a.Max != nil {
		out += fmt.Sprintf(", max %d", *a.Max)
	}
	return out
}

// ParseQuotaAmounts reads the value of a fact.
func ParseQuotaAmounts(value string) (a QuotaAmounts, ok bool) {
	before, after, limited := strings.Cut(value, ", max ")
	_, err := fmt.Sscanf(before, "used %d, nominated %d, requested %d, min %d", &a.Used, &a.Nominated, &a.Requested, &a.Min)
	if err != nil || !limited {
		return a, err == nil
	}
	a.Max = new(int64)
	_, err = fmt.Sscanf(after, "%d", a.Max)
	return a, err == nil
}
