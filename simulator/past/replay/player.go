package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/result"
)

// Written is the cluster's answer to a write: the change that its scheduler is about to see. It
// is zero when nothing was written.
type Written = scheduler.Change

// Cluster is the simulated cluster. Create may be called concurrently; all other methods are
// called one at a time.
type Cluster interface {
	// Create creates a whole object. It leaves an existing one alone, such as a system
	// namespace.
	Create(ctx context.Context, kind Kind, object *unstructured.Unstructured) (Written, error)
	// Patch applies a JSON merge patch to an object or one of its subresources. A missing
	// object is not an error.
	Patch(ctx context.Context, kind Kind, namespace, name, subresource string, patch []byte) (Written, error)
	// Delete deletes an object at once. A missing object is not an error.
	Delete(ctx context.Context, kind Kind, namespace, name string) (Written, error)
	// Idle waits until the scheduler has seen the changes and has nothing to do.
	Idle(ctx context.Context, written []Written) error
}

// Results are the simulated scheduler's results. Methods are safe for concurrent use.
type Results interface {
	// Subscribe calls fn with every cycle from now on. fn does not block.
	Subscribe(fn func(*result.Cycle)) (cancel func())
	// Attempts returns a pod's summaries, oldest first; nil when there are none.
	Attempts(uid types.UID) ([]result.Summary, error)
	// Get returns nil when there is no such attempt.
	Get(uid types.UID, attempt int) (*result.Cycle, error)
}

// PlayerOptions say what to play, and how.
type PlayerOptions struct {
	Recording *Recording
	// Name is what people call the recording.
	Name    string
	Cluster Cluster
	Results Results
	// Profiles are the scheduler names that the simulated scheduler answers to.
	Profiles func() []string
	// Reset empties the cluster and the results. Without it, seeking backwards is refused, and
	// seeking forwards plays the changes in between.
	Reset func(ctx context.Context) error
	// Speed is 1 for real time, more for faster, and 0 for as fast as possible.
	Speed float64
	// WaitForScheduler lets the scheduler become idle after each change, so that
	// another run with the same seed decides the same.
	WaitForScheduler bool
	// FollowRecording asks for each decision in the recorded state: a pod is created when the
	// recorded scheduler tried it, and after the simulated decision it is moved to its recorded
	// node. Without it, the simulated cluster diverges from the first different decision on.
	// It implies WaitForScheduler.
	FollowRecording bool
	// Changed is called when the status has changed, from any goroutine, at most a few times
	// per second. It may be nil.
	Changed func()
	// Clock is the real one by default.
	Clock clock.WithTicker
	// Logger receives problems that were handled. Default: discards.
	Logger klog.Logger
}

// State says what a player is doing.
type State string

const (
	Playing  State = "playing"
	Paused   State = "paused"
	Seeking  State = "seeking"
	Finished State = "finished"
	Failed   State = "failed"
)

// Status describes a player. Its JSON form is public.
type Status struct {
	Name    string `json:"name"`
	State   State  `json:"state"`
	Message string `json:"message,omitempty"`
	// Source names the cluster that was recorded.
	Source string    `json:"source,omitempty"`
	Start  time.Time `json:"start"`
	End    time.Time `json:"end"`
	// Position is a time in the recording.
	Position time.Time `json:"position"`
	Changes  int       `json:"changes"`
	Applied  int       `json:"applied"`
	// Speed is 1 for real time, and 0 for as fast as possible.
	Speed            float64 `json:"speed"`
	WaitForScheduler bool    `json:"waitForScheduler"`
	// FollowRecording: each decision is asked for in the recorded state.
	FollowRecording bool `json:"followRecording"`
	// Failed counts the changes that the simulated cluster refused.
	Failed    int    `json:"failed"`
	Decisions Counts `json:"decisions"`
}

// Control is a request to a player. nil fields change nothing.
type Control struct {
	// State is Playing or Paused.
	State            *State     `json:"state,omitempty"`
	Speed            *float64   `json:"speed,omitempty"`
	WaitForScheduler *bool      `json:"waitForScheduler,omitempty"`
	FollowRecording  *bool      `json:"followRecording,omitempty"`
	Position         *time.Time `json:"position,omitempty"`
}

// ErrControl is wrapped by the error of a Control that cannot be carried out.
var ErrControl = errors.New("the replay cannot do this")

