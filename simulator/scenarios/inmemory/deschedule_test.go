package inmemory

import (
	"strings"
	"testing"
)

// TestDeschedule: the pods of a Deployment are on one node, because there was room on no other; the budget lets one go in each round.
func TestDeschedule(t *testing.T) {
	r := play(t, "", `- patch: {kind: Node, name: node-2, patch: {spec: {unschedulable: true}}}
`+strings.NewReplacer(`cpu: "2"`, `cpu: "1"`, "replicas: 2", "replicas: 4",
		"metadata: {labels: {app: web}}", "metadata: {labels: {app: web}, annotations: {kube-scheduler-simulator.sigs.k8s.io/startup-duration: 10s}}").Replace(webAndBudget)+`- advance: 15s
- patch: {kind: Node, name: node-2, patch: {spec: {unschedulable: false}}}
- deschedule:
    policy: &policy
      apiVersion: descheduler/v1alpha2
      kind: DeschedulerPolicy
      profiles:
      - name: p
        pluginConfig: [{name: RemoveDuplicates}]
        plugins: {balance: {enabled: [RemoveDuplicates]}}
- wait: settled
- expect:
  - that: pods.filter(p, p.node == "node-2").size() == 1
- advance: 1m
- deschedule: {policy: *policy, rounds: 2, interval: 1m}
- wait: settled
- expect:
  - that: pods.size() == 4 && pods.filter(p, p.node == "node-2").size() == 2
`)
	var said []string
	for _, step := range r.Steps {
		if step.Verb == "deschedule" {
			said = append(said, step.Said)
		}
	}
	if got := strings.Join(said, "; "); got != "1 Pod evicted, 1 eviction refused; 1 Pod evicted" {
		t.Error(got)
	}
}
