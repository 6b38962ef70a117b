package upstream

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Normalizer does what a framework's NormalizeScores does, but reuses its memory. The framework
// allocates a list of all nodes for each plugin and a list of all plugins for each node, a third of
// what a cycle allocates. It follows NormalizeScores and normalizeScores. A Normalizer serves one
// goroutine.
type Normalizer struct {
	plugins []weightedPlugin
	lists   []fwk.NodeScoreList
	scores  []fwk.PluginScore
}

type weightedPlugin struct {
	fwk.ScorePlugin
	weight int64
}

func NewNormalizer(f framework.Framework, plugins map[string]fwk.Plugin) *Normalizer {
	n := &Normalizer{}
	for _, enabled := range f.ListPlugins().Score.Enabled {
		n.plugins = append(n.plugins, weightedPlugin{plugins[enabled.Name].(fwk.ScorePlugin), int64(enabled.Weight)})
	}
	n.lists = make([]fwk.NodeScoreList, len(n.plugins))
	return n
}

// Normalize fills the scores and the totals of rows from their raw scores, which are those of the
// plugins that are not skipped, in the framework's order. The next call overwrites the scores.
func (n *Normalizer) Normalize(ctx context.Context, state fwk.CycleState, pod *v1.Pod, rows []fwk.NodePluginScores) *fwk.Status {
	skipped := state.GetSkipScorePlugins()
	running := 0
	for i, plugin := range n.plugins {
		if skipped.Has(plugin.Name()) {
			continue
		}
		list := slices.Grow(n.lists[i][:0], len(rows))[:len(rows)]
		n.lists[i] = list
		for at := range rows {
			list[at] = fwk.NodeScore{Name: rows[at].Name, Score: rows[at].RawScores[running].Score}
		}
		running++
		if extensions := plugin.ScoreExtensions(); extensions != nil {
			if status := extensions.NormalizeScore(ctx, state, pod, list); !status.IsSuccess() {
				return fwk.AsStatus(fmt.Errorf("running Normalize on Score plugins: %w", fmt.Errorf("plugin %q failed with: %w", plugin.Name(), status.AsError())))
			}
		}
	}
	n.scores = slices.Grow(n.scores[:0], len(rows)*running)[:len(rows)*running]
	if err := n.weigh(skipped, rows, running); err != nil {
		return fwk.AsStatus(fmt.Errorf("applying score defaultWeights on Score plugins: %w", err))
	}
	return nil
}

func (n *Normalizer) weigh(skipped sets.Set[string], rows []fwk.NodePluginScores, running int) error {
	for at := range rows {
		rows[at].Scores, rows[at].TotalScore = n.scores[at*running:at*running:(at+1)*running], 0
	}
	for i, plugin := range n.plugins {
		if skipped.Has(plugin.Name()) {
			continue
		}
		name := plugin.Name()
		for at := range rows {
			score := n.lists[i][at].Score
			if score < fwk.MinScore || score > fwk.MaxScore {
				return fmt.Errorf("plugin %q returns an invalid score %v, it should in the range of [%v, %v] after normalizing", name, score, fwk.MinScore, fwk.MaxScore)
			}
			rows[at].Scores = append(rows[at].Scores, fwk.PluginScore{Name: name, Score: score * plugin.weight})
			rows[at].TotalScore += score * plugin.weight
		}
	}
	return nil
}
