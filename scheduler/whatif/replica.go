package whatif

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/guard"
	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/memory"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/recorder/comparison"
	"kube-scheduler-simulator/scheduler/versions/proxy"
)

// Replica is a scheduler of one configuration on a copy of the state. An Engine keeps one for each configuration that
// it is asked about. Use a Replica itself to decide on a state at a moment of one's own choice, such as a mark of a feed.
//
// Its methods must be called from one goroutine at a time. After an error that is a *PanicError, it is broken: close it.
type Replica struct {
	options  Options
	given    *config.KubeSchedulerConfiguration
	world    *memory.World
	decider  *upstream.Decider
	observer *observer
	claims   fwk.ResourceClaimTracker
	// comparers are those of the Filter plugins, by profile and plugin, once they are needed.
	comparers map[string]map[string]recorder.Comparer
	cancel    context.CancelFunc
	// decides is the version that decides; nil for this one.
	decides *proxy.Version
	// version is the newest resource version of the state.
	version string
	moment  *Moment
	// made numbers the objects that trials make.
	made int64
	// stale: the snapshot is older than the world.
	stale bool
}

// NewReplica builds a replica with an empty state. configuration is defaulted and validated, as package config returns it; the replica
// copies it. Of options, it uses OutOfTree, ClientConfig, BreakTie, EndSearch, Clock and Version. The error is a *ConfigurationError, or one of
// package versions.
func NewReplica(ctx context.Context, configuration *config.KubeSchedulerConfiguration, options Options) (_ *Replica, err error) {
	client, clientConfig, err := newClient(options.ClientConfig)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &Replica{
		options:  options,
		given:    configuration.DeepCopy(),
		world:    memory.NewWorld(client),
		observer: &observer{Recorder: recorder.NewHypothetical(comparison.InTree{}, options.Clock)},
		cancel:   cancel,
		moment:   new(Moment),
	}
	defer func() {
		if err != nil {
			r.end()
		}
	}()
	searched := configuration
	if options.Version != nil {
		if r.decides, err = proxy.Start(ctx, configuration, *options.Version); err != nil {
			return nil, err
		}
		searched = r.decides.Configuration()
		r.world.Follow(r.decides.Note)
		r.observer = &observer{Recorder: recorder.NewHypothetical(nil, options.Clock), decides: r.decides}
		r.observer.WithoutOthers()
	}
	if !options.EndSearch {
		searched = scoringAll(searched)
	}
	breakTie := options.BreakTie
	if breakTie == nil {
		breakTie = firstByName
	}
	err = r.build(ctx, upstream.Parts{
		Client: client, ClientConfig: clientConfig, Informers: r.world.Informers(), DynamicInformers: r.world.DynamicInformers(),
		Events:        func(string) events.EventRecorderLogger { return noEvents{} },
		Configuration: searched, OutOfTree: options.OutOfTree, BreakTie: breakTie,
	})
	if err != nil {
		return nil, &ConfigurationError{err}
	}
	for _, f := range r.decider.Profiles {
		if manager := f.SharedDRAManager(); manager != nil {
			r.claims = manager.ResourceClaims() // all profiles share it
		}
	}
	return r, nil
}

func (r *Replica) build(ctx context.Context, parts upstream.Parts) (err error) {
	defer guard.New("a plugin or the scheduler", func(*guard.Panic, *v1.Pod) {}).Err("the build of the scheduler", nil, &err)
	r.decider, err = upstream.BuildDecider(ctx, parts, r.observer)
	return err
}

func firstByName(_ fwk.CycleState, _ *v1.Pod, tied []string) string { return slices.Min(tied) }

// scoringAll returns a copy of the configuration in which the search does not stop before it has seen all
// nodes.
func scoringAll(c *config.KubeSchedulerConfiguration) *config.KubeSchedulerConfiguration {
	c = c.DeepCopy()
	c.PercentageOfNodesToScore = ptr.To[int32](100)
	for i := range c.Profiles {
		c.Profiles[i].PercentageOfNodesToScore = nil
	}
	return c
}

// end ends what does not need to be closed.
func (r *Replica) end() {
	r.cancel()
	r.decides.Close()
}

func (r *Replica) Close() error {
	defer r.end()
	if err := r.decider.Profiles.Close(); err != nil {
		return fmt.Errorf("closing the plugins of a hypothetical scheduler: %w", err)
	}
	return nil
}

// Apply brings the state up to date. Call it outside of Try. It ignores marks and objects of kinds that it does not
// know.
func (r *Replica) Apply(ops ...feed.Operation) (err error) {
	defer recovered(&err)
	for _, op := range ops {
		if err := r.apply(op); err != nil {
			return err
		}
	}
	r.world.Commit()
	r.stale = true
	return nil
}

func (r *Replica) apply(op feed.Operation) error {
	switch {
	case op.Set != nil:
		err := r.world.Set(op.Set)
		if unknown := (*memory.KindError)(nil); errors.As(err, &unknown) {
			return nil
		}
		r.noteVersion(accessorOf(op.Set).GetResourceVersion())
		r.moment = new(Moment)
		return err
	case op.Delete != nil:
		r.moment = new(Moment)
		r.world.Delete(op.Delete.GVK, op.Delete.Namespace, op.Delete.Name)
	case op.Allocate != nil && r.claims != nil:
		r.moment = new(Moment)
		r.decides.Allocate(op.Allocate)
		return r.claims.SignalClaimPendingAllocation(op.Allocate.UID, op.Allocate)
	case op.Release != "" && r.claims != nil:
		r.moment = new(Moment)
		r.decides.Release(op.Release)
		r.claims.MaybeRemoveClaimPendingAllocation(op.Release, true)
	}
	return nil
}

// noteVersion keeps the newest version.
func (r *Replica) noteVersion(version string) {
	order, err := resourceversion.CompareResourceVersion(version, r.version)
	if r.version == "" || err == nil && order > 0 {
		r.version = version
	}
}

// recovered turns a panic into a *PanicError. Defer it.
func recovered(err *error) {
	if value := recover(); value != nil {
		*err = &PanicError{Message: fmt.Sprint(value), Stack: string(debug.Stack())}
	}
}

// Try calls do with a view of the state, and afterwards undoes everything that do changed. It returns the error of do, or
// a *PanicError.
func (r *Replica) Try(ctx context.Context, do func(context.Context, *Trial) error) (err error) {
	defer recovered(&err)
	t := &Trial{inside: &inside{Replica: r}, state: r.state()}
	t.AskExtenders(false)
	t.Among(nil)
	defer t.Rollback(Mark{})
	// The scheduler asks for the name of a logger once per node and plugin.
	err = do(klog.NewContext(ctx, logr.Discard()), t)
	if died := r.decides.Err(); died != nil {
		return died // a decision may only say that its attempt failed
	}
	return err
}

func (r *Replica) state() State {
	return State{Nodes: r.world.Len(nodeKind), Pods: r.world.Len(podKind), ResourceVersion: r.version, KubernetesVersion: r.decides.Name()}
}
