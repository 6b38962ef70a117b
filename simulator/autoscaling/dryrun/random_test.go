package dryrun_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"

	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

// TestExplanationsKeepToTheVerdict holds the explanation to Karpenter's verdict, in both directions, and each reason to what it names:
// once it is gone, so is the reason.
func TestExplanationsKeepToTheVerdict(t *testing.T) {
	kinds, lacks := map[dryrun.Kind]int{}, map[dryrun.Lack]int{}
	var fit, disagree int
	seeds := uint64(400)
	if testing.Short() {
		seeds = 100
	}
	for seed := range seeds {
		c := randomCase(seed)
		q := c.question()
		first := ask(t, q)
		if diff := cmp.Diff(asJSON(t, first), asJSON(t, ask(t, c.question()))); diff != "" {
			t.Fatalf("seed %d: the same question has another answer:\n%s", seed, diff)
		}
		judgements, err := dryrun.Judgements(t.Context(), q)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, j := range judgements {
			kinds[j.Explained.Kind]++
			switch {
			case j.Explained.Kind != "" && j.OnNew:
				t.Errorf("seed %d: pod %s cannot be on %s (%s), and is", seed, j.Pod, j.NodePool, j.Explained.Reason)
			case j.Explained.Kind == "" && j.Placed == "":
				// Only what the explanation leaves out may speak against the NodePool then.
				if disagree++; !c.linked(j.Pod) {
					t.Errorf("seed %d: nothing speaks against pod %s on %s, and Karpenter refuses it", seed, j.Pod, j.NodePool)
				}
			case j.Explained.Kind == "":
				fit++
			}
		}
		for _, p := range first.Pods {
			for _, r := range p.Refused {
				for _, g := range r.Types {
					lacks[g.Lack]++
				}
				c.holdTo(t, seed, p, r)
			}
		}
		for _, n := range first.NewNodes {
			for _, p := range first.Pods {
				if p.Node == n.Name && slices.ContainsFunc(p.Refused, func(r dryrun.Refusal) bool { return r.NodePool == n.NodePool }) {
					t.Errorf("seed %d: NodePool %s both holds and refuses pod %s", seed, n.NodePool, p.Name)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, transcript(first))
		}
	}
	t.Logf("%d fit, %d only by the explanation; kinds %v, lacks %v", fit, disagree, kinds, lacks)
	for _, kind := range []dryrun.Kind{"", dryrun.Tainted, dryrun.Requirements, dryrun.Types, dryrun.Limits} {
		if kinds[kind] < int(seeds/10) {
			t.Errorf("only %d explanations are of the kind %q", kinds[kind], kind)
		}
	}
	for _, lack := range []dryrun.Lack{dryrun.LackLabel, dryrun.LackResources, dryrun.LackOffering, dryrun.LackAvailability, dryrun.LackLimit} {
		if lacks[lack] < int(seeds/20) {
			t.Errorf("only %d groups of types are for %q", lacks[lack], lack)
		}
	}
}

// a case is a small cluster and pods to ask about.
type aCase struct {
	types []instances.Type
	pools []*karpenter.NodePool
	state dryrun.State
	pods  []*v1.Pod
}

func (c *aCase) question() dryrun.Question {
	state := c.state
	state.NodePools = c.pools
	return dryrun.Question{State: state, Pods: c.pods, Provider: provider.New(&instances.Catalog{Types: c.types, Overhead: instances.DefaultOverhead()})}
}

// linked reports whether other pods have a say in where a pod goes.
func (c *aCase) linked(pod string) bool {
	for _, p := range slices.Concat(c.pods, c.state.Pods) {
		if (p.Name == pod || p.Spec.NodeName != "") && (len(p.Spec.TopologySpreadConstraints) > 0 || p.Spec.Affinity != nil && (p.Spec.Affinity.PodAffinity != nil || p.Spec.Affinity.PodAntiAffinity != nil)) {
			return true
		}
	}
	return false
}

// holdTo removes what a refusal names, and finds that the refusal is another one then, or none.
func (c *aCase) holdTo(t *testing.T, seed uint64, p dryrun.Placement, r dryrun.Refusal) {
	for name, changed := range c.without(p, r) {
		before, _ := refusalOf(t, c.alone(p, r))
		after, refused := refusalOf(t, changed)
		if refused && cmp.Equal(after, before) {
			t.Errorf("seed %d: without %s the refusal of pod %s by %s stays: %s", seed, name, p.Name, r.NodePool, r.Reason)
		}
	}
}

// alone is the case of one pod and one NodePool, without nodes that exist but for those of the NodePool.
func (c *aCase) alone(p dryrun.Placement, r dryrun.Refusal) *aCase {
	one := &aCase{types: slices.Clone(c.types), state: c.state}
	for i := range one.types {
		one.types[i].Capacity = maps.Clone(one.types[i].Capacity)
		one.types[i].Offerings = slices.Clone(one.types[i].Offerings)
	}
	for _, np := range c.pools {
		if np.Name == r.NodePool {
			one.pools = append(one.pools, np.DeepCopy())
		}
	}
	for _, pod := range c.pods {
		if pod.Name == p.Name {
			one.pods = append(one.pods, pod.DeepCopy())
		}
	}
	return one
}

func refusalOf(t *testing.T, c *aCase) (dryrun.Refusal, bool) {
	judgements, err := dryrun.Judgements(t.Context(), c.question())
	if err != nil || len(judgements) != 1 {
		t.Fatal(judgements, err)
	}
	return judgements[0].Explained, judgements[0].Explained.Kind != ""
}

// without returns the cases that lack one reason each.
func (c *aCase) without(p dryrun.Placement, r dryrun.Refusal) map[string]*aCase {
	all := map[string]*aCase{}
	switch r.Kind {
	case dryrun.Tainted:
		one := c.alone(p, r)
		for _, taint := range r.Taints {
			tolerating(taint.Key)(one.pods[0])
		}
		all["the taints"] = one
	case dryrun.Requirements:
		one := c.alone(p, r)
		for _, conflict := range r.Conflicts {
			spec := &one.pools[0].Spec.Template.Spec
			spec.Requirements = slices.DeleteFunc(spec.Requirements, func(q karpenter.NodeSelectorRequirementWithMinValues) bool { return q.Key == conflict.Key })
			if conflict.Offered == "" {
				one.pools[0].Spec.Template.Labels = map[string]string{conflict.Key: one.pods[0].Spec.NodeSelector[conflict.Key]}
			}
		}
		all["the requirements"] = one
	case dryrun.Types, dryrun.Limits:
		for _, g := range r.Types {
			if one := c.alone(p, r); one.cure(g) {
				all[fmt.Sprintf("%q of %s", g.Reason, g.Examples[0])] = one
			}
		}
	}
	return all
}

// cure gives the first type of a group what the group lacks.
func (c *aCase) cure(g dryrun.TypeGroup) bool {
	i := slices.IndexFunc(c.types, func(t instances.Type) bool { return t.Name == g.Examples[0] })
	of := &c.types[i]
	switch g.Lack {
	case dryrun.LackResources:
		for _, name := range g.Names {
			of.Capacity[v1.ResourceName(name)] = resource.MustParse("1Ti")
		}
	case dryrun.LackLabel:
		for _, name := range g.Names {
			wanted := c.pods[0].Spec.NodeSelector[name]
			for _, q := range c.pools[0].Spec.Template.Spec.Requirements {
				if q.Key == name {
					wanted = q.Values[0]
				}
			}
			switch name {
			case v1.LabelArchStable:
				of.Architecture = wanted
			case v1.LabelOSStable:
				of.OperatingSystems = []string{wanted}
			default:
				return false
			}
		}
	case dryrun.LackOffering:
		of.Offerings = nil
		for _, zone := range append(zones, "zone-d") {
			for _, capacityType := range []string{"on-demand", "spot"} {
				of.Offerings = append(of.Offerings, instances.Offering{Zone: zone, CapacityType: capacityType, Price: 1, Available: true})
			}
		}
	case dryrun.LackAvailability:
		for j := range of.Offerings {
			of.Offerings[j].Available = true
		}
	case dryrun.LackLimit:
		c.pools[0].Spec.Limits = nil
	}
	return true
}

var zones = []string{"zone-a", "zone-b", "zone-c"}

func randomCase(seed uint64) *aCase {
	random := rand.New(rand.NewPCG(seed, 1))
	chance := func(percent int) bool { return random.IntN(100) < percent }
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	c := &aCase{}
	for i := range 2 + random.IntN(5) {
		cpus := 1 << random.IntN(5)
		t := instances.Type{Name: fmt.Sprintf("t%d.%dcpu", i, cpus), Architecture: pick("amd64", "amd64", "arm64"), OperatingSystems: []string{pick("linux", "linux", "linux", "windows")}}
		t.Capacity = list(fmt.Sprintf("cpu=%d memory=%dGi pods=%d", cpus, cpus*(1+random.IntN(8)), 5+random.IntN(100)))
		if chance(25) {
			t.Capacity["nvidia.com/gpu"] = *resource.NewQuantity(int64(1+random.IntN(4)), resource.DecimalSI)
		}
		for _, zone := range zones {
			for _, capacityType := range []string{"on-demand", "spot"} {
				if chance(60) {
					// Few prices, so that there are ties.
					t.Offerings = append(t.Offerings, instances.Offering{Zone: zone, CapacityType: capacityType, Price: float64(1+random.IntN(4)) / 4, Available: chance(80)})
				}
			}
		}
		if len(t.Offerings) > 0 {
			c.types = append(c.types, t)
		}
	}
	for i := range 1 + random.IntN(3) {
		np := nodePool(fmt.Sprintf("pool%d", i), weighing(int32(1+random.IntN(3))))
		if chance(30) {
			tainted(pick("team", "gpu"))(np)
		}
		if chance(40) {
			requiring(karpenter.CapacityTypeLabelKey, v1.NodeSelectorOpIn, pick("on-demand", "spot"))(np)
		}
		if chance(30) {
			requiring(v1.LabelTopologyZone, v1.NodeSelectorOpIn, pick(zones...))(np)
		}
		if chance(30) {
			requiring(v1.LabelArchStable, v1.NodeSelectorOpIn, pick("amd64", "arm64"))(np)
		}
		if chance(20) {
			requiring("disk", v1.NodeSelectorOpIn, pick("ssd", "hdd"))(np)
		}
		if chance(30) {
			limited(pick("cpu", "memory", "nodes"), pick("0", "2", "6", "20Gi"))(np)
		}
		c.pools = append(c.pools, np)
	}
	for i := range random.IntN(4) {
		n := node(fmt.Sprintf("node%d", i), pick(zones...), "cpu=3 memory=6Gi")
		if chance(50) {
			n.Labels[karpenter.NodePoolLabelKey], n.Labels[v1.LabelInstanceTypeStable] = c.pools[0].Name, "t0"
		}
		c.state.Nodes = append(c.state.Nodes, n)
		old := pod(fmt.Sprintf("old%d", i), "cpu=2 memory=1Gi", on(n.Name), labelled("app", pick("a", "b")))
		if chance(20) {
			apart(pick(v1.LabelTopologyZone, v1.LabelHostname))(old)
		}
		c.state.Pods = append(c.state.Pods, old)
	}
	if chance(40) {
		agent := pod("agent", pick("cpu=500m", "cpu=1 memory=1Gi", "nvidia.com/gpu=1"))
		if chance(50) {
			tolerating("team")(agent)
		}
		if chance(30) {
			selecting(v1.LabelArchStable, "amd64")(agent)
		}
		c.state.DaemonSets = append(c.state.DaemonSets, &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent"},
			Spec: appsv1.DaemonSetSpec{Template: v1.PodTemplateSpec{Spec: agent.Spec}}})
	}
	for i := range 1 + random.IntN(5) {
		p := pod(fmt.Sprintf("pod%d", i), fmt.Sprintf("cpu=%d memory=%dGi", 1+random.IntN(9), 1+random.IntN(20)), labelled("app", pick("a", "b")))
		if chance(20) {
			p.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"] = resource.MustParse("1")
		}
		if chance(20) {
			selecting(v1.LabelArchStable, pick("amd64", "arm64"))(p)
		}
		if chance(15) {
			selecting(v1.LabelOSStable, pick("linux", "windows"))(p)
		}
		if chance(20) {
			selecting(v1.LabelTopologyZone, pick("zone-a", "zone-b", "zone-d"))(p)
		}
		if chance(15) {
			selecting(karpenter.CapacityTypeLabelKey, pick("on-demand", "spot"))(p)
		}
		if chance(20) {
			selecting("disk", pick("ssd", "hdd"))(p)
		}
		if chance(30) {
			tolerating(pick("team", "gpu"))(p)
		}
		if chance(30) {
			spread(pick(v1.LabelTopologyZone, v1.LabelHostname, karpenter.CapacityTypeLabelKey), int32(1+random.IntN(2)), v1.UnsatisfiableConstraintAction(pick("DoNotSchedule", "ScheduleAnyway")))(p)
		}
		if chance(15) {
			apart(pick(v1.LabelTopologyZone, v1.LabelHostname))(p)
		} else if chance(15) {
			near(v1.LabelTopologyZone)(p)
		}
		c.pods = append(c.pods, p)
	}
	return c
}

func spread(topology string, skew int32, otherwise v1.UnsatisfiableConstraintAction) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, v1.TopologySpreadConstraint{
			TopologyKey: topology, MaxSkew: skew, WhenUnsatisfiable: otherwise, LabelSelector: sameApp(p)})
	}
}

func sameApp(p *v1.Pod) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}}
}

func apart(topology string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: topology, LabelSelector: sameApp(p)}}}}
	}
}

func near(topology string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: topology, LabelSelector: sameApp(p)}}}}
	}
}
