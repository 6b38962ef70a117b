package claims

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/explain"
	groupv1alpha1 "kube-scheduler-simulator/scheduler/plugins/coscheduling/v1alpha1"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif/livetest"
)

// liveStatements are the experiments for what only a scheduler says that runs, by kind.
var liveStatements = map[explain.Kind]func(*stage, explain.Operands) error{
	explain.KindOf(explain.Waiting{}):          func(x *stage, s explain.Operands) error { return x.waits(s.(explain.Waiting)) },
	explain.KindOf(explain.Waited{}):           func(x *stage, s explain.Operands) error { return x.waited(s.(explain.Waited)) },
	explain.KindOf(explain.PermitTimeout{}):    func(x *stage, s explain.Operands) error { return x.timedOut(s.(explain.PermitTimeout)) },
	explain.KindOf(explain.RejectedLater{}):    func(x *stage, s explain.Operands) error { return x.rejectedLater(s.(explain.RejectedLater)) },
	explain.KindOf(explain.CycleError{}):       func(x *stage, s explain.Operands) error { return x.failed(s.(explain.CycleError)) },
	explain.KindOf(explain.LostPlace{}):        func(x *stage, s explain.Operands) error { return x.lost(s.(explain.LostPlace)) },
	explain.KindOf(explain.NotScheduled{}):     func(x *stage, s explain.Operands) error { return x.notScheduled(s.(explain.NotScheduled)) },
	explain.KindOf(explain.PermitHold{}):       func(x *stage, s explain.Operands) error { return x.permitHold(s.(explain.PermitHold)) },
	explain.KindOf(explain.Hinted{}):           func(x *stage, s explain.Operands) error { return x.hinted(s.(explain.Hinted)) },
	explain.KindOf(explain.FirstFeasible{}):    func(x *stage, s explain.Operands) error { return x.firstFeasible(s.(explain.FirstFeasible)) },
	explain.KindOf(explain.TiedBySeed{}):       func(x *stage, s explain.Operands) error { return x.tiedBySeed(s.(explain.TiedBySeed)) },
	explain.KindOf(explain.NotEvicted{}):       func(x *stage, s explain.Operands) error { return x.notEvicted(s.(explain.NotEvicted)) },
	explain.KindOf(explain.RoomNominated{}):    func(x *stage, s explain.Operands) error { return x.roomNominated(s.(explain.RoomNominated)) },
	explain.KindOf(explain.DevicesAllocated{}): func(x *stage, s explain.Operands) error { return x.devicesAllocated(s.(explain.DevicesAllocated)) },
	explain.KindOf(explain.GroupMissing{}):     func(x *stage, s explain.Operands) error { return x.groupMissing(s.(explain.GroupMissing)) },
	explain.KindOf(explain.MembersAwaited{}):   func(x *stage, s explain.Operands) error { return x.membersAwaited(s.(explain.MembersAwaited)) },
	explain.KindOf(explain.MemberFitsNowhere{}): func(x *stage, s explain.Operands) error {
		return x.memberFitsNowhere(s.(explain.MemberFitsNowhere))
	},
	explain.KindOf(explain.MemberLostPlace{}): func(x *stage, s explain.Operands) error { return x.memberLostPlace(s.(explain.MemberLostPlace)) },
	explain.KindOf(explain.MembersSentBack{}): func(x *stage, s explain.Operands) error { return x.membersSentBack(s.(explain.MembersSentBack)) },
	explain.KindOf(explain.MembersKept{}):     func(x *stage, s explain.Operands) error { return x.membersKept(s.(explain.MembersKept)) },
	explain.KindOf(explain.MembersComplete{}): func(x *stage, s explain.Operands) error { return x.membersComplete(s.(explain.MembersComplete)) },
	explain.KindOf(explain.MembersShort{}):    func(x *stage, s explain.Operands) error { return x.membersShort(s.(explain.MembersShort)) },
	explain.KindOf(explain.GroupBackedOff{}):  func(x *stage, s explain.Operands) error { return x.groupBackedOff(s.(explain.GroupBackedOff)) },
	explain.KindOf(explain.Nearest{}):         func(x *stage, s explain.Operands) error { return x.nearest(s.(explain.Nearest)) },
	"requeued":                                func(x *stage, _ explain.Operands) error { return x.requeued() },
}

