package resultstore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// searched are cycles that differ in everything that a query selects by. Each starts a second
// after the one before it.
func searched() []*result.Cycle {
	cycles := []*result.Cycle{
		{Summary: result.Summary{Pod: result.Pod{Namespace: "shop", Name: "web-1"}, Owner: &result.Owner{Kind: "Deployment", Name: "web"},
			Profile: "default-scheduler", Revision: 1, Outcome: result.Scheduled, SelectedNode: "node-a"}},
		{Summary: result.Summary{Pod: result.Pod{Namespace: "shop", Name: "web-2"}, Owner: &result.Owner{Kind: "Deployment", Name: "web"},
			Profile: "default-scheduler", Revision: 2, Outcome: result.Unschedulable, NominatedNode: "node-b",
			Refusal: &result.Refusal{ExtensionPoint: "filter", Plugin: "NodeResourcesFit", Reason: "Insufficient cpu", Nodes: 3, Others: 1,
				Further: []result.FurtherReason{{Plugin: "TaintToleration", Reason: "node(s) had untolerated taint(s)", Nodes: 1}}}}},
		{Summary: result.Summary{Pod: result.Pod{Namespace: "batch", Name: "train"}, Owner: &result.Owner{Kind: "Job", Name: "train"},
			Profile: "batch-scheduler", Revision: 2, Outcome: result.Unschedulable,
			Refusal: &result.Refusal{ExtensionPoint: "filter", Plugin: "TaintToleration", Reason: "node(s) had untolerated taint(s)", Nodes: 4}}},
		{Summary: result.Summary{Pod: result.Pod{Namespace: "batch", Name: "web-probe"},
			Profile: "batch-scheduler", Revision: 2, Outcome: result.Waiting, SelectedNode: "node-a",
			Refusal: &result.Refusal{ExtensionPoint: "permit", Plugin: "Gang"}}},
	}
	for i, c := range cycles {
		c.Pod.UID, c.Attempt, c.StartTime = types.UID("uid-"+c.Pod.Name), 1, epoch.Add(time.Duration(i)*time.Second)
	}
	return cycles
}

// searchers are stores that keep the same cycles in different places.
func searchers(t *testing.T, cycles []*result.Cycle) map[string]*Store {
	t.Helper()
	inMemory := New(Options{})
	dir := t.TempDir()
	onDisk := persistent(t, Options{Dir: dir})
	for _, c := range cycles {
		inMemory.Put(c)
		onDisk.Put(c)
	}
	stop(t, onDisk)
	return map[string]*Store{"in memory": inMemory, "after a restart": persistent(t, Options{Dir: dir})}
}

