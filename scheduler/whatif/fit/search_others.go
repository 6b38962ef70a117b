package fit

import (
	"context"
	"errors"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
)

// addNodes offers the smallest new node that helps. If nothing else did, it may take a change of
// the pod as well.
func (s *search) addNodes(ctx context.Context, gentle bool) error {
	index := map[string]int{}
	for i, n := range s.nodes {
		index[n.Node().Name] = i
	}
	survey := newnode.NewSurvey(s.trial)
	brings := func(*v1.Node) string { return "" }
	if usesMore(s.obstacles) {
		brings = survey.Kind
	}
	all := families(s.pod, s.nodes, func(i int) (int, bool) { return shared(s.pod, s.nodes[i], s.obstacles[i]) }, brings)
	if gentle {
		all = slices.DeleteFunc(all, func(f *family) bool { return f.blocked > 0 })
	}
	if len(all) > mostFamilies {
		s.omit(explain.NewNodesNotTried{Kinds: len(all) - mostFamilies})
		all = all[:mostFamilies]
	}
	all = slices.DeleteFunc(all, func(f *family) bool { return !s.creatable(survey, f) })
	if len(all) == 0 || s.full() || s.checks <= 0 {
		return nil
	}
	var single, further []candidate
	left, err := s.checkFamilies(ctx, survey, all, index)
	if err != nil {
		return err
	}
	for i, f := range all {
		last, sample := f.like().Name, survey.Of(f.like())
		more := func() *newnode.Node {
			last = newnode.Name(last, func(n string) bool { _, taken := index[n]; return taken || survey.Leftover(n) })
			return sample.New(last)
		}
		added := more()
		c := candidate{added.Node.Name, []remedy{addNodes(f, more, added)}}
		if len(left[i]) == 0 {
			single = append(single, c)
		} else if alternatives := s.alternatives(added.Node, left[i]); alternatives != nil && !gentle {
			further = append(further, slices.DeleteFunc(combinations(c, alternatives, maxSteps), func(c candidate) bool {
				return c.disturbs() == drastic || slices.ContainsFunc(c.remedies, func(r remedy) bool { return r.node != nil })
			})...)
		}
	}
	slices.SortFunc(further, candidate.compare)
	// The families are in order.
	for _, c := range append(single, further[:min(len(further), mostTries)]...) {
		_, o, err := s.try(ctx, c)
		if err != nil {
			return err
		}
		if o != nil && o.left > 0 {
			at := slices.IndexFunc(c.remedies, func(r remedy) bool { return r.added != nil })
			c.remedies[at].scale.most = int64(1 + o.left) // One pod needs no more than one of them.
			enough, err := s.larger(ctx, c)
			if err != nil {
				return err
			}
			if enough != nil {
				o = enough
			}
		}
		if o != nil {
			says := c.remedies[slices.IndexFunc(c.remedies, func(r remedy) bool { return r.added != nil })].says.(explain.AddNode)
			s.cured(s.obstacles[index[says.Like]])
			return s.offer(ctx, *o, nil)
		}
	}
	s.noteUnknown(survey, all, left)
	return nil
}

// usesMore reports whether the pod is kept off a node by a plugin that reads what comes with nodes beside their own fields.
func usesMore(obstacles [][]whatif.Obstacle) bool {
	return slices.ContainsFunc(obstacles, func(all []whatif.Obstacle) bool {
		return slices.ContainsFunc(all, func(o whatif.Obstacle) bool {
			return o.Plugin == names.DynamicResources || o.Plugin == names.VolumeBinding || o.Plugin == names.NodeVolumeLimits
		})
	})
}

