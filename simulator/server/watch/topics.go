package watch

import (
	"bytes"
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"kube-scheduler-simulator/scheduler/result"
)

type objectFeed struct {
	feed
	object []byte
}

func newObjectFeed(c clock.WithTicker, l limits) *objectFeed {
	f := &objectFeed{feed: newFeed(c, l)}
	f.list = func() [][]byte { return [][]byte{f.object} }
	return f
}

// put publishes object unless it is the current one.
func (f *objectFeed) put(object []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open && bytes.Equal(f.object, object) {
		return
	}
	f.object = object
	if !f.open {
		f.setOpen()
		return
	}
	f.append(modified, object)
}

// withdraw makes all readers wait for the next put, which they get as a list.
func (f *objectFeed) withdraw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = false
	f.relist()
}

// polledFeed is the feed of a state that is read only while the feed has readers, such as the
// scheduling queue's.
type polledFeed struct {
	*objectFeed
	joined chan struct{}
}

func newPolledFeed(c clock.WithTicker, l limits) *polledFeed {
	return &polledFeed{objectFeed: newObjectFeed(c, l), joined: make(chan struct{}, 1)}
}

// poll publishes what read returns: at once when the first reader joins, then every limits.poll
// until the last one has left. It returns when ctx ends.
func (f *polledFeed) poll(ctx context.Context, read func() (any, error), log klog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.joined:
		}
		for f.hasReaders() {
			state, err := read()
			if err != nil {
				log.Error(err, "Cannot read the state of a topic")
			} else {
				f.put(mustMarshal(state))
			}
			select {
			case <-ctx.Done():
				return
			case <-f.clock.After(f.limits.poll):
			}
		}
		// The next reader must not get this state, which may be old by then.
		f.withdraw()
	}
}

type resultsFeed struct {
	feed
	// newest holds at most maxNewest summaries in order of arrival.
	newest []*summary
	index  map[attemptKey]*summary
	// waiting holds attempts that the store will publish again, even after they have left newest.
	// Beyond maxWaiting attempts, the feed adds some twice.
	waiting map[attemptKey]struct{}
	// early holds the cycles that were put before the feed was open.
	early []result.Summary
}

type attemptKey struct {
	uid     types.UID
	attempt int
}

type summary struct {
	key    attemptKey
	object []byte
}

const (
	maxNewest  = 500
	maxWaiting = 10_000
)

func newResultsFeed(c clock.WithTicker, l limits) *resultsFeed {
	f := &resultsFeed{feed: newFeed(c, l), index: map[attemptKey]*summary{}, waiting: map[attemptKey]struct{}{}}
	f.list = func() [][]byte {
		items := make([][]byte, 0, len(f.newest))
		for i := len(f.newest) - 1; i >= 0; i-- {
			items = append(items, f.newest[i].object)
		}
		return items
	}
	return f
}

// The result store calls put from the goroutine that puts the cycle.
func (f *resultsFeed) put(cycle *result.Cycle) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.open {
		f.early = append(f.early, cycle.Summary)
		return
	}
	f.upsert(cycle.Summary)
}

// seed opens the feed with the summaries that the store has, newest first. Cycles that were put
// meanwhile are newer.
func (f *resultsFeed) seed(stored []result.Summary) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = true
	for i := len(stored) - 1; i >= 0; i-- {
		f.upsert(stored[i])
	}
	for _, s := range f.early {
		f.upsert(s)
	}
	f.early = nil
	// No reader has seen anything yet, so all of this is the list and none of it a change.
	f.first += uint64(len(f.log))
	f.log, f.logBytes, f.recent = nil, 0, listing{}
	f.setOpen()
}

func (f *resultsFeed) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.newest, f.early = nil, nil
	clear(f.index)
	clear(f.waiting)
	f.relist()
	notify(f.changed)
}

// The caller of upsert holds mu.
func (f *resultsFeed) upsert(s result.Summary) {
	key, object := attemptKey{s.Pod.UID, s.Attempt}, mustMarshal(s)
	_, known := f.waiting[key]
	delete(f.waiting, key)
	if s.Outcome == result.Waiting && len(f.waiting) < maxWaiting {
		f.waiting[key] = struct{}{}
	}
	if old, ok := f.index[key]; ok {
		old.object = object
		f.append(modified, object)
		return
	}
	added := added
	if known {
		added = modified
	}
	entry := &summary{key, object}
	f.index[key] = entry
	f.newest = append(f.newest, entry)
	if len(f.newest) > maxNewest {
		delete(f.index, f.newest[0].key)
		f.newest = f.newest[1:]
	}
	f.append(added, object)
}