func TestSearch(t *testing.T) {
	stores := searchers(t, searched())
	for _, tc := range []struct {
		query result.Query
		want  string
	}{
		{result.Query{Text: "web"}, "web-probe web-2 web-1"},
		{result.Query{Text: "SHOP/WEB"}, "web-2 web-1"},
		{result.Query{Text: "op/web-2"}, "web-2"},
		{result.Query{Text: "shop/eb"}, ""},
		{result.Query{Text: "web batch"}, "web-probe"},
		{result.Query{Text: "node-b"}, "web-2"},
		{result.Query{Text: "job/"}, "train"},
		{result.Query{Text: "insufficient"}, "web-2"},
		{result.Query{Text: "tainttoleration"}, "train web-2"},
		{result.Query{Text: "tainttoleration web"}, "web-2"},
		{result.Query{Text: "nothing"}, ""},
		{result.Query{Namespace: "batch"}, "web-probe train"},
		{result.Query{Name: "train"}, "train"},
		{result.Query{Plugin: "TaintToleration"}, "train web-2"},
		{result.Query{Plugin: "NodeResourcesFit"}, "web-2"},
		{result.Query{Plugin: "Gang"}, "web-probe"},
		{result.Query{Plugin: "gang"}, ""},
		{result.Query{Reason: "Insufficient cpu"}, "web-2"},
		{result.Query{Reason: "node(s) had untolerated taint(s)", Namespace: "shop"}, "web-2"},
		{result.Query{Node: "node-a"}, "web-probe web-1"},
		{result.Query{Node: "node-b"}, "web-2"},
		{result.Query{Profile: "batch-scheduler"}, "web-probe train"},
		{result.Query{Revision: 1}, "web-1"},
		{result.Query{Revision: 9}, ""},
		{result.Query{Owner: "Deployment/web"}, "web-2 web-1"},
		{result.Query{Owner: "Job/web"}, ""},
		{result.Query{Outcome: result.Unschedulable, Owner: "Deployment/web"}, "web-2"},
		{result.Query{Since: epoch.Add(time.Second), Until: epoch.Add(3 * time.Second)}, "train web-2"},
		{result.Query{UID: "uid-train", Plugin: "Gang"}, ""},
	} {
		for name, s := range stores {
			tc.query.Counts = true
			page, err := s.List(tc.query)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, item := range page.Items {
				got = append(got, item.Pod.Name)
			}
			if got := strings.Join(got, " "); got != tc.want {
				t.Errorf("%s, %+v: got %q, want %q", name, tc.query, got, tc.want)
			}
			if page.Counts.Matching != len(page.Items) {
				t.Errorf("%s, %+v: %d items, but %d match", name, tc.query, len(page.Items), page.Counts.Matching)
			}
		}
	}
}