var (
	// ErrNoRecording says that no recording is loaded.
	ErrNoRecording = errors.New("no recording is loaded")
	// ErrBusy says that another recording is being loaded.
	ErrBusy = errors.New("another recording is being loaded")
)

// Player plays a recording. It starts and stops once. Its methods are safe for
// concurrent use.
type Player struct {
	opts PlayerOptions

	cancel      context.CancelFunc
	unsubscribe func()
	running     sync.WaitGroup
	// wake signals that the fields of the request have changed.
	wake chan struct{}

	mu sync.Mutex
	// The request.
	playing   bool
	speed     float64
	waiting   bool
	following bool
	target    *time.Time
	steps     []chan struct{}
	// The progress.
	seeking         bool
	finished        bool
	failure         error
	message         string
	position        time.Time
	applied, failed int
	anchor          anchor
	notified        time.Time
	// ended is closed, and replaced, when finished or failure changes.
	ended      chan struct{}
	comparison *comparison
	// next is the time of the next change; zero if it is not known.
	next time.Time

	// These belong to the goroutine of run.
	reader   *Reader
	stage    *stage
	begun    bool
	deferred []Change
	written  []Written
	gap      time.Time
	// gathering: objects are collected in gathered instead of being created.
	gathering bool
	gathered  []creation
}

// anchor ties the clock to the recording while it plays at a speed.
type anchor struct {
	clock, recording time.Time
}

// NewPlayer returns a player that is paused at the start and has applied nothing.
func NewPlayer(o PlayerOptions) *Player {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Changed == nil {
		o.Changed = func() {}
	}
	p := &Player{opts: o, wake: make(chan struct{}, 1), ended: make(chan struct{}), speed: o.Speed, waiting: o.WaitForScheduler, following: o.FollowRecording}
	p.rewind()
	return p
}

// rewind goes back to the start. The caller holds mu or has the only reference.
func (p *Player) rewind() {
	p.reader, p.next, p.stage = p.opts.Recording.Read(), time.Time{}, newStage()
	p.begun, p.deferred, p.written, p.gap = false, nil, nil, time.Time{}
	p.gathering, p.gathered = false, nil
	p.position, p.applied, p.failed, p.finished, p.message = p.opts.Recording.Header.Start, 0, 0, false, ""
	p.comparison = newComparison()
}

// Start starts the player. ctx bounds the start only.
func (p *Player) Start(ctx context.Context) {
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.unsubscribe = p.opts.Results.Subscribe(func(c *result.Cycle) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.comparison.note(c)
	})
	p.running.Go(func() { p.run(ctx) })
}

// Stop stops the player and waits for it. Applied changes stay.
func (p *Player) Stop() {
	if p.cancel == nil {
		return
	}
	p.cancel()
	p.running.Wait()
	p.unsubscribe()
}

// Do requests a change and returns the resulting status. A seek continues in the background: the
// cluster and the comparison start over, from the recorded state at the position. Decisions
// before the position are not repeated.
func (p *Player) Do(c Control) (Status, error) {
	if err := p.check(c); err != nil {
		return Status{}, err
	}
	p.mu.Lock()
	if c.WaitForScheduler != nil {
		p.waiting = *c.WaitForScheduler
	}
	if c.FollowRecording != nil {
		p.following = *c.FollowRecording
	}
	if c.Speed != nil {
		p.speed = *c.Speed
	}
	if c.State != nil {
		p.playing = *c.State == Playing
	}
	if c.Position != nil {
		p.target, p.seeking = c.Position, true
	}
	p.reanchor()
	status := p.status() // before the player acts on it
	p.mu.Unlock()
	p.wakeUp()
	p.opts.Changed()
	return status, nil
}

// Wait waits until the recording has been played to its end. It returns the failure of the player,
// or ctx's error.
func (p *Player) Wait(ctx context.Context) error {
	for {
		p.mu.Lock()
		finished, failure, changed := p.finished && p.target == nil, p.failure, p.ended
		p.mu.Unlock()
		if finished || failure != nil {
			return failure
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the end of the replay: %w", ctx.Err())
		}
	}
}

// announce wakes the callers of Wait. The caller holds mu.
func (p *Player) announce() {
	close(p.ended)
	p.ended = make(chan struct{})
}

