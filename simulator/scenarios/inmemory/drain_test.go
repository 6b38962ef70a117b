package inmemory

import (
	"fmt"
	"strings"
	"testing"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// webAndBudget are two pods of a Deployment and a budget that lets one of them go at a time. A pod uses half a node.
const webAndBudget = `- create:
    objects:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 2
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: c, image: registry.example.com/c:1, resources: {requests: {cpu: "2"}}}]}
    - apiVersion: policy/v1
      kind: PodDisruptionBudget
      metadata: {name: web}
      spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
- wait: settled
`

// TestDrain: pods go one after the other, and only where they may be.
func TestDrain(t *testing.T) {
	r := play(t, "", webAndBudget+`
- drain: {node: node-1}
- wait: settled
- expect:
  - that: pods.size() == 2 && pods.all(p, p.node == "node-2") && !nodes.filter(n, n.name == "node-1")[0].schedulable
- create:
    template: {apiVersion: v1, kind: Node, metadata: {name: node-3}, status: {allocatable: {cpu: "4", memory: 16Gi, pods: "110"}}}
- drain: {nodes: 'nodes.filter(n, n.pods > 0)'}
- wait: settled
- expect:
  - that: pods.all(p, p.node == "node-3")
`)
	for _, step := range r.Steps {
		if step.Verb == "drain" && !strings.Contains(step.Said, "evicted from") {
			t.Errorf("%+v", step)
		}
	}
}

// TestDrainThatFails: what kubectl refuses, and what a budget never allows.
func TestDrainThatFails(t *testing.T) {
	bare := `- create:
    template:
      apiVersion: v1
      kind: Pod
      metadata: {name: bare}
      spec: {%s containers: [{name: c, image: registry.example.com/c:1}]}
- wait: settled
`
	for _, c := range []struct{ name, steps, want string }{
		{"a budget", webAndBudget + "- patch: {kind: PodDisruptionBudget, name: web, patch: {spec: {maxUnavailable: 0}}}\n- drain: {node: node-1, timeout: 30s}\n- drain: {node: node-2, timeout: 30s}\n", "was not drained within 30s: PodDisruptionBudget default/web does not allow the eviction of web-"},
		{"a pod of nobody", fmt.Sprintf(bare, "") + "- drain: {nodes: nodes}\n", "declare no controller (use --force to override): default/bare"},
		{"an emptyDir", fmt.Sprintf(bare, "volumes: [{name: v, emptyDir: {}}],") + "- drain: {nodes: nodes, force: true}\n", "(use --delete-emptydir-data to override): default/bare"},
	} {
		s, err := scenario.Load(t.Context(), []byte("apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1\nkind: Scenario\nmetadata: {name: test}\nsteps:\n- create:\n    count: 2\n    template: {apiVersion: v1, kind: Node, metadata: {name: 'node-${i+1}'}, status: {allocatable: {cpu: \"4\", memory: 16Gi, pods: \"110\"}}}\n"+c.steps), scenario.Options{File: "test.yaml", Parse: config.Parse})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		r := scenario.Run(t.Context(), s, s.Matrix.Combinations()[0], scenario.RunOptions{Engine: Engine(nil)})
		said := r.Error
		for _, step := range r.Steps {
			said += fmt.Sprintf("\n%+v", step)
		}
		if !strings.Contains(said, c.want) {
			t.Errorf("%s: %s, want %q", c.name, said, c.want)
		}
	}
}

// TestPrices: what the nodes cost is told if their labels say it.
func TestPrices(t *testing.T) {
	price := `- patch: {kind: Node, name: node-1, patch: {metadata: {labels: {eks-node-viewer/instance-price: "0.5"}}}}
`
	r := play(t, "", webAndBudget+price+`- drain: {node: node-2}
- wait: settled
- expect:
  - that: nodes.map(n, n.price).sum() == 0.5
`)
	if m := r.Metrics; m.CostPerHour == nil || *m.CostPerHour != 0.5 || *m.UnusedPerHour != 0 || m.Unpriced != 1 {
		t.Errorf("%+v", m)
	}
	if m := play(t, "", webAndBudget).Metrics; m.CostPerHour != nil || m.UnusedPerHour != nil || m.Unpriced != 0 {
		t.Errorf("without a price: %+v", m)
	}
}