// ofFirstAttempts are what the doors do with a pod whenever it comes. With other doors, a later attempt would not take place.
var ofFirstAttempts = map[explain.Kind]bool{"waiting": true, "waited": true, "permitTimeout": true, "refusedLater": true, "error": true}

func headlineOf(h *heard) explain.Operands { return explain.Cycle(h.Cycle).Headline.Operands }

func remarkOf[T explain.Operands](h *heard) (found T, ok bool) {
	for _, s := range explain.Cycle(h.Cycle).Remarks {
		if found, ok = s.Operands.(T); ok {
			return found, true
		}
	}
	return found, false
}

// waits: "was assigned to n1 and waits for A, B". If these plugins do not hold the pod, it does not
// wait; if one of them does, the pod waits for that one.
func (x *stage) waits(s explain.Waiting) error {
	for _, still := range append(slices.Clone(s.Plugins), "") {
		h := x.open(func(plugin string, r rule) rule {
			if slices.Contains(s.Plugins, plugin) && plugin != still {
				return rule{}
			}
			return r
		})
		if h == nil {
			return fmt.Errorf("without them it is not tried")
		}
		w, waits := headlineOf(h).(explain.Waiting)
		if waits != (still != "") || waits && !slices.Equal(w.Plugins, []string{still}) {
			return fmt.Errorf("if only %q holds it: %v", still, headlineOf(h))
		}
	}
	return nil
}

// waited: "it waited 10 s until A allowed it". When all that are named allow it a second later, it waits a second longer, and when they do not
// hold it, it does not wait.
func (x *stage) waited(s explain.Waited) error {
	if slices.Contains(s.Plugins, result.Coscheduling) {
		return errUntried // membersComplete tries it
	}
	named := func(change func(rule) rule) *heard {
		return x.open(func(plugin string, r rule) rule {
			if slices.Contains(s.Plugins, plugin) {
				return change(r)
			}
			return r
		})
	}
	if h := named(func(rule) rule { return rule{} }); h == nil || h.PermitWait != nil {
		return fmt.Errorf("without them it waits")
	}
	const more = time.Second
	p := x.replay(func(scene *scene) {
		for _, plugin := range s.Plugins {
			r := scene.doors[plugin][x.heard.Pod.Name]
			r.allow += more
			scene.doors[plugin][x.heard.Pod.Name] = r
		}
	})
	ended := p.next(x.heard.Pod.Name, x.base.began(x.heard.Cycle)-soon, func(c *result.Cycle) bool { return c.PermitWait != nil && c.PermitWait.DurationSeconds != nil })
	if ended == nil {
		return fmt.Errorf("when they allow it later, its wait does not end")
	}
	if longer := *ended.PermitWait.DurationSeconds - *x.heard.PermitWait.DurationSeconds; longer < 0.9 || longer > 1.1 {
		return fmt.Errorf("when they allow it a second later, it waits %.3f s longer", longer)
	}
	return nil
}

// timedOut: "A did not allow it within 5 s". Allowed a bit earlier it does not time out there, and a bit later it does.
func (x *stage) timedOut(s explain.PermitTimeout) error {
	if s.Plugin == result.Coscheduling {
		return errUntried // membersShort tries it
	}
	within := time.Duration(*x.heard.PermitWait.DurationSeconds * float64(time.Second))
	for _, early := range []time.Duration{100 * time.Millisecond, -100 * time.Millisecond} {
		p := x.replay(func(scene *scene) {
			r := scene.doors[s.Plugin][s.Pod]
			r.allow, r.reject = within-early, 0
			scene.doors[s.Plugin][s.Pod] = r
		})
		ended := p.next(s.Pod, x.base.began(x.heard.Cycle)-soon, func(c *result.Cycle) bool { return c.Outcome != result.Waiting })
		if ended == nil {
			if early > 0 {
				continue // another plugin holds it longer
			}
			return fmt.Errorf("allowed too late, its wait does not end")
		}
		if _, another := headlineOf(ended).(explain.RejectedLater); another && early < 0 {
			continue // which rejects it in the same moment
		}
		t, out := headlineOf(ended).(explain.PermitTimeout)
		if early < 0 && out && t.Plugin != s.Plugin && t.Waited == s.Waited {
			continue // whose time ends in the same moment
		}
		if out = out && t.Plugin == s.Plugin; out == (early > 0) {
			return fmt.Errorf("allowed %v before the end: %v", early, headlineOf(ended))
		}
	}
	return nil
}

