package resultstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"kube-scheduler-simulator/scheduler/blockfile"
	"kube-scheduler-simulator/scheduler/result"
)

const (
	// flushInterval is how long a cycle waits to be written with others. It must be
	// on disk after a second, including the time of the write.
	flushInterval = 500 * time.Millisecond
	// retryInterval is the time between attempts to write to a failing disk.
	retryInterval = 30 * time.Second
	// blockBytes is the size of a block before it is packed: large enough to share names and
	// compress well, small enough for reading a single cycle.
	blockBytes = 1 << 20
)

// writer writes a store's cycles to disk. It is nil in a store without a directory.
type writer struct {
	store      *Store
	clock      clock.Clock
	maxBacklog int64

	// Guarded by the store's mu.
	running bool
	// queue holds the sequences to write, perhaps with dropped ones, in order. backlog is the size
	// of the unwritten cycles.
	queue   []uint64
	backlog int64
	// room is signalled when the backlog shrinks, and when Put need not wait for that.
	room         *sync.Cond
	failure      error
	failingSince time.Time
	// lost counts the cycles dropped unwritten since the first failure.
	lost int

	// flushing guards files and builder. It is taken before the store's mu.
	flushing sync.Mutex
	files    blockfile.Dir[loadedBlock]
	builder  *blockBuilder

	// wake and full hold at most one token each. wake says that a cycle is queued,
	// full that so much is queued that the next write must not wait.
	wake, full chan struct{}
	stop, done chan struct{}
	stopOnce   sync.Once
	// closing is the error of the last flush; it is read after done.
	closing error
}

func newWriter(s *Store, o Options) *writer {
	if o.DiskBytes == 0 {
		o.DiskBytes = DefaultDiskBytes
	}
	files := newFiles(o.Dir, o.Logger)
	files.MaxBytes, files.FileBytes, files.Durable = o.DiskBytes, min(maxFileBytes, o.DiskBytes/filesPerStore), o.Durable
	return &writer{
		store:      s,
		clock:      o.Clock,
		maxBacklog: o.MemoryBytes / 4,
		room:       sync.NewCond(&s.mu),
		files:      files,
		builder:    newBlockBuilder(),
		wake:       make(chan struct{}, 1),
		full:       make(chan struct{}, 1),
		stop:       make(chan struct{}),
		done:       make(chan struct{}),
	}
}

// Start reads the directory and starts writing there. It cuts off unfinished writes, and sets
// damaged files aside after it has saved their readable part; neither is an error. It returns an
// *blockfile.UnreadableError, having changed nothing, when it cannot open a file or read anything in it, or
// when another version wrote it. It also fails when the directory cannot be created or listed, when
// cycles were put before it, and when ctx ends first. It does nothing for a store without a
// directory.
func (s *Store) Start(ctx context.Context) error {
	if s.writer == nil {
		return nil
	}
	if err := s.load(ctx); err != nil {
		return err
	}
	go s.writer.run()
	return nil
}

// Stop writes the remaining cycles and closes the files. It fails when the write fails, or when ctx
// ends first. Afterwards nothing on disk can be read.
func (s *Store) Stop(ctx context.Context) error {
	w := s.writer
	if w == nil {
		return nil
	}
	s.mu.RLock()
	running := w.running
	s.mu.RUnlock()
	if !running {
		return nil
	}
	w.stopOnce.Do(func() { close(w.stop) })
	select {
	case <-w.done:
		return w.closing
	case <-ctx.Done():
		return fmt.Errorf("writing the last results: %w", ctx.Err())
	}
}

