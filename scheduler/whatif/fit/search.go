package fit

import (
	"cmp"
	"context"
	"errors"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
)

// Bounds of the work for one question.
const (
	// maxChecks is how often the engine is asked about one node, and maxSteps how many
	// changes a suggestion combines.
	maxChecks = 96
	maxSteps  = 3
	// mostTries is how many candidates of one shape are tried.
	mostTries = 3
	// mostReductions is how often a suggestion is tried with less.
	mostReductions = 16
	// mostFitted is on how many nodes amounts are made to fit.
	mostFitted = 4
	// mostHalves is how many changes of a pod or a node are tried together with evictions.
	mostHalves = 8
	// mostOthers is how many further nodes a suggestion names.
	mostOthers = 3
	// mostFamilies and mostEvictions are how many kinds of new nodes, and how many nodes
	// for evictions, are tried.
	mostFamilies  = 8
	mostEvictions = 8
	// mostGuesses is how many of the latter are for plugins that do not say which pods are
	// in the way.
	mostGuesses = 4
)

// search looks for suggestions in the state of a trial.
type search struct {
	trial   *whatif.Trial
	profile string
	limit   int
	// pod is as Decide expects it.
	pod    *v1.Pod
	writer writer
	// target is the only node that will do; empty for any.
	target string
	// all are the nodes of the cluster, and nodes those to look at, with their obstacles. They stay as
	// they are while the trial changes.
	all, nodes []fwk.NodeInfo
	obstacles  [][]whatif.Obstacle
	budgets    []*policyv1.PodDisruptionBudget
	// ruled is what a controller owns of which the search does not know what it does: the pod or
	// its workload. It is nil if there is none.
	ruled metav1.Object
	// siblings are the other pods of the pod's workload.
	siblings []*v1.Pod

	pool   *pool
	halves []half
	// checks is how many are left, and placements how many pods may still be placed to try rollouts.
	checks     int
	placements int
	// waits is nil if time alone does not help.
	waits *offer
	found []offer
	// later are suggestions that turned out to disturb more than those that are looked for.
	later   []offer
	leftOut []explain.Statement
	// helped are the plugins whose rejections an eviction or a new node cured.
	helped map[string]bool
}

// half is a candidate that leaves obstacles which no further change cures. Evictions may.
type half struct {
	candidate
	left []whatif.Obstacle
}

// offer is a suggestion with the candidate that it came from. Its text comes last.
type offer struct {
	candidate
	Suggestion
	// left is how many other pods of the workload find no node then.
	left int
}

func (s *search) fits() bool {
	return slices.ContainsFunc(s.obstacles, func(o []whatif.Obstacle) bool { return len(o) == 0 })
}

// run fills found, leftOut and helped.
func (s *search) run(ctx context.Context) error {
	s.helped = map[string]bool{}
	if err := s.wait(ctx); err != nil {
		return err
	}
	if s.waits != nil {
		for _, obstacles := range s.obstacles {
			s.cured(obstacles)
		}
	}
	if newnode.OfDaemonSet(s.pod) && !s.makesRoom() {
		if err := s.priorities(ctx); err != nil {
			return err
		}
	}
	outright := s.rejectedOutright()
	if !outright {
		s.collect()
		if err := s.bySteps(ctx, ofNode); err != nil {
			return err
		}
	}
	// Who only needs to wait buys no node and evicts nobody.
	if !s.knownEnd() {
		if err := s.strong(ctx, outright); err != nil {
			return err
		}
	}
	if len(s.found) == 0 && s.waits == nil && s.anyTooComplex() {
		s.omit(explain.CombinationsNotTried{Steps: maxSteps})
	}
	return s.scaleDown()
}

// strong looks for suggestions that disturb more than the pod and a node. outright is what rejectedOutright reports.
func (s *search) strong(ctx context.Context, outright bool) error {
	gentle := len(s.found) > 0
	if s.target == "" && !outright {
		if err := s.addNodes(ctx, gentle); err != nil {
			return err
		}
	}
	if gentle || s.makesRoom() {
		return nil
	}
	if err := s.evictions(ctx); err != nil {
		return err
	}
	if outright {
		return nil
	}
	if !newnode.OfDaemonSet(s.pod) {
		if err := s.priorities(ctx); err != nil {
			return err
		}
	}
	for _, o := range s.later {
		if err := s.offer(ctx, o, nil); err != nil {
			return err
		}
	}
	return s.bySteps(ctx, drastic)
}

