package comparison

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// arithmetic tests the scorer of a plugin on random clusters: the explanation of each
// score, read from the public form of a record, must lead to the plugin's raw score, and
// that of all nodes to the normalized ones.
type arithmetic struct {
	plugin string
	// clusters is how many there are; -short runs a fifth.
	clusters uint64
	generate func(r random) *cluster
	// silent reports whether the scorer may have no facts; nil means never.
	silent func(c *cluster) bool
	// check looks at a record; it may be nil.
	check func(t *testing.T, score *result.Score)
}

func (a arithmetic) test(t *testing.T) {
	first, last := uint64(1), a.clusters
	if testing.Short() {
		last /= 5
	}
	if *seedFlag != 0 {
		first, last = *seedFlag, *seedFlag
	}
	scored, distinct := 0, map[[2]int64]bool{}
	for seed := first; seed <= last; seed++ {
		c := a.generate(random{rand.New(rand.NewPCG(seed, 1))})
		c.extender = seed%4 == 0
		score := a.run(t, c, seed)
		if score == nil {
			continue
		}
		if a.check != nil {
			a.check(t, score)
		}
		for row := range score.Nodes.Len() {
			scored++
			distinct[[2]int64{score.Raw[0].At(row), score.Normalized[0].At(row)}] = true
		}
	}
	t.Logf("%d nodes scored, %d different scores", scored, len(distinct))
	if *seedFlag == 0 && (scored < int(last-first) || len(distinct) < 5) {
		t.Error("the random clusters test too little")
	}
}

// run scores the nodes of a cluster and checks the explanations. It returns nil when
// nothing was scored or is known.
func (a arithmetic) run(t *testing.T, c *cluster, seed uint64) *result.Score {
	t.Helper()
	defer setGates(t, c.gates)()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := build(ctx, t, a.plugin, c)
	state, nodes := s.feasible(ctx, t)
	if len(nodes) == 0 {
		return nil
	}
	if status := s.framework.RunPreScorePlugins(ctx, state, c.pod, nodes); !status.IsSuccess() {
		t.Fatalf("seed %d: PreScore: %v", seed, status)
	}
	answer, status := s.framework.RunScorePlugins(ctx, state, c.pod, nodes)
	if !status.IsSuccess() {
		t.Fatalf("seed %d: Score: %v", seed, status)
	}
	if len(answer[0].Scores) == 0 {
		return nil // The plugin returned Skip in PreScore.
	}
	score := s.record(state, nodes, answer, a.plugin)
	if score.Facts == nil {
		if a.silent == nil || !a.silent(c) {
			t.Fatalf("seed %d: the scorer does not know the inputs", seed)
		}
		return nil
	}
	for row, node := range score.Nodes.All() {
		cell, ok := explain.Score(score, a.plugin, node)
		raw, normalized := score.Raw[0].At(row), score.Normalized[0].At(row)
		if !ok || cell.Raw == nil || *cell.Raw != raw {
			t.Fatalf("seed %d, node %s: the plugin says %d, the arithmetic %v", seed, node, raw, cell.Arithmetic)
		}
		if cell.Normalized == nil || *cell.Normalized != normalized {
			t.Fatalf("seed %d, node %s: the plugin makes %d of %d, the rule %v", seed, node, normalized, raw, cell.Normalization)
		}
		complete(t, append(cell.Arithmetic, cell.Normalization...))
	}
	return score
}

// complete checks that every step has a sentence whose every gap is filled.
func complete(t *testing.T, steps []explain.Step) {
	t.Helper()
	for _, step := range steps {
		text := step.String()
		for _, c := range text {
			if c == '{' || c == '}' {
				t.Fatalf("the step %+v reads %q", step, text)
			}
		}
		if text == "" {
			t.Fatalf("the step %+v has no sentence", step)
		}
	}
}