// rejectedLater: "then A rejected it in Reserve". If A does not, something else happens to it.
func (x *stage) rejectedLater(s explain.RejectedLater) error {
	h := x.open(func(plugin string, r rule) rule {
		if plugin != s.Plugin {
			return r
		}
		return rule{}
	})
	if h == nil {
		return fmt.Errorf("without that it is not tried")
	}
	if h.SelectedNode != s.Node {
		return fmt.Errorf("without that it is assigned to %q", h.SelectedNode)
	}
	if again, ok := headlineOf(h).(explain.RejectedLater); ok && again.Plugin == s.Plugin {
		return fmt.Errorf("it is rejected although the plugin does not reject it")
	}
	return nil
}

// failed: "could not be scheduled because of an error". When the plugin does not fail, it is something else.
func (x *stage) failed(s explain.CycleError) error {
	h := x.open(func(_ string, r rule) rule {
		r.fail = ""
		if r.refuse == "PreBindPreFlight" { // where to reject a pod is an error
			r.refuse = ""
		}
		return r
	})
	if h == nil {
		return fmt.Errorf("without the failure it is not tried")
	}
	if h.Outcome == result.Error {
		return fmt.Errorf("without the failure it fails: %s", h.Message)
	}
	return nil
}

// lost: "was assigned to n1 and then rejected: …". If nothing happens to the cluster meanwhile, it keeps its place.
func (x *stage) lost(s explain.LostPlace) error {
	began := x.base.began(x.heard.Cycle)
	p := x.replay(func(scene *scene) {
		scene.without(func(e event) bool { return e.at > began-soon && e.at <= x.heard.at+soon && !creates(e, s.Pod) })
	})
	ended := p.next(s.Pod, began-soon, func(c *result.Cycle) bool { return c.Outcome != result.Waiting })
	if ended == nil {
		return nil // it still waits
	}
	if again, ok := headlineOf(ended).(explain.LostPlace); ok && ended.at <= x.heard.at+soon {
		return fmt.Errorf("it loses its place although nothing happens: %s", again.Message)
	}
	return nil
}

// notScheduled: the message is the one that the pod's condition has.
func (x *stage) notScheduled(s explain.NotScheduled) error {
	pod := x.base.pods[s.Pod]
	if pod == nil || x.base.next(s.Pod, x.base.began(x.heard.Cycle)+1, func(*result.Cycle) bool { return true }) != nil {
		return errUntried // a later attempt has replaced the condition
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == v1.PodScheduled && c.Message != s.Message {
			return fmt.Errorf("the pod's condition says %q", c.Message)
		}
	}
	return nil
}

// inUseOn returns what an attempt found in use on a node; without a shortage there it is not known.
func inUseOn(h *heard, node, resource string) (int64, bool) {
	if h.Filter == nil {
		return 0, false
	}
	for _, c := range h.Filter.Comparisons {
		for _, r := range c.Resources {
			if c.Node == node && r.Name == resource {
				return r.InUse, true
			}
		}
	}
	return 0, false
}