// rejectedOutright reports whether a plugin rejects the pod before it looks at any node, and no change of
// the pod cures that.
func (s *search) rejectedOutright() bool {
	return len(s.nodes) > 0 && slices.ContainsFunc(s.obstacles[0], func(o whatif.Obstacle) bool {
		return o.PreFilter && len(cures(s.pod, s.nodes[0].Node(), o)) == 0
	})
}

// anyTooComplex reports whether there is a node on which each obstacle for itself might be cured, but there are too many.
func (s *search) anyTooComplex() bool {
	for i, n := range s.nodes {
		if len(s.obstacles[i]) > maxSteps && !slices.ContainsFunc(s.obstacles[i], func(o whatif.Obstacle) bool {
			return len(cures(s.pod, n.Node(), o)) == 0 && !blames(o)
		}) {
			return true
		}
	}
	return false
}

// omitOnce is omit for what may come up again.
func (s *search) omitOnce(what explain.Operands) {
	if !slices.ContainsFunc(s.leftOut, func(o explain.Statement) bool { return o.Operands == what }) {
		s.omit(what)
	}
}

func (s *search) omit(what explain.Operands) {
	s.leftOut = append(s.leftOut, explain.Statement{Operands: what})
}

// full reports whether there are as many suggestions as are wanted.
func (s *search) full() bool { return len(s.found) >= s.limit }

// collect fills the pool with the combinations of cures for each node.
func (s *search) collect() {
	for i, n := range s.nodes {
		if alternatives := s.alternatives(n.Node(), s.obstacles[i]); alternatives != nil {
			for _, c := range combinations(candidate{node: n.Node().Name}, alternatives, maxSteps) {
				s.pool.add(c)
			}
		}
	}
}

// alternatives returns the cures for each obstacle, or nil if one has none.
func (s *search) alternatives(node *v1.Node, obstacles []whatif.Obstacle) [][]cure {
	if len(obstacles) > 2*maxSteps {
		return nil // One change rarely cures two obstacles.
	}
	out := make([][]cure, len(obstacles))
	for i, o := range obstacles {
		out[i] = cures(s.pod, node, o)
		switch o.Plugin {
		case names.NodeResourcesFit:
			out[i] = append(out[i], s.resizes(node.Name)...)
		case names.VolumeBinding:
			out[i] = append(out[i], s.otherClasses()...)
		}
		if len(out[i]) == 0 {
			return nil
		}
	}
	return out
}

// bySteps tries the candidates of the pool that disturb no more than most: those with one
// step, and as long as nothing is found, those with more.
func (s *search) bySteps(ctx context.Context, most disturbance) error {
	before := len(s.found)
	for size := 1; size <= maxSteps && len(s.found) == before; size++ {
		for !s.full() && s.checks > 0 {
			candidates := s.pool.next(size, most)
			if candidates == nil {
				break
			}
			if size > 1 && slices.ContainsFunc(candidates[0].remedies, drops) {
				continue // Among several changes, preferring a term is enough.
			}
			if err := s.tryShape(ctx, candidates, most); err != nil {
				return err
			}
		}
		if left := s.pool.left(size, most); left > 0 {
			s.omit(explain.ChangesNotTried{Changes: left})
			return nil
		}
	}
	return nil
}

// drops reports whether a remedy drops terms that it might prefer.
func drops(r remedy) bool {
	_, drop := r.says.(explain.DropPodTerms)
	return drop
}

// tryShape tries candidates of one shape until one is confirmed, which is offered.
func (s *search) tryShape(ctx context.Context, candidates []candidate, most disturbance) error {
	for i, c := range candidates[:min(len(candidates), mostTries)] {
		left, o, err := s.try(ctx, c)
		switch {
		case err != nil:
			return err
		case o != nil:
			return s.offer(ctx, *o, candidates[i+1:])
		case len(left) == 0:
			// It lets the pod in, and not all pods of its workload.
			o, err := s.larger(ctx, c)
			switch {
			case err != nil:
				return err
			case o == nil:
				continue
			case o.disturbs() > most:
				s.later = append(s.later, *o)
				return nil
			}
			return s.offer(ctx, *o, nil)
		}
		s.extend(c, left)
	}
	return nil
}

