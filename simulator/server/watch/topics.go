package watch

import (
	"bytes"
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"kube-scheduler-simulator/scheduler/result"
)

// objectFeed is the feed of a single object.
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
		f.begin()
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

// queuesFeed is the feed of the scheduling queue's state, which is read only while
// the feed has readers.
type queuesFeed struct {
	*objectFeed
	// joined is told of each new reader.
	joined chan struct{}
}

func newQueuesFeed(c clock.WithTicker, l limits) *queuesFeed {
	return &queuesFeed{objectFeed: newObjectFeed(c, l), joined: make(chan struct{}, 1)}
}

// poll publishes what read returns: at once when the first reader joins, and then
// at intervals until the last one has left.
func (f *queuesFeed) poll(ctx context.Context, read func() (result.Queues, error), log klog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.joined:
		}
		for !f.isDeserted() {
			queues, err := read()
			if err != nil {
				log.Error(err, "reading the scheduling queue")
			} else {
				f.put(mustMarshal(queues))
			}
			select {
			case <-ctx.Done():
				return
			case <-f.clock.After(f.limits.poll):
			}
		}
		// The next reader is not shown a state from long ago.
		f.withdraw()
	}
}

// resultsFeed is the feed of the newest summaries.
type resultsFeed struct {
	feed
	// newest is in order of arrival, at most maxNewest.
	newest []*summary
	index  map[attemptKey]*summary
	// waiting are attempts that will be published again, though they may have
	// left newest. When there are more than maxWaiting, some are published as
	// added twice.
	waiting map[attemptKey]struct{}
	// early holds what was put before the feed was opened.
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

// put is called by the result store, from the goroutine that puts a cycle.
func (f *resultsFeed) put(cycle *result.Cycle) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.open {
		f.early = append(f.early, cycle.Summary)
		return
	}
	f.upsert(cycle.Summary)
}

// seed opens the feed with what the store held, newest first. What was put
// meanwhile is newer.
func (f *resultsFeed) seed(held []result.Summary) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = true
	for i := len(held) - 1; i >= 0; i-- {
		f.upsert(held[i])
	}
	for _, s := range f.early {
		f.upsert(s)
	}
	f.early = nil
	// Nobody has seen anything yet: what there is, is the list.
	f.first += uint64(len(f.log))
	f.log, f.logBytes, f.snapshot = nil, 0, snapshot{}
	f.begin()
}

// clear empties the feed, and lets all readers list again.
func (f *resultsFeed) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.newest, f.early = nil, nil
	clear(f.index)
	clear(f.waiting)
	f.relist()
	notify(f.changed)
}

// upsert is called with mu held.
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
