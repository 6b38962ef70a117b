package result

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// ScorePlugin is one column of the Score table.
type ScorePlugin struct {
	Name   string `json:"name"`
	Weight int64  `json:"weight"`
	// Normalization is empty in records of earlier versions.
	Normalization Normalization `json:"normalization,omitempty"`
}

// Column holds one value per node in as few bytes as the values need: none when
// they are all the same, and usually one each.
type Column struct {
	n     int
	first int64
	// width is the bytes per value in data; 0 when all are first.
	width int
	data  []byte
}

// NewColumn copies values.
func NewColumn(values []int64) Column {
	c := Column{n: len(values)}
	if len(values) == 0 {
		return c
	}
	c.first = values[0]
	lowest, highest := c.first, c.first
	for _, v := range values {
		lowest, highest = min(lowest, v), max(highest, v)
	}
	switch {
	case lowest == highest:
		return c
	case lowest >= math.MinInt8 && highest <= math.MaxInt8:
		c.width = 1
	case lowest >= math.MinInt16 && highest <= math.MaxInt16:
		c.width = 2
	case lowest >= math.MinInt32 && highest <= math.MaxInt32:
		c.width = 4
	default:
		c.width = 8
	}
	c.data = make([]byte, c.width*len(values))
	switch c.width {
	case 1:
		for i, v := range values {
			c.data[i] = byte(v)
		}
	case 2:
		for i, v := range values {
			binary.LittleEndian.PutUint16(c.data[2*i:], uint16(v))
		}
	case 4:
		for i, v := range values {
			binary.LittleEndian.PutUint32(c.data[4*i:], uint32(v))
		}
	default:
		for i, v := range values {
			binary.LittleEndian.PutUint64(c.data[8*i:], uint64(v))
		}
	}
	return c
}

// At returns the value of node i.
func (c Column) At(i int) int64 {
	switch c.width {
	case 0:
		return c.first
	case 1:
		return int64(int8(c.data[i]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(c.data[2*i:])))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(c.data[4*i:])))
	}
	return int64(binary.LittleEndian.Uint64(c.data[8*i:]))
}

// Len returns the number of nodes.
func (c Column) Len() int { return c.n }

// head returns the first n values, which share c's memory.
func (c Column) head(n int) Column {
	c.n, c.data = n, c.data[:n*c.width]
	return c
}

// shares reports whether one of the columns is the start of the other.
func (c Column) shares(o Column) bool { return sameStart(c.data, o.data) }

// Score holds the scores of the feasible nodes. It is absent when one node
// was feasible, because the scheduler then does not score.
type Score struct {
	// Plugins are the plugins that scored, in the order in which they ran.
	Plugins []ScorePlugin
	// Skipped plugins returned Skip in PreScore: their score is absent, not 0.
	Skipped []string
	// Nodes are the feasible nodes, in no particular order.
	Nodes NodeList `cbor:"-"` // resultstore has its own format for it
	// Raw, Normalized and Weighted have one column per plugin. Weighted is
	// Normalized × weight. For a plugin that does not normalize, Normalized equals
	// Raw.
	Raw, Normalized, Weighted []Column
	// Extenders are the extenders that scored, in the scheduler's order.
	Extenders []ScoreExtender
	// Totals are what the scheduler compared: each node's sum of weighted scores of plugins and
	// counted scores of extenders.
	Totals Column
	// Facts are nil in records of earlier versions.
	Facts *ScoreFacts
	// DurationSeconds is the total time of each plugin's Score calls, extrapolated from a sample of
	// the nodes. It is nil for a plugin without a measured call.
	DurationSeconds []*float64
}

// scoreJSON is the public form of Score: a row per node.
type scoreJSON struct {
	Plugins    []ScorePlugin `json:"plugins"`
	Skipped    []string      `json:"skipped,omitempty"`
	Nodes      []string      `json:"nodes"`
	Raw        [][]int64     `json:"raw"`
	Normalized [][]int64     `json:"normalized"`
	Weighted   [][]int64     `json:"weighted"`
	extendersJSON
	Totals          []int64     `json:"totals"`
	Tied            []string    `json:"tied,omitempty"`
	Facts           *ScoreFacts `json:"facts,omitempty"`
	DurationSeconds []*float64  `json:"durationSeconds,omitempty"`
}

// scoreHead and scoreTail are the parts of scoreJSON before and after the tables.
type (
	scoreHead struct {
		Plugins []ScorePlugin `json:"plugins"`
		Skipped []string      `json:"skipped,omitempty"`
	}
	scoreTail struct {
		Tied            []string    `json:"tied,omitempty"`
		Facts           *ScoreFacts `json:"facts,omitempty"`
		DurationSeconds []*float64  `json:"durationSeconds,omitempty"`
	}
)

// MarshalJSON writes the public form, nodes by name.
func (s *Score) MarshalJSON() ([]byte, error) { return s.appendJSON(nil) }

func (s *Score) appendJSON(out []byte) ([]byte, error) {
	head := scoreHead{s.Plugins, s.Skipped}
	if head.Plugins == nil {
		head.Plugins = []ScorePlugin{}
	}
	out, err := appendMembers(append(out, '{'), head)
	if err != nil {
		return nil, err
	}
	names := s.Nodes.Names()
	order := sortedIndex(names)
	n := len(order)
	out = appendList(appendMember(out, "nodes"), n, func(out []byte, i int) []byte { return appendString(out, names[order[i]]) })
	for _, m := range []struct {
		name    string
		columns []Column
	}{{"raw", s.Raw}, {"normalized", s.Normalized}, {"weighted", s.Weighted}} {
		out = appendList(appendMember(out, m.name), n, func(out []byte, i int) []byte { return appendRow(out, m.columns, order[i]) })
	}
	if out, err = appendMembers(out, s.publicExtenders(order)); err != nil {
		return nil, err
	}
	out = appendList(appendMember(out, "totals"), n, func(out []byte, i int) []byte { return strconv.AppendInt(out, s.Totals.At(order[i]), 10) })
	out, err = appendMembers(out, scoreTail{s.Tied(), s.Facts, s.DurationSeconds})
	return append(out, '}'), err
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
	out := Score{Plugins: in.Plugins, Skipped: in.Skipped, Nodes: NewNodeList(in.Nodes...), Totals: NewColumn(in.Totals), Facts: in.Facts, DurationSeconds: in.DurationSeconds}
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
	var err error
	if out.Extenders, err = in.extendersJSON.scoreExtenders(in.Nodes); err != nil {
		return err
	}
	*s = out
	return nil
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

// Tied returns the nodes that share the best total, by name; nil when there is a single best node.
func (s *Score) Tied() []string {
	if s.Nodes.Len() == 0 {
		return nil
	}
	best := s.Totals.At(0)
	for i := range s.Totals.Len() {
		best = max(best, s.Totals.At(i))
	}
	var tied []string
	for i := range s.Totals.Len() {
		if s.Totals.At(i) == best {
			tied = append(tied, s.Nodes.At(i))
		}
	}
	if len(tied) < 2 {
		return nil
	}
	slices.Sort(tied)
	return tied
}
