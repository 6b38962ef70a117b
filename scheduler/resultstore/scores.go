package resultstore

import (
	"encoding/binary"
	"slices"

	"kube-scheduler-simulator/scheduler/result"
)

// scoreTable holds the columns of a score as plain lists. A mark replaces a column that follows
// from others: normalized usually equals raw, weighted is normalized × weight, counted is answered
// × weight, and totals are the sum of weighted and counted.
type scoreTable struct {
	plugins                   []result.ScorePlugin
	raw, normalized, weighted [][]int64
	extenders                 []result.ScoreExtender
	answered, counted         [][]int64
	totals                    []int64

	values, derived []int64
}

// from reads the columns of s. The next call overwrites the lists.
func (t *scoreTable) from(s *result.Score) {
	t.plugins, t.values = s.Plugins, t.values[:0]
	t.raw, t.normalized, t.weighted = t.lists(t.raw, s.Raw), t.lists(t.normalized, s.Normalized), t.lists(t.weighted, s.Weighted)
	t.extenders, t.answered, t.counted = s.Extenders, t.answered[:0], t.counted[:0]
	for _, e := range s.Extenders {
		t.answered, t.counted = append(t.answered, t.list(e.Answered)), append(t.counted, t.list(e.Counted))
	}
	t.totals = t.list(s.Totals)
}

func (t *scoreTable) lists(out [][]int64, columns []result.Column) [][]int64 {
	out = out[:0]
	for _, c := range columns {
		out = append(out, t.list(c))
	}
	return out
}

func (t *scoreTable) list(c result.Column) []int64 {
	from, n := len(t.values), c.Len()
	t.values = slices.Grow(t.values, n)[:from+n]
	values := t.values[from : from+n : from+n]
	for i := range values {
		values[i] = c.At(i)
	}
	return values
}

func (t *scoreTable) append(out []byte) []byte {
	for _, lists := range [][][]int64{t.raw, t.normalized, t.weighted} {
		out = binary.AppendUvarint(out, uint64(len(lists)))
	}
	for _, values := range t.raw {
		out = appendInts(out, values)
	}
	for p, values := range t.normalized {
		out = appendDerived(out, values, t.derivedNormalized(p))
	}
	for p, values := range t.weighted {
		out = appendDerived(out, values, t.derivedWeighted(p))
	}
	for e := range t.extenders {
		out = appendInts(out, t.answered[e])
		out = appendDerived(out, t.counted[e], t.derivedCounted(e))
	}
	return appendDerived(out, t.totals, t.derivedTotals())
}

// read reads the columns of s, whose heads are already set.
func (t *scoreTable) read(r *reader, s *result.Score) {
	t.plugins, t.extenders = s.Plugins, s.Extenders
	raw, normalized, weighted := r.count(1), r.count(1), r.count(1)
	for range raw {
		t.raw = append(t.raw, r.ints(nil))
	}
	for p := range normalized {
		t.normalized = append(t.normalized, r.ints(t.derivedNormalized(p)))
	}
	for p := range weighted {
		t.weighted = append(t.weighted, r.ints(t.derivedWeighted(p)))
	}
	for e := range t.extenders {
		t.answered = append(t.answered, r.ints(nil))
		t.counted = append(t.counted, r.ints(t.derivedCounted(e)))
	}
	t.totals = r.ints(t.derivedTotals())
}

func (t *scoreTable) to(s *result.Score) {
	s.Raw, s.Normalized, s.Weighted = columns(t.raw), columns(t.normalized), columns(t.weighted)
	for e := range s.Extenders {
		s.Extenders[e].Answered, s.Extenders[e].Counted = result.NewColumn(t.answered[e]), result.NewColumn(t.counted[e])
	}
	s.Totals = result.NewColumn(t.totals)
}

func columns(lists [][]int64) []result.Column {
	var out []result.Column
	for _, values := range lists {
		out = append(out, result.NewColumn(values))
	}
	return out
}

func (t *scoreTable) derivedNormalized(p int) []int64 {
	if p >= len(t.raw) {
		return nil
	}
	return t.raw[p]
}

func (t *scoreTable) derivedWeighted(p int) []int64 {
	if p >= len(t.normalized) || p >= len(t.plugins) {
		return nil
	}
	t.derived = t.derived[:0]
	for _, v := range t.normalized[p] {
		t.derived = append(t.derived, v*t.plugins[p].Weight)
	}
	return t.derived
}

func (t *scoreTable) derivedCounted(e int) []int64 {
	t.derived = t.derived[:0]
	for _, v := range t.answered[e] {
		t.derived = append(t.derived, v*t.extenders[e].Weight)
	}
	return t.derived
}

// derivedTotals returns nil when the columns differ in length.
func (t *scoreTable) derivedTotals() []int64 {
	if len(t.weighted) == 0 {
		return nil
	}
	t.derived = append(t.derived[:0], t.weighted[0]...)
	for _, more := range [][][]int64{t.weighted[1:], t.counted} {
		for _, values := range more {
			if len(values) != len(t.derived) {
				return nil
			}
			for i, v := range values {
				t.derived[i] += v
			}
		}
	}
	return t.derived
}