// feasible filters the nodes.
func (s *subject) feasible(ctx context.Context, t *testing.T) (fwk.CycleState, []fwk.NodeInfo) {
	t.Helper()
	state, status := s.preFilter(ctx, s.cluster.pod)
	if !status.IsSuccess() {
		return nil, nil
	}
	all, err := s.snapshot.NodeInfos().List()
	if err != nil {
		t.Fatal(err)
	}
	// Not copies, which lose how many nodes have an image.
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b fwk.NodeInfo) int { return strings.Compare(a.Node().Name, b.Node().Name) })
	all = slices.DeleteFunc(all, func(n fwk.NodeInfo) bool {
		return !s.framework.RunFilterPlugins(ctx, state, s.cluster.pod, n).IsSuccess()
	})
	if s.cluster.extender {
		for i, n := range all {
			returned := framework.NewNodeInfo()
			returned.SetNode(n.Node().DeepCopy())
			all[i] = returned
		}
	}
	return state, all
}

// record makes the record of the scores, and reads its public form.
func (s *subject) record(state fwk.CycleState, nodes []fwk.NodeInfo, answer []fwk.NodePluginScores, plugin string) *result.Score {
	s.t.Helper()
	out := &result.Score{Plugins: []result.ScorePlugin{{Name: plugin, Weight: 1, Normalization: s.scorer.Normalization()}}}
	var names []string
	var raw, normalized, totals []int64
	for i, n := range nodes {
		names = append(names, n.Node().Name)
		raw = append(raw, answer[i].RawScores[0].Score)
		normalized = append(normalized, answer[i].Scores[0].Score)
		totals = append(totals, answer[i].TotalScore)
	}
	facts := s.scorer.Facts(state, s.cluster.pod, recorder.Scored{Nodes: nodes, Count: len(nodes), All: func(yield func(string, int64) bool) {
		for i, name := range names {
			if !yield(name, raw[i]) {
				return
			}
		}
	}})
	if facts != nil {
		facts.Plugin = plugin
		out.Facts = &result.ScoreFacts{Nodes: names, Plugins: []result.PluginScoreFacts{*facts}}
	}
	out.Raw, out.Normalized, out.Weighted = columns(raw), columns(normalized), columns(normalized)
	out.Nodes, out.Totals = result.NewNodeList(names...), result.NewColumn(totals)
	public, err := json.Marshal(out)
	if err != nil {
		s.t.Fatal(err)
	}
	read := &result.Score{}
	if err := json.Unmarshal(public, read); err != nil {
		s.t.Fatal(err)
	}
	return read
}

func columns(values []int64) []result.Column { return []result.Column{result.NewColumn(values)} }

// ---- NodeResourcesFit and NodeResourcesBalancedAllocation

func TestResourceScoresFollowFromTheFacts(t *testing.T) {
	for _, strategy := range []config.ScoringStrategyType{config.LeastAllocated, config.MostAllocated, config.RequestedToCapacityRatio} {
		t.Run(string(strategy), func(t *testing.T) {
			arithmetic{
				plugin: names.NodeResourcesFit, clusters: 500,
				generate: func(r random) *cluster {
					c := resourceCluster(r)
					scoring := &config.ScoringStrategy{Type: strategy, Resources: scoredSpecs(r, 3)}
					if strategy == config.RequestedToCapacityRatio {
						scoring.RequestedToCapacityRatio = &config.RequestedToCapacityRatioParam{Shape: randomShape(r)}
					}
					c.args = &config.NodeResourcesFitArgs{ScoringStrategy: scoring}
					return c
				},
				silent: countsDevices,
			}.test(t)
		})
	}
}

func TestBalanceFollowsFromTheFacts(t *testing.T) {
	arithmetic{
		plugin: names.NodeResourcesBalancedAllocation, clusters: 800,
		generate: func(r random) *cluster {
			c := resourceCluster(r)
			c.args = &config.NodeResourcesBalancedAllocationArgs{Resources: scoredSpecs(r, 1)}
			return c
		},
		silent: countsDevices,
	}.test(t)
}

