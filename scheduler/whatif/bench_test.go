package whatif_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	schedulerconfig "kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/whatif"
)

// cluster returns n nodes in three zones, each with ten pods, and one pending pod that fits on most of them.
func cluster(n int) []runtime.Object {
	var objects []runtime.Object
	for i := range n {
		node := fmt.Sprintf("node-%d", i)
		objects = append(objects, st.MakeNode().Name(node).
			Label(v1.LabelHostname, node).Label(v1.LabelTopologyZone, fmt.Sprintf("zone-%d", i%3)).
			Capacity(map[v1.ResourceName]string{"cpu": "16", "memory": "32Gi", "pods": "110"}).Obj())
		for j := range 10 {
			name := fmt.Sprintf("pod-%d-%d", i, j)
			objects = append(objects, st.MakePod().Name(name).Namespace("default").UID(name).SchedulerName(v1.DefaultSchedulerName).
				Label("app", fmt.Sprintf("app-%d", j)).Req(map[v1.ResourceName]string{"cpu": fmt.Sprintf("%dm", 100*(1+(i+j)%8)), "memory": "1Gi"}).Node(node).Obj())
		}
	}
	return append(objects, pending())
}

func pending() *v1.Pod {
	return st.MakePod().Name("web").Namespace("default").UID("web").SchedulerName(v1.DefaultSchedulerName).
		Label("app", "web").Req(map[v1.ResourceName]string{"cpu": "3500m", "memory": "2Gi"}).Obj()
}

func defaults(tb testing.TB) func() *config.KubeSchedulerConfiguration {
	c, err := schedulerconfig.Default()
	if err != nil {
		tb.Fatal(err)
	}
	return func() *config.KubeSchedulerConfiguration { return c.Internal }
}

var sizes = []int{100, 1000, 5000}

// BenchmarkAsk measures one decision about a pending pod, with everything built.
func BenchmarkAsk(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			engine := whatif.New(whatif.Options{Source: whatif.Objects(cluster(n)), Configuration: defaults(b)})
			defer engine.Stop()
			ask := func() {
				if _, err := engine.Ask(context.Background(), whatif.Question{PodRef: &types.NamespacedName{Namespace: "default", Name: "web"}}); err != nil {
					b.Fatal(err)
				}
			}
			ask()
			for b.Loop() {
				ask()
			}
		})
	}
}

// BenchmarkFirst measures the first question of a configuration, which builds a scheduler and fills it.
func BenchmarkFirst(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			objects := cluster(n)
			for b.Loop() {
				engine := whatif.New(whatif.Options{Source: whatif.Objects(objects), Configuration: defaults(b)})
				if _, err := engine.Ask(context.Background(), whatif.Question{PodRef: &types.NamespacedName{Namespace: "default", Name: "web"}}); err != nil {
					b.Fatal(err)
				}
				engine.Stop()
			}
		})
	}
}

// BenchmarkCopies measures placements one after the other: 1,000 identical pods on 1,000 nodes.
func BenchmarkCopies(b *testing.B) {
	engine := whatif.New(whatif.Options{Source: whatif.Objects(cluster(1000)), Configuration: defaults(b)})
	defer engine.Stop()
	for b.Loop() {
		start := time.Now()
		err := engine.Try(context.Background(), nil, func(ctx context.Context, t *whatif.Trial) error {
			for i := range 1000 {
				pod := pending()
				pod.Name, pod.UID = fmt.Sprintf("copy-%d", i), types.UID(fmt.Sprint("copy-", i))
				node, err := t.Choose(ctx, pod, "")
				if err != nil {
					return err
				}
				if node == "" {
					b.Fatalf("only %d fit", i)
				}
				if err := t.Place(ctx, pod, "", node); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(start).Seconds(), "s/1000")
	}
}