// noteUnknown says what new nodes may bring and the state does not tell, where that may be why none of them helps. What a plugin
// rejects for it is then no lasting obstacle.
func (s *search) noteUnknown(survey *newnode.Survey, all []*family, left [][]whatif.Obstacle) {
	for i, f := range all {
		rejects := func(plugin string) bool {
			return slices.ContainsFunc(left[i], func(o whatif.Obstacle) bool { return o.Plugin == plugin })
		}
		for _, u := range survey.Of(f.like()).Unknown(s.pod) {
			if u.Plugin != "" && rejects(u.Plugin) {
				s.omit(u.Says)
				s.helped[u.Plugin] = true
			}
		}
	}
}

// cured notes the plugins whose rejections a new node, or an eviction, took out of the way.
func (s *search) cured(obstacles []whatif.Obstacle) {
	for _, o := range obstacles {
		if known[o.Plugin].cures == nil && !known[o.Plugin].place {
			s.helped[o.Plugin] = true
		}
	}
}

// creatable reports whether an API server would take one more node of the family: a file may hold nodes that none has stored.
func (s *search) creatable(survey *newnode.Survey, f *family) bool {
	mark := s.trial.Mark()
	defer s.trial.Rollback(mark)
	err := s.trial.AddNode(survey.Of(f.like()).New(newnode.Name(f.like().Name, survey.Leftover)))
	return !errors.As(err, new(*whatif.InvalidError))
}

// checkFamilies returns the obstacles on a new node of each family, with all that it brings. It adds all of
// them at once. taken has the names of all nodes.
func (s *search) checkFamilies(ctx context.Context, survey *newnode.Survey, all []*family, taken map[string]int) ([][]whatif.Obstacle, error) {
	mark := s.trial.Mark()
	defer s.trial.Rollback(mark)
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = newnode.Name(f.like().Name, func(n string) bool {
			_, exists := taken[n]
			return exists || slices.Contains(names, n) || survey.Leftover(n)
		})
		if err := s.trial.AddNode(survey.Of(f.like()).New(names[i])); err != nil {
			return nil, err
		}
	}
	s.checks--
	return s.obstaclesOf(ctx, s.pod, names...)
}

// shared counts the obstacles that a new node like this one would have too. It reports false if no change of the pod
// cures one of them.
func shared(pod *v1.Pod, node fwk.NodeInfo, obstacles []whatif.Obstacle) (n int, curable bool) {
	for _, o := range obstacles {
		k, isKnown := known[o.Plugin]
		switch {
		case o.Plugin == names.NodeUnschedulable:
			continue
		case o.Plugin == names.TaintToleration:
			if !slices.ContainsFunc(untolerated(pod, node.Node()), func(t v1.Taint) bool { return !newnode.OfState(t) }) {
				continue
			}
		case o.Plugin == names.NodeResourcesFit:
			if o.Comparison == nil || !slices.ContainsFunc(o.Comparison.Resources, tooLarge) {
				continue
			}
		case k.pods, k.brought:
			continue // A node without pods, or with what is used up here, or another domain, may be without them.
		}
		n++
		if isKnown && !slices.ContainsFunc(cures(pod, node.Node(), o), func(c cure) bool { return candidate{remedies: c}.disturbs() != ofNode }) {
			return n, false
		}
	}
	return n, true
}

// evictor spares the pod's siblings: the pod that a controller makes in place of one would wait instead.
func (s *search) evictor(nodes []fwk.NodeInfo) *evictor {
	out := newEvictor(s.pod, nodes, s.budgets)
	out.spared = s.sibling
	return out
}

