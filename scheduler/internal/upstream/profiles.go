package upstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/diff"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	apicache "k8s.io/kubernetes/pkg/scheduler/backend/api_cache"
	apidispatcher "k8s.io/kubernetes/pkg/scheduler/backend/api_dispatcher"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache/debugger"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// observed builds a scheduler with observer around its plugins, extenders, queue, cache and
// frameworks: steps 1 to 6 of Build.
//
// scheduler.New creates the registry of in-tree plugins itself and refuses a second plugin of the
// same name. Wrappers under other names would show in messages, metrics and queueing hints, and
// Kubernetes looks up some plugins by name. So we give New one plugin of ours for each profile, the
// placeholder. Its handle has everything that New shares between the profiles, so it builds the
// real framework of its profile, with wrapped plugins under the users' names. Finally, these
// frameworks, and a queue wired like New's, replace New's own.
func (p *Parts) observed(ctx context.Context, observer Observer) (*scheduler.Scheduler, *internalcache.Snapshot, error) {
	registry := plugins.NewInTreeRegistry()
	if err := registry.Merge(p.OutOfTree); err != nil {
		return nil, nil, err
	}
	metrics.Register()
	background := ctx
	if p.passive {
		background = cancelled(ctx)
	}
	metricsRecorder := metrics.NewMetricsAsyncRecorder(1000, time.Second, background.Done())
	snapshot := internalcache.NewEmptySnapshot()
	discarded := newDiscarding(background)
	made := &profiles{
		ctx:           ctx,
		discarded:     discarded,
		configuration: p.Configuration,
		registry:      withPluginErrors(observer.Wrap(registry)),
		observer:      observer,
		frameworks:    map[string]framework.Framework{},
		shared: []frameworkruntime.Option{
			frameworkruntime.WithComponentConfigVersion(p.Configuration.APIVersion),
			frameworkruntime.WithSnapshotSharedLister(snapshot),
			frameworkruntime.WithMutableSnapshotLister(snapshot),
			frameworkruntime.WithParallelism(int(p.Configuration.Parallelism)),
			frameworkruntime.WithMetricsRecorder(metricsRecorder),
			frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
			frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()),
		},
	}
	sched, err := scheduler.New(discarded, p.Client, p.Informers, p.DynamicInformers, p.Events, append(p.options(),
		scheduler.WithNodeInfoSnapshot(snapshot),
		scheduler.WithProfiles(made.placeholders()...),
		scheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{placeholderName: made.build}))...)
	switch {
	case made.failed != nil:
		return nil, nil, made.failed // New's error would name the placeholder
	case err != nil:
		return nil, nil, err
	}

	queue, err := p.queue(ctx, made.frameworks, metricsRecorder, sched.APIDispatcher)
	if err != nil {
		return nil, nil, err
	}
	queue = observer.Queue(queue)
	sched.Extenders = made.extenders
	sched.Cache = observer.Cache(sched.Cache)
	sched.SchedulingQueue = queue
	sched.NextEntity = queue.Pop
	core := p.Informers.Core().V1()
	debugger.New(core.Nodes().Lister(), core.Pods().Lister(), sched.Cache, queue).ListenForSignal(background)
	var apiCache fwk.APICacher
	if sched.APIDispatcher != nil {
		apiCache = apicache.New(queue, sched.Cache)
	}
	for name, f := range made.frameworks {
		f.SetPodNominator(queue)
		f.SetPodActivator(queue)
		f.SetAPICacher(apiCache)
		sched.Profiles[name] = observer.Framework(f, p.Configuration.PercentageOfNodesToScore)
	}
	if p.BreakTie != nil {
		breakTies(sched, p.BreakTie)
	}
	return sched, snapshot, nil
}

// placeholderName names the only plugin of a profile that scheduler.New sees.
const placeholderName = "RecordedProfile"

type profiles struct {
	ctx           context.Context
	discarded     *discarding
	configuration *config.KubeSchedulerConfiguration
	registry      frameworkruntime.Registry
	observer      Observer
	// extenders are the stand-ins, which all frameworks and the scheduler share.
	extenders  []fwk.Extender
	shared     []frameworkruntime.Option
	frameworks map[string]framework.Framework
	queueSort  queueSortRule
	// failed is the error of building a profile's framework.
	failed error
}

