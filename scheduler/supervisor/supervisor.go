// Package supervisor keeps one recorded scheduler running while its configuration changes. Every
// applied configuration is a numbered revision.
//
// The supervisor stops the old scheduler only when the new one is built and knows the cluster, and
// the new one schedules only after the old one has ended. If the new one cannot be built, the old
// one keeps running. A scheduler that crashed the program can start paused; see Options.Paused.
//
// It may import the packages scheduler, scheduler/config, scheduler/recorder and scheduler/result,
// and knows nothing of HTTP.
package supervisor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/sharedpods"
)

// Options say what to run. The zero value of a field means its default.
type Options struct {
	// Client reaches the API server. It is required.
	Client *rest.Config
	// Sink receives the finished cycles. It is required.
	Sink recorder.Sink
	// Feed hands out the state of whichever scheduler runs. It may be nil.
	Feed *scheduler.Feed
	// SharedPods is scheduler.Options.SharedPods.
	SharedPods *sharedpods.Pool
	// OutOfTree are plugins in addition to those of Kubernetes.
	OutOfTree frameworkruntime.Registry
	// Parse reads a document. The default refuses plugins that are neither
	// Kubernetes' nor in OutOfTree.
	Parse func(document []byte) (*config.Configuration, error)
	// Initial is the configuration to start with. Without it, the supervisor resumes the latest
	// saved revision or uses Kubernetes' default. A reset goes back to Initial or the default.
	Initial *config.Configuration
	// Paused, if not empty, says why Start must not run the scheduler, such as a crash of the
	// program. Applying a configuration runs it.
	Paused string
	// Dir is the directory that keeps the revisions. Without one they are lost when
	// the process ends.
	Dir string
	// Prepare is called before a scheduler for c is prepared, and may create what its plugins read.
	// Its error refuses c. It may be nil.
	Prepare func(ctx context.Context, c *config.Configuration) error
	// Running is called when only a scheduler with c runs. It may be nil. Both run within the turn,
	// so they must not change the configuration.
	Running func(ctx context.Context, c *config.Configuration)
	// Changed is called on any goroutine after a change of the state or a warning. It may be nil.
	Changed func()
	TieSeed *int64
	// Clock is time.Now by default.
	Clock func() time.Time
	// Logger receives errors that the supervisor handles itself. The zero value
	// discards them.
	Logger klog.Logger
}

// Scheduler runs the current scheduler. It starts and stops once. All methods are
// safe for concurrent use; changes of the configuration wait for each other.
type Scheduler struct {
	options   Options
	revisions *revisions

	// turn has capacity 1: the goroutine that fills it may replace current.
	turn chan struct{}

	mu       sync.Mutex
	current  *scheduler.Scheduler // nil when not running
	config   *config.Configuration
	stopped  bool
	swapping bool
	// paused is Options.Paused until a scheduler runs.
	paused  string
	warning string
}

type State struct {
	// Running is true while it schedules.
	Running bool
	// Swapping is true while a new configuration replaces the current one.
	Swapping bool
	// Profiles are the scheduler names, in the order of the configuration.
	Profiles []string
	Revision int
	// Paused says why the scheduler does not run although it could; empty if it runs.
	Paused string
	// Warnings describe degradations, such as plugins that panicked.
	Warnings []string
}

const (
	// prepareTimeout bounds building a scheduler and listing the cluster, which takes seconds, more
	// on a busy machine.
	prepareTimeout = 2 * time.Minute
	// stopTimeout bounds how long the replaced scheduler may take to stop.
	stopTimeout = 10 * time.Second
	// catchUpTimeout bounds how long the new scheduler waits to see what the old one has handed
	// out. After that, the supervisor builds it again.
	catchUpTimeout = 10 * time.Second
)

// New returns a scheduler that is not running. It does no I/O.
func New(options Options) *Scheduler {
	if options.Clock == nil {
		options.Clock = time.Now
	}
	if options.Parse == nil {
		names := slices.Sorted(maps.Keys(options.OutOfTree))
		options.Parse = func(document []byte) (*config.Configuration, error) {
			return config.ParseWith(document, config.Options{OutOfTree: names})
		}
	}
	if options.Prepare == nil {
		options.Prepare = func(context.Context, *config.Configuration) error { return nil }
	}
	if options.Running == nil {
		options.Running = func(context.Context, *config.Configuration) {}
	}
	if options.Changed == nil {
		options.Changed = func() {}
	}
	return &Scheduler{options: options, revisions: newRevisions(options.Dir), turn: make(chan struct{}, 1)}
}

