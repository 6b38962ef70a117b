package config

import (
	"maps"
	"reflect"
	"slices"
	"strconv"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"
)

// Compare returns how b differs from a in meaning: it compares plugins by the extension points at
// which they run, and arguments with their defaults. It compares a profile that only b has with
// Kubernetes' default profile. It treats out-of-tree plugins like Effective without the actual
// plugins.
func Compare(a, b *Configuration) []Difference {
	return compare(a.view, b.view, b.standard.profiles[0])
}

func compare(a, b *view, def *profileView) []Difference {
	d := &differences{found: []Difference{}}
	for _, name := range settingNames() {
		d.value(name, a.global[name], b.global[name])
	}
	for _, p := range b.profiles {
		field := "profiles[" + p.declared.SchedulerName + "]"
		before := named(a.profiles, p.declared.SchedulerName)
		if before == nil {
			d.add(field, nil, map[string]any{"schedulerName": p.declared.SchedulerName})
			before = def
		}
		d.profile(field, before, p)
	}
	for _, p := range a.profiles {
		if named(b.profiles, p.declared.SchedulerName) == nil {
			d.add("profiles["+p.declared.SchedulerName+"]", map[string]any{"schedulerName": p.declared.SchedulerName}, nil)
		}
	}
	d.items("extenders", byURL(a.extenders), byURL(b.extenders))
	for _, name := range merged(a.global, b.global) {
		if !slices.Contains(settingNames(), name) {
			d.value(name, a.global[name], b.global[name])
		}
	}
	return d.found
}

func named(profiles []*profileView, name string) *profileView {
	i := slices.IndexFunc(profiles, func(p *profileView) bool { return p.declared.SchedulerName == name })
	if i < 0 {
		return nil
	}
	return profiles[i]
}

// differences collects differences in the order in which they are found.
type differences struct{ found []Difference }

func (d *differences) add(field string, a, b any) {
	d.found = append(d.found, Difference{Field: field, Default: a, Current: b})
}

func (d *differences) profile(field string, a, b *profileView) {
	d.value(field+".percentageOfNodesToScore", percentage(a), percentage(b))
	ours, theirs := a.names(), b.names()
	all := slices.Concat(ours, theirs)
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		before, after := slices.Contains(ours, name), slices.Contains(theirs, name)
		plugin, args := field+".plugins["+name+"]", field+".pluginConfig["+name+"].args"
		switch {
		case before && after:
			d.value(args, a.arguments[name], b.arguments[name])
			d.points(field+".plugins", name, a, b)
		case after:
			d.add(plugin, nil, pointsAt(name, b))
			d.value(args, defaultArguments(name), b.arguments[name])
		default:
			d.add(plugin, pointsAt(name, a), nil)
		}
	}
	for _, point := range runningPoints() {
		if point.unordered {
			continue
		}
		d.order(field+".plugins."+point.name+".order", point.set(a.running).Enabled, point.set(b.running).Enabled)
	}
}

func percentage(p *profileView) any {
	if p.declared.PercentageOfNodesToScore == nil {
		return nil
	}
	return int64(*p.declared.PercentageOfNodesToScore)
}

// pointsAt returns the names of the extension points at which a plugin runs.
func pointsAt(name string, p *profileView) []any {
	var out []any
	for _, point := range runningPoints() {
		if has(point.set(p.running).Enabled, name) {
			out = append(out, point.name)
		}
	}
	return out
}

// points compares the extension points of a plugin that runs on both sides.
func (d *differences) points(field, name string, a, b *profileView) {
	for _, point := range runningPoints() {
		before, after := at(name, point, a), at(name, point, b)
		d.value(field+"."+point.name+"["+name+"]", before, after)
	}
}

// at describes a plugin at an extension point; nil when it does not run there.
func at(name string, point extensionPoint, p *profileView) any {
	for _, plugin := range point.set(p.running).Enabled {
		switch {
		case plugin.Name != name:
		case point.weighed:
			return map[string]any{"weight": int64(plugin.Weight)}
		default:
			return "enabled"
		}
	}
	return nil
}

// order compares the order of the plugins that run on both sides.
func (d *differences) order(field string, a, b []config.Plugin) {
	before, after := []any{}, []any{}
	for _, p := range a {
		if has(b, p.Name) {
			before = append(before, p.Name)
		}
	}
	for _, p := range b {
		if has(a, p.Name) {
			after = append(after, p.Name)
		}
	}
	d.value(field, before, after)
}

// value compares two JSON values, field by field where both have fields.
func (d *differences) value(field string, a, b any) {
	if reflect.DeepEqual(a, b) {
		return
	}
	before, isObject := a.(map[string]any)
	after, areObjects := b.(map[string]any)
	if isObject && areObjects {
		for _, key := range merged(before, after) {
			d.value(field+"."+key, before[key], after[key])
		}
		return
	}
	ours, listed := byName(a)
	theirs, bothListed := byName(b)
	if listed && bothListed {
		d.items(field, ours, theirs)
		return
	}
	d.add(field, a, b)
}

func (d *differences) items(field string, a, b map[string]any) {
	for _, name := range merged(a, b) {
		d.value(field+"["+name+"]", a[name], b[name])
	}
}

// byName returns the items of a list by name if all of them have distinct names.
func byName(v any) (map[string]any, bool) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, false
	}
	out := map[string]any{}
	for _, item := range list {
		fields, _ := item.(map[string]any)
		name, ok := fields["name"].(string)
		if _, twice := out[name]; !ok || twice {
			return nil, false
		}
		out[name] = item
	}
	return out, true
}

// byURL returns the extenders by URL. If several share a URL, all but the first are numbered.
func byURL(extenders []any) map[string]any {
	out := map[string]any{}
	for _, e := range extenders {
		fields, _ := e.(map[string]any)
		url, _ := fields["urlPrefix"].(string)
		name := url
		for i := 2; out[name] != nil; i++ {
			name = url + "#" + strconv.Itoa(i)
		}
		out[name] = e
	}
	return out
}

// merged returns the sorted keys of both.
func merged[V any](a, b map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}