// extend adds to the pool what also cures the obstacles that a candidate left. A plugin
// compares no further than to what it first stumbles on, so more may come to light.
func (s *search) extend(c candidate, left []whatif.Obstacle) {
	node := s.node(c.node)
	if node == nil {
		return
	}
	alternatives := s.alternatives(node, left)
	if alternatives == nil {
		if len(s.halves) < mostHalves {
			s.halves = append(s.halves, half{c, left})
		}
		return
	}
	for _, next := range combinations(c, alternatives, maxSteps) {
		if len(next.remedies) > len(c.remedies) {
			s.pool.add(next)
		}
	}
}

func (s *search) node(name string) *v1.Node {
	for _, n := range s.nodes {
		if n.Node().Name == name {
			return n.Node()
		}
	}
	return nil
}

// nodeOf returns a candidate's node, which the candidate may add; nil if it is neither.
func (s *search) nodeOf(c candidate) *v1.Node {
	for _, r := range c.remedies {
		for _, added := range r.added {
			if added.Node.Name == c.node {
				return added.Node
			}
		}
	}
	return s.node(c.node)
}

// apply makes a candidate's changes in the trial, and returns them with the changed pod. Roll back
// afterwards.
func (s *search) apply(c candidate) (written, *v1.Pod, error) {
	w, err := s.writer.write(c.remedies, s.node(c.node))
	if err != nil {
		return w, nil, err
	}
	if err := s.trial.Apply(w.hypothetical...); err != nil {
		return w, nil, err
	}
	if !slices.ContainsFunc(c.remedies, func(r remedy) bool { return r.pod != nil }) {
		return w, s.pod, nil
	}
	pod, err := s.trial.Pod(s.pod.Namespace, s.pod.Name)
	return w, pod, err
}

// check returns the obstacles that a candidate leaves on its node.
func (s *search) check(ctx context.Context, c candidate) ([]whatif.Obstacle, error) {
	left, _, err := s.ask(ctx, c, false)
	return left, err
}

// try is check, and returns the suggestion if no obstacle is left, without what it turns out not to need. It returns neither if
// the pod fits and others of its workload do not.
func (s *search) try(ctx context.Context, c candidate) ([]whatif.Obstacle, *offer, error) {
	left, o, err := s.ask(ctx, c, true)
	if err != nil || len(left) > 0 {
		return left, o, err
	}
	checks := s.checks
	fewer, err := s.reduced(ctx, c)
	s.checks = checks // It has bounds of its own.
	if err != nil || fewer.key() == c.key() {
		return left, o, err
	}
	if _, smaller, err := s.ask(ctx, fewer, true); err != nil || smaller != nil {
		return left, smaller, err
	}
	return left, o, nil
}

// reduced leaves out of a candidate each part without which it also lets the pod in: on its node or, if no node changes, on another one.
func (s *search) reduced(ctx context.Context, c candidate) (candidate, error) {
	tries := mostReductions
	enough := func(fewer *candidate) (bool, error) {
		if tries--; tries < 0 {
			return false, nil
		}
		left, err := s.check(ctx, *fewer)
		if err != nil || len(left) == 0 {
			return err == nil, err
		}
		on, err := s.anywhere(ctx, *fewer)
		if err != nil || on == "" {
			return false, err
		}
		fewer.node = on
		return true, nil
	}
	// With a part less, a whole remedy may turn out not to be needed.
	for before := ""; before != c.key(); {
		before = c.key()
		for i := len(c.remedies) - 1; i >= 0 && len(c.remedies) > 1; i-- {
			fewer := candidate{c.node, slices.Delete(slices.Clone(c.remedies), i, i+1)}
			if c.remedies[i].added != nil { // The candidate has no node without it.
				on, err := s.anywhere(ctx, fewer)
				if err != nil {
					return c, err
				}
				if on != "" {
					c = candidate{on, fewer.remedies}
				}
				continue
			}
			if ok, err := enough(&fewer); err != nil {
				return c, err
			} else if ok {
				c = fewer
			}
		}
		for i, r := range c.remedies {
			if r.parts == nil {
				continue
			}
			kept := make([]int, r.parts.count)
			for j := range kept {
				kept[j] = j
			}
			for j := range r.parts.count {
				less := slices.DeleteFunc(slices.Clone(kept), func(k int) bool { return k == j })
				if len(less) == 0 {
					break
				}
				fewer := candidate{c.node, slices.Clone(c.remedies)}
				fewer.remedies[i] = r.parts.only(less)
				if ok, err := enough(&fewer); err != nil {
					return c, err
				} else if ok {
					kept, c = less, fewer
				}
			}
		}
	}
	return s.fitted(ctx, c)
}

