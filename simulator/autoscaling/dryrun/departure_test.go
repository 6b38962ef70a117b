package dryrun_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"

	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func couldGo(t *testing.T, state dryrun.State, nodes ...string) []dryrun.Departure {
	t.Helper()
	all, err := dryrun.CouldGo(t.Context(), dryrun.DepartureQuestion{State: state, Provider: builtIn, Nodes: nodes, Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func departures(all []dryrun.Departure) string {
	var b strings.Builder
	for _, d := range all {
		fmt.Fprintf(&b, "%s: %s", d.Node, outcome(d.Outcome))
		for _, blocker := range d.Blockers {
			fmt.Fprintf(&b, "\n  blocked by %s %s%v: %s", blocker.Kind, blocker.Object, blocker.Pods, blocker.Reason)
		}
		if d.Needed != nil {
			fmt.Fprintf(&b, "\n  needed (%s): %s", d.Needed.Kind, d.Needed.Reason)
		}
		if d.Otherwise != nil {
			fmt.Fprintf(&b, "\n  otherwise %s", outcome(d.Otherwise))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func outcome(o *dryrun.Outcome) string {
	if o == nil {
		return "stays"
	}
	text := fmt.Sprintf("goes, saves $%.4f", o.SavesPerHour)
	if o.Replacement != nil {
		text += " with " + offer(*o.Replacement)
	}
	for _, m := range o.Moves {
		text += fmt.Sprintf(", %s to %q", m.Name, m.To)
	}
	return text
}

// bought returns a node that a NodePool has bought of the built-in types.
func bought(name, pool, kind, zone, capacityType string) *v1.Node {
	cpus := 0
	fmt.Sscanf(strings.SplitN(kind, "-", 2)[1], "%dx", &cpus)
	n := node(name, zone, fmt.Sprintf("cpu=%dm memory=%dGi", 1000*cpus-100, 2*cpus))
	for key, value := range map[string]string{karpenter.NodePoolLabelKey: pool, v1.LabelInstanceTypeStable: kind, karpenter.CapacityTypeLabelKey: capacityType,
		karpenter.NodeInitializedLabelKey: "true", karpenter.NodeRegisteredLabelKey: "true", v1.LabelArchStable: "amd64", v1.LabelOSStable: "linux"} {
		n.Labels[key] = value
	}
	n.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}
	return n
}

func protected(o metav1.Object) {
	o.SetAnnotations(map[string]string{karpenter.DoNotDisruptAnnotationKey: "true"})
}

func budget(app string, allowed int32) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: app}}
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	b.Status.DisruptionsAllowed = allowed
	return b
}

func policy(of karpenter.ConsolidationPolicy) func(*karpenter.NodePool) {
	return func(np *karpenter.NodePool) { np.Spec.Disruption.ConsolidationPolicy = of }
}

// TestCouldGo: nodes that go, are blocked, or are needed.
func TestCouldGo(t *testing.T) {
	state := dryrun.State{
		NodePools: []*karpenter.NodePool{nodePool("general", onDemand), nodePool("spot", requiring(karpenter.CapacityTypeLabelKey, v1.NodeSelectorOpIn, "spot"), tainted("spot")),
			nodePool("careful", policy(karpenter.ConsolidationPolicyWhenEmpty), tainted("careful")),
			nodePool("fixed", tainted("fixed"), func(np *karpenter.NodePool) { np.Spec.Disruption.Budgets = []karpenter.Budget{{Nodes: "0"}} })},
		Nodes: []*v1.Node{
			node("a-own", "zone-a", "cpu=1"),
			bought("b-empty", "general", "c-4x-amd64-linux", "zone-a", "on-demand"),
			bought("c-fits", "general", "c-4x-amd64-linux", "zone-a", "on-demand"),
			bought("d-large", "general", "c-64x-amd64-linux", "zone-a", "on-demand"),
			bought("e-budget", "general", "c-4x-amd64-linux", "zone-a", "on-demand"),
			bought("f-notes", "general", "c-4x-amd64-linux", "zone-a", "on-demand"),
			bought("g-spot", "spot", "c-8x-amd64-linux", "zone-a", "spot"),
			bought("h-careful", "careful", "c-64x-amd64-linux", "zone-a", "on-demand"),
			bought("i-fixed", "fixed", "c-8x-amd64-linux", "zone-a", "on-demand"),
			bought("j-new", "general", "c-4x-amd64-linux", "zone-a", "on-demand"),
			bought("k-cheap", "general", "c-2x-amd64-linux", "zone-a", "on-demand"),
		},
		PodDisruptionBudgets: []*policyv1.PodDisruptionBudget{budget("search", 0), budget("web", 1)},
	}
	for _, n := range state.Nodes {
		if pool := n.Labels[karpenter.NodePoolLabelKey]; pool != "general" && pool != "" {
			n.Spec.Taints = []v1.Taint{{Key: pool, Effect: v1.TaintEffectNoSchedule}}
		}
	}
	delete(state.Nodes[9].Labels, karpenter.NodeInitializedLabelKey)
	protected(state.Nodes[5])
	owned := func(p *v1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r"}}
	}
	state.Pods = []*v1.Pod{
		pod("web-1", "cpu=500m", on("c-fits"), labelled("app", "web"), owned),
		pod("web-2", "cpu=20", on("d-large"), labelled("app", "web"), owned),
		pod("search-1", "cpu=500m", on("e-budget"), labelled("app", "search"), owned),
		pod("job-1", "cpu=500m", on("f-notes"), labelled("app", "search"), owned, func(p *v1.Pod) { protected(p) }),
		pod("batch-1", "cpu=1", on("g-spot"), tolerating("spot"), owned, selecting(karpenter.NodePoolLabelKey, "spot")),
		pod("slow-1", "cpu=2", on("h-careful"), tolerating("careful"), owned, selecting(karpenter.NodePoolLabelKey, "careful")),
		pod("fixed-1", "cpu=2", on("i-fixed"), tolerating("fixed"), owned, selecting(karpenter.NodePoolLabelKey, "fixed")),
		pod("exact-1", "cpu=1500m", on("k-cheap"), owned, selecting(v1.LabelHostname, "k-cheap")),
	}
	if diff := cmp.Diff(strings.TrimPrefix(`
b-empty: goes, saves $0.1086
c-fits: goes, saves $0.1086, web-1 to "a-own"
d-large: goes, saves $0.8687 with c-32x-amd64-linux zone-a on-demand $0.8687, web-2 to ""
e-budget: stays
  blocked by budget default/search[default/search-1]: the PodDisruptionBudget allows no eviction
  otherwise goes, saves $0.1086, search-1 to "a-own"
f-notes: stays
  blocked by nodeAnnotation f-notes[]: the node has the annotation karpenter.sh/do-not-disrupt
  blocked by podAnnotation default/job-1[]: the pod has the annotation karpenter.sh/do-not-disrupt
  blocked by budget default/search[default/job-1]: the PodDisruptionBudget allows no eviction
  otherwise goes, saves $0.1086, job-1 to "a-own"
g-spot: stays
  needed (spotToSpot): Karpenter replaces no spot node by another one while its gate SpotToSpotConsolidation is off
h-careful: stays
  blocked by policy careful[]: the NodePool consolidates empty nodes only: consolidationPolicy is WhenEmpty
  otherwise goes, saves $1.6614 with c-4x-amd64-linux zone-a spot $0.0760, slow-1 to ""
i-fixed: stays
  blocked by nodePoolBudget fixed[]: the budgets of the NodePool allow no node to go now for being underutilized
  otherwise goes, saves $0.1412 with c-4x-amd64-linux zone-a spot $0.0760, fixed-1 to ""
j-new: stays
  blocked by notInitialized j-new[]: the node is not initialized yet
k-cheap: stays
  needed (podsDoNotFit): no other node and no new one takes default/exact-1
`, "\n"), departures(couldGo(t, state))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("a-own: stays\n  blocked by notManaged a-own[]: the node is not Karpenter's\n", departures(couldGo(t, state, "a-own"))); diff != "" {
		t.Error(diff)
	}
	if _, err := dryrun.CouldGo(t.Context(), dryrun.DepartureQuestion{State: state, Provider: builtIn, Nodes: []string{"gone"}, Now: noon}); err == nil {
		t.Error("a node that does not exist has an answer")
	}
}

// TestCounterfactualsComeTrue: what would be without the blockers is what is once they are gone.
func TestCounterfactualsComeTrue(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 40
	}
	goes, otherwise, needed, blocked := 0, 0, map[dryrun.NeedKind]int{}, map[dryrun.BlockerKind]int{}
	for seed := range seeds {
		state := randomCluster(seed)
		before := asJSON(t, state)
		first := couldGo(t, state)
		if diff := cmp.Diff(before, asJSON(t, state)); diff != "" {
			t.Fatalf("seed %d: the question changes the state:\n%s", seed, diff)
		}
		if diff := cmp.Diff(asJSON(t, first), asJSON(t, couldGo(t, randomCluster(seed)))); diff != "" {
			t.Fatalf("seed %d: the same question has another answer:\n%s", seed, diff)
		}
		for _, d := range first {
			if d.Outcome != nil {
				goes++
			}
			if d.Needed != nil {
				needed[d.Needed.Kind]++
			}
			curable := true
			for _, b := range d.Blockers {
				blocked[b.Kind]++
				curable = curable && b.Curable
			}
			if d.Outcome != nil && len(d.Blockers) > 0 || d.Outcome == nil && len(d.Blockers) == 0 && d.Needed == nil {
				t.Fatalf("seed %d: %s", seed, departures([]dryrun.Departure{d}))
			}
			if len(d.Blockers) == 0 || !curable {
				continue
			}
			cured := randomCluster(seed)
			cure(&cured, d)
			after := couldGo(t, cured, d.Node)[0]
			if diff := cmp.Diff(asJSON(t, d.Otherwise), asJSON(t, after.Outcome)); diff != "" || len(after.Blockers) > 0 {
				t.Fatalf("seed %d: %sbut then %s%s", seed, departures([]dryrun.Departure{d}), departures([]dryrun.Departure{after}), diff)
			}
			if d.Otherwise != nil {
				otherwise++
			}
		}
	}
	if blocked[dryrun.BlockedByOthers] > 0 {
		t.Errorf("%d are blocked by what is not explained", blocked[dryrun.BlockedByOthers])
	}
	t.Logf("%d go, %d would, needed %v, blocked %v", goes, otherwise, needed, blocked)
	if goes < int(seeds)/2 || otherwise < int(seeds)/4 || needed[dryrun.NotCheaper] == 0 || needed[dryrun.PodsDoNotFit] == 0 {
		t.Error("there are too few of a kind")
	}
	for _, kind := range []dryrun.BlockerKind{dryrun.NodeProtected, dryrun.PodProtected, dryrun.Budget, dryrun.PoolBudget, dryrun.Policy} {
		if blocked[kind] == 0 {
			t.Errorf("nothing is blocked by %s", kind)
		}
	}
}

// TestConsolidatesNever: a NodePool whose consolidateAfter is Never keeps its nodes. Decoded, Never looks like a duration that is not given.
func TestConsolidatesNever(t *testing.T) {
	for after, want := range map[string]string{
		`"Never"`: "idle: stays\n  blocked by policy general[]: the NodePool consolidates no nodes: consolidateAfter is Never\n",
		`"0s"`:    "idle: goes",
		`null`:    "idle: goes",
	} {
		pool := &unstructured.Unstructured{}
		document := fmt.Sprintf(`{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"}, "spec": {"disruption": {"consolidateAfter": %s},
			"template": {"spec": {"nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}, "requirements": []}}}}`, after)
		if err := pool.UnmarshalJSON([]byte(document)); err != nil {
			t.Fatal(err)
		}
		if after == `null` {
			unstructured.RemoveNestedField(pool.Object, "spec", "disruption")
		}
		state := dryrun.State{Nodes: []*v1.Node{bought("idle", "general", "c-4x-amd64-linux", "zone-a", "on-demand")}}
		if err := state.Add(pool); err != nil {
			t.Fatal(err)
		}
		if got := departures(couldGo(t, state)); !strings.HasPrefix(got, want) {
			t.Errorf("consolidateAfter %s: want %q, got %q", after, want, got)
		}
	}
}

// cure removes the blockers of a node from a cluster.
func cure(state *dryrun.State, d dryrun.Departure) {
	for _, b := range d.Blockers {
		switch b.Kind {
		case dryrun.NodeProtected:
			for _, n := range state.Nodes {
				if n.Name == b.Object {
					n.Annotations = nil
				}
			}
		case dryrun.PodProtected:
			for _, p := range state.Pods {
				if p.Namespace+"/"+p.Name == b.Object {
					p.Annotations = nil
				}
			}
		case dryrun.Budget:
			state.PodDisruptionBudgets = slices.DeleteFunc(state.PodDisruptionBudgets, func(p *policyv1.PodDisruptionBudget) bool { return "default/"+p.Name == b.Object })
		case dryrun.PoolBudget, dryrun.Policy:
			for _, np := range state.NodePools {
				if np.Name == b.Object && b.Kind == dryrun.PoolBudget {
					np.Spec.Disruption.Budgets = []karpenter.Budget{{Nodes: "1"}}
				} else if np.Name == b.Object {
					np.Spec.Disruption.ConsolidationPolicy = karpenter.ConsolidationPolicyWhenEmptyOrUnderutilized
					np.Spec.Disruption.ConsolidateAfter = karpenter.MustParseNillableDuration("0s")
				}
			}
		}
	}
}

func randomCluster(seed uint64) dryrun.State {
	random := rand.New(rand.NewPCG(seed, 2))
	chance := func(percent int) bool { return random.IntN(100) < percent }
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	state := dryrun.State{}
	for i := range 1 + random.IntN(2) {
		np := nodePool(fmt.Sprintf("pool%d", i))
		if chance(40) {
			onDemand(np)
		}
		if chance(20) {
			limited("cpu", "16")(np)
		}
		if chance(20) {
			policy(karpenter.ConsolidationPolicyWhenEmpty)(np)
		} else if chance(15) {
			np.Spec.Disruption.ConsolidateAfter.Raw = []byte(`"Never"`)
		}
		if chance(15) {
			np.Spec.Disruption.Budgets = []karpenter.Budget{{Nodes: "0"}}
		}
		state.NodePools = append(state.NodePools, np)
	}
	for i := range 2 + random.IntN(4) {
		n := bought(fmt.Sprintf("node%d", i), fmt.Sprintf("pool%d", random.IntN(2)), pick("c-2x-amd64-linux", "c-4x-amd64-linux", "c-8x-amd64-linux"), pick(zones...), pick("on-demand", "on-demand", "spot"))
		if chance(15) {
			protected(n)
		}
		state.Nodes = append(state.Nodes, n)
		for j := range random.IntN(3) {
			p := pod(fmt.Sprintf("pod%d-%d", i, j), pick("cpu=300m", "cpu=500m memory=1Gi", "cpu=900m"), on(n.Name), labelled("app", pick("a", "b", "c")))
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r"}}
			if chance(15) {
				protected(p)
			}
			if chance(25) {
				spread(v1.LabelTopologyZone, 1, v1.UnsatisfiableConstraintAction(pick("DoNotSchedule", "ScheduleAnyway")))(p)
			} else if chance(20) {
				selecting(v1.LabelHostname, n.Name)(p)
			}
			state.Pods = append(state.Pods, p)
		}
	}
	for _, app := range []string{"a", "b"} {
		if chance(30) {
			state.PodDisruptionBudgets = append(state.PodDisruptionBudgets, budget(app, int32(random.IntN(2))))
		}
	}
	return state
}
