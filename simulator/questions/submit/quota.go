package submit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/forward"
)

// tiers are Kueue's reasons to wait, in the order in which they let a workload through.
var tiers = []string{"Misconfigured", "Suspended", "NoMatchingFlavor", "ExceedsMaxQuota", "WaitingForQuota", "WaitingForPreemptedWorkloads", "TopologyPlacementFailed", "WaitingForPodsReady"}

// mostBefore bounds Order.Before.
const mostBefore = 10

// quota fills in the half of the queues, after the job has come. before are the quotas before it.
func (a *asking) quota(j *job, before []admission.NodeQuota) {
	out := j.answer
	q := &Quota{LocalQueue: j.queue, Cohorts: []string{}, PodSets: []PodSetFlavors{}, Resources: []Room{}, Borrows: []Borrow{}, Checks: []string{}}
	out.Quota = q
	if local := a.state.LocalQueue(types.NamespacedName{Namespace: j.namespace, Name: j.queue}); local != nil {
		q.ClusterQueue = string(local.Spec.ClusterQueue)
		if cohorts := a.state.CohortsOf(q.ClusterQueue); cohorts != nil {
			q.Cohorts = cohorts
		}
	}
	q.Admitted = true
	j.stops = j.keys[0]
	admitted := 0
	for _, key := range slices.Backward(j.keys) {
		if a.reserved[key] {
			admitted++
			continue
		}
		q.Admitted, j.stops = false, key
	}
	head := a.heads[j.stops]
	if q.Admitted {
		w := a.state.Workload(j.stops)
		q.PodSets = flavorsOf(w)
		for _, check := range w.Status.AdmissionChecks {
			q.Checks = append(q.Checks, string(check.Name))
		}
		q.Text, out.Reason = "Admitted", Reason{Text: "Quota reserved in ClusterQueue " + q.ClusterQueue, Said: []admission.Reason{}}
		out.Start.Now = true
	} else {
		if head == nil || len(head.PodSets) == 0 {
			head = a.probe(j)
		}
		a.waits(j, head)
	}
	if head != nil {
		q.Resources = roomsOf(head)
		q.Borrows = a.borrows(q, head, before)
	}
	for _, key := range j.keys {
		for _, v := range a.evicts[key] {
			out.Preempts = append(out.Preempts, Victim{v.Workload.Namespace, v.Workload.Name, v.ClusterQueue, v.Priority, v.Reason, true, 0})
		}
	}
	if q.Admitted && len(q.Borrows) > 0 {
		q.Text = "Admitted, borrows " + borrowed(q.Borrows)
	}
	out.Tiers = a.tiersOf(j, head)
	if len(j.keys) > 1 && !q.Admitted {
		out.Reason.Text = fmt.Sprintf("%d of %d pods get quota. %s", admitted, len(j.keys), out.Reason.Text)
	}
}

// waits fills in why the job waits, and where.
func (a *asking) waits(j *job, head *admission.Head) {
	out, q := j.answer, j.answer.Quota
	condition, reasons := "PendingEvaluation", []admission.Reason{}
	var behind []admission.Reason
	if why, ok := a.state.Waiting(j.stops); ok {
		condition, reasons = conditionOf(a.state, j.stops), []admission.Reason{why}
	}
	pending := a.state.Pending(q.ClusterQueue, a.now)
	for i, p := range pending {
		if p.Workload.Key() != j.stops {
			continue
		}
		condition, reasons = p.Condition, []admission.Reason{p.Reason}
		if equal, is := p.Reason.Operands.(admission.EqualRefused); is {
			reasons = []admission.Reason{equal.Reason}
		}
		if _, is := p.Reason.Operands.(admission.UsedMore); p.UsedMore != nil && !is {
			behind = append(behind, admission.Reason{Operands: *p.UsedMore})
		}
		o := &Order{Position: i + 1, Of: len(pending), Before: []string{}}
		for _, other := range pending[:min(i, mostBefore)] {
			o.Before = append(o.Before, other.Workload.Namespace+"/"+other.Workload.Name)
		}
		out.Order = o
	}
	said := ""
	if len(reasons) > 0 {
		said = reasons[0].String()
	}
	for _, why := range behind {
		reasons = append(reasons, why)
		said += "; " + why.String()
	}
	q.Said = said
	for _, other := range a.said[j.stops] {
		switch {
		case says(reasons, other.reason):
		case slices.Contains(tiers[2:], condition) && slices.Index(tiers, other.tier) > slices.Index(tiers, condition):
			// Another flavor brought it further.
			condition, reasons = other.tier, append([]admission.Reason{other.reason}, reasons...)
			said = other.reason.String() + "; at other flavors: " + said
		default:
			reasons = append(reasons, other.reason)
			said += "; at other flavors: " + other.reason.String()
		}
	}
	if condition == "Suspended" {
		if queue := a.state.ClusterQueue(q.ClusterQueue); queue != nil {
			if c := a.state.ClusterQueueStatus(q.ClusterQueue, a.now).Conditions; len(c) > 0 && c[0].Status != "True" {
				said = fmt.Sprintf("ClusterQueue %s: %s", q.ClusterQueue, c[0].Message)
			}
		}
	}
	if condition == "PendingEvaluation" {
		// Behind a head that goes first. What it would meet there says more.
		if head != nil && head.Outcome == admission.Refused {
			condition = head.Condition
			if !head.Reason.IsZero() && !says(reasons, head.Reason) {
				reasons = append([]admission.Reason{head.Reason}, reasons...)
			}
			said = cmp.Or(head.Reason.String()+"; "+said, said)
		} else {
			condition = "WaitingForQuota"
		}
	}
	out.Reason = Reason{Tier: condition, Number: 1 + slices.Index(tiers, condition), Text: said, Said: reasons}
	if condition == "Misconfigured" {
		out.Reason.Text += a.queuesThere(j)
	}
	q.Text = quotaText(out, head)
}

