package config

import (
	"reflect"
	"slices"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/internal/upstream"
)

// Effective is the configuration in force: the document's settings and Kubernetes' defaults.
type Effective struct {
	// Revision is set by the caller.
	Revision   int                 `json:"revision"`
	Global     []Setting           `json:"global"`
	Profiles   []EffectiveProfile  `json:"profiles"`
	Extenders  []EffectiveExtender `json:"extenders"`
	Difference []Difference        `json:"difference"` // from Kubernetes' default
	NoEffect   []NoEffect          `json:"noEffect"`
}

// Source says where a value comes from. It is SourceUser when the document differs from Kubernetes'
// default, and SourceDefault also when the document repeats the default.
type Source string

const (
	SourceDefault Source = "default"
	SourceUser    Source = "user"
	SourceNone    Source = "none" // for the arguments of a plugin without arguments
)

// Setting is a field that is the same for all profiles.
type Setting struct {
	Name    string `json:"name"`
	Value   any    `json:"value"`
	Default any    `json:"default"`
	Source  Source `json:"source"`
}

type EffectiveProfile struct {
	SchedulerName string `json:"schedulerName"`
	// PercentageOfNodesToScore is nil when the global value applies.
	PercentageOfNodesToScore *int32 `json:"percentageOfNodesToScore,omitempty"`
	// ExtensionPoints are in the order in which they run. Extension points for pod groups
	// are listed if feature gates enable them.
	ExtensionPoints []EffectivePoint `json:"extensionPoints"`
	// Plugins are all plugins that run at some extension point, by name.
	Plugins []EffectivePlugin `json:"plugins"`
}

type EffectivePoint struct {
	Name string `json:"name"`
	// Plugins are in the order in which they are called.
	Plugins []PointPlugin `json:"plugins"`
	// Disabled are the plugins that run here by default but are disabled.
	Disabled []string `json:"disabled"`
}

type PointPlugin struct {
	Name string `json:"name"`
	// Weight is nil where weights do not count.
	Weight *int32 `json:"weight,omitempty"`
	Source Source `json:"source"`
	// ViaMultiPoint: it runs here because multiPoint enables it.
	ViaMultiPoint bool `json:"viaMultiPoint"`
}

// EffectivePlugin is a plugin of a profile with its arguments, defaulted.
type EffectivePlugin struct {
	Name            string `json:"name"`
	Arguments       any    `json:"arguments,omitempty"`
	ArgumentsSource Source `json:"argumentsSource"`
}

// EffectiveExtender is an extender without its credentials.
type EffectiveExtender struct {
	URLPrefix        string   `json:"urlPrefix"`
	Verbs            []string `json:"verbs"` // of filter, prioritize, preempt and bind
	Weight           int64    `json:"weight"`
	Ignorable        bool     `json:"ignorable"`
	NodeCacheCapable bool     `json:"nodeCacheCapable"`
	ManagedResources []string `json:"managedResources"`
	TimeoutSeconds   float64  `json:"timeoutSeconds"`
}

// Difference is a field in which two configurations differ.
type Difference struct {
	// Field identifies list items by name, such as
	// profiles[default-scheduler].plugins.score[NodeResourcesFit].weight.
	Field string `json:"field"`
	// Default and Current are JSON values; nil means no value.
	Default any `json:"default"`
	Current any `json:"current"`
}

// NoEffect is a field that is accepted but has no effect.
type NoEffect struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Effective returns the configuration in force. actual holds the results of ListPlugins of the
// running frameworks by scheduler name. For a profile without an entry, the plugins follow from
// Kubernetes' rules, which do not cover out-of-tree plugins that multiPoint enables. The
// arguments in the result are shared and must not be changed.
func (c *Configuration) Effective(actual map[string]*config.Plugins) Effective {
	after, def := c.view.running(actual), c.standard.profiles[0]
	e := Effective{
		Global:     settings(c.standard, after),
		Profiles:   make([]EffectiveProfile, 0, len(after.profiles)),
		Extenders:  make([]EffectiveExtender, 0, len(c.Internal.Extenders)),
		Difference: compare(c.standard, after, def),
		NoEffect:   c.NoEffect(),
	}
	for _, p := range after.profiles {
		e.Profiles = append(e.Profiles, effectiveProfile(p, def))
	}
	for i := range c.Internal.Extenders {
		e.Extenders = append(e.Extenders, effectiveExtender(&c.Internal.Extenders[i]))
	}
	return e
}

