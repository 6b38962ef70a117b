package upstream

import (
	"fmt"
	"io"
	"strings"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// InterfaceSet is a set of PluginInterfaces, one bit each.
type InterfaceSet uint32

// PluginInterface is one interface that the scheduling framework asserts on a
// plugin, by reflection when it expands MultiPoint or directly on the instance.
type PluginInterface struct {
	// Name of the interface.
	Name string
	// Recorder is the name of the recorder type for it.
	Recorder string
	// Implements reports whether a plugin implements it.
	Implements func(fwk.Plugin) bool
}

// PluginInterfaces lists every such interface in the order of a scheduling
// cycle. The order is part of the generated compositions: append, do not insert.
//
// The contract test compares the list with Kubernetes' source. If a plugin
// interface were missing here, wrapping a plugin would hide it, and recording would
// change the scheduler.
var PluginInterfaces = []PluginInterface{
	pluginInterface[fwk.PreEnqueuePlugin]("PreEnqueuePlugin", "preEnqueue"),
	pluginInterface[fwk.QueueSortPlugin]("QueueSortPlugin", "queueSort"),
	pluginInterface[fwk.EnqueueExtensions]("EnqueueExtensions", "enqueueExtensions"),
	pluginInterface[fwk.PreFilterPlugin]("PreFilterPlugin", "preFilter"),
	pluginInterface[fwk.FilterPlugin]("FilterPlugin", "filter"),
	pluginInterface[fwk.PostFilterPlugin]("PostFilterPlugin", "postFilter"),
	pluginInterface[fwk.PreScorePlugin]("PreScorePlugin", "preScore"),
	pluginInterface[fwk.ScorePlugin]("ScorePlugin", "score"),
	pluginInterface[fwk.ReservePlugin]("ReservePlugin", "reserve"),
	pluginInterface[fwk.PermitPlugin]("PermitPlugin", "permit"),
	pluginInterface[fwk.PreBindPlugin]("PreBindPlugin", "preBind"),
	pluginInterface[fwk.BindPlugin]("BindPlugin", "bind"),
	pluginInterface[fwk.PostBindPlugin]("PostBindPlugin", "postBind"),
	pluginInterface[fwk.SignPlugin]("SignPlugin", "sign"),
	pluginInterface[fwk.PodGroupPostFilterPlugin]("PodGroupPostFilterPlugin", "podGroupPostFilter"),
	pluginInterface[fwk.PlacementGeneratePlugin]("PlacementGeneratePlugin", "placementGenerate"),
	pluginInterface[fwk.PlacementScorePlugin]("PlacementScorePlugin", "placementScore"),
	pluginInterface[framework.PlacementFeasiblePlugin]("PlacementFeasiblePlugin", "placementFeasible"),
	pluginInterface[io.Closer]("io.Closer", "closer"),
}

func pluginInterface[T any](name, recorder string) PluginInterface {
	return PluginInterface{Name: name, Recorder: recorder, Implements: func(p fwk.Plugin) bool {
		_, ok := p.(T)
		return ok
	}}
}

// InterfacesOf returns the set of interfaces that p implements.
func InterfacesOf(p fwk.Plugin) InterfaceSet {
	var s InterfaceSet
	for i, known := range PluginInterfaces {
		if known.Implements(p) {
			s |= 1 << i
		}
	}
	return s
}

// InterfacesNamed returns the set of the named interfaces.
func InterfacesNamed(names ...string) (InterfaceSet, error) {
	var s InterfaceSet
next:
	for _, name := range names {
		for i, known := range PluginInterfaces {
			if known.Name == name {
				s |= 1 << i
				continue next
			}
		}
		return 0, fmt.Errorf("no plugin interface is named %q", name)
	}
	return s, nil
}

// Members returns the interfaces of s, in order.
func (s InterfaceSet) Members() []PluginInterface {
	var out []PluginInterface
	for i, known := range PluginInterfaces {
		if s&(1<<i) != 0 {
			out = append(out, known)
		}
	}
	return out
}

// String names the members of s.
func (s InterfaceSet) String() string {
	var names []string
	for _, member := range s.Members() {
		names = append(names, member.Name)
	}
	return strings.Join(names, ", ")
}