// conditionOf is the condition of a workload that is in no queue.
func conditionOf(state *admission.State, key types.NamespacedName) string {
	for _, held := range state.Held() {
		if held.Workload.Key() == key {
			return held.Condition
		}
	}
	return "PendingEvaluation"
}

// queuesThere names the queues that exist, for a job that names another.
func (a *asking) queuesThere(j *job) string {
	local := a.state.LocalQueue(types.NamespacedName{Namespace: j.namespace, Name: j.queue})
	if local != nil && a.state.ClusterQueue(string(local.Spec.ClusterQueue)) != nil {
		return ""
	}
	var here, elsewhere []string
	for _, q := range a.state.LocalQueues() {
		if q.Namespace == j.namespace {
			here = append(here, q.Name)
		} else {
			elsewhere = append(elsewhere, q.Namespace+"/"+q.Name)
		}
	}
	switch {
	case local != nil:
		return fmt.Sprintf("; LocalQueue %s leads to it", j.queue)
	case len(here) > 0:
		return fmt.Sprintf("; the namespace %s has %s", j.namespace, strings.Join(here, ", "))
	case len(elsewhere) > 0:
		return fmt.Sprintf("; the namespace %s has none, others have %s", j.namespace, strings.Join(elsewhere[:min(len(elsewhere), mostBefore)], ", "))
	}
	return "; the cluster has no LocalQueue"
}

// probe lets a job be the only one that waits, and returns the head of that cycle; nil if it is not even tried.
func (a *asking) probe(j *job) *admission.Head {
	alone := a.state.Clone()
	w := alone.Workload(j.stops)
	for _, other := range alone.Workloads() {
		if other != w && !alone.Holds(keyOf(other)) {
			alone.DeleteWorkload(keyOf(other))
		}
	}
	alone.DeleteWorkload(j.stops)
	alone.SetWorkload(w, a.now)
	record := alone.Cycle(a.now)
	if record == nil {
		return nil
	}
	for i := range record.Heads {
		if record.Heads[i].Workload.Key() == j.stops {
			return &record.Heads[i]
		}
	}
	return nil
}

func keyOf(w *kueue.Workload) types.NamespacedName {
	return types.NamespacedName{Namespace: w.Namespace, Name: w.Name}
}

// flavorsOf are what a workload was given.
func flavorsOf(w *kueue.Workload) []PodSetFlavors {
	out := []PodSetFlavors{}
	if w == nil || w.Status.Admission == nil {
		return out
	}
	for i, set := range w.Spec.PodSets {
		p := PodSetFlavors{Name: string(set.Name), Count: set.Count, Asked: set.Count, Flavors: map[string]string{}}
		if i < len(w.Status.Admission.PodSetAssignments) {
			given := w.Status.Admission.PodSetAssignments[i]
			if given.Count != nil {
				p.Count = *given.Count
			}
			for resource, flavor := range given.Flavors {
				p.Flavors[string(resource)] = string(flavor)
			}
		}
		out = append(out, p)
	}
	return out
}