// resourceCluster has nodes of which most have room for the pod. Some clusters provide a
// resource by devices.
func resourceCluster(r random) *cluster {
	c := &cluster{pod: sized(r, "p", ""), dra: manager, gates: featuregatetesting.FeatureOverrides{}}
	for i := range 5 {
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}, Status: v1.NodeStatus{Allocatable: amounts(r, 1000, 8)}}
		node.Status.Allocatable[v1.ResourcePods] = resource.MustParse("10")
		if r.in(2) {
			node.Status.Allocatable[v1.ResourceMemory] = gib(1 + r.Int64N(1<<14))
		}
		c.nodes = append(c.nodes, node)
		for j := range r.IntN(4) {
			c.placed = append(c.placed, sized(r, fmt.Sprint("on-", i, "-", j), node.Name))
		}
	}
	if r.in(5) {
		c.objects = append(c.objects, &resourceapi.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "card"}, Spec: resourceapi.DeviceClassSpec{ExtendedResourceName: new(string(cards))}})
	}
	return c
}

func countsDevices(c *cluster) bool { return len(c.objects) > 0 }

func scoredSpecs(r random, mostWeight int64) []config.ResourceSpec {
	var out []config.ResourceSpec
	for len(out) == 0 {
		for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage, "gpus.example.com/gpu", cards} {
			if !r.in(3) {
				out = append(out, config.ResourceSpec{Name: string(name), Weight: 1 + r.Int64N(mostWeight)})
			}
		}
	}
	return out
}

func randomShape(r random) []config.UtilizationShapePoint {
	var out []config.UtilizationShapePoint
	for at := r.Int32N(30); at <= 100; at += 1 + r.Int32N(60) {
		out = append(out, config.UtilizationShapePoint{Utilization: at, Score: r.Int32N(11)})
	}
	return out
}

// ---- ImageLocality

func TestImageScoresFollowFromTheFacts(t *testing.T) {
	arithmetic{
		plugin: names.ImageLocality, clusters: 800,
		generate: func(r random) *cluster {
			c := &cluster{pod: pod("p", "")}
			images := []string{"web", "web:1", "db:2", "registry.example.com:5000/cache"}
			for range 1 + r.IntN(3) {
				c.pod.Spec.Containers = append(c.pod.Spec.Containers, v1.Container{Image: one(r, images...)})
			}
			if r.in(3) {
				c.pod.Spec.InitContainers = []v1.Container{{Image: one(r, images...)}}
			}
			if r.in(3) {
				c.pod.Spec.Volumes = []v1.Volume{{Name: "model", VolumeSource: v1.VolumeSource{Image: &v1.ImageVolumeSource{Reference: one(r, images...)}}}}
			}
			for i := range 5 {
				node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}}
				for _, image := range []string{"web:latest", "web:1", "db:2", "registry.example.com:5000/cache:latest"} {
					if r.in(2) {
						node.Status.Images = append(node.Status.Images, v1.ContainerImage{Names: []string{image}, SizeBytes: r.Int64N(one(r, int64(20<<20), 4<<30))})
					}
				}
				c.nodes = append(c.nodes, node)
			}
			return c
		},
	}.test(t)
}

// ---- NodeAffinity and TaintToleration

func TestPreferencesFollowFromTheFacts(t *testing.T) {
	preferred := func(r random) (out []v1.PreferredSchedulingTerm) {
		for range r.IntN(4) {
			selector := nodeSelector(r, true)
			out = append(out, v1.PreferredSchedulingTerm{Weight: 1 + r.Int32N(100), Preference: selector.NodeSelectorTerms[0]})
		}
		return out
	}
	arithmetic{
		plugin: names.NodeAffinity, clusters: 800,
		generate: func(r random) *cluster {
			c := &cluster{nodes: labelledNodes(r, 6), pod: pod("p", ""), args: &config.NodeAffinityArgs{}}
			c.pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred(r)}}
			if r.in(3) {
				c.args = &config.NodeAffinityArgs{AddedAffinity: &v1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred(r)}}
			}
			return c
		},
	}.test(t)
}

