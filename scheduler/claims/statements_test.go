package claims

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// statements are the experiments for the headlines and remarks of an explanation, by kind.
var statements = map[explain.Kind]func(*lab, explain.Operands) error{
	explain.KindOf(explain.Best{}): func(l *lab, s explain.Operands) error { return l.best(s.(explain.Best)) },
	explain.KindOf(explain.Tied{}): func(l *lab, s explain.Operands) error {
		t := s.(explain.Tied)
		return l.tied(t.Node, t.Total, t.Feasible, t.Others)
	},
	explain.KindOf(explain.TiedBySeed{}): func(l *lab, s explain.Operands) error {
		t := s.(explain.TiedBySeed)
		return l.tied(t.Node, t.Total, t.Feasible, t.Others)
	},
	explain.KindOf(explain.Only{}):                func(l *lab, s explain.Operands) error { return l.only(s.(explain.Only)) },
	explain.KindOf(explain.NoNodes{}):             func(l *lab, s explain.Operands) error { return l.noNodes() },
	explain.KindOf(explain.RejectedInPreFilter{}): func(l *lab, s explain.Operands) error { return l.rejectedInPreFilter(s.(explain.RejectedInPreFilter)) },
	explain.KindOf(explain.NoNodeFits{}):          func(l *lab, s explain.Operands) error { return l.noNodeFits(s.(explain.NoNodeFits)) },
	explain.KindOf(explain.Nearest{}):             func(l *lab, s explain.Operands) error { return l.nearest(s.(explain.Nearest)) },
	explain.KindOf(explain.Leaving{}):             func(l *lab, s explain.Operands) error { return l.leaving(s.(explain.Leaving)) },
	explain.KindOf(explain.Resizing{}):            func(l *lab, s explain.Operands) error { return l.resizing(s.(explain.Resizing)) },
	explain.KindOf(explain.Described{}):           func(l *lab, s explain.Operands) error { return l.describedBy(s.(explain.Described)) },
	explain.KindOf(explain.Derived{}):             func(l *lab, s explain.Operands) error { return l.derived(s.(explain.Derived)) },
	explain.KindOf(explain.WasNominated{}):        func(l *lab, s explain.Operands) error { return l.wasNominated(s.(explain.WasNominated)) },
	explain.KindOf(explain.NominatedCounted{}):    func(l *lab, s explain.Operands) error { return l.nominatedCounted(s.(explain.NominatedCounted)) },
	explain.KindOf(explain.RoomMade{}):            func(l *lab, s explain.Operands) error { return l.roomMade(s.(explain.RoomMade)) },
	explain.KindOf(explain.RoomMissed{}):          func(l *lab, s explain.Operands) error { return l.roomMissed(s.(explain.RoomMissed)) },
	explain.KindOf(explain.RoomNominated{}):       func(l *lab, s explain.Operands) error { return l.roomNominated(s.(explain.RoomNominated)) },
	explain.KindOf(explain.DeviceShortage{}):      func(l *lab, s explain.Operands) error { return l.deviceShortage(s.(explain.DeviceShortage)) },
	explain.KindOf(explain.DevicesTogether{}):     func(l *lab, s explain.Operands) error { return l.devicesTogether(s.(explain.DevicesTogether)) },
}

func (l *lab) examineStatements() {
	l.state(l.said.Headline)
	for _, s := range l.said.Remarks {
		l.state(s)
	}
	if m := l.said.Margin; m != nil {
		l.claim("margin", m, func() error { return l.margin(m) })
	}
	if n := l.said.NotEvaluated; n != nil {
		l.claim("not evaluated "+n.Why, n, func() error { return l.notEvaluated(n) })
	}
}

// state tries to refute a statement.
func (l *lab) state(s explain.Statement) {
	if experiment := statements[explain.KindOf(s.Operands)]; experiment != nil {
		l.claim("statement "+string(explain.KindOf(s.Operands)), s, func() error { return experiment(l, s.Operands) })
		return
	}
	l.note("untried statement " + string(explain.KindOf(s.Operands)))
}

