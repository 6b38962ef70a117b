package inmemory

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/yamlsource/bombs"
	"kube-scheduler-simulator/simulator/autoscaling/stepwise"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// pool is a NodePool that buys on demand for amd64 in one zone, with further lines of its spec, and of its requirements.
func pool(name, spec, requirements string) string {
	return strings.NewReplacer("NAME", name, "SPEC", spec, "REQUIREMENTS", requirements).Replace(`
  - apiVersion: karpenter.sh/v1
    kind: NodePool
    metadata: {name: NAME}
    spec:
      SPEC
      template:
        spec:
          nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
          requirements:
          - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
          - {key: kubernetes.io/arch, operator: In, values: [amd64]}
          - {key: topology.kubernetes.io/zone, operator: In, values: [zone-a]}
          REQUIREMENTS
`)
}

// small only has types of four CPUs, of which a pod of three CPUs takes one.
const small = `- {key: karpenter.kwok.sh/instance-cpu, operator: In, values: ["4"]}`

// pods are copies of a pod of a workload, each of so many CPUs.
func workload(name string, replicas int, cpu, more string) string {
	return strings.NewReplacer("NAME", name, "REPLICAS", fmt.Sprint(replicas), "CPU", cpu, "MORE", more).Replace(`
- apply:
    objects:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: NAME}
      spec:
        replicas: REPLICAS
        selector: {matchLabels: {app: NAME}}
        template:
          metadata: {labels: {app: NAME}}
          spec: {MORE containers: [{name: c, image: registry.example.com/c:1, resources: {requests: {cpu: "CPU", memory: 1Gi}}}]}
`)
}

const head = "apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1\nkind: Scenario\nmetadata: {name: test}\n"