// permitHold: "p1, p2 were assigned to n1 and count 1 cpu there while they wait for a permit". That is the sum of what they request, and if each
// requests a bit less, so much less is in use.
func (x *stage) permitHold(s explain.PermitHold) error {
	if len(s.Pods) != s.Count {
		return errUntried
	}
	const less = 10
	sum := int64(0)
	p := x.replay(func(scene *scene) {
		for _, name := range s.Pods {
			_, name, _ = strings.Cut(name, "/")
			scene.change(name, func(p *v1.Pod) {
				requests := p.Spec.Containers[0].Resources.Requests
				sum += amountOf(requests, s.Resource)
				requests[v1.ResourceName(s.Resource)] = quantity(s.Resource, amountOf(requests, s.Resource)-less)
			})
		}
	})
	if sum != s.Amount {
		return fmt.Errorf("they request %d", sum)
	}
	h := p.next(x.heard.Pod.Name, x.base.began(x.heard.Cycle)-soon, func(c *result.Cycle) bool { return c.Filter != nil })
	if h == nil {
		return errUntried
	}
	again, holds := remarkOf[explain.PermitHold](h)
	if !holds || again.Node != s.Node || !slices.Equal(again.Pods, s.Pods) {
		return errUntried // with other requests, other pods wait
	}
	before, _ := inUseOn(x.heard, s.Node, s.Resource)
	after, _ := inUseOn(h, s.Node, s.Resource)
	if before-after != int64(less*s.Count) {
		return fmt.Errorf("when each requests %d less, %d are in use instead of %d", less, after, before)
	}
	return nil
}

// hinted: "opportunistic batching proposed the node, and it fits". Without batching the node is feasible, and the pod is not hinted.
func (x *stage) hinted(s explain.Hinted) error {
	livetest.SetGates(x.T, map[string]bool{"OpportunisticBatching": false})
	p := x.replay(func(*scene) {})
	livetest.SetGates(x.T, map[string]bool{"OpportunisticBatching": true})
	h := p.again(x.heard, x.base)
	if h == nil {
		return fmt.Errorf("without batching it is not tried")
	}
	if _, hinted := headlineOf(h).(explain.Hinted); hinted {
		return fmt.Errorf("without batching it is hinted")
	}
	if h.SelectedNode != s.Node && h.Score != nil && h.Score.Nodes.Index(s.Node) < 0 {
		return fmt.Errorf("without batching %s is not feasible", s.Node)
	}
	return nil
}

// firstFeasible: "it stopped there, because nothing scores nodes". When a plugin does, the node is feasible, and the search goes on.
func (x *stage) firstFeasible(s explain.FirstFeasible) error {
	p := x.replay(func(scene *scene) {
		scene.configuration = quick
		scene.without(func(e event) bool { return e.at > x.base.began(x.heard.Cycle) })
	})
	h := p.again(x.heard, x.base)
	if h == nil {
		return fmt.Errorf("with scores it is not tried")
	}
	if _, first := headlineOf(h).(explain.FirstFeasible); first {
		return fmt.Errorf("with scores the search stops, too")
	}
	if x.heard.Nodes.Feasible != 1 {
		return fmt.Errorf("%d feasible nodes were found", x.heard.Nodes.Feasible)
	}
	return nil
}

// tiedBySeed: "tied with n2 and picked by the seed". With other seeds the first pod of the scene gets one of these nodes, and not always the same.
func (x *stage) tiedBySeed(s explain.TiedBySeed) error {
	if slices.ContainsFunc(x.base.heard, func(h heard) bool { return h.StartTime.Before(x.heard.StartTime) }) {
		return errUntried // the seed has decided earlier, too
	}
	tied, picked := append(slices.Clone(s.Others), s.Node), map[string]bool{}
	for seed := range int64(12) {
		p := x.replay(func(scene *scene) {
			scene.seed = ptr.To(1000 + seed)
			scene.without(func(e event) bool { return !creates(e, s.Pod) })
		})
		h := p.again(x.heard, x.base)
		if h == nil || !slices.Contains(tied, h.SelectedNode) {
			return fmt.Errorf("with another seed it gets none of them")
		}
		if picked[h.SelectedNode] = true; len(picked) > 1 {
			return nil
		}
	}
	return fmt.Errorf("every seed picks %v", picked)
}

