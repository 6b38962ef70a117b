package resultstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// cycle returns an attempt of a pod whose UID is its name.
func cycle(name string, attempt int, outcome result.Outcome) *result.Cycle {
	return &result.Cycle{Summary: result.Summary{
		Pod: result.Pod{Namespace: "default", Name: name, UID: types.UID(name)}, Attempt: attempt, Outcome: outcome,
	}}
}

func names(items []result.Summary) []string {
	var out []string
	for _, s := range items {
		out = append(out, fmt.Sprintf("%s/%d", s.Pod.Name, s.Attempt))
	}
	return out
}

func TestListPagesNewestFirstWhileCyclesComeIn(t *testing.T) {
	s := New(Options{})
	for i := 1; i <= 5; i++ {
		s.Put(cycle("a", i, result.Unschedulable))
	}
	page, err := s.List(result.Query{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a/5", "a/4"}, names(page.Items)); diff != "" {
		t.Error(diff)
	}
	s.Put(cycle("a", 6, result.Scheduled))
	page, err = s.List(result.Query{Limit: 3, Continue: page.Continue})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a/3", "a/2", "a/1"}, names(page.Items)); diff != "" {
		t.Error(diff)
	}
	if page.Continue != "" {
		t.Errorf("the last page continues at %q", page.Continue)
	}
}

func TestListSelects(t *testing.T) {
	s := New(Options{})
	s.Put(cycle("a", 1, result.Unschedulable))
	s.Put(cycle("b", 1, result.Scheduled))
	s.Put(cycle("a", 2, result.Scheduled))
	for _, tc := range []struct {
		query result.Query
		want  []string
	}{
		{result.Query{}, []string{"a/2", "b/1", "a/1"}},
		{result.Query{Name: "b"}, []string{"b/1"}},
		{result.Query{UID: "a"}, []string{"a/2", "a/1"}},
		{result.Query{UID: "a", Outcome: result.Scheduled}, []string{"a/2"}},
		{result.Query{Namespace: "other"}, nil},
	} {
		page, err := s.List(tc.query)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, names(page.Items)); diff != "" {
			t.Errorf("%+v: %s", tc.query, diff)
		}
	}
}

func TestListRefuses(t *testing.T) {
	s := New(Options{})
	for _, q := range []result.Query{{Limit: -1}, {Outcome: "lost"}, {Continue: "x"}} {
		if _, err := s.List(q); !errors.Is(err, ErrBadQuery) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

func TestPutReplacesAWaitingAttempt(t *testing.T) {
	s := New(Options{})
	s.Put(cycle("a", 1, result.Waiting))
	s.Put(cycle("b", 1, result.Scheduled))
	s.Put(cycle("a", 1, result.Scheduled))
	if s.Len() != 2 {
		t.Fatalf("%d cycles", s.Len())
	}
	got, err := s.Get("a", 1)
	if err != nil || got.Outcome != result.Scheduled {
		t.Errorf("got %+v, %v", got, err)
	}
	if n := s.NextAttempt("a"); n != 2 {
		t.Errorf("next attempt = %d", n)
	}
}

func TestBoundDropsTheOldest(t *testing.T) {
	big := func(name string, attempt int) *result.Cycle {
		c := cycle(name, attempt, result.Unschedulable)
		c.Message = strings.Repeat("x", 1<<10)
		return c
	}
	s := New(Options{MemoryBytes: int64(3 * big("a", 1).Size())})
	s.Put(big("a", 1))
	s.Put(big("a", 2))
	s.Put(big("b", 1))
	s.Put(big("b", 2))
	attempts, err := s.Attempts("a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a/2"}, names(attempts)); diff != "" {
		t.Error(diff)
	}
	if got, _ := s.Get("a", 1); got != nil {
		t.Error("the oldest attempt is still kept")
	}
	if n := s.NextAttempt("a"); n != 3 {
		t.Errorf("next attempt = %d: numbering must continue, not restart", n)
	}
}

func TestSubscribersSeeEachPutUntilTheyCancel(t *testing.T) {
	s := New(Options{})
	var got []string
	cancel := s.Subscribe(func(c *result.Cycle) { got = append(got, c.Pod.Name) })
	s.Put(cycle("a", 1, result.Scheduled))
	s.Put(cycle("b", 1, result.Scheduled))
	cancel()
	s.Put(cycle("c", 1, result.Scheduled))
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Error(diff)
	}
}

// A page is as long as the query asks, up to the limit that the API promises.
func TestAPageIsAsLongAsTheQueryAsks(t *testing.T) {
	s := New(Options{})
	const kept = 5001
	for i := range kept {
		s.Put(cycle(fmt.Sprint("pod-", i), 1, result.Scheduled))
	}
	for asked, want := range map[int]int{0: DefaultLimit, 1001: 1001, 5000: 5000, 6000: 5000} {
		page, err := s.List(result.Query{Limit: asked})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Items) != want || page.Continue == "" {
			t.Errorf("limit %d: %d items, continue %q; want %d", asked, len(page.Items), page.Continue, want)
		}
	}
}
