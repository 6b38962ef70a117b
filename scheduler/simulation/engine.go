package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/guard"
	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/memory"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/recorder/comparison"
	"kube-scheduler-simulator/scheduler/tieseed"
	"kube-scheduler-simulator/scheduler/versions/proxy"
)

type engine struct {
	sched    *upstream.Stepper
	turns    *turns
	timeline *timeline
	world    *memory.World
	client   *client
	// recorder is nil if the caller does not want the decisions.
	recorder *recorder.Recorder
	results  *Results
	// version judges nodes; nil if this process does.
	version *proxy.Version
	// hasDevices and hasNodes report whether the cluster has DeviceClasses and nodes.
	hasDevices, hasNodes func() bool
	ctx                  context.Context
	cancel               context.CancelFunc
}

// newEngine builds a scheduler on an empty world. The error is a *ConfigurationError or an
// *UnsupportedError.
func newEngine(ctx context.Context, s *Simulation, configuration *config.KubeSchedulerConfiguration) (_ *engine, err error) {
	if err := supported(configuration, s.options.Version != nil); err != nil {
		return nil, err
	}
	client, clientConfig, err := newClient(s.cluster, s.control.remove)
	if err != nil {
		return nil, err
	}
	e := &engine{timeline: s.timeline, turns: newTurns(s.timeline), world: memory.NewOrderedWorld(client), client: client}
	e.results, e.hasDevices = s.results, func() bool { return len(s.cluster.objects[deviceClassKind]) > 0 }
	e.hasNodes = func() bool { return len(s.cluster.objects[nodeKind]) > 0 }
	// The scheduler asks for a logger's name once per node and plugin.
	e.ctx, e.cancel = context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), logr.Discard()))
	o := &observer{engine: e, seed: s.options.Seed, made: map[fwk.Handle]map[string]fwk.Plugin{}}
	var plugins recorder.Plugins = comparison.InTree{}
	if s.options.Version != nil {
		if e.version, err = proxy.Start(e.ctx, configuration, *s.options.Version); err != nil {
			e.cancel()
			return nil, err
		}
		e.world.Follow(e.version.Note)
		configuration, plugins = e.version.Configuration(), nil
	}
	if s.results.wanted() {
		e.recorder = recorder.New(s.results, plugins, s.timeline.Now)
		e.recorder.Briefly(func(pod types.UID) bool { return !s.results.whole(pod) })
		e.recorder.Start()
	}
	configuration = configuration.DeepCopy()
	configuration.Parallelism = tieseed.Parallelism
	err = o.build(upstream.Parts{
		Client: client, ClientConfig: clientConfig, Informers: e.world.Informers(), DynamicInformers: e.world.DynamicInformers(),
		Events:        func(string) events.EventRecorderLogger { return noEvents{} },
		Configuration: configuration, OutOfTree: s.options.OutOfTree,
		BreakTie: tieseed.Seed(s.options.Seed).Choose, Clock: queueClock{timeline: s.timeline},
	})
	if err != nil {
		e.cancel()
		e.stopRecorder()
		e.version.Close()
		return nil, &ConfigurationError{err}
	}
	return e, nil
}

func supported(c *config.KubeSchedulerConfiguration, anotherVersion bool) error {
	switch {
	case anotherVersion && utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload):
		return &ConfigurationError{errors.New("the scheduler of another version of Kubernetes decides about single pods only: switch the feature gate GenericWorkload off")}
	case len(c.Extenders) > 0:
		return &UnsupportedError{What: "extenders in the configuration"}
	case utilfeature.DefaultFeatureGate.Enabled(features.SchedulerAsyncAPICalls):
		return &UnsupportedError{What: "the feature gate SchedulerAsyncAPICalls"}
	case utilfeature.DefaultFeatureGate.Enabled(features.CompositePodGroup):
		return &UnsupportedError{What: "the feature gate CompositePodGroup"}
	}
	return nil
}