// notEvicted: "2 of them were not evicted". These are there in the end, or a later attempt evicts them; and when nothing prevents evictions, it is
// not said.
func (x *stage) notEvicted(s explain.NotEvicted) error {
	left := map[types.UID]bool{}
	for _, v := range chosenVictims(x.heard) {
		left[v.Pod.UID] = x.base.pods[v.Pod.Name] != nil
	}
	for i := range x.base.heard {
		if later := &x.base.heard[i]; x.base.began(later.Cycle) >= x.heard.at {
			for _, v := range chosenVictims(later) {
				if _, known := left[v.Pod.UID]; known {
					left[v.Pod.UID] = true
				}
			}
		}
	}
	n := 0
	for _, is := range left {
		if is {
			n++
		}
	}
	if n != s.Victims {
		return fmt.Errorf("%d victims are left", n)
	}
	p := x.replay(func(scene *scene) { scene.undeletable = nil })
	for i := range p.heard {
		if _, failed := remarkOf[explain.NotEvicted](&p.heard[i]); failed {
			return fmt.Errorf("it is said although all can be evicted")
		}
	}
	return nil
}

// chosenVictims returns the victims on the node that preemption chose.
func chosenVictims(h *heard) []result.Victim {
	if h.Preemption == nil {
		return nil
	}
	for _, c := range h.Preemption.Candidates {
		if c.Node == h.Preemption.Chosen {
			return c.Victims
		}
	}
	return nil
}

// roomNominated: "preemption makes room on n1". Without the less important pods there, the pod is placed on n1.
func (x *stage) roomNominated(s explain.RoomNominated) error {
	p := x.replay(func(scene *scene) {
		scene.objects = slices.DeleteFunc(scene.objects, func(o runtime.Object) bool {
			pod, ok := o.(*v1.Pod)
			return ok && pod.Spec.NodeName == s.Node && priority(pod) < 100
		})
	})
	h := p.next(x.heard.Pod.Name, 0, func(*result.Cycle) bool { return true })
	if h == nil || h.Filter == nil || h.Filter.Nodes.Index(s.Node) < 0 {
		return errUntried // another node was tried first
	}
	if v := h.Filter.Verdict(h.Filter.Nodes.Index(s.Node)); len(v.Rejections()) > 0 {
		return fmt.Errorf("without less important pods it does not fit there")
	}
	return nil
}

// devicesAllocated: "holds gpu-1 for the claim c". That is what the claim's status says.
func (x *stage) devicesAllocated(s explain.DevicesAllocated) error {
	for _, c := range s.Claims {
		claim := x.base.claims[x.heard.Pod.Name+"-"+c.Claim]
		if claim == nil || claim.Status.Allocation == nil {
			return fmt.Errorf("%s has no allocation", c.Claim)
		}
		for _, r := range claim.Status.Allocation.Devices.Results {
			if !slices.ContainsFunc(c.Drivers, func(d explain.DevicesOfDriver) bool {
				return d.Driver == r.Driver && slices.Contains(d.Devices, r.Device)
			}) {
				return fmt.Errorf("%s holds %s of %s, too", c.Claim, r.Device, r.Driver)
			}
		}
		n := 0
		for _, d := range c.Drivers {
			n += len(d.Devices)
		}
		if n != len(claim.Status.Allocation.Devices.Results) {
			return fmt.Errorf("%s holds %d", c.Claim, len(claim.Status.Allocation.Devices.Results))
		}
		if !slices.ContainsFunc(claim.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool { return r.Name == x.heard.Pod.Name }) {
			return fmt.Errorf("%s is not reserved for the pod", c.Claim)
		}
	}
	return nil
}

// The following are about groups of Coscheduling.

// groupNamed returns the group of a statement, which has the name default/g1.
func (x *stage) groupNamed(of string) *groupv1alpha1.PodGroup {
	_, name, _ := strings.Cut(of, "/")
	for _, o := range x.scene.objects {
		if g, ok := o.(*groupv1alpha1.PodGroup); ok && g.Name == name {
			return g.DeepCopy()
		}
	}
	for _, e := range x.scene.events {
		if g, ok := e.create.(*groupv1alpha1.PodGroup); ok && g.Name == name {
			return g.DeepCopy()
		}
	}
	return nil
}

// places counts the members of a group that have a node, in what the scheduler had said when it had spoken so often.
func (x *stage) places(group string, spoken int) int {
	_, name, _ := strings.Cut(group, "/")
	latest, at := map[string]result.Outcome{}, time.Duration(0)
	for _, h := range x.base.heard[:spoken] {
		at = h.at
		if strings.HasPrefix(h.Pod.Name, name+"-") && (h.Outcome != result.Unschedulable || h.SelectedNode != "") {
			latest[h.Pod.Name] = h.Outcome
		}
	}
	n := 0
	for pod, outcome := range latest {
		deleted := slices.ContainsFunc(x.scene.events, func(e event) bool { return e.delete == pod && e.at < at })
		if (outcome == result.Scheduled || outcome == result.Waiting) && !deleted {
			n++
		}
	}
	return n
}