// Reset drops every cycle, in memory and on disk.
func (s *Store) Reset() {
	if w := s.writer; w != nil {
		w.flushing.Lock()
		defer w.flushing.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index, s.inMemory, s.bytes = newIndex(), nil, 0
	s.open.Store(nil)
	s.writer.reset()
}

func (w *writer) reset() {
	if w == nil {
		return
	}
	w.queue, w.backlog, w.lost = nil, 0, 0
	w.room.Broadcast()
	_ = w.files.Clear()
}

func (s *Store) load(ctx context.Context) error {
	w := s.writer
	w.flushing.Lock()
	defer w.flushing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sequence != 0 || w.running {
		return errors.New("the result store is already in use")
	}
	if err := os.MkdirAll(w.files.Path, 0o700); err != nil {
		return &blockfile.UnreadableError{Path: w.files.Path, Err: err}
	}
	files, err := w.files.Load(ctx)
	if err != nil {
		return err
	}
	s.addLoaded(files)
	w.running = true
	w.forget(w.files.Excess(0, 0))
	s.evict()
	return nil
}

// addLoaded adds the cycles of blocks to the index. A later record replaces an earlier one of the
// same sequence.
func (s *Store) addLoaded(files []*blockfile.Loaded[loadedBlock]) {
	type loaded struct {
		key
		block *block
		row   int
	}
	var all []loaded
	for _, f := range files {
		for _, b := range f.Blocks {
			b.Value.offset = b.At
			for row, k := range b.Value.keys {
				all = append(all, loaded{key: k, block: b.Value.block, row: row})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b loaded) int { return cmp.Compare(a.sequence, b.sequence) })
	for _, l := range all {
		e := s.index.get(l.pod.UID, l.attempt)
		if e != nil && e.sequence != l.sequence {
			s.index.drop(e)
			e = nil
		}
		if e == nil {
			if l.sequence <= s.sequence {
				continue
			}
			s.sequence = l.sequence
			e = s.index.add(l.sequence, l.pod, l.attempt)
		}
		s.index.describe(e, l.description)
		e.block, e.row = l.block, l.row
	}
}

// waitForRoom waits until the backlog is within its bound. The caller holds the store's mu, which
// waiting releases.
func (w *writer) waitForRoom() {
	for w.works() && w.backlog > w.maxBacklog {
		w.room.Wait()
	}
}

// works reports whether queued cycles will be written soon.
func (w *writer) works() bool { return w != nil && w.running && w.failure == nil }

func (w *writer) enqueue(e *entry, size int) {
	if w == nil || !w.running {
		return
	}
	if e.state != written {
		w.backlog -= int64(e.size)
	}
	w.backlog += int64(size)
	if e.state != queued {
		w.queue = append(w.queue, e.sequence)
	}
	e.state = queued
	offer(w.wake)
	if w.backlog > w.maxBacklog/2 {
		offer(w.full)
	}
}

func offer(token chan<- struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

func (w *writer) lose(e *entry) {
	if w == nil || e.state == written {
		return
	}
	w.backlog -= int64(e.size)
	w.lost++
}

func (w *writer) health() (bool, string) {
	if w == nil || w.failure == nil {
		return true, ""
	}
	return false, fmt.Sprintf("writing scheduling results to %s has failed since %s: %v; "+
		"the newest are kept in memory, %d that did not fit were dropped; writing is tried again every %v",
		w.files.Path, w.failingSince.Format(time.RFC3339), w.failure, w.lost, retryInterval)
}

func (w *writer) run() {
	defer close(w.done)
	defer w.close()
	for {
		select {
		case <-w.wake:
		case <-w.stop:
			return
		}
		if !w.pause(flushInterval, w.full) {
			return
		}
		for w.flush() != nil {
			if !w.pause(retryInterval, nil) {
				return
			}
		}
	}
}

// pause returns false when the writer must stop.
func (w *writer) pause(d time.Duration, token <-chan struct{}) bool {
	timer := w.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-token:
	case <-w.stop:
		return false
	}
	return true
}

func (w *writer) close() {
	if err := w.flush(); err != nil {
		w.closing = fmt.Errorf("writing the last results: %w", err)
	}
	w.flushing.Lock()
	defer w.flushing.Unlock()
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	w.running = false
	w.room.Broadcast()
	_ = w.files.Close()
}

type queuedCycle struct {
	sequence uint64
	cycle    *result.Cycle
}

func (w *writer) flush() error {
	w.flushing.Lock()
	defer w.flushing.Unlock()
	batch := w.take()
	for from := 0; from < len(batch); {
		n, err := w.writeBlock(batch[from:])
		if err != nil {
			w.failed(batch[from:], err)
			return err
		}
		from += n
	}
	w.worked()
	return nil
}

func (w *writer) take() []queuedCycle {
	s := w.store
	s.mu.Lock()
	defer s.mu.Unlock()
	batch := make([]queuedCycle, 0, len(w.queue))
	for _, sequence := range w.queue {
		if e := s.index.find(sequence); e != nil && e.state == queued {
			e.state = writing
			batch = append(batch, queuedCycle{sequence: sequence, cycle: e.cycle})
		}
	}
	w.queue = nil
	return batch
}

func (w *writer) writeBlock(batch []queuedCycle) (n int, err error) {
	encoded := make([]queuedCycle, 0, len(batch))
	for n < len(batch) && w.builder.size() < blockBytes {
		q := batch[n]
		n++
		if err := w.builder.add(q.sequence, q.cycle); err != nil {
			w.store.logger.Error(err, "Cannot write a result; it is kept in memory only")
			w.commit([]queuedCycle{q}, nil)
			continue
		}
		encoded = append(encoded, q)
	}
	if len(encoded) == 0 {
		return n, nil
	}
	data, extents := w.builder.finish()
	if gone := w.files.Excess(int64(len(data)), 0); len(gone) > 0 {
		w.store.mu.Lock()
		w.forget(gone)
		w.store.mu.Unlock()
	}
	file, at, err := w.files.Append(data)
	if err != nil {
		return 0, err
	}
	w.commit(encoded, &block{file: file, offset: at, extents: extents})
	return n, nil
}

// A nil b means that the cycles cannot be written.
func (w *writer) commit(cycles []queuedCycle, b *block) {
	s := w.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for row, q := range cycles {
		e := s.index.find(q.sequence)
		if e == nil {
			continue
		}
		e.block, e.row = b, row
		if e.state == writing {
			e.state = written
			w.backlog -= int64(e.size)
		}
	}
	s.evict()
	w.room.Broadcast()
}

// forget drops the cycles that exist only in the files gone, and then those files. The caller holds
// the store's mu.
func (w *writer) forget(gone []*blockfile.File) {
	if len(gone) == 0 {
		return
	}
	s := w.store
	var onlyThere []uint64
	for i := range s.index.entries {
		e := &s.index.entries[i]
		if e.block == nil || !slices.Contains(gone, e.block.file) {
			continue
		}
		e.block = nil
		if e.cycle == nil {
			onlyThere = append(onlyThere, e.sequence)
		}
	}
	for _, sequence := range onlyThere {
		s.drop(s.index.find(sequence))
	}
	for _, f := range gone {
		_ = w.files.Discard(f)
	}
}

func (w *writer) failed(cycles []queuedCycle, err error) {
	s := w.store
	s.mu.Lock()
	defer s.mu.Unlock()
	var again []uint64
	for _, q := range cycles {
		if e := s.index.find(q.sequence); e != nil && e.state == writing {
			e.state = queued
			again = append(again, q.sequence)
		}
	}
	w.queue = append(again, w.queue...)
	if w.failure == nil {
		w.failingSince = w.clock.Now()
		s.logger.Error(err, "Cannot write results; the newest are kept in memory", "directory", w.files.Path, "retryEvery", retryInterval)
	}
	w.failure = err
	s.evict()
	w.room.Broadcast()
}

func (w *writer) worked() {
	s := w.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.failure != nil {
		s.logger.Info("Results are written again", "directory", w.files.Path, "dropped", w.lost)
	}
	w.failure, w.lost = nil, 0
}