// fitted replaces the amounts of a candidate by the smallest that are enough on one of the nodes where
// it fits, beside its other remedies.
func (s *search) fitted(ctx context.Context, c candidate) (candidate, error) {
	at, err := s.whereOf(ctx, c)
	if err != nil {
		return c, err
	}
	best := c
	for _, name := range at.nodes[:min(len(at.nodes), mostFitted)] {
		on, err := s.fittedOn(ctx, candidate{name, slices.Clone(c.remedies)})
		if err != nil {
			return c, err
		}
		if on.amount() < best.amount() {
			best = on
		}
	}
	return best, nil
}

// fittedOn is fitted for the candidate's own node. It changes the candidate's remedies. What a remedy
// must reach may come to light step by step: pods that are nominated for the node count only once the
// pod would fit without them.
func (s *search) fittedOn(ctx context.Context, c candidate) (candidate, error) {
	node := s.nodeOf(c)
	for i := 0; i < len(c.remedies) && node != nil; i++ {
		enough, tried := c.remedies[i], remedy{}
		if enough.added != nil {
			continue
		}
		left, err := s.check(ctx, candidate{c.node, slices.Delete(slices.Clone(c.remedies), i, i+1)})
		for ; err == nil && len(left) > 0; left, err = s.check(ctx, c) {
			next := s.smaller(enough, tried, node, left)
			if next == nil || next.amount() <= tried.amount() {
				break // Only more than before may be enough.
			}
			tried, c.remedies[i] = *next, *next
		}
		if err != nil {
			return c, err
		}
		if len(left) > 0 {
			c.remedies[i] = enough
		}
	}
	return c, nil
}

// smaller returns the remedy that differs from enough by smaller amounts, cures one of the obstacles
// that tried left, and does what tried does.
func (s *search) smaller(enough, tried remedy, node *v1.Node, left []whatif.Obstacle) *remedy {
	for _, o := range left {
		for _, own := range cures(s.pod, node, o) {
			next := own[0]
			if enough.cuts != nil && next.cuts != nil {
				next = lowering(s.pod, together(tried.cuts, next.cuts))
			} else if len(own) > 1 || next.shape != enough.shape {
				continue
			}
			if next.amount() < enough.amount() {
				return &next
			}
		}
	}
	return nil
}

// anywhere returns the node that the scheduler would choose if a candidate changed the pod alone; empty if there is none.
func (s *search) anywhere(ctx context.Context, c candidate) (string, error) {
	if slices.ContainsFunc(c.remedies, func(r remedy) bool { return r.node != nil || r.added != nil }) {
		return "", nil
	}
	at, err := s.whereOf(ctx, c)
	return at.chosen, err
}

// whereOf returns where the pod goes after a candidate's changes.
func (s *search) whereOf(ctx context.Context, c candidate) (place, error) {
	mark := s.trial.Mark()
	defer s.trial.Rollback(mark)
	_, pod, err := s.apply(c)
	if err != nil {
		return place{}, err
	}
	return s.where(ctx, pod)
}