// check validates a control before any of it is carried out.
func (p *Player) check(c Control) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.Speed != nil && !(*c.Speed >= 0 && *c.Speed <= MaxSpeed) {
		return fmt.Errorf("%w: the speed must be 0 for as fast as possible, or a number up to %d", ErrControl, MaxSpeed)
	}
	if c.State != nil && *c.State != Playing && *c.State != Paused {
		return fmt.Errorf("%w: the state must be playing or paused, not %q", ErrControl, *c.State)
	}
	start, end := p.opts.Recording.Header.Start, p.opts.Recording.End
	switch {
	case c.Position == nil && c.State != nil && *c.State == Playing && p.finished:
		return fmt.Errorf("%w: the recording is at its end; ask for an earlier position", ErrControl)
	case c.Position == nil:
		return nil
	case c.Position.Before(start) || c.Position.After(end):
		return fmt.Errorf("%w: the position is not between %s and %s", ErrControl, start.Format(time.RFC3339), end.Format(time.RFC3339))
	case c.Position.Before(p.position) && p.opts.Reset == nil:
		return fmt.Errorf("%w: going back needs a cluster that may be emptied", ErrControl)
	}
	return nil
}

// MaxSpeed is the highest speed that can be requested, apart from 0.
const MaxSpeed = 1_000_000

// reanchor ties the clock to the current position. The caller holds mu.
func (p *Player) reanchor() {
	p.anchor = anchor{p.opts.Clock.Now(), p.position}
}

func (p *Player) wakeUp() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Step applies the next changes that share an instant, and waits until they are applied.
func (p *Player) Step(ctx context.Context) (Status, error) {
	done := make(chan struct{})
	p.mu.Lock()
	if p.finished || p.failure != nil {
		p.mu.Unlock()
		return p.Status(), nil
	}
	p.steps = append(p.steps, done)
	p.playing = false
	p.mu.Unlock()
	p.wakeUp()
	select {
	case <-done:
		return p.Status(), nil
	case <-ctx.Done():
		return Status{}, fmt.Errorf("waiting for a step of the replay: %w", ctx.Err())
	}
}

// Status returns the current status.
func (p *Player) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status()
}

// status is Status. The caller holds mu.
func (p *Player) status() Status {
	recording := p.opts.Recording
	s := Status{
		Name: p.opts.Name, State: Paused, Message: p.message, Source: recording.Header.Source,
		Start: recording.Header.Start, End: recording.End, Position: p.now(),
		Changes: recording.Changes, Applied: p.applied, Speed: p.speed, WaitForScheduler: p.waiting, FollowRecording: p.following, Failed: p.failed,
		Decisions: p.comparison.counts(),
	}
	switch {
	case p.failure != nil:
		s.State, s.Message = Failed, p.failure.Error()
	case p.seeking:
		s.State = Seeking
	case p.finished:
		s.State = Finished
	case p.playing:
		s.State = Playing
	}
	return s
}

// now returns the position, which advances between changes while the player plays at a speed.
func (p *Player) now() time.Time {
	if !p.playing || p.seeking || p.finished || p.speed == 0 || p.anchor.clock.IsZero() {
		return p.position
	}
	at := p.anchor.recording.Add(time.Duration(float64(p.opts.Clock.Since(p.anchor.clock)) * p.speed))
	switch {
	case at.Before(p.position):
		return p.position
	case !p.next.IsZero() && at.After(p.next):
		return p.next
	}
	return at
}

// Comparison compares the decisions made so far.
func (p *Player) Comparison(q ComparisonQuery) (Comparison, error) {
	p.mu.Lock()
	entries, next, err := p.comparison.selected(q)
	out := Comparison{Counts: p.comparison.counts(), NodesMissing: p.comparison.nodesMissing(), Continue: next, Items: []Decision{}}
	p.mu.Unlock()
	if err != nil {
		return Comparison{}, err
	}
	for i := range entries {
		d, err := entries[i].decision(p.opts.Results)
		if err != nil {
			return Comparison{}, err
		}
		out.Items = append(out.Items, d)
	}
	return out, nil
}

// run carries out requests until ctx is done.
func (p *Player) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := p.advance(ctx)
		if err != nil && ctx.Err() == nil {
			p.fail(err)
		}
	}
}

func (p *Player) fail(err error) {
	p.mu.Lock()
	p.failure, p.playing, p.seeking, p.target = err, false, false, nil
	p.release()
	p.announce()
	p.mu.Unlock()
	p.opts.Logger.Error(err, "replaying")
	p.opts.Changed()
}

// release wakes the callers of Step. The caller holds mu.
func (p *Player) release() {
	for _, done := range p.steps {
		close(done)
	}
	p.steps = nil
}