// feasible returns the nodes on which the pod fits, by name.
func (l *lab) feasible(pod *v1.Pod) []string {
	l.Helper()
	on, err := l.trial.Feasible(l.ctx, pod, "")
	l.must(err)
	return slices.Sorted(slices.Values(on))
}

// choose returns the node that the scheduler takes, and those that share the best total.
func (l *lab) choose(pod *v1.Pod) (node string, tied []string) {
	l.Helper()
	l.scales.tied = nil
	node, err := l.trial.Choose(l.ctx, pod, "")
	l.must(err)
	if l.scales.tied == nil {
		return node, []string{node}
	}
	return node, l.scales.tied
}

// best: "best total 250 of 4 feasible, 12 ahead of n2". With a thumb of 12 on n2 the two tie, and with 13 n2 wins.
func (l *lab) best(s explain.Best) error {
	if n := len(l.feasible(l.pod)); n != s.Feasible {
		return fmt.Errorf("%d nodes are feasible", n)
	}
	return l.ahead(s.Node, s.Next, s.Margin)
}

// ahead tries by how much a node is ahead of another one.
func (l *lab) ahead(node, next string, margin int64) error {
	if chosen, tied := l.choose(l.pod); chosen != node || len(tied) > 1 && margin > 0 {
		return fmt.Errorf("%s is chosen of %v", chosen, tied)
	}
	l.scales.press(next, margin)
	if _, tied := l.choose(l.pod); !slices.Contains(tied, node) || !slices.Contains(tied, next) {
		return fmt.Errorf("with %d more for %s, the best are %v", margin, next, tied)
	}
	l.scales.press(next, margin+1)
	if chosen, _ := l.choose(l.pod); chosen != next {
		return fmt.Errorf("with %d more for %s, %s is chosen", margin+1, next, chosen)
	}
	return nil
}

// tied: the others share the best total.
func (l *lab) tied(node string, total int64, feasible int, others []string) error {
	if n := len(l.feasible(l.pod)); n != feasible {
		return fmt.Errorf("%d nodes are feasible", n)
	}
	all := slices.Sorted(slices.Values(append([]string{node}, others...)))
	if _, tied := l.choose(l.pod); !slices.Equal(tied, all) {
		return fmt.Errorf("the best are %v", tied)
	}
	for _, other := range others {
		l.scales.press(other, 1)
		if chosen, _ := l.choose(l.pod); chosen != other {
			return fmt.Errorf("with 1 more for %s, %s is chosen", other, chosen)
		}
	}
	return nil
}

// only: no other node is feasible.
func (l *lab) only(s explain.Only) error {
	if on := l.feasible(l.pod); !slices.Equal(on, []string{s.Node}) || s.Evaluated > len(l.nodes()) {
		return fmt.Errorf("%v are feasible", on)
	}
	return nil
}

func (l *lab) noNodes() error {
	if n := len(l.nodes()); n > 0 {
		return fmt.Errorf("there are %d", n)
	}
	return nil
}

// rejectedInPreFilter: each of the plugins rejects the pod whatever the node, or leaves it no node that exists.
func (l *lab) rejectedInPreFilter(s explain.RejectedInPreFilter) error {
	for _, node := range l.nodes() {
		all, err := l.trial.Obstacles(l.ctx, l.pod, "", node)
		l.must(err)
		if len(all[0]) == 0 {
			return fmt.Errorf("the pod fits on %s", node)
		}
	}
	empty := newNode("experiment")
	l.set(empty)
	if o := l.rejects(l.pod, s.Plugins[0], empty.Name); o == nil {
		return fmt.Errorf("%s does not reject a new node", s.Plugins[0])
	}
	return nil
}

// newNode returns a large node without pods.
func newNode(name string) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{host: name}}}
	n.Status.Allocatable, n.Status.Capacity = v1.ResourceList{}, v1.ResourceList{}
	for resource, amount := range map[v1.ResourceName]int64{v1.ResourceCPU: 1_000_000, v1.ResourceMemory: 1 << 40, v1.ResourcePods: 1000, v1.ResourceEphemeralStorage: 1 << 40} {
		setAmount(n, string(resource), amount)
	}
	return n
}