// nearest is the trial that decides about a group: of the chosen flavor, or of the one that lacks the least.
func nearest(group admission.GroupSearch) *admission.FlavorTrial {
	var best *admission.FlavorTrial
	short := func(t *admission.FlavorTrial) (sum float64) {
		for _, r := range t.Resources {
			sum += float64(max(0, r.Earlier+r.Requested-r.Available)) / float64(max(1, r.Requested))
		}
		return sum
	}
	for i := range group.Flavors {
		t := &group.Flavors[i]
		if t.Flavor == group.Chosen {
			return t
		}
		if len(t.Resources) > 0 && (best == nil || short(t) < short(best)) {
			best = t
		}
	}
	return best
}

func roomsOf(head *admission.Head) []Room {
	out := []Room{}
	for _, set := range head.PodSets {
		for _, group := range set.Groups {
			t := nearest(group)
			if t == nil {
				continue
			}
			for _, r := range t.Resources {
				asks := r.Earlier + r.Requested
				unused := max(0, min(r.Nominal-r.Used, r.Available))
				room := Room{
					Resource: string(r.Resource), Flavor: t.Flavor, Asks: amount(r.Resource, asks), Unused: amount(r.Resource, unused),
					MayBorrow: amount(r.Resource, max(0, r.Available-unused)), Short: amount(r.Resource, max(0, asks-r.Available)), Capacity: amount(r.Resource, r.Potential),
				}
				if at := slices.IndexFunc(out, func(o Room) bool { return o.Resource == room.Resource && o.Flavor == room.Flavor }); at >= 0 {
					out[at] = room // a later pod set counts what the earlier take
				} else {
					out = append(out, room)
				}
			}
		}
	}
	return out
}

// borrows says whose quota an admitted job takes: what others lend more than before.
func (a *asking) borrows(q *Quota, head *admission.Head, before []admission.NodeQuota) []Borrow {
	out := []Borrow{}
	if !q.Admitted || head.Borrowing == 0 {
		return out
	}
	lent := map[string]int64{}
	key := func(n admission.NodeQuota, r admission.ResourceQuota) string {
		return n.ClusterQueue + "\x00" + n.Cohort + "\x00" + r.Flavor + "\x00" + string(r.Resource)
	}
	for _, n := range before {
		for _, r := range n.Resources {
			lent[key(n, r)] = r.Lent
		}
	}
	for _, n := range a.state.Quotas() {
		for _, r := range n.Resources {
			if more := r.Lent - lent[key(n, r)]; more > 0 && n.ClusterQueue != "" && n.ClusterQueue != q.ClusterQueue {
				out = append(out, Borrow{n.ClusterQueue, r.Flavor, string(r.Resource), amount(r.Resource, more)})
			}
		}
	}
	return out
}

func borrowed(list []Borrow) string {
	var texts []string
	for _, b := range list {
		texts = append(texts, fmt.Sprintf("%s %s from %s", b.Amount, b.Resource, b.ClusterQueue))
	}
	return strings.Join(texts, ", ")
}

// shorts says what is missing.
func shorts(rooms []Room) string {
	var texts []string
	for _, r := range rooms {
		if r.Short != "0" {
			texts = append(texts, fmt.Sprintf("%s %s", r.Short, r.Resource))
		}
	}
	return strings.Join(texts, ", ")
}

func quotaText(out *Answer, head *admission.Head) string {
	switch out.Reason.Tier {
	case "Misconfigured", "NoMatchingFlavor", "ExceedsMaxQuota":
		return "Never: " + out.Reason.Tier
	case "Suspended":
		return "Waits: the queue is stopped or broken"
	case "WaitingForPreemptedWorkloads":
		return "Waits: others are preempted"
	}
	if head != nil {
		if short := shorts(roomsOf(head)); short != "" {
			return "Waits: " + short + " short"
		}
	}
	return "Waits: " + out.Reason.Tier
}

