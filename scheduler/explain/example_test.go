package explain_test

import (
	"fmt"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
)

// An explanation is data. The sentence is one rendering of it; a program reads the
// operands of the headline.
func ExampleCycle() {
	b := result.NewFilterBuilder([]string{"TaintToleration", "NodeResourcesFit"}, 2)
	b.Add("node-1", "RN", "TaintToleration", []string{"node(s) had untolerated taint(s)"})
	b.Add("node-2", "PR", "NodeResourcesFit", []string{"Insufficient cpu"})
	e := explain.Cycle(&result.Cycle{
		Summary: result.Summary{
			Pod: result.Pod{Name: "web"}, Outcome: result.Unschedulable,
			Nodes: result.NodeCounts{Total: 2, Evaluated: 2, Wanted: 2},
		},
		Filter: b.Filter(),
	})

	fmt.Println(e.Sentence)
	if none, ok := e.Headline.Operands.(explain.NoNodeFits); ok {
		for _, r := range none.Rejecters {
			fmt.Println(explain.KindOf(none), r.Plugin, r.Nodes)
		}
	}
	// Output:
	// web fits no node: 2 nodes rejected, 1 by NodeResourcesFit, 1 by TaintToleration.
	// noNode NodeResourcesFit 1
	// noNode TaintToleration 1
}