// noNodeFits: "6 nodes rejected, 4 by NodeResourcesFit, 2 by TaintToleration".
func (l *lab) noNodeFits(s explain.NoNodeFits) error {
	if on := l.feasible(l.pod); len(on) > 0 {
		return fmt.Errorf("%v are feasible", on)
	}
	if s.Evaluated > s.Total || s.Total != len(l.nodes()) {
		return fmt.Errorf("there are %d nodes", len(l.nodes()))
	}
	for _, r := range s.Rejecters {
		nodes := 0
		for _, node := range l.nodes() {
			if l.rejects(l.pod, r.Plugin, node) != nil {
				nodes++
			}
		}
		if nodes != r.Nodes {
			return fmt.Errorf("%s rejects %d", r.Plugin, nodes)
		}
	}
	return nil
}

// nearest: "of the 3 nodes that lack resources, n1 is the closest fit: it lacks 0.5 cpu". On no other node the
// pod would have to give up less; with so much more it lacks nothing.
func (l *lab) nearest(s explain.Nearest) error {
	// Experiments of their own try these.
	lacking := map[string][]result.ResourceComparison{}
	for _, c := range l.cycle.Filter.Comparisons {
		if c.Plugin == names.NodeResourcesFit {
			lacking[c.Node] = c.Resources
		}
	}
	rejected := 0
	for _, node := range l.nodes() {
		if l.rejects(l.pod, names.NodeResourcesFit, node) != nil {
			rejected++
		}
	}
	if rejected != s.Nodes {
		return fmt.Errorf("%d nodes lack resources", rejected)
	}
	// What the pod would have to give up: all of a resource, more than half of a request, and parts of requests.
	givesUp := func(short []result.ResourceComparison) (all, half int, parts float64) {
		for _, r := range short {
			part := float64(r.Requested+r.InUse-r.Allocatable) / float64(r.Requested)
			if parts += part; part > 0.5 {
				half = 1
			}
			if r.Allocatable <= 0 {
				all++
			}
		}
		return all, half, parts
	}
	all, half, parts := givesUp(lacking[s.Node])
	for node, short := range lacking {
		otherAll, otherHalf, otherParts := givesUp(short)
		if cmp.Or(cmp.Compare(otherAll, all), cmp.Compare(otherHalf, half), cmp.Compare(otherParts, parts-1e-9)) < 0 {
			return fmt.Errorf("on %s the pod would give up less", node)
		}
	}
	for i, less := range []int64{0, 1} {
		l.changeNode(s.Node, func(n *v1.Node) {
			for _, lack := range s.Lacks {
				if i == 0 {
					setAmount(n, lack.Resource, amountOf(n.Status.Allocatable, lack.Resource)+lack.Amount)
				} else {
					setAmount(n, lack.Resource, amountOf(n.Status.Allocatable, lack.Resource)-less)
				}
			}
		})
		if rejected := l.rejects(l.pod, names.NodeResourcesFit, s.Node) != nil; rejected != (i == 1) {
			return fmt.Errorf("with so much more, less %d, it lacks resources: %t", less, rejected)
		}
	}
	return nil
}

// nominatedCounted: without the pods that are named, the nodes are rejected by no nomination. Without those nominated to the nearest node, so
// much less is in use there.
func (l *lab) nominatedCounted(s explain.NominatedCounted) error {
	for _, hold := range s.Holds {
		inUse := l.used(s.Node, hold.Resource).InUse
		if err := l.without(s.Node, hold.Resource, inUse-hold.Amount, "without nominated pods", l.removeWhere(s.Node, onlyNominated)); err != nil {
			return err
		}
	}
	for _, name := range s.Pods {
		found := false
		for _, p := range l.trial.Pods() {
			if p.Namespace+"/"+p.Name == name && p.Spec.NodeName == "" && p.Status.NominatedNodeName != "" {
				found = l.remove(p.Namespace, p.Name)
			}
		}
		if !found {
			return fmt.Errorf("%s is not nominated", name)
		}
	}
	cycle := l.decide(l.pod)
	if cycle.Filter == nil {
		return nil
	}
	for _, pass := range cycle.Filter.Nominated {
		if pass.Rejected {
			return fmt.Errorf("without them %s is rejected with %v", pass.Node, pass.Pods)
		}
	}
	return nil
}

