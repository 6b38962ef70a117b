package upstream

import (
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// PodAffinity is what InterPodAffinity knows in Filter about the pod's affinity to
// other pods. It belongs to the plugin: do not change it.
type PodAffinity struct {
	// NamespaceLabels are those of the pod's namespace.
	NamespaceLabels labels.Set
	// Affinity and AntiAffinity are the pod's required terms that the plugin compares with Affine
	// and Repelled, LocalAffinity and LocalAntiAffinity those that it compares with the node's own
	// pods. They list the namespaces that they select, so AffinityTerm.Matches needs no labels of a
	// namespace.
	Affinity, AntiAffinity, LocalAffinity, LocalAntiAffinity []fwk.AffinityTerm
	// Affine, Repelled and Repelling count by domain the pods that match all of Affinity, those
	// that match one of AntiAffinity, and those with an anti-affinity term that matches the pod.
	Affine, Repelled, Repelling DomainCounts
	// LocallyAffine counts the pods of the cluster that match all of LocalAffinity.
	LocallyAffine int64
	// Local: the plugin compares terms over hostnames, also those of running pods, with the node's
	// own pods.
	Local bool
}

// PodAffinityOf returns the state that the plugin wrote in PreFilter, with the counts
// of state, or nil if there is none.
func PodAffinityOf(state fwk.CycleState) *PodAffinity {
	data := stateOf(state, names.InterPodAffinity)
	out := &PodAffinity{}
	var known [6]bool
	out.NamespaceLabels, known[0] = valueOf[labels.Set](field(data, "namespaceLabels"))
	out.Affinity, known[1] = valueOf[[]fwk.AffinityTerm](field(data, "clusterWideAffinityTerms"))
	out.AntiAffinity, known[2] = valueOf[[]fwk.AffinityTerm](field(data, "clusterWideAntiAffinityTerms"))
	out.LocalAffinity, known[3] = valueOf[[]fwk.AffinityTerm](field(data, "hostScopedAffinityTerms"))
	out.LocalAntiAffinity, known[4] = valueOf[[]fwk.AffinityTerm](field(data, "hostScopedAntiAffinityTerms"))
	out.Local, known[5] = valueOf[bool](field(data, "enableInterPodAffinityHostnameFastPath"))
	for _, ok := range known {
		if !ok {
			return nil
		}
	}
	out.LocallyAffine, _ = valueOf[int64](field(data, "matchingHostScopedAffinityPodsCount"))
	out.Affine = domainCounts(field(data, "clusterWideAffinityCounts"))
	out.Repelled = domainCounts(field(data, "clusterWideAntiAffinityCounts"))
	out.Repelling = domainCounts(field(data, "existingClusterWideAntiAffinityCounts"))
	return out
}

// DomainCounts is one of the plugin's maps from a topology key and value to a number
// of pods. Many goroutines may read it. The zero value is empty.
type DomainCounts struct{ counts reflect.Value }

type topologyPair struct{ key, value string }

// domainCounts returns an empty DomainCounts for a v of another type than expected.
func domainCounts(v reflect.Value) DomainCounts {
	if !v.IsValid() || v.Kind() != reflect.Map || v.Type().Elem().Kind() != reflect.Int64 || !sameLayout(v.Type().Key()) {
		return DomainCounts{}
	}
	return DomainCounts{v}
}

func sameLayout(t reflect.Type) bool {
	own := reflect.TypeFor[topologyPair]()
	if t.Kind() != reflect.Struct || t.NumField() != own.NumField() {
		return false
	}
	for i := range own.NumField() {
		if t.Field(i).Name != own.Field(i).Name || t.Field(i).Type != own.Field(i).Type {
			return false
		}
	}
	return true
}

// Empty reports whether no domain has any pods.
func (c DomainCounts) Empty() bool { return !c.counts.IsValid() || c.counts.Len() == 0 }

// Keys returns the topology keys of the domains, sorted.
func (c DomainCounts) Keys() []string {
	if c.Empty() {
		return nil
	}
	keys := sets.New[string]()
	for each := c.counts.MapRange(); each.Next(); {
		keys.Insert(each.Key().Field(0).String())
	}
	return sets.List(keys)
}

// In returns the number of pods in the domain of node for a topology key. It reports
// false when the node does not have the label.
func (c DomainCounts) In(node *v1.Node, topologyKey string) (pods int64, labelled bool) {
	value, ok := node.Labels[topologyKey]
	if !ok || c.Empty() {
		return 0, ok
	}
	key := reflect.New(c.counts.Type().Key())
	*(*topologyPair)(key.UnsafePointer()) = topologyPair{topologyKey, value}
	if found := c.counts.MapIndex(key.Elem()); found.IsValid() {
		pods = found.Int()
	}
	return pods, true
}
