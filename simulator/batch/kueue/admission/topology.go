package admission

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/util/tas"
)

// leafKey names the lowest domain of a topology: a node if the lowest level is the hostname, so
// that flavors which share nodes share their usage; else a domain of one flavor.
type leafKey struct {
	flavor string
	domain string
}

func leafOf(flavor string, levels, values []string) leafKey {
	if last := len(levels) - 1; last >= 0 && levels[last] == v1.LabelHostname {
		return leafKey{domain: values[len(values)-1]}
	}
	return leafKey{flavor: flavor, domain: strings.Join(values, "/")}
}

// domainUsage is what pods of one shape take in one lowest domain.
type domainUsage struct {
	leaf leafKey
	pods int32
	each map[v1.ResourceName]int64
}

// leafUsage is what is taken in each lowest domain.
type leafUsage map[leafKey]map[v1.ResourceName]int64

func (u leafUsage) add(usage []domainUsage, sign int64) {
	for _, d := range usage {
		at := u[d.leaf]
		if at == nil {
			at = make(map[v1.ResourceName]int64)
			u[d.leaf] = at
		}
		for name, v := range d.each {
			at[name] += sign * v * int64(d.pods)
		}
		at[v1.ResourcePods] += sign * int64(d.pods)
	}
}

// domainsOf returns what an admission takes in each lowest domain.
func domainsOf(podSets []podSet, admission *kueue.Admission) []domainUsage {
	var usage []domainUsage
	for _, assigned := range admission.PodSetAssignments {
		i := slices.IndexFunc(podSets, func(p podSet) bool { return p.name == string(assigned.Name) })
		if i < 0 || assigned.TopologyAssignment == nil {
			continue
		}
		flavor := string(assigned.Flavors[sortedKeys(assigned.Flavors, cmp.Compare[v1.ResourceName])[0]])
		for _, d := range Domains(assigned.TopologyAssignment) {
			usage = append(usage, domainUsage{leafOf(flavor, assigned.TopologyAssignment.Levels, d.Values), d.Pods, podSets[i].pod})
		}
	}
	return usage
}

// Domains lists the domains of a topology assignment, which are compressed in the object. It accepts
// an assignment whose lengths do not agree.
func Domains(assignment *kueue.TopologyAssignment) []DomainPods {
	var domains []DomainPods
	for _, run := range assignment.Slices {
		for i := range int(run.DomainCount) {
			d := DomainPods{Values: make([]string, len(assignment.Levels)), Pods: ptr.Deref(run.PodCounts.Universal, 0)}
			for level, values := range run.ValuesPerLevel[:min(len(run.ValuesPerLevel), len(d.Values))] {
				d.Values[level] = ptr.Deref(values.Universal, "")
				if each := values.Individual; each != nil && i < len(each.Roots) {
					d.Values[level] = ptr.Deref(each.Prefix, "") + each.Roots[i] + ptr.Deref(each.Suffix, "")
				}
			}
			if i < len(run.PodCounts.Individual) {
				d.Pods = run.PodCounts.Individual[i]
			}
			domains = append(domains, d)
		}
	}
	return domains
}

// compress is the reverse of Domains.
func compress(levels []string, domains []DomainPods) *kueue.TopologyAssignment {
	assignment := &tas.TopologyAssignment{Levels: levels}
	for _, d := range domains {
		assignment.Domains = append(assignment.Domains, tas.TopologyDomainAssignment{Values: d.Values, Count: d.Pods})
	}
	return tas.V1Beta2From(assignment)
}

func (a *search) topologyMismatch(p *podSet, flavor string) Reason {
	topology := a.state.topologyOf(flavor)
	switch {
	case asksTopology(p) && topology == nil:
		return Reason{TopologyUnsupported{flavor}}
	case asksTopology(p):
		for _, level := range askedLevels(p.topology) {
			if levelIndex(topology, level) < 0 {
				return Reason{TopologyLevelMissing{flavor}}
			}
		}
	case topology != nil && slices.ContainsFunc(flavorNames(a.queue), func(other string) bool { return a.state.topologyOf(other) == nil }):
		return Reason{TopologyOnly{flavor}}
	}
	return Reason{}
}

