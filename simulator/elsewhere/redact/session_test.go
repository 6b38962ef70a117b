package redact

import (
	"strings"
	"testing"
)

// TestAJobOfASessionScheduler: in every API family, a PodGroup keeps its numbers, and its queue, its pods and their roles keep
// matching it.
func TestAJobOfASessionScheduler(t *testing.T) {
	for _, version := range []string{"scheduling.incubator.k8s.io/v1alpha1", "scheduling.sigs.dev/v1alpha2", "scheduling.volcano.sh/v1beta1"} {
		got := redacted(t, strings.ReplaceAll(`
apiVersion: VERSION
kind: Queue
metadata: {name: acme-research}
spec: {weight: 3, reclaimable: false, capability: {cpu: "40"}, owner: jane}
status: {state: Open}
---
apiVersion: VERSION
kind: PodGroup
metadata: {namespace: acme, name: acme-train}
spec: {minMember: 3, queue: acme-research, priorityClassName: acme-high, minTaskMember: {acme-ps: 1, acme-worker: 2}, minResources: {cpu: "4"}, owner: jane}
status: {phase: Inqueue, running: 2, conditions: [{type: Unschedulable, message: acme}]}
---
apiVersion: v1
kind: Pod
metadata:
  namespace: acme
  name: acme-train-0
  annotations: {scheduling.k8s.io/group-name: acme-train, volcano.sh/task-spec: acme-ps, scheduling.volcano.sh/queue-name: acme-research}
spec: {schedulerName: volcano}
`, "VERSION", version))
		r := New(salt)
		queue, group := r.word("queue", "acme-research"), r.word("app", "acme-train")
		for _, want := range []string{
			"apiVersion: " + version, "kind: Queue", "name: " + queue + "\n", "weight: 3", "reclaimable: false", "state: Open", "minMember: 3",
			"queue: " + queue + "\n", roleOf(r, "acme-ps") + ": 1\n", roleOf(r, "acme-worker") + ": 2\n", "phase: Inqueue",
			"scheduling.k8s.io/group-name: " + group + "\n", "volcano.sh/task-spec: " + roleOf(r, "acme-ps") + "\n",
			"scheduling.volcano.sh/queue-name: " + queue + "\n", "schedulerName: volcano",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in\n%s", version, want, got)
			}
		}
		for _, secret := range []string{"acme", "jane"} {
			if strings.Contains(got, secret) {
				t.Errorf("%s: %q is in\n%s", version, secret, got)
			}
		}
	}
}
