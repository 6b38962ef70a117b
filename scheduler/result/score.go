package result

import (
	"encoding/json"
	"fmt"
	"slices"
)

// ScorePlugin is one column of the Score table.
type ScorePlugin struct {
	Name string `json:"name"`
	// Weight is the profile's; for an extender it is the configured weight
	// times the scale that the scheduler applies.
	Weight int64 `json:"weight"`
	// Extender marks the column of a scheduler extender. It has no separate
	// normalized score: raw is as the extender answered, weighted as it counted.
	Extender bool `json:"extender,omitempty"`
}

// Column holds one value per node. A column in which every value is the same
// holds that value once.
type Column struct {
	n      int
	values []int64
}

// NewColumn takes ownership of values.
func NewColumn(values []int64) Column {
	for _, v := range values {
		if v != values[0] {
			return Column{n: len(values), values: values}
		}
	}
	return Column{n: len(values), values: append([]int64(nil), values[:min(1, len(values))]...)}
}

// At returns the value of node i.
func (c Column) At(i int) int64 {
	if len(c.values) == 1 {
		return c.values[0]
	}
	return c.values[i]
}

// Len returns the number of nodes.
func (c Column) Len() int { return c.n }

// Score holds the scores of the feasible nodes. It is absent when one node
// was feasible, because the scheduler then does not score.
type Score struct {
	// Plugins that scored, in the order in which they ran.
	Plugins []ScorePlugin
	// Skipped plugins had said in PreScore that they have nothing to do. Their
	// score is absent, not 0.
	Skipped []string
	// Nodes are the feasible nodes, in no particular order.
	Nodes []string
	// Raw, Normalized and Weighted have one column per plugin. Weighted is
	// Normalized × weight. Where a plugin does not normalize, Normalized is Raw.
	Raw, Normalized, Weighted []Column
	// Totals per node: what the scheduler compared.
	Totals Column
	// Tied nodes share the best total, by name; nil when one is alone at the top.
	Tied []string
	// DurationSeconds is, per plugin, the time that its Score calls took
	// together, extrapolated from a sample of the nodes.
	DurationSeconds []float64
}

func (s *Score) size() int {
	const perValue, perNode = 8, 16
	values := len(s.Totals.values)
	for p := range s.Plugins {
		values += len(s.Raw[p].values) + len(s.Normalized[p].values) + len(s.Weighted[p].values)
	}
	return values*perValue + len(s.Nodes)*perNode
}

// scoreJSON is the public form of Score: a row per node.
type scoreJSON struct {
	Plugins         []ScorePlugin `json:"plugins"`
	Skipped         []string      `json:"skipped,omitempty"`
	Nodes           []string      `json:"nodes"`
	Raw             [][]int64     `json:"raw"`
	Normalized      [][]int64     `json:"normalized"`
	Weighted        [][]int64     `json:"weighted"`
	Totals          []int64       `json:"totals"`
	Tied            []string      `json:"tied,omitempty"`
	DurationSeconds []float64     `json:"durationSeconds,omitempty"`
}

// MarshalJSON writes the public form, nodes by name.
func (s *Score) MarshalJSON() ([]byte, error) {
	order := sortedIndex(s.Nodes)
	out := scoreJSON{
		Plugins: s.Plugins, Skipped: s.Skipped, Tied: s.Tied, DurationSeconds: s.DurationSeconds,
		Nodes:      make([]string, 0, len(order)),
		Raw:        make([][]int64, 0, len(order)),
		Normalized: make([][]int64, 0, len(order)),
		Weighted:   make([][]int64, 0, len(order)),
		Totals:     make([]int64, 0, len(order)),
	}
	if out.Plugins == nil {
		out.Plugins = []ScorePlugin{}
	}
	for _, i := range order {
		out.Nodes = append(out.Nodes, s.Nodes[i])
		out.Raw = append(out.Raw, row(s.Raw, i))
		out.Normalized = append(out.Normalized, row(s.Normalized, i))
		out.Weighted = append(out.Weighted, row(s.Weighted, i))
		out.Totals = append(out.Totals, s.Totals.At(i))
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads the public form.
func (s *Score) UnmarshalJSON(data []byte) error {
	var in scoreJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	n, p := len(in.Nodes), len(in.Plugins)
	if len(in.Totals) != n {
		return fmt.Errorf("score has %d nodes and %d totals", n, len(in.Totals))
	}
	out := Score{Plugins: in.Plugins, Skipped: in.Skipped, Nodes: in.Nodes, Totals: NewColumn(in.Totals), Tied: in.Tied, DurationSeconds: in.DurationSeconds}
	for _, m := range []struct {
		name string
		rows [][]int64
		to   *[]Column
	}{{"raw", in.Raw, &out.Raw}, {"normalized", in.Normalized, &out.Normalized}, {"weighted", in.Weighted, &out.Weighted}} {
		columns, err := columns(m.rows, n, p)
		if err != nil {
			return fmt.Errorf("score %s: %w", m.name, err)
		}
		*m.to = columns
	}
	*s = out
	return nil
}

func row(columns []Column, i int) []int64 {
	out := make([]int64, len(columns))
	for p, c := range columns {
		out[p] = c.At(i)
	}
	return out
}

func columns(rows [][]int64, nodes, plugins int) ([]Column, error) {
	if len(rows) != nodes {
		return nil, fmt.Errorf("%d rows for %d nodes", len(rows), nodes)
	}
	out := make([]Column, plugins)
	for p := range out {
		values := make([]int64, nodes)
		for i, r := range rows {
			if len(r) != plugins {
				return nil, fmt.Errorf("row %d has %d values for %d plugins", i, len(r), plugins)
			}
			values[i] = r[p]
		}
		out[p] = NewColumn(values)
	}
	return out, nil
}

// FindTied sets Tied from Nodes and Totals.
func (s *Score) FindTied() {
	s.Tied = nil
	if len(s.Nodes) == 0 {
		return
	}
	best := s.Totals.At(0)
	for i := range s.Nodes {
		best = max(best, s.Totals.At(i))
	}
	for i, node := range s.Nodes {
		if s.Totals.At(i) == best {
			s.Tied = append(s.Tied, node)
		}
	}
	if len(s.Tied) == 1 {
		s.Tied = nil
	}
	slices.Sort(s.Tied)
}