// A facet leaves out the query's value of its own field: it counts what else there is to select.
func TestCounts(t *testing.T) {
	oldest := epoch
	values := func(v ...result.FacetValue) result.Facet {
		return result.Facet{Values: append([]result.FacetValue{}, v...)}
	}
	for name, s := range searchers(t, searched()) {
		page, err := s.List(result.Query{
			Plugin: "TaintToleration", Limit: 1, Counts: true, Buckets: 2, Since: epoch, Until: epoch.Add(4 * time.Second),
		})
		if err != nil {
			t.Fatal(err)
		}
		want := &result.Counts{
			Matching: 2, Kept: 4, Oldest: &oldest,
			Facets: result.Facets{
				Outcome:   values(result.FacetValue{Value: "unschedulable", Count: 2}),
				Namespace: values(result.FacetValue{Value: "batch", Count: 1}, result.FacetValue{Value: "shop", Count: 1}),
				Plugin: values(result.FacetValue{Value: "TaintToleration", Count: 2}, result.FacetValue{Value: "Gang", Count: 1},
					result.FacetValue{Value: "NodeResourcesFit", Count: 1}),
				Reason:   values(result.FacetValue{Value: "node(s) had untolerated taint(s)", Count: 2}, result.FacetValue{Value: "Insufficient cpu", Count: 1}),
				Node:     values(result.FacetValue{Value: "node-b", Count: 1}),
				Profile:  values(result.FacetValue{Value: "batch-scheduler", Count: 1}, result.FacetValue{Value: "default-scheduler", Count: 1}),
				Revision: values(result.FacetValue{Value: "2", Count: 2}),
				Owner:    values(result.FacetValue{Value: "Deployment/web", Count: 1}, result.FacetValue{Value: "Job/train", Count: 1}),
			},
			Timeline: &result.Timeline{Scheduled: []int{0, 0}, Unschedulable: []int{1, 1}, Waiting: []int{0, 0}, Error: []int{0, 0}},
		}
		if diff := cmp.Diff(want, page.Counts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAFacetIsBounded(t *testing.T) {
	s := New(Options{})
	const nodes = result.MaxFacetValues + 5
	for i := range nodes {
		c := cycle(fmt.Sprint("pod-", i), 1, result.Scheduled)
		c.SelectedNode = fmt.Sprintf("node-%02d", i)
		s.Put(c)
	}
	page, err := s.List(result.Query{Node: "node-24", Counts: true})
	if err != nil {
		t.Fatal(err)
	}
	node := page.Counts.Facets.Node
	if last := node.Values[len(node.Values)-1].Value; len(node.Values) != result.MaxFacetValues+1 || node.Others != 4 || last != "node-24" {
		t.Errorf("%d values up to %s, %d others", len(node.Values), last, node.Others)
	}
}

// A search follows an attempt that is published again.
func TestSearchFollowsAnAttempt(t *testing.T) {
	s := New(Options{})
	waiting := searched()[3]
	s.Put(waiting)
	bound := *waiting
	bound.Outcome, bound.Refusal = result.Scheduled, nil
	s.Put(&bound)
	for q, want := range map[result.Query]int{{Plugin: "Gang"}: 0, {Outcome: result.Scheduled}: 1, {Text: "gang"}: 0} {
		page, err := s.List(q)
		if err != nil || len(page.Items) != want {
			t.Errorf("%+v: %d items, %v; want %d", q, len(page.Items), err, want)
		}
	}
	if n := len(s.index.refusalLists.ids); n != 0 {
		t.Errorf("%d lists of refusals are kept for nothing", n)
	}
}

// The index counts the strings that queries select by, and forgets them with their last cycle.
func TestTheIndexForgetsStrings(t *testing.T) {
	s := New(Options{})
	empty := s.index.bytes
	for _, c := range searched() {
		s.Put(c)
	}
	if least := empty + 4*(entryBytes+podBytes) + 17*internedBytes; s.index.bytes < least {
		t.Errorf("the index takes %d bytes, want at least %d", s.index.bytes, least)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.index.len() > 0 {
		s.drop(s.index.oldest())
	}
	if s.index.bytes != empty || len(s.index.texts.ids) != 0 || len(s.index.refusalLists.ids) != 0 {
		t.Errorf("an empty index takes %d bytes and keeps %v", s.index.bytes, s.index.texts.ids)
	}
}

// A store reads the keys of earlier versions, which lacked most of what queries select by.
func TestSearchFindsCyclesOfEarlierVersions(t *testing.T) {
	dir := t.TempDir()
	s := persistent(t, Options{Dir: dir})
	s.writer.builder.plainKeys = true
	for _, c := range searched() {
		s.Put(c)
	}
	stop(t, s)
	s = persistent(t, Options{Dir: dir})
	page, err := s.List(result.Query{Plugin: "TaintToleration", Owner: "Job/train"})
	if err != nil || len(page.Items) != 1 || page.Items[0].Pod.Name != "train" {
		t.Errorf("got %v, %v", names(page.Items), err)
	}
}

func TestSearchRefusesATimelineWithoutARange(t *testing.T) {
	s := New(Options{})
	for _, q := range []result.Query{
		{Buckets: 5}, {Buckets: 5, Counts: true}, {Buckets: 5, Counts: true, Since: epoch, Until: epoch},
		{Buckets: result.MaxBuckets + 1, Counts: true, Since: epoch, Until: epoch.Add(1)},
	} {
		if _, err := s.List(q); err == nil {
			t.Errorf("%+v was not refused", q)
		}
	}
}

// rejections are cycles of a node that TaintToleration rejected twice, of a node that an
// extender rejected, and of none.
func rejections() []*result.Cycle {
	filtered := func(states string, plugin string, nodes ...string) *result.Filter {
		b := result.NewFilterBuilder([]string{"TaintToleration", "NodeResourcesFit"}, 3)
		b.Add("node-a", "PP", "", nil)
		for _, node := range nodes {
			b.Add(node, states, plugin, []string{"because"})
		}
		return b.Filter()
	}
	cycles := []*result.Cycle{
		{Summary: result.Summary{Outcome: result.Scheduled, SelectedNode: "node-a"}, Filter: filtered("RN", "TaintToleration", "node-b", "node-c")},
		{Summary: result.Summary{Outcome: result.Scheduled, SelectedNode: "node-a"}, Filter: filtered("PP", "", "node-b")},
		{Summary: result.Summary{Outcome: result.Unschedulable, Refusal: &result.Refusal{ExtensionPoint: "filter", Plugin: "NodeResourcesFit", Reason: "because"}},
			Filter: filtered("PR", "NodeResourcesFit", "node-b")},
		{Summary: result.Summary{Outcome: result.Scheduled, SelectedNode: "node-a"}, Filter: filtered("PP", ""),
			Extenders: []result.ExtenderCall{{Plugin: "http://ext", Verb: result.ExtenderFilter, Status: "Success",
				Rejected: &result.ExtenderRejections{Nodes: []string{"node-b"}, Reasons: []result.ExtenderReason{{Reason: "no"}}, ReasonOf: []uint16{0}}}}},
	}
	for i, c := range cycles {
		c.Pod = result.Pod{Namespace: "default", Name: fmt.Sprintf("pod-%d", i), UID: types.UID(fmt.Sprintf("uid-%d", i))}
		c.Attempt, c.StartTime = 1, epoch.Add(time.Duration(i)*time.Second)
		c.Nodes = result.NodeCounts{Total: 3, Evaluated: 3}
	}
	return cycles
}

func TestSearchByRejectedNode(t *testing.T) {
	for where, store := range searchers(t, rejections()) {
		for _, tt := range []struct {
			name string
			q    result.Query
			want []string
		}{
			{"any plugin, and extenders", result.Query{RejectedOn: "node-b"}, []string{"pod-3", "pod-2", "pod-0"}},
			{"a plugin, also of scheduled pods", result.Query{RejectedOn: "node-b", Plugin: "TaintToleration"}, []string{"pod-0"}},
			{"an extender", result.Query{RejectedOn: "node-b", Plugin: "http://ext"}, []string{"pod-3"}},
			{"an outcome", result.Query{RejectedOn: "node-b", Outcome: result.Unschedulable}, []string{"pod-2"}},
			{"another node", result.Query{RejectedOn: "node-c"}, []string{"pod-0"}},
			{"a node that passed", result.Query{RejectedOn: "node-a"}, nil},
			{"the second page", result.Query{RejectedOn: "node-b", Limit: 2, Continue: "3"}, []string{"pod-0"}},
		} {
			t.Run(where+"/"+tt.name, func(t *testing.T) {
				page, err := store.List(tt.q)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, s := range page.Items {
					got = append(got, s.Pod.Name)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("found (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestSearchByRejectedNodePages(t *testing.T) {
	store := New(Options{})
	for _, c := range rejections() {
		store.Put(c)
	}
	var got []string
	q := result.Query{RejectedOn: "node-b", Limit: 1, Counts: true}
	for range 10 {
		page, err := store.List(q)
		if err != nil {
			t.Fatal(err)
		}
		if page.Counts == nil || page.Counts.Matching != 4 {
			t.Fatalf("counts %+v, want the 4 cycles among which it looks", page.Counts)
		}
		for _, s := range page.Items {
			got = append(got, fmt.Sprintf("%s after %d", s.Pod.Name, page.Read))
		}
		if q.Continue = page.Continue; q.Continue == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"pod-3 after 1", "pod-2 after 1", "pod-0 after 2"}, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

// A page ends when it has read as much as it may, and the next one goes on there.
func TestSearchByRejectedNodeIsBounded(t *testing.T) {
	store := New(Options{})
	for _, c := range rejections() {
		c.Nodes.Evaluated = pageCost / 2
		store.Put(c)
	}
	q := result.Query{RejectedOn: "node-c"}
	page, err := store.List(q)
	if err != nil {
		t.Fatal(err)
	}
	if page.Read != 2 || len(page.Items) != 0 || page.Continue == "" {
		t.Fatalf("read %d, found %d, continue %q; want a page that gave up after 2", page.Read, len(page.Items), page.Continue)
	}
	q.Continue = page.Continue
	if page, err = store.List(q); err != nil || page.Read != 2 || len(page.Items) != 1 || page.Continue != "" {
		t.Errorf("read %d, found %d, continue %q, %v; want the last two, and pod-0 among them", page.Read, len(page.Items), page.Continue, err)
	}
}