// had checks the number of places that a group is said to have. Several attempts take place within a moment.
func (x *stage) had(group string, places int) error {
	fewest, most := math.MaxInt, 0
	for i, h := range x.base.heard {
		if (h.at - x.heard.at).Abs() < soon {
			n := x.places(group, i+1)
			fewest, most = min(fewest, n), max(most, n)
		}
	}
	if places < fewest || places > most {
		return fmt.Errorf("at that time it has %d to %d places", fewest, most)
	}
	return nil
}

// joined plays the scene until the attempt again, and then further members come that fit everywhere.
func (x *stage) joined(group string, n int) *play {
	return x.replay(func(s *scene) {
		s.without(func(e event) bool { return e.at > x.heard.at })
		_, name, _ := strings.Cut(group, "/")
		for i := range n {
			p := replica(fmt.Sprint("newcomer-", i), "1m")
			p.Labels[groupv1alpha1.PodGroupLabel] = name
			s.events = append(s.events, event{at: x.heard.at + time.Duration(i+1)*5*time.Millisecond, create: p})
		}
	})
}

// groupMissing: "its pod group does not exist". When it does, that is not said.
func (x *stage) groupMissing(s explain.GroupMissing) error {
	g := x.groupNamed(s.Group)
	g.Spec.MinMember = 1
	p := x.replay(func(scene *scene) {
		scene.without(func(e event) bool { _, group := e.create.(*groupv1alpha1.PodGroup); return group })
		scene.objects = append(scene.objects, g)
	})
	for i := range p.heard {
		if _, missing := headlineOf(&p.heard[i]).(explain.GroupMissing); missing && p.heard[i].Pod.Name == s.Pod {
			return fmt.Errorf("it is said although the group exists")
		}
	}
	return nil
}

// membersAwaited: "needs 2 more members, and has places for 1 of 3". When two more come that fit everywhere, the pod waits no longer; when one
// comes, it still waits.
func (x *stage) membersAwaited(s explain.MembersAwaited) error {
	if s.More != s.Needs-s.Has {
		return fmt.Errorf("that is %d more", s.Needs-s.Has)
	}
	if err := x.had(s.Group, s.Has); err != nil {
		return err
	}
	for _, come := range []int{s.More, s.More - 1} {
		p := x.joined(s.Group, come)
		if slices.ContainsFunc(p.heard, func(h heard) bool {
			return h.Pod.Name != s.Pod && !strings.HasPrefix(h.Pod.Name, "newcomer-") && h.at > x.heard.at
		}) {
			continue // another member that waits in the queue gets a place, or takes those that there are
		}
		ended := p.next(s.Pod, x.base.began(x.heard.Cycle)-soon, func(c *result.Cycle) bool { return c.Outcome != result.Waiting })
		if scheduled := ended != nil && ended.Outcome == result.Scheduled; scheduled != (come == s.More) {
			return fmt.Errorf("when %d more come, it is scheduled: %t", come, scheduled)
		}
	}
	return nil
}

// membersComplete: "needs 2 members and has places for 3".
func (x *stage) membersComplete(s explain.MembersComplete) error {
	if s.Has < s.Needs {
		return fmt.Errorf("these are too few")
	}
	return x.had(s.Group, s.Has)
}

// membersShort: "when it began to wait, it had places for 1 of the 3 members that it needs".
func (x *stage) membersShort(s explain.MembersShort) error {
	if s.Has >= s.Needs {
		return fmt.Errorf("these are enough")
	}
	began := x.base.next(x.heard.Pod.Name, x.base.began(x.heard.Cycle), func(c *result.Cycle) bool { return c.Outcome == result.Waiting })
	if began == nil || began.Attempt != x.heard.Attempt {
		return fmt.Errorf("it did not wait")
	}
	return (&stage{x.T, x.tally, x.scene, x.base, began}).had(s.Group, s.Has)
}