// placeholders returns a profile with the placeholder for each real one. They share the plugins'
// arguments, into which New writes the resources that extenders manage.
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
func (p *profiles) build(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
	p.discarded.kept()
	defer p.discarded.framework()
	if err := p.wrapExtenders(h.Extenders()); err != nil {
		return nil, err
	}
	dispatcher, _ := h.APIDispatcher().(*apidispatcher.APIDispatcher)
	options := append([]frameworkruntime.Option{
		frameworkruntime.WithClientSet(h.ClientSet()),
		frameworkruntime.WithKubeConfig(h.KubeConfig()),
		frameworkruntime.WithEventRecorder(h.EventRecorder()),
		frameworkruntime.WithInformerFactory(h.SharedInformerFactory()),
		frameworkruntime.WithSharedDRAManager(p.observer.DRAManager(h.SharedDRAManager())),
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
		f, err := NewFramework(p.ctx, p.registry, profile, options...)
		if err != nil {
			p.failed = fmt.Errorf("profile %q: %w", profile.SchedulerName, err)
			return nil, p.failed
		}
		if p.failed = p.queueSort.check(profile, f); p.failed != nil {
			return nil, p.failed
		}
		p.frameworks[profile.SchedulerName] = f
		return &placeholder{p, f}, nil
	}
	return nil, fmt.Errorf("no profile is named %q", h.ProfileName())
}

// wrapExtenders creates the stand-ins for New's extenders.
func (p *profiles) wrapExtenders(made []fwk.Extender) (err error) {
	if p.extenders == nil {
		p.extenders, err = p.observer.Extenders(made, p.configuration.Extenders)
	}
	return err
}

// queueSortRule enforces a rule of Kubernetes' profile.NewMap: all profiles share one queue, so
// they must use the same queue sort plugin with the same arguments.
type queueSortRule struct {
	profile, plugin string
	args            runtime.Object
}

func (r *queueSortRule) check(profile *config.KubeSchedulerProfile, f framework.Framework) error {
	if profile.Plugins == nil {
		return fmt.Errorf("plugins required for profile with scheduler name %q", profile.SchedulerName)
	}
	plugin := f.ListPlugins().QueueSort.Enabled[0].Name
	var args runtime.Object
	for _, c := range profile.PluginConfig {
		if c.Name == plugin {
			args = c.Args
			break
		}
	}
	switch {
	case r.profile == "":
		*r = queueSortRule{profile.SchedulerName, plugin, args}
	case plugin != r.plugin:
		return fmt.Errorf("different queue sort plugins for profile %q: %q, first: %q of %q", profile.SchedulerName, plugin, r.plugin, r.profile)
	case diff.Diff(r.args, args) != "":
		return fmt.Errorf("different queue sort plugin args for profile %q: not those of %q in profile %q", profile.SchedulerName, plugin, r.profile)
	}
	return nil
}

// PluginError says that the factory of a plugin failed. It has the factory's
// message, and the framework puts the plugin's name before that.
type PluginError struct {
	Profile, Plugin string
	// Err is the factory's error.
	Err error
}

func (e *PluginError) Error() string { return e.Err.Error() }

func (e *PluginError) Unwrap() error { return e.Err }

func withPluginErrors(registry frameworkruntime.Registry) frameworkruntime.Registry {
	out := make(frameworkruntime.Registry, len(registry))
	for name, factory := range registry {
		out[name] = func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			plugin, err := factory(ctx, args, h)
			if err != nil {
				return nil, &PluginError{Profile: h.ProfileName(), Plugin: name, Err: err}
			}
			return plugin, nil
		}
	}
	return out
}

// placeholder stands for a profile in scheduler.New. It never schedules. It tells New the events
// that the profile's plugins wait for, for which New starts informers.
type placeholder struct {
	profiles  *profiles
	framework framework.Framework
}

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

func (p *placeholder) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	p.profiles.discarded.debugger()
	var all []fwk.ClusterEventWithHint
	for _, extension := range p.framework.EnqueueExtensions() {
		events, err := extension.EventsToRegister(p.profiles.ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, events...)
	}
	return all, nil
}