// Start reads the revisions and starts to schedule under the initial configuration. It returns an
// error when Options.Initial cannot be built, and an *UnreadableError, having changed nothing, when
// it cannot read a revision's file. The default replaces a saved revision that cannot be built any
// more. ctx bounds only the start.
func (s *Scheduler) Start(ctx context.Context) error {
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.release()
	if err := s.revisions.load(); err != nil {
		return fmt.Errorf("reading the revisions of the scheduler configuration: %w", err)
	}
	latest, kept := s.revisions.running()
	initial := s.options.Initial
	if s.options.Paused != "" {
		return s.pause(latest)
	}
	switch {
	case initial != nil && kept && latest.Document == string(initial.YAML):
		return s.resume(ctx, initial, latest)
	case initial != nil:
		_, err := s.swap(ctx, initial, config.OriginFile)
		return err
	case kept:
		c, err := s.options.Parse([]byte(latest.Document))
		if err == nil {
			err = s.resume(ctx, c, latest)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		s.options.Logger.Error(err, "The saved scheduler configuration no longer works; using the default instead", "revision", latest.Number)
		s.revisions.rollBack(latest.Number, err)
	}
	c, err := config.Default()
	if err != nil {
		return err
	}
	_, err = s.swap(ctx, c, config.OriginDefault)
	return err
}

// pause shows the configuration that would run. latest is an earlier run's revision, if there is
// one.
func (s *Scheduler) pause(latest config.Revision) error {
	c, _, err := s.first()
	if err != nil {
		return err
	}
	if s.options.Initial == nil && latest.Document != "" {
		if kept, err := s.options.Parse([]byte(latest.Document)); err == nil {
			c = kept
		}
	}
	s.mu.Lock()
	s.config, s.paused = c, s.options.Paused
	s.mu.Unlock()
	s.options.Changed()
	return nil
}

func (s *Scheduler) resume(ctx context.Context, c *config.Configuration, r config.Revision) error {
	next, err := s.prepare(ctx, c, r.Number)
	if err != nil {
		return err
	}
	s.run(ctx, next, c)
	return nil
}

// run lets next schedule while no other scheduler runs.
func (s *Scheduler) run(ctx context.Context, next *scheduler.Scheduler, c *config.Configuration) {
	next.Run()
	s.set(next, c)
	s.options.Running(ctx, c)
}

// Stop stops the scheduler and waits for it, at most as long as ctx allows. It
// refuses the changes of the configuration that are waiting.
func (s *Scheduler) Stop(ctx context.Context) error {
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.release()
	s.mu.Lock()
	current := s.current
	s.current, s.stopped, s.paused = nil, true, ""
	s.mu.Unlock()
	if current == nil {
		return nil
	}
	err := current.Stop(ctx)
	return errors.Join(err, s.revisions.save())
}

// Apply makes document, YAML or JSON, the configuration. If document is invalid,
// the error is a *config.Error and nothing changes.
func (s *Scheduler) Apply(ctx context.Context, document []byte) (config.Applied, error) {
	return s.apply(ctx, config.OriginUser, func() (*config.Configuration, error) { return s.options.Parse(document) })
}

// ApplyDefault makes Kubernetes' default the configuration.
func (s *Scheduler) ApplyDefault(ctx context.Context) (config.Applied, error) {
	return s.apply(ctx, config.OriginDefault, config.Default)
}

// Check returns the configuration that would be in force. Like Apply, it parses document and builds
// a scheduler with its plugins, but it reads nothing from the cluster and changes nothing. It waits
// for a running change of the configuration, because plugin factories need not be safe for
// concurrent use.
func (s *Scheduler) Check(ctx context.Context, document []byte) (config.Applied, error) {
	start := s.options.Clock()
	c, err := s.options.Parse(document)
	if err != nil {
		return config.Applied{}, err
	}
	if err := s.take(ctx); err != nil {
		return config.Applied{}, err
	}
	defer s.release()
	before := s.Configuration()
	if before == nil {
		return config.Applied{}, config.ErrNotRunning
	}
	tried := s.scheduler(c, 0)
	if err := tried.Build(ctx); err != nil {
		return config.Applied{}, refusal(c, err)
	}
	effective := c.Effective(tried.Plugins())
	if err := tried.Stop(ctx); err != nil {
		return config.Applied{}, fmt.Errorf("stopping the scheduler that was built for a check: %w", err)
	}
	difference := config.Compare(before, c)
	return config.Applied{
		Revision: config.Revision{
			Time: start, Source: config.OriginUser, Summary: config.Summarize(difference), Profiles: profileNames(c), Document: string(c.YAML),
		},
		NoEffect:        c.NoEffect(),
		Effective:       &effective,
		Difference:      difference,
		DurationSeconds: s.options.Clock().Sub(start).Seconds(),
	}, nil
}

func (s *Scheduler) apply(ctx context.Context, source config.Origin, read func() (*config.Configuration, error)) (config.Applied, error) {
	start := s.options.Clock()
	c, err := read()
	if err != nil {
		return config.Applied{}, err
	}
	if err := s.take(ctx); err != nil {
		return config.Applied{}, err
	}
	defer s.release()
	if s.Configuration() == nil {
		return config.Applied{}, config.ErrNotRunning
	}
	r, err := s.swap(ctx, c, source)
	if err != nil {
		return config.Applied{}, err
	}
	return config.Applied{Revision: r, NoEffect: c.NoEffect(), DurationSeconds: s.options.Clock().Sub(start).Seconds()}, nil
}

// swap builds a scheduler for c and lets it take over. The caller holds the turn.
func (s *Scheduler) swap(ctx context.Context, c *config.Configuration, source config.Origin) (config.Revision, error) {
	r := s.newRevision(c, source, s.Configuration())
	next, err := s.prepare(ctx, c, r.Number)
	if err != nil {
		if ctx.Err() == nil {
			r.State, r.Error = config.RevisionRolledBack, err.Error()
			s.keep(r)
		}
		return r, err
	}
	// Complete the change even if the caller gives up: half a change would be worse.
	ctx = context.WithoutCancel(ctx)
	next = s.replaceCurrent(ctx, next, c, r.Number)
	s.keep(r)
	s.run(ctx, next, c)
	return r, nil
}

// newRevision returns a numbered revision of c, which replaces before; before is
// nil when nothing runs.
func (s *Scheduler) newRevision(c *config.Configuration, source config.Origin, before *config.Configuration) config.Revision {
	return config.Revision{
		Number: s.revisions.next(), Time: s.options.Clock(), Source: source, State: config.RevisionRunning,
		Summary: summary(before, c, source), Profiles: profileNames(c), Document: string(c.YAML),
	}
}

// replaceCurrent ends the current scheduler and returns the one that may run: next, when it has
// seen what the current one has handed out. If that takes too long, replaceCurrent prepares another
// one, which lists everything.
func (s *Scheduler) replaceCurrent(ctx context.Context, next *scheduler.Scheduler, c *config.Configuration, revision int) *scheduler.Scheduler {
	s.mu.Lock()
	before := s.current
	s.swapping = before != nil
	s.mu.Unlock()
	if before == nil {
		return next
	}
	s.options.Changed()
	s.end(ctx, before)
	err := catchUp(ctx, next, before)
	if err == nil {
		return next
	}
	s.options.Logger.Error(err, "The new scheduler has not seen everything that the replaced one has handed out; building it again")
	again, err := s.prepare(ctx, c, revision)
	if err != nil {
		s.options.Logger.Error(err, "Cannot build the new scheduler again: it may hand out something twice")
		return next
	}
	s.end(ctx, next)
	if err := catchUp(ctx, again, before); err != nil {
		s.options.Logger.Error(err, "Cannot confirm that the new scheduler has seen everything that the replaced one has handed out")
	}
	return again
}

func catchUp(ctx context.Context, next, before *scheduler.Scheduler) error {
	ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
	defer cancel()
	return next.CatchUp(ctx, before)
}

func (s *Scheduler) end(ctx context.Context, before *scheduler.Scheduler) {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	err := before.Stop(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded): // a plugin is slow, or the machine is; it binds nothing any more
		s.options.Logger.V(1).Info("The replaced scheduler has not ended yet", "err", err)
	case err != nil:
		s.options.Logger.Error(err, "Cannot stop the replaced scheduler")
	}
}