func asksTopology(p *podSet) bool {
	t := p.topology
	return t != nil && (t.Required != nil || t.Preferred != nil || ptr.Deref(t.Unconstrained, false) || t.PodSetSliceRequiredTopology != nil)
}

func askedLevels(t *kueue.PodSetTopologyRequest) []string {
	var levels []string
	for _, level := range []*string{t.Required, t.Preferred, t.PodSetSliceRequiredTopology} {
		if level != nil {
			levels = append(levels, *level)
		}
	}
	return levels
}

func levelIndex(topology *kueue.Topology, label string) int {
	return slices.IndexFunc(topology.Spec.Levels, func(l kueue.TopologyLevel) bool { return l.NodeLabel == label })
}

// placeByTopology finds domains for the pod sets of an assignment. If there is no room now, the
// mode becomes Preempt, and NoFit if there would be none in an empty cluster.
func (a *search) placeByTopology(result *assignment) {
	if !a.usesTopology(result) {
		return
	}
	if result.mode == Fit {
		why := a.place(result, false)
		if why.IsZero() {
			return
		}
		result.refuseTopology(a, why)
	}
	if why := a.place(result, true); !why.IsZero() {
		if short, ok := why.Operands.(TopologyShort); ok {
			short.Empty = true
			why = Reason{short}
		}
		for i := range result.podSets {
			if a.topologyFor(&result.podSets[i]) != nil {
				result.podSets[i].reasons = []Reason{why}
			}
		}
		result.mode, result.borrowing, result.usage = NoFit, 0, make(amounts)
		result.condition = reasonTopologyPlacementFailed
	}
	result.clearDomains()
}

func (r *assignment) refuseTopology(a *search, why Reason) {
	r.mode = NoCandidates
	for i := range r.podSets {
		p := &r.podSets[i]
		if a.topologyFor(p) == nil {
			continue
		}
		p.reasons = append(p.reasons, why)
		for name, choice := range p.flavors {
			choice.mode = NoCandidates
			p.flavors[name] = choice
		}
	}
}

func (r *assignment) clearDomains() {
	for i := range r.podSets {
		r.podSets[i].domains = nil
	}
}

func (a *search) usesTopology(result *assignment) bool {
	return slices.ContainsFunc(result.podSets, func(p podSetAssignment) bool { return a.topologyFor(&p) != nil })
}

// topologyFor returns the topology of a pod set's flavor; nil without topology-aware placement.
func (a *search) topologyFor(p *podSetAssignment) *kueue.Topology {
	flavor := p.flavor()
	if flavor == "" {
		return nil
	}
	return a.state.topologyOf(flavor)
}

// flavor is the flavor of the pod set's first resource. Topology-aware placement uses one.
func (p *podSetAssignment) flavor() string {
	names := sortedKeys(p.flavors, cmp.Compare[v1.ResourceName])
	if len(names) == 0 {
		return ""
	}
	return p.flavors[names[0]].flavor
}

// place finds domains for all pod sets, in an empty cluster or beside what runs now.
func (a *search) place(result *assignment, empty bool) Reason {
	taken := make(leafUsage)
	if !empty {
		for leaf, usage := range a.cycle.leaves {
			taken[leaf] = maps.Clone(usage)
		}
	}
	for _, group := range groupPodSets(a.w.podSets) {
		lead := &result.podSets[group[0]]
		if a.topologyFor(lead) == nil {
			continue
		}
		workers, leader := lead, (*podSetAssignment)(nil)
		if len(group) == 2 {
			leader = &result.podSets[group[1]]
			if leader.count > workers.count {
				workers, leader = leader, workers
			}
		}
		if why := a.placeGroup(taken, workers, leader); !why.IsZero() {
			return why
		}
		for _, p := range []*podSetAssignment{workers, leader} {
			if p != nil {
				taken.add(a.usageOfDomains(p), 1)
			}
		}
	}
	return Reason{}
}

