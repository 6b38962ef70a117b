package upstream

import (
	"context"

	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/utils/clock"
)

// Parts are the inputs of Build. All but BreakTie, Clock and OutOfTree are required.
type Parts struct {
	Client           kubernetes.Interface
	ClientConfig     *rest.Config
	Informers        informers.SharedInformerFactory
	DynamicInformers dynamicinformer.DynamicSharedInformerFactory
	Events           func(name string) events.EventRecorderLogger
	// Configuration belongs to the scheduler: New writes plugin arguments into it.
	Configuration *config.KubeSchedulerConfiguration
	OutOfTree     frameworkruntime.Registry
	// BreakTie chooses among nodes that share the best total. nil leaves the choice
	// to Kubernetes, which chooses at random.
	BreakTie TieBreaker
	// Clock is the clock of the queue; nil means the real one.
	Clock clock.WithTicker
	// passive: see BuildDecider.
	passive bool
	// ordered: see BuildStepper.
	ordered bool
	made    *internalqueue.PriorityQueue
}

// Observer plugs into a scheduler. Build calls each method once (DRAManager and Framework once per
// profile), before the scheduler runs and in the order that Build documents. Every decorator must
// pass on its arguments and return the results unchanged.
type Observer interface {
	// Wrap returns a registry that makes a Wrapper for each plugin of registry, under
	// the same name.
	Wrap(registry frameworkruntime.Registry) frameworkruntime.Registry
	// Extenders returns stand-ins for the extenders that Kubernetes created from
	// configured.
	Extenders(made []fwk.Extender, configured []config.Extender) ([]fwk.Extender, error)
	// DRAManager decorates the manager of resource claims before the profile's plugins are made.
	// manager is nil if the feature is off, and then so is the result.
	DRAManager(manager fwk.SharedDRAManager) fwk.SharedDRAManager
	Queue(internalqueue.SchedulingQueue) internalqueue.SchedulingQueue
	Cache(internalcache.Cache) internalcache.Cache
	// Framework decorates the framework of a profile. percentageOfNodesToScore is
	// the global one of the configuration; nil means adaptive.
	Framework(f framework.Framework, percentageOfNodesToScore *int32) framework.Framework
	// Attach hooks into the functions of sched. nodes lists the nodes of its
	// snapshot; call it on the scheduling goroutine only.
	Attach(sched *scheduler.Scheduler, nodes func() []fwk.NodeInfo)
}

// Build builds a scheduler as cmd/kube-scheduler does. It does not read the cluster: the caller
// starts the informers. With an observer, the error is a *PluginError if a plugin's factory fails.
//
// Without an observer the scheduler is bare and gate is not used. With one, the scheduler asks gate
// before each turn; see Gate.
//
// # The order of wrapping
//
// Build wraps the parts of the scheduler in this order, which is the only one that works:
//
//  1. Observer.Wrap wraps the registry, because frameworks keep the plugins that
//     the registry makes.
//  2. Observer.Extenders makes the stand-ins when the first profile is built,
//     because every framework gets them as part of its handle.
//  3. Observer.DRAManager decorates the manager of claims, and the frameworks are built. The
//     plugins keep these bare frameworks as their handles, so that dry runs of a plugin do not pass
//     the decorators below.
//  4. The queue is wired to the bare frameworks. Observer.Queue decorates it before
//     the scheduler, the API cache and the frameworks get it.
//  5. Observer.Cache decorates the cache before the API cache gets it.
//  6. Observer.Framework decorates each framework where the scheduler calls it.
//  7. BreakTie's decorator goes around that framework, and hooks into SchedulePod.
//  8. Observer.Attach hooks into SchedulePod around the choice of 7, so that the
//     observer sees the node that was chosen, and into NextEntity and
//     FailureHandler.
//  9. The gate hooks into NextEntity, outside of all others.
//
// A call therefore passes, from the outside in:
//
//	NextEntity       gate, observer, queue decorator, Kubernetes' queue
//	SchedulePod      observer, tie breaker, Kubernetes
//	FailureHandler   observer, Kubernetes
//	framework        tie breaker, observer's decorator, Kubernetes' framework
//	plugin           observer's wrapper, plugin
//	extender         stand-in, Kubernetes' HTTP extender
//	cache            observer's decorator, Kubernetes' cache
func Build(ctx context.Context, parts Parts, observer Observer, gate *Gate) (*scheduler.Scheduler, error) {
	if observer == nil {
		return parts.bare(ctx)
	}
	sched, snapshot, err := parts.observed(ctx, observer)
	if err != nil {
		return nil, err
	}
	observer.Attach(sched, func() []fwk.NodeInfo { return nodesOf(snapshot) })
	gate.guard(sched, ctx.Done())
	return sched, nil
}

func (p *Parts) bare(ctx context.Context) (*scheduler.Scheduler, error) {
	sched, err := scheduler.New(ctx, p.Client, p.Informers, p.DynamicInformers, p.Events, append(p.options(),
		scheduler.WithProfiles(p.Configuration.Profiles...),
		scheduler.WithFrameworkOutOfTreeRegistry(p.OutOfTree))...)
	if err == nil && p.BreakTie != nil {
		breakTies(sched, p.BreakTie)
	}
	return sched, err
}

// options returns the options of cmd/kube-scheduler/app.Setup, except for the
// profiles and the registry.
func (p *Parts) options() []scheduler.Option {
	c := p.Configuration
	return []scheduler.Option{
		scheduler.WithComponentConfigVersion(c.APIVersion),
		scheduler.WithKubeConfig(p.ClientConfig),
		scheduler.WithPercentageOfNodesToScore(c.PercentageOfNodesToScore),
		scheduler.WithPodMaxBackoffSeconds(c.PodMaxBackoffSeconds),
		scheduler.WithPodInitialBackoffSeconds(c.PodInitialBackoffSeconds),
		scheduler.WithPodMaxInUnschedulablePodsDuration(internalqueue.DefaultPodMaxInUnschedulablePodsDuration),
		scheduler.WithExtenders(c.Extenders...),
		scheduler.WithParallelism(c.Parallelism),
	}
}
