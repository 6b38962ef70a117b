package admission

import (
	"cmp"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// rank orders modes from the worst to the best.
func rank(mode Mode) int {
	return slices.Index([]Mode{NoFit, NoCandidates, Preempt, Reclaim, Fit}, mode)
}

func worse(a, b Mode) Mode {
	if rank(a) < rank(b) {
		return a
	}
	return b
}

// assignment is a choice of flavors for all pod sets of a workload.
type assignment struct {
	podSets []podSetAssignment
	// usage is what the assignment takes; empty for NoFit.
	usage     amounts
	mode      Mode
	borrowing int
	// next is where the search goes on, as in progress.
	next []map[v1.ResourceName]int
	// condition is the reason of the condition QuotaReserved for NoFit.
	condition string
}

// podSetAssignment is the choice for one pod set. Pod sets that are placed together have the
// same flavors.
type podSetAssignment struct {
	podSet *podSet
	count  int32
	// requests are all, and more what of them no replaced workload holds.
	requests, more map[v1.ResourceName]int64
	flavors        map[v1.ResourceName]flavorChoice
	search         PodSetSearch
	// reasons are those of the flavors that did not fit cleanly.
	reasons []Reason
	// severity is how severe the reasons are if no flavor was found.
	severity int
	domains  []domain
}

type flavorChoice struct {
	flavor    string
	mode      Mode
	borrowing int
}

// The conditions of refusals, from the mildest to the severest.
var refusals = []string{reasonTopologyPlacementFailed, reasonWaitingForQuota, reasonExceedsMaxQuota, reasonNoMatchingFlavor}

func severityOf(why Reason) int {
	switch why.Operands.(type) {
	case TopologyShort:
		return 0
	case ShortOfQuota:
		return 1
	case OverCapacity:
		return 2
	default:
		return 3
	}
}

// search looks for flavors for one workload in one snapshot.
type search struct {
	state  *State
	cycle  *snapshot
	queue  *kueue.ClusterQueue
	node   *node
	w      *workload
	counts []int32
	// pinned are the flavors that a recomputation must keep; nil for a free choice.
	pinned *assignment
	// old is the workload whose quota this one takes over; nil for none.
	old *workload
	// usable limits the nodes that a topology may use; nil for all.
	usable func(*v1.Node) bool
}

// assign tries to find flavors for the pods of every pod set. It stops at the first pod set that
// gets none.
func (a *search) assign() *assignment {
	result := &assignment{usage: make(amounts), mode: Fit}
	from := a.w.progress.next
	for _, group := range groupPodSets(a.w.podSets) {
		if !a.assignGroup(result, group, from) {
			break
		}
	}
	result.summarize()
	if result.mode != NoFit {
		a.placeByTopology(result)
	}
	return result
}

// groupPodSets joins pod sets that share the name of a pod set group; the others are alone.
func groupPodSets(podSets []podSet) [][]int {
	var groups [][]int
	byName := make(map[string]int)
	for i, p := range podSets {
		name := ""
		if p.topology != nil {
			name = ptr.Deref(p.topology.PodSetGroupName, "")
		}
		if at, known := byName[name]; known && name != "" {
			groups[at] = append(groups[at], i)
			continue
		}
		byName[name] = len(groups)
		groups = append(groups, []int{i})
	}
	return groups
}

// assignGroup finds the flavors of pod sets that go together, and reports whether it did.
func (a *search) assignGroup(result *assignment, group []int, from []map[v1.ResourceName]int) bool {
	members := make([]podSetAssignment, len(group))
	requests := make(map[v1.ResourceName]int64)
	for i, index := range group {
		p := &a.w.podSets[index]
		pods := max(0, a.counts[index]-reclaimed(a.w.object.Status.ReclaimablePods, p.name))
		members[i] = podSetAssignment{
			podSet: p, count: a.counts[index], requests: p.total(pods), flavors: make(map[v1.ResourceName]flavorChoice),
			search: PodSetSearch{Name: p.name, Count: a.counts[index]},
		}
		if groupOf(a.queue, v1.ResourcePods) >= 0 {
			members[i].requests[v1.ResourcePods] = int64(pods)
		}
		members[i].more = a.more(p.name, members[i].requests)
		for name, v := range members[i].more {
			requests[name] += v
		}
	}
	next := make(map[v1.ResourceName]int)
	lead := &members[0]
	found := true
	for _, name := range sortedKeys(requests, cmp.Compare[v1.ResourceName]) {
		if _, done := lead.flavors[name]; done {
			continue
		}
		at := groupOf(a.queue, name)
		if at < 0 {
			if requests[name] == 0 || a.state.settings.IgnoreUndeclared {
				continue
			}
			lead.reasons, lead.severity, found = []Reason{{ResourceUnavailable{name}}}, 3, false
			lead.search.Reason = lead.reasons[0]
			break
		}
		begin := 0
		if group[0] < len(from) {
			begin = from[group[0]][name]
		}
		if !a.searchGroup(result, members, requests, at, begin, next) {
			found = false
			break
		}
	}
	for i := range members {
		members[i].flavors = maps.Clone(lead.flavors)
		if !found {
			members[i].flavors, members[i].reasons, members[i].severity = nil, lead.reasons, lead.severity
		}
		if i > 0 {
			members[i].search.Groups = lead.search.Groups
		}
		maps.DeleteFunc(members[i].flavors, func(name v1.ResourceName, _ flavorChoice) bool {
			_, requested := members[i].requests[name]
			return !requested
		})
		for name, choice := range members[i].flavors {
			result.usage.add(amounts{{choice.flavor, name}: members[i].more[name]})
		}
		result.podSets = append(result.podSets, members[i])
		result.next = append(result.next, next)
	}
	return found
}

// groupOf returns the index of the resource group that covers a resource; -1 if none does.
func groupOf(queue *kueue.ClusterQueue, name v1.ResourceName) int {
	return slices.IndexFunc(queue.Spec.ResourceGroups, func(g kueue.ResourceGroup) bool { return slices.Contains(g.CoveredResources, name) })
}

// searchGroup tries the flavors of one resource group, beginning with index begin, and takes the
// best. It reports whether there is one.
func (a *search) searchGroup(result *assignment, members []podSetAssignment, requests map[v1.ResourceName]int64, at, begin int, next map[v1.ResourceName]int) bool {
	group := &a.queue.Spec.ResourceGroups[at]
	lead := &members[0]
	var names []v1.ResourceName
	for _, name := range sortedKeys(requests, cmp.Compare[v1.ResourceName]) {
		if slices.Contains(group.CoveredResources, name) {
			names = append(names, name)
		}
	}
	if begin >= len(group.Flavors) {
		begin = 0
	}
	record := GroupSearch{Resources: names, From: begin}
	var best *tried
	var reasons []Reason
	mildest, last := len(refusals)-1, len(group.Flavors)-1
	for i := begin; i < len(group.Flavors); i++ {
		flavor := string(group.Flavors[i].Name)
		if a.pinned != nil && a.pinned.flavorOf(lead.podSet.name, names[0]) != flavor {
			continue
		}
		trial := a.try(result, members, requests, names, flavor)
		record.Flavors = append(record.Flavors, trial.FlavorTrial)
		reasons = append(reasons, trial.Reasons...)
		if trial.Mode == NoFit {
			severity := 0
			for _, why := range trial.Reasons {
				severity = max(severity, severityOf(why))
			}
			mildest = min(mildest, severity)
		}
		stop := a.stopsAt(trial)
		if stop || best == nil || a.better(trial, *best) {
			best = &trial
		}
		if stop {
			last = i
			break
		}
	}
	if last < len(group.Flavors)-1 {
		record.More = true
		for _, f := range group.Flavors[last+1:] {
			record.Untried = append(record.Untried, string(f.Name))
		}
	}
	for _, name := range names {
		next[name] = 0
		if record.More {
			next[name] = last + 1
		}
	}
	if best == nil || best.Mode == NoFit {
		lead.reasons, lead.severity = reasons, mildest
		lead.search.Groups = append(lead.search.Groups, record)
		return false
	}
	record.Chosen = best.Flavor
	lead.reasons = append(lead.reasons, reasons...)
	lead.search.Groups = append(lead.search.Groups, record)
	for i, name := range names {
		lead.flavors[name] = flavorChoice{flavor: best.Flavor, mode: best.Resources[i].Mode, borrowing: best.Resources[i].Borrowing}
	}
	return true
}

// tried is a flavor that has been tried, and the borrowing level of the resource that decides how good it is.
type tried struct {
	FlavorTrial
	level int
}

func (a *search) stopsAt(trial tried) bool {
	whenCanBorrow, whenCanPreempt := kueue.MayStopSearch, kueue.TryNextFlavor
	if f := a.queue.Spec.FlavorFungibility; f != nil {
		whenCanBorrow, whenCanPreempt = cmp.Or(f.WhenCanBorrow, whenCanBorrow), cmp.Or(f.WhenCanPreempt, whenCanPreempt)
	}
	switch trial.Mode {
	case NoFit, NoCandidates:
		return false
	case Preempt, Reclaim:
		if whenCanPreempt == kueue.TryNextFlavor {
			return false
		}
	}
	return trial.level == 0 || whenCanBorrow != kueue.TryNextFlavor
}

// better reports whether a flavor is preferred to one before it.
func (a *search) better(x, y tried) bool {
	if rank(x.Mode) <= rank(NoCandidates) || rank(y.Mode) <= rank(NoCandidates) {
		return rank(x.Mode) > rank(y.Mode)
	}
	mode, borrowing := cmp.Compare(rank(x.Mode), rank(y.Mode)), cmp.Compare(y.level, x.level)
	if f := a.queue.Spec.FlavorFungibility; f != nil && ptr.Deref(f.Preference, "") == kueue.PreemptionOverBorrowing {
		return cmp.Or(borrowing, mode) > 0
	}
	return cmp.Or(mode, borrowing) > 0
}

// try judges one flavor for the pod sets that go together. It is as good as its least preferred resource: one that is to be preempted
// for within nominal quota counts more than one that fits by borrowing.
func (a *search) try(result *assignment, members []podSetAssignment, requests map[v1.ResourceName]int64, names []v1.ResourceName, name string) tried {
	trial := tried{FlavorTrial: FlavorTrial{Flavor: name, Mode: NoFit}}
	flavor := a.state.flavors[name]
	if flavor == nil {
		trial.Reasons = []Reason{{FlavorMissing{name}}}
		return trial
	}
	for _, member := range members {
		for _, why := range []Reason{a.topologyMismatch(member.podSet, name), untolerated(member.podSet.spec, flavor), mismatched(member.podSet.spec, flavor), a.otherHeld(member.podSet.name, names, name)} {
			if !why.IsZero() {
				trial.Reasons = []Reason{why}
				return trial
			}
		}
	}
	trial.Mode = Fit
	for _, resource := range names {
		fr := flavorResource{name, resource}
		r, why := a.judge(fr, requests[resource], result.usage[fr])
		trial.Resources = append(trial.Resources, r)
		if !why.IsZero() {
			trial.Reasons = append(trial.Reasons, why)
		}
		trial.Borrowing = max(trial.Borrowing, r.Borrowing)
		if of := (tried{FlavorTrial{Mode: r.Mode}, r.Borrowing}); a.better(trial, of) {
			trial.Mode, trial.level = of.Mode, of.level
		}
		if r.Mode == NoFit {
			// The rest cannot save the flavor, and Kueue does not look at it.
			trial.Borrowing = 0
			break
		}
	}
	return trial
}

func (a *search) judge(fr flavorResource, requested, earlier int64) (ResourceTrial, Reason) {
	n := a.node
	value, available := requested+earlier, a.node.available(fr)
	r := ResourceTrial{
		Resource: fr.resource, Requested: requested, Earlier: earlier,
		Nominal: n.quotas[fr].nominal, Used: n.usage[fr], Available: max(0, available), Potential: n.potential(fr), Mode: NoFit,
	}
	if value > r.Potential {
		return r, Reason{OverCapacity{fr.resource, fr.flavor, quantityText(fr.resource, earlier), quantityText(fr.resource, requested), quantityText(fr.resource, r.Potential)}}
	}
	height, smaller := n.level(fr, value)
	if value <= r.Available {
		r.Mode, r.Borrowing = Fit, height
		return r, Reason{}
	}
	if r.Nominal >= value || smaller || a.preemptsWhileBorrowing() {
		r.Mode, r.Borrowing = a.simulate(fr, value, height)
	}
	short := ShortOfQuota{Resource: fr.resource, Flavor: fr.flavor, Missing: quantityText(fr.resource, value-r.Available)}
	if available < 0 {
		short.Overdrawn = quantityText(fr.resource, -available)
	}
	return r, Reason{short}
}

// preemptsWhileBorrowing reports whether the ClusterQueue may evict others while it borrows.
func (a *search) preemptsWhileBorrowing() bool {
	preemption := preemptionOf(a.queue)
	if a.state.settings.FairSharing != nil {
		return preemption.reclaim != kueue.PreemptionPolicyNever
	}
	return preemption.borrow != nil
}

// simulate finds out what evicting for one resource of one flavor alone would need.
func (a *search) simulate(fr flavorResource, value int64, height int) (Mode, int) {
	p := a.cycle.preemptor(a.w, a.node, a.queue, amounts{fr: value}, frSet{fr: true}, nil)
	victims := p.victims()
	if len(victims) == 0 {
		return NoCandidates, height
	}
	mode := Reclaim
	for _, v := range victims {
		if v.w.queue == a.node.name {
			mode = Preempt
		}
	}
	restore := a.cycle.without(victims)
	height, _ = a.node.level(fr, value)
	restore()
	return mode, height
}

// untolerated returns the first taint of a flavor that neither the pods nor the flavor tolerate.
func untolerated(spec *v1.PodSpec, flavor *kueue.ResourceFlavor) Reason {
	tolerations := slices.Concat(spec.Tolerations, flavor.Spec.Tolerations)
	taint, found := corev1.FindMatchingUntoleratedTaint(klog.Logger{}, flavor.Spec.NodeTaints, tolerations, func(t *v1.Taint) bool {
		return t.Effect == v1.TaintEffectNoSchedule || t.Effect == v1.TaintEffectNoExecute
	}, true)
	if !found {
		return Reason{}
	}
	return Reason{UntoleratedTaint{Flavor: flavor.Name, Key: taint.Key, Value: taint.Value, Effect: taint.Effect}}
}

// mismatched says whether the pods' node selector and required affinity rule a flavor out. Only
// keys of the flavor's own labels count. A term without any such key lets the flavor pass.
func mismatched(spec *v1.PodSpec, flavor *kueue.ResourceFlavor) Reason {
	selector := make(map[string]string)
	for key, value := range spec.NodeSelector {
		if _, known := flavor.Spec.NodeLabels[key]; known {
			selector[key] = value
		}
	}
	var affinity *v1.Affinity
	if spec.Affinity != nil && spec.Affinity.NodeAffinity != nil && spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		if terms := knownTerms(spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, flavor.Spec.NodeLabels); len(terms) > 0 {
			affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: terms}}}
		}
	}
	node := &v1.Node{}
	node.Labels = flavor.Spec.NodeLabels
	matches, err := nodeaffinity.NewRequiredNodeAffinity(selector, affinity).Match(node)
	if err == nil && matches {
		return Reason{}
	}
	return Reason{AffinityMismatch{flavor.Name}}
}