// tiersOf says of each tier what was found, up to the one that stops the job, and what is known of later ones.
func (a *asking) tiersOf(j *job, head *admission.Head) []Tier {
	out, q := j.answer, j.answer.Quota
	at := len(tiers)
	if !q.Admitted {
		at = slices.Index(tiers, out.Reason.Tier)
		if at < 0 {
			at = slices.Index(tiers, "WaitingForQuota") // held back by something that Kueue has no tier for
		}
	}
	texts := map[string]string{"Misconfigured": fmt.Sprintf("%s leads to %s", q.LocalQueue, q.ClusterQueue), "Suspended": "the queue is active", "WaitingForPodsReady": "nothing blocks"}
	found := map[string]Finding{"Misconfigured": {Kind: FoundQueue}, "Suspended": {Kind: FoundActive}, "WaitingForPodsReady": {Kind: FoundReady}}
	say := func(tier string, f Finding, text string) { found[tier], texts[tier] = f, text }
	if head != nil {
		rooms := roomsOf(head)
		if matching := flavorsIn(rooms); len(matching) > 0 {
			say("NoMatchingFlavor", Finding{Kind: FoundFlavors}, strings.Join(matching, ", ")+" matches")
			r := tightest(rooms)
			say("ExceedsMaxQuota", Finding{Kind: FoundCapacity}, fmt.Sprintf("%s of %s %s", r.Asks, r.Capacity, r.Resource))
			say("WaitingForQuota", Finding{Kind: FoundEnough}, "there is enough")
			if short := shorts(rooms); short != "" {
				say("WaitingForQuota", Finding{Kind: FoundShort}, short+" short")
			}
		}
		say("WaitingForPreemptedWorkloads", Finding{Kind: FoundVictims, Count: len(head.Victims)}, fmt.Sprintf("%d to preempt", len(head.Victims)))
		for _, set := range head.PodSets {
			if len(set.Topology) > 0 {
				last := set.Topology[0].Values
				domain := last[max(0, len(last)-2)]
				say("TopologyPlacementFailed", Finding{Kind: FoundDomain, Domain: domain}, "fits in "+domain)
			}
		}
	}
	list := make([]Tier, len(tiers))
	for i, name := range tiers {
		list[i] = Tier{Name: name, State: Passes, Text: texts[name]}
		if f, is := found[name]; is {
			list[i].Found = &f
		}
		switch {
		case i == at:
			list[i].State = Stops
			if name == "Misconfigured" || name == "Suspended" || list[i].Text == "" || name == "TopologyPlacementFailed" || name == "WaitingForPodsReady" || name == "NoMatchingFlavor" {
				list[i].Text, list[i].Found = out.Reason.Text, &Finding{Kind: FoundReason}
			}
		case i > at:
			list[i].State = Later
			if name != "TopologyPlacementFailed" {
				list[i].Text, list[i].Found = "", nil
			}
		}
	}
	return list
}

// flavorsIn are the distinct flavors of rooms.
func flavorsIn(rooms []Room) (out []string) {
	for _, r := range rooms {
		if !slices.Contains(out, r.Flavor) {
			out = append(out, r.Flavor)
		}
	}
	return out
}

// tightest is the room that is missing the most, or has the least left.
func tightest(rooms []Room) Room {
	return slices.MaxFunc(rooms, func(a, b Room) int {
		share := func(r Room) float64 {
			asks, short, capacity := mustParse(r.Asks), mustParse(r.Short), mustParse(r.Capacity)
			return short.AsApproximateFloat64()/max(1e-9, asks.AsApproximateFloat64()) + asks.AsApproximateFloat64()/max(1e-9, capacity.AsApproximateFloat64())
		}
		return cmp.Compare(share(a), share(b))
	})
}

// given returns what the job is given, for the half of the nodes: now, or once it has the queues to itself; nil if it
// never is.
func (a *asking) given(ctx context.Context, j *job) *kueue.Workload {
	if w := a.state.Workload(j.keys[0]); w != nil && w.Status.Admission != nil {
		return w
	}
	// The queues to itself, with nothing in use.
	empty := a.state.Clone()
	for _, w := range empty.Workloads() {
		if keyOf(w) != j.keys[0] {
			empty.DeleteWorkload(keyOf(w))
		}
	}
	w := a.state.Workload(j.keys[0])
	if w == nil {
		return nil
	}
	empty.DeleteWorkload(j.keys[0])
	fresh := freshOf(w)
	var got *kueue.Workload
	r := forward.New(forward.Options{State: empty, Begin: a.now, Told: func(e forward.Event) bool {
		if e.What == forward.Reserved {
			got = e.Workload
		}
		return true
	}})
	r.Arrive(fresh, a.now)
	_ = r.Settle(ctx) // without an admission there is no flavor
	return got
}