// settingNames are the global fields that have an effect in the simulator.
func settingNames() []string {
	return []string{"parallelism", "percentageOfNodesToScore", "podInitialBackoffSeconds", "podMaxBackoffSeconds", "delayCacheUntilActive"}
}

func settings(before, after *view) []Setting {
	out := []Setting{}
	for _, name := range settingNames() {
		s := Setting{Name: name, Value: after.global[name], Default: before.global[name], Source: SourceDefault}
		if !reflect.DeepEqual(s.Value, s.Default) {
			s.Source = SourceUser
		}
		out = append(out, s)
	}
	return out
}

func effectiveProfile(p, def *profileView) EffectiveProfile {
	out := EffectiveProfile{
		SchedulerName: p.declared.SchedulerName, PercentageOfNodesToScore: p.declared.PercentageOfNodesToScore,
		ExtensionPoints: []EffectivePoint{}, Plugins: []EffectivePlugin{},
	}
	for _, point := range extensionPoints() {
		if !point.runs() {
			continue
		}
		running, byDefault := point.set(p.running).Enabled, point.set(def.running).Enabled
		out.ExtensionPoints = append(out.ExtensionPoints, effectivePoint(point, running, byDefault, point.set(p.declared.Plugins).Enabled))
	}
	for _, name := range p.names() {
		plugin := EffectivePlugin{Name: name, ArgumentsSource: SourceNone}
		if args := p.arguments[name]; args != nil {
			plugin.Arguments, plugin.ArgumentsSource = args, SourceUser
			if reflect.DeepEqual(args, defaultArguments(name)) {
				plugin.ArgumentsSource = SourceDefault
			}
		}
		out.Plugins = append(out.Plugins, plugin)
	}
	return out
}

func effectivePoint(point extensionPoint, running, byDefault, specific []config.Plugin) EffectivePoint {
	out := EffectivePoint{Name: point.name, Plugins: []PointPlugin{}, Disabled: []string{}}
	for _, r := range running {
		p := PointPlugin{Name: r.Name, Source: SourceUser, ViaMultiPoint: !has(specific, r.Name)}
		if point.weighed {
			p.Weight = &r.Weight
		}
		if slices.Contains(byDefault, r) {
			p.Source = SourceDefault
		}
		out.Plugins = append(out.Plugins, p)
	}
	for _, d := range byDefault {
		if !has(running, d.Name) {
			out.Disabled = append(out.Disabled, d.Name)
		}
	}
	return out
}

func effectiveExtender(e *config.Extender) EffectiveExtender {
	out := EffectiveExtender{
		URLPrefix: e.URLPrefix, Verbs: []string{}, Weight: e.Weight, Ignorable: e.Ignorable, NodeCacheCapable: e.NodeCacheCapable,
		ManagedResources: []string{}, TimeoutSeconds: upstream.ExtenderTimeout(e).Seconds(),
	}
	for _, verb := range []struct{ name, path string }{
		{"filter", e.FilterVerb}, {"prioritize", e.PrioritizeVerb}, {"preempt", e.PreemptVerb}, {"bind", e.BindVerb},
	} {
		if verb.path != "" {
			out.Verbs = append(out.Verbs, verb.name)
		}
	}
	for _, r := range e.ManagedResources {
		out.ManagedResources = append(out.ManagedResources, r.Name)
	}
	return out
}