// wasNominated: the pod's status names the node, and the pod fits there also if it does not.
func (l *lab) wasNominated(s explain.WasNominated) error {
	if l.pod.Status.NominatedNodeName != s.Node {
		return fmt.Errorf("it is nominated to %q", l.pod.Status.NominatedNodeName)
	}
	if !l.fits(l.as(func(p *v1.Pod) { p.Status.NominatedNodeName = "" }), s.Node) {
		return fmt.Errorf("it does not fit there")
	}
	return nil
}

// roomMade: without the victims the pod fits on the node.
func (l *lab) roomMade(s explain.RoomMade) error {
	if err := l.evict(s.Node, s.Victims); err != nil {
		return err
	}
	if !l.fits(l.pod, s.Node) {
		return fmt.Errorf("without them the pod does not fit")
	}
	return nil
}

// roomMissed: without the victims, the plugin rejects the pod on the node as before.
func (l *lab) roomMissed(s explain.RoomMissed) error {
	if err := l.evict(s.Node, s.Victims); err != nil {
		return err
	}
	if l.rejects(l.pod, s.Plugin, s.Node) == nil {
		return fmt.Errorf("without them the plugin does not reject it")
	}
	return nil
}

// evict removes the victims of a candidate, of which there are to be so many.
func (l *lab) evict(node string, victims int) error {
	i := slices.IndexFunc(l.cycle.Preemption.Candidates, func(c result.Candidate) bool { return c.Node == node })
	if i < 0 || len(l.cycle.Preemption.Candidates[i].Victims) != victims {
		return fmt.Errorf("it is no candidate with so many victims")
	}
	for _, v := range l.cycle.Preemption.Candidates[i].Victims {
		l.remove(v.Pod.Namespace, v.Pod.Name)
	}
	return nil
}

func (l *lab) roomNominated(s explain.RoomNominated) error {
	for _, p := range l.on(s.Node) {
		if p.Spec.NodeName != "" && priority(p) < priority(l.pod) {
			l.remove(p.Namespace, p.Name)
		}
	}
	if !l.fits(l.pod, s.Node) {
		return fmt.Errorf("without less important pods the pod does not fit")
	}
	return nil
}

// deviceShortage: so many of the nodes cannot meet the request.
func (l *lab) deviceShortage(s explain.DeviceShortage) error {
	if s.NoMatch+s.InUse+s.Blocked != s.Nodes || s.Nodes > s.Compared {
		return fmt.Errorf("the numbers do not add up")
	}
	if s.Count == 0 {
		return errUntried
	}
	noMatch, short := 0, 0
	for _, node := range l.nodes() {
		o := l.rejects(l.pod, names.DynamicResources, node)
		if o == nil || o.Comparison == nil {
			continue
		}
		for _, d := range o.Comparison.Devices {
			if d.Claim == s.Claim && d.Request == s.Request && !d.Enough() {
				short++
				if int64(d.Matching) < d.Count {
					noMatch++
				}
			}
		}
	}
	if short < s.Nodes || noMatch < s.NoMatch {
		return fmt.Errorf("%d nodes are short of it, %d for want of matching devices", short, noMatch)
	}
	return nil
}

