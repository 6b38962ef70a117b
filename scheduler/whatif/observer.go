package whatif

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/extender"
	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/versions/proxy"
)

// observer plugs a hypothetical recorder into a scheduler that never runs.
type observer struct {
	*recorder.Recorder
	// asks: extenders are asked.
	asks      atomic.Bool
	extenders []fwk.Extender
	// decides is the version that decides; nil for this one.
	decides *proxy.Version
	// among reports whether a node may be scored; nil for all.
	among func(node string) bool
}

var _ upstream.Observer = (*observer)(nil)

// Wrap returns recorded plugins. DefaultPreemption evicts its victims before it returns, instead of in the
// background, because the recorder makes it evict none: then it is done when it returns. The choice of
// victims is the same.
func (o *observer) Wrap(registry frameworkruntime.Registry) frameworkruntime.Registry {
	synchronous := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	synchronous.EnableAsyncPreemption = false
	registry = maps.Clone(registry)
	registry[names.DefaultPreemption] = frameworkruntime.FactoryAdapter(synchronous, defaultpreemption.New)
	return o.Recorder.Wrap(o.decides.Wrap(registry))
}

// Queue returns a queue that no pod enters.
func (o *observer) Queue(q internalqueue.SchedulingQueue) internalqueue.SchedulingQueue {
	return newNominator(q, o.SawNominatedPods)
}

func (o *observer) DRAManager(manager fwk.SharedDRAManager) fwk.SharedDRAManager { return manager }

func (o *observer) Cache(c internalcache.Cache) internalcache.Cache { return c }

// Extenders returns stand-ins that record, and that are not interested in a pod unless the question asks
// extenders.
func (o *observer) Extenders(made []fwk.Extender, configured []config.Extender) ([]fwk.Extender, error) {
	o.extenders = made
	recorded, err := extender.Wrap(made, configured, o.Recorder)
	for place := range recorded {
		recorded[place] = &unasked{recorded[place], made[place], place, o}
	}
	return recorded, err
}

// Framework returns a recorded framework that scores among some nodes only; see Trial.Among.
func (o *observer) Framework(f framework.Framework, percentageOfNodesToScore *int32) framework.Framework {
	return limited{o.Recorder.Framework(f, percentageOfNodesToScore), o}
}

type limited struct {
	framework.Framework
	observer *observer
}

func (l limited) RunPreScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	return l.Framework.RunPreScorePlugins(ctx, state, pod, l.observer.scored(nodes))
}

// RunScorePlugins is called after RunPreScorePlugins, with the same nodes.
func (l limited) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	return l.Framework.RunScorePlugins(ctx, state, pod, l.observer.scored(nodes))
}

func (o *observer) scored(nodes []fwk.NodeInfo) []fwk.NodeInfo {
	if o.among == nil {
		return nodes
	}
	var some []fwk.NodeInfo
	for _, n := range nodes {
		if o.among(n.Node().Name) {
			some = append(some, n)
		}
	}
	if len(some) == 0 {
		return nodes
	}
	return some
}

// notAsked returns the names of the extenders that are interested in a pod, and are not asked.
func (o *observer) notAsked(pod *v1.Pod) (names []string) {
	if o.asks.Load() {
		return nil
	}
	for _, made := range o.extenders {
		if made.IsInterested(pod) && !slices.Contains(names, made.Name()) {
			names = append(names, made.Name())
		}
	}
	return names
}

// unasked is an extender that may not be asked.
type unasked struct {
	fwk.Extender
	made     fwk.Extender
	place    int
	observer *observer
}

const notAsked = "the question does not ask extenders"

// IsInterested is called before each other call.
func (e *unasked) IsInterested(pod *v1.Pod) bool {
	if e.observer.asks.Load() || !e.made.IsInterested(pod) {
		return e.Extender.IsInterested(pod)
	}
	e.observer.ExtenderSkipped(e.place, pod, result.ExtenderCall{Plugin: e.Name(), Status: fwk.Skip.String(), Reasons: []string{notAsked}})
	return false
}

// noEvents drops the scheduler's events.
type noEvents struct{}

var _ events.EventRecorderLogger = noEvents{}

func (noEvents) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

func (noEvents) WithLogger(klog.Logger) events.EventRecorderLogger { return noEvents{} }