// evictions offers the eviction that disturbs the least.
func (s *search) evictions(ctx context.Context) error {
	evictor := s.evictor(s.all)
	var certain, guessed []candidate
	consider := func(i int, obstacles []whatif.Obstacle, c candidate) {
		c, guess := s.eviction(evictor, s.nodes[i], obstacles, c)
		switch {
		case len(c.remedies) == 0 || len(c.remedies) > maxSteps:
		case guess:
			guessed = append(guessed, c)
		default:
			certain = append(certain, c)
		}
	}
	for i, n := range s.nodes {
		consider(i, s.obstacles[i], candidate{node: n.Node().Name})
		for _, h := range s.halves {
			if h.node == n.Node().Name {
				consider(i, h.left, h.candidate)
			}
		}
	}
	slices.SortFunc(certain, candidate.compare)
	slices.SortFunc(guessed, candidate.compare)
	tries := append(certain[:min(len(certain), mostEvictions)], guessed[:min(len(guessed), mostGuesses)]...)
	var best *offer
	for i, c := range tries {
		if s.full() || s.checks <= 0 {
			s.omit(explain.EvictionsNotTried{Nodes: len(certain) + len(guessed) - i})
			break
		}
		confirmed, err := s.confirmEviction(ctx, c)
		if err != nil {
			return err
		}
		if confirmed == nil {
			continue
		}
		at := slices.IndexFunc(s.nodes, func(n fwk.NodeInfo) bool { return n.Node().Name == c.node })
		s.cured(s.obstacles[at])
		if best == nil || confirmed.compare(best.candidate) < 0 {
			best = confirmed
		}
		// Of a guess only a part may have to go.
		fewest := 1
		if i+1 < min(len(certain), mostEvictions) {
			fewest = count(tries[i+1])
		}
		if count(best.candidate) <= fewest && best.pushed() == 0 {
			break
		}
	}
	if best != nil {
		return s.offer(ctx, *best, nil)
	}
	if left := len(certain) + len(guessed) - len(tries); left > 0 {
		s.omit(explain.EvictionsNotTried{Nodes: left})
	}
	return nil
}

// eviction adds to a candidate the eviction of the pods that are in the way on a node, and the cheapest cures
// for what no pod is to blame for. Without remedies, the candidate is none.
func (s *search) eviction(e *evictor, n fwk.NodeInfo, obstacles []whatif.Obstacle, c candidate) (candidate, bool) {
	var blamed []whatif.Obstacle
	for _, o := range obstacles {
		if blames(o) {
			blamed = append(blamed, o)
			continue
		}
		alternatives := cures(s.pod, n.Node(), o)
		if len(alternatives) == 0 {
			return candidate{}, false
		}
		c = c.with(slices.MinFunc(alternatives, func(a, b cure) int { return candidate{remedies: a}.compare(candidate{remedies: b}) })...)
	}
	if len(blamed) == 0 {
		return candidate{}, false
	}
	victims, guessed := e.victims(n, blamed)
	if len(victims) == 0 {
		return candidate{}, false
	}
	i := slices.IndexFunc(c.remedies, func(r remedy) bool { return r.victims != nil })
	if i < 0 {
		return c.with(s.evicting(n.Node().Name, victims)), guessed
	}
	all := union(slices.Clone(c.remedies[i].victims), victims)
	slices.SortFunc(all, byPriority)
	c.remedies = slices.Clone(c.remedies)
	c.remedies[i] = s.evicting(n.Node().Name, all)
	return c, guessed
}

// evicting is evict, with the size of the victims.
func (s *search) evicting(node string, victims []*v1.Pod) remedy {
	r := evict(node, victims)
	for _, n := range s.all {
		for _, p := range victims {
			if p.Spec.NodeName == n.Node().Name {
				r.size += sizeOn(n, p)
			}
		}
	}
	return r
}

// confirmEviction returns the suggestion with the pods that really must go, or nil if evicting them does not
// help.
func (s *search) confirmEviction(ctx context.Context, c candidate) (*offer, error) {
	for {
		left, more, err := s.checkEviction(ctx, c)
		if err != nil {
			return nil, err
		}
		if len(left) == 0 {
			break
		}
		if more == nil || s.checks <= 0 {
			return nil, nil
		}
		c = *more
	}
	spared, err := s.reprieve(ctx, c)
	if err != nil {
		return nil, err
	}
	if c, err = s.fewer(ctx, c, spared); err != nil {
		return nil, err
	}
	_, o, err := s.try(ctx, c)
	return o, err
}

