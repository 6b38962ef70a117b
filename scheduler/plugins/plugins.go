// Package plugins lists the scheduler plugins that the simulator adds to those of
// Kubernetes. A configuration must enable them.
//
// It does not list the example plugin scheduler/examples/zonequota, which the program in
// simulator/examples/plugin registers.
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

// Registry returns the plugins' factories by name. The caller owns the map.
func Registry() frameworkruntime.Registry {
	return frameworkruntime.Registry{
		cel.FilterName: cel.NewFilter,
		cel.ScoreName:  cel.NewScore,
	}
}

// Validate returns every mistake in a plugin's arguments, and nothing for a plugin that is
// not in Registry. It passes no framework handle: the factories here check their arguments
// without one.
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
