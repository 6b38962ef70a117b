package recorder

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/internal/upstream"
)

//go:generate go run ./internal/compose/cmd

// Wrap returns a registry in which every plugin records to r. Names stay the same,
// so the configuration, messages and metrics of a framework built from it are those
// of a bare one.
func (r *Recorder) Wrap(registry frameworkruntime.Registry) frameworkruntime.Registry {
	out := make(frameworkruntime.Registry, len(registry))
	for name, factory := range registry {
		out[name] = func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			dryRun := &groupDryRun{}
			given := h
			if r.plugins.PreemptsForGroups(name) {
				given = &dryRunHandle{h, dryRun}
			}
			plugin, err := factory(ctx, args, given)
			if err != nil {
				return nil, err
			}
			return r.wrap(plugin, r.profile(h.ProfileName()), h, dryRun)
		}
	}
	return out
}

// wrap returns a recorder around plugin with exactly the interfaces of plugin.
// dryRun notes the plugin's changes to the snapshot, for plugins whose changes are
// observed.
func (r *Recorder) wrap(plugin fwk.Plugin, p *profile, h fwk.Handle, dryRun *groupDryRun) (fwk.Plugin, error) {
	set := upstream.InterfacesOf(plugin)
	b := &base{recorder: r, profile: p, handle: h, plugin: plugin, dryRun: dryRun}
	observeDryRuns(b)
	if set == 0 {
		return b, nil
	}
	wrapped := composition(set, b)
	if wrapped == nil {
		return nil, fmt.Errorf("plugin %q (%T) has a combination of interfaces for which no recorder was generated: %s; "+
			"split the plugin, or add the combination to scheduler/recorder/internal/compose and run go generate ./scheduler/recorder",
			plugin.Name(), plugin, set)
	}
	return wrapped, nil
}

// profile returns the recorder's data about the named profile.
func (r *Recorder) profile(name string) *profile {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.profiles[name]
	if p == nil {
		p = &profile{name: name}
		r.profiles[name] = p
	}
	return p
}

func sortedNames(names sets.Set[string]) []string {
	out := names.UnsortedList()
	slices.Sort(out)
	return out
}
