package noderesourcetopology

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
)

// layout is what the plugin reads of a NodeResourceTopology. It does not change.
type layout struct {
	settings
	zones []zone // by id
}

type settings struct {
	policy, scope string
	maxNUMANodes  int
}

type zone struct {
	id   int
	name string
	// available has the resources that the zone lists: of CPU in thousandths of a core, of
	// others in their own unit.
	available map[v1.ResourceName]int64
	// allocatable is the most that can become available.
	allocatable map[v1.ResourceName]int64
	costs       map[int]int64 // by id
}

const (
	defaultMaxNUMANodes = 8
	mostNUMANodes       = 1024
	// mostZones is how many zones the kubelet's topology manager can tell apart.
	mostZones = 64
)

// policyWords are the values of topologyPolicies with a meaning. Others mean no policy.
var policyWords = map[string]settings{
	"SingleNUMANodePodLevel":       {policy: v1alpha2.PolicySingleNUMANode, scope: v1alpha2.ScopePod},
	"SingleNUMANodeContainerLevel": {policy: v1alpha2.PolicySingleNUMANode, scope: v1alpha2.ScopeContainer},
	"RestrictedPodLevel":           {policy: v1alpha2.PolicyRestricted, scope: v1alpha2.ScopePod},
	"RestrictedContainerLevel":     {policy: v1alpha2.PolicyRestricted, scope: v1alpha2.ScopeContainer},
	"BestEffortPodLevel":           {policy: v1alpha2.PolicyBestEffort, scope: v1alpha2.ScopePod},
	"BestEffortContainerLevel":     {policy: v1alpha2.PolicyBestEffort, scope: v1alpha2.ScopeContainer},
}

// settingsOf ignores values that it does not know.
func settingsOf(t *v1alpha2.NodeResourceTopology) settings {
	out := settings{policy: v1alpha2.PolicyNone, scope: v1alpha2.ScopeContainer}
	if len(t.TopologyPolicies) > 0 {
		if word, known := policyWords[t.TopologyPolicies[0]]; known {
			out = word
		}
	}
	out.maxNUMANodes = defaultMaxNUMANodes
	for _, a := range t.Attributes {
		switch a.Name {
		case v1alpha2.AttributePolicy:
			if slices.Contains([]string{v1alpha2.PolicyNone, v1alpha2.PolicyBestEffort, v1alpha2.PolicyRestricted, v1alpha2.PolicySingleNUMANode}, a.Value) {
				out.policy = a.Value
			}
		case v1alpha2.AttributeScope:
			if a.Value == v1alpha2.ScopeContainer || a.Value == v1alpha2.ScopePod {
				out.scope = a.Value
			}
		case v1alpha2.AttributeMaxNUMANodes:
			if n, err := strconv.Atoi(a.Value); err == nil && n > 1 {
				out.maxNUMANodes = min(n, mostNUMANodes)
			}
		}
	}
	return out
}

func layoutOf(t *v1alpha2.NodeResourceTopology) *layout {
	out := &layout{settings: settingsOf(t)}
	for i := range t.Zones {
		id, ok := t.Zones[i].ID()
		if !ok || id >= mostZones || slices.ContainsFunc(out.zones, func(z zone) bool { return z.id == id }) {
			continue
		}
		z := zone{id: id, name: t.Zones[i].Name, available: map[v1.ResourceName]int64{}, allocatable: map[v1.ResourceName]int64{}, costs: map[int]int64{}}
		for _, r := range t.Zones[i].Resources {
			name := v1.ResourceName(r.Name)
			z.available[name], z.allocatable[name] = units(name, r.Available), units(name, r.Allocatable)
		}
		for _, c := range t.Zones[i].Costs {
			if to, ok := v1alpha2.ZoneID(c.Name); ok {
				z.costs[to] = c.Value
			}
		}
		out.zones = append(out.zones, z)
	}
	slices.SortFunc(out.zones, func(a, b zone) int { return cmp.Compare(a.id, b.id) })
	return out
}

func units(name v1.ResourceName, q resource.Quantity) int64 {
	if name == v1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

func (l *layout) lists(name v1.ResourceName) bool {
	return slices.ContainsFunc(l.zones, func(z zone) bool {
		_, listed := z.available[name]
		return listed
	})
}

// copied returns zones to change.
func copied(zones []zone) []zone {
	out := slices.Clone(zones)
	for i := range out {
		out[i].available = maps.Clone(out[i].available)
	}
	return out
}

// without returns the layout with an amount less in every zone that lists the resource, at
// least 0.
func (l *layout) without(taken map[v1.ResourceName]int64) *layout {
	if len(taken) == 0 {
		return l
	}
	out := &layout{settings: l.settings, zones: copied(l.zones)}
	for _, z := range out.zones {
		for name, n := range taken {
			if available, listed := z.available[name]; listed {
				z.available[name] = max(0, available-n)
			}
		}
	}
	return out
}

// with returns the layout after giving what the victims hold exclusively back to their zones. The
// error says that a zone would exceed its allocatable.
func (l *layout) with(victims []*v1.Pod, t *v1alpha2.NodeResourceTopology, placed map[v1alpha2.ContainerID]int) (*layout, error) {
	out := &layout{settings: l.settings, zones: copied(l.zones)}
	for _, pod := range victims {
		for c := range v1alpha2.Lasting(pod) {
			id, known := placed[v1alpha2.ContainerID{Namespace: pod.Namespace, Pod: pod.Name, Container: c.Name}]
			at := slices.IndexFunc(out.zones, func(z zone) bool { return z.id == id })
			if !known || at < 0 {
				continue
			}
			exclusive := maps.Collect(t.Exclusive(pod, c))
			for _, name := range slices.Sorted(maps.Keys(exclusive)) { // the error names the first one
				z := &out.zones[at]
				if _, listed := z.available[name]; !listed {
					continue
				}
				if z.available[name] += units(name, exclusive[name]); z.available[name] > z.allocatable[name] {
					return nil, fmt.Errorf("%s would have more %s than is allocatable", z.name, name)
				}
			}
		}
	}
	return out, nil
}