// memberFitsNowhere: "p2 of its group fits no node, so the members that waited were sent back". When p2 asks for nothing, it is not because of p2.
func (x *stage) memberFitsNowhere(s explain.MemberFitsNowhere) error {
	_, member, _ := strings.Cut(s.Member, "/")
	p := x.replay(func(scene *scene) {
		scene.change(member, func(p *v1.Pod) {
			p.Spec.Containers[0].Resources.Requests, p.Spec.NodeSelector = nil, nil
		})
	})
	for i := range p.heard {
		if again, said := headlineOf(&p.heard[i]).(explain.MemberFitsNowhere); said && again.Member == s.Member {
			return fmt.Errorf("%s is sent back because of it although it fits everywhere", again.Pod)
		}
	}
	return nil
}

// memberLostPlace: the member lost its place just before. If it does not exist, it is not because of it.
func (x *stage) memberLostPlace(s explain.MemberLostPlace) error {
	_, member, _ := strings.Cut(s.Member, "/")
	lost := slices.ContainsFunc(x.base.heard, func(h heard) bool {
		return h.Pod.Name == member && h.SelectedNode != "" && h.Outcome != result.Scheduled && h.Outcome != result.Waiting && (h.at-x.heard.at).Abs() < soon
	})
	if !lost {
		return fmt.Errorf("%s has not lost a place", member)
	}
	return nil
}

// sentBackBy counts the members that were sent back because of the pod of the attempt. The members do not say because of which
// attempt, so others says how many were sent back in attempts of the pod that are as close.
func (x *stage) sentBackBy() (n, others int) {
	for i := range x.base.heard {
		h := &x.base.heard[i]
		s, sent := headlineOf(h).(explain.MemberFitsNowhere)
		if sent && s.Member == x.heard.Pod.Namespace+"/"+x.heard.Pod.Name && h.at >= x.base.began(x.heard.Cycle) && h.at-x.heard.at < soon {
			n++
		}
		if near := h.Pod.Name == x.heard.Pod.Name && h.Cycle != x.heard.Cycle && (h.at-x.heard.at).Abs() < soon; near {
			if s, sent := remarkOf[explain.MembersSentBack](h); sent {
				others += s.Sent
			}
		}
	}
	return n, others
}

// membersSentBack: so many members say that they were sent back because of this pod.
func (x *stage) membersSentBack(s explain.MembersSentBack) error {
	if n, others := x.sentBackBy(); n < s.Sent || n > s.Sent+others {
		return fmt.Errorf("%d members say that they were sent back because of it", n)
	}
	return nil
}

// membersKept: no member says that it was sent back because of this pod, and as many members have places.
func (x *stage) membersKept(s explain.MembersKept) error {
	if n, others := x.sentBackBy(); n > others {
		return fmt.Errorf("%d members say that they were sent back because of it", n)
	}
	if s.Has >= s.Needs {
		return fmt.Errorf("these are enough")
	}
	return nil
}

// groupBackedOff: "is in backoff for another 3 s". A pod that comes a bit before is refused for that, and one that comes a bit later is not.
func (x *stage) groupBackedOff(s explain.GroupBackedOff) error {
	left, err := time.ParseDuration(strings.ReplaceAll(s.Left, " ", ""))
	if err != nil {
		return err
	}
	began := x.base.began(x.heard.Cycle)
	p := x.replay(func(scene *scene) {
		scene.without(func(e event) bool { return e.at > began+soon })
		_, name, _ := strings.Cut(s.Group, "/")
		for i, at := range []time.Duration{began + left*9/10, began + left*11/10 + soon} {
			pod := replica(fmt.Sprint("newcomer-", i), "100m")
			pod.Labels[groupv1alpha1.PodGroupLabel] = name
			scene.events = append(scene.events, event{at: at, create: pod})
		}
	})
	for i, refused := range []bool{true, false} {
		h := p.next(fmt.Sprint("newcomer-", i), 0, func(*result.Cycle) bool { return true })
		if h == nil {
			return fmt.Errorf("another member is not tried")
		}
		if _, is := headlineOf(h).(explain.GroupBackedOff); is != refused {
			return fmt.Errorf("refused for that is a member that comes %s: %t", []string{"before", "later"}[i], is)
		}
	}
	return nil
}

