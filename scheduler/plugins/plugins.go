// Package plugins lists the scheduler plugins that ship with the simulator
// beside those of Kubernetes. None is enabled before a configuration says so.
//
// Package zonequota below is an example of a plugin of one's own, which a program
// of one's own registers; see simulator/examples/plugin.
//
// It may import the plugins below it and the type of the registry.
package plugins

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/plugins/argument"
	"kube-scheduler-simulator/scheduler/plugins/cel"
)

// Registry returns the plugins' factories by name, in a map of the caller's own.
func Registry() frameworkruntime.Registry {
	return frameworkruntime.Registry{
		cel.FilterName: cel.NewFilter,
		cel.ScoreName:  cel.NewScore,
	}
}

// Validate returns every mistake in the arguments of the plugin of that name, as
// they are in a configuration. The factories of this package need nothing of a
// scheduler to check them; a plugin that is not of this package has none.
func Validate(ctx context.Context, name string, args runtime.Object) []*argument.Error {
	factory, ours := Registry()[name]
	if !ours {
		return nil
	}
	_, err := factory(ctx, args, nil)
	if all := argument.All(err); len(all) > 0 || err == nil {
		return all
	}
	return []*argument.Error{{Message: err.Error()}}
}
