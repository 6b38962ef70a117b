// Package resultstore keeps finished scheduling cycles, notifies subscribers of each, and answers
// queries about them. The newest are in memory, bounded by bytes. With a directory, the store also
// writes them to disk within half a second, keeps only recent ones in memory, and reads the others
// from disk. A store that starts on the directory continues from it. The disk space is bounded,
// too: the oldest cycles go first.
//
// It knows nothing of the producer or the readers of cycles. It may import scheduler/blockfile and
// scheduler/result, and of Kubernetes only apimachinery, klog and utils.
package resultstore

import (
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"kube-scheduler-simulator/scheduler/result"
)

const (
	// DefaultMaxBytes is the default memory bound of a store.
	DefaultMaxBytes = 256 << 20
	// DefaultDiskBytes is the default bound of its files.
	DefaultDiskBytes = 2 << 30
)

// Options configure a store. The zero value keeps cycles in memory only.
type Options struct {
	// MemoryBytes bounds the cycles in memory, by their estimated size; 0 means
	// DefaultMaxBytes. While the disk works, the store uses an eighth of it. The index
	// is not included: it takes at most a quarter, or 1 MiB if that is more.
	MemoryBytes int64
	// Dir is the directory of the store's files, created if necessary; only one store at a time may
	// use it. If Dir is empty, the store writes nothing and drops cycles beyond the memory bound.
	Dir string
	// DiskBytes bounds the files in Dir; 0 means DefaultDiskBytes. Damaged files
	// that were set aside do not count.
	DiskBytes int64
	// Durable waits for the disk after each write. Cycles then survive a power cut, and otherwise
	// only the end of the process.
	Durable bool
	// Clock times the writes; nil means the real one.
	Clock clock.Clock
	// Logger gets one line for each file that is cut or set aside, when the disk fails,
	// and when it works again. The zero value logs nothing.
	Logger klog.Logger
}

// Store keeps cycles. Its methods are safe for concurrent use; Start and Stop
// are called once, in this order.
type Store struct {
	maxBytes int64
	clock    clock.Clock
	logger   klog.Logger

	mu    sync.RWMutex
	index index
	// sequence is the latest sequence number. It only grows, so a page's Continue stays valid.
	sequence uint64
	// bytes is the size of the cycles in memory. inMemory holds their sequences, and perhaps
	// dropped ones, in the order of eviction.
	bytes    int64
	inMemory []uint64

	// writer is nil in a store that keeps cycles in memory only.
	writer *writer
	// open is the block of the last read cycle, so a reader of consecutive cycles reads each block
	// once.
	open atomic.Pointer[openBlock]

	subscribersMu sync.RWMutex
	subscribers   map[int]func(*result.Cycle)
	nextID        int
}

// New returns an empty store. A store with a directory keeps cycles in memory only
// until Start. A store without one needs neither Start nor Stop.
func New(o Options) *Store {
	if o.MemoryBytes == 0 {
		o.MemoryBytes = DefaultMaxBytes
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	s := &Store{
		maxBytes:    o.MemoryBytes,
		clock:       o.Clock,
		logger:      o.Logger,
		index:       newIndex(),
		subscribers: map[int]func(*result.Cycle){},
	}
	if o.Dir != "" {
		s.writer = newWriter(s, o)
	}
	return s
}

// minIndexBytes lets even a small store remember some thousands of attempts.
const minIndexBytes = 1 << 20

func (s *Store) maxIndexBytes() int64 { return max(s.maxBytes/4, minIndexBytes) }

// bound returns how many bytes the cycles in memory may take: all of maxBytes while no disk works.
func (s *Store) bound() int64 {
	if s.writer.works() {
		return s.maxBytes / 8
	}
	return s.maxBytes
}

// NextAttempt returns the number of the next attempt of a pod, from 1.
func (s *Store) NextAttempt(uid types.UID) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if p := s.index.pods[uid]; p != nil {
		return p.last + 1
	}
	return 1
}

// Put keeps a cycle and notifies the subscribers. A cycle of the same pod and attempt
// replaces the earlier one and keeps its position. Put waits for the disk only while
// more than a quarter of the memory waits to be written, and not while the disk
// fails. Only one goroutine at a time may call it, so that subscribers see the cycles
// in order.
func (s *Store) Put(c *result.Cycle) {
	s.mu.Lock()
	s.writer.waitForRoom()
	s.put(c)
	s.mu.Unlock()

	s.subscribersMu.RLock()
	defer s.subscribersMu.RUnlock()
	for _, fn := range s.subscribers {
		fn(c)
	}
}

func (s *Store) put(c *result.Cycle) {
	e := s.index.get(c.Pod.UID, c.Attempt)
	if e == nil {
		s.sequence++
		e = s.index.add(s.sequence, c.Pod, c.Attempt)
	}
	if e.cycle == nil {
		s.inMemory = append(s.inMemory, e.sequence)
	}
	size := c.Size()
	s.bytes += int64(size - e.size)
	s.writer.enqueue(e, size)
	e.cycle, e.size = c, size
	s.index.describe(e, describe(&c.Summary))
	s.evict()
}

// evict brings the store back within its bounds, but keeps the newest cycle even if it alone
// exceeds them.
func (s *Store) evict() {
	for tries := len(s.inMemory); s.bytes > s.bound() && tries > 1; tries-- {
		sequence := s.inMemory[0]
		s.inMemory = s.inMemory[1:]
		e := s.index.find(sequence)
		switch {
		case e == nil || e.cycle == nil:
		case e.state != written && s.writer.works():
			// The cycle can be released once it is written; waitForRoom bounds the
			// cycles that wait.
			s.inMemory = append(s.inMemory, sequence)
		case e.state != written || e.block == nil:
			s.drop(e)
		default:
			s.release(e)
		}
	}
	for s.index.bytes > s.maxIndexBytes() && s.index.len() > 1 {
		s.drop(s.index.oldest())
	}
}

func (s *Store) release(e *entry) {
	s.bytes -= int64(e.size)
	e.cycle, e.size = nil, 0
}

func (s *Store) drop(e *entry) {
	s.writer.lose(e)
	s.release(e)
	s.index.drop(e)
}

// Len returns the number of cycles kept, in memory and on disk.
func (s *Store) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.index.len()
}

// Pods returns the number of pods with kept cycles.
func (s *Store) Pods() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.index.pods)
}

// Health reports whether cycles are kept as configured. When the disk fails, ok is
// false and message says what happened, which cycles may be lost and when the store
// tries again.
func (s *Store) Health() (ok bool, message string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.writer.health()
}

// Subscribe calls fn with every cycle that is put from now on, in order, on the
// goroutine of Put: fn must not block and must not call the store. cancel waits for a
// running call.
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
