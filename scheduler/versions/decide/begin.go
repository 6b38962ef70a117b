package decide

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	baseversion "k8s.io/component-base/version"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/versions/wire"
)

// begin builds a scheduler with an empty state.
func begin(ctx context.Context, b *wire.Begin) (*decider, *wire.Started, error) {
	if err := setGates(b); err != nil {
		return nil, nil, err
	}
	c, err := configurationOf(b.Configuration)
	if err != nil {
		return nil, nil, err
	}
	text, err := encode(c)
	if err != nil {
		return nil, nil, fail(wire.Internal, err)
	}
	d, err := newDecider(ctx, forDecisions(c))
	if err != nil {
		return nil, nil, fail(wire.BadConfiguration, err)
	}
	started := &wire.Started{Version: kubernetesVersion(), Minor: baseversion.DefaultKubeBinaryVersion, Configuration: text, Gates: gates()}
	for i := range c.Profiles {
		profile, err := describe(&c.Profiles[i], d.scheduler.Profiles[c.Profiles[i].SchedulerName])
		if err != nil {
			return nil, nil, fail(wire.Internal, err)
		}
		started.Profiles = append(started.Profiles, *profile)
	}
	for i := range c.Extenders {
		started.ExtendersNotAsked = append(started.ExtendersNotAsked, c.Extenders[i].URLPrefix)
	}
	return d, started, nil
}

// kubernetesVersion returns the version of Kubernetes' module in this program.
func kubernetesVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "k8s.io/kubernetes" {
				return m.Version
			}
		}
	}
	return "v" + baseversion.DefaultKubeBinaryVersion // a test's binary has no list of modules
}

// emulated is how many minor versions back Kubernetes emulates.
const emulated = 3

func setGates(b *wire.Begin) error {
	gate := utilfeature.DefaultMutableFeatureGate
	if b.Emulate != "" {
		v, err := version.ParseMajorMinor(b.Emulate)
		if err != nil {
			return fail(wire.BadGates, fmt.Errorf("reading the emulated version: %w", err))
		}
		if own := version.MustParse(baseversion.DefaultKubeBinaryVersion); v.LessThan(own.SubtractMinor(emulated)) || own.LessThan(v) {
			return fail(wire.BadGates, fmt.Errorf("this version emulates %s to %s, not %s", own.SubtractMinor(emulated), own, b.Emulate))
		}
		if err := gate.SetEmulationVersion(v); err != nil {
			return fail(wire.BadGates, fmt.Errorf("emulating Kubernetes %s: %w", b.Emulate, err))
		}
	}
	known := gate.GetAll()
	var unknown []string
	for name := range b.Gates {
		if _, ok := known[featuregate.Feature(name)]; !ok {
			unknown = append(unknown, name)
		}
	}
	if slices.Sort(unknown); len(unknown) > 0 {
		return fail(wire.UnknownGates, fmt.Errorf("unknown feature gates: %s", strings.Join(unknown, ", ")), unknown...)
	}
	if err := gate.SetFromMap(b.Gates); err != nil {
		return fail(wire.BadGates, fmt.Errorf("setting the feature gates: %w", err))
	}
	return nil
}

func gates() []wire.Gate {
	known, requires := utilfeature.DefaultMutableFeatureGate.GetAll(), dependencies()
	out := make([]wire.Gate, 0, len(known))
	for _, name := range slices.Sorted(maps.Keys(known)) {
		spec := known[name]
		out = append(out, wire.Gate{
			Name: string(name), Default: spec.Default, On: utilfeature.DefaultFeatureGate.Enabled(name), Locked: spec.LockToDefault, Stage: string(spec.PreRelease),
			Requires: requires[name],
		})
	}
	return out
}

// configurationOf decodes, defaults and validates a configuration as kube-scheduler does.
func configurationOf(text string) (*config.KubeSchedulerConfiguration, error) {
	if text == "" {
		c, err := latest.Default()
		if err != nil {
			return nil, fail(wire.Internal, err)
		}
		return c, nil
	}
	o, gvk, err := scheme.Codecs.UniversalDecoder().Decode([]byte(text), nil, nil)
	if err != nil {
		return nil, fail(wire.BadConfiguration, err)
	}
	c, ok := o.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fail(wire.BadConfiguration, fmt.Errorf("this is a %s, not a KubeSchedulerConfiguration", gvk))
	}
	c.APIVersion = gvk.GroupVersion().String()
	if lacking := unknownPlugins(c); len(lacking) > 0 {
		return nil, fail(wire.UnknownPlugins, fmt.Errorf("unknown plugins: %s", strings.Join(lacking, ", ")), lacking...)
	}
	if err := validation.ValidateKubeSchedulerConfiguration(c); err != nil {
		return nil, fail(wire.BadConfiguration, err)
	}
	return c, nil
}

// unknownPlugins returns the plugins that a configuration enables and this version lacks.
func unknownPlugins(c *config.KubeSchedulerConfiguration) []string {
	registry, unknown := plugins.NewInTreeRegistry(), sets.New[string]()
	for i := range c.Profiles {
		if c.Profiles[i].Plugins == nil {
			continue
		}
		for _, p := range points(c.Profiles[i].Plugins) {
			for _, enabled := range p.Plugins {
				if _, known := registry[enabled.Name]; !known {
					unknown.Insert(enabled.Name)
				}
			}
		}
	}
	return sets.List(unknown)
}

// points returns the extension points of a set of plugins that enable some, in the order of the type's fields.
func points(p *config.Plugins) []wire.ExtensionPoint {
	var out []wire.ExtensionPoint
	v := reflect.ValueOf(p).Elem()
	for i := range v.NumField() {
		set, ok := v.Field(i).Interface().(config.PluginSet)
		if !ok || len(set.Enabled) == 0 {
			continue
		}
		name := v.Type().Field(i).Name
		point := wire.ExtensionPoint{Name: strings.ToLower(name[:1]) + name[1:]}
		for _, enabled := range set.Enabled {
			point.Plugins = append(point.Plugins, wire.Plugin{Name: enabled.Name, Weight: enabled.Weight})
		}
		out = append(out, point)
	}
	return out
}

func describe(profile *config.KubeSchedulerProfile, f framework.Framework) (*wire.Profile, error) {
	out := &wire.Profile{Name: profile.SchedulerName, Points: points(f.ListPlugins()), Args: map[string]json.RawMessage{}}
	for _, pc := range profile.PluginConfig {
		text, err := encode(pc.Args)
		if err != nil {
			return nil, fmt.Errorf("writing the arguments of %s: %w", pc.Name, err)
		}
		out.Args[pc.Name] = text
	}
	return out, nil
}

// encode writes a configuration, or a plugin's arguments, as the API has them.
func encode(o runtime.Object) (json.RawMessage, error) {
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	return runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, configv1.SchemeGroupVersion), o)
}

// forDecisions returns a copy of a configuration with which the scheduler evaluates all nodes and asks no extender. The resources that
// extenders manage stay as they are, because NodeResourcesFit ignores some of them.
func forDecisions(c *config.KubeSchedulerConfiguration) *config.KubeSchedulerConfiguration {
	c = c.DeepCopy()
	c.PercentageOfNodesToScore = ptr.To[int32](100)
	for i := range c.Profiles {
		c.Profiles[i].PercentageOfNodesToScore = nil
	}
	for i := range c.Extenders {
		e := &c.Extenders[i]
		e.FilterVerb, e.PreemptVerb, e.PrioritizeVerb, e.BindVerb = "", "", "", ""
	}
	return c
}