func (a *search) usageOfDomains(p *podSetAssignment) []domainUsage {
	var usage []domainUsage
	for _, d := range p.domains {
		usage = append(usage, domainUsage{d.key, d.pods, p.podSet.pod})
	}
	return usage
}

// domain is one lowest domain with the pods that go there.
type domain struct {
	key    leafKey
	values []string
	pods   int32
}

// area is one domain while pods are placed.
type area struct {
	values   []string
	parent   *area
	children []*area
	key      leafKey
	// pods and slices are how many would fit. withLeader and slicesWithLeader are those beside
	// a leader, and leader says whether one fits at all.
	pods, slices                 int32
	withLeader, slicesWithLeader int32
	leader                       bool
	// given are the pods, and leads is set if the leader goes here.
	given int32
	leads bool
}

// placing is the placement of one pod set, or of a leader with its workers.
type placing struct {
	levels     [][]*area
	sliceLevel int
	sliceSize  int32
	leader     bool
}

// placeGroup finds domains for workers, and for their leader unless it is nil.
func (a *search) placeGroup(taken leafUsage, workers, leader *podSetAssignment) Reason {
	topology := a.topologyFor(workers)
	request := workers.podSet.topology
	if !asksTopology(workers.podSet) {
		request = &kueue.PodSetTopologyRequest{Unconstrained: ptr.To(true)}
	}
	lowest := len(topology.Spec.Levels) - 1
	p := &placing{levels: make([][]*area, lowest+1), sliceLevel: lowest, sliceSize: max(1, ptr.Deref(request.PodSetSliceSize, 1)), leader: leader != nil}
	level := lowest
	if request.PodSetSliceRequiredTopology != nil {
		p.sliceLevel = levelIndex(topology, *request.PodSetSliceRequiredTopology)
		level = 0
	}
	switch {
	case request.Required != nil:
		level = levelIndex(topology, *request.Required)
	case request.Preferred != nil:
		level = levelIndex(topology, *request.Preferred)
	case ptr.Deref(request.Unconstrained, false):
		level = min(lowest, p.sliceLevel)
	}
	if workers.count%p.sliceSize != 0 || level > p.sliceLevel {
		return Reason{TopologyRequestInvalid{fmt.Sprintf("slices of %d pods do not divide %d pods at the requested level", p.sliceSize, workers.count)}}
	}
	short := a.fill(p, taken, workers, leader, topology)
	p.roll()
	wanted := workers.count / p.sliceSize
	chosen, level, fits := p.choose(level, wanted, request)
	if chosen == nil {
		short.Fits, short.Wanted, short.Slices = fits, wanted, p.sliceSize > 1
		return Reason{short}
	}
	for at := level; at < lowest; at++ {
		chosen = p.down(chosen, at, wanted)
	}
	workers.domains = nil
	if leader != nil {
		leader.domains = nil
	}
	slices.SortFunc(chosen, compareAreas)
	for _, area := range chosen {
		if area.leads {
			leader.domains = append(leader.domains, domain{area.key, area.values, 1})
		}
		pods := area.given
		if p.sliceLevel == lowest {
			pods *= p.sliceSize
		}
		if pods > 0 {
			workers.domains = append(workers.domains, domain{area.key, area.values, pods})
		}
	}
	return Reason{}
}

func compareAreas(a, b *area) int { return slices.Compare(a.values, b.values) }