func TestTaintScoresFollowFromTheFacts(t *testing.T) {
	arithmetic{
		plugin: names.TaintToleration, clusters: 800,
		generate: func(r random) *cluster {
			c := &cluster{pod: pod("p", ""), gates: gates(r, features.TaintTolerationComparisonOperators)}
			for i := range 6 {
				node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}}
				for _, key := range []string{"a", "b", "c", "d"} {
					if r.in(2) {
						node.Spec.Taints = append(node.Spec.Taints, v1.Taint{Key: key, Value: one(r, "", "5", "7"), Effect: v1.TaintEffectPreferNoSchedule})
					}
				}
				c.nodes = append(c.nodes, node)
			}
			for range r.IntN(3) {
				c.pod.Spec.Tolerations = append(c.pod.Spec.Tolerations, v1.Toleration{
					Key: one(r, "a", "b", "c"), Value: one(r, "5", "7"), Effect: one(r, "", v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoSchedule),
					Operator: one(r, v1.TolerationOpEqual, v1.TolerationOpEqual, v1.TolerationOpGt, v1.TolerationOpLt),
				})
			}
			return c
		},
	}.test(t)
}

// ---- PodTopologySpread

func TestSpreadScoresFollowFromTheFacts(t *testing.T) {
	arithmetic{plugin: names.PodTopologySpread, clusters: 1200, generate: spreadScoreCluster}.test(t)
}

// spreadScoreCluster has a pod with constraints of its own, or one whose constraints are
// the defaults because a service selects it.
func spreadScoreCluster(r random) *cluster {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	key := func() string { return one(r, v1.LabelTopologyZone, v1.LabelHostname, "rack") }
	c := &cluster{nodes: labelledNodes(r, 6), pod: pod("p", ""), args: &config.PodTopologySpreadArgs{DefaultingType: config.SystemDefaulting}}
	if r.in(3) { // No node lacks a label.
		for _, n := range c.nodes {
			n.Labels[v1.LabelTopologyZone], n.Labels[v1.LabelHostname], n.Labels["rack"] = one(r, "z0", "z1"), n.Name, one(r, "r0", "r1")
		}
	}
	c.pod.Labels["app"] = "web"
	seen := map[string]bool{}
	switch r.IntN(3) {
	case 0:
		c.objects = append(c.objects, &v1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: v1.ServiceSpec{Selector: selector.MatchLabels}})
	case 1:
		c.objects = append(c.objects, &v1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: v1.ServiceSpec{Selector: selector.MatchLabels}})
		c.args = &config.PodTopologySpreadArgs{DefaultingType: config.ListDefaulting, DefaultConstraints: []v1.TopologySpreadConstraint{
			{TopologyKey: key(), MaxSkew: 1 + r.Int32N(3), WhenUnsatisfiable: v1.ScheduleAnyway},
		}}
	default:
		for range 1 + r.IntN(3) {
			k := key()
			if seen[k] {
				continue
			}
			seen[k] = true
			c.pod.Spec.TopologySpreadConstraints = append(c.pod.Spec.TopologySpreadConstraints, v1.TopologySpreadConstraint{
				TopologyKey: k, MaxSkew: 1 + r.Int32N(4), WhenUnsatisfiable: v1.ScheduleAnyway, LabelSelector: one(r, selector, selector, &metav1.LabelSelector{}, nil),
			})
		}
	}
	for i := range r.IntN(14) {
		p := pod(fmt.Sprint("on-", i), one(r, c.nodes...).Name)
		p.Namespace, p.Labels["app"] = one(r, "default", "default", "other"), one(r, "web", "web", "db")
		if r.in(8) {
			p.DeletionTimestamp = &metav1.Time{}
		}
		c.placed = append(c.placed, p)
	}
	return c
}

// ---- InterPodAffinity

func TestPodAffinityScoresFollowFromTheFacts(t *testing.T) {
	arithmetic{plugin: names.InterPodAffinity, clusters: 1200, generate: func(r random) *cluster { return podScoreCluster(r, 14) }}.test(t)
}

