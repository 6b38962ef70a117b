package annotation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"kube-scheduler-simulator/scheduler/result"
)

// The names of the annotations, without Prefix.
const (
	preFilterStatus = "prefilter-result-status"
	preFilterResult = "prefilter-result"
	filterResult    = "filter-result"
	postFilter      = "postfilter-result"
	preScore        = "prescore-result"
	scoreResult     = "score-result"
	finalScore      = "finalscore-result"
	reserve         = "reserve-result"
	permit          = "permit-result"
	permitTimeout   = "permit-result-timeout"
	preBind         = "prebind-result"
	bind            = "bind-result"
	selectedNode    = "selected-node"
	// extenderResult is followed by the verb and resultSuffix.
	extenderResult = "extender-"
	resultSuffix   = "-result"
	history        = "result-history"
	facts          = "facts-result"
	nodeFacts      = "node-facts-result"
	// truncated is our addition. It says what was left out and where to find the
	// full result.
	truncated = "result-truncated"
)

// Render returns c's annotations by full name. Names and values together take at most budget bytes.
// earlier returns an attempt before c, counted back from the latest, or nil; Render calls it only
// while there is room.
//
// Render leaves out what does not fit in this order: the facts of plugins, those about nodes first;
// history, oldest first; the nodes, except for the selected one, one for each distinct rejection
// and those with the best totals; the extenders' answers; the other results, the selected node
// last.
func Render(c *result.Cycle, earlier func(back int) *result.Cycle, budget int) map[string]string {
	r := renderer{left: budget, out: map[string]string{}}
	r.current(c)
	if !r.cut.any() {
		r.history(earlier)
	}
	r.facts(c)
	r.markCut(c)
	return r.out
}

type renderer struct {
	left int
	out  map[string]string
	cut  cut
}

type cut struct {
	Results  []string `json:"results,omitempty"`
	Nodes    int      `json:"nodes,omitempty"`
	Attempts int      `json:"attempts,omitempty"`
	Full     string   `json:"full"`
}

func (c cut) any() bool { return len(c.Results) > 0 || c.Nodes > 0 || c.Attempts > 0 }

// markReserve is the number of bytes that stay free for the mark itself.
const markReserve = 512

func (r *renderer) current(c *result.Cycle) {
	r.left -= markReserve
	r.add(selectedNode, c.SelectedNode)
	r.add(bind, statuses(c.Bind))
	r.add(permit, statuses(c.Permit))
	r.add(permitTimeout, timeouts(c.Permit))
	r.add(reserve, statuses(c.Reserve))
	r.add(preBind, statuses(c.PreBind))
	r.add(preScore, statuses(c.PreScore))
	r.add(preFilterStatus, statuses(c.PreFilter))
	r.add(postFilter, nominated(c.PostFilter))
	for _, verb := range result.ExtenderVerbs {
		r.extenders(verb, c.Extenders)
	}
	r.nodes(c)
	r.add(preFilterResult, restricted(c.PreFilter))
}

func (r *renderer) add(name, value string) {
	if size := len(Prefix) + len(name) + len(value); size <= r.left {
		r.left -= size
		r.out[Prefix+name] = value
		return
	}
	r.cut.Results = append(r.cut.Results, name)
}

// extenders writes the extenders' answers to a verb if they take at most a quarter of the remaining
// bytes: the rest is for the nodes.
func (r *renderer) extenders(verb result.ExtenderVerb, calls []result.ExtenderCall) {
	value, cut := answers(verb, calls)
	if value == "" {
		return
	}
	name := extenderName(verb)
	if size := len(Prefix) + len(name) + len(value); 4*size > r.left {
		r.cut.Results = append(r.cut.Results, name)
		return
	}
	r.add(name, value)
	if cut {
		r.cut.Results = append(r.cut.Results, name)
	}
}

func extenderName(verb result.ExtenderVerb) string {
	return extenderResult + string(verb) + resultSuffix
}

// history adds earlier attempts while they fit whole.
func (r *renderer) history(earlier func(back int) *result.Cycle) {
	r.left -= len(Prefix) + len(history) + len("[]")
	var attempts []json.RawMessage // latest first
	for back := 0; ; back++ {
		c := earlier(back)
		if c == nil {
			break
		}
		one := renderer{left: max(r.left, 0) + markReserve, out: map[string]string{}}
		one.current(c)
		data := mustJSON(one.out)
		if one.cut.any() || len(data)+1 > r.left {
			r.cut.Attempts = c.Attempt
			break
		}
		r.left -= len(data) + 1
		attempts = append(attempts, data)
	}
	slices.Reverse(attempts)
	if attempts == nil {
		attempts = []json.RawMessage{}
	}
	r.out[Prefix+history] = string(mustJSON(attempts))
}

func (r *renderer) markCut(c *result.Cycle) {
	if !r.cut.any() {
		return
	}
	r.cut.Full = fmt.Sprintf("/api/v1/results/%s/%d", c.Pod.UID, c.Attempt)
	r.out[Prefix+truncated] = string(mustJSON(r.cut))
}

// row is a node of a cycle, by its indexes in the two tables; -1 where it is absent.
type row struct {
	node              string
	inFilter, inScore int
	rank              rank
	total             int64 // if it was scored
}

// rank says how important a node is.
type rank int8

const (
	selected       rank = iota
	representative      // of a distinct rejection: the first by name
	scored
	other
)

