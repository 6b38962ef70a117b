package explain

import (
	"slices"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// normalize follows the NormalizeScore of the plugins. facts are nil when they are not
// kept for the plugin.
func (w *work) normalize(s *result.Score, p, row int, facts *result.PluginScoreFacts) *int64 {
	raw := s.Raw[p].At(row)
	span := spanOf(s, p)
	out, known := int64(0), true
	switch s.Plugins[p].Normalization {
	case result.NotNormalized:
		out = raw
		w.say("normNone", "raw", whole(raw), "normalized", whole(out))
		return &out
	case result.HighestIs100:
		out = w.highest(raw, span)
	case result.LowestIs100:
		out = w.lowest(raw, span)
	case result.RangeTo100:
		out = w.overRange(raw, span)
	case result.SpreadTo100:
		out, known = w.spreadOver(s, p, row, facts)
	case result.OwnNormalization:
		w.say("normOwn", "raw", whole(raw), "normalized", whole(s.Normalized[p].At(row)))
		known = false
	default:
		return nil
	}
	if examples := examplesOf(s, p, row); examples != "" {
		w.say("normAll", "examples", examples)
	}
	if !known {
		return nil
	}
	return &out
}

// span has the lowest and the highest raw score of all nodes.
type span struct{ lowest, highest int64 }

func spanOf(s *result.Score, p int) span {
	out := span{s.Raw[p].At(0), s.Raw[p].At(0)}
	for i := range s.Nodes.Len() {
		out.lowest, out.highest = min(out.lowest, s.Raw[p].At(i)), max(out.highest, s.Raw[p].At(i))
	}
	return out
}

// highest follows DefaultNormalizeScore.
func (w *work) highest(raw int64, over span) int64 {
	if over.highest <= 0 {
		w.say("normHighestZero")
		return raw
	}
	out := maxScore * raw / over.highest
	w.say("normHighest", "raw", whole(raw), "highest", whole(over.highest), "normalized", whole(out))
	return out
}

// lowest follows DefaultNormalizeScore with reverse.
func (w *work) lowest(raw int64, over span) int64 {
	if over.highest <= 0 {
		w.say("normLowestZero")
		return maxScore
	}
	out := maxScore - maxScore*raw/over.highest
	w.say("normLowest", "raw", whole(raw), "highest", whole(over.highest), "normalized", whole(out))
	return out
}

// overRange follows InterPodAffinity.NormalizeScore, which computes with fractions.
func (w *work) overRange(raw int64, over span) int64 {
	if over.highest == over.lowest {
		w.say("normRangeSame", "raw", whole(raw))
		return 0
	}
	out := int64(float64(maxScore) * (float64(raw-over.lowest) / float64(over.highest-over.lowest)))
	w.say("normRange", "raw", operand(raw), "less", operand(over.lowest), "most", operand(over.highest), "lowest", whole(over.lowest), "highest", whole(over.highest), "normalized", whole(out))
	if exact := maxScore * (raw - over.lowest) / (over.highest - over.lowest); out < exact {
		w.say("normCutOff", "next", whole(exact))
	}
	return out
}

// spreadOver follows PodTopologySpread.NormalizeScore. It is not known whether a node
// without facts is ignored when others are.
func (w *work) spreadOver(s *result.Score, p, row int, facts *result.PluginScoreFacts) (normalized int64, known bool) {
	raw := s.Raw[p].At(row)
	if facts == nil || facts.Spread == nil || facts.Spread.Ignored != nil && w.at < 0 {
		w.say("normSpreadSome", "raw", whole(raw), "normalized", whole(s.Normalized[p].At(row)))
		return 0, false
	}
	over := facts.Spread
	switch {
	case over.Ignored != nil && over.Ignored[w.at]:
		w.say("normIgnored")
		return 0, true
	case over.Highest == 0:
		w.say("normSpreadZero")
		return maxScore, true
	}
	out := maxScore * (over.Highest + over.Lowest - raw) / over.Highest
	w.say("normSpread", "raw", whole(raw), "lowest", whole(over.Lowest), "highest", whole(over.Highest), "normalized", whole(out))
	return out, true
}

// mostExamples bounds the raw scores that examplesOf lists.
const mostExamples = 6

// examplesOf lists what becomes of the distinct raw scores, the lowest first. If there
// are many, it leaves out those in the middle except that of row. It is empty if all are
// the same.
func examplesOf(s *result.Score, p, row int) string {
	type example struct{ raw, normalized int64 }
	var all []example
	for i := range s.Nodes.Len() {
		all = append(all, example{s.Raw[p].At(i), s.Normalized[p].At(i)})
	}
	slices.SortFunc(all, func(a, b example) int {
		if a.raw != b.raw {
			return int(min(max(a.raw-b.raw, -1), 1))
		}
		return int(b.normalized - a.normalized)
	})
	all = slices.Compact(all)
	if len(all) < 2 {
		return ""
	}
	own := slices.Index(all, example{s.Raw[p].At(row), s.Normalized[p].At(row)})
	var out []string
	for i, e := range all {
		edge := i < mostExamples/2 || i >= len(all)-mostExamples/2
		if len(all) > mostExamples && !edge && i != own {
			if out[len(out)-1] != "…" {
				out = append(out, "…")
			}
			continue
		}
		out = append(out, sprintf("%s → %s", whole(e.raw), whole(e.normalized)))
	}
	return strings.Join(out, ", ")
}
