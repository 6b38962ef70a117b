package config

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// NoEffect returns the fields of the document that have no effect in the simulator: those about the
// deployment of kube-scheduler, and those that Kubernetes accepts and ignores. It returns at
// most a hundred.
func (c *Configuration) NoEffect() []NoEffect {
	n := &noEffect{configuration: c, written: &yamlsource.Document{Value: c.written}, found: []NoEffect{}}
	n.section("leaderElection", "the simulator runs one scheduler, so there is no leader to elect")
	n.section("clientConnection", "the simulator connects the scheduler to its own control plane")
	n.debugging()
	if c.Internal.DelayCacheUntilActive {
		n.add(path{{Key: "delayCacheUntilActive"}}, "the simulator runs one scheduler, which is always active")
	}
	for i := range c.Internal.Profiles {
		n.profile(&c.Internal.Profiles[i], path{{Key: "profiles"}}.At(i))
	}
	return n.found
}

type noEffect struct {
	configuration *Configuration
	written       *yamlsource.Document
	found         []NoEffect
}

// enabledByDefault are the plugins that multiPoint enables unless a document disables them.
func (n *noEffect) enabledByDefault() []config.Plugin {
	return n.configuration.standard.profiles[0].declared.Plugins.MultiPoint.Enabled
}

// maxNoEffect bounds the report.
const maxNoEffect = 100

func (n *noEffect) add(at path, message string) {
	if len(n.found) >= maxNoEffect {
		return
	}
	n.found = append(n.found, NoEffect{Field: at.String(), Message: message})
}

// section reports the fields of an object. In a complete object, such as that of Kubernetes' default
// written out, it reports only the fields that differ from the default.
func (n *noEffect) section(name, message string) {
	fields, _ := n.configuration.written[name].(map[string]any)
	byDefault, _ := n.configuration.standard.global[name].(map[string]any)
	whole := len(fields) == len(byDefault)
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !whole || !reflect.DeepEqual(fields[key], byDefault[key]) {
			n.add(path{{Key: name}, {Key: key}}, message)
		}
	}
}

func (n *noEffect) debugging() {
	names := []string{"enableProfiling", "enableContentionProfiling"}
	whole := true
	for _, name := range names {
		whole = whole && n.configuration.written[name] == true
	}
	for _, name := range names {
		if _, set := n.configuration.written[name]; set && !whole {
			n.add(path{{Key: name}}, "the simulator does not serve the scheduler's profiling endpoints")
		}
	}
}

func (n *noEffect) profile(profile *config.KubeSchedulerProfile, at path) {
	n.copied(profile, at.Child("plugins").Child(multiPoint))
	for _, point := range allPoints() {
		set := at.Child("plugins").Child(point.name)
		n.weights(point, set.Child("enabled"))
		if _, written := n.written.At(set.Child("enabled")).([]any); written && !point.runs() {
			n.add(set, "needs the feature gate "+string(point.gate))
			continue
		}
		n.disabled(point, profile, set.Child("disabled"))
	}
	running := (&profileView{running: expand(profile.Plugins)}).names()
	enabled := map[string]bool{}
	for _, name := range running {
		enabled[name] = true
	}
	items, _ := n.written.At(at.Child("pluginConfig")).([]any)
	for i, item := range items {
		fields, _ := item.(map[string]any)
		name, _ := fields["name"].(string)
		n.arguments(name, fields["args"], enabled[name], at.Child("pluginConfig").At(i))
	}
}

func (n *noEffect) arguments(name string, args any, enabled bool, at path) {
	_, inTree := inTree()[name]
	_, takesSome := argumentsType(name)
	fields, _ := args.(map[string]any)
	switch {
	case !enabled:
		n.add(at, name+" is not enabled in this profile")
	case inTree && !takesSome && args != nil:
		n.add(at.Child("args"), name+" takes no arguments")
	case name == names.NodeResourcesFit && fields["ignoredResources"] != nil && len(ignoredResources(n.configuration.Internal)) > 0:
		n.add(at.Child("args").Child("ignoredResources"), "the extenders' managedResources with ignoredByScheduler take its place")
	}
}

// weights reports weights where they have no effect.
func (n *noEffect) weights(point extensionPoint, at path) {
	items, _ := n.written.At(at).([]any)
	for i, item := range items {
		fields, _ := item.(map[string]any)
		name, _ := fields["name"].(string)
		weight, _ := fields["weight"].(int64)
		if weight == 0 {
			continue
		}
		t, known := inTree()[name]
		weighs := point.weighed
		if point.name == multiPoint && known {
			weighs = false
			for _, p := range extensionPoints() {
				weighs = weighs || p.weighed && t.Implements(p.kind)
			}
		}
		if !weighs {
			n.add(at.At(i).Child("weight"), "weights have an effect only at score and placementScore")
		}
	}
}

// disabled reports disabled plugins that would not run anyway.
func (n *noEffect) disabled(point extensionPoint, profile *config.KubeSchedulerProfile, at path) {
	items, _ := n.written.At(at).([]any)
	for i, item := range items {
		fields, _ := item.(map[string]any)
		name, _ := fields["name"].(string)
		t, known := inTree()[name]
		switch {
		case name == "*":
		case point.name == multiPoint && !has(n.enabledByDefault(), name):
			n.add(at.At(i), name+" is not enabled by default"+suggestion(name, known))
		case point.name != multiPoint && !has(profile.Plugins.MultiPoint.Enabled, name):
			n.add(at.At(i), name+" is not enabled by multiPoint"+suggestion(name, known))
		case point.name != multiPoint && known && !t.Implements(point.kind):
			n.add(at.At(i), name+" does not run at "+point.name)
		}
	}
}

func suggestion(name string, known bool) string {
	if known {
		return ""
	}
	return yamlsource.DidYouMean(name, registered(nil))
}

// copied handles a multiPoint that looks like an edited copy of Kubernetes' default: plugins that are
// missing there are enabled nevertheless, and the order of the others does not change.
func (n *noEffect) copied(profile *config.KubeSchedulerProfile, at path) {
	disabled := profile.Plugins.MultiPoint.Disabled
	if has(disabled, "*") {
		return
	}
	items, _ := n.written.At(at.Child("enabled")).([]any)
	var written, byDefault []string
	for _, item := range items {
		fields, _ := item.(map[string]any)
		if name, _ := fields["name"].(string); has(n.enabledByDefault(), name) && !has(disabled, name) {
			written = append(written, name)
		}
	}
	if 2*len(written) <= len(n.enabledByDefault()) {
		return
	}
	for _, p := range n.enabledByDefault() {
		switch {
		case slices.Contains(written, p.Name):
			byDefault = append(byDefault, p.Name)
		case !has(disabled, p.Name):
			n.add(at.Child("enabled"), p.Name+" is not in the list, but it is enabled by default; to remove it, name it under disabled")
		}
	}
	if !slices.Equal(written, byDefault) {
		n.add(at.Child("enabled"), "Kubernetes' plugins keep their default order here; to change the order, disable \"*\" in multiPoint as well")
	}
}
