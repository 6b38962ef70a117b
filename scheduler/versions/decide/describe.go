package decide

import (
	"fmt"
	"hash/fnv"
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
	add := func(s *fwk.Status, node string, further bool) {
		status := *statusOf(s)
		key := fmt.Sprintf("%s\x00%s\x00%q\x00%t", status.Plugin, status.Code, status.Reasons, further)
		found := byVerdict[key]
		if found == nil {
			found = &wire.Rejection{Status: status, Further: further}
			byVerdict[key] = found
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
	rows := make([]string, len(rec.scores))
	for i := range rec.scores {
		s := &rec.scores[i]
		row := append(make([]byte, 0, 256), s.Name...)
		for _, p := range s.Scores {
			row = append(row, ' ')
			row = append(row, p.Name...)
			row = append(row, '=')
			row = strconv.AppendInt(row, p.Score, 10)
		}
		rows[i] = string(row)
	}
	slices.Sort(rows)
	return digestOf(append(parts, rows...)...)
}

// digestOf returns the hash of a list.
func digestOf(parts ...string) string {
	h := fnv.New64a()
	for _, part := range parts {
		_, _ = h.Write([]byte(part))
		_, _ = h.Write([]byte{0})
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// fitting returns the nodes that passed Filter.
func (rec *record) fitting() map[string]bool {
	names := rec.passed()
	out := make(map[string]bool, len(names))
	for _, name := range names {
		out[name] = true
	}
	return out
}
