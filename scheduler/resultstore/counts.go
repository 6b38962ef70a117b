package resultstore

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kube-scheduler-simulator/scheduler/result"
)

// tallies count the values of the fields with a facet. Strings count under their numbers.
type tallies struct {
	outcomes                            map[result.Outcome]int
	revisions                           map[int32]int
	namespaces, nodes, profiles, owners []int
	// plugins and reasons have one element per list of refusals.
	plugins, reasons []int
}

func (s *selection) count() *result.Counts {
	c := &result.Counts{Kept: s.index.len()}
	if oldest := s.index.oldest(); oldest != nil && oldest.start != 0 {
		start := time.Unix(0, oldest.start).UTC()
		c.Oldest = &start
	}
	if s.buckets > 0 {
		c.Timeline = &result.Timeline{
			Scheduled: make([]int, s.buckets), Unschedulable: make([]int, s.buckets), Waiting: make([]int, s.buckets), Error: make([]int, s.buckets),
		}
	}
	t := s.index.newTallies()
	for e := range s.index.newestFirst(s.uid, 0) {
		misses, missed := s.misses(e)
		switch misses {
		case 0:
			c.Matching++
			if c.Timeline != nil {
				s.addTo(c.Timeline, e)
			}
			for f := range fields {
				t.add(e, f)
			}
		case 1:
			t.add(e, missed)
		}
	}
	c.Facets = t.facets(s)
	return c
}

func (s *selection) addTo(t *result.Timeline, e *entry) {
	bucket := int(float64(e.start-s.since) / float64(s.until-s.since) * float64(s.buckets))
	if counts := t.Of(e.outcome); counts != nil {
		counts[min(bucket, s.buckets-1)]++
	}
}

func (x *index) newTallies() *tallies {
	texts := func() []int { return make([]int, len(x.texts.strings)) }
	lists := func() []int { return make([]int, len(x.refusalLists.strings)) }
	return &tallies{
		outcomes: map[result.Outcome]int{}, revisions: map[int32]int{},
		namespaces: texts(), nodes: texts(), profiles: texts(), owners: texts(),
		plugins: lists(), reasons: lists(),
	}
}

func (t *tallies) add(e *entry, f field) {
	switch f {
	case byOutcome:
		t.outcomes[e.outcome]++
	case byNamespace:
		t.namespaces[e.pod.namespace]++
	case byPlugin:
		t.plugins[e.refusals]++
	case byReason:
		t.reasons[e.refusals]++
	case byNode:
		t.nodes[e.selected]++
		if e.nominated != e.selected {
			t.nodes[e.nominated]++
		}
	case byProfile:
		t.profiles[e.profile]++
	case byRevision:
		t.revisions[e.revision]++
	case byOwner:
		t.owners[e.pod.owner]++
	}
}

func (t *tallies) facets(s *selection) result.Facets {
	x := s.index
	var outcomes, revisions []result.FacetValue
	for o, n := range t.outcomes {
		outcomes = append(outcomes, result.FacetValue{Value: string(o), Count: n})
	}
	for r, n := range t.revisions {
		if r != 0 {
			revisions = append(revisions, result.FacetValue{Value: strconv.Itoa(int(r)), Count: n})
		}
	}
	revision := ""
	if s.revision != 0 {
		revision = strconv.Itoa(int(s.revision))
	}
	return result.Facets{
		Outcome:   facet(outcomes, string(s.outcome)),
		Namespace: x.facet(t.namespaces, s.namespace),
		Plugin:    x.facet(x.perText(t.plugins, func(r refusal) uint32 { return r.plugin }), s.plugin),
		Reason:    x.facet(x.perText(t.reasons, func(r refusal) uint32 { return r.reason }), s.reason),
		Node:      x.facet(t.nodes, s.node),
		Profile:   x.facet(t.profiles, s.profile),
		Revision:  facet(revisions, revision),
		Owner:     x.facet(t.owners, s.owner),
	}
}

// perText turns counts per list into counts per string. A string counts once per list.
func (x *index) perText(lists []int, of func(refusal) uint32) []int {
	counts := make([]int, len(x.texts.strings))
	var seen []uint32
	for list, n := range lists {
		if n == 0 {
			continue
		}
		seen = seen[:0]
		for r := range refusalsIn(x.refusalLists.text(uint32(list))) {
			if id := of(r); !slices.Contains(seen, id) {
				counts[id] += n
				seen = append(seen, id)
			}
		}
	}
	return counts
}

// facet leaves out the empty string, which means no value.
func (x *index) facet(counts []int, asked wanted) result.Facet {
	var values []result.FacetValue
	for id, n := range counts {
		if id != 0 && n > 0 {
			values = append(values, result.FacetValue{Value: x.texts.text(uint32(id)), Count: n})
		}
	}
	if asked.nowhere {
		return facet(values, "")
	}
	return facet(values, x.texts.text(asked.id))
}

func facet(values []result.FacetValue, asked string) result.Facet {
	slices.SortFunc(values, func(a, b result.FacetValue) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
	})
	f := result.Facet{Values: []result.FacetValue{}}
	for i, v := range values {
		if i < result.MaxFacetValues || v.Value == asked {
			f.Values = append(f.Values, v)
		} else {
			f.Others++
		}
	}
	return f
}
