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
	"kube-scheduler-simulator/scheduler/plugins/coscheduling"
	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology"
)

type plugin struct {
	factory frameworkruntime.PluginFactory
	// validate returns argument.Errors for the mistakes in the arguments. nil: the factory
	// needs no scheduler to check them.
	validate func(args runtime.Object) error
}

func all() map[string]plugin {
	return map[string]plugin{
		capacityscheduling.Name:   {capacityscheduling.New, withoutArguments},
		cel.FilterName:            {factory: cel.NewFilter},
		cel.ScoreName:             {factory: cel.NewScore},
		coscheduling.Name:         {coscheduling.New, coscheduling.Validate},
		noderesourcetopology.Name: {noderesourcetopology.New, noderesourcetopology.Validate},
	}
}

// withoutArguments is for a plugin that takes no arguments.
func withoutArguments(runtime.Object) error { return nil }

// Registry returns the plugins' factories by name, in a new map.
func Registry() frameworkruntime.Registry {
	registry := frameworkruntime.Registry{}
	for name, p := range all() {
		registry[name] = p.factory
	}
	return registry
}

// Validate returns every mistake in the arguments that a configuration has for the
// named plugin, without a scheduler. For other plugins Validate returns none.
func Validate(ctx context.Context, name string, args runtime.Object) []*argument.Error {
	p, ours := all()[name]
	if !ours {
		return nil
	}
	var err error
	if p.validate != nil {
		err = p.validate(args)
	} else {
		_, err = p.factory(ctx, args, nil)
	}
	if mistakes := argument.All(err); len(mistakes) > 0 || err == nil {
		return mistakes
	}
	return []*argument.Error{{Message: err.Error()}}
}
