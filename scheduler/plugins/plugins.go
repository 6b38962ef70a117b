// Package plugins lists the scheduler plugins that the simulator ships in addition
// to those of Kubernetes. A plugin runs only if a configuration enables it.
//
// scheduler/examples/zonequota is an example of an out-of-tree plugin that users
// register in their own program; see simulator/examples/plugin.
//
// It may import the packages below it and the type of the framework's registry.
package plugins

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/plugins/argument"
	"kube-scheduler-simulator/scheduler/plugins/capacityscheduling"
	"kube-scheduler-simulator/scheduler/plugins/cel"
)

// Registry returns the plugins' factories by name, in a new map.
func Registry() frameworkruntime.Registry {
	return frameworkruntime.Registry{
		capacityscheduling.Name: capacityscheduling.New,
		cel.FilterName:          cel.NewFilter,
		cel.ScoreName:           cel.NewScore,
	}
}

// Validate returns every mistake in the arguments that a configuration has for the
// named plugin. The factories of this package need no scheduler to check them. For
// other plugins Validate returns none.
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
