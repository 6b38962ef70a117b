package dryrun_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"

	"kube-scheduler-simulator/scheduler/yamlsource/bombs"
	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

// large is a question about 1,000 pods of ten workloads, some of which spread and some of which fit nowhere, beside 300 nodes with
// 3,000 pods.
func large() dryrun.Question {
	q := dryrun.Question{Provider: builtIn}
	for i := range 300 {
		n := node(fmt.Sprintf("node-%03d", i), zones[i%3], "cpu=16 memory=64Gi")
		q.State.Nodes = append(q.State.Nodes, n)
		for j := range 10 {
			q.State.Pods = append(q.State.Pods, pod(fmt.Sprintf("old-%03d-%d", i, j), "cpu=1500m memory=2Gi", on(n.Name), labelled("app", fmt.Sprintf("app-%d", j))))
		}
	}
	for i := range 2 {
		set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("agent-%d", i)}}
		set.Spec.Template.Spec = pod("agent", "cpu=100m memory=100Mi").Spec
		q.State.DaemonSets = append(q.State.DaemonSets, set)
	}
	q.State.NodePools = []*karpenter.NodePool{nodePool("general", weighing(10), onDemand), nodePool("gpu", weighing(5), tainted("nvidia.com/gpu")), nodePool("batch", tainted("dedicated"), limited("cpu", "256"))}
	for i := range 1000 {
		app := i % 10
		changes := []func(*v1.Pod){labelled("app", fmt.Sprintf("app-%d", app))}
		requests := fmt.Sprintf("cpu=%d memory=%dGi", 1+app%4, 2+app)
		switch app {
		case 1:
			changes = append(changes, spread(v1.LabelTopologyZone, 1, v1.DoNotSchedule))
		case 2:
			changes = append(changes, spread(v1.LabelTopologyZone, 2, v1.ScheduleAnyway))
		case 3:
			changes = append(changes, selecting(v1.LabelArchStable, "arm64"))
		case 4:
			changes = append(changes, tolerating("dedicated"))
		case 5:
			requests = "cpu=1 nvidia.com/gpu=16"
		case 6:
			changes = append(changes, selecting("disk", "ssd"))
		case 7:
			changes = append(changes, apart(v1.LabelHostname))
		}
		q.Pods = append(q.Pods, pod(fmt.Sprintf("new-%04d", i), requests, changes...))
	}
	return q
}

// maxLarge is what the question of TestLarge may take.
const maxLarge = 3 * time.Second

// TestLarge: 1,000 pods and 300 nodes take far less than the 3 s that people may wait. It counts processor time, which other
// programs do not change much.
func TestLarge(t *testing.T) {
	q := large()
	var answer *dryrun.Answer
	allocated, took := bombs.Measure(func() { answer = ask(t, q) })
	verdicts := map[dryrun.Verdict]int{}
	for _, p := range answer.Pods {
		verdicts[p.Verdict]++
		if p.Verdict == dryrun.OnNone && len(p.Refused) != 3 {
			t.Fatalf("%s has %d reasons", p.Name, len(p.Refused))
		}
	}
	t.Logf("%v with %d new nodes for $%.2f an hour, in %s of processor time and %d MB", verdicts, len(answer.NewNodes), answer.Cost.NewPricePerHour, took, allocated>>20)
	if verdicts[dryrun.OnNewNode] < 500 || verdicts[dryrun.OnNone] < 200 {
		t.Errorf("the verdicts are %v", verdicts)
	}
	if !testing.Short() && asJSON(t, answer) != asJSON(t, ask(t, large())) {
		t.Error("the same question has another answer")
	}
	if limit := bombs.Slowdown * maxLarge; took > limit {
		t.Errorf("it took %s of processor time, more than %s", took, limit)
	}
}