// busy says what the scheduler is doing; empty when it waits for a change or for time that no timer
// awaits. Without nodes, all pods back off forever.
func (e *engine) busy() string {
	queue := e.sched.SchedulingQueue
	switch {
	case e.sched.Ready():
		return named("in the active queue", queue.PodsInActiveQ())
	case e.sched.BacksOff() && e.hasNodes():
		return named("backing off", queue.PodsInBackoffQ())
	case len(e.turns.running) > 0:
		var waiting []*v1.Pod
		for _, b := range e.turns.running {
			waiting = append(waiting, b.pod)
		}
		return named("waiting for a permit or being bound", waiting)
	}
	return ""
}

func named(what string, pods []*v1.Pod) string {
	var all []string
	for _, pod := range pods {
		all = append(all, keyOf(pod))
	}
	slices.Sort(all)
	const most = 3
	text := strings.Join(all[:min(most, len(all))], ", ")
	if len(all) > most {
		text += ", …"
	}
	return fmt.Sprintf("%d pods %s: %s", len(all), what, text)
}

// nextFlush returns when the queue must look at the clock, if it must.
func (e *engine) nextFlush() (at time.Time, backoff, any bool) {
	now := e.timeline.Now()
	if e.sched.BacksOff() {
		return now.Truncate(time.Second).Add(time.Second), true, true
	}
	if len(e.sched.SchedulingQueue.UnschedulablePods()) == 0 {
		return time.Time{}, false, false
	}
	since := now.Sub(e.timeline.start)
	return e.timeline.start.Add(since.Truncate(flushEvery) + flushEvery), false, true
}

// flushEvery is the constant of Kubernetes' PriorityQueue.Run.
const flushEvery = 30 * time.Second

func (e *engine) flush(backoff bool) {
	logger := klog.FromContext(e.ctx)
	if backoff {
		e.sched.FlushBackoff(logger)
		return
	}
	e.sched.FlushUnschedulable(logger)
}

// deliver waits until the results have every finished cycle.
func (e *engine) deliver() {
	if e.recorder == nil {
		return
	}
	for !e.recorder.Delivered() {
		runtime.Gosched()
	}
}

func (e *engine) stopRecorder() {
	if e.recorder != nil {
		_ = e.recorder.Stop(context.Background()) // it ends as soon as it has delivered
	}
}

// stop ends binding cycles, whose pods become unscheduled again, and then the scheduler.
func (e *engine) stop() error {
	e.cancel()
	for _, f := range e.sched.Profiles {
		f.IterateOverWaitingPods(func(p fwk.WaitingPod) { p.Reject("", "the scheduler stops") })
	}
	for e.turns.run() {
	}
	err := e.sched.Profiles.Close()
	e.stopRecorder()
	e.version.Close()
	if err != nil {
		return fmt.Errorf("closing the plugins of a simulation: %w", err)
	}
	return nil
}

type observer struct {
	engine *engine
	seed   int64
	// made holds the plugins that each framework calls, by name.
	made map[fwk.Handle]map[string]fwk.Plugin
}

var _ upstream.Observer = (*observer)(nil)

func (o *observer) build(parts upstream.Parts) (err error) {
	defer guard.New("a plugin or the scheduler", func(*guard.Panic, *v1.Pod) {}).Err("the build of the scheduler", nil, &err)
	o.engine.sched, err = upstream.BuildStepper(o.engine.ctx, parts, o)
	return err
}

// Wrap makes plugins use the virtual time and the seed. DefaultPreemption evicts the same victims,
// but before it returns instead of in the background.
func (o *observer) Wrap(registry frameworkruntime.Registry) frameworkruntime.Registry {
	synchronous := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	synchronous.EnableAsyncPreemption = false
	registry = maps.Clone(registry)
	preemption := frameworkruntime.FactoryAdapter(synchronous, defaultpreemption.New)
	registry[names.DefaultPreemption] = func(ctx context.Context, args kruntime.Object, h fwk.Handle) (fwk.Plugin, error) {
		plugin, err := preemption(ctx, args, h)
		if err == nil {
			upstream.SeedPreemption(plugin, o.preemptionChoice())
		}
		return plugin, err
	}
	binding := frameworkruntime.FactoryAdapter(synchronous, volumebinding.New)
	registry[names.VolumeBinding] = func(ctx context.Context, args kruntime.Object, h fwk.Handle) (fwk.Plugin, error) {
		plugin, err := binding(ctx, args, h)
		if err == nil {
			err = upstream.VolumeBinding(plugin, args, o.engine.turns.wait)
		}
		return plugin, err
	}
	registry = o.engine.version.Wrap(registry)
	if o.engine.recorder != nil {
		registry = o.engine.recorder.Wrap(registry)
	}
	return o.noting(registry)
}