// prepare returns a scheduler that knows the cluster and does not run yet.
func (s *Scheduler) prepare(ctx context.Context, c *config.Configuration, revision int) (*scheduler.Scheduler, error) {
	next := s.scheduler(c, revision)
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	if err := s.options.Prepare(ctx, c); err != nil {
		return nil, err
	}
	if err := next.Prepare(ctx); err != nil {
		return nil, refusal(c, err)
	}
	return next, nil
}

// scheduler returns a scheduler that is not built yet.
func (s *Scheduler) scheduler(c *config.Configuration, revision int) *scheduler.Scheduler {
	return scheduler.New(scheduler.Options{
		Client: s.options.Client, Configuration: c.Internal, Sink: counting{s.options.Sink, s.revisions},
		OutOfTree: s.options.OutOfTree, Revision: revision, Clock: s.options.Clock,
		TieSeed: s.options.TieSeed, Panicked: s.panicked, Feed: s.options.Feed, SharedPods: s.options.SharedPods,
	})
}

// panicked is called when a call of a plugin has panicked for the first time.
func (s *Scheduler) panicked() {
	for _, p := range s.panics() {
		s.options.Logger.Error(nil, "A plugin or an extender panicked", "plugin", p.Plugin, "call", p.Call, "value", p.Value, "stack", p.Stack)
	}
	s.options.Changed()
}

