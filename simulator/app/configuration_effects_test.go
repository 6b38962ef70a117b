package app

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
)

// The configurations come from the Kubernetes documentation or are similar. Tests create the nodes
// before they apply the configuration, so that the new scheduler knows all of them.

// node creates a node of a pool. Its memory is proportional to its CPUs, like that of the pods, so
// that no resource outweighs the other.
func (s *running) node(t *testing.T, pool string, cpu int, labels map[string]string, more v1.ResourceList) string {
	t.Helper()
	name, err := s.makeNode(t.Context(), pool, cpu, labels, more)
	if err != nil {
		t.Fatal(err)
	}
	s.untainted(t, name)
	if s == shared {
		t.Cleanup(func() {
			if err := s.client.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	return name
}

func (s *running) makeNode(ctx context.Context, pool string, cpu int, labels map[string]string, more v1.ResourceList) (string, error) {
	has := v1.ResourceList{
		v1.ResourceCPU: *resource.NewQuantity(int64(cpu), resource.DecimalSI), v1.ResourceMemory: *resource.NewQuantity(int64(cpu)<<31, resource.BinarySI),
		v1.ResourcePods: resource.MustParse("110"),
	}
	maps.Copy(has, more)
	all := map[string]string{"pool": pool}
	maps.Copy(all, labels)
	node, err := s.client.CoreV1().Nodes().Create(ctx, &v1.Node{
		ObjectMeta: metav1.ObjectMeta{GenerateName: pool + "-", Labels: all},
		Status:     v1.NodeStatus{Capacity: has, Allocatable: has},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return node.Name, nil
}

// team creates nodes of one pool, one per team with the given CPUs, and returns their names by team.
func team(t *testing.T, s *running, pool string, teamsAndCPUs ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for pair := range slices.Chunk(teamsAndCPUs, 2) {
		cpu := resource.MustParse(pair[1])
		out[pair[0]] = s.node(t, pool, int(cpu.Value()), map[string]string{"team": pair[0]}, nil)
	}
	return out
}

// sized returns a pod whose memory is proportional to its CPU.
func sized(name, pool string, milliCPU int64) *v1.Pod {
	p := pod(name, pool, "1")
	p.Spec.Containers[0].Resources.Requests = v1.ResourceList{
		v1.ResourceCPU: *resource.NewMilliQuantity(milliCPU, resource.DecimalSI), v1.ResourceMemory: *resource.NewQuantity(milliCPU<<31/1000, resource.BinarySI),
	}
	return p
}

// spread schedules pods one after another and returns the number of pods per node, in descending
// order.
func spread(t *testing.T, ns, prefix string, n int, make func(name string) *v1.Pod) []int {
	t.Helper()
	nodes := map[string]int{}
	for i := range n {
		_, cycle := create(t, shared, ns, make(fmt.Sprintf("%s-%d", prefix, i)), result.Scheduled)
		nodes[cycle.SelectedNode]++
	}
	var counts []int
	for _, count := range nodes {
		counts = append(counts, count)
	}
	slices.Sort(counts)
	slices.Reverse(counts)
	return counts
}

// where returns the node of a pod according to the API server.
func where(t *testing.T, ns, name string) string {
	t.Helper()
	p, err := shared.client.CoreV1().Pods(ns).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p.Spec.NodeName
}

func weights(c *result.Cycle) map[string]int64 {
	out := map[string]int64{}
	if c.Score != nil {
		for _, p := range c.Score.Plugins {
			out[p.Name] = p.Weight
		}
	}
	return out
}

// raw returns a plugin's raw score of each node.
func raw(c *result.Cycle, plugin string) map[string]int64 {
	out := map[string]int64{}
	for i, p := range c.Score.Plugins {
		for j, node := range c.Score.Nodes.All() {
			if p.Name == plugin {
				out[node] = c.Score.Raw[i].At(j)
			}
		}
	}
	return out
}

func TestBinPacking(t *testing.T) {
	const gpu = v1.ResourceName("example.com/gpu")
	quarter := func(pool string) func(string) *v1.Pod {
		return func(name string) *v1.Pod { return sized(name, pool, 1000) }
	}
	for _, tc := range []struct {
		name, document string
		pod            func(pool string) func(name string) *v1.Pod
		want           []int // four pods on three nodes, each with room for four
	}{
		{"default", header, quarter, []int{2, 1, 1}},
		{"most-allocated", header + `
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources:
        - {name: cpu, weight: 1}
        - {name: memory, weight: 1}
`, quarter, []int{4}},
		{"capacity-ratio", header + `
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources:
        - {name: example.com/gpu, weight: 3}
        requestedToCapacityRatio:
          shape:
          - {utilization: 0, score: 0}
          - {utilization: 100, score: 10}
`, func(pool string) func(string) *v1.Pod {
			return func(name string) *v1.Pod {
				p := sized(name, pool, 100)
				p.Spec.Containers[0].Resources.Requests[gpu] = resource.MustParse("1")
				p.Spec.Containers[0].Resources.Limits = v1.ResourceList{gpu: resource.MustParse("1")}
				return p
			}
		}, []int{4}},
		{"half-full-is-best", header + `
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: RequestedToCapacityRatio
        requestedToCapacityRatio:
          shape:
          - {utilization: 0, score: 0}
          - {utilization: 50, score: 10}
          - {utilization: 60, score: 0}
`, quarter, []int{2, 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ns := namespace(t, shared)
			for range 3 {
				shared.node(t, tc.name, 4, nil, v1.ResourceList{gpu: resource.MustParse("4")})
			}
			apply(t, shared, tc.document)
			if diff := cmp.Diff(tc.want, spread(t, ns, "p", 4, tc.pod(tc.name))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEachProfileHasItsOwnPluginsArgumentsAndWeights(t *testing.T) {
	ns := namespace(t, shared)
	nodes := team(t, shared, "profiles", "blue", "8", "red", "8")
	revision := apply(t, shared, header+`
profiles:
- schedulerName: default-scheduler
- schedulerName: emptiest-first
  plugins:
    score:
      enabled:
      - {name: NodeResourcesFit, weight: 20}
- schedulerName: bin-packing
  plugins:
    score:
      disabled:
      - name: "*"
      enabled:
      - {name: NodeResourcesFit, weight: 7}
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated}}
- schedulerName: no-scoring-scheduler
  plugins:
    preScore:
      disabled:
      - name: "*"
    score:
      disabled:
      - name: "*"
`).Number
	blue := sized("first", "profiles", 4000)
	blue.Spec.NodeSelector["team"] = "blue"
	create(t, shared, ns, blue, result.Scheduled)
	for _, tc := range []struct {
		profile, node string
		weights       map[string]int64 // the weights to check
		all           bool             // there are no other weights
	}{
		{"default-scheduler", nodes["blue"], map[string]int64{"NodeResourcesFit": 1, "NodeAffinity": 2}, false},
		{"emptiest-first", nodes["red"], map[string]int64{"NodeResourcesFit": 20, "NodeAffinity": 2}, false},
		{"bin-packing", nodes["blue"], map[string]int64{"NodeResourcesFit": 7}, true},
		{"no-scoring-scheduler", "", map[string]int64{}, true},
	} {
		t.Run(tc.profile, func(t *testing.T) {
			// The pod prefers blue, and the blue node is the fuller one.
			p := sized(tc.profile, "profiles", 100)
			p.Spec.SchedulerName = tc.profile
			p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.PreferredSchedulingTerm{{
				Weight:     1,
				Preference: v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "team", Operator: v1.NodeSelectorOpIn, Values: []string{"blue"}}}},
			}}}}
			_, cycle := create(t, shared, ns, p, result.Scheduled)
			if got := where(t, ns, p.Name); got == "" || tc.node != "" && got != tc.node {
				t.Errorf("it is on %q, want %q: %v", got, tc.node, nodes)
			}
			if cycle.Profile != tc.profile || cycle.Revision != revision {
				t.Errorf("the result names the profile %q and revision %d, want %q and %d", cycle.Profile, cycle.Revision, tc.profile, revision)
			}
			got := weights(cycle)
			for name := range got {
				if _, asked := tc.weights[name]; !asked && !tc.all {
					delete(got, name)
				}
			}
			if diff := cmp.Diff(tc.weights, got); diff != "" {
				t.Error("weights:", diff)
			}
		})
	}
}

func TestAddedAffinity(t *testing.T) {
	ns := namespace(t, shared)
	nodes := team(t, shared, "added", "blue", "4", "red", "64")
	apply(t, shared, header+`
profiles:
- schedulerName: default-scheduler
- schedulerName: blue-scheduler
  pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions:
            - {key: team, operator: In, values: [blue]}
`)
	p := sized("blue", "added", 1000)
	p.Spec.SchedulerName = "blue-scheduler"
	_, cycle := create(t, shared, ns, p, result.Scheduled)
	if got := where(t, ns, "blue"); got != nodes["blue"] {
		t.Errorf("it is on %q, want the blue node: %v", got, nodes)
	}
	at := cycle.Filter.Nodes.Index(nodes["red"])
	if v := cycle.Filter.Verdict(at); v.Plugin != "NodeAffinity" || !slices.Contains(v.Reasons, "node(s) didn't match scheduler-enforced node affinity") {
		t.Errorf("the red node's verdict is %+v", v)
	}
	create(t, shared, ns, sized("any", "added", 1000), result.Scheduled)
	if got := where(t, ns, "any"); got != nodes["red"] {
		t.Errorf("the other profile's pod is on %q, want the node with the most room: %v", got, nodes)
	}
}

func TestDefaultConstraintsOfTopologySpread(t *testing.T) {
	for _, tc := range []struct {
		name, constraints string
		want              []int
	}{
		{"none", "[]", []int{4}},
		{"zones", "[{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}]", []int{2, 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ns := namespace(t, shared)
			for zone, cpu := range map[string]int{"east": 64, "west": 4} {
				shared.node(t, "constraints-"+tc.name, cpu, map[string]string{v1.LabelTopologyZone: zone}, nil)
			}
			// Default constraints apply to pods with a common owner or service.
			_, err := shared.client.CoreV1().Services(ns).Create(t.Context(), &v1.Service{
				ObjectMeta: metav1.ObjectMeta{Name: "web"},
				Spec:       v1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []v1.ServicePort{{Port: 80}}},
			}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			apply(t, shared, header+`
profiles:
- pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints: `+tc.constraints+"\n")
			got := spread(t, ns, "web", 4, func(name string) *v1.Pod {
				p := sized(name, "constraints-"+tc.name, 500)
				p.Labels = map[string]string{"app": "web"}
				return p
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPreemptionCanBeDisabled(t *testing.T) {
	ns := namespace(t, shared)
	node := createNode(t, shared, "peace", "2")
	apply(t, shared, header+`
profiles:
- plugins:
    postFilter:
      disabled:
      - name: DefaultPreemption
`)
	create(t, shared, ns, pod("low", "peace", "1500m"), result.Scheduled)
	high := pod("high", "peace", "1500m")
	high.Spec.PriorityClassName = "system-cluster-critical"
	created, cycle := create(t, shared, ns, high, result.Unschedulable)
	preempts := func(r result.PluginResult) bool { return r.Plugin == "DefaultPreemption" }
	if cycle.NominatedNode != "" || cycle.Preemption != nil || slices.ContainsFunc(cycle.PostFilter, preempts) {
		t.Errorf("nominated %q, preemption %+v, postFilter %+v", cycle.NominatedNode, cycle.Preemption, cycle.PostFilter)
	}
	low, err := shared.client.CoreV1().Pods(ns).Get(t.Context(), "low", metav1.GetOptions{})
	if err != nil || low.DeletionTimestamp != nil || low.Spec.NodeName != node {
		t.Errorf("the pod of low priority: %v, deleted %v, on %q", err, low.DeletionTimestamp, low.Spec.NodeName)
	}

	// With the default configuration the same pod preempts, without any further change.
	revision := shared.applied(t, http.MethodDelete, configurationPath, "").Revision
	cycle = await(t, shared, created, result.Scheduled)
	if cycle.SelectedNode != node || cycle.Revision != revision.Number {
		t.Errorf("attempt %d went to %q under revision %d, want %d", cycle.Attempt, cycle.SelectedNode, cycle.Revision, revision.Number)
	}
	var standard map[string]any
	shared.get(t, configurationPath+"/default", &standard)
	var current map[string]any
	shared.get(t, configurationPath, &current)
	if diff := cmp.Diff(standard, current); diff != "" {
		t.Error("the configuration is not the default:", diff)
	}
}

func TestPercentageOfNodesToScoreEndsTheSearch(t *testing.T) {
	ns := namespace(t, shared)
	const nodes = 300
	for range nodes {
		createNode(t, shared, "many", "4")
	}
	apply(t, shared, header+`
parallelism: 1
percentageOfNodesToScore: 40
profiles:
- schedulerName: default-scheduler
- schedulerName: thorough
  percentageOfNodesToScore: 100
`)
	_, cycle := create(t, shared, ns, pod("quick", "many", "1"), result.Scheduled)
	n := cycle.Nodes
	// Nodes of other tests do not matter.
	if n.Total < nodes || n.Wanted != n.Total*40/100 || n.Feasible != n.Wanted || n.Evaluated >= n.Total {
		t.Errorf("the search was %+v", n)
	}
	thorough := pod("thorough", "many", "1")
	thorough.Spec.SchedulerName = "thorough"
	_, cycle = create(t, shared, ns, thorough, result.Scheduled)
	if n := cycle.Nodes; n.Evaluated != n.Total || n.Feasible != nodes {
		t.Errorf("the thorough search was %+v", n)
	}
}

func TestBackoffIsAsConfigured(t *testing.T) {
	for _, seconds := range []int{1, 6} {
		t.Run(fmt.Sprint(seconds, "s"), func(t *testing.T) {
			ns := namespace(t, shared)
			pool := fmt.Sprintf("backoff-%d", seconds)
			createNode(t, shared, pool, "1")
			apply(t, shared, header+fmt.Sprintf("podInitialBackoffSeconds: %d\npodMaxBackoffSeconds: %[1]d\n", seconds))
			created, first := create(t, shared, ns, pod("web", pool, "2"), result.Unschedulable)
			createNode(t, shared, pool, "4")
			second := await(t, shared, created, result.Scheduled)
			q := second.Queue
			if q == nil || q.BackoffUntil == nil || !slices.Contains(q.RejectedBy, "NodeResourcesFit") {
				t.Fatalf("the second attempt's queue is %+v", q)
			}
			ended := first.StartTime.Add(time.Duration(first.DurationSeconds * float64(time.Second)))
			backoff := q.BackoffUntil.Sub(ended).Seconds()
			if want := float64(seconds); backoff < want-1.5 || backoff > want+1.5 {
				t.Errorf("it backed off %.2f s, want %d: %+v", backoff, seconds, q)
			}
		})
	}
}

func TestPluginsPerPointAndMultiPoint(t *testing.T) {
	ns := namespace(t, shared)
	cordoned := createNode(t, shared, "points", "4", v1.Taint{Key: "gpu", Value: "yes", Effect: v1.TaintEffectNoSchedule})
	createNode(t, shared, "points", "2")
	apply(t, shared, header+`
profiles:
- plugins:
    multiPoint:
      disabled:
      - name: TaintToleration
    filter:
      enabled:
      - name: NodeName
      - name: NodeResourcesFit
      disabled:
      - name: "*"
    score:
      enabled:
      - {name: NodeResourcesFit, weight: 9}
`)
	_, cycle := create(t, shared, ns, pod("web", "points", "1"), result.Scheduled)
	if diff := cmp.Diff([]string{"NodeName", "NodeResourcesFit"}, cycle.Filter.Plugins); diff != "" {
		t.Error("filter plugins:", diff)
	}
	// No plugin checks labels and taints any more.
	at := cycle.Filter.Nodes.Index(cordoned)
	if v := cycle.Filter.Verdict(at); v.Plugin != "" {
		t.Errorf("the tainted node's verdict is %+v", v)
	}
	got := weights(cycle)
	if _, there := got["TaintToleration"]; there || got["NodeResourcesFit"] != 9 {
		t.Errorf("weights are %v", got)
	}
	if scores := raw(cycle, "NodeResourcesFit"); scores[cordoned] == 0 {
		t.Errorf("the tainted node is not scored: %v", scores)
	}
	if strings.Contains(cycle.Message, "taint") {
		t.Errorf("the message is %q", cycle.Message)
	}
}

func TestEveryKindOfArgumentsIsApplied(t *testing.T) {
	ns := namespace(t, shared)
	createNode(t, shared, "arguments", "4")
	document, err := os.ReadFile(filepath.Join("..", "..", "scheduler", "config", "testdata", "all-arguments.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	revision := apply(t, shared, string(document))
	var effective config.Effective
	shared.get(t, configurationPath+"/effective", &effective)
	var users []string
	for _, p := range effective.Profiles[0].Plugins {
		if p.ArgumentsSource == config.SourceUser {
			users = append(users, p.Name)
		}
	}
	want := []string{
		"DefaultPreemption", "DynamicResources", "InterPodAffinity", "NodeAffinity",
		"NodeResourcesBalancedAllocation", "NodeResourcesFit", "PodTopologySpread", "VolumeBinding",
	}
	if diff := cmp.Diff(want, users); diff != "" || effective.Revision != revision.Number {
		t.Errorf("revision %d, plugins with the user's arguments: %s", effective.Revision, diff)
	}
	create(t, shared, ns, pod("web", "arguments", "1"), result.Scheduled)
}