// With many pods, only the plugin's sums are kept. They lead to the same scores.
func TestPodAffinityScoresFollowFromTheSums(t *testing.T) {
	check := func(t *testing.T, score *result.Score) {
		if score.Facts.Plugins[0].PodTerms.Terms != nil {
			t.Error("it has counted the pods of terms")
		}
	}
	arithmetic{plugin: names.InterPodAffinity, clusters: 20, check: check, generate: func(r random) *cluster {
		c := podScoreCluster(r, 14)
		for i := range mostTermPods {
			c.placed = append(c.placed, preferring(r, pod(fmt.Sprint("many-", i), one(r, c.nodes...).Name)))
		}
		return c
	}}.test(t)
}

func podScoreCluster(r random, pods int) *cluster {
	c := &cluster{
		nodes: labelledNodes(r, 6), pod: preferring(r, affine(r, pod("p", ""))),
		args: &config.InterPodAffinityArgs{HardPodAffinityWeight: one(r, int32(0), 1, 50), IgnorePreferredTermsOfExistingPods: r.in(4)},
		objects: []runtime.Object{
			&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{"team": "a"}}},
			&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other", Labels: map[string]string{"team": "b"}}},
		},
	}
	c.pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
	c.pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
	for i := range r.IntN(pods) {
		p := preferring(r, affine(r, pod(fmt.Sprint("on-", i), one(r, c.nodes...).Name)))
		p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		c.placed = append(c.placed, p)
	}
	return c
}

// preferring gives a pod random preferred terms.
func preferring(r random, p *v1.Pod) *v1.Pod {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{}, PodAntiAffinity: &v1.PodAntiAffinity{}}
		p.Labels["app"] = one(r, "web", "db")
	}
	terms := func() (out []v1.WeightedPodAffinityTerm) {
		for range r.IntN(3) {
			term := v1.PodAffinityTerm{
				TopologyKey:   one(r, v1.LabelTopologyZone, v1.LabelHostname, "rack"),
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": one(r, "web", "db")}},
			}
			switch r.IntN(4) {
			case 0:
				term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: one(r, nil, map[string]string{"team": "b"})}
			case 1:
				term.Namespaces = []string{"other"}
			}
			out = append(out, v1.WeightedPodAffinityTerm{Weight: 1 + r.Int32N(100), PodAffinityTerm: term})
		}
		return out
	}
	p.Spec.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = terms()
	p.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = terms()
	return p
}

// ---- VolumeBinding and DynamicResources

func TestStorageScoresFollowFromTheFacts(t *testing.T) {
	arithmetic{
		plugin: names.VolumeBinding, clusters: 1200,
		generate: func(r random) *cluster {
			c := volumeCluster(r)
			c.args.(*config.VolumeBindingArgs).Shape = randomShape(r)
			c.gates = featuregatetesting.FeatureOverrides{features.StorageCapacityScoring: true}
			return c
		},
	}.test(t)
}

func TestDeviceScoresFollowFromTheFacts(t *testing.T) {
	arithmetic{
		plugin: names.DynamicResources, clusters: 800,
		generate: func(r random) *cluster {
			c := deviceCluster(r)
			for _, o := range c.objects {
				claim, ok := o.(*resourceapi.ResourceClaim)
				if !ok || claim.Status.Allocation != nil || len(claim.Spec.Devices.Requests) == 0 || r.in(3) {
					continue
				}
				request := &claim.Spec.Devices.Requests[0]
				request.Exactly, request.FirstAvailable = nil, nil
				for i := range 1 + r.IntN(resourceapi.FirstAvailableDeviceRequestMaxSize) {
					request.FirstAvailable = append(request.FirstAvailable, resourceapi.DeviceSubRequest{
						Name: fmt.Sprint("s", i), DeviceClassName: one(r, "small", "large"), AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: 1 + r.Int64N(2),
					})
				}
			}
			return c
		},
	}.test(t)
}
