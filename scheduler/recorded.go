package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	apicache "k8s.io/kubernetes/pkg/scheduler/backend/api_cache"
	apidispatcher "k8s.io/kubernetes/pkg/scheduler/backend/api_dispatcher"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"kube-scheduler-simulator/scheduler/extender"
	"kube-scheduler-simulator/scheduler/recorder"
)

// recorded builds the scheduler with recorders around all plugins.
//
// upstream.New makes the registry of in-tree plugins itself and refuses a
// second plugin of the same name. Wrappers under other names would show in
// messages, metrics and queueing hints, and some places look plugins up by name.
// So New gets, for each profile, one plugin of ours, the placeholder. When its
// framework creates it, the handle has everything that New shares between the
// profiles, and the placeholder builds the real framework of that profile from
// it, with a registry of recorders under the users' names. These frameworks, and
// a queue that is wired as New wires its own, then take their places.
func (b *builder) recorded(ctx context.Context, rec *recorder.Recorder) (*upstream.Scheduler, error) {
	registry := plugins.NewInTreeRegistry()
	if err := registry.Merge(b.outOfTree); err != nil {
		return nil, err
	}
	metrics.Register()
	metricsRecorder := metrics.NewMetricsAsyncRecorder(1000, time.Second, ctx.Done())
	snapshot := internalcache.NewEmptySnapshot()
	p := &profiles{
		configuration: b.configuration,
		registry:      rec.Wrap(registry),
		recorder:      rec,
		frameworks:    map[string]framework.Framework{},
		shared: []frameworkruntime.Option{
			frameworkruntime.WithComponentConfigVersion(b.configuration.APIVersion),
			frameworkruntime.WithSnapshotSharedLister(snapshot),
			frameworkruntime.WithMutableSnapshotLister(snapshot),
			frameworkruntime.WithParallelism(int(b.configuration.Parallelism)),
			frameworkruntime.WithMetricsRecorder(metricsRecorder),
			frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
			frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()),
		},
	}
	sched, err := upstream.New(ctx, b.client, b.informers, b.dynamicInformers, b.events, append(b.options(),
		upstream.WithNodeInfoSnapshot(snapshot),
		upstream.WithProfiles(p.placeholders()...),
		upstream.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{placeholderName: p.build}))...)
	switch {
	case p.failed != nil:
		return nil, p.failed // New's error would name the placeholder
	case err != nil:
		return nil, err
	}

	queue, err := b.queue(ctx, p, metricsRecorder, sched.APIDispatcher)
	if err != nil {
		return nil, err
	}
	sched.Extenders = p.extenders
	sched.Cache = seenCache{sched.Cache, b.known}
	sched.SchedulingQueue = queue
	sched.NextEntity = queue.Pop
	var apiCache fwk.APICacher
	if sched.APIDispatcher != nil {
		apiCache = apicache.New(queue, sched.Cache)
	}
	for name, f := range p.frameworks {
		f.SetPodNominator(queue)
		f.SetPodActivator(queue)
		f.SetAPICacher(apiCache)
		sched.Profiles[name] = rec.Framework(f, b.configuration.PercentageOfNodesToScore)
	}
	if b.tieSeed != nil {
		seedTies(sched, *b.tieSeed)
	}
	rec.Attach(sched, func() []fwk.NodeInfo {
		// Listing a snapshot does not fail.
		nodes, _ := snapshot.NodeInfos().List()
		return nodes
	})
	return sched, nil
}

// placeholderName is the only plugin that upstream.New sees of a profile.
const placeholderName = "RecordedProfile"

// profiles builds the frameworks of all profiles.
type profiles struct {
	configuration *config.KubeSchedulerConfiguration
	registry      frameworkruntime.Registry
	recorder      *recorder.Recorder
	// extenders stand in for those that upstream.New makes: the same ones in all
	// frameworks and in the scheduler.
	extenders  []fwk.Extender
	shared     []frameworkruntime.Option
	frameworks map[string]framework.Framework
	// failed is why the framework of a profile could not be built.
	failed error
}

