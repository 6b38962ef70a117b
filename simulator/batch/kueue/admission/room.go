package admission

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// DomainRoom is what a domain of a topology has for the pods of one pod set.
type DomainRoom struct {
	// Values are the domain's node labels, from the widest level.
	Values []string
	// Pods of the pod set fit, at most as many as it has.
	Pods  int32
	Nodes int
	// Free is what is left of each resource that the pod set requests, and Each what a pod requests, in the unit of
	// ResourceTrial.
	Free, Each map[v1.ResourceName]int64
}

// Room returns the domains of a flavor's topology at the level that a pod set of a workload asks for, with what is free in
// each now. level is the level's label. It returns nothing for a flavor without a topology.
func (s *State) Room(key types.NamespacedName, set, flavor string, now time.Time) (level string, domains []DomainRoom) {
	w, topology := s.workloads[key], s.topologyOf(flavor)
	if w == nil || topology == nil {
		return "", nil
	}
	i := slices.IndexFunc(w.podSets, func(p podSet) bool { return p.name == set })
	if i < 0 {
		return "", nil
	}
	wanted := &w.podSets[i]
	at := len(topology.Spec.Levels) - 1
	if request := wanted.topology; request != nil {
		if asked := cmp.Or(ptr.Deref(request.Required, ""), ptr.Deref(request.Preferred, ""), ptr.Deref(request.PodSetSliceRequiredTopology, "")); asked != "" {
			at = levelIndex(topology, asked)
		}
	}
	if at < 0 {
		return "", nil
	}
	c := s.snapshot(now)
	if w.place == reserved {
		c.leaves.add(w.domains, -1)
	}
	a := &search{state: s, cycle: c, w: w}
	p := &placing{levels: make([][]*area, len(topology.Spec.Levels)), sliceLevel: len(topology.Spec.Levels) - 1, sliceSize: 1}
	workers := &podSetAssignment{podSet: wanted, count: wanted.count, flavors: map[v1.ResourceName]flavorChoice{v1.ResourcePods: {flavor: flavor}}}
	a.fill(p, c.leaves, workers, nil, topology)
	p.roll()
	rooms := make(map[string]*DomainRoom)
	for _, area := range p.levels[at] {
		rooms[strings.Join(area.values, "\x00")] = &DomainRoom{Values: area.values, Pods: min(area.pods, wanted.count), Free: make(map[v1.ResourceName]int64), Each: wanted.pod}
	}
	counted := make(map[leafKey]bool)
	levels := labelsOf(topology)
	s.eachNode(s.flavors[flavor], topology, func(node *v1.Node, values []string) {
		room := rooms[strings.Join(values[:at+1], "\x00")]
		if room == nil {
			return
		}
		room.Nodes++
		free := make(map[v1.ResourceName]int64)
		c.addRoom(free, node)
		if leaf := leafOf(flavor, levels, values); !counted[leaf] {
			counted[leaf] = true
			for name, v := range c.leaves[leaf] {
				free[name] -= v
			}
		}
		for name := range wanted.pod {
			room.Free[name] += free[name]
		}
	})
	for _, key := range slices.Sorted(maps.Keys(rooms)) {
		domains = append(domains, *rooms[key])
	}
	return topology.Spec.Levels[at].NodeLabel, domains
}

// Uses returns how much of a resource in a flavor a workload holds, in the unit of ResourceTrial.
func (s *State) Uses(key types.NamespacedName, flavor string, resource v1.ResourceName) int64 {
	if w := s.workloads[key]; w != nil {
		return w.usage[flavorResource{flavor, resource}]
	}
	return 0
}

// Available returns what a ClusterQueue could take now of a resource in a flavor, borrowed quota included, in the unit of
// ResourceTrial. It is negative after a cut, and 0 for an unknown ClusterQueue.
func (s *State) Available(clusterQueue, flavor string, resource v1.ResourceName) int64 {
	n := s.tree().queues[clusterQueue]
	if n == nil {
		return 0
	}
	return n.available(flavorResource{flavor, resource})
}
