package shadow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// Options say what a Judge judges. The zero value of a field means its default.
type Options struct {
	// Follow begins to follow the running scheduler, with its decisions. Required.
	Follow func(ctx context.Context) (*feed.Follower, error)
	// Subscribe calls its argument with every finished cycle until cancel. Required.
	Subscribe func(func(*result.Cycle)) (cancel func())
	// Engine has the options of the scheduler that decides for the shadow; see whatif.NewReplica.
	Engine whatif.Options
	// Clock is time.Now by default.
	Clock func() time.Time
	// Logger receives why the shadow does not judge. The zero value discards it.
	Logger klog.Logger
}

// Judge lets a second configuration, the shadow, decide about each pod on the state that the
// scheduler decided on, and compares. It follows the scheduler's log of changes up to the mark of
// each decision. It neither waits for the scheduler nor makes it wait: it lags behind, and leaves
// decisions out when it lags too far. It also rests between two decisions, so that it takes at most
// a quarter of one processor's time. It neither judges nor counts decisions about pod groups and
// failed ones. Any goroutine may call its methods; Set and Clear wait for each other.
type Judge struct {
	options Options

	turn sync.Mutex
	stop func()

	mu    sync.Mutex
	state State
	// epoch counts the shadows and the resets: earlier judgements no longer count.
	epoch   int
	arrived []*result.Cycle
	// signal says that some have arrived.
	signal chan struct{}
}

// State is the shadow and its judgement so far.
type State struct {
	// Configuration is nil if there is no shadow; everything else is then empty.
	Configuration *config.Configuration
	// Since is when the shadow began to judge.
	Since time.Time
	Judgement
	// Skipped counts the decisions since then that the judge left out, because the shadow could not
	// keep up or because a pod was bound long after the decision.
	Skipped int
	// Waiting counts the decisions since then that are not judged yet.
	Waiting int
	// Problem says why the shadow does not judge; empty if it does.
	Problem string
}

// maxArrived bounds the whole cycles that wait for the judge.
const maxArrived = 512

// New returns a judge without a shadow.
func New(options Options) *Judge {
	if options.Clock == nil {
		options.Clock = time.Now
	}
	return &Judge{options: options, stop: func() {}, signal: make(chan struct{}, 1), state: State{Judgement: empty()}}
}

func empty() Judgement { return Judgement{Items: []Item{}} }

// Set replaces the shadow by c and begins to judge. It waits up to some seconds until the judge
// knows the state of the running scheduler; the judge sees later decisions. If no scheduler can be
// built with c, the error is a *config.Error and the earlier shadow stays.
func (j *Judge) Set(ctx context.Context, c *config.Configuration) error {
	j.turn.Lock()
	defer j.turn.Unlock()
	replica, err := whatif.NewReplica(ctx, c.Internal, j.options.Engine)
	if bad, ok := errors.AsType[*whatif.ConfigurationError](err); ok {
		return c.Refuse(bad.Err)
	}
	if err != nil {
		return fmt.Errorf("building the shadow's scheduler: %w", err)
	}
	j.end()
	j.mu.Lock()
	j.state = State{Configuration: c, Since: j.options.Clock(), Judgement: empty()}
	j.epoch++
	j.mu.Unlock()
	j.begin(ctx, replica, c)
	return nil
}

// Clear removes the shadow, if there is one.
func (j *Judge) Clear() {
	j.turn.Lock()
	defer j.turn.Unlock()
	j.end()
	j.mu.Lock()
	j.state = State{Judgement: empty()}
	j.epoch++
	j.mu.Unlock()
}

// Forget drops the judgement so far and keeps the shadow.
func (j *Judge) Forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state.Configuration == nil {
		return
	}
	j.state = State{Configuration: j.state.Configuration, Since: j.options.Clock(), Judgement: empty(), Problem: j.state.Problem}
	j.arrived = nil
	j.epoch++
}

// State returns a copy.
func (j *Judge) State() State {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := j.state
	out.Judgement = j.state.newestFirst()
	return out
}

// begin is called with the turn held. If a scheduler runs, begin returns when the judge follows it,
// so that every later decision has a mark.
func (j *Judge) begin(ctx context.Context, replica *whatif.Replica, c *config.Configuration) {
	unsubscribe := j.options.Subscribe(j.arrive)
	r := &run{judge: j, configuration: c, replica: replica}
	r.tryBegin(ctx)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { r.loop(ctx) })
	j.stop = func() {
		unsubscribe()
		cancel()
		running.Wait()
	}
}

// end is called with the turn held.
func (j *Judge) end() {
	j.stop()
	j.stop = func() {}
	j.mu.Lock()
	j.arrived = nil
	j.mu.Unlock()
}

// arrive only notes a live cycle, because the scheduler's recorder waits for it. It leaves out
// cycles of pod groups, which have no marks, and repetitions.
func (j *Judge) arrive(c *result.Cycle) {
	if c.PodGroup != nil || c.Updates > 0 {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if c.StartTime.Before(j.state.Since) {
		return
	}
	if len(j.arrived) == maxArrived {
		j.arrived = j.arrived[1:]
		j.state.Waiting--
		j.state.Skipped++
	}
	j.state.Waiting++
	j.arrived = append(j.arrived, c)
	select {
	case j.signal <- struct{}{}:
	default:
	}
}

func (j *Judge) take() (arrived []*result.Cycle, epoch int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	arrived, j.arrived = j.arrived, nil
	return arrived, j.epoch
}

// note changes the state, unless the epoch is over.
func (j *Judge) note(epoch int, change func(*State)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.epoch == epoch {
		change(&j.state)
	}
}

// fail notes why the shadow does not judge; empty if it does.
func (j *Judge) fail(problem string) {
	j.mu.Lock()
	changed := j.state.Problem != problem
	j.state.Problem = problem
	j.mu.Unlock()
	if changed && problem != "" {
		j.options.Logger.Info("The shadow configuration does not judge: " + problem)
	}
}