// fill builds the domains from the flavor's nodes, and counts the pods that fit in each of the
// lowest. It returns which nodes were excluded.
func (a *search) fill(p *placing, taken leafUsage, workers, leader *podSetAssignment, topology *kueue.Topology) TopologyShort {
	short := TopologyShort{Topology: topology.Name}
	flavor := a.state.flavors[workers.flavor()]
	byPath := make(map[string]*area)
	free := make(map[*area]map[v1.ResourceName]int64)
	excluded := make(map[string]int32)
	perNode := topology.Spec.Levels[len(topology.Spec.Levels)-1].NodeLabel == v1.LabelHostname
	levels := labelsOf(topology)
	a.state.eachNode(flavor, topology, func(node *v1.Node, values []string) {
		if a.usable != nil && !a.usable(node) {
			return
		}
		short.Nodes++
		if perNode {
			if rule := excludes(node, workers.podSet.spec, flavor); rule != "" {
				excluded[rule]++
				return
			}
		}
		leaf := p.area(byPath, values)
		leaf.key = leafOf(flavor.Name, levels, values)
		room := free[leaf]
		if room == nil {
			room = make(map[v1.ResourceName]int64)
			free[leaf] = room
		}
		a.cycle.addRoom(room, node)
	})
	leaves := p.levels[len(p.levels)-1]
	for _, leaf := range leaves {
		room := free[leaf]
		for resource, v := range taken[leaf.key] {
			room[resource] -= v
		}
		var lacks v1.ResourceName
		leaf.pods, lacks = howMany(room, workers.podSet.pod)
		if leaf.pods == 0 && lacks != "" {
			excluded[fmt.Sprintf("resource %q", lacks)]++
		}
		if leader == nil {
			continue
		}
		if n, _ := howMany(room, leader.podSet.pod); n > 0 {
			leaf.leader = true
			for resource, v := range leader.podSet.pod {
				room[resource] -= v
			}
			room[v1.ResourcePods]--
			leaf.withLeader, _ = howMany(room, workers.podSet.pod)
		}
	}
	for _, rule := range sortedKeys(excluded, cmp.Compare[string]) {
		short.Excluded = append(short.Excluded, Exclusions{rule, excluded[rule]})
	}
	return short
}

// eachNode visits the nodes that a flavor with a topology can use, by name.
func (s *State) eachNode(flavor *kueue.ResourceFlavor, topology *kueue.Topology, visit func(node *v1.Node, values []string)) {
	for _, name := range sortedKeys(s.nodes, cmp.Compare[string]) {
		if values, ok := nodeValues(s.nodes[name], flavor, topology); ok {
			visit(s.nodes[name], values)
		}
	}
}

// addRoom adds what a node has for topology-aware workloads.
func (c *snapshot) addRoom(room map[v1.ResourceName]int64, node *v1.Node) {
	for resource, q := range node.Status.Allocatable {
		room[resource] += valueOf(resource, q)
	}
	for resource, v := range c.others[node.Name] {
		room[resource] -= v
	}
}

func labelsOf(topology *kueue.Topology) []string {
	labels := make([]string, len(topology.Spec.Levels))
	for i, level := range topology.Spec.Levels {
		labels[i] = level.NodeLabel
	}
	return labels
}

// roomInDomains reports whether the domains chosen for a head still have room.
func (c *snapshot) roomInDomains(e *entry) bool {
	after := make(leafUsage)
	for leaf, usage := range c.leaves {
		after[leaf] = maps.Clone(usage)
	}
	after.add(e.domains(), 1)
	for i := range e.assignment.podSets {
		p := &e.assignment.podSets[i]
		if len(p.domains) == 0 {
			continue
		}
		flavor := c.state.flavors[p.flavor()]
		topology := c.state.topologyOf(flavor.Name)
		free := make(leafUsage)
		c.state.eachNode(flavor, topology, func(node *v1.Node, values []string) {
			leaf := leafOf(flavor.Name, labelsOf(topology), values)
			if free[leaf] == nil {
				free[leaf] = make(map[v1.ResourceName]int64)
			}
			c.addRoom(free[leaf], node)
		})
		for _, d := range p.domains {
			for name, v := range after[d.key] {
				if v > free[d.key][name] {
					return false
				}
			}
		}
	}
	return true
}

// topologyAssignment is where a pod set's pods go, as the workload's status has it.
func (e *entry) topologyAssignment(p *podSetAssignment, topology *kueue.Topology) *kueue.TopologyAssignment {
	levels := labelsOf(topology)
	skip := 0
	if last := len(levels) - 1; levels[last] == v1.LabelHostname {
		skip = last
	}
	domains := make([]DomainPods, len(p.domains))
	for i, d := range p.domains {
		domains[i] = DomainPods{Values: d.values[skip:], Pods: d.pods}
	}
	return compress(levels[skip:], domains)
}

