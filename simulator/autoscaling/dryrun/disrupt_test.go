package dryrun_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"

	"kube-scheduler-simulator/scheduler/yamlsource/bombs"
	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
)

// occupied are nodes of some types with pods at random, a third of them without.
func occupied(random *rand.Rand, nodes int, empty bool) dryrun.State {
	s := dryrun.State{NodePools: []*karpenter.NodePool{nodePool("general", onDemand)}}
	for i := range nodes {
		name := fmt.Sprintf("node-%03d", i)
		cpus := []int{2, 4, 8}[random.IntN(3)]
		s.Nodes = append(s.Nodes, bought(name, "general", fmt.Sprintf("%s-%dx-amd64-linux", []string{"c", "s"}[random.IntN(2)], cpus), "zone-a", "on-demand"))
		left := 1000*cpus - 100
		for j := 0; ; j++ {
			cpu := 100 * (10*cpus/2 + random.IntN(5*cpus))
			if left -= cpu; left < 0 || j == 0 && empty && random.IntN(3) == 0 || j > 0 && random.IntN(5) == 0 {
				break
			}
			s.Pods = append(s.Pods, pod(fmt.Sprintf("pod-%03d-%d", i, j), fmt.Sprintf("cpu=%dm memory=1Gi", cpu), owned, on(name)))
		}
	}
	return dryrun.WithClaims(s)
}

// TestDisruptLeavesNothingOut: what is known without a simulation is what Karpenter would have answered.
func TestDisruptLeavesNothingOut(t *testing.T) {
	found := map[dryrun.RoundReason]int{}
	for seed := range uint64(40) {
		q := dryrun.DisruptionQuestion{State: occupied(rand.New(rand.NewPCG(seed, 1)), 2+int(seed%6), seed%4 == 0), Provider: builtIn, Now: noon}
		quick, _, err := dryrun.Disrupt(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		thorough, err := dryrun.DisruptThoroughly(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(thorough, quick, cmpopts.IgnoreUnexported(dryrun.Command{})); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
		if quick != nil {
			found[quick.Reason]++
			again := q
			again.Again = quick
			if same, _, err := dryrun.Disrupt(t.Context(), again); err != nil || same == nil || !cmp.Equal(same.Nodes, quick.Nodes) {
				t.Errorf("seed %d: asked again it is %+v %v, and was %+v", seed, same, err, quick)
			}
		} else {
			found[""]++
		}
	}
	if found[dryrun.ForEmpty] == 0 || found[dryrun.ForUnderutilized] == 0 || found[""] == 0 {
		t.Errorf("of some outcomes there is no example: %v", found)
	}
}

// TestLargeDisruption: a look at 300 nodes with 3,000 pods takes less than 3 s.
func TestLargeDisruption(t *testing.T) {
	q := large()
	for i, n := range q.State.Nodes {
		q.State.Nodes[i] = bought(n.Name, "general", "s-16x-amd64-linux", n.Labels[v1.LabelTopologyZone], "on-demand")
		q.State.Nodes[i].Status.Allocatable = n.Status.Allocatable
	}
	for _, p := range q.Pods[:10] {
		p.Status.Phase = v1.PodPending
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable}}
	}
	for name, pods := range map[string][]*v1.Pod{"ten wait": q.Pods[:10], "none waits": nil} {
		t.Run(name, func(t *testing.T) {
			s := q.State
			s.Pods = append(append([]*v1.Pod{}, s.Pods...), pods...)
			asked := dryrun.DisruptionQuestion{State: dryrun.WithClaims(s), Provider: builtIn, Now: noon}
			var command *dryrun.Command
			var err error
			var rest string
			allocated, took := bombs.Measure(func() { command, rest, err = dryrun.Disrupt(t.Context(), asked) })
			t.Logf("%v %v, in %s of processor time and %d MB", command != nil, err, took, allocated>>20)
			if command == nil && rest == "" {
				t.Error("it simulated all nodes")
			}
			if limit := bombs.Slowdown * maxLarge; took > limit || err != nil {
				t.Errorf("it took %s of processor time, more than %s (%v)", took, limit, err)
			}
		})
	}
}
