package app

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"kube-scheduler-simulator/scheduler/result"
)

// TestPodGroupsInALivingCluster has feature gates, which hold for a whole process:
// the simulator is one of its own.
func TestPodGroupsInALivingCluster(t *testing.T) {
	s, cmd := startProgram(t, t.TempDir(), programGates+"=GenericWorkload=true,TopologyAwareWorkloadScheduling=true")
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // it was killed
	})
	t.Run("a gang waits for room for all", func(t *testing.T) { gangScheduling(t, newKubectl(t, s)) })
	t.Run("a group goes to one rack", func(t *testing.T) { topologyAware(t, newKubectl(t, s)) })
}

// members are pods of a group, of a core each.
func members(group string, count int) string {
	var out strings.Builder
	for i := range count {
		_, _ = fmt.Fprintf(&out, `---
apiVersion: v1
kind: Pod
metadata: {name: %[1]s-%[2]d}
spec:
  schedulingGroup: {podGroupName: %[1]s}
  nodeSelector: {pool: %%s}
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: example.com/main, resources: {requests: {cpu: "1"}}}]
`, group, i)
	}
	return out.String()
}

func gangScheduling(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1") // for four pods of a core
	k.apply(t, `
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: training}
spec: {podGroupTemplates: [{name: workers, schedulingPolicy: {gang: {minCount: 5}}}]}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: worker}
spec:
  workloadRef: {workloadName: training, templateName: workers}
  schedulingPolicy: {gang: {minCount: 5}}
`+members("worker", 6))
	k.prints(t, "Unschedulable", `{.status.conditions[?(@.type=="PodGroupInitiallyScheduled")].reason}`, "podgroup", "worker")
	first := k.cycle(t, "worker-0", result.Unschedulable)
	g := first.PodGroup
	if g == nil || g.Outcome != result.Unschedulable || g.MinCount != 5 || g.Workload != "training" || g.Template != "workers" || len(g.Placements) != 1 {
		t.Fatalf("its group is %+v", g)
	}
	if p := g.Placements[0]; p.Assigned >= 5 || p.Plugin != "GangScheduling" || len(p.BlockedBy) == 0 || p.BlockedBy[0].Plugin != "NodeResourcesFit" {
		t.Errorf("the placement is %+v", p)
	}
	k.prints(t, "", "{.items[*].spec.nodeName}", "pods")

	k.nodes(t, "a-2")
	k.prints(t, "Running Running Running Running Running Running", "{.items[*].status.phase}", "pods")
	last := k.cycle(t, "worker-0", result.Scheduled).PodGroup
	if last == nil || last.Outcome != result.Scheduled || last.Chosen == nil || last.Has(&last.Placements[*last.Chosen]) < 5 {
		t.Errorf("its group is %+v", last)
	}
}

func topologyAware(t *testing.T, k *kubectl) {
	k.nodes(t, "small-1", "large-1", "large-2")
	k.apply(t, `
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: near}
spec:
  schedulingPolicy: {gang: {minCount: 5}}
  schedulingConstraints: {topology: [{key: topology.kubernetes.io/zone}]}
`+members("near", 6))
	k.prints(t, "Running Running Running Running Running Running", "{.items[*].status.phase}", "pods")
	for i := range 6 {
		c := k.cycle(t, fmt.Sprint("near-", i), result.Scheduled)
		g := c.PodGroup
		if g == nil || g.Chosen == nil || g.Placements[*g.Chosen].Name != "large" || !strings.HasPrefix(c.SelectedNode, k.namespace+"-large-") {
			t.Errorf("%s went to %s; its group is %+v", c.Pod.Name, c.SelectedNode, g)
		}
	}
}
