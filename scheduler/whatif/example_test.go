package whatif_test

import (
	"context"
	"fmt"
	"log"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	schedulerconfig "kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/whatif"
)

// State in, decision out: where would a pending pod go if one node had no taint?
func Example() {
	cpu := func(n string) map[v1.ResourceName]string { return map[v1.ResourceName]string{"cpu": n, "pods": "10"} }
	engine := whatif.New(whatif.Options{
		Source: whatif.Objects([]runtime.Object{
			st.MakeNode().Name("small").Capacity(cpu("1")).Obj(),
			st.MakeNode().Name("tainted").Capacity(cpu("4")).Taints([]v1.Taint{{Key: "team", Value: "red", Effect: v1.TaintEffectNoSchedule}}).Obj(),
			st.MakePod().Name("web").Namespace("default").UID("web").SchedulerName("default-scheduler").Req(map[v1.ResourceName]string{"cpu": "2"}).Obj(),
		}),
		Configuration: func() *config.KubeSchedulerConfiguration {
			c, err := schedulerconfig.Default()
			if err != nil {
				log.Fatal(err)
			}
			return c.Internal
		},
	})
	defer engine.Stop()

	ask := func(changes ...whatif.Change) {
		answer, err := engine.Ask(context.Background(), whatif.Question{
			PodRef:  &types.NamespacedName{Namespace: "default", Name: "web"},
			Changes: changes,
		})
		if err != nil {
			log.Fatal(err)
		}
		cycle := answer.Decisions[0]
		fmt.Printf("%s %q\n", cycle.Outcome, cycle.SelectedNode)
		for i, node := range cycle.Filter.Nodes.All() {
			verdict := cycle.Filter.Verdict(i)
			for _, r := range verdict.Rejections() {
				fmt.Printf("  %s: %s %q\n", node, r.Plugin, r.Reasons)
			}
		}
	}
	ask()
	ask(whatif.Change{Patch: &whatif.Patch{
		ObjectRef: whatif.ObjectRef{GVK: v1.SchemeGroupVersion.WithKind("Node"), Name: "tainted"},
		Patch:     []byte(`{"spec": {"taints": null}}`),
	}})
	// Output:
	// unschedulable ""
	//   small: NodeResourcesFit ["Insufficient cpu"]
	//   tainted: TaintToleration ["node(s) had untolerated taint(s)"]
	// scheduled "tainted"
	//   small: NodeResourcesFit ["Insufficient cpu"]
}
