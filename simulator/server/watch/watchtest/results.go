package watchtest

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// Results keeps cycles in order of arrival.
type Results struct {
	mu          sync.Mutex
	cycles      []*result.Cycle
	asked       result.Query
	subscribers map[int]func(*result.Cycle)
	n           int
}

// List returns all cycles, the newest first, and fails for the token "bad".
func (f *Results) List(q result.Query) (result.Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = q
	if q.Continue == "bad" {
		return result.Page{}, fmt.Errorf("%q is not a continue token", q.Continue)
	}
	page := result.Page{}
	for i := len(f.cycles) - 1; i >= 0; i-- {
		page.Items = append(page.Items, f.cycles[i].Summary)
	}
	return page, nil
}

// Asked returns the last query.
func (f *Results) Asked() result.Query {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// Attempts returns the attempts of a pod.
func (f *Results) Attempts(uid types.UID) ([]result.Summary, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []result.Summary
	for _, c := range f.cycles {
		if c.Pod.UID == uid {
			out = append(out, c.Summary)
		}
	}
	return out, nil
}

// Get returns an attempt, and panics for the pod "panic".
func (f *Results) Get(uid types.UID, attempt int) (*result.Cycle, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if uid == "panic" {
		panic("the store is broken")
	}
	for _, c := range f.cycles {
		if c.Pod.UID == uid && c.Attempt == attempt {
			return c, nil
		}
	}
	return nil, nil
}

// Subscribe calls fn for each cycle that Put adds.
func (f *Results) Subscribe(fn func(*result.Cycle)) func() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.subscribers == nil {
		f.subscribers = map[int]func(*result.Cycle){}
	}
	f.n++
	n := f.n
	f.subscribers[n] = fn
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.subscribers, n)
	}
}

// Subscribers counts the subscriptions.
func (f *Results) Subscribers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.subscribers)
}

// Put adds a cycle.
func (f *Results) Put(c *result.Cycle) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cycles = append(f.cycles, c)
	for _, fn := range f.subscribers {
		fn(c)
	}
}

// Cycle returns a cycle of the pod default/pod-UID.
func Cycle(uid string, attempt int, outcome result.Outcome) *result.Cycle {
	return &result.Cycle{Summary: result.Summary{
		Pod:       result.Pod{Namespace: "default", Name: "pod-" + uid, UID: types.UID(uid)},
		Attempt:   attempt,
		Profile:   "default-scheduler",
		StartTime: time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC),
		Outcome:   outcome,
		Nodes:     result.NodeCounts{Total: 3, Evaluated: 3, Feasible: 1},
	}}
}
