package recorder

import (
	"iter"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// Scorer knows the inputs of one Score plugin.
type Scorer interface {
	Normalization() result.Normalization
	// Facts returns the inputs of the scores of some nodes, or nil when it cannot determine them.
	// It is called on the scheduling goroutine after the cycle has scored, with the cycle's state,
	// so it must be cheap. It reads what the plugin reads and changes nothing. The recorder sets
	// the result's Plugin.
	Facts(state fwk.CycleState, pod *v1.Pod, scored Scored) *result.PluginScoreFacts
}

type Scored struct {
	Nodes []fwk.NodeInfo
	// All yields the name and the raw score of every scored node, and Count is their
	// number.
	All   iter.Seq2[string, int64]
	Count int
}

type scorer struct {
	// Scorer is nil for a plugin whose inputs are unknown.
	Scorer
	plugin     string
	normalizes bool
}

// scorer returns the zero value for a plugin that was not built.
func (p *profile) scorer(plugin string) scorer {
	for _, s := range p.scorers {
		if s.plugin == plugin {
			return s
		}
	}
	return scorer{}
}

// rule is empty for the zero value.
func (s scorer) rule() result.Normalization {
	switch {
	case s.plugin == "":
		return ""
	case s.Scorer != nil:
		return s.Normalization()
	case s.normalizes:
		return result.OwnNormalization
	}
	return result.NotNormalized
}

func (b *base) newScorer(score fwk.ScorePlugin) scorer {
	return scorer{
		Scorer: b.recorder.plugins.Scorer(b.Name(), b.args, b.handle),
		plugin: b.Name(), normalizes: score.ScoreExtensions() != nil,
	}
}

// noteScoreFacts keeps the inputs of the scores of the selected node and of those with the best
// totals. It runs on the scheduling goroutine at the end of SchedulePod, while the snapshot is
// still that of the search.
func (c *cycle) noteScoreFacts() {
	s := c.scores
	if s == nil || s.names != nil || len(s.nodes) == 0 || len(s.given) != len(s.nodes) {
		return
	}
	defer func() { s.given = nil }()
	selected, ok := c.nodes.index[c.selected]
	if !ok {
		selected = -1
	}
	rows := c.recorder.bestRows(s, c.nodes.names, selected)
	scored := Scored{Count: len(s.nodes), Nodes: c.recorder.factScratch.nodes[:0]}
	fromExtender := false
	for _, row := range rows {
		scored.Nodes = append(scored.Nodes, s.given[row])
		fromExtender = fromExtender || s.given[row] != c.nodes.list[s.nodes[row]]
	}
	defer func() {
		clear(scored.Nodes)
		c.recorder.factScratch.nodes = scored.Nodes
	}()
	var plugins []result.PluginScoreFacts
	for p, name := range s.plugins {
		known := c.profile.scorer(name)
		if known.Scorer == nil {
			continue
		}
		scored.All = func(yield func(string, int64) bool) {
			for row, raw := range s.column(s.raw(p)) {
				if !yield(c.nodes.names[s.nodes[row]], raw) {
					return
				}
			}
		}
		if facts := known.Facts(c.state, c.object, scored); facts != nil {
			facts.Plugin = name
			if plugins == nil {
				plugins = make([]result.PluginScoreFacts, 0, len(s.plugins))
			}
			plugins = append(plugins, *facts)
		}
	}
	if plugins == nil {
		return
	}
	s.facts = &result.ScoreFacts{Plugins: plugins, Nodes: make([]string, len(rows)), FromExtender: fromExtender}
	for i, row := range rows {
		s.facts.Nodes[i] = c.nodes.names[s.nodes[row]]
	}
}

// factScratch is memory that noteScoreFacts reuses.
type factScratch struct {
	rows  []int
	nodes []fwk.NodeInfo
}

// bestRows returns at most MaxScoreFacts rows, the best total first, and among equals the selected
// node first. The next call overwrites the list.
func (r *Recorder) bestRows(s *scores, names []string, selected int32) []int {
	totals := s.withExtenders(names)
	before := func(a, b int) bool {
		return totals[a] > totals[b] || totals[a] == totals[b] && s.nodes[a] == selected
	}
	best := r.factScratch.rows[:0]
	for row := range totals {
		if len(best) == result.MaxScoreFacts {
			// Most rows are no better than the worst that is kept.
			if !before(row, best[len(best)-1]) {
				continue
			}
			best = best[:len(best)-1]
		}
		at := len(best)
		for at > 0 && before(row, best[at-1]) {
			at--
		}
		best = slices.Insert(best, at, row)
	}
	r.factScratch.rows = best
	return best
}

func (s *scores) withExtenders(names []string) []int64 {
	totals := s.column(s.totals())
	if len(s.extenders) == 0 {
		return totals
	}
	totals = slices.Clone(totals)
	for _, e := range s.extenders {
		for row, node := range s.nodes {
			totals[row] += e.answers[names[node]] * e.weight
		}
	}
	return totals
}
