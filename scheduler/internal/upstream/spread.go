package upstream

import (
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// SpreadConstraint is a topology spread constraint of a pod as PodTopologySpread
// reads it in Filter.
type SpreadConstraint struct {
	TopologyKey string
	MaxSkew     int32
	// Selector selects the pods that count.
	Selector labels.Selector
	// Matching counts those pods by domain. It belongs to the plugin: do not change
	// it.
	Matching map[string]int
	// Minimum is the count of the domain with the fewest, with which the plugin compares the
	// others, or 0 if there are fewer domains than MinDomains.
	Minimum int
	// MinDomains is 1 when the constraint names none.
	MinDomains int32
	// NodeAffinityPolicy and NodeTaintsPolicy decide which nodes count.
	NodeAffinityPolicy, NodeTaintsPolicy v1.NodeInclusionPolicy
}

// SpreadConstraints returns the constraints, with the counts that the plugin made
// in PreFilter. It returns nil when there are none.
func SpreadConstraints(state fwk.CycleState) []SpreadConstraint {
	data := stateOf(state, names.PodTopologySpread)
	constraints := field(data, "Constraints")
	paths := field(data, "CriticalPaths")
	counts, _ := valueOf[[]map[string]int](field(data, "TpValueToMatchNum"))
	if !constraints.IsValid() || constraints.Len() != len(counts) || !paths.IsValid() || paths.Len() != len(counts) {
		return nil
	}
	out := make([]SpreadConstraint, len(counts))
	for i := range out {
		from := constraints.Index(i)
		out[i].TopologyKey, _ = valueOf[string](field(from, "TopologyKey"))
		out[i].MaxSkew, _ = valueOf[int32](field(from, "MaxSkew"))
		out[i].Selector, _ = valueOf[labels.Selector](field(from, "Selector"))
		out[i].MinDomains, _ = valueOf[int32](field(from, "MinDomains"))
		out[i].NodeAffinityPolicy, _ = valueOf[v1.NodeInclusionPolicy](field(from, "NodeAffinityPolicy"))
		out[i].NodeTaintsPolicy, _ = valueOf[v1.NodeInclusionPolicy](field(from, "NodeTaintsPolicy"))
		out[i].Matching = counts[i]
		if len(counts[i]) >= int(out[i].MinDomains) {
			out[i].Minimum = fewest(paths.Index(i))
		}
	}
	return out
}

// fewest returns the count of the plugin's first critical path, which is the lowest.
func fewest(paths reflect.Value) int {
	paths = reflect.Indirect(paths)
	if paths.Kind() != reflect.Array || paths.Len() == 0 {
		return 0
	}
	n, _ := valueOf[int](field(paths.Index(0), "MatchNum"))
	return n
}
