package inmemory

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/plugins"
	"kube-scheduler-simulator/scheduler/yamlsource/bombs"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// The annotation of a virtual node publishes its devices, and changes with it.
func TestNodesPublishDevices(t *testing.T) {
	play(t, "", `
- create: {objects: [{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}}]}
- create: {objects: [{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: one-gpu, namespace: default}, spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}}]}
- patch: {kind: Node, name: node-2, patch: {metadata: {annotations: {kube-scheduler-simulator.sigs.k8s.io/devices: '[{driver: gpu.example.com, count: 2}]'}}}}
- expect:
  - that: objects("ResourceSlice").size() == 1 && objects("ResourceSlice")[0].spec.devices.size() == 2
- create:
    count: 3
    template:
      apiVersion: v1
      kind: Pod
      metadata: {name: 'p-${i}'}
      spec:
        resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]
        containers: [{name: main, image: main, resources: {claims: [{name: gpu}]}}]
- wait: settled
- expect:
  - that: objects("ResourceSlice").size() == 1 && objects("ResourceSlice")[0].spec.devices.size() == 2
  - that: pods.filter(p, p.node == "node-2").size() == 2 && pods.filter(p, p.node == "").size() == 1
- patch: {kind: Node, name: node-2, patch: {metadata: {annotations: {kube-scheduler-simulator.sigs.k8s.io/devices: '[{driver: gpu.example.com, count: 3}]'}}}}
- wait: settled
- expect:
  - that: objects("ResourceSlice")[0].spec.pool.generation == 2
  - that: pods.all(p, p.node == "node-2")
- delete: {kind: Node, name: node-2}
- expect:
  - that: objects("ResourceSlice").size() == 0
`)
}

// Custom resources that plugins read get their defaults, and are validated as by an API server.
func TestCustomResourcesAreAdmitted(t *testing.T) {
	const sorts = ", queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: '*'}]}"
	tests := []struct{ name, plugin, more, steps, want string }{
		{"a group", "Coscheduling", sorts, `
- create: {objects: [{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: g, namespace: default}, spec: {minMember: 2}}]}
- patch: {apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, name: g, patch: {spec: {minMember: 3}}}
- expect:
  - that: object("PodGroup.scheduling.x-k8s.io", "g").spec.minMember == 3
`, ""},
		{"a text for a number", "Coscheduling", sorts, `
- create: {objects: [{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: g, namespace: default}, spec: {minMember: two}}]}
`, "spec.minMember"},
		{"an unknown field", "Coscheduling", sorts, `
- create: {objects: [{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: g, namespace: default}, spec: {minMembers: 2}}]}
`, `unknown field "spec.minMembers"`},
		{"a quota that is no quantity", "CapacityScheduling", "", `
- create: {objects: [{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: ElasticQuota, metadata: {name: q, namespace: default}, spec: {min: {cpu: much}}}]}
`, "spec.min.cpu"},
		{"a topology without its zones", "NodeResourceTopologyMatch", "", `
- create: {objects: [{apiVersion: topology.node.k8s.io/v1alpha2, kind: NodeResourceTopology, metadata: {name: node-1}}]}
`, "zones: Required value"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var registry frameworkruntime.Registry = plugins.Registry()
			text := `apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: test}
matrix:
  configuration:
  - {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{plugins: {multiPoint: {enabled: [{name: ` + test.plugin + `}]}` + test.more + `}}]}
steps:` + test.steps
			var names []string
			for name := range registry {
				names = append(names, name)
			}
			s, err := scenario.Load(t.Context(), []byte(text), scenario.Options{File: "test.yaml", Parse: func(document []byte) (*config.Configuration, error) {
				return config.ParseWith(document, config.Options{OutOfTree: names})
			}})
			if err != nil {
				t.Fatal(err)
			}
			r := scenario.Run(t.Context(), s, s.Matrix.Combinations()[0], scenario.RunOptions{Engine: Engine(registry)})
			if test.want == "" && r.Outcome != scenario.Passed || !strings.Contains(r.Error, test.want) {
				t.Errorf("%s %s, want %q", r.Outcome, r.Error, test.want)
			}
		})
	}
}