// TestLargeDeparture: whether one of 300 nodes could go, beside 1,000 pods that wait, takes as little.
func TestLargeDeparture(t *testing.T) {
	q := large()
	for i, n := range q.State.Nodes {
		kind := "s-16x-amd64-linux"
		if i%3 == 0 {
			kind = "s-32x-amd64-linux"
		}
		q.State.Nodes[i] = bought(n.Name, "general", kind, n.Labels[v1.LabelTopologyZone], "on-demand")
		q.State.Nodes[i].Status.Allocatable = n.Status.Allocatable
	}
	for _, p := range q.Pods {
		p.Status.Phase = v1.PodPending
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable}}
		q.State.Pods = append(q.State.Pods, p)
	}
	allocated, took := bombs.Measure(func() { t.Log(departures(couldGo(t, q.State, "node-000"))) })
	t.Logf("%s of processor time and %d MB", took, allocated>>20)
	if limit := bombs.Slowdown * maxLarge; took > limit {
		t.Errorf("it took %s of processor time, more than %s", took, limit)
	}
}

// cloudTypes is as many types as a large cloud has in a region: families of several generations and ratios, for both architectures, with sizes
// from 1 to 192 CPUs, in three zones, on demand and as spot.
func cloudTypes() *instances.Catalog {
	c := &instances.Catalog{Prices: instances.Source{From: "made up"}, Overhead: instances.DefaultOverhead()}
	sizes := []int64{1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192}
	for i := 0; len(c.Types) < 1724; i++ {
		ratio, architecture := int64(2<<(i%4)), []string{"amd64", "arm64"}[i/4%2]
		for _, cpus := range sizes {
			t := instances.Type{
				Name: fmt.Sprintf("%c%d-%dx", 'a'+i%26, i/26, cpus), Architecture: architecture, OperatingSystems: []string{"linux"},
				Capacity: v1.ResourceList{
					v1.ResourceCPU: *resource.NewQuantity(cpus, resource.DecimalSI), v1.ResourceMemory: *resource.NewQuantity((cpus*ratio)<<30, resource.BinarySI),
					v1.ResourceEphemeralStorage: resource.MustParse("20Gi"), v1.ResourcePods: resource.MustParse("110"),
				},
			}
			price := 0.02*float64(cpus) + 0.003*float64(cpus*ratio) + 0.0001*float64(i)
			if i%13 == 0 {
				t.Capacity["nvidia.com/gpu"] = *resource.NewQuantity(max(1, cpus/8), resource.DecimalSI)
				price += float64(max(1, cpus/8))
			}
			for z, zone := range zones {
				t.Offerings = append(t.Offerings,
					instances.Offering{Zone: zone, CapacityType: "on-demand", Price: price, Available: true},
					instances.Offering{Zone: zone, CapacityType: "spot", Price: price * (0.3 + 0.01*float64((i+z)%20)), Available: true})
			}
			if c.Types = append(c.Types, t); len(c.Types) == 1724 {
				break
			}
		}
	}
	slices.SortFunc(c.Types, func(a, b instances.Type) int { return strings.Compare(a.Name, b.Name) })
	return c
}

// TestLargeListOfTypes: with the types of a large cloud.
func TestLargeListOfTypes(t *testing.T) {
	if testing.Short() {
		t.Skip("slow; make test-all runs it")
	}
	q := large()
	q.Provider = provider.New(cloudTypes())
	var answer *dryrun.Answer
	allocated, took := bombs.Measure(func() { answer = ask(t, q) })
	verdicts := map[dryrun.Verdict]int{}
	for _, p := range answer.Pods {
		verdicts[p.Verdict]++
	}
	t.Logf("%v with %d new nodes, in %s of processor time and %d MB", verdicts, len(answer.NewNodes), took, allocated>>20)
	if verdicts[dryrun.OnNewNode] != 900 || verdicts[dryrun.OnNone] != 100 {
		t.Errorf("the verdicts are %v", verdicts)
	}
	// Processor time is far from steady on a busy machine; what was allocated is, and most of the time that is ours went there.
	if allocated > 600<<20 {
		t.Errorf("it allocated %d MB", allocated>>20)
	}
}
