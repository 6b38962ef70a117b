package watch

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// feed is a set of serialised objects as it changes: a bounded log of its
// latest changes, and on demand the list of everything.
//
// Nothing is queued per reader. A reader is a position in the log, and one
// whose position has been dropped from it lists again: a slow reader costs
// nothing, and a thousand readers share every byte.
type feed struct {
	clock  clock.WithTicker
	limits limits
	// changed asks the pump to wake the readers.
	changed chan struct{}
	// deserted is told when the last reader has left.
	deserted chan struct{}

	mu sync.Mutex
	// open: there is a list. Until then readers wait.
	open bool
	// ended is why there is nothing more to come; nil while there is.
	ended *refusal
	// list returns the objects in their order, never nil. It is called with
	// mu held.
	list func() [][]byte
	// log holds the changes from number first on. Its elements are not
	// changed once appended, so that readers keep slices of it.
	log      []event
	first    uint64
	logBytes int
	// snapshot is what list answered lately. Readers share it.
	snapshot snapshot
	readers  map[reader]struct{}
}

// event is one change.
type event struct {
	change string
	object []byte
}

const (
	added    = "ADDED"
	modified = "MODIFIED"
	deleted  = "DELETED"
)

// snapshot is the list as it was at a time, before change number next.
type snapshot struct {
	items [][]byte
	next  uint64
	taken time.Time
}

// reader is woken when there is something to read; wake does not block.
type reader interface{ wake() }

func newFeed(c clock.WithTicker, l limits) feed {
	return feed{
		clock: c, limits: l, readers: map[reader]struct{}{},
		changed: make(chan struct{}, 1), deserted: make(chan struct{}, 1),
	}
}

// append notes a change. The caller holds mu, and has changed what list
// answers.
func (f *feed) append(change string, object []byte) {
	f.log = append(f.log, event{change, object})
	f.logBytes += len(object)
	for len(f.log) > f.limits.logEvents || f.logBytes > f.limits.logBytes && len(f.log) > 0 {
		f.logBytes -= len(f.log[0].object)
		f.log = f.log[1:]
		f.first++
	}
	if len(f.readers) == 0 { // who comes begins with a list
		f.first, f.log, f.logBytes = f.next(), nil, 0
	}
	if f.snapshot.next < f.first {
		f.snapshot = snapshot{}
	}
	notify(f.changed)
}

// next is the number of the next change. The caller holds mu.
func (f *feed) next() uint64 { return f.first + uint64(len(f.log)) }

// begin lets readers list. The caller holds mu.
func (f *feed) begin() {
	f.open = true
	notify(f.changed)
}

// relist makes every reader list again. The caller holds mu.
func (f *feed) relist() {
	// One more than there are: who has read everything is behind, too.
	f.first = f.next() + 1
	f.log, f.logBytes, f.snapshot = nil, 0, snapshot{}
}

// end tells readers, at once, that there is nothing more to come, and why.
func (f *feed) end(why *refusal) {
	f.mu.Lock()
	f.ended = why
	f.mu.Unlock()
	f.wakeReaders()
}

func (f *feed) join(r reader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers[r] = struct{}{}
}

func (f *feed) leave(r reader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.readers, r)
	if len(f.readers) == 0 {
		notify(f.deserted)
	}
}

func (f *feed) isDeserted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.readers) == 0
}

// current returns a list and says false when there is none yet. The list may
// be a batch old, so that many readers who come at once share one; what has
// changed since is in the log.
func (f *feed) current() (snapshot, *refusal, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended != nil || !f.open {
		return snapshot{}, f.ended, f.ended != nil
	}
	now := f.clock.Now()
	if f.snapshot.items == nil || f.snapshot.next < f.next() && now.Sub(f.snapshot.taken) >= f.limits.batch {
		f.snapshot = snapshot{items: f.list(), next: f.next(), taken: now}
	}
	return f.snapshot, nil, true
}

// since returns the changes from number next on. behind says that some of
// them have been dropped.
func (f *feed) since(next uint64) (events []event, ended *refusal, behind bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if next < f.first {
		return nil, f.ended, true
	}
	return f.log[next-f.first : len(f.log) : len(f.log)], f.ended, false
}

// pump wakes readers: at once after quiet, then at most once per batch. It
// returns with ctx, or when nobody has been reading for the linger time and
// retire agrees. A nil retire never agrees.
func (f *feed) pump(ctx context.Context, retire func() bool) {
	var lingered <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.deserted:
			lingered = f.clock.After(f.limits.linger)
			continue
		case <-lingered:
			lingered = nil
			if retire != nil && retire() {
				return
			}
			continue
		case <-f.changed:
		}
		f.wakeReaders()
		select {
		case <-ctx.Done():
			return
		case <-f.clock.After(f.limits.batch):
		}
	}
}

func (f *feed) wakeReaders() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r := range f.readers {
		r.wake()
	}
}

// notify sets a flag that is a channel of one place.
func notify(flag chan struct{}) {
	select {
	case flag <- struct{}{}:
	default:
	}
}