// area returns the lowest domain with the given values, and creates it with its ancestors.
func (p *placing) area(byPath map[string]*area, values []string) *area {
	var parent *area
	for level := range values {
		path := strings.Join(values[:level+1], "\x00")
		at := byPath[path]
		if at == nil {
			at = &area{values: values[:level+1], parent: parent}
			byPath[path] = at
			p.levels[level] = append(p.levels[level], at)
			if parent != nil {
				parent.children = append(parent.children, at)
			}
		}
		parent = at
	}
	return parent
}

// nodeValues returns a node's values of the topology's levels, if the flavor can use the node.
func nodeValues(node *v1.Node, flavor *kueue.ResourceFlavor, topology *kueue.Topology) ([]string, bool) {
	if node.Spec.Unschedulable || !nodeReady(node) {
		return nil, false
	}
	for key, value := range flavor.Spec.NodeLabels {
		if node.Labels[key] != value {
			return nil, false
		}
	}
	values := make([]string, len(topology.Spec.Levels))
	for i, level := range topology.Spec.Levels {
		value, ok := node.Labels[level.NodeLabel]
		if !ok {
			return nil, false
		}
		values[i] = value
	}
	return values, true
}

// replaced returns an admission in which the pods on unhealthy nodes have other nodes, of the same
// flavor and inside the domain that the workload requires. ok is false if there are none.
func (s *State) replaced(w *workload, now time.Time) (admission *kueue.Admission, ok bool) {
	failed := make(map[string]bool)
	for _, node := range w.object.Status.UnhealthyNodes {
		failed[node.Name] = true
	}
	admission = w.object.Status.Admission.DeepCopy()
	c := s.snapshot(now)
	for i := range admission.PodSetAssignments {
		assigned := &admission.PodSetAssignments[i]
		at := slices.IndexFunc(w.podSets, func(p podSet) bool { return p.name == string(assigned.Name) })
		if at < 0 || assigned.TopologyAssignment == nil {
			continue
		}
		var kept []DomainPods
		lost := int32(0)
		for _, d := range Domains(assigned.TopologyAssignment) {
			if failed[d.Values[len(d.Values)-1]] {
				lost += d.Pods
				continue
			}
			kept = append(kept, d)
		}
		if lost == 0 {
			continue
		}
		p := w.podSets[at]
		level := ""
		if p.topology != nil {
			level = ptr.Deref(p.topology.Required, "")
		}
		a := &search{state: s, cycle: c, w: w, usable: func(node *v1.Node) bool { return !failed[node.Name] && s.sameDomain(node, level, kept, failed) }}
		p.topology = nil
		flavor := string(assigned.Flavors[sortedKeys(assigned.Flavors, cmp.Compare[v1.ResourceName])[0]])
		moved := &podSetAssignment{podSet: &p, count: lost, flavors: map[v1.ResourceName]flavorChoice{"": {flavor: flavor}}}
		if why := a.placeGroup(c.leaves, moved, nil); !why.IsZero() {
			return nil, false
		}
		c.leaves.add(a.usageOfDomains(moved), 1)
		for _, d := range moved.domains {
			kept = join(kept, DomainPods{Values: d.values[len(d.values)-1:], Pods: d.pods})
		}
		assigned.TopologyAssignment = compress(assigned.TopologyAssignment.Levels, kept)
	}
	return admission, true
}

// sameDomain reports whether a node shares a level's domain with the pods that stay, or, if none
// stays, with the failed nodes. Every node does without a level.
func (s *State) sameDomain(node *v1.Node, level string, kept []DomainPods, failed map[string]bool) bool {
	if level == "" {
		return true
	}
	for _, d := range kept {
		if other := s.nodes[d.Values[len(d.Values)-1]]; other != nil {
			return other.Labels[level] == node.Labels[level]
		}
	}
	for name := range failed {
		if other := s.nodes[name]; other != nil && other.Labels[level] == node.Labels[level] {
			return true
		}
	}
	return false
}

