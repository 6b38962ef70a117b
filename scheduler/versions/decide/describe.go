package decide

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/versions/wire"
)

// describe writes what plugins answered before Score.
func (rec *record) describe(out *wire.Decision, r *recorded) {
	out.PreFilter = statusOf(rec.preFilter)
	out.Restricted = rec.restricted
	for i := range rec.nodes {
		if rec.seen[i] && rec.verdicts[i].IsSuccess() {
			out.Feasible++
		}
	}
	out.Rejections = rec.rejections(r.filters)
	if rec.preFilter == nil {
		out.SkippedFilter = sets.List(rec.state.GetSkipFilterPlugins())
	}
	if rec.scores != nil {
		out.SkippedScore = sets.List(rec.state.GetSkipScorePlugins())
	}
}

// rejections groups the verdicts that reject nodes.
func (rec *record) rejections(filters []string) []wire.Rejection {
	byVerdict := map[string]*wire.Rejection{}
	var key []byte
	add := func(s *fwk.Status, node string, further bool) {
		key = append(append(key[:0], s.Plugin()...), byte(s.Code()))
		if further {
			key = append(key, 1)
		}
		reasons := s.Reasons()
		if len(reasons) > 1 {
			reasons = reasonsOf(s)
		}
		for _, reason := range reasons {
			key = append(append(key, 0), reason...)
		}
		found := byVerdict[string(key)]
		if found == nil {
			found = &wire.Rejection{Status: *statusOf(s), Further: further}
			byVerdict[string(key)] = found
		}
		found.Nodes = append(found.Nodes, node)
	}
	for i, n := range rec.nodes {
		if !rec.seen[i] || rec.verdicts[i].IsSuccess() {
			continue
		}
		add(rec.verdicts[i], n.Node().Name, false)
		if rec.further != nil {
			for _, s := range rec.further[i] {
				add(s, n.Node().Name, true)
			}
		}
	}
	out := make([]wire.Rejection, 0, len(byVerdict))
	for _, rejection := range byVerdict {
		slices.Sort(rejection.Nodes)
		rejection.Count, rejection.Digest = len(rejection.Nodes), digestOf(rejection.Nodes...)
		if !rec.request.Full {
			rejection.Nodes = nil
		}
		out = append(out, *rejection)
	}
	slices.SortFunc(out, func(a, b wire.Rejection) int {
		return slices.Compare(sortKey(filters, &a), sortKey(filters, &b))
	})
	return out
}

func sortKey(filters []string, r *wire.Rejection) []string {
	return []string{fmt.Sprintf("%t %03d", r.Further, slices.Index(filters, r.Plugin)), r.Code, strings.Join(r.Reasons, "\x00")}
}

// digest identifies all that plugins answered about nodes.
func (rec *record) digest(out *wire.Decision) string {
	parts := []string{strconv.Itoa(out.Nodes), strings.Join(out.Restricted, "\x00")}
	if out.PreFilter != nil {
		parts = append(parts, fmt.Sprint(*out.PreFilter))
	}
	for i := range out.Rejections {
		r := &out.Rejections[i]
		parts = append(parts, fmt.Sprint(r.Status, r.Further, r.Digest))
	}
	return digestOf(append(parts, strconv.FormatUint(rec.hashScores(), 36))...)
}

// hashScores identifies the scores of all nodes, in any order of the nodes.
func (rec *record) hashScores() (sum uint64) {
	if len(rec.scores) == 0 {
		return 0
	}
	plugins := make([]uint64, len(rec.scores[0].Scores))
	for j, p := range rec.scores[0].Scores {
		plugins[j] = hash(p.Name)
	}
	for i := range rec.scores {
		node := &rec.scores[i]
		h := hash(node.Name)
		for j := range node.Scores {
			h = (h ^ plugins[j]) * prime
			h = (h ^ uint64(node.Scores[j].Score)) * prime
		}
		sum += h
	}
	return sum
}

// The constants of FNV-1a.
const (
	offset = 14695981039346656037
	prime  = 1099511628211
)

func hash(s string) uint64 {
	h := uint64(offset)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * prime
	}
	return h
}

// digestOf returns the hash of a list.
func digestOf(parts ...string) string {
	h := uint64(offset)
	for _, part := range parts {
		h = (h ^ hash(part)) * prime
	}
	return strconv.FormatUint(h, 36)
}

// fits reports whether a node passed Filter.
func (rec *record) fits(node string) bool {
	at, known := rec.index[node]
	return known && rec.seen[at] && rec.verdicts[at].IsSuccess()
}

// table returns what the scheduler adds up for each node.
func (rec *record) table(weights map[string]int32) *wire.Table {
	if len(rec.scores) == 0 {
		return nil
	}
	out := &wire.Table{}
	for _, s := range rec.scores[0].Scores {
		out.Plugins = append(out.Plugins, wire.Plugin{Name: s.Name, Weight: weights[s.Name]})
		out.Columns = append(out.Columns, wire.NewColumn(len(rec.nodes)))
	}
	for i := range rec.scores {
		node := &rec.scores[i]
		at := rec.rank[rec.index[node.Name]]
		for j := range node.Scores {
			out.Columns[j].Set(at, node.Scores[j].Score)
		}
	}
	return out
}
