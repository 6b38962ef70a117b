package app

import (
	"errors"
	"strings"
	"testing"
	"time"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/oncluster"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// everyVerb uses each verb, with times that a test can wait for.
const everyVerb = `
apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: every-verb}
steps:
- create:
    count: 3
    template: {apiVersion: v1, kind: Node, metadata: {name: 'node-${i}'}, status: {allocatable: {cpu: "4", memory: 16Gi, pods: "110"}}}
- expect:
  - that: nodes.size() == 3 && nodes.all(n, n.ready)
- apply:
    replicas: 5
    objects:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 1}]
            containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]
- expect:
  - that: pods.size() == 5 && pods.all(p, p.node != "")
    say: what needs no time has happened
  - that: decisions.size() == 5 && last(pods[0].name).node == pods[0].node
- patch: {kind: Deployment, name: web, patch: {spec: {replicas: 6}}}
- wait: settled
- expect:
  - that: pods.size() == 6 && pods.all(p, p.phase == "Running")
- configure: {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{schedulerName: other}]}
- create: {template: {apiVersion: v1, kind: Pod, metadata: {name: ignored}, spec: {containers: [{name: c, image: i}]}}}
- expect:
  - that: pods.filter(p, p.name == "ignored" && p.attempts == 0).size() == 1
- configure: default
- expect:
  - that: pods.all(p, p.node != "")
- delete: {kind: Pod, name: ignored}
- arrive:
    rate: 4/s
    count: 4
    lifetime: 500ms
    template: {apiVersion: v1, kind: Pod, metadata: {name: 'late-${i}', labels: {app: late}}, spec: {containers: [{name: c, image: i}]}}
- advance: 1s
- wait: settled
- expect:
  - that: decisions.filter(d, d.pod.startsWith("late-") && d.outcome == "scheduled").size() == 4
  - that: pods.all(p, p.labels.app == "web")
- fail: {node: node-1}
- expect:
  - that: nodes.filter(n, !n.ready).size() == 1
- wait: {for: 'pods.size() == 6 && pods.all(p, p.node != "" && p.node != "node-1")', timeout: 1m}
- recover: {node: node-1}
- expect:
  - that: nodes.all(n, n.ready)
- delete: {kind: Deployment, name: web}
- wait: settled
- expect:
  - that: pods.size() == 0
`

// TestFullEngine plays every verb on a real control plane. In memory the same scenario passes, too.
func TestFullEngine(t *testing.T) {
	s, err := scenario.Load(t.Context(), []byte(everyVerb), scenario.Options{File: "test.yaml", Parse: config.Parse})
	if err != nil {
		t.Fatal(err)
	}
	engines := map[string]scenario.Engine{"memory": inmemory.Engine(nil), "full": FullEngine(DefaultOptions(), 2*time.Minute)}
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			if name == "full" {
				clustertest.Slow(t) // half a minute, mostly of waiting
			}
			r := scenario.Run(t.Context(), s, s.Matrix.Combinations()[0], scenario.RunOptions{Engine: engine, Gap: true})
			if r.Outcome != scenario.Passed {
				t.Errorf("%s %s", r.Outcome, r.Error)
			}
			for _, step := range r.Steps {
				t.Logf("%6.2f s, line %d: %s %s: %s %s", step.DurationSeconds, step.Line, step.Verb, step.What, step.Said, step.Error)
				for _, e := range step.Expectations {
					if !e.Passed {
						t.Errorf("line %d: %+v", step.Line, e)
					}
				}
			}
		})
	}
}

// TestFullEngineRefusesAutoscale: where time is real, the field is refused by name, before a control plane starts.
func TestFullEngineRefusesAutoscale(t *testing.T) {
	_, err := FullEngine(DefaultOptions(), time.Minute)(t.Context(), scenario.ClusterOptions{Autoscale: &scenario.Autoscale{}})
	if err == nil || !strings.HasPrefix(err.Error(), "the field autoscale works in memory only: ") {
		t.Errorf("%v", err)
	}
}

func TestFullEngineRefusesAVersion(t *testing.T) {
	_, err := FullEngine(DefaultOptions(), time.Minute)(t.Context(), scenario.ClusterOptions{KubernetesVersion: "1.35"})
	if err == nil || !strings.HasPrefix(err.Error(), "the field kubernetesVersion works in memory only: ") {
		t.Errorf("%v", err)
	}
}

// TestFullEngineHasALimit: a scenario that needs more real time than a run may take is refused before it waits.
func TestFullEngineHasALimit(t *testing.T) {
	text := everyVerb[:strings.Index(everyVerb, "- expect")] + "- advance: 30s\n- advance: 1h\n"
	s, err := scenario.Load(t.Context(), []byte(text), scenario.Options{File: "test.yaml", Parse: config.Parse})
	if err != nil {
		t.Fatal(err)
	}
	const want = "test.yaml:10: advance: up to here the scenario lets 1h0m30s pass, and on the full engine time is real"
	if err := s.FitsInto(time.Hour); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v", err)
	}
	if err := s.FitsInto(2 * time.Hour); err != nil {
		t.Error(err)
	}
	e := oncluster.NewExclusive(nil, oncluster.ExclusiveOptions{Limit: time.Minute})
	if _, ok := errors.AsType[*oncluster.LimitError](e.Advance(t.Context(), time.Hour)); !ok {
		t.Error("an hour is not refused")
	}
}
