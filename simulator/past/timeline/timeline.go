package timeline

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/past/replay"
)

// DefaultBytes is the default bound of the journal on disk.
const DefaultBytes = 256 << 20

// Entry is a stored object: its key below the API server's prefix in etcd, and its value, nil for a
// deleted one. Revision is that of etcd that wrote or deleted it; 0 if it is not known.
type Entry = struct {
	Key      string
	Value    []byte
	Revision int64
}

// Options of a Timeline. One that records needs Follow and Dir; without them it answers for
// recordings only.
type Options struct {
	// Dir is the directory of the journal. Only one Timeline at a time may use it.
	Dir string
	// Bytes bounds the journal. 0 records nothing.
	Bytes int64
	// Follow calls listed with all stored objects, some at a time and done with the last ones, and
	// then changed with the changes in their order. It calls listed again after it lost some. It
	// returns when ctx ends. Neither side keeps a value.
	Follow func(ctx context.Context, listed func(some []Entry, done bool), changed func([]Entry)) error
	// Results are the scheduling results.
	Results Results
	// Recording returns the loaded recording, and its name; nil when none is.
	Recording func() *replay.Recording
	// Config reaches the API server, for undo. The time line calls it after Start.
	Config func() *rest.Config
	// Import imports objects, for undo. With replace, it empties the cluster before.
	Import func(ctx context.Context, src manifest.Source, replace bool) (*transfer.Report, error)
	// Configure applies a document to the scheduler, for undo.
	Configure func(ctx context.Context, document []byte) error
	// Clock is the real one by default.
	Clock clock.WithDelayedExecution
	// Logger gets a line for each file that the time line sets aside, and when the disk fails and
	// works again.
	Logger klog.Logger
}

// Results is the part of the result store that a time line needs. Methods are safe for concurrent
// use.
type Results interface {
	// Subscribe calls fn for every cycle that ends, until cancel has returned. fn must not block.
	Subscribe(fn func(*result.Cycle)) (cancel func())
	// Get returns nil if the UID or the attempt is unknown.
	Get(uid types.UID, attempt int) (*result.Cycle, error)
}

// Timeline records a simulator and answers questions about its past. Methods are safe for
// concurrent use; call Start and Stop once.
type Timeline struct {
	opts Options

	cancel  context.CancelFunc
	running sync.WaitGroup
	// loaded is closed when the journal can be read.
	loaded chan struct{}

	// undoing is held by the undo that runs.
	undoing sync.Mutex

	scheduled, unschedulable atomic.Int64

	mu      sync.Mutex
	journal *journal
	// listing holds the keys of a list that is under way.
	listing map[string]bool
	// broken says why recording fails at present; nil while all is well.
	broken error
	// retry is when to try again.
	retry time.Time
	// armed: a flush is due.
	armed bool
	timer clock.Timer

	steps          []*record
	dirty          []*record // to be written
	number         uint64    // of the latest step
	failing        map[string]*record
	configurations []configurationMark
	unwritten      []mark
	attempts       []attemptsMark
	recent         recents
	writes         []Write // of users, whose changes have not come yet
	operations     int     // that have begun
	configured     Configuration
	// restoring: an undo runs, so nothing is a step of a user.
	restoring bool
	latest    *rebuilt
	// measuring guards usage.
	measuring sync.Mutex
	usage     *usage
	// drawing guards drawn, of the moment that the latest query named.
	drawing sync.Mutex
	drawn   *drawn
	// mu guards stripper.
	stripper stripper
	// reading guards index, of the recording that the latest query read.
	reading sync.Mutex
	index   *index
	// moved is closed and replaced at each flush and each matched write.
	moved chan struct{}
}

// New returns a time line that has not started. It does no I/O.
func New(o Options) *Timeline {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Recording == nil {
		o.Recording = func() *replay.Recording { return nil }
	}
	return &Timeline{
		opts: o, loaded: make(chan struct{}), moved: make(chan struct{}), failing: map[string]*record{},
		journal: newJournal(o),
	}
}

// Records reports whether the simulator records itself.
func (t *Timeline) Records() bool { return t.opts.Bytes > 0 && t.opts.Follow != nil }

