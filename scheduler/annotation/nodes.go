package annotation

import (
	"strconv"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// nodes writes the maps by node: all nodes if they fit, otherwise the most important ones.
func (r *renderer) nodes(c *result.Cycle) {
	r.left -= 3*len(Prefix) + len(filterResult) + len(scoreResult) + len(finalScore) + len("{}{}{}")
	rows := rowsOf(c)
	all := len(rows)
	t, fits := newTables(c), false
	if t.least(rows) <= r.left {
		sortRows(rows)
		fits = t.render(rows, r.left) == all
	}
	if !fits {
		t.reset()
		r.cut.Nodes = all - t.render(essentials(rows), r.left)
	}
	r.left -= t.used
	r.out[Prefix+filterResult] = t.filter.String()
	r.out[Prefix+scoreResult] = t.score.String()
	r.out[Prefix+finalScore] = t.final.String()
}

type tables struct {
	cycle *result.Cycle
	// filters are the nodes' objects of filter-result, by verdict.
	filters map[uint16][]byte
	// plugins are the quoted names in a node's object of score-result, with what surrounds them.
	plugins [][]byte

	filter, score, final table
	used                 int
}

func newTables(c *result.Cycle) *tables {
	t := &tables{cycle: c, filters: map[uint16][]byte{}}
	if c.Score == nil {
		return t
	}
	for p, plugin := range c.Score.Plugins {
		start := []byte(`",`) // the end of the value before
		if p == 0 {
			start = []byte("{")
		}
		t.plugins = append(t.plugins, append(appendQuoted(start, plugin.Name), `:"`...))
	}
	return t
}

func (t *tables) reset() { t.filter, t.score, t.final, t.used = nil, nil, nil, 0 }

// least returns how many bytes the rows take at least: values have a digit.
func (t *tables) least(rows []row) int {
	object := 0
	for _, plugin := range t.plugins {
		object += len(plugin) + 1
	}
	size := 0
	for _, row := range rows {
		const name = len(`"":,`)
		if row.inFilter >= 0 {
			size += name + len(row.node) + len(t.verdict(row))
		}
		if row.inScore >= 0 {
			size += 2 * (name + len(row.node) + object)
		}
	}
	return size
}

// render renders rows until one does not fit into left bytes, and returns how many.
func (t *tables) render(rows []row, left int) int {
	for i, row := range rows {
		filter, score, final := t.filter, t.score, t.final
		if row.inFilter >= 0 {
			t.filter = append(t.filter.member(row.node), t.verdict(row)...)
		}
		if row.inScore >= 0 {
			t.score = t.scores(t.score.member(row.node), t.cycle.Score.Raw, row.inScore)
			t.final = t.scores(t.final.member(row.node), t.cycle.Score.Weighted, row.inScore)
		}
		used := t.filter.size() + t.score.size() + t.final.size()
		if used > left {
			t.filter, t.score, t.final = filter, score, final
			return i
		}
		t.used = used
	}
	return len(rows)
}

// verdict returns a node's object of filter-result: the plugins that ran, up to the one
// that rejected it.
func (t *tables) verdict(r row) []byte {
	f := t.cycle.Filter
	at := f.VerdictOf[r.inFilter]
	if made, ok := t.filters[at]; ok {
		return made
	}
	v := f.Verdicts[at]
	var w objectWriter
	for p, plugin := range f.Plugins {
		switch v.States[p] {
		case result.Passed:
			w.add(plugin, []byte(`"passed"`))
		case result.Rejected, result.Failed:
			w.add(plugin, mustJSON(strings.Join(v.Reasons, ", ")))
		}
	}
	t.filters[at] = []byte(w.String())
	return t.filters[at]
}

func (t *tables) scores(out table, values []result.Column, node int) table {
	if len(t.plugins) == 0 {
		return append(out, "{}"...)
	}
	for p, plugin := range t.plugins {
		out = strconv.AppendInt(append(out, plugin...), values[p].At(node), 10)
	}
	return append(out, `"}`...)
}

// table is a JSON object without its braces.
type table []byte

func (t table) member(name string) table {
	if len(t) > 0 {
		t = append(t, ',')
	}
	return append(appendQuoted(t, name), ':')
}

// size counts a comma after each member.
func (t table) size() int {
	if len(t) == 0 {
		return 0
	}
	return len(t) + 1
}

func (t table) String() string { return "{" + string(t) + "}" }
