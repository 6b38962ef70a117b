package mirror

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

const (
	// workers is small: scheduling needs the API server too.
	workers = 8
	// holdTime is how long to wait until a scheduler of the source has looked at a pod, or a claim
	// has its volume.
	holdTime = 5 * time.Second
	// firstRetry and lastRetry bound the delay between attempts to apply one object.
	firstRetry, lastRetry = 50 * time.Millisecond, 30 * time.Second
	// lookAgain is the interval at which the first round looks for the first lists.
	lookAgain = 20 * time.Millisecond
)

// reconnect is the backoff towards a source that does not answer. Each kind backs off by itself.
func reconnect() wait.Backoff {
	return wait.Backoff{Duration: 500 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 10, Cap: 5 * time.Second}
}

// State is the state of the connection with the source.
type State string

const (
	// Connecting: the first lists have not arrived, or the mirror is still applying them.
	Connecting State = "connecting"
	// Live: the mirror carries over changes as they happen.
	Live State = "live"
	// Stale: the source, or a part of it, does not answer. Everything here stays as it is until the
	// source is back.
	Stale State = "stale"
)

// Status is the state of a mirror. Its JSON form is public.
type Status struct {
	// Source is the cluster's name for users.
	Source  string `json:"source"`
	State   State  `json:"state"`
	Message string `json:"message"`
	// LastChange is when the mirror last carried something over, in UTC and whole seconds; zero if
	// it never did.
	LastChange time.Time `json:"lastChange,omitzero"`
	// Objects is how many objects here came from the source.
	Objects int `json:"objects"`
	// Done of Total objects have been processed. Total is 0 while it is unknown; both are 0 when
	// the first round is over.
	Done  int `json:"-"`
	Total int `json:"-"`
	// First: the first round is under way.
	First bool `json:"-"`
}

// SyncOptions are what a Sync works with. Source and Config are required.
type SyncOptions struct {
	Source *Source
	// Config reaches the simulated cluster with the rights of an administrator.
	Config *rest.Config
	// Define installs definitions of custom kinds here. Default: it has none.
	Define Define
	// Reschedule removes the nodes from pods, so that the scheduler here places them. Later changes
	// never move them.
	Reschedule bool
	// Changed is called when the state has changed, from any goroutine. It may be nil.
	Changed func()
	// Logger gets errors of single objects. Default: discards them.
	Logger klog.Logger

	// Only tests set hold.
	hold time.Duration
}

// Sync keeps the simulated cluster like its source. Start and stop it once.
type Sync struct {
	opts   SyncOptions
	here   dynamic.Interface
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu sync.Mutex
	// A reconnect replaces queue and kinds; only Status may run concurrently with that.
	queue      workqueue.TypedRateLimitingInterface[item]
	kinds      []*following
	state      State
	message    string // while Connecting
	lastChange time.Time
	first      bool
	finished   int // objects of the first round
	trouble    map[item]string
	missed     []string
}

// item is an object that may have to be changed.
type item struct {
	kind int // index of Sync.kinds
	key  string
}

// following is a kind with its objects there and here.
type following struct {
	kind
	followers []*follower
	here      dynamic.NamespaceableResourceInterface

	mu      sync.Mutex
	applied map[string]*applied
	// since is when a pending object was first seen.
	since map[string]time.Time
}

// NewSync returns a mirror that has not started. It does no I/O.
func NewSync(o SyncOptions) *Sync {
	if o.Changed == nil {
		o.Changed = func() {}
	}
	if o.hold == 0 {
		o.hold = holdTime
	}
	return &Sync{
		opts: o, state: Connecting, first: true, trouble: map[item]string{},
	}
}

// Start returns at once. The mirror runs in the background until Stop.
func (s *Sync) Start() error {
	config := rest.CopyConfig(s.opts.Config)
	config.UserAgent = userAgent
	var err error
	if s.here, err = dynamic.NewForConfig(config); err != nil {
		return fmt.Errorf("making a client for the simulated cluster: %w", err)
	}
	// Without our logger: reflectors log every attempt to reach a source.
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.done.Go(func() { s.run(ctx) })
	return nil
}

