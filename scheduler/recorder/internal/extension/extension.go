// Package extension names every interface by which the scheduling framework
// recognises what a plugin does. It is shared by the recorder and by the
// generator of its compositions, so that both see the same list.
//
// It may import the framework only.
package extension

import (
	"fmt"
	"io"
	"strings"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Set is a set of Points, one bit each.
type Set uint32

// Point is one interface that the framework asserts on a plugin, by reflection
// when it expands MultiPoint or on the instance.
type Point struct {
	// Name of the interface.
	Name string
	// Recorder is the name of the recorder's type for it.
	Recorder string
	// Implements reports whether a plugin has it.
	Implements func(fwk.Plugin) bool
}

// Points lists all interfaces, in the order of a scheduling cycle. The order is
// part of the generated code: append, do not insert.
var Points = []Point{
	point[fwk.PreEnqueuePlugin]("PreEnqueuePlugin", "preEnqueue"),
	point[fwk.QueueSortPlugin]("QueueSortPlugin", "queueSort"),
	point[fwk.EnqueueExtensions]("EnqueueExtensions", "enqueueExtensions"),
	point[fwk.PreFilterPlugin]("PreFilterPlugin", "preFilter"),
	point[fwk.FilterPlugin]("FilterPlugin", "filter"),
	point[fwk.PostFilterPlugin]("PostFilterPlugin", "postFilter"),
	point[fwk.PreScorePlugin]("PreScorePlugin", "preScore"),
	point[fwk.ScorePlugin]("ScorePlugin", "score"),
	point[fwk.ReservePlugin]("ReservePlugin", "reserve"),
	point[fwk.PermitPlugin]("PermitPlugin", "permit"),
	point[fwk.PreBindPlugin]("PreBindPlugin", "preBind"),
	point[fwk.BindPlugin]("BindPlugin", "bind"),
	point[fwk.PostBindPlugin]("PostBindPlugin", "postBind"),
	point[fwk.SignPlugin]("SignPlugin", "sign"),
	point[fwk.PodGroupPostFilterPlugin]("PodGroupPostFilterPlugin", "podGroupPostFilter"),
	point[fwk.PlacementGeneratePlugin]("PlacementGeneratePlugin", "placementGenerate"),
	point[fwk.PlacementScorePlugin]("PlacementScorePlugin", "placementScore"),
	point[framework.PlacementFeasiblePlugin]("PlacementFeasiblePlugin", "placementFeasible"),
	point[io.Closer]("io.Closer", "closer"),
}

func point[T any](name, recorder string) Point {
	return Point{Name: name, Recorder: recorder, Implements: func(p fwk.Plugin) bool {
		_, ok := p.(T)
		return ok
	}}
}

// Of returns the set of interfaces that p implements.
func Of(p fwk.Plugin) Set {
	var s Set
	for i, point := range Points {
		if point.Implements(p) {
			s |= 1 << i
		}
	}
	return s
}

// Named returns the set of the named interfaces.
func Named(names ...string) (Set, error) {
	var s Set
next:
	for _, name := range names {
		for i, p := range Points {
			if p.Name == name {
				s |= 1 << i
				continue next
			}
		}
		return 0, fmt.Errorf("no interface is named %q", name)
	}
	return s, nil
}

// Points returns the members of s, in order.
func (s Set) Points() []Point {
	var out []Point
	for i, p := range Points {
		if s&(1<<i) != 0 {
			out = append(out, p)
		}
	}
	return out
}

// String names the members of s.
func (s Set) String() string {
	var names []string
	for _, p := range s.Points() {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}