// A run that records no decisions at first gives the same result as one that records all: the same values, and the decisions that explain failed
// expectations, whole.
func TestFailuresAreExplainedAfterwards(t *testing.T) {
	const text = `apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: test}
steps:
- create:
    count: 20
    template: {apiVersion: v1, kind: Node, metadata: {name: 'node-${i+1}'}, status: {allocatable: {cpu: "4", memory: 16Gi, pods: "110"}}}
- create:
    count: 30
    template:
      apiVersion: v1
      kind: Pod
      metadata: {name: 'p-${i}'}
      spec: {containers: [{name: main, image: main, resources: {requests: {cpu: '${1 + i % 4}', memory: 1Gi}}}]}
- wait: settled
- expect:
  - that: pods.all(p, p.node != "")
  - that: pods.filter(p, p.name == "p-3").all(p, p.node == "elsewhere")
  - that: last("p-4").feasible > 0 && last("p-29").outcome == "unschedulable"
READS`
	parse := func(reads string) *scenario.Scenario {
		s, err := scenario.Load(t.Context(), []byte(strings.Replace(text, "READS", reads, 1)), scenario.Options{File: "test.yaml", Parse: config.Parse})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	// opened holds the pods that each run records.
	var opened [][]types.UID
	engine := func(ctx context.Context, o scenario.ClusterOptions) (scenario.Cluster, error) {
		opened = append(opened, sets.List(o.Pods))
		if o.Pods == nil {
			opened[len(opened)-1] = []types.UID{"all"}
		}
		return Engine(nil)(ctx, o)
	}
	run := func(s *scenario.Scenario, o scenario.RunOptions) *scenario.Result {
		opened = nil
		o.Engine, o.KeepPods, o.KeepDecisions = engine, true, true
		r := scenario.Run(t.Context(), s, s.Matrix.Combinations()[0], o)
		r.DurationSeconds = 0
		for i := range r.Steps {
			r.Steps[i].DurationSeconds = 0
		}
		return r
	}
	s := parse("")
	want := run(s, scenario.RunOptions{Kept: func(c scenario.Cluster) { _ = c.Close() }})
	if len(opened) != 1 || opened[0][0] != "all" {
		t.Errorf("a run whose cluster is kept records %v", opened)
	}
	steps := 0
	got := run(s, scenario.RunOptions{Observe: func(scenario.StepResult) { steps++ }})
	if diff := cmp.Diff(jsonOf(t, want), jsonOf(t, got)); diff != "" {
		t.Errorf("the result differs (+) from that of a run that records all (-):\n%s", diff)
	}
	if len(opened) != 2 || len(opened[0]) != 0 || len(opened[1]) != 2 || steps != len(s.Steps) {
		t.Errorf("the runs record %v, want nothing and then two pods; %d steps were observed", opened, steps)
	}
	explained := 0
	for _, e := range got.Steps[3].Expectations {
		if d := e.Decision; d != nil && d.Cycle != nil && d.Cycle.Filter != nil && len(d.Rejections)+len(d.Sentence) > 0 {
			explained++
		}
	}
	if got.Outcome != scenario.Failed || explained != 2 {
		t.Errorf("the run %s, and %d decisions explain it, want 2", got.Outcome, explained)
	}

	reads := parse("  - that: last(\"p-4\").rejected.size() + last(\"p-4\").totals.size() > 10\n")
	if run(reads, scenario.RunOptions{}); len(opened) != 1 || opened[0][0] != "all" {
		t.Errorf("a run whose expectation reads whole decisions records %v", opened)
	}
	if got := run(reads, scenario.RunOptions{}); !got.Steps[3].Expectations[3].Passed {
		t.Errorf("%+v", got.Steps[3].Expectations[3])
	}
	if run(s, scenario.RunOptions{Bare: true}); len(opened) != 1 || len(opened[0]) != 0 {
		t.Errorf("a bare run records %v", opened)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestRunsEndWithTheirContext: a run ends in the middle, whatever it does: making the cluster, creating, waiting, judging, measuring.
func TestRunsEndWithTheirContext(t *testing.T) {
	const text = `apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: test}
steps:
- create: {count: 3, objects: [{apiVersion: v1, kind: Node, metadata: {name: node}, status: {allocatable: {cpu: "4", memory: 16Gi, pods: "110"}}}]}
- create: {count: 10, objects: [{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: main, image: main, resources: {requests: {cpu: "1"}}}]}}]}
- wait: settled
- arrive: {rate: 1/s, count: 5, objects: [{apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {containers: [{name: main, image: main, resources: {requests: {cpu: "1"}}}]}}]}
- wait: settled
- expect:
  - that: pods.all(p, p.node != "")
`
	s, err := scenario.Load(t.Context(), []byte(text), scenario.Options{File: "test.yaml", Parse: config.Parse})
	if err != nil {
		t.Fatal(err)
	}
	bombs.EndsInTheMiddle(t, 100, func(ctx context.Context) error {
		r := scenario.Run(ctx, s, s.Matrix.Combinations()[0], scenario.RunOptions{Engine: Engine(nil), Gap: true, KeepPods: true, KeepDecisions: true})
		switch {
		case r.Outcome == scenario.Canceled:
			return context.Canceled
		case r.Outcome != scenario.Failed || r.Metrics.Gap == nil:
			t.Errorf("it %s: %s", r.Outcome, r.Error)
		}
		return nil
	})
}
