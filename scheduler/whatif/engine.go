package whatif

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/rest"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/versions/proxy"
)

// Options say what an engine works on. The zero value of a field means its default.
type Options struct {
	// Source is required.
	Source Source
	// Configuration returns the configuration of questions that have none: defaulted
	// and validated, and never changed again. It is required, and called for each question.
	Configuration func() *config.KubeSchedulerConfiguration
	// OutOfTree are plugins in addition to those of Kubernetes.
	OutOfTree frameworkruntime.Registry
	// Devices returns the ResourceSlices that a virtual node publishes for its annotation standin.AnnotationDevices. Without it, the
	// annotation of a node that a question applies means nothing.
	Devices func(*v1.Node) ([]*resourcev1.ResourceSlice, error)
	// ClientConfig reaches the cluster from which plugins read that use clients of their own. What they write goes
	// nowhere. Without it, their reads fail.
	ClientConfig *rest.Config
	// BreakTie chooses among the nodes that share the best total; by default the first one by name. Kubernetes chooses
	// at random.
	BreakTie func(state fwk.CycleState, pod *v1.Pod, tied []string) string
	// EndSearch lets the search for nodes that fit end as early as the configuration says. By default it sees all nodes.
	EndSearch bool
	// Waiting is how many questions may wait for their turn; 32 by default. Further ones
	// get ErrBusy.
	Waiting int
	// Kept is how many configurations stay built; 4 by default. The one that was not
	// used for the longest time goes first.
	Kept int
	// Idle is how long the engine follows its source, and keeps its configurations, after the last question; 5
	// minutes by default.
	Idle time.Duration
	// Clock is the recorder's clock; time.Now by default.
	Clock func() time.Time
	// Version, if set, is the version of Kubernetes whose scheduler decides, in a program of its own. The recorder notes no inputs of verdicts
	// and scores then, because it knows those of this version only.
	Version *proxy.Options
}

const (
	defaultWaiting = 32
	defaultKept    = 4
	defaultIdle    = 5 * time.Minute
)

// Engine answers questions, one at a time. Its methods may be called from any goroutine.
type Engine struct{ answering }

// answering is an *engine, whose types packages that name an Engine must not see; see Trial.
type answering interface {
	// Ask answers a question. The errors of a question that cannot be answered are ErrBusy, ctx's error
	// and the types of this package.
	Ask(ctx context.Context, q Question) (*Answer, error)
	// Try calls do with a view of the state that no other question shares. All that do changed is undone
	// afterwards. Try returns the error of do, ErrBusy, ctx's error, a *ConfigurationError or a *PanicError. configuration is
	// as in Question.
	Try(ctx context.Context, configuration *config.KubeSchedulerConfiguration, do func(context.Context, *Trial) error) error
	// State returns the operations that make up the source's state now, the nodes before the pods. The caller does not change the objects. The
	// error is ctx's or the source's.
	State(ctx context.Context) ([]feed.Operation, error)
	// Stop lets go of the source and of everything that is built, after the running question. Further questions
	// start again.
	Stop()
}

type engine struct {
	options Options
	// turn is held by the question that is being answered.
	turn chan struct{}
	// waiting counts the questions that hold or wait for the turn.
	waiting chan struct{}

	// The goroutine that holds the turn owns the rest. kept is ordered, the latest one first.
	kept []*follow

	mu sync.Mutex
	// idle fires when no question has come for a while. It is nil while there is nothing to let go of.
	idle *time.Timer
}

// follow is a replica that follows the source.
type follow struct {
	*Replica
	follower *feed.Follower
	// filled: the replica has the state.
	filled bool
}

// New returns an engine. It does no work until the first question.
//
//go:noinline
func New(options Options) *Engine {
	if options.Waiting == 0 {
		options.Waiting = defaultWaiting
	}
	if options.Kept == 0 {
		options.Kept = defaultKept
	}
	if options.Idle == 0 {
		options.Idle = defaultIdle
	}
	if options.Clock == nil {
		options.Clock = time.Now
	}
	return &Engine{&engine{options: options, turn: make(chan struct{}, 1), waiting: make(chan struct{}, options.Waiting+1)}}
}

func (e *engine) Ask(ctx context.Context, q Question) (*Answer, error) { return ask(ctx, e, q) }