// Start begins to read the journal and to record. It returns at once; a problem becomes a warning.
func (t *Timeline) Start() {
	if !t.Records() {
		close(t.loaded)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.cancel = cancel
	stop := t.opts.Results.Subscribe(t.count)
	t.running.Go(func() {
		defer stop()
		t.load(ctx)
		close(t.loaded)
		if err := t.opts.Follow(ctx, t.listed, t.changed); err != nil && ctx.Err() == nil {
			t.fail(fmt.Errorf("following the cluster: %w", err))
		}
	})
}

// Stop writes the rest.
func (t *Timeline) Stop(ctx context.Context) error {
	if t.cancel == nil {
		return nil
	}
	t.cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		t.running.Wait()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		return fmt.Errorf("stopping the time line: %w", context.Cause(ctx))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
	t.flush()
	if err := t.journal.close(); err != nil {
		return fmt.Errorf("closing the time line: %w", err)
	}
	return nil
}

// Warnings tell users what damage the start found, and why recording fails at present.
func (t *Timeline) Warnings() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.Clone(t.journal.warnings)
	if t.broken != nil {
		all = append(all, "the time line does not record: "+t.broken.Error())
	}
	return all
}

func (t *Timeline) load(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	marks, err := t.journal.load(ctx)
	if err != nil {
		if ctx.Err() == nil {
			t.broken = err
			t.opts.Logger.Error(err, "The time line cannot be read, and nothing is recorded")
		}
		return
	}
	for _, m := range marks {
		t.recall(m)
	}
	for _, r := range t.steps {
		if r.Kind == FailureStep && r.EndTime == nil {
			t.failing[r.Objects[0].Name] = r
		}
	}
}

// recall takes a mark that the start has read.
func (t *Timeline) recall(m mark) {
	switch {
	case m.Step != nil:
		t.number = max(t.number, m.Step.Number)
		at, found := slices.BinarySearchFunc(t.steps, m.Step, func(a, b *record) int { return int(int64(a.Number) - int64(b.Number)) })
		if found {
			t.steps[at] = m.Step
		} else {
			t.steps = slices.Insert(t.steps, at, m.Step)
		}
	case m.Configuration != nil:
		if last := len(t.configurations) - 1; last < 0 || t.configurations[last].Revision != m.Configuration.Revision || t.configurations[last].Document != m.Configuration.Document {
			t.configurations = append(t.configurations, *m.Configuration)
		}
	case m.Attempts != nil:
		t.attempts = append(t.attempts, *m.Attempts)
	}
}

func (t *Timeline) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.suspend(err)
}

func (t *Timeline) suspend(err error) {
	if t.broken == nil {
		t.opts.Logger.Error(err, "The time line does not record")
	}
	t.broken = err
}

// some is a part of a list of all objects.
func (t *Timeline) listed(some []Entry, done bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.listing == nil {
		t.listing = map[string]bool{}
	}
	for _, e := range some {
		t.listing[e.Key] = true
	}
	if len(t.journal.segments) > 0 {
		t.take(some)
	} else {
		for _, e := range some { // the first segment begins with them
			if value := t.value(e); value != nil {
				t.journal.state[e.Key] = bytes.Clone(value)
			}
		}
	}
	if !done {
		return
	}
	var gone []Entry
	for key := range t.journal.state {
		if !t.listing[key] {
			gone = append(gone, Entry{Key: key})
		}
	}
	slices.SortFunc(gone, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	t.listing = nil
	if len(t.journal.segments) == 0 {
		t.journal.moment++ // the state at the first start is a moment, too
		t.journal.time = t.now()
		t.begin()
		return
	}
	t.take(gone)
	t.flush()
}

// The changes are in their order.
func (t *Timeline) changed(some []Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.take(some)
}

// value returns what the journal holds of a stored object, nil for nothing. It is valid until the
// next call.
func (t *Timeline) value(e Entry) []byte {
	kind, err := kindOf(e.Value)
	if err != nil || !recorded(kind, e.Value) {
		return nil
	}
	value, err := t.stripper.strip(e.Value)
	if err != nil {
		return nil
	}
	return value
}

func (t *Timeline) take(some []Entry) {
	now := t.now()
	for _, e := range some {
		before := t.journal.state[e.Key]
		var value []byte
		if e.Value != nil {
			if value = t.value(e); value == nil {
				continue
			}
		}
		if !t.journal.add(now, e.Key, value) {
			continue
		}
		c := change{moment: t.journal.moment, at: now, revision: e.Revision, key: e.Key}
		if value == nil {
			c.deleted, _ = refOf(before)
		}
		t.recent.note(c)
		t.watchNode(e.Key, value)
		if len(t.journal.buffer) >= flushBytes {
			t.flush()
		}
	}
	if len(t.writes) > 0 {
		t.match(now)
	}
	if t.journal.count > 0 {
		t.arm()
	}
}

func (t *Timeline) now() time.Time { return t.opts.Clock.Now() }

// When the program is killed, the journal loses at most flushInterval. The next start finds what
// the cluster became in that time.
const flushInterval = time.Second

// arm lets a flush happen soon. An idle program does not wake up.
func (t *Timeline) arm() {
	if t.armed {
		return
	}
	t.armed = true
	t.timer = t.opts.Clock.AfterFunc(flushInterval, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.armed = false
		if len(t.writes) > 0 {
			t.match(t.now())
		}
		t.flush()
		if len(t.writes) > 0 {
			t.arm()
		}
	})
}

