package fit

import (
	"cmp"
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
)

// Bounds of the work for one question.
const (
	// maxChecks is how often the engine is asked about one node, and maxSteps how many
	// changes a suggestion combines.
	maxChecks = 96
	maxSteps  = 3
	// mostTries is how many candidates of one shape are tried.
	mostTries = 3
	// mostOthers is how many further nodes a suggestion names.
	mostOthers = 3
	// mostFamilies and mostEvictions are how many kinds of new nodes, and how many nodes
	// for evictions, are tried.
	mostFamilies  = 8
	mostEvictions = 8
	// mostGuesses is how many of the latter are for plugins that do not say which pods are
	// in the way.
	mostGuesses = 2
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

	pool *pool
	// checks is how many are left.
	checks  int
	found   []offer
	leftOut []explain.Statement
	// helped are the plugins whose rejections an eviction or a new node cured.
	helped map[string]bool
}

// offer is a suggestion with the candidate that it came from. Its text comes last.
type offer struct {
	candidate
	Suggestion
}

func (s *search) fits() bool {
	return slices.ContainsFunc(s.obstacles, func(o []whatif.Obstacle) bool { return len(o) == 0 })
}

// run fills found, leftOut and helped.
func (s *search) run(ctx context.Context) error {
	s.helped = map[string]bool{}
	if s.rejectedOutright() {
		return nil
	}
	s.collect()
	if err := s.bySteps(ctx, ofNode); err != nil {
		return err
	}
	gentle := len(s.found) > 0
	if s.target == "" {
		if err := s.addNodes(ctx, gentle); err != nil {
			return err
		}
	}
	if !gentle {
		if err := s.evictions(ctx); err != nil {
			return err
		}
		if err := s.bySteps(ctx, drastic); err != nil {
			return err
		}
	}
	if len(s.found) == 0 && s.anyTooComplex() {
		s.omit(explain.CombinationsNotTried{Steps: maxSteps})
	}
	return nil
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
		if out[i] = cures(s.pod, node, o); len(out[i]) == 0 {
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
			if err := s.tryShape(ctx, candidates); err != nil {
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

// tryShape tries candidates of one shape until one is confirmed, which is offered.
func (s *search) tryShape(ctx context.Context, candidates []candidate) error {
	for i, c := range candidates[:min(len(candidates), mostTries)] {
		left, o, err := s.try(ctx, c)
		switch {
		case err != nil:
			return err
		case o != nil:
			return s.offer(ctx, *o, candidates[i+1:])
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
	if alternatives := s.alternatives(node, left); alternatives != nil {
		for _, next := range combinations(c, alternatives, maxSteps) {
			if len(next.remedies) > len(c.remedies) {
				s.pool.add(next)
			}
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

// try is check, and returns the suggestion if no obstacle is left.
func (s *search) try(ctx context.Context, c candidate) ([]whatif.Obstacle, *offer, error) {
	return s.ask(ctx, c, true)
}

func (s *search) ask(ctx context.Context, c candidate, suggest bool) ([]whatif.Obstacle, *offer, error) {
	s.checks--
	mark := s.trial.Mark()
	defer s.trial.Rollback(mark)
	w, pod, err := s.apply(c)
	if err != nil {
		return nil, nil, err
	}
	left, err := s.obstaclesOf(ctx, pod, c.node)
	if err != nil || len(left[0]) > 0 || !suggest {
		return left[0], nil, err
	}
	nodes, chosen, err := s.trial.Where(ctx, pod, s.profile)
	if err != nil {
		return nil, nil, err
	}
	if whatif.GroupName(pod) != "" {
		if chosen, _, err = s.withGroup(ctx, pod); err != nil || chosen == "" {
			return nil, nil, err
		}
		if !slices.Contains(nodes, chosen) {
			nodes = append(nodes, chosen) // beside another member
		}
	}
	slices.Sort(nodes)
	if ordered, err := s.order(ctx, c, mark, &w); err != nil || !ordered {
		return nil, nil, err
	}
	advice := explain.Advice{Steps: c.steps()}
	if w.manner != nil {
		advice.Manner = &explain.Statement{Operands: w.manner}
	}
	return nil, &offer{c, Suggestion{
		Kind: kindOf(c.disturbs()), Advice: advice, Changes: w.real, Hypothesis: w.hypothetical, Nodes: nodes, SelectedNode: chosen,
	}}, nil
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

// offer adds a suggestion. others are candidates of the same shape; those that change another node alike are named too.
func (s *search) offer(ctx context.Context, o offer, others []candidate) error {
	if err := s.nameOthers(ctx, o, others); err != nil {
		return err
	}
	o.Text = o.Advice.String()
	s.found = append(s.found, o)
	return nil
}

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
	for _, o := range s.found {
		out = append(out, o.Suggestion)
	}
	return out
}

// incurable returns the obstacles that nothing takes out of the way.
func (s *search) incurable() []Incurable {
	evictor := newEvictor(s.pod, s.all, s.budgets)
	byReason := map[[2]string]*Incurable{}
	for i, n := range s.nodes {
		for _, o := range s.obstacles[i] {
			if s.helped[o.Plugin] || len(cures(s.pod, n.Node(), o)) > 0 {
				continue
			}
			if victims, guessed := evictor.victims(n, []whatif.Obstacle{o}); len(victims) > 0 && !guessed {
				continue
			}
			for _, reason := range lasting(o) {
				key := [2]string{o.Plugin, reason}
				if byReason[key] == nil {
					byReason[key] = &Incurable{Plugin: o.Plugin, Reason: reason}
				}
				byReason[key].Nodes = append(byReason[key].Nodes, n.Node().Name)
			}
		}
	}
	var out []Incurable
	for _, i := range byReason {
		slices.Sort(i.Nodes)
		out = append(out, *i)
	}
	slices.SortFunc(out, func(a, b Incurable) int { return cmp.Or(cmp.Compare(len(b.Nodes), len(a.Nodes)), byName(a, b)) })
	return out
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