// checkEviction returns the obstacles that a candidate leaves, and the candidate with the pods that are
// then in the way; nil if there are no further ones.
func (s *search) checkEviction(ctx context.Context, c candidate) ([]whatif.Obstacle, *candidate, error) {
	s.checks--
	mark := s.trial.Mark()
	defer s.trial.Rollback(mark)
	_, pod, err := s.apply(c)
	if err != nil {
		return nil, nil, err
	}
	left, err := s.obstaclesOf(ctx, pod, c.node)
	if err != nil || len(left[0]) == 0 {
		return nil, nil, err
	}
	evictor := s.evictor(s.trial.Nodes())
	for _, r := range c.remedies {
		evictor.gone = append(evictor.gone, r.victims...)
	}
	at := slices.IndexFunc(evictor.nodes, func(n fwk.NodeInfo) bool { return n.Node().Name == c.node })
	more, _ := s.eviction(evictor, evictor.nodes[at], left[0], c)
	if before, _, _ := c.victims(); len(more.remedies) == 0 || len(more.remedies) > maxSteps || count(more) <= before {
		return left[0], nil, nil
	}
	return left[0], &more, nil
}

func count(c candidate) int {
	n, _, _ := c.victims()
	return n
}

// reprieve spares the pods that need not go, the most important first.
func (s *search) reprieve(ctx context.Context, c candidate) (candidate, error) {
	i := slices.IndexFunc(c.remedies, func(r remedy) bool { return r.victims != nil })
	victims := slices.Clone(c.remedies[i].victims)
	for _, p := range slices.Backward(slices.Clone(victims)) {
		if len(victims) == 1 || s.checks <= 0 {
			break
		}
		fewer := slices.DeleteFunc(slices.Clone(victims), func(v *v1.Pod) bool { return v.UID == p.UID })
		without := candidate{c.node, slices.Clone(c.remedies)}
		without.remedies[i] = s.evicting(c.node, fewer)
		left, err := s.check(ctx, without)
		if err == nil && len(left) > 0 {
			// Devices, and the pods of other domains, may make room elsewhere.
			if without.node, err = s.anywhere(ctx, without); without.node != "" {
				without.remedies[i], left = s.evicting(without.node, fewer), nil
			}
		}
		if err != nil {
			return c, err
		}
		if len(left) == 0 {
			victims, c = fewer, without
		}
	}
	return c, nil
}

// mostChosen is of how many victims single ones and pairs are tried.
const mostChosen = 8

// fewer returns a candidate with one victim, or two, of those of all, if that does; otherwise the one whose victims were spared one by one, which
// may leave several small ones where a large one would do.
func (s *search) fewer(ctx context.Context, all, spared candidate) (candidate, error) {
	i := slices.IndexFunc(all.remedies, func(r remedy) bool { return r.victims != nil })
	victims := all.remedies[i].victims
	if len(victims) > mostChosen {
		return spared, nil
	}
	var sets [][]*v1.Pod
	for _, p := range victims {
		sets = append(sets, []*v1.Pod{p})
	}
	for j, p := range victims {
		for _, q := range victims[j+1:] {
			sets = append(sets, []*v1.Pod{p, q})
		}
	}
	for _, set := range sets {
		if len(set) >= count(spared) || s.checks <= 0 {
			break
		}
		c := candidate{all.node, slices.Clone(all.remedies)}
		c.remedies[i] = s.evicting(c.node, set)
		on, err := s.anywhere(ctx, c)
		if err != nil {
			return spared, err
		}
		if on != "" {
			c.node, c.remedies[i] = on, s.evicting(on, set)
			return c, nil
		}
	}
	return spared, nil
}

// tooLarge reports whether the pod asks for more than an empty node like this one has.
func tooLarge(r result.ResourceComparison) bool { return r.Requested > r.Allocatable }