func (s *Scheduler) panics() []result.Panic {
	s.mu.Lock()
	current := s.current
	s.mu.Unlock()
	if current == nil {
		return nil
	}
	return current.Panics()
}

// refusal returns the error of preparing a scheduler for c. If c cannot be built, it
// is a *config.Error.
func refusal(c *config.Configuration, err error) error {
	if build, ok := errors.AsType[*scheduler.BuildError](err); ok {
		return c.Refuse(build.Err)
	}
	return err
}

func profileNames(c *config.Configuration) []string {
	names := make([]string, len(c.Internal.Profiles))
	for i, p := range c.Internal.Profiles {
		names[i] = p.SchedulerName
	}
	return names
}

func (s *Scheduler) set(next *scheduler.Scheduler, c *config.Configuration) {
	s.mu.Lock()
	s.current, s.config, s.swapping = next, c, false
	if next != nil {
		s.paused = ""
	}
	s.mu.Unlock()
	s.options.Changed()
}

// A revision that keep cannot write runs nevertheless, with a warning.
func (s *Scheduler) keep(r config.Revision) {
	err := s.revisions.add(r)
	s.mu.Lock()
	s.warning = ""
	if err != nil {
		s.warning = fmt.Sprintf("the scheduler configuration will not survive a restart: %v", err)
	}
	s.mu.Unlock()
	if err != nil {
		s.options.Logger.Error(err, "Cannot save a revision of the scheduler configuration", "revision", r.Number)
	}
	s.options.Changed()
}

// summary describes the changes from the running configuration or, at the start,
// from Kubernetes' default to c.
func summary(before, c *config.Configuration, origin config.Origin) string {
	if before == nil {
		if origin == config.OriginDefault {
			return "Kubernetes' default"
		}
		standard, err := config.Default()
		if err != nil {
			return ""
		}
		before = standard
	}
	return config.Summarize(config.Compare(before, c))
}

// Configuration returns the running configuration or, while the scheduler is paused,
// the one that would run; otherwise nil.
func (s *Scheduler) Configuration() *config.Configuration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil && s.paused == "" {
		return nil
	}
	return s.config
}

// Effective returns the configuration in force. It fails when the scheduler is not
// running.
func (s *Scheduler) Effective() (*config.Effective, error) {
	s.mu.Lock()
	current, c := s.current, s.config
	s.mu.Unlock()
	if current == nil {
		return nil, config.ErrNotRunning
	}
	latest, _ := s.revisions.running()
	effective := c.Effective(current.Plugins())
	effective.Revision = latest.Number
	return &effective, nil
}

// Revisions returns all kept revisions, newest first, without their documents.
func (s *Scheduler) Revisions() []config.Revision { return s.revisions.list() }

func (s *Scheduler) Revision(number int) (config.Revision, bool) { return s.revisions.get(number) }

func (s *Scheduler) State() State {
	latest, _ := s.revisions.running()
	panics := s.panics()
	s.mu.Lock()
	defer s.mu.Unlock()
	state := State{
		Running:  s.current != nil && !s.swapping,
		Swapping: s.swapping,
		Profiles: latest.Profiles,
		Revision: latest.Number,
		Paused:   s.paused,
	}
	if s.warning != "" {
		state.Warnings = append(state.Warnings, s.warning)
	}
	for _, p := range panics {
		state.Warnings = append(state.Warnings, fmt.Sprintf("%s panicked in %s: %s. "+
			"The scheduler counts each such call as failed and continues; the decisions show the stack.", p.Plugin, p.Call, p.Value))
	}
	return state
}

// Idle waits until the current scheduler has seen the changes and has nothing to do;
// see scheduler.Scheduler.Idle.
func (s *Scheduler) Idle(ctx context.Context, changes []scheduler.Change) error {
	current, err := s.running()
	if err != nil {
		return err
	}
	return current.Idle(ctx, changes)
}

// Rest is Idle for the changes that the current scheduler has seen, and does not wait for backoffs.
func (s *Scheduler) Rest(ctx context.Context) error {
	current, err := s.running()
	if err != nil {
		return err
	}
	return current.Rest(ctx)
}

func (s *Scheduler) running() (*scheduler.Scheduler, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return nil, config.ErrNotRunning
	}
	return s.current, nil
}

// Save writes the changed counts of pods. Call it periodically.
func (s *Scheduler) Save() error { return s.revisions.save() }

func (s *Scheduler) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for another change of the scheduler configuration: %w", ctx.Err())
	}
}

func (s *Scheduler) release() { <-s.turn }