// Stop returns when nothing reads or writes any more. Copied objects stay.
func (s *Sync) Stop(ctx context.Context) error {
	if s.cancel == nil {
		return nil
	}
	s.cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.done.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop following the source: %w", context.Cause(ctx))
	}
}

// run follows the source until ctx ends. It reconnects when the address or credentials change, and
// keeps what it knows of the objects here.
func (s *Sync) run(ctx context.Context) {
	for ctx.Err() == nil {
		s.followUntilOther(ctx)
	}
}

func (s *Sync) followUntilOther(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	source, err := s.connect(ctx)
	if err != nil {
		return // stopped
	}
	running.Go(func() {
		s.opts.Source.awaitOther(ctx)
		cancel()
	})
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[item](firstRetry, lastRetry))
	defer queue.ShutDown()
	if err := s.prepareKinds(ctx, source, queue); err != nil {
		return // stopped
	}
	for i, k := range s.kinds {
		for _, f := range k.followers {
			f.changed = func(key string) { queue.Add(item{i, key}) }
			running.Go(func() { f.run(ctx) })
		}
	}
	if !s.firstRound(ctx) {
		return
	}
	for range workers {
		running.Go(func() {
			for s.next(ctx) {
			}
		})
	}
	<-ctx.Done()
}

// connect tries until the source answers. An error means that the mirror stops.
func (s *Sync) connect(ctx context.Context) (source *connection, err error) {
	backoff := reconnect()
	for {
		source, err = s.opts.Source.connect(ctx, s.opts.Config, s.wanted(), s.opts.Define)
		if err == nil {
			return source, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.opts.Logger.Info("The source cannot be followed yet", "err", err)
		s.say(err.Error() + "; trying again")
		if err := pause(ctx, backoff.Step()); err != nil {
			return nil, err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wanted returns the kinds to follow. Templates of resource claims matter only to pods that are
// scheduled here: for all others the source has made the claims.
func (s *Sync) wanted() []objects.Kind {
	return slices.DeleteFunc(objects.Kinds(objects.Followed), func(k objects.Kind) bool {
		return k.GroupKind() == objects.ResourceClaimTemplate && !s.opts.Reschedule
	})
}

// prepareKinds finds the objects that came from a source before. An error means that the mirror
// stops.
func (s *Sync) prepareKinds(ctx context.Context, source *connection, queue workqueue.TypedRateLimitingInterface[item]) error {
	var kinds []*following
	for _, k := range source.kinds {
		following := &following{
			kind: k, here: s.here.Resource(k.resource),
			applied: map[string]*applied{}, since: map[string]time.Time{},
		}
		for _, stream := range s.opts.Source.streams(source.client, k) {
			following.followers = append(following.followers, &follower{
				stream: stream, prepare: s.prepare, heard: s.judge, objects: map[string]*prepared{},
			})
		}
		if before := s.following(k.GroupKind()); before != nil {
			following.applied = before.applied
		} else if err := s.remember(ctx, following); err != nil {
			return err
		}
		kinds = append(kinds, following)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds, s.queue = kinds, queue
	s.trouble, s.missed = map[item]string{}, nil
	for _, k := range source.missed {
		s.missed = append(s.missed, k.missing())
	}
	return nil
}

// remember retries until it knows the objects that came from a source before.
func (s *Sync) remember(ctx context.Context, k *following) error {
	backoff := reconnect()
	for {
		err := k.remember(ctx)
		if err == nil {
			return nil
		}
		s.opts.Logger.Error(err, "Listing the objects that came from a source before")
		if err := pause(ctx, backoff.Step()); err != nil {
			return err
		}
	}
}

func (s *Sync) prepare(k kind, u *unstructured.Unstructured) *prepared {
	if isSecretive(u) || objects.IsBuiltIn(k.GroupKind(), u.GetNamespace(), u.GetName()) {
		return nil
	}
	if s.opts.Source.options.Redactor != nil {
		// The reflector uses u afterwards.
		u = &unstructured.Unstructured{Object: u.Object}
		s.opts.Source.options.Redactor.Object(u)
	}
	return prepare(k, u, s.opts.Reschedule)
}

// firstRound applies everything by rank, and deletes objects that the source no longer has. It
// reports whether it finished.
func (s *Sync) firstRound(ctx context.Context) bool {
	for i, k := range s.kinds {
		s.say(fmt.Sprintf("reading %s", k.kind))
		if !s.waitListed(ctx, k) {
			return false
		}
		s.say(fmt.Sprintf("applying %s", k.kind))
		s.each(ctx, i, k.wanted())
	}
	for i, k := range slices.Backward(s.kinds) {
		s.each(ctx, i, k.abandoned())
	}
	if ctx.Err() != nil {
		return false
	}
	s.mu.Lock()
	s.first = false
	s.mu.Unlock()
	s.judge()
	return true
}

func (s *Sync) waitListed(ctx context.Context, k *following) bool {
	for !k.listedOrRefused() {
		if pause(ctx, lookAgain) != nil {
			return false
		}
	}
	return true
}

// each applies the objects of a kind in parallel. Objects that fail are in the queue.
func (s *Sync) each(ctx context.Context, index int, keys []string) {
	var group errgroup.Group
	group.SetLimit(workers)
	for _, key := range keys {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			s.do(ctx, item{index, key})
			s.mu.Lock()
			s.finished++
			s.mu.Unlock()
			return nil
		})
	}
	_ = group.Wait() // do puts what fails into the queue
}

func (s *Sync) next(ctx context.Context) bool {
	it, shutdown := s.queue.Get()
	if shutdown {
		return false
	}
	defer s.queue.Done(it)
	s.do(ctx, it)
	return ctx.Err() == nil
}

// do retries later if it fails.
func (s *Sync) do(ctx context.Context, it item) {
	k := s.kinds[it.kind]
	changed, err := s.apply(ctx, k, it)
	if ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	if changed {
		s.lastChange = time.Now()
	}
	before, had := s.trouble[it]
	if err == nil {
		delete(s.trouble, it)
	} else if len(s.trouble) < maxTrouble || had {
		s.trouble[it] = err.Error()
	}
	s.mu.Unlock()
	if err == nil {
		s.queue.Forget(it)
		return
	}
	if !errors.Is(err, errNotYet) && before != err.Error() {
		s.opts.Logger.Info("An object of the source could not be copied", "kind", k.kind.String(), "name", it.key, "err", err)
	}
	s.queue.AddRateLimited(it)
}

const maxTrouble = 1000

func (k *following) listedOrRefused() bool {
	for _, f := range k.followers {
		if c := f.condition(); !c.listed && c.refused == "" {
			return false
		}
	}
	return true
}

// complete reports whether the lists of all streams have arrived.
func (k *following) complete() bool {
	for _, f := range k.followers {
		if !f.condition().listed {
			return false
		}
	}
	return true
}

func (k *following) find(key string) *prepared {
	for _, f := range k.followers {
		if p := f.get(key); p != nil {
			return p
		}
	}
	return nil
}

func (k *following) wanted() []string {
	var keys []string
	for _, f := range k.followers {
		keys = append(keys, f.keys()...)
	}
	slices.Sort(keys)
	return keys
}

// abandoned returns the objects that came from the source and are no longer in it.
func (k *following) abandoned() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var keys []string
	for key := range k.applied {
		if k.find(key) == nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// jitter spreads the retries of objects that wait for the same one.
func jitter(d time.Duration) time.Duration { return d + rand.N(d/4+1) }