// devicesTogether: for a claim of each request alone, so many nodes are let through.
func (l *lab) devicesTogether(s explain.DevicesTogether) error {
	nodes := 0
	for _, node := range l.nodes() {
		if l.rejects(l.pod, names.DynamicResources, node) == nil {
			continue
		}
		each := true
		for _, c := range l.pod.Spec.ResourceClaims {
			o, err := l.trial.Get(resourcev1.SchemeGroupVersion.WithKind("ResourceClaim"), l.pod.Namespace, claimName(l.pod, c.Name))
			l.must(err)
			claim := o.(*resourcev1.ResourceClaim)
			if claim.Status.Allocation != nil {
				continue
			}
			for _, r := range claim.Spec.Devices.Requests {
				alone := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: l.pod.Namespace, Name: "alone-" + claim.Name + "-" + r.Name}}
				alone.Spec.Devices.Requests = []resourcev1.DeviceRequest{r}
				l.set(alone)
				with := l.as(func(p *v1.Pod) {
					p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "alone", ResourceClaimName: &alone.Name}}
					p.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "alone"}}
				})
				each = each && l.rejects(with, names.DynamicResources, node) == nil
			}
		}
		if each {
			nodes++
		}
	}
	if nodes < s.Nodes {
		return fmt.Errorf("%d nodes can meet each request alone", nodes)
	}
	return nil
}

// margin: the selected node is ahead by the total, of which each plugin makes its part.
func (l *lab) margin(m *explain.Margin) error {
	sum := int64(0)
	for _, p := range m.Parts {
		sum += p.Difference
	}
	if sum != m.Total {
		return fmt.Errorf("the parts add up to %d", sum)
	}
	return l.ahead(l.cycle.SelectedNode, m.Over, m.Total)
}

// examineParts: "NodeAffinity makes 40 of the margin". When that plugin does not score, the margin is so much less.
func (l *lab) examineParts(configuration *schedulerconfig.KubeSchedulerConfiguration) {
	m := l.said.Margin
	before := l.decidedUnder(configuration)
	for _, p := range m.Parts {
		without := configuration.DeepCopy()
		score := &without.Profiles[0].Plugins.Score
		score.Disabled = append(score.Disabled, schedulerconfig.Plugin{Name: p.Plugin})
		l.judge(l.T, l.pod.Name, "margin part", p, l.marginWithout(p, before, l.decidedUnder(without)))
	}
}

// marginWithout compares the decisions about the pod, and about the members of its group that came before, with those without a plugin.
func (l *lab) marginWithout(p explain.Part, before, without []*result.Cycle) error {
	m := l.said.Margin
	for i, c := range without {
		if c.Pod.UID == l.cycle.Pod.UID {
			if c.Score == nil || c.Score.Nodes.Index(l.cycle.SelectedNode) < 0 || c.Score.Nodes.Index(m.Over) < 0 {
				return errUntried // Of the placements of its group, the cycle reports another one.
			}
			total := func(node string) int64 { return c.Score.Totals.At(c.Score.Nodes.Index(node)) }
			if left := total(l.cycle.SelectedNode) - total(m.Over); left != m.Total-p.Difference {
				return fmt.Errorf("without it the margin of %d is %d", m.Total, left)
			}
			return nil
		}
		if len(before) <= i || before[i].SelectedNode != c.SelectedNode {
			return errUntried // A member before it takes other room without the plugin.
		}
	}
	return fmt.Errorf("without it the pod was not decided about")
}

// decidedUnder returns the decisions about the pod, or about its group, under a configuration.
func (l *lab) decidedUnder(configuration *schedulerconfig.KubeSchedulerConfiguration) (cycles []*result.Cycle) {
	l.must(l.engine.Try(l.Context(), configuration, func(ctx context.Context, trial *whatif.Trial) error {
		pod, err := trial.Pod(l.pod.Namespace, l.pod.Name)
		if err != nil {
			return err
		}
		if l.cycle.PodGroup != nil {
			cycles, err = trial.DecideGroup(ctx, pod, "")
			return err
		}
		c, err := trial.Decide(ctx, pod, "")
		cycles = []*result.Cycle{c}
		return err
	}))
	return cycles
}

func (l *lab) notEvaluated(n *explain.NotEvaluated) error {
	if l.cycle.Nodes.Evaluated+n.Nodes != len(l.nodes()) {
		return fmt.Errorf("there are %d nodes", len(l.nodes()))
	}
	switch n.Why {
	case explain.PreFiltered:
		if len(n.Plugins) == 0 {
			return fmt.Errorf("no plugin is named")
		}
	default:
		return fmt.Errorf("every node of a hypothetical decision is evaluated")
	}
	return nil
}

func priority(p *v1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}
