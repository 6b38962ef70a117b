package recorder

import (
	"slices"

	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// scores is a copy of the framework's answer without pointers. The scheduler later changes the
// answer, and a pod that waits for a permit would keep all of it in memory.
type scores struct {
	plugins []string
	// nodes has each row's node. If the node table lacks some, names has the names of all, and
	// nodes is meaningless.
	nodes []int32
	names []string
	// values has the columns of raw scores by plugin, those of weighted scores by plugin, and the
	// totals.
	values []int64
	// given are the nodes that the plugins got, by row. After an extender without a node cache the
	// scheduler makes them from the extender's answer, without pods and images.
	given     []fwk.NodeInfo
	extenders []extenderScores
	facts     *result.ScoreFacts
}

func (s *scores) column(i int) []int64 { return s.values[i*len(s.nodes) : (i+1)*len(s.nodes)] }

// raw, weighted and totals number the columns.
func (s *scores) raw(plugin int) int      { return plugin }
func (s *scores) weighted(plugin int) int { return len(s.plugins) + plugin }
func (s *scores) totals() int             { return 2 * len(s.plugins) }

// noteScores copies the framework's answer for nodes. It runs right after the plugins have written
// it, while it is in the processor's cache.
func (c *cycle) noteScores(nodes []fwk.NodeInfo, answer []fwk.NodePluginScores) {
	s := c.recorder.takeScores()
	s.given = nodes
	n := len(answer)
	s.nodes = slices.Grow(s.nodes, n)[:n]
	c.place(s, answer)
	if n > 0 {
		for _, score := range answer[0].Scores {
			s.plugins = append(s.plugins, score.Name)
		}
	}
	p := len(s.plugins)
	s.values = slices.Grow(s.values, (2*p+1)*n)[:(2*p+1)*n]
	for i := range answer {
		row := &answer[i]
		raw, weighted := row.RawScores[:p], row.Scores[:p]
		for plugin := range p {
			s.values[plugin*n+i] = raw[plugin].Score
			s.values[(p+plugin)*n+i] = weighted[plugin].Score
		}
		s.values[2*p*n+i] = row.TotalScore
	}
	c.scores = s
}

// place finds the nodes of the rows. They are usually those that consider saw last, in
// the same order.
func (c *cycle) place(s *scores, answer []fwk.NodePluginScores) {
	last := c.verdicts.last
	for i := range answer {
		name := answer[i].Name
		if i < len(last) && c.nodes.names[last[i]] == name {
			s.nodes[i] = last[i]
			continue
		}
		at, ok := c.nodes.index[name]
		if !ok {
			s.names = rowNames(answer)
			return
		}
		s.nodes[i] = at
		c.verdicts.of[at] = considered
	}
}

func rowNames(answer []fwk.NodePluginScores) []string {
	names := make([]string, len(answer))
	for i := range answer {
		names[i] = answer[i].Name
	}
	return names
}

// scratch is memory that build reuses.
type scratch struct {
	column []int64
	// rank is the position of each feasible node in the tables, by the node's index.
	rank     []int32
	rejected []int32
}

// buildScore turns the copy into its final form. feasible are the nodes in the order of
// scratch.rank.
func (c *cycle) buildScore(feasible result.NodeList) *result.Score {
	s := c.scores
	if s == nil {
		return nil
	}
	b := scoreBuilder{scores: s, scratch: &c.recorder.scratch}
	out := &result.Score{Nodes: b.order(c.nodes, feasible)}
	calls := make([]int, len(s.plugins))
	for p, name := range s.plugins {
		calls[p] = len(s.nodes)
		weight := c.profile.weights[name]
		out.Plugins = append(out.Plugins, result.ScorePlugin{Name: name, Weight: weight, Normalization: c.profile.scorer(name).rule()})
		out.Raw = append(out.Raw, result.NewColumn(b.sorted(s.raw(p))))
		column := b.sorted(s.weighted(p))
		weighted := result.NewColumn(column)
		out.Weighted = append(out.Weighted, weighted)
		if weight == 1 {
			out.Normalized = append(out.Normalized, weighted) // the same values, so share the column
			continue
		}
		for i := range column {
			column[i] /= weight
		}
		out.Normalized = append(out.Normalized, result.NewColumn(column))
	}
	for _, name := range c.profile.scorePlugins {
		if c.skipScore.Has(name) {
			out.Skipped = append(out.Skipped, name)
		}
	}
	totals := b.sorted(s.totals())
	s.addExtenders(out, totals)
	out.Totals = result.NewColumn(totals)
	out.Facts = s.facts
	out.DurationSeconds = c.sampledScore.extrapolate(s.plugins, calls)
	return out
}

type scoreBuilder struct {
	*scores
	*scratch
	inOrder bool
}

// order returns the nodes of the sorted columns: feasible itself, which Filter's table shares,
// unless extenders rejected some.
func (b *scoreBuilder) order(all *nodeTable, feasible result.NodeList) result.NodeList {
	n := len(b.nodes)
	b.scratch.column = slices.Grow(b.scratch.column[:0], n)[:n]
	b.inOrder = b.names != nil || feasible.Len() != n
	switch {
	case b.names != nil:
		return result.NewNodeList(b.names...)
	case !b.inOrder:
		return feasible
	}
	for row, at := range b.nodes {
		b.scratch.column[row] = int64(at)
	}
	return all.nodeList(b.scratch.column)
}

func (b *scoreBuilder) sorted(i int) []int64 {
	out := b.scratch.column
	for row, value := range b.scores.column(i) {
		if !b.inOrder {
			row = int(b.rank[b.nodes[row]])
		}
		out[row] = value
	}
	return out
}

func (r *Recorder) takeScores() *scores {
	if s, ok := r.scores.Get().(*scores); ok {
		return s
	}
	return &scores{}
}

func (r *Recorder) returnScores(s *scores) {
	if s == nil {
		return
	}
	clear(s.plugins)
	*s = scores{plugins: s.plugins[:0], nodes: s.nodes[:0], values: s.values[:0]}
	r.scores.Put(s)
}