// join adds pods to the domain that they share, or as a new one, in order.
func join(domains []DomainPods, more DomainPods) []DomainPods {
	if i := slices.IndexFunc(domains, func(d DomainPods) bool { return slices.Equal(d.Values, more.Values) }); i >= 0 {
		domains[i].Pods += more.Pods
		return domains
	}
	domains = append(domains, more)
	slices.SortFunc(domains, func(a, b DomainPods) int { return slices.Compare(a.Values, b.Values) })
	return domains
}

// excludes names the rule by which a single node is ruled out; "" for none.
func excludes(node *v1.Node, spec *v1.PodSpec, flavor *kueue.ResourceFlavor) string {
	taint, found := corev1.FindMatchingUntoleratedTaint(klog.Logger{}, node.Spec.Taints, slices.Concat(spec.Tolerations, flavor.Spec.Tolerations), func(t *v1.Taint) bool {
		return t.Effect == v1.TaintEffectNoSchedule || t.Effect == v1.TaintEffectNoExecute
	}, true)
	if found {
		return fmt.Sprintf("taint %q", taint.ToString())
	}
	for key, value := range spec.NodeSelector {
		if node.Labels[key] != value {
			return "nodeSelector"
		}
	}
	if matches, err := nodeaffinity.NewRequiredNodeAffinity(nil, spec.Affinity).Match(node); err != nil || !matches {
		return "affinity"
	}
	return ""
}

// howMany counts the pods that fit in free, and names the resource that there is too little of.
func howMany(free, each map[v1.ResourceName]int64) (int32, v1.ResourceName) {
	count, lacks := max(0, free[v1.ResourcePods]), v1.ResourcePods
	for _, name := range sortedKeys(each, cmp.Compare[v1.ResourceName]) {
		if v := each[name]; v > 0 && max(0, free[name])/v < count {
			count, lacks = max(0, free[name])/v, name
		}
	}
	return int32(min(count, 1<<30)), lacks
}

// roll adds the domains up, from the lowest level.
func (p *placing) roll() {
	for level := len(p.levels) - 1; level >= 0; level-- {
		for _, at := range p.levels[level] {
			cheapest, cheapestSlices := int32(-1), int32(-1)
			for _, child := range at.children {
				at.pods += child.pods
				at.slices += child.slices
				if !child.leader {
					continue
				}
				at.leader = true
				if cost := child.pods - child.withLeader; cheapest < 0 || cost < cheapest {
					cheapest = cost
				}
				if cost := child.slices - child.slicesWithLeader; cheapestSlices < 0 || cost < cheapestSlices {
					cheapestSlices = cost
				}
			}
			if len(at.children) > 0 && at.leader {
				at.withLeader, at.slicesWithLeader = at.pods-cheapest, at.slices-cheapestSlices
			}
			if level == p.sliceLevel {
				at.slices, at.slicesWithLeader = at.pods/p.sliceSize, at.withLeader/p.sliceSize
			}
			if level > p.sliceLevel {
				// Below the level of slices, pods are counted one by one.
				at.slices, at.slicesWithLeader = at.pods, at.withLeader
			}
		}
	}
}

// choose picks domains for the wanted slices and returns their level. chosen is nil if there is
// not room, and fits then says how many slices there is room for.
func (p *placing) choose(level int, wanted int32, request *kueue.PodSetTopologyRequest) (chosen []*area, at int, fits int32) {
	var best int32
	if !ptr.Deref(request.Unconstrained, false) {
		for ; ; level-- {
			if fitting := p.single(p.levels[level], wanted, &best); fitting != nil {
				return []*area{fitting}, level, 0
			}
			if request.Required != nil || level == 0 {
				break
			}
		}
		if request.Required != nil {
			return nil, 0, best
		}
	} else if !p.leader {
		if fitting := p.smallest(p.levels[level], wanted); fitting != nil {
			return []*area{fitting}, level, 0
		}
	}
	chosen, left := p.greedy(p.levels[level], wanted, p.leader, ptr.Deref(request.Unconstrained, false))
	if left > 0 {
		return nil, 0, wanted - left
	}
	return chosen, level, 0
}

