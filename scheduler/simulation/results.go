package simulation

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/resultstore"
)

// keepBytes bounds the cycles that are kept, by their estimated size.
const keepBytes = 128 << 20

// Results are the decisions so far. Its methods may be called from any goroutine.
type Results struct {
	keep    Keep
	observe func(*result.Cycle)

	mu        sync.Mutex
	attempts  map[types.UID]int
	summaries []result.Summary
	places    map[attempt]int
	// store is nil unless whole cycles are kept.
	pods    sets.Set[types.UID]
	store   *resultstore.Store
	arrived []*result.Cycle
}

type attempt struct {
	pod    types.UID
	number int
}

var _ recorder.Sink = (*Results)(nil)

func newResults(o Options) *Results {
	r := &Results{keep: o.Keep, pods: o.Pods, observe: o.Observe, attempts: map[types.UID]int{}, places: map[attempt]int{}}
	if o.Keep == Cycles {
		r.store = resultstore.New(resultstore.Options{MemoryBytes: keepBytes})
	}
	return r
}

func (r *Results) wanted() bool { return r.keep != Nothing || r.observe != nil }

// whole reports whether the caller wants the whole cycles of a pod, and allWhole whether it wants
// those of all pods.
func (r *Results) whole(pod types.UID) bool {
	return r.allWhole() || r.keep == Cycles && r.pods.Has(pod)
}

func (r *Results) allWhole() bool { return r.keep == Cycles && r.pods == nil }

func (r *Results) NextAttempt(pod types.UID) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.attempts[pod] + 1
}

func (r *Results) Put(c *result.Cycle) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts[c.Pod.UID] = max(r.attempts[c.Pod.UID], c.Attempt)
	if r.keep != Nothing {
		r.summarize(c)
	}
	if r.whole(c.Pod.UID) {
		r.store.Put(c)
	}
	if r.observe != nil {
		r.arrived = append(r.arrived, c)
	}
}

func (r *Results) summarize(c *result.Cycle) {
	key := attempt{c.Pod.UID, c.Attempt}
	if at, again := r.places[key]; again {
		r.summaries[at] = c.Summary
		return
	}
	r.places[key] = len(r.summaries)
	r.summaries = append(r.summaries, c.Summary)
}

func (r *Results) hand() {
	r.mu.Lock()
	arrived := r.arrived
	r.arrived = nil
	r.mu.Unlock()
	for _, c := range arrived {
		r.observe(c)
	}
}

// Summaries returns the summaries of all cycles in the order of their ends. It is empty under
// Nothing.
func (r *Results) Summaries() []result.Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.summaries)
}

// Cycle returns a cycle of a pod, or nil if it is not kept.
func (r *Results) Cycle(pod types.UID, number int) (*result.Cycle, error) {
	if r.store == nil {
		return nil, nil
	}
	return r.store.Get(pod, number)
}
