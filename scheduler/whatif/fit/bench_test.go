package fit_test

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler/whatif/fit"
	"kube-scheduler-simulator/scheduler/whatif/livetest"
)

const plainConfiguration = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// crowded returns n nodes in three zones that are almost full, with 20 pods each. Some are tainted, some lack a label.
func crowded(n int) []runtime.Object {
	var out []runtime.Object
	for i := range n {
		name, zone := fmt.Sprintf("node-%04d", i), fmt.Sprintf("zone-%d", i%3)
		node := st.MakeNode().Name(name).Label(v1.LabelHostname, name).Label(v1.LabelTopologyZone, zone).Label("disk", []string{"ssd", "hdd"}[i%2]).
			Capacity(map[v1.ResourceName]string{"cpu": []string{"16", "32"}[i%2], "memory": "64Gi", "pods": "110"})
		if i%10 == 0 {
			node.Taints([]v1.Taint{{Key: "dedicated", Value: fmt.Sprint("team-", i%40), Effect: v1.TaintEffectNoSchedule}})
		}
		out = append(out, node.Obj())
		for j := range 20 {
			app := fmt.Sprint("app-", j%5)
			cpu := []string{"740m", "1540m"}[i%2]
			out = append(out, st.MakePod().Namespace("default").Name(fmt.Sprintf("%s-%s-%d", app, name, j)).UID(fmt.Sprintf("%d-%d", i, j)).Node(name).Label("app", app).Priority(int32(j%3)*10).
				Req(map[v1.ResourceName]string{"cpu": cpu, "memory": "2Gi"}).Obj())
		}
	}
	return out
}

func question(name string) *v1.Pod {
	p := st.MakePod().Namespace("default").Name("web").SchedulerName(v1.DefaultSchedulerName).Label("app", "app-1").Priority(10)
	switch name {
	case "resources":
		p.Req(map[v1.ResourceName]string{"cpu": "1500m", "memory": "4Gi"})
	case "constraints":
		p.Req(map[v1.ResourceName]string{"cpu": "1500m", "memory": "4Gi"}).NodeSelector(map[string]string{"disk": "ssd"}).
			PodAntiAffinityIn("app", v1.LabelHostname, []string{"app-2"}, st.PodAntiAffinityWithRequiredReq).
			SpreadConstraint(1, v1.LabelTopologyZone, v1.DoNotSchedule, st.MakeLabelSelector().Label("app", "app-1").Obj(), nil, nil, nil, nil)
	case "hopeless":
		p.Req(map[v1.ResourceName]string{"cpu": "1500m"}).NodeSelector(map[string]string{"disk": "nvme", v1.LabelTopologyZone: "zone-9"}).
			PodAffinityIn("app", v1.LabelTopologyZone, []string{"cache"}, st.PodAffinityWithRequiredReq).
			PodAntiAffinityIn("app", v1.LabelHostname, []string{"app-2"}, st.PodAntiAffinityWithRequiredReq)
	}
	return p.Obj()
}

// An answer at 1,000 nodes takes at most 300 ms.
func BenchmarkFit(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprint("nodes=", nodes), func(b *testing.B) {
			engine := livetest.Engine(b, livetest.Configuration(b, plainConfiguration), crowded(nodes))
			for _, name := range []string{"resources", "constraints", "hopeless"} {
				ask := func() {
					if _, err := fit.Ask(b.Context(), engine, fit.Question{Pod: question(name)}); err != nil {
						b.Fatal(err)
					}
				}
				ask() // The engine is built by then.
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						ask()
					}
				})
			}
		})
	}
}