// knownTerms keeps the expressions over keys in labels. It returns nil, which matches everything,
// if a term becomes empty.
func knownTerms(terms []v1.NodeSelectorTerm, labels map[string]string) []v1.NodeSelectorTerm {
	var known []v1.NodeSelectorTerm
	for _, term := range terms {
		var kept v1.NodeSelectorTerm
		for _, e := range term.MatchExpressions {
			if _, ok := labels[e.Key]; ok {
				kept.MatchExpressions = append(kept.MatchExpressions, e)
			}
		}
		if len(kept.MatchExpressions) == 0 {
			return nil
		}
		known = append(known, kept)
	}
	return known
}

// summarize sets the mode, the borrowing level and the condition from the pod sets.
func (r *assignment) summarize() {
	severest := -1
	for _, p := range r.podSets {
		if p.flavors == nil {
			r.mode = NoFit
			severest = max(severest, p.severity)
		}
		for _, choice := range p.flavors {
			r.mode, r.borrowing = worse(r.mode, choice.mode), max(r.borrowing, choice.borrowing)
		}
	}
	if r.mode == NoFit {
		r.usage, r.borrowing = make(amounts), 0
		r.condition = refusals[severest]
	}
}

// short are the flavors and resources for which a workload has to be evicted.
func (r *assignment) short() frSet {
	short := make(frSet)
	for _, p := range r.podSets {
		for name, choice := range p.flavors {
			if choice.mode != Fit {
				short[flavorResource{choice.flavor, name}] = true
			}
		}
	}
	return short
}

// flavorOf returns the flavor of a pod set's resource; "" without one.
func (r *assignment) flavorOf(podSet string, name v1.ResourceName) string {
	for _, p := range r.podSets {
		if p.podSet.name == podSet {
			return p.flavors[name].flavor
		}
	}
	return ""
}

// reasons are those of every pod set that does not fit cleanly.
func (r *assignment) reasons() []PodSetReasons {
	var list []PodSetReasons
	for _, p := range r.podSets {
		if len(p.reasons) > 0 {
			list = append(list, PodSetReasons{PodSet: p.podSet.name, Reasons: p.reasons})
		}
	}
	return list
}
