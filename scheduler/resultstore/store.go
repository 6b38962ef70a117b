// Package resultstore keeps finished scheduling cycles, bounded by bytes, and
// tells subscribers of each. The oldest cycles go first.
//
// It may import scheduler/result only.
package resultstore

import (
	"container/list"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// DefaultMaxBytes bounds a store whose options name no bound.
const DefaultMaxBytes = 256 << 20

// DefaultLimit is the length of a page when a query names none; MaxLimit is the
// longest that may be asked for.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// ErrBadQuery is wrapped by the error of a query that nothing can answer.
var ErrBadQuery = errors.New("bad query")

// Store keeps cycles in memory. Its methods are safe for concurrent use.
type Store struct {
	maxBytes int

	mu sync.RWMutex
	// cycles holds *entry, oldest first.
	cycles *list.List
	pods   map[types.UID]*pod
	bytes  int
	// sequence numbers the entries; it only grows, so that a page's Continue
	// stays good while newer cycles come in.
	sequence uint64

	subscribersMu sync.RWMutex
	subscribers   map[int]func(*result.Cycle)
	nextID        int
}

type entry struct {
	cycle    *result.Cycle
	sequence uint64
	size     int
}

// pod has the kept attempts of a pod, oldest first, and the number of the
// latest, which outlives them as long as any attempt is kept.
type pod struct {
	attempts []*list.Element
	last     int
}

// New returns an empty store bounded to maxBytes; 0 means DefaultMaxBytes.
func New(maxBytes int) *Store {
	if maxBytes == 0 {
		maxBytes = DefaultMaxBytes
	}
	return &Store{
		maxBytes:    maxBytes,
		cycles:      list.New(),
		pods:        map[types.UID]*pod{},
		subscribers: map[int]func(*result.Cycle){},
	}
}

// NextAttempt returns the number of the next attempt of a pod, from 1.
func (s *Store) NextAttempt(uid types.UID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.pods[uid]; p != nil {
		return p.last + 1
	}
	return 1
}

// Put keeps a cycle and tells the subscribers. A cycle of the same pod and
// attempt replaces the earlier one, in its place.
func (s *Store) Put(c *result.Cycle) {
	s.mu.Lock()
	s.put(c)
	s.mu.Unlock()

	s.subscribersMu.RLock()
	defer s.subscribersMu.RUnlock()
	for _, fn := range s.subscribers {
		fn(c)
	}
}

func (s *Store) put(c *result.Cycle) {
	p := s.pods[c.Pod.UID]
	if p == nil {
		p = &pod{}
		s.pods[c.Pod.UID] = p
	}
	size := c.Size()
	if e := p.attempt(c.Attempt); e != nil {
		old := e.Value.(*entry)
		s.bytes += size - old.size
		old.cycle, old.size = c, size
	} else {
		s.sequence++
		p.attempts = append(p.attempts, s.cycles.PushBack(&entry{cycle: c, sequence: s.sequence, size: size}))
		p.last = max(p.last, c.Attempt)
		s.bytes += size
	}
	// The newest is kept even when it alone is over the bound.
	for s.bytes > s.maxBytes && s.cycles.Len() > 1 {
		s.drop(s.cycles.Front())
	}
}

func (s *Store) drop(e *list.Element) {
	dropped := s.cycles.Remove(e).(*entry)
	s.bytes -= dropped.size
	uid := dropped.cycle.Pod.UID
	p := s.pods[uid]
	p.attempts = slices.DeleteFunc(p.attempts, func(a *list.Element) bool { return a == e })
	if len(p.attempts) == 0 {
		delete(s.pods, uid)
	}
}

func (p *pod) attempt(n int) *list.Element {
	for i := len(p.attempts) - 1; i >= 0; i-- {
		if p.attempts[i].Value.(*entry).cycle.Attempt == n {
			return p.attempts[i]
		}
	}
	return nil
}

// Len returns the number of cycles kept.
func (s *Store) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.cycles.Len()
}

// List answers a query, newest first.
func (s *Store) List(q result.Query) (result.Page, error) {
	page := result.Page{Items: []result.Summary{}}
	limit := q.Limit
	switch {
	case limit < 0:
		return page, fmt.Errorf("%w: limit %d is negative", ErrBadQuery, limit)
	case limit == 0:
		limit = DefaultLimit
	case limit > MaxLimit:
		limit = MaxLimit
	}
	if q.Outcome != "" && !q.Outcome.Valid() {
		return page, fmt.Errorf("%w: outcome %q is none of %v", ErrBadQuery, q.Outcome, result.Outcomes)
	}
	before := uint64(0)
	if q.Continue != "" {
		var err error
		if before, err = strconv.ParseUint(q.Continue, 10, 64); err != nil {
			return page, fmt.Errorf("%w: continue %q is not from an earlier page", ErrBadQuery, q.Continue)
		}
	}

	s.mu.RLock()
	defer s.mu.RUnlock()
	var last uint64
	for e := range s.newestFirst(q.UID) {
		if before != 0 && e.sequence >= before {
			continue
		}
		if !matches(q, &e.cycle.Summary) {
			continue
		}
		if len(page.Items) == limit {
			page.Continue = strconv.FormatUint(last, 10)
			break
		}
		page.Items = append(page.Items, e.cycle.Summary)
		last = e.sequence
	}
	return page, nil
}

// newestFirst iterates over the entries of a pod, or over all without a UID.
func (s *Store) newestFirst(uid types.UID) func(yield func(*entry) bool) {
	return func(yield func(*entry) bool) {
		if uid != "" {
			p := s.pods[uid]
			for i := 0; p != nil && i < len(p.attempts); i++ {
				if !yield(p.attempts[len(p.attempts)-1-i].Value.(*entry)) {
					return
				}
			}
			return
		}
		for e := s.cycles.Back(); e != nil; e = e.Prev() {
			if !yield(e.Value.(*entry)) {
				return
			}
		}
	}
}

func matches(q result.Query, s *result.Summary) bool {
	return (q.Namespace == "" || q.Namespace == s.Pod.Namespace) &&
		(q.Name == "" || q.Name == s.Pod.Name) &&
		(q.Outcome == "" || q.Outcome == s.Outcome)
}

// Attempts returns a pod's kept attempts, oldest first; nil when none is kept.
func (s *Store) Attempts(uid types.UID) ([]result.Summary, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	p := s.pods[uid]
	if p == nil {
		return nil, nil
	}
	out := make([]result.Summary, len(p.attempts))
	for i, e := range p.attempts {
		out[i] = e.Value.(*entry).cycle.Summary
	}
	return out, nil
}

// Get returns one attempt, or nil when it is not kept.
func (s *Store) Get(uid types.UID, attempt int) (*result.Cycle, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	p := s.pods[uid]
	if p == nil {
		return nil, nil
	}
	e := p.attempt(attempt)
	if e == nil {
		return nil, nil
	}
	return e.Value.(*entry).cycle, nil
}

// Subscribe calls fn with every cycle that is put from now on, in order, on the
// putting goroutine: fn must not block and must not call the store. cancel waits
// for a call that is under way.
func (s *Store) Subscribe(fn func(*result.Cycle)) (cancel func()) {
	s.subscribersMu.Lock()
	defer s.subscribersMu.Unlock()
	id := s.nextID
	s.nextID++
	s.subscribers[id] = fn
	return func() {
		s.subscribersMu.Lock()
		defer s.subscribersMu.Unlock()
		delete(s.subscribers, id)
	}
}