// single gives everything to the domain with the fewest slices that are enough; nil if none has
// enough. best is raised to the most that any domain has.
func (p *placing) single(areas []*area, wanted int32, best *int32) *area {
	sorted := sortAreas(areas, p.leader, false)
	for _, at := range sorted {
		if capacity, ok := at.capacity(p.leader); ok {
			*best = max(*best, capacity)
		}
	}
	fitting := bestFit(sorted, wanted, p.leader)
	if fitting != nil {
		fitting.given, fitting.leads = wanted, p.leader
	}
	return fitting
}

// smallest gives everything to the first domain with room, the smallest first.
func (p *placing) smallest(areas []*area, wanted int32) *area {
	for _, at := range sortAreas(areas, false, true) {
		if at.slices >= wanted {
			at.given = wanted
			return at
		}
	}
	return nil
}

// capacity is how many slices fit, beside the leader if it is to go here. ok is false if the
// leader does not fit.
func (a *area) capacity(leader bool) (slices int32, ok bool) {
	if leader {
		return a.slicesWithLeader, a.leader
	}
	return a.slices, true
}

// sortAreas puts those with room for the leader first, then those with more slices, fewer pods
// and smaller names; ascending reverses the slices.
func sortAreas(areas []*area, leader, ascending bool) []*area {
	sorted := slices.Clone(areas)
	slices.SortFunc(sorted, func(a, b *area) int {
		x, okX := a.capacity(leader)
		y, okY := b.capacity(leader)
		pods := cmp.Compare(a.pods, b.pods)
		if leader {
			pods = cmp.Compare(a.withLeader, b.withLeader)
		}
		bySlices := cmp.Compare(y, x)
		if ascending {
			bySlices = -bySlices
		}
		return cmp.Or(cmp.Compare(btoi(okY), btoi(okX)), bySlices, pods, compareAreas(a, b))
	})
	return sorted
}

// bestFit returns the domain with the fewest slices that are enough, the first of equals; nil if
// none has enough.
func bestFit(sorted []*area, wanted int32, leader bool) *area {
	var best *area
	var fewest int32
	for _, at := range sorted {
		capacity, ok := at.capacity(leader)
		if ok && capacity >= wanted && (best == nil || capacity < fewest) {
			best, fewest = at, capacity
		}
	}
	return best
}

// greedy fills the largest domains first, the leader's before the others. The last one is the
// best fit for what is left. It returns the domains that got something and the slices for which
// there is no room.
func (p *placing) greedy(areas []*area, wanted int32, leader, ascending bool) (chosen []*area, left int32) {
	left = wanted
	rest := slices.Clone(areas)
	for len(rest) > 0 && (left > 0 || leader) {
		rest = sortAreas(rest, leader, ascending)
		next := rest[0]
		if fitting := bestFit(rest, left, leader); fitting != nil && !ascending {
			next = fitting
		}
		capacity, ok := next.capacity(leader)
		if leader && !ok {
			return chosen, max(1, left)
		}
		rest = slices.DeleteFunc(rest, func(at *area) bool { return at == next })
		next.given, next.leads = min(left, capacity), leader
		left -= next.given
		if next.given > 0 || leader {
			chosen = append(chosen, next)
		}
		leader = false
	}
	return chosen, left
}

// down moves what the chosen domains of a level have to the level below. Slices may move between
// the children of all chosen domains; the pods of a slice stay below its domain.
func (p *placing) down(chosen []*area, level int, wanted int32) []*area {
	if level < p.sliceLevel {
		var children []*area
		for _, at := range chosen {
			children = append(children, at.children...)
		}
		below, _ := p.greedy(children, wanted, p.leader, false)
		return below
	}
	var below []*area
	for _, at := range chosen {
		pods := at.given
		if level == p.sliceLevel {
			pods *= p.sliceSize
		}
		part, _ := p.greedy(at.children, pods, at.leads, false)
		below = append(below, part...)
	}
	return below
}