func (s *search) ask(ctx context.Context, c candidate, suggest bool) ([]whatif.Obstacle, *offer, error) {
	s.checks--
	mark := s.trial.Mark()
	defer s.trial.Rollback(mark)
	w, pod, err := s.apply(c)
	if refused := (*whatif.ChangeError)(nil); errors.As(err, &refused) {
		return []whatif.Obstacle{{Reasons: []string{refused.Error()}}}, nil, nil // No API server would take it.
	}
	if err != nil {
		return nil, nil, err
	}
	left, err := s.obstaclesOf(ctx, pod, c.node)
	if err != nil {
		return nil, nil, err
	}
	if len(left[0]) > 0 || !suggest {
		return left[0], nil, nil
	}
	at, err := s.where(ctx, pod)
	if err != nil || at.chosen == "" {
		return nil, nil, err
	}
	if victims := slices.ContainsFunc(c.remedies, func(r remedy) bool { return r.victims != nil }); victims {
		if c, err = s.replaced(ctx, c, pod, at.chosen); err != nil {
			return nil, nil, err
		}
	}
	if whole, err := s.whole(ctx, c, mark, &w); err != nil || !whole {
		return nil, nil, err
	}
	if ordered, err := s.order(ctx, c, mark, &w); err != nil || !ordered {
		return nil, nil, err
	}
	waiting, err := s.leaves(ctx, pod, mark, w)
	if err != nil {
		return nil, nil, err
	}
	if waiting > 0 && w.manner == nil {
		w.manner = explain.Leaves{Pods: waiting, WorkloadKind: s.writer.workload.gvk.Kind, Name: s.writer.workload.name}
	}
	advice := explain.Advice{Steps: c.steps()}
	if w.manner != nil {
		advice.Manner = &explain.Statement{Operands: w.manner}
	}
	return nil, &offer{c, Suggestion{
		Kind: kindOf(c.disturbs()), Advice: advice, Changes: w.real, Hypothesis: w.hypothetical, Nodes: at.nodes, SelectedNode: at.chosen,
	}, waiting}, nil
}

// obstaclesOf adds to what the engine finds that a pod with gates is not even tried.
func (s *search) obstaclesOf(ctx context.Context, pod *v1.Pod, nodes ...string) ([][]whatif.Obstacle, error) {
	if len(nodes) == 0 {
		return nil, nil
	}
	out, err := s.trial.Obstacles(ctx, pod, s.profile, nodes...)
	if err != nil || len(pod.Spec.SchedulingGates) == 0 {
		return out, err
	}
	for i := range out {
		out[i] = append([]whatif.Obstacle{{Plugin: names.SchedulingGates, PreFilter: true, Reasons: []string{"waiting for scheduling gates"}}}, out[i]...)
	}
	return out, nil
}

// offer adds a suggestion, unless a smaller one of the same sort does. others are candidates of the same shape; those that change another node
// alike are named too.
func (s *search) offer(ctx context.Context, o offer, others []candidate) error {
	if slices.ContainsFunc(s.found, func(f offer) bool {
		return len(f.remedies) == 1 && len(o.remedies) == 1 && o.remedies[0].exceeds(f.remedies[0])
	}) {
		return nil
	}
	if err := s.nameOthers(ctx, o, others); err != nil {
		return err
	}
	if slices.ContainsFunc(o.remedies, func(r remedy) bool { return r.claims != nil }) {
		s.helped[names.VolumeBinding] = true
	}
	o.Text = o.Advice.String()
	if slices.ContainsFunc(s.found, func(other offer) bool { return other.Text == o.Text }) {
		return nil
	}
	s.found = append(s.found, o)
	return nil
}

// kindOf returns the kind of what a remedy disturbs.
func kindOf(d disturbance) Kind {
	switch d {
	case ofNode:
		return KindNode
	case ofCluster:
		return KindAddNode
	case ofOthers:
		return KindEvict
	}
	return KindPod
}

// nameOthers adds further nodes to a step that changes nothing but a node, each confirmed. All of them change at once, because
// a change of one matters to the other ones no more than it does to the pod.
func (s *search) nameOthers(ctx context.Context, o offer, others []candidate) error {
	others = others[:min(len(others), mostOthers)]
	if len(o.remedies) > 1 || o.remedies[0].node == nil || len(others) == 0 {
		return nil
	}
	mark := s.trial.Mark()
	defer s.trial.Rollback(mark)
	var names []string
	for _, other := range others {
		if _, _, err := s.apply(other); err != nil {
			return err
		}
		names = append(names, other.node)
	}
	s.checks--
	left, err := s.obstaclesOf(ctx, s.pod, names...)
	if err != nil {
		return err
	}
	confirmed := []string{}
	for i, name := range names {
		if len(left[i]) == 0 {
			confirmed = append(confirmed, name)
		}
	}
	switch says := o.Steps[0].Operands.(type) {
	case explain.Uncordon:
		says.Others = confirmed
		o.Steps[0].Operands = says
	case explain.RemoveTaints:
		says.Others = confirmed
		o.Steps[0].Operands = says
	case explain.LabelNode:
		says.Others = confirmed
		o.Steps[0].Operands = says
	}
	return nil
}