// advance takes one step of the current request, or waits for a request.
func (p *Player) advance(ctx context.Context) error {
	p.mu.Lock()
	target, steps, playing, speed := p.target, len(p.steps), p.playing, p.speed
	stopped := p.failure != nil || p.finished && target == nil
	if stopped {
		p.release()
	}
	p.mu.Unlock()
	switch {
	case stopped && target == nil:
		return p.sleep(ctx, nil)
	case target != nil:
		return p.seek(ctx, *target)
	case steps > 0:
		return p.step(ctx)
	case !playing:
		return p.sleep(ctx, nil)
	}
	next, err := p.peek()
	if err != nil {
		return p.atEnd(ctx, err)
	}
	if wait := p.until(next, speed); wait > 0 {
		return p.sleep(ctx, p.opts.Clock.After(wait))
	}
	return p.instant(ctx)
}

// until returns how long to wait for a time of the recording.
func (p *Player) until(at time.Time, speed float64) time.Duration {
	if speed == 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	ahead := float64(at.Sub(p.anchor.recording)) / speed
	const longest = float64(time.Hour)
	return time.Duration(min(ahead, longest+float64(p.opts.Clock.Since(p.anchor.clock)))) - p.opts.Clock.Since(p.anchor.clock)
}

// sleep waits for a request or for timer.
func (p *Player) sleep(ctx context.Context, timer <-chan time.Time) error {
	select {
	case <-ctx.Done():
	case <-p.wake:
	case <-timer:
	}
	return nil
}

func (p *Player) step(ctx context.Context) error {
	err := p.instant(ctx)
	if errors.Is(err, io.EOF) {
		err = p.atEnd(ctx, err)
	}
	if err != nil {
		return err
	}
	p.mu.Lock()
	if len(p.steps) > 0 {
		close(p.steps[0])
		p.steps = p.steps[1:]
	}
	p.mu.Unlock()
	p.opts.Changed()
	return nil
}

// arrive ends a seek.
func (p *Player) arrive(target time.Time) error {
	p.mu.Lock()
	if p.target != nil && p.target.Equal(target) {
		p.target, p.seeking = nil, false
		p.position = target
		p.reanchor()
		p.announce()
	}
	p.mu.Unlock()
	p.opts.Changed()
	return nil
}

// atEnd finishes the recording if err is io.EOF.
func (p *Player) atEnd(ctx context.Context, err error) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	if err := p.begin(ctx, p.opts.Recording.End); err != nil { // the recording may end within its initial list
		return err
	}
	p.mu.Lock()
	p.finished, p.playing = true, false
	p.position = p.opts.Recording.End
	p.release()
	p.announce()
	p.mu.Unlock()
	p.opts.Changed()
	return nil
}

// peek returns the time of the next change.
func (p *Player) peek() (time.Time, error) {
	next, err := p.reader.Peek()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next = next; err != nil {
		p.next = time.Time{}
	}
	return p.next, err
}

// instant applies the next change and all others that share its time. The initial list is one
// instant.
func (p *Player) instant(ctx context.Context) error {
	at, err := p.peek()
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		next, err := p.peek()
		if errors.Is(err, io.EOF) || err == nil && p.begun && !next.Equal(at) {
			break
		}
		if err != nil {
			return err
		}
		c, err := p.reader.Next()
		if err != nil {
			return err
		}
		p.noteApplied(ctx, 1, c.Time, p.apply(ctx, c))
		if c.Verb == Begun {
			break
		}
	}
	return ctx.Err()
}

// noteApplied counts applied changes, and records why one of them failed.
func (p *Player) noteApplied(ctx context.Context, changes int, at time.Time, err error) {
	p.mu.Lock()
	p.applied += changes
	p.position = at
	if err != nil && ctx.Err() == nil {
		p.failed++
		p.message = err.Error()
		p.opts.Logger.V(1).Info("a change of the recording could not be applied", "err", err)
	}
	p.mu.Unlock()
	p.notify()
}

// notifyInterval is how often Changed is called while changes are applied.
const notifyInterval = 250 * time.Millisecond

func (p *Player) notify() {
	p.mu.Lock()
	now := p.opts.Clock.Now()
	due := now.Sub(p.notified) >= notifyInterval
	if due {
		p.notified = now
	}
	p.mu.Unlock()
	if due {
		p.opts.Changed()
	}
}