// nearest: "n1 lacks 0.5 cpu". The pod waits for that: when the node has so much more, the queue tries it again, and the node is short no more. When
// the node has no more than before, the queue does not try it.
func (x *stage) nearest(s explain.Nearest) error {
	pod, node := x.base.pods[x.heard.Pod.Name], x.base.nodes[s.Node]
	changed := slices.ContainsFunc(x.base.heard, func(h heard) bool {
		return h.at > x.heard.at && (h.SelectedNode != "" || h.Pod.Name == x.heard.Pod.Name)
	}) || slices.ContainsFunc(x.scene.events, func(e event) bool { return e.at > x.heard.at })
	if changed || pod == nil || node == nil || len(s.Lacks) != 1 || s.Lacks[0].Resource != string(v1.ResourceCPU) {
		return errUntried
	}
	at := x.heard.at + 10*time.Second
	for _, more := range []int64{s.Lacks[0].Amount, -1} {
		cpu := quantity("cpu", amountOf(node.Status.Allocatable, "cpu")+more)
		p := x.replay(func(scene *scene) {
			patch := fmt.Sprintf(`{"status":{"allocatable":{"cpu":%q},"capacity":{"cpu":%q}}}`, cpu.String(), cpu.String())
			scene.events = append(scene.events, event{at: at, node: s.Node, patch: patch, status: true})
		})
		h := p.next(pod.Name, at-soon, func(*result.Cycle) bool { return true })
		woken := h != nil && h.Queue.RequeuedBy != nil && h.Queue.RequeuedBy.Name == s.Node
		if woken != (more > 0) {
			return fmt.Errorf("when %s has %s, the queue tries it again: %t", s.Node, cpu.String(), woken)
		}
		first := !slices.ContainsFunc(p.heard, func(other heard) bool { return other.SelectedNode == s.Node && p.began(other.Cycle) >= at-soon })
		if woken && (first || h.SelectedNode == s.Node) {
			if inUse, short := inUseOn(h, s.Node, "cpu"); short {
				return fmt.Errorf("when %s has %s, it is short with %d in use", s.Node, cpu.String(), inUse)
			}
		}
	}
	return nil
}

// requeued: "requeued by an update of node n1 (queueing hint of TaintToleration)". Without the event the queue does not try the pod then, and
// after another change of the same object it does not either. The plugin has rejected the pod.
func (x *stage) requeued() error {
	r := x.heard.Queue.RequeuedBy
	if !slices.Contains(x.heard.Queue.RejectedBy, r.Plugin) {
		return fmt.Errorf("%s has not rejected it: %v", r.Plugin, x.heard.Queue.RejectedBy)
	}
	woken := r.Time.Sub(x.base.begin)
	i := slices.IndexFunc(x.scene.events, func(e event) bool {
		return e.at <= woken && woken-e.at < soon && (e.create == nil || !creates(e, x.heard.Pod.Name))
	})
	if i < 0 {
		return errUntried // what the scheduler or a controller did
	}
	e := x.scene.events[i]
	again := func(p *play) bool {
		for _, h := range p.heard {
			if q := h.Queue; h.Pod.Name == x.heard.Pod.Name && q != nil && q.RequeuedBy != nil && (q.RequeuedBy.Time.Sub(p.begin)-woken).Abs() < soon {
				return true
			}
		}
		return false
	}
	if again(x.replay(func(s *scene) { s.events = slices.Delete(s.events, i, i+1) })) {
		return fmt.Errorf("without the event %s it is tried as well", r.Event)
	}
	smaller := event{at: e.at, patch: `{"metadata":{"annotations":{"example.com/note":"nothing"}}}`, node: e.node, pod: e.pod}
	if e.delete != "" {
		smaller.pod = e.delete
	}
	if smaller.node == "" && smaller.pod == "" {
		return nil
	}
	if again(x.replay(func(s *scene) { s.events[i] = smaller })) {
		return fmt.Errorf("an annotation wakes it as well as %s", r.Event)
	}
	return nil
}
