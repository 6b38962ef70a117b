package watch

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// feed is a changing set of serialised objects: a bounded log of the latest changes and, on demand,
// the list of all objects.
//
// A reader is a position in the log. When the log has dropped that position, the reader lists
// again. So a slow reader costs nothing, and a thousand readers share every byte.
type feed struct {
	clock  clock.WithTicker
	limits limits
	// changed asks pump to wake the readers.
	changed chan struct{}
	// abandoned tells pump that the last reader has left.
	abandoned chan struct{}

	mu sync.Mutex
	// open says that list may be called. Until then readers wait.
	open bool
	// ended says why the feed has ended; nil while it goes on.
	ended *refusal
	// list returns the objects in order, never nil. The caller holds mu.
	list func() [][]byte
	// log holds the changes from number first on. Its elements never change, so readers may keep
	// slices of it.
	log      []event
	first    uint64
	logBytes int
	// recent is the latest result of list, which readers share.
	recent  listing
	readers map[reader]struct{}
}

type event struct {
	change string
	object []byte
}

const (
	added    = "ADDED"
	modified = "MODIFIED"
	deleted  = "DELETED"
)

// listing is the state of the list just before change number next.
type listing struct {
	items [][]byte
	next  uint64
	taken time.Time
}

// The feed calls wake when there is something to read; wake must not block.
type reader interface{ wake() }

func newFeed(c clock.WithTicker, l limits) feed {
	return feed{
		clock: c, limits: l, readers: map[reader]struct{}{},
		changed: make(chan struct{}, 1), abandoned: make(chan struct{}, 1),
	}
}

// The caller of append holds mu and has already changed the objects that list returns.
func (f *feed) append(change string, object []byte) {
	f.log = append(f.log, event{change, object})
	f.logBytes += len(object)
	for len(f.log) > f.limits.logEvents || f.logBytes > f.limits.logBytes && len(f.log) > 0 {
		f.logBytes -= len(f.log[0].object)
		f.log = f.log[1:]
		f.first++
	}
	if len(f.readers) == 0 { // the next reader starts with a list
		f.first, f.log, f.logBytes = f.next(), nil, 0
	}
	if f.recent.next < f.first {
		f.recent = listing{}
	}
	notify(f.changed)
}

// next is the number of the next change. The caller holds mu.
func (f *feed) next() uint64 { return f.first + uint64(len(f.log)) }

// setOpen lets readers list. The caller holds mu.
func (f *feed) setOpen() {
	f.open = true
	notify(f.changed)
}

// relist makes every reader list again. The caller holds mu.
func (f *feed) relist() {
	// One more than the next number, so that a reader that has read everything is behind as well.
	f.first = f.next() + 1
	f.log, f.logBytes, f.recent = nil, 0, listing{}
}

// end tells the readers at once why the feed ends.
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
		notify(f.abandoned)
	}
}

func (f *feed) hasReaders() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.readers) > 0
}

// onlyConn returns nil if there are no readers, or if they have several connections.
func (f *feed) onlyConn() *conn {
	f.mu.Lock()
	defer f.mu.Unlock()
	var only *conn
	for r := range f.readers {
		s, ok := r.(*subscription)
		if !ok || only != nil && s.conn != only {
			return nil
		}
		only = s.conn
	}
	return only
}

func (f *feed) isOpen() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open
}

// current returns false when there is no list yet. The list may be as old as limits.batch, so that
// many readers that arrive at once share one; later changes are in the log.
func (f *feed) current() (listing, *refusal, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended != nil || !f.open {
		return listing{}, f.ended, f.ended != nil
	}
	now := f.clock.Now()
	if f.recent.items == nil || f.recent.next < f.next() && now.Sub(f.recent.taken) >= f.limits.batch {
		f.recent = listing{items: f.list(), next: f.next(), taken: now}
	}
	return f.recent, nil, true
}

// since returns the changes from number next on. behind says that the log has dropped some of them.
func (f *feed) since(next uint64) (events []event, ended *refusal, behind bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if next < f.first {
		return nil, f.ended, true
	}
	return f.log[next-f.first : len(f.log) : len(f.log)], f.ended, false
}

// pump wakes readers at the first change after a pause, then at most once per limits.batch. It
// returns when ctx ends, or when the feed has had no readers for limits.linger and retire agrees. A
// nil retire never agrees.
func (f *feed) pump(ctx context.Context, retire func() bool) {
	var lingered <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.abandoned:
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

// A flag is a channel with a buffer of one.
func notify(flag chan struct{}) {
	select {
	case flag <- struct{}{}:
	default:
	}
}