func ask(ctx context.Context, e answering, q Question) (*Answer, error) {
	var answer *Answer
	err := e.Try(ctx, q.Configuration, func(ctx context.Context, t *Trial) (err error) {
		answer, err = t.Answer(ctx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

func (e *engine) State(ctx context.Context) ([]feed.Operation, error) {
	follower, err := e.options.Source.Follow(ctx)
	if err != nil {
		return nil, err
	}
	defer follower.Close()
	ops, _, err := follower.Drain(ctx)
	return ops, err
}

func (e *engine) Try(ctx context.Context, configuration *config.KubeSchedulerConfiguration, do func(context.Context, *Trial) error) error {
	if err := e.begin(ctx); err != nil {
		return err
	}
	defer e.end()
	if configuration == nil {
		configuration = e.options.Configuration()
	}
	r, err := e.replica(ctx, configuration)
	if err != nil {
		return err
	}
	return e.checked(r, r.Try(ctx, do))
}

// begin waits for the turn.
func (e *engine) begin(ctx context.Context) error {
	select {
	case e.waiting <- struct{}{}:
	default:
		return ErrBusy
	}
	select {
	case e.turn <- struct{}{}:
	case <-ctx.Done():
		<-e.waiting
		return ctx.Err()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.idle != nil {
		e.idle.Stop()
		e.idle = nil
	}
	return nil
}

func (e *engine) end() {
	e.mu.Lock()
	if len(e.kept) > 0 {
		e.idle = time.AfterFunc(e.options.Idle, e.letGo)
	}
	e.mu.Unlock()
	<-e.turn
	<-e.waiting
}

// letGo closes everything, unless a question is being answered: a later end tries again.
func (e *engine) letGo() {
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
		e.closeAll()
	default:
	}
}

func (e *engine) closeAll() {
	for _, f := range e.kept {
		f.close()
	}
	e.kept = nil
}

func (f *follow) close() {
	f.follower.Close()
	// The plugins are gone, whatever their Close says.
	_ = f.Replica.Close()
}

func (e *engine) Stop() {
	e.turn <- struct{}{}
	defer func() { <-e.turn }()
	e.mu.Lock()
	if e.idle != nil {
		e.idle.Stop()
		e.idle = nil
	}
	e.mu.Unlock()
	e.closeAll()
}

func (e *engine) replica(ctx context.Context, configuration *config.KubeSchedulerConfiguration) (*follow, error) {
	f, err := e.find(ctx, configuration)
	if err != nil {
		return nil, err
	}
	ops, whole, err := f.follower.Drain(ctx)
	if err != nil {
		return nil, fmt.Errorf("bringing the state up to date: %w", err)
	}
	if whole && f.filled {
		// A new scheduler has nothing to forget.
		if err := f.rebuild(ctx, e.options); err != nil {
			return nil, e.checked(f, err)
		}
	}
	f.filled = true
	return f, e.checked(f, f.Apply(ops...))
}

// find returns the replica of a configuration, and makes it the latest one.
func (e *engine) find(ctx context.Context, configuration *config.KubeSchedulerConfiguration) (*follow, error) {
	at := slices.IndexFunc(e.kept, func(f *follow) bool { return equality.Semantic.DeepEqual(f.given, configuration) })
	if at >= 0 {
		f := e.kept[at]
		e.kept = slices.Insert(slices.Delete(e.kept, at, at+1), 0, f)
		return f, nil
	}
	r, err := NewReplica(ctx, configuration, e.options)
	if err != nil {
		return nil, err
	}
	follower, err := e.options.Source.Follow(ctx)
	if err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("following the state: %w", err)
	}
	f := &follow{Replica: r, follower: follower}
	e.kept = slices.Insert(e.kept, 0, f)
	for len(e.kept) > e.options.Kept {
		e.drop(e.kept[len(e.kept)-1])
	}
	return f, nil
}

// rebuild replaces the replica by an empty one.
func (f *follow) rebuild(ctx context.Context, options Options) error {
	fresh, err := NewReplica(ctx, f.given, options)
	if err != nil {
		return err
	}
	_ = f.Replica.Close()
	f.Replica = fresh
	return nil
}

// checked drops a replica that an error broke. It returns err.
func (e *engine) checked(f *follow, err error) error {
	if broken := (*PanicError)(nil); errors.As(err, &broken) {
		e.drop(f)
	}
	return err
}

func (e *engine) drop(f *follow) {
	e.kept = slices.DeleteFunc(e.kept, func(other *follow) bool { return other == f })
	f.close()
}
