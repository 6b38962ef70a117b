package redact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAQuotaAndATopology: their amounts stay, and what the scheduler's plugins read of them.
func TestAQuotaAndATopology(t *testing.T) {
	got := redacted(t, `
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: ElasticQuota
metadata: {namespace: acme, name: acme-share}
spec: {min: {cpu: "4", acme.example/fpga: 1}, max: {cpu: "6"}, owner: jane}
status: {used: {cpu: 500m}}
---
apiVersion: topology.node.k8s.io/v1alpha2
kind: NodeResourceTopology
metadata: {name: db-7.acme.example}
topologyPolicies: [SingleNUMANodePodLevel, acme]
attributes:
- {name: topologyManagerPolicy, value: single-numa-node}
- {name: topologyManagerMaxNUMANodes, value: "8"}
- {name: nodeTopologyPodsFingerprint, value: pfp0v001ef46db3751d8e999}
- {name: acme, value: secret}
zones:
- name: node-0
  type: Node
  parent: acme-socket
  costs: [{name: node-0, value: 10}, {name: acme-1, value: 21}]
  attributes: [{name: acme, value: secret}]
  resources: [{name: cpu, capacity: "8", allocatable: "7", available: 500m}]
`)
	r := New(salt)
	want := fmt.Sprintf(`
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: ElasticQuota
metadata:
  name: %s
  namespace: %s
spec:
  max:
    cpu: "6"
  min:
    cpu: "4"
    %s: 1
status:
  used:
    cpu: 500m
---
apiVersion: topology.node.k8s.io/v1alpha2
attributes:
- name: topologyManagerPolicy
  value: single-numa-node
- name: topologyManagerMaxNUMANodes
  value: "8"
kind: NodeResourceTopology
metadata:
  name: %s
topologyPolicies:
- SingleNUMANodePodLevel
zones:
- costs:
  - name: node-0
    value: 10
  - name: %s
    value: 21
  name: node-0
  parent: %s
  resources:
  - allocatable: "7"
    available: 500m
    capacity: "8"
    name: cpu
  type: Node
`, r.word("quota", "acme-share"), r.namespaceName("acme"), resourceName(r, "acme.example/fpga"),
		r.word("node", "db-7.acme.example"), r.word("zone", "acme-1"), r.word("zone", "acme-socket"))
	if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); diff != "" {
		t.Errorf("what is shown (-want +got):\n%s", diff)
	}
}

// TestAPodGroup: the group of the plugin Coscheduling keeps its numbers, and its pods keep matching it.
func TestAPodGroup(t *testing.T) {
	got := redacted(t, `
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {namespace: acme, name: acme-train, labels: {owner: jane}}
spec: {minMember: 3, scheduleTimeoutSeconds: 10, minResources: {cpu: "4", acme.example/fpga: 1}, owner: jane}
status: {phase: Scheduling, running: 2, occupiedBy: acme/acme-job, scheduleStartTime: "2026-03-01T12:00:00Z"}
---
apiVersion: v1
kind: Pod
metadata: {namespace: acme, name: acme-train-0, labels: {scheduling.x-k8s.io/pod-group: acme-train}}
spec: {}
`)
	r := New(salt)
	name := r.word("app", "acme-train")
	for _, want := range []string{
		"kind: PodGroup", "name: " + name + "\n", "minMember: 3", "scheduleTimeoutSeconds: 10", resourceName(r, "acme.example/fpga") + ": 1",
		"phase: Scheduling", "running: 2", "scheduling.x-k8s.io/pod-group: " + name + "\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	for _, secret := range []string{"acme", "jane"} {
		if strings.Contains(got, secret) {
			t.Errorf("%q is in\n%s", secret, got)
		}
	}
}
