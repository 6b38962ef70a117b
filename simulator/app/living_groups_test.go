package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestPodGroupsInALivingCluster needs feature gates, which apply to a whole process. So the simulator
// runs as a program.
func TestPodGroupsInALivingCluster(t *testing.T) {
	clustertest.Slow(t)
	s, cmd := startProgram(t, t.TempDir(), "GenericWorkload=true,TopologyAwareWorkloadScheduling=true")
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // the test kills it
	})
	t.Run("a gang waits for room for all", func(t *testing.T) { gangScheduling(t, newKubectl(t, s)) })
	t.Run("a group goes to one rack", func(t *testing.T) { topologyAware(t, newKubectl(t, s)) })
	t.Run("a gang preempts", func(t *testing.T) { groupPreemption(t, newKubectl(t, s)) })
	t.Run("a gang waits for its members", func(t *testing.T) { heldGang(t, newKubectl(t, s)) })
}

// members are pods of a group that request one core each.
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

// groupPreemption makes room for a whole gang: preemption removes as many pods as the members need,
// and the members' results name exactly those victims.
func groupPreemption(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1") // for four pods of a core
	k.apply(t, `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: low}
spec:
  replicas: 4
  selector: {matchLabels: {app: low}}
  template:
    metadata: {labels: {app: low}}
    spec:
      nodeSelector: {pool: %s}
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: example.com/main, resources: {requests: {cpu: "1"}}}]
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: "%s-urgent"}
value: 100
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: urgent}
spec:
  priorityClassName: "%s-urgent"
  schedulingPolicy: {gang: {minCount: 3}}
`)
	k.prints(t, "4", "{.status.availableReplicas}", "replicaset", "low")
	k.apply(t, strings.ReplaceAll(members("urgent", 3), "schedulingGroup:", "priorityClassName: \"%s-urgent\"\n  schedulingGroup:"))
	first := &result.Cycle{}
	k.simulator.get(t, fmt.Sprintf("/api/v1/results/%s/1", k.cycle(t, "urgent-0", result.Unschedulable).Pod.UID), first)
	found := first.PodGroup.Preemption
	if found == nil || !found.Helpful || found.VictimCount != 3 || len(found.Reprieved) != 1 {
		t.Fatalf("preemption for the group: %+v", found)
	}
	for _, v := range found.Victims {
		if !strings.HasPrefix(v.Pod.Name, "low-") || v.Node != k.namespace+"-a-1" || v.Priority != 0 {
			t.Errorf("a victim is %+v", v)
		}
	}
	k.prints(t, "Running Running Running", "{.items[*].status.phase}", "pods", "--field-selector=spec.nodeName!=", "-l", "app!=low")
	k.prints(t, found.Reprieved[0].Pod.Name, "{.items[*].metadata.name}", "pods", "--field-selector=spec.nodeName!=", "-l", "app=low")
}

// heldGang creates a gang with too few members. Kubernetes does not report that
// anywhere, but the results do.
func heldGang(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1")
	both := members("pair", 2)
	one, other, _ := strings.Cut(strings.TrimPrefix(both, "---"), "---")
	k.apply(t, `
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: pair}
spec: {schedulingPolicy: {gang: {minCount: 2}}}
---`+one)
	pod, err := k.simulator.client.CoreV1().Pods(k.namespace).Get(t.Context(), "pair-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	type attempts struct {
		Items []result.Summary
		Held  []result.PluginResult
	}
	var got attempts
	clustertest.Eventually(t, "the results say what holds the pod", func(context.Context) (bool, error) {
		resp, err := http.Get(k.simulator.url + "/api/v1/results/" + string(pod.UID))
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK, json.NewDecoder(resp.Body).Decode(&got)
	})
	for i := range got.Held {
		got.Held[i].DurationSeconds = 0
	}
	want := attempts{[]result.Summary{}, []result.PluginResult{{
		Plugin: "GangScheduling", Status: "UnschedulableAndUnresolvable", Reasons: []string{"waiting for minCount pods from a gang to appear in scheduling queue"},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	k.apply(t, other)
	k.prints(t, "Running Running", "{.items[*].status.phase}", "pods")
	got = attempts{}
	if k.simulator.get(t, "/api/v1/results/"+string(pod.UID), &got); got.Held != nil || len(got.Items) == 0 {
		t.Errorf("it runs, but the results have %+v", got)
	}
}