// suggestions returns what was found, the gentlest first.
func (s *search) suggestions() []Suggestion {
	slices.SortStableFunc(s.found, func(a, b offer) int { return a.compare(b.candidate) })
	var out []Suggestion
	if s.waits != nil {
		out = append(out, s.waits.Suggestion)
	}
	for _, o := range s.found {
		out = append(out, o.Suggestion)
	}
	return out
}

// mostRemoved is how many pods are removed at once to find out whether pods are in the way.
const mostRemoved = 10_000

// incurable returns the obstacles that nothing takes out of the way, and those that only pods which may not be evicted are to blame for.
func (s *search) incurable(ctx context.Context) ([]Incurable, error) {
	evictor := s.evictor(s.all)
	left := make([][]whatif.Obstacle, len(s.nodes))
	blamed := 0
	for i, n := range s.nodes {
		for _, o := range s.obstacles[i] {
			if s.helped[o.Plugin] || len(cures(s.pod, n.Node(), o)) > 0 {
				continue
			}
			if victims, guessed := evictor.victims(n, []whatif.Obstacle{o}); len(victims) > 0 && !guessed {
				continue
			}
			left[i] = append(left[i], o)
			if blames(o) {
				blamed++
			}
		}
	}
	empty, evicted := s.obstacles, s.obstacles
	switch pods := podsOn(s.all); {
	case blamed == 0:
	case len(pods) > mostRemoved:
		s.omit(explain.EvictionsNotTried{Nodes: blamed})
	default:
		var err error
		if empty, err = s.without(ctx, pods); err != nil {
			return nil, err
		}
		if evicted, err = s.without(ctx, evictor.among(pods)); err != nil {
			return nil, err
		}
	}
	type key struct {
		plugin, reason string
		guarded        bool
	}
	byReason := map[key]*Incurable{}
	for i, n := range s.nodes {
		for _, o := range left[i] {
			for _, reason := range lasting(o) {
				k := key{o.Plugin, reason, !remains(o, reason, empty[i])}
				if k.guarded && !remains(o, reason, evicted[i]) {
					continue // Evictions cure it, though not what else keeps the pod off.
				}
				if byReason[k] == nil {
					byReason[k] = &Incurable{Plugin: o.Plugin, Reason: reason, Guarded: k.guarded}
				}
				byReason[k].Nodes = append(byReason[k].Nodes, n.Node().Name)
			}
		}
	}
	var out []Incurable
	for _, i := range byReason {
		slices.Sort(i.Nodes)
		out = append(out, *i)
	}
	slices.SortFunc(out, func(a, b Incurable) int { return cmp.Or(cmp.Compare(len(b.Nodes), len(a.Nodes)), byName(a, b)) })
	return out, nil
}

// without returns the obstacles when pods are gone.
func (s *search) without(ctx context.Context, pods []*v1.Pod) ([][]whatif.Obstacle, error) {
	mark := s.trial.Mark()
	defer s.trial.Rollback(mark)
	for _, p := range pods {
		if err := s.trial.Apply(whatif.Change{Delete: podRef(p)}); err != nil {
			return nil, err
		}
	}
	on := make([]string, len(s.nodes))
	for i, n := range s.nodes {
		on[i] = n.Node().Name
	}
	return s.obstaclesOf(ctx, s.pod, on...)
}

// remains reports whether a reason for which an obstacle keeps the pod off is among later ones. Resources are short one by one; what other plugins say
// may differ in details.
func remains(o whatif.Obstacle, reason string, later []whatif.Obstacle) bool {
	return slices.ContainsFunc(later, func(l whatif.Obstacle) bool {
		return l.Plugin == o.Plugin && (l.Plugin != names.NodeResourcesFit || slices.Contains(l.Reasons, reason))
	})
}

// lasting returns the reasons of an obstacle without cure, at least one. A pod cannot ask for less than to be one
// pod, but it can ask for less of the resources that are short as well.
func lasting(o whatif.Obstacle) []string {
	switch {
	case len(o.Reasons) == 0:
		return []string{""}
	case o.Comparison != nil && len(o.Comparison.Resources) == len(o.Reasons):
		for i, r := range o.Comparison.Resources {
			if r.Name == string(v1.ResourcePods) {
				return o.Reasons[i : i+1]
			}
		}
	}
	return o.Reasons
}