func (o *observer) noting(registry frameworkruntime.Registry) frameworkruntime.Registry {
	out := make(frameworkruntime.Registry, len(registry))
	for name, factory := range registry {
		out[name] = func(ctx context.Context, args kruntime.Object, h fwk.Handle) (fwk.Plugin, error) {
			plugin, err := factory(ctx, args, h)
			if err == nil {
				if o.made[h] == nil {
					o.made[h] = map[string]fwk.Plugin{}
				}
				o.made[h][name] = plugin
			}
			return plugin, err
		}
	}
	return out
}

func (o *observer) preemptionChoice() upstream.PreemptionChoice {
	random := rand.New(rand.NewPCG(uint64(o.seed), 0))
	return upstream.PreemptionChoice{
		Offset: random.Int32N,
		Rank: func(node string) int64 {
			h := fnv.New64a()
			fmt.Fprintf(h, "%d/%s", o.seed, node)
			return int64(h.Sum64())
		},
		Now: o.engine.timeline.Now,
	}
}

// toldCache tells another version which pods have a node that are yet to be bound.
type toldCache struct {
	internalcache.Cache
	engine *engine
}

func (c toldCache) AssumePod(logger klog.Logger, pod *v1.Pod) error {
	err := c.Cache.AssumePod(logger, pod)
	if err == nil {
		c.engine.version.Note(podKind, pod.Namespace, pod.Name, pod)
	}
	return err
}

func (c toldCache) ForgetPod(logger klog.Logger, pod *v1.Pod) error {
	err := c.Cache.ForgetPod(logger, pod)
	if err == nil {
		c.engine.version.Note(podKind, pod.Namespace, pod.Name, c.engine.world.Get(podKind, pod.Namespace, pod.Name))
	}
	return err
}

func (o *observer) Extenders(made []fwk.Extender, _ []config.Extender) ([]fwk.Extender, error) {
	return made, nil
}

func (o *observer) DRAManager(manager fwk.SharedDRAManager) fwk.SharedDRAManager { return manager }

func (o *observer) Queue(q internalqueue.SchedulingQueue) internalqueue.SchedulingQueue {
	saw := func() {}
	if o.engine.recorder != nil {
		saw = o.engine.recorder.SawNominatedPods
	}
	return turnQueue{q, o.engine.turns, saw}
}

func (o *observer) Cache(c internalcache.Cache) internalcache.Cache {
	if o.engine.version != nil {
		c = toldCache{c, o.engine}
	}
	return turnCache{c, o.engine.turns}
}

// Framework returns a framework that takes turns, with the recorder in the middle.
func (o *observer) Framework(f framework.Framework, percentageOfNodesToScore *int32) framework.Framework {
	if !o.engine.results.allWhole() && o.engine.version == nil {
		f = newReuse(f, o.made[f], o.engine.results.whole, o.engine.hasDevices, o.engine.turns.nominates)
	}
	f = inner{f, o.engine.turns}
	if o.engine.recorder != nil {
		f = o.engine.recorder.Framework(f, percentageOfNodesToScore)
	}
	return outer{f, o.engine.turns}
}

func (o *observer) Attach(sched *kubescheduler.Scheduler, nodes func() []fwk.NodeInfo) {
	if o.engine.recorder != nil {
		o.engine.recorder.Attach(sched, nodes)
	}
	fail := sched.FailureHandler
	sched.FailureHandler = func(ctx context.Context, f framework.Framework, pod *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		fail(ctx, f, pod, status, nominating, start)
		o.engine.turns.failed(pod.Pod, status)
	}
}

type noEvents struct{}

var _ events.EventRecorderLogger = noEvents{}

func (noEvents) Eventf(kruntime.Object, kruntime.Object, string, string, string, string, ...any) {}

func (noEvents) WithLogger(klog.Logger) events.EventRecorderLogger { return noEvents{} }

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
