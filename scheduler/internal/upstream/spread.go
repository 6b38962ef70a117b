package upstream

import (
	"reflect"

	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// SpreadConstraint is a topology spread constraint of a pod as PodTopologySpread
// reads it in Filter.
type SpreadConstraint struct {
	TopologyKey         string
	MaxSkew, MinDomains int32
	// Selector selects the pods that count. It may be nil.
	Selector labels.Selector
	// Matching counts those pods by domain. It belongs to the plugin: do not change
	// it.
	Matching map[string]int
}

// SpreadConstraints returns the constraints, with the counts that the plugin made
// in PreFilter. It returns nil when there are none. The type of the plugin's state
// is not exported, but its fields are, so we read them through reflection.
func SpreadConstraints(state fwk.CycleState) []SpreadConstraint {
	data, err := state.Read("PreFilter" + names.PodTopologySpread)
	if err != nil {
		return nil
	}
	constraints := field(reflect.ValueOf(data), "Constraints")
	counts, _ := valueOf[[]map[string]int](field(reflect.ValueOf(data), "TpValueToMatchNum"))
	if !constraints.IsValid() || constraints.Len() != len(counts) {
		return nil
	}
	out := make([]SpreadConstraint, len(counts))
	for i := range out {
		from := constraints.Index(i)
		out[i].TopologyKey, _ = valueOf[string](field(from, "TopologyKey"))
		out[i].MaxSkew, _ = valueOf[int32](field(from, "MaxSkew"))
		out[i].MinDomains, _ = valueOf[int32](field(from, "MinDomains"))
		out[i].Selector, _ = valueOf[labels.Selector](field(from, "Selector"))
		out[i].Matching = counts[i]
	}
	return out
}

// field returns the named exported field of v, a struct or a pointer to one, or the
// zero Value when there is none.
func field(v reflect.Value, name string) reflect.Value {
	v = reflect.Indirect(v)
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v.FieldByName(name)
}

func valueOf[T any](v reflect.Value) (T, bool) {
	var zero T
	if !v.IsValid() || !v.CanInterface() {
		return zero, false
	}
	t, ok := v.Interface().(T)
	return t, ok
}
