package noderesourcetopology

import (
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
)

// Misfit is a part of a pod for which no zone of a node has everything.
type Misfit struct {
	Role Role
	// Container is its name; empty for Pod.
	Container string
	// Zones are those of the node, by number, each with what it lacks.
	Zones []ZoneShortage
}

type ZoneShortage struct {
	Zone  string
	Short []Shortage
}

// Shortage is a resource of which a zone has too little. CPU is in thousandths of a core,
// other resources in their own unit.
type Shortage struct {
	Resource             v1.ResourceName
	Requested, Available int64
	// Absent: the zone does not list the resource, or the node does not have it.
	Absent bool
}

type Alignment struct {
	Role Role
	// Container is its name; empty for Pod.
	Container string
	Zone      string
}

// misfit is where the search for zones ended; left is what earlier containers left of the zones.
type misfit struct {
	part *part
	left []zone
}

func (m *misfit) message() string { return "cannot align " + string(m.part.role) }

// misfit returns the first part of a pod that no zone can hold; nil if all fit. Each
// container is charged to the first zone that can hold it; init containers and sidecars to
// none.
func (l *layout) misfit(r *request, node fwk.NodeInfo) *misfit {
	return l.align(r, node, func(*part, int) {})
}

// align is misfit; it also calls placed for each part that fits, with the index of its zone.
func (l *layout) align(r *request, node fwk.NodeInfo, placed func(p *part, zone int)) *misfit {
	if l.scope == v1alpha2.ScopePod {
		at := place(l.zones, &r.whole, r.guaranteed, node)
		if at < 0 {
			return &misfit{&r.whole, l.zones}
		}
		placed(&r.whole, at)
		return nil
	}
	left, own := l.zones, false
	for i := range r.parts {
		p := &r.parts[i]
		at := place(left, p, r.guaranteed, node)
		if at < 0 {
			return &misfit{p, left}
		}
		placed(p, at)
		if p.role != App || len(left) == 0 {
			continue
		}
		if !own {
			left, own = copied(left), true
		}
		for _, w := range p.wants {
			if _, listed := left[at].available[w.name]; listed && (r.guaranteed || !v1alpha2.IsShared(w.name)) {
				left[at].available[w.name] -= w.amount
			}
		}
	}
	return nil
}

// place returns the index of the first zone that can hold a part; -1 if none can.
func place(zones []zone, p *part, guaranteed bool, node fwk.NodeInfo) int {
	for i := range zones {
		if fits(zones, i, p, guaranteed, node) {
			return i
		}
	}
	if len(zones) == 0 && needsNoZone(p, node) {
		return 0
	}
	return -1
}

// needsNoZone reports whether a part requests nothing that a zone must have.
func needsNoZone(p *part, node fwk.NodeInfo) bool {
	for _, w := range p.wants {
		if w.amount > 0 && (!isOfTheHost(w.name) || !has(node, w.name)) {
			return false
		}
	}
	return true
}

func fits(zones []zone, at int, p *part, guaranteed bool, node fwk.NodeInfo) bool {
	for _, w := range p.wants {
		if _, short := shortage(zones, at, w, guaranteed, node); short {
			return false
		}
	}
	return true
}

func shortage(zones []zone, at int, w want, guaranteed bool, node fwk.NodeInfo) (Shortage, bool) {
	s := Shortage{Resource: w.name, Requested: w.amount}
	available, listed := zones[at].available[w.name]
	s.Available, s.Absent = available, !listed
	switch {
	case w.amount == 0:
		return s, false
	case !has(node, w.name):
		s.Available, s.Absent = 0, true
		return s, true
	case !listed:
		return s, !isOfTheHost(w.name) || listedIn(zones, w.name)
	case guaranteed || !v1alpha2.IsShared(w.name):
		return s, available < w.amount
	}
	return s, false
}

func tied(z *zone, p *part, guaranteed bool) bool {
	for _, w := range p.wants {
		if _, listed := z.available[w.name]; listed && w.amount > 0 && (guaranteed || !v1alpha2.IsShared(w.name)) {
			return true
		}
	}
	return false
}

func listedIn(zones []zone, name v1.ResourceName) bool {
	for i := range zones {
		if _, listed := zones[i].available[name]; listed {
			return true
		}
	}
	return false
}

func has(node fwk.NodeInfo, name v1.ResourceName) bool {
	switch name {
	case v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage, v1.ResourcePods:
		return true
	}
	_, ok := node.GetAllocatable().GetScalarResources()[name]
	return ok
}

func (m *misfit) explain(guaranteed bool, node fwk.NodeInfo) *Misfit {
	out := &Misfit{Role: m.part.role, Container: m.part.name}
	for i := range m.left {
		z := ZoneShortage{Zone: m.left[i].name}
		for _, w := range m.part.wants {
			if s, short := shortage(m.left, i, w, guaranteed, node); short {
				z.Short = append(z.Short, s)
			}
		}
		out.Zones = append(out.Zones, z)
	}
	return out
}