// placeholders returns a profile with the placeholder for each real one. They
// share the plugins' arguments, because New writes the resources that extenders
// manage into those.
func (p *profiles) placeholders() []config.KubeSchedulerProfile {
	out := make([]config.KubeSchedulerProfile, len(p.configuration.Profiles))
	for i, profile := range p.configuration.Profiles {
		out[i] = profile
		out[i].Plugins = &config.Plugins{MultiPoint: config.PluginSet{Enabled: []config.Plugin{{Name: placeholderName}}}}
	}
	return out
}

// build is the placeholder's factory: it makes the framework of the profile
// that h belongs to.
func (p *profiles) build(ctx context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
	if err := p.recordExtenders(h.Extenders()); err != nil {
		return nil, err
	}
	dispatcher, _ := h.APIDispatcher().(*apidispatcher.APIDispatcher)
	options := append([]frameworkruntime.Option{
		frameworkruntime.WithClientSet(h.ClientSet()),
		frameworkruntime.WithKubeConfig(h.KubeConfig()),
		frameworkruntime.WithEventRecorder(h.EventRecorder()),
		frameworkruntime.WithInformerFactory(h.SharedInformerFactory()),
		frameworkruntime.WithSharedDRAManager(h.SharedDRAManager()),
		frameworkruntime.WithSharedCSIManager(h.SharedCSIManager()),
		frameworkruntime.WithExtenders(p.extenders),
		frameworkruntime.WithAPIDispatcher(dispatcher),
		frameworkruntime.WithPodGroupManager(h.PodGroupManager()),
	}, p.shared...)
	for i := range p.configuration.Profiles {
		profile := &p.configuration.Profiles[i]
		if profile.SchedulerName != h.ProfileName() {
			continue
		}
		f, err := frameworkruntime.NewFramework(ctx, p.registry, profile, options...)
		if err != nil {
			p.failed = fmt.Errorf("profile %q: %w", profile.SchedulerName, err)
			return nil, p.failed
		}
		if err := p.sameQueueSort(f); err != nil {
			p.failed = err
			return nil, err
		}
		p.frameworks[profile.SchedulerName] = f
		return &placeholder{framework: f}, nil
	}
	return nil, fmt.Errorf("no profile is named %q", h.ProfileName())
}

// recordExtenders makes the stand-ins of New's extenders, which all profiles share.
func (p *profiles) recordExtenders(made []fwk.Extender) (err error) {
	if p.extenders == nil {
		p.extenders, err = extender.Wrap(made, p.configuration.Extenders, p.recorder)
	}
	return err
}

// sameQueueSort holds the rule of upstream's profile.NewMap: one queue, one order.
func (p *profiles) sameQueueSort(f framework.Framework) error {
	name := f.ListPlugins().QueueSort.Enabled[0].Name
	for other, g := range p.frameworks {
		if first := g.ListPlugins().QueueSort.Enabled[0].Name; first != name {
			return fmt.Errorf("different queue sort plugins for profile %q: %q, first: %q of %q", f.ProfileName(), name, first, other)
		}
	}
	return nil
}

// placeholder stands for a profile in upstream.New. It is never asked to
// schedule; what New reads from it are the events that the profile's plugins
// wait for, by which it chooses the informers.
type placeholder struct{ framework framework.Framework }

var (
	_ fwk.QueueSortPlugin   = (*placeholder)(nil)
	_ fwk.BindPlugin        = (*placeholder)(nil)
	_ fwk.PreEnqueuePlugin  = (*placeholder)(nil)
	_ fwk.EnqueueExtensions = (*placeholder)(nil)
)

var errPlaceholder = errors.New("the placeholder of a recorded profile was asked to schedule")

func (*placeholder) Name() string { return placeholderName }

func (*placeholder) Less(_, _ fwk.QueuedEntityInfo) bool { return false }

func (*placeholder) PreEnqueue(context.Context, *v1.Pod) *fwk.Status {
	return fwk.AsStatus(errPlaceholder)
}

func (*placeholder) Bind(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status {
	return fwk.AsStatus(errPlaceholder)
}

func (p *placeholder) EventsToRegister(ctx context.Context) ([]fwk.ClusterEventWithHint, error) {
	var all []fwk.ClusterEventWithHint
	for _, extension := range p.framework.EnqueueExtensions() {
		events, err := extension.EventsToRegister(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, events...)
	}
	return all, nil
}
