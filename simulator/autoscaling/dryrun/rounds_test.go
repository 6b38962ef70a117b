package dryrun_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"

	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/autoscaling/instances"
)

func played(t *testing.T, state dryrun.State, was ...*karpenter.NodePool) (*dryrun.Rounds, dryrun.State) {
	t.Helper()
	rounds, end, err := dryrun.PlayTo(t.Context(), dryrun.RoundsQuestion{State: state, Provider: builtIn, Was: was, Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	return rounds, end
}

func roundsText(r *dryrun.Rounds) string {
	var b strings.Builder
	for _, round := range r.Rounds {
		fmt.Fprintf(&b, "%s:", round.Reason)
		for _, name := range round.Gone {
			fmt.Fprintf(&b, " -%s", name)
		}
		for _, n := range round.Bought {
			fmt.Fprintf(&b, " +%s %s", n.Name, offer(n.Offer))
		}
		for _, m := range round.Moves {
			fmt.Fprintf(&b, " %s>%s", m.Name, m.To)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%d nodes, $%.4f, %d moved, evicted %v, pending %v, complete %v\n", r.Nodes, r.PricePerHour, r.Moved, r.Evicted, r.Pending, r.Complete)
	return b.String()
}

func owned(p *v1.Pod) {
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "u", Controller: new(true)}}
}

func TestRounds(t *testing.T) {
	spot := nodePool("general", requiring(karpenter.CapacityTypeLabelKey, v1.NodeSelectorOpIn, "spot"))
	everything := func(np *karpenter.NodePool) { np.Spec.Disruption.Budgets = []karpenter.Budget{{Nodes: "100%"}} }
	three := func(changes ...func(*v1.Pod)) dryrun.State {
		state := dryrun.State{NodePools: []*karpenter.NodePool{nodePool("general", onDemand)}}
		for _, name := range []string{"a", "b", "c"} {
			state.Nodes = append(state.Nodes, bought("node-"+name, "general", "s-4x-amd64-linux", "zone-a", "on-demand"))
			state.Pods = append(state.Pods, pod(name, "cpu=1 memory=1Gi", append(changes, owned, on("node-"+name))...))
		}
		return state
	}
	for name, tc := range map[string]struct {
		state dryrun.State
		was   []*karpenter.NodePool
		want  string
	}{
		"nothing to do": {dryrun.State{NodePools: []*karpenter.NodePool{nodePool("general")}}, nil, "0 nodes, $0.0000, 0 moved, evicted [], pending [], complete true\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := played(t, tc.state, tc.was...)
			if diff := cmp.Diff(tc.want, roundsText(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("few pods on many nodes", func(t *testing.T) {
		got, end := played(t, three())
		if !got.Complete || got.Nodes != 1 || len(got.Pending) > 0 || len(got.Evicted) > 0 || len(end.Pods) != 3 {
			t.Error(roundsText(got))
		}
	})
	t.Run("a NodePool that turns to spot", func(t *testing.T) {
		state := three()
		was := state.NodePools
		state.NodePools = []*karpenter.NodePool{spot}
		everything(spot)
		got, end := played(t, state, was...)
		if !got.Complete || len(got.Pending) > 0 || !slices.ContainsFunc(got.Rounds, func(r dryrun.Round) bool { return r.Reason == dryrun.ForDrift }) {
			t.Error(roundsText(got))
		}
		for _, n := range end.Nodes {
			if n.Labels[karpenter.CapacityTypeLabelKey] != "spot" {
				t.Errorf("%s stays on demand:\n%s", n.Name, roundsText(got))
			}
		}
	})
	t.Run("only empty nodes go", func(t *testing.T) {
		state := three()
		policy(karpenter.ConsolidationPolicyWhenEmpty)(state.NodePools[0])
		state.Pods = state.Pods[:2]
		got, _ := played(t, state)
		if got.Nodes != 2 || got.Moved != 0 || len(got.Rounds) != 1 || got.Rounds[0].Reason != dryrun.ForEmpty {
			t.Error(roundsText(got))
		}
	})
	t.Run("pods that nobody owns", func(t *testing.T) {
		state := three()
		for _, p := range state.Pods {
			p.OwnerReferences = nil
		}
		if got, _ := played(t, state); len(got.Evicted) == 0 {
			t.Error(roundsText(got))
		}
	})
	t.Run("pods that wait come first", func(t *testing.T) {
		state := three()
		state.Pods = append(state.Pods, pod("big", "cpu=30", owned), pod("huge", "cpu=3000", owned))
		got, _ := played(t, state)
		if got.Rounds[0].Reason != dryrun.ForPods || !cmp.Equal(got.Pending, []string{"default/huge"}) {
			t.Error(roundsText(got))
		}
	})
	t.Run("the time ends", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		got, _, err := dryrun.PlayTo(ctx, dryrun.RoundsQuestion{State: three(), Provider: builtIn, Now: noon})
		if err != nil || got.Complete || got.Nodes != 3 {
			t.Errorf("%v\n%s", err, roundsText(got))
		}
	})
}

// TestRoundsKeepTheBooks: in random clusters no pod is lost or put where it does not fit, what is saved is the difference of the cost, the
// end is one from which nothing more is done, and the same question has the same answer.
func TestRoundsKeepTheBooks(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 20
	}
	reasons := map[dryrun.RoundReason]int{}
	for seed := range seeds {
		state := withWaiting(randomCluster(seed), seed)
		got, end := played(t, state)
		if again, _ := played(t, withWaiting(randomCluster(seed), seed)); roundsText(got) != roundsText(again) {
			t.Fatalf("seed %d: the same question has another answer:\n%s", seed, cmp.Diff(roundsText(got), roundsText(again)))
		}
		saved := 0.0
		for _, r := range got.Rounds {
			reasons[r.Reason]++
			saved += r.SavesPerHour
			if (r.Reason == dryrun.ForEmpty || r.Reason == dryrun.ForUnderutilized) && r.SavesPerHour <= 0 {
				t.Errorf("seed %d: a round saves nothing", seed)
			}
		}
		if before := price(state.Nodes); math.Abs(before-saved-got.PricePerHour) > 1e-9 {
			t.Errorf("seed %d: $%f at first, $%f saved, $%f at the end", seed, before, saved, got.PricePerHour)
		}
		checkRoom(t, seed, state, end)
		if further, _ := played(t, end); got.Complete && len(further.Rounds) > 0 {
			t.Errorf("seed %d: there is more to do:\n%s", seed, roundsText(further))
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, roundsText(got))
		}
	}
	t.Log(reasons)
	for _, r := range []dryrun.RoundReason{dryrun.ForPods, dryrun.ForEmpty, dryrun.ForUnderutilized} {
		if reasons[r] == 0 {
			t.Errorf("no round was for %s", r)
		}
	}
}

// withWaiting adds pods that wait, in two of three clusters.
func withWaiting(state dryrun.State, seed uint64) dryrun.State {
	for i := range seed % 3 {
		state.Pods = append(state.Pods, pod(fmt.Sprintf("wait%d", i), fmt.Sprintf("cpu=%d", 1+seed%7), owned))
	}
	return state
}

func price(nodes []*v1.Node) (sum float64) {
	catalog := instances.BuiltIn()
	for _, n := range nodes {
		p, _ := catalog.Price(n.Labels)
		sum += p
	}
	return sum
}

// checkRoom compares the pods of the beginning and of the end.
func checkRoom(t *testing.T, seed uint64, from, to dryrun.State) {
	t.Helper()
	nodes, there := map[string]*v1.Node{}, map[string]*v1.Pod{}
	for _, n := range to.Nodes {
		nodes[n.Name] = n
	}
	used := map[string]int64{}
	for _, p := range to.Pods {
		there[p.Namespace+"/"+p.Name] = p
		if p.Spec.NodeName == "" {
			continue
		}
		n := nodes[p.Spec.NodeName]
		if n == nil {
			t.Errorf("seed %d: %s is on %s, which is gone", seed, p.Name, p.Spec.NodeName)
			continue
		}
		used[n.Name] += p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
		if used[n.Name] > n.Status.Allocatable.Cpu().MilliValue() {
			t.Errorf("seed %d: %s has more than fits", seed, n.Name)
		}
	}
	for _, p := range from.Pods {
		if now := there[p.Namespace+"/"+p.Name]; now == nil || p.Spec.NodeName != "" && now.Spec.NodeName == "" {
			t.Errorf("seed %d: %s is lost", seed, p.Name)
		}
	}
}
