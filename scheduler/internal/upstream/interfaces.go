package upstream

import (
	"context"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Wrapper is a plugin that passes calls on to another plugin.
//
// Kubernetes finds a plugin's extension points by reflection, so a wrapper has all of them, and
// NewFramework runs it only at those of its plugin. Besides, Kubernetes asserts a few interfaces on
// the instance: there a wrapper must be like its plugin; see Shape. Every wrapper may have
// PlacementFeasiblePlugin, which Kubernetes asserts only on GangScheduling, and Close, which does
// nothing for a plugin without one.
type Wrapper interface {
	fwk.Plugin
	// Unwrap returns the plugin.
	Unwrap() fwk.Plugin
}

// Shape is what Kubernetes asserts on a plugin's instance.
type Shape struct {
	// Requeues: the plugin may reject pods that an event can make schedulable. It has
	// one of the interfaces PreEnqueuePlugin, PreFilterPlugin, FilterPlugin,
	// ReservePlugin and PermitPlugin. Such a plugin is asked for its events or, without
	// EnqueueExtensions, gets all events.
	Requeues bool
	// EnqueueExtensions: the plugin names its events. It has no meaning without
	// Requeues.
	EnqueueExtensions bool
	// Sign: the plugin has SignPlugin. One plugin without it switches batching off.
	Sign bool
}

// ShapeOf returns the shape of p.
func ShapeOf(p fwk.Plugin) Shape {
	var s Shape
	for _, i := range pluginInterfaces {
		s.Requeues = s.Requeues || i.requeues && i.implementedBy(p)
	}
	_, extensions := p.(fwk.EnqueueExtensions)
	s.EnqueueExtensions = s.Requeues && extensions
	_, s.Sign = p.(fwk.SignPlugin)
	return s
}

// pluginInterface is an interface that the framework asserts on a plugin, by reflection for an
// extension point or directly on the instance.
type pluginInterface struct {
	implementedBy func(fwk.Plugin) bool
	// at returns the extension point's plugins; nil for an interface asserted on the instance.
	at       func(*config.Plugins) *config.PluginSet
	requeues bool
}

// pluginInterfaces lists every such interface in the order of a scheduling cycle.
//
// The contract test compares the list with Kubernetes' source. Wrapping would hide an interface
// that is missing here, and recording would change the scheduler.
var pluginInterfaces = []pluginInterface{
	requeuing[fwk.PreEnqueuePlugin](func(p *config.Plugins) *config.PluginSet { return &p.PreEnqueue }),
	point[fwk.QueueSortPlugin](func(p *config.Plugins) *config.PluginSet { return &p.QueueSort }),
	asserted[fwk.EnqueueExtensions](),
	requeuing[fwk.PreFilterPlugin](func(p *config.Plugins) *config.PluginSet { return &p.PreFilter }),
	requeuing[fwk.FilterPlugin](func(p *config.Plugins) *config.PluginSet { return &p.Filter }),
	point[fwk.PostFilterPlugin](func(p *config.Plugins) *config.PluginSet { return &p.PostFilter }),
	point[fwk.PreScorePlugin](func(p *config.Plugins) *config.PluginSet { return &p.PreScore }),
	point[fwk.ScorePlugin](func(p *config.Plugins) *config.PluginSet { return &p.Score }),
	requeuing[fwk.ReservePlugin](func(p *config.Plugins) *config.PluginSet { return &p.Reserve }),
	requeuing[fwk.PermitPlugin](func(p *config.Plugins) *config.PluginSet { return &p.Permit }),
	point[fwk.PreBindPlugin](func(p *config.Plugins) *config.PluginSet { return &p.PreBind }),
	point[fwk.BindPlugin](func(p *config.Plugins) *config.PluginSet { return &p.Bind }),
	point[fwk.PostBindPlugin](func(p *config.Plugins) *config.PluginSet { return &p.PostBind }),
	asserted[fwk.SignPlugin](),
	point[fwk.PodGroupPostFilterPlugin](func(p *config.Plugins) *config.PluginSet { return &p.PodGroupPostFilter }),
	point[fwk.PlacementGeneratePlugin](func(p *config.Plugins) *config.PluginSet { return &p.PlacementGenerate }),
	point[fwk.PlacementScorePlugin](func(p *config.Plugins) *config.PluginSet { return &p.PlacementScore }),
	asserted[framework.PlacementFeasiblePlugin](),
	asserted[io.Closer](),
}

func asserted[T any]() pluginInterface {
	return pluginInterface{implementedBy: func(p fwk.Plugin) bool {
		_, ok := p.(T)
		return ok
	}}
}

func point[T any](at func(*config.Plugins) *config.PluginSet) pluginInterface {
	i := asserted[T]()
	i.at = at
	return i
}

// requeuing is an extension point of those that Shape.Requeues lists.
func requeuing[T any](at func(*config.Plugins) *config.PluginSet) pluginInterface {
	i := point[T](at)
	i.requeues = true
	return i
}

// NewFramework builds a profile's framework from a registry whose factories return a Wrapper for
// each plugin. Except for the wrappers, it is the framework that Kubernetes builds from the
// plugins, with the same errors.
func NewFramework(ctx context.Context, registry frameworkruntime.Registry, profile *config.KubeSchedulerProfile, options ...frameworkruntime.Option) (framework.Framework, error) {
	confined := *profile
	if profile.Plugins != nil {
		confined.Plugins = profile.Plugins.DeepCopy()
		registry = confine(registry, confined.Plugins)
	}
	return frameworkruntime.NewFramework(ctx, registry, &confined, options...)
}

// confine returns a registry whose factories disable each wrapper in plugins at the extension
// points that its plugin lacks. Kubernetes calls the factories before it looks at the extension
// points, and multiPoint does not enable a plugin where it is disabled. A plugin that a
// configuration enables by name where it cannot run stays bare, so that Kubernetes refuses it.
func confine(registry frameworkruntime.Registry, plugins *config.Plugins) frameworkruntime.Registry {
	out := make(frameworkruntime.Registry, len(registry))
	for name, factory := range registry {
		named := func(p config.Plugin) bool { return p.Name == name }
		out[name] = func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			plugin, err := factory(ctx, args, h)
			wrapper, ok := plugin.(Wrapper)
			if err != nil || !ok {
				return plugin, err
			}
			bare := wrapper.Unwrap()
			for _, i := range pluginInterfaces {
				if i.at == nil || i.implementedBy(bare) {
					continue
				}
				set := i.at(plugins)
				if slices.ContainsFunc(set.Enabled, named) {
					return bare, nil
				}
				set.Disabled = append(set.Disabled, config.Plugin{Name: name})
			}
			return wrapper, nil
		}
	}
	return out
}