func loaded(t *testing.T, text string, files map[string]string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Load(t.Context(), []byte(head+text), scenario.Options{File: "test.yaml", Parse: config.Parse, Read: reading(files)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func reading(files map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		text, has := files[name]
		if !has {
			return nil, fmt.Errorf("there is no file %s", name)
		}
		return []byte(text), nil
	}
}

// alone runs a scenario that begins without nodes, and fails the test for each expectation that does not hold.
func alone(t *testing.T, text string) *scenario.Result {
	t.Helper()
	s := loaded(t, text, nil)
	r := scenario.Run(t.Context(), s, s.Matrix.Combinations()[0], scenario.RunOptions{Engine: Engine(nil), KeepPods: true})
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	for _, step := range r.Steps {
		if step.Error != "" {
			t.Errorf("line %d: %s", step.Line, step.Error)
		}
		for _, e := range step.Expectations {
			if !e.Passed {
				t.Errorf("%s: %+v %s", e.That, e.Findings, e.Error)
			}
		}
	}
	if t.Failed() {
		t.Log(story(r))
	}
	return r
}

// story has the events of a run, a line for each.
func story(r *scenario.Result) string {
	var b strings.Builder
	for _, e := range r.Autoscaling.Events {
		fmt.Fprintf(&b, "%g %s %s", e.AtSeconds, e.Kind, e.Node)
		if e.Offer != nil {
			fmt.Fprintf(&b, " %s", e.Offer.InstanceType)
		}
		for _, about := range [][]string{e.Pods, e.Replaces} {
			if len(about) > 0 {
				fmt.Fprintf(&b, " %v", about)
			}
		}
		if e.Reason != "" {
			fmt.Fprintf(&b, " (%s)", e.Reason)
		}
		fmt.Fprintf(&b, " %d\n", e.Nodes)
	}
	return b.String()
}

// TestPodBuysNode: a pod that fits nowhere gets a node after the batch and the registration, and lands on it.
func TestPodBuysNode(t *testing.T) {
	r := alone(t, "autoscale:\n  registration: 45s\n  nodePools:"+pool("general", "", "")+`
steps:
- create:
    template: {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: registry.example.com/c:1, resources: {requests: {cpu: "6"}}}]}}
- advance: 30s
- expect:
  - that: nodes.size() == 0 && run.bought == 1 && run.cost > 0.0
- wait: settled
- expect:
  - that: pods[0].node == "general-1" && nodes[0].ready && nodes[0].price > 0.0
  - that: nodes[0].labels["karpenter.sh/nodepool"] == "general" && nodes[0].labels["kubernetes.io/hostname"] == "general-1"
  - that: object("NodeClaim.karpenter.sh", "general-1").status.nodeName == "general-1"
  - that: run.toNodeMax >= duration("46s") && run.toNodeMax < duration("1m") && run.unhelped == 0
- advance: 1h
- expect:
  - that: run.cost > nodes[0].price * (3600.0 + 45.0) / 3600.0 && run.cost < nodes[0].price * (3600.0 + 60.0) / 3600.0
  - that: run.unusedCost < run.cost && run.mostNodes == 1
`)
	const want = `1 bought general-1 c-8x-amd64-linux [default/web] (pods) 0
46 joined general-1 1
`
	if diff := cmp.Diff(want, story(r)); diff != "" {
		t.Error(diff)
	}
	if m := r.Metrics; m.Cost == nil || m.MostNodes != 1 || math.Abs(*m.NodeHours*3600-(r.ClusterSeconds-46)) > 0.001 {
		t.Errorf("%+v", m)
	}
}

// TestConsolidation: after the load has gone, empty nodes go one after the other within the budget, and a node that is too large is replaced by a smaller
// one, which is there before its pods move.
func TestConsolidation(t *testing.T) {
	r := alone(t, "autoscale:\n  nodePools:"+pool("general", "disruption: {consolidateAfter: 1m}", small)+`
steps:`+workload("web", 5, "3", "")+`
- wait: settled
- patch: {kind: Deployment, name: web, patch: {spec: {replicas: 2}}}
- advance: 10m
- expect:
  - that: nodes.size() == 2 && pods.all(p, p.node != "") && run.removed == 3 && run.evicted == 0
`)
	last := -1.0
	for _, e := range r.Autoscaling.Events {
		if e.Kind == stepwise.Removing {
			if e.Reason != stepwise.ForEmpty || last >= 0 && e.AtSeconds < last+15 {
				t.Errorf("a budget of 10 %% of five nodes lets one go at a time: %+v after %v", e, last)
			}
			last = e.AtSeconds
		}
	}
	r = alone(t, "autoscale:\n  nodePools:"+pool("general", "disruption: {consolidateAfter: 1m}", "")+`
steps:`+workload("web", 5, "3", "")+`
- wait: settled
- patch: {kind: Deployment, name: web, patch: {spec: {replicas: 2}}}
- advance: 10m
- wait: settled
- expect:
  - that: nodes.size() == 1 && nodes[0].name == "general-2" && pods.size() == 2 && pods.all(p, p.node != "") && run.evicted == 2 && run.lost == 0
`)
	var kinds []string
	for _, e := range r.Autoscaling.Events {
		kinds = append(kinds, fmt.Sprint(e.Kind, " ", e.Node))
	}
	if diff := cmp.Diff([]string{"bought general-1", "joined general-1", "removing general-1", "bought general-2", "joined general-2", "removed general-1"}, kinds); diff != "" {
		t.Error(diff)
	}
}

// TestWhatKeepsNodes: each of these keeps a node that is not needed, and without it the node goes.
func TestWhatKeepsNodes(t *testing.T) {
	budget := "- create:\n    objects:\n    - {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {maxUnavailable: 0, selector: {matchLabels: {app: web}}}}\n"
	for name, c := range map[string]struct {
		field, disruption, steps string
		nodes                    int
		protected                bool
	}{
		"nothing":                   {"", "disruption: {consolidateAfter: 1m}", "", 1, false},
		"a PodDisruptionBudget":     {"", "disruption: {consolidateAfter: 1m}", budget, 2, false},
		"a pod's annotation":        {"", "disruption: {consolidateAfter: 1m}", "", 2, true},
		"the NodePool's budget":     {"", "disruption: {consolidateAfter: 1m, budgets: [{nodes: '0'}]}", "", 2, false},
		"the policy":                {"", "disruption: {consolidateAfter: 1m, consolidationPolicy: WhenEmpty}", "", 2, false},
		"consolidateAfter":          {"", "disruption: {consolidateAfter: Never}", "", 2, false},
		"a longer consolidateAfter": {"", "disruption: {consolidateAfter: 2h}", "", 2, false},
		"the scenario":              {"\n  consolidation: false", "disruption: {consolidateAfter: 1m}", "", 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			web := workload("web", 2, "1500m", "")
			if c.protected {
				web = strings.Replace(web, "{labels: {app: web}}", "{labels: {app: web}, annotations: {karpenter.sh/do-not-disrupt: 'true'}}", 1)
			}
			alone(t, "autoscale:"+c.field+"\n  nodePools:"+pool("general", c.disruption, small)+`
steps:`+web+workload("big", 2, "2", "")+`
- wait: settled
`+c.steps+`
- delete: {kind: Deployment, name: big}
- advance: 1h
- expect:
  - that: nodes.size() == `+fmt.Sprint(c.nodes)+` && pods.all(p, p.node != "")
`)
		})
	}
}

// TestABudgetHoldsADrainUp: a drain that has begun waits for a PodDisruptionBudget, and says so.
func TestABudgetHoldsADrainUp(t *testing.T) {
	r := alone(t, "autoscale:\n  nodePools:"+pool("general", "", "")+`
steps:`+workload("web", 1, "3", "")+`
- create:
    objects:
    - {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {maxUnavailable: 0, selector: {matchLabels: {app: web}}}}
- wait: settled
- delete: {kind: NodePool, name: general}
- advance: 10m
- expect:
  - that: nodes.size() == 1 && !nodes[0].labels.exists(l, l == "nothing") && pods[0].node == "general-1"
- delete: {kind: PodDisruptionBudget, name: web}
- advance: 1m
- expect:
  - that: nodes.size() == 0 && pods.size() == 1 && pods[0].node == "" && run.evicted == 1
`)
	if !strings.Contains(story(r), "blocked general-1 (PodDisruptionBudget default/web does not allow the eviction of web-") {
		t.Error(story(r))
	}
}

// TestLimits: limits that prevent everything are no error. The run says so.
func TestLimits(t *testing.T) {
	r := alone(t, "autoscale:\n  nodePools:"+pool("general", "limits: {cpu: '1'}", "")+`
steps:`+workload("web", 2, "3", "")+`
- wait: settled
- expect:
  - that: nodes.size() == 0 && run.unhelped == 2
- patch: {apiVersion: karpenter.sh/v1, kind: NodePool, name: general, patch: [{op: replace, path: /spec/limits/cpu, value: "100"}]}
- wait: settled
- expect:
  - that: run.unhelped == 0 && pods.all(p, p.node != "")
`)
	if !strings.Contains(story(r), "refused  [default/web-") || !strings.Contains(story(r), "NodePool general: ") || !strings.Contains(story(r), "limit") {
		t.Error(story(r))
	}
}

// TestStartupTaints: pods wait until somebody removes them.
func TestStartupTaints(t *testing.T) {
	text := strings.Replace("autoscale:\n  nodePools:"+pool("general", "", ""), "          requirements:", "          startupTaints: [{key: example.com/agent, effect: NoSchedule}]\n          requirements:", 1) + `
steps:` + workload("web", 1, "3", "") + `
- advance: 5m
- expect:
  - that: nodes.size() == 1 && pods[0].node == "" && nodes[0].labels["karpenter.sh/initialized"] == ""
- patch: {kind: Node, name: general-1, patch: [{op: replace, path: /spec/taints, value: []}]}
- wait: settled
- expect:
  - that: pods[0].node == "general-1" && nodes[0].labels["karpenter.sh/initialized"] == "true" && run.bought == 1
`
	alone(t, text)
}

// TestDriftAndExpiry: a node that no longer matches its NodePool, and one that is too old, is replaced.
func TestDriftAndExpiry(t *testing.T) {
	r := alone(t, "autoscale:\n  nodePools:"+pool("general", "disruption: {consolidateAfter: Never}", "")+`
steps:`+workload("web", 1, "3", "")+`
- wait: settled
- patch: {apiVersion: karpenter.sh/v1, kind: NodePool, name: general, patch: [{op: add, path: /spec/template/metadata, value: {labels: {team: a}}}]}
- advance: 5m
- expect:
  - that: nodes.size() == 1 && nodes[0].labels.team == "a" && pods[0].node == "general-2"
`)
	if !strings.Contains(story(r), "removing general-1 (drifted)") {
		t.Error(story(r))
	}
	r = alone(t, "autoscale:\n  nodePools:"+strings.Replace(pool("general", "disruption: {consolidateAfter: Never}", ""), "          requirements:", "          expireAfter: 1h\n          requirements:", 1)+`
steps:`+workload("web", 1, "3", "")+`
- advance: 90m
- expect:
  - that: nodes.size() == 1 && pods[0].node == "general-2"
`)
	if !strings.Contains(story(r), "3601 removing general-1 (expired)") {
		t.Error(story(r))
	}
}

// TestAdoption: nodes of a NodePool that are there already are the autoscaler's, and others count as room.
func TestAdoption(t *testing.T) {
	alone(t, "autoscale:\n  nodePools:"+pool("general", "disruption: {consolidateAfter: 1m}", "")+`
cluster:
- apiVersion: v1
  kind: Node
  metadata:
    name: old
    labels: {karpenter.sh/nodepool: general, karpenter.sh/registered: "true", karpenter.sh/initialized: "true", karpenter.sh/capacity-type: on-demand, node.kubernetes.io/instance-type: c-4x-amd64-linux, kubernetes.io/arch: amd64, kubernetes.io/os: linux, topology.kubernetes.io/zone: zone-a}
  status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
- {apiVersion: v1, kind: Node, metadata: {name: own}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
steps:
- advance: 5m
- expect:
  - that: nodes.map(n, n.name) == ["own"] && run.bought == 0 && run.removed == 1
`)
}

// TestRepeats: the same seed comes to the same run, byte for byte.
func TestRepeats(t *testing.T) {
	text := "autoscale:\n  nodePools:" + pool("general", "disruption: {consolidateAfter: 1m}", "") + pool("arm", "weight: 5", "") + `
steps:
- arrive:
    rate: 30/h
    for: 30m
    lifetime: 20m
    template: {apiVersion: v1, kind: Pod, metadata: {name: job}, spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}], containers: [{name: c, image: registry.example.com/c:1, resources: {requests: {cpu: "1", memory: 1Gi}}}]}}
- advance: 1h
`
	run := func() string {
		s := loaded(t, text, nil)
		r := scenario.Run(t.Context(), s, s.Matrix.Combinations()[0], scenario.RunOptions{Engine: Engine(nil), KeepPods: true})
		r.DurationSeconds = 0
		for i := range r.Steps {
			r.Steps[i].DurationSeconds = 0
		}
		out, err := json.Marshal(r)
		if err != nil || r.Error != "" || r.Autoscaling.Bought == 0 {
			t.Fatal(err, r.Error)
		}
		return string(out)
	}
	if diff := cmp.Diff(run(), run()); diff != "" {
		t.Error(diff)
	}
}

// TestSweepOfPools: a sweep over a NodePool's policy and instance types finds the cheapest, by the cost of the run.
func TestSweepOfPools(t *testing.T) {
	files := map[string]string{
		"scenario.yaml": head + "autoscale:\n  nodePools:" + pool("general", "disruption: {consolidateAfter: 1m}", "") + `
steps:` + workload("web", 5, "3", "") + `
- wait: settled
- patch: {kind: Deployment, name: web, patch: {spec: {replicas: 2}}}
- advance: 2h
`,
		"dear.yaml": `
- name: only
  architecture: amd64
  operatingSystems: [linux]
  resources: {cpu: 16, memory: 32Gi}
  offerings:
  - Price: 10
    Requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [zone-a]}, {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
`,
	}
	sweep, err := scenario.LoadSweep(t.Context(), []byte(`apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Sweep
metadata: {name: policies}
scenario: scenario.yaml
parameters:
- {name: policy, autoscale: "nodePools[0].spec.disruption.consolidationPolicy", values: [WhenEmpty, WhenEmptyOrUnderutilized]}
- {name: types, autoscale: instanceTypes, values: [null, dear.yaml]}
metrics:
- {name: cost, value: run.cost}
- {name: unused, value: run.unusedCost}
best: [{least: cost}]
`), scenario.Options{File: "sweep.yaml", Parse: config.Parse, Read: reading(files)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var results []*scenario.Result
	for i := range sweep.Len() {
		point, err := sweep.Point(i)
		if err != nil {
			t.Fatal(err)
		}
		job := sweep.Job(point, 1, Engine(nil))
		results = append(results, scenario.Run(t.Context(), job.Scenario, job.Combination, job.Options))
	}
	var cost []float64
	for _, r := range results {
		if r.Error != "" {
			t.Fatal(r.Error)
		}
		cost = append(cost, r.Values["cost"])
		if r.Values["cost"] != *r.Metrics.Cost || r.Values["unused"] >= r.Values["cost"] {
			t.Errorf("%v, and the metrics are %v", r.Values, *r.Metrics.Cost)
		}
	}
	if !(cost[2] < cost[0] && cost[0] < cost[1]) || math.Abs(cost[1]-cost[3]) > 1e-9 {
		t.Errorf("the costs are %v", cost)
	}
	if best := sweep.Result(results).Points[0]; best.Point != 2 || fmt.Sprint(best.Values) != "[WhenEmptyOrUnderutilized <nil>]" {
		t.Errorf("the best is %+v", best)
	}
}

// TestADay: a day in which 200 pods arrive takes seconds. In short mode it is six hours.
func TestADay(t *testing.T) {
	hours := 24
	if testing.Short() {
		hours = 6
	}
	text := "autoscale:\n  nodePools:" + pool("general", "disruption: {consolidateAfter: 1m}", "") + `
steps:
- arrive:
    rate: 8.4/h
    for: ` + fmt.Sprint(hours) + `h
    lifetime: 30m
    template: {apiVersion: v1, kind: Pod, metadata: {name: job}, spec: {containers: [{name: c, image: registry.example.com/c:1, resources: {requests: {cpu: "1", memory: 1Gi}}}]}}
- advance: ` + fmt.Sprint(hours) + `h
- expect:
  - that: run.bought > ` + fmt.Sprint(hours-1) + ` && run.removed > ` + fmt.Sprint(hours-1) + ` && nodes.size() < 10
`
	var r *scenario.Result
	_, took := bombs.Measure(func() { r = alone(t, text) })
	t.Logf("%d nodes bought, $%.2f, in %s of processor time", r.Autoscaling.Bought, *r.Metrics.Cost, took)
	if limit := bombs.Slowdown * 20 * time.Second; took > limit {
		t.Errorf("it took %s of processor time, more than %s", took, limit)
	}
}

// TestManyPods: 1,000 pods get 300 nodes, half of the pods go, and no decision takes more than 3 s.
func TestManyPods(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute on a busy machine")
	}
	text := "autoscale:\n  nodePools:" + pool("general", "disruption: {consolidateAfter: 1m}", small) + `
steps:` + workload("a", 500, "1", "") + workload("b", 500, "1250m", "") + `
- wait: settled
- expect:
  - that: pods.all(p, p.node != "") && nodes.size() >= 300
- patch: {kind: Deployment, name: a, patch: {spec: {replicas: 250}}}
- advance: 3m
- expect:
  - that: run.removed > 0 && pods.all(p, p.node != "" || p.message != "")
`
	began := time.Now()
	r := alone(t, text)
	for _, s := range r.Steps {
		t.Logf("%s: %.1f s for %.0f s of the cluster", s.Verb, s.DurationSeconds, s.AtSeconds)
	}
	t.Logf("%d nodes bought, %d removed, $%.2f, in %s", r.Autoscaling.Bought, r.Autoscaling.Removed, *r.Metrics.Cost, time.Since(began))
}

// TestNight: the example passes, and of its sweep the policy that also moves pods is cheapest.
func TestNight(t *testing.T) {
	read := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join("../../examples/scenarios", name)) }
	text, err := read("policies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sweep, err := scenario.LoadSweep(t.Context(), text, scenario.Options{File: "policies.yaml", Parse: config.Parse, Read: read}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var results []*scenario.Result
	for i := range sweep.Len() {
		point, err := sweep.Point(i)
		if err != nil {
			t.Fatal(err)
		}
		job := sweep.Job(point, 1, Engine(nil))
		r := scenario.Run(t.Context(), job.Scenario, job.Combination, job.Options)
		t.Logf("%v: %s %s %v", point.Values, r.Outcome, r.Error, r.Values)
		if i == sweep.Unchanged && r.Outcome != scenario.Passed {
			t.Errorf("%+v\n%s", r.Steps, story(r))
		}
		results = append(results, r)
	}
	if sweep.Unchanged != 5 {
		t.Errorf("the unchanged point is %d", sweep.Unchanged)
	}
	if best := sweep.Result(results).Points[0]; best.Values[0] != "WhenEmptyOrUnderutilized" || best.Metrics["evicted"] == 0 {
		t.Errorf("the best is %+v", best)
	}
}