// bestScores is how many nodes with the best totals are essential.
const bestScores = 10

func rowsOf(c *result.Cycle) []row {
	var nodes, scores int
	if c.Filter != nil {
		nodes = c.Filter.Nodes.Len()
	}
	if c.Score != nil {
		scores = c.Score.Nodes.Len()
	}
	rows := make([]row, 0, max(nodes, scores))
	index := make(map[string]int, scores)
	for i := range scores {
		n := c.Score.Nodes.At(i)
		index[n] = len(rows)
		rows = append(rows, row{node: n, inFilter: -1, inScore: i, rank: scored, total: c.Score.Totals.At(i)})
	}
	first := map[uint16]int{} // the row of each rejection
	for i := range nodes {
		n, v := c.Filter.Nodes.At(i), c.Filter.VerdictOf[i]
		at, ok := index[n]
		if ok {
			rows[at].inFilter = i
		} else {
			at = len(rows)
			rows = append(rows, row{node: n, inFilter: i, inScore: -1, rank: other})
		}
		if c.Filter.Verdicts[v].Plugin != "" {
			if before, ok := first[v]; !ok || n < rows[before].node {
				first[v] = at
			}
		}
	}
	for _, at := range first {
		rows[at].rank = representative
	}
	for i := range rows {
		if rows[i].node == c.SelectedNode {
			rows[i].rank = selected
		}
	}
	return rows
}

func sortRows(rows []row) {
	slices.SortFunc(rows, func(a, b row) int {
		if a.rank != b.rank {
			return cmp.Compare(a.rank, b.rank)
		}
		if a.inScore >= 0 && b.inScore >= 0 && a.total != b.total {
			return cmp.Compare(b.total, a.total)
		}
		return strings.Compare(a.node, b.node)
	})
}

// essentials returns, the most important first, the selected node, one for each distinct rejection,
// and those with the best totals. It changes the order of rows.
func essentials(rows []row) []row {
	rows = slices.DeleteFunc(rows, func(r row) bool { return r.rank == other })
	sortRows(rows)
	best := 0
	for i, r := range rows {
		if r.rank == scored {
			if best++; best > bestScores {
				return rows[:i]
			}
		}
	}
	return rows
}

func statuses(results []result.PluginResult) string {
	var w objectWriter
	for _, p := range results {
		message := strings.Join(p.Reasons, ", ")
		switch p.Status {
		case "Success":
			message = "success"
		case "Wait":
			message = "wait"
		default:
			if message == "" {
				message = strings.ToLower(p.Status)
			}
		}
		w.add(p.Plugin, mustJSON(message))
	}
	return w.String()
}

func timeouts(results []result.PluginResult) string {
	var w objectWriter
	for _, p := range results {
		if p.TimeoutSeconds > 0 {
			w.add(p.Plugin, mustJSON(time.Duration(p.TimeoutSeconds*float64(time.Second)).String()))
		}
	}
	return w.String()
}

func restricted(results []result.PluginResult) string {
	var w objectWriter
	for _, p := range results {
		if p.Nodes != nil {
			w.add(p.Plugin, mustJSON(p.Nodes))
		}
	}
	return w.String()
}

func nominated(results []result.PluginResult) string {
	var w objectWriter
	for _, p := range results {
		if p.NominatedNode != "" {
			w.add(p.NominatedNode, mustJSON(map[string]string{p.Plugin: "preemption victim"}))
		}
	}
	return w.String()
}

// answers renders each extender's latest answer to a verb in the terms of
// k8s.io/kube-scheduler/extender/v1, or its error; empty without a call. cut reports whether any
// answer is incomplete.
func answers(verb result.ExtenderVerb, calls []result.ExtenderCall) (value string, cut bool) {
	var w objectWriter
	for i, call := range calls {
		if call.Verb != verb || askedAgain(calls[i+1:], call) {
			continue
		}
		answer := []byte(call.Response)
		if call.Status != "Success" {
			answer = mustJSON(map[string]string{"Error": strings.Join(call.Reasons, ", ")})
		}
		cut = cut || call.Cut
		w.add(call.Plugin, answer)
	}
	if w.b.Len() == 0 {
		return "", false
	}
	return w.String(), cut
}

func askedAgain(later []result.ExtenderCall, call result.ExtenderCall) bool {
	return slices.ContainsFunc(later, func(c result.ExtenderCall) bool { return c.Plugin == call.Plugin && c.Verb == call.Verb })
}

// objectWriter writes a JSON object whose members keep their order. Adding nil
// does nothing.
type objectWriter struct{ b bytes.Buffer }

func (w *objectWriter) add(name string, value []byte) {
	if value == nil {
		return
	}
	if w.b.Len() > 0 {
		w.b.WriteByte(',')
	}
	w.b.Write(appendQuoted(w.b.AvailableBuffer(), name))
	w.b.WriteByte(':')
	w.b.Write(value)
}

func (w *objectWriter) String() string { return "{" + w.b.String() + "}" }

// appendQuoted appends a string as JSON. Names of nodes and plugins need no escapes, and encoding
// them is most of the rendering.
func appendQuoted(out []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return append(out, mustJSON(s)...)
		}
	}
	return append(append(append(out, '"'), s...), '"')
}

// mustJSON encodes strings, and maps and slices of them, which cannot fail.
func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
