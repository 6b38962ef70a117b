package capacity_test

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/scheduler/whatif/livetest"
)

// BenchmarkCapacity counts 1,000 identical pods on 1,000 nodes, which takes at most 2 s.
func BenchmarkCapacity(b *testing.B) {
	var state []runtime.Object
	for i := range 1000 {
		name := fmt.Sprint("node-", i)
		state = append(state, st.MakeNode().Name(name).Label(v1.LabelHostname, name).Label(v1.LabelTopologyZone, fmt.Sprint("zone-", i%3)).
			Capacity(map[v1.ResourceName]string{"cpu": "16", "memory": "64Gi", "pods": "110"}).Obj())
		for j := range 5 {
			id := fmt.Sprintf("pod-%d-%d", i, j)
			state = append(state, st.MakePod().Namespace("default").Name(id).UID(id).Node(name).
				Req(map[v1.ResourceName]string{"cpu": fmt.Sprintf("%dm", 100*(1+(i+j)%8)), "memory": "1Gi"}).Obj())
		}
	}
	engine := livetest.Engine(b, livetest.Configuration(b, plain), state)
	pod := st.MakePod().Namespace("default").Name("web").SchedulerName(v1.DefaultSchedulerName).Label("app", "web").
		Req(map[v1.ResourceName]string{"cpu": "3500m", "memory": "2Gi"}).Obj()
	count := func() {
		answer, err := capacity.Ask(b.Context(), engine, capacity.Question{Pod: pod, Limit: 1000})
		if err != nil || answer.Fits != 1000 {
			b.Fatalf("%d fit: %v", answer.Fits, err)
		}
	}
	count() // The engine is built by then.
	for b.Loop() {
		count()
	}
}