// flush writes everything, and begins a new segment when the newest is full.
func (t *Timeline) flush() {
	defer t.tell()
	if len(t.journal.segments) == 0 {
		return
	}
	now := t.now()
	if s, u := t.scheduled.Swap(0), t.unschedulable.Swap(0); s+u > 0 {
		m := attemptsMark{Time: now, Scheduled: int(s), Unschedulable: int(u)}
		t.attempts = append(t.attempts, m)
		t.unwritten = append(t.unwritten, mark{Attempts: &m})
	}
	for _, r := range t.dirty {
		t.unwritten = append(t.unwritten, mark{Step: r})
	}
	t.dirty = nil
	if t.broken == nil {
		if err := t.journal.flush(now, t.unwritten); err != nil {
			t.suspend(err)
		}
	}
	if t.broken != nil {
		// Drop what cannot be written. A new segment begins with what there is by then.
		t.journal.buffer, t.journal.count = t.journal.buffer[:0], 0
		if !now.Before(t.retry) {
			t.begin()
		}
		t.unwritten = nil
		return
	}
	t.unwritten = nil
	if t.journal.isFull() {
		t.begin()
	}
}

// retryPause is the time between two attempts to record again.
const retryPause = 30 * time.Second

// begin begins a segment, and forgets what the journal then drops.
func (t *Timeline) begin() {
	marks := slices.Clone(t.unwritten)
	if n := len(t.configurations); n > 0 {
		marks = append(marks, mark{Configuration: &t.configurations[n-1]})
	}
	for _, r := range t.failing {
		marks = append(marks, mark{Step: r})
	}
	if err := t.journal.begin(t.now(), marks); err != nil {
		t.suspend(err)
		t.retry = t.now().Add(retryPause)
		return
	}
	t.unwritten = nil
	if t.broken != nil {
		t.opts.Logger.Info("The time line records again")
		t.broken = nil
	}
	oldest, _, _ := t.journal.ends()
	t.steps = slices.DeleteFunc(t.steps, func(r *record) bool { return r.Moment < oldest.Moment && (r.Kind != FailureStep || r.EndTime != nil) })
	t.attempts = slices.DeleteFunc(t.attempts, func(m attemptsMark) bool { return m.Time.Before(oldest.Time) })
	for len(t.configurations) > 1 && !t.configurations[1].Time.After(oldest.Time) {
		t.configurations = t.configurations[1:]
	}
}

// tell wakes those who wait for something to move.
func (t *Timeline) tell() {
	close(t.moved)
	t.moved = make(chan struct{})
}

// count runs while pods are scheduled.
func (t *Timeline) count(c *result.Cycle) {
	switch c.Outcome {
	case result.Scheduled:
		t.scheduled.Add(1)
	case result.Unschedulable:
		t.unschedulable.Add(1)
	}
}

func (t *Timeline) ready(ctx context.Context) error {
	select {
	case <-t.loaded:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
