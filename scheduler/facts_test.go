package scheduler_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

const header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// factCluster returns a cluster in which pods are created one step after the other.
func factCluster(configuration string, objects []runtime.Object, pods ...*v1.Pod) *schedulertest.Cluster {
	c := &schedulertest.Cluster{Name: "facts", Configuration: header + configuration, Objects: objects, Grace: time.Minute}
	for _, pod := range pods {
		c.Operations = append(c.Operations, adding(pod))
	}
	return c
}

func adding(objects ...runtime.Object) schedulertest.Operation {
	return schedulertest.Operation{Name: "add", Do: func(ctx context.Context, s *schedulertest.Simulation) error {
		for _, o := range objects {
			if err := s.Create(ctx, o.DeepCopyObject()); err != nil {
				return err
			}
		}
		return nil
	}}
}

// attemptsOf runs a cluster and returns the recorded attempts of a pod.
func attemptsOf(t *testing.T, cluster *schedulertest.Cluster, pod string) []*result.Cycle {
	t.Helper()
	cycles := &sink{}
	run(t, cluster, schedulertest.Hooks{Start: start(t, cluster, cycles)})
	for _, attempts := range cycles.attempts {
		if attempts[0].Pod.Name == pod {
			return attempts
		}
	}
	t.Fatalf("%s has no attempts", pod)
	return nil
}

func cpuNode(name, cpu string) *v1.Node {
	return st.MakeNode().Name(name).Label(v1.LabelHostname, name).Capacity(map[v1.ResourceName]string{v1.ResourceCPU: cpu, v1.ResourcePods: "20"}).Obj()
}

func cpuPod(name, cpu string) *st.PodWrapper {
	return st.MakePod().Name(name).Namespace(schedulertest.Namespace).SchedulerName(v1.DefaultSchedulerName).Req(map[v1.ResourceName]string{v1.ResourceCPU: cpu})
}

func statuses(results []result.PluginResult) []string {
	var out []string
	for _, r := range results {
		out = append(out, r.Plugin+" "+r.Status)
	}
	return out
}

// The plain pod would fit beside the victim, which is terminating, but the scheduler
// counts the preemptor as running. No plugin's PreFilterExtensions has a part in it.
func TestAPlainPodIsRejectedForANominatedPod(t *testing.T) {
	cluster := factCluster("", []runtime.Object{cpuNode("n1", "4"), cpuPod("victim", "3").Node("n1").Obj()},
		cpuPod("preemptor", "3").Priority(100).Obj(), cpuPod("plain", "1").Obj())
	c := attemptsOf(t, cluster, "plain")[0]
	if c.Outcome != result.Unschedulable || c.Filter == nil {
		t.Fatalf("the attempt is %s", c.Outcome)
	}
	var got []string
	for _, pass := range c.Filter.Nominated {
		for _, pod := range pass.Pods {
			got = append(got, fmt.Sprintf("%s counts on %s, rejected %t", pod.Name, pass.Node, pass.Rejected))
		}
	}
	if diff := cmp.Diff([]string{"preemptor counts on n1, rejected true"}, got); diff != "" {
		t.Error(diff)
	}
}

// Without score plugins the first feasible node is taken: the pod was not nominated.
func TestWithoutScorePluginsTheSearchStopsAtOneNode(t *testing.T) {
	cluster := factCluster("parallelism: 1\nprofiles:\n- plugins: {score: {disabled: [{name: \"*\"}]}}\n",
		[]runtime.Object{cpuNode("n1", "4"), cpuNode("n2", "4"), cpuNode("n3", "4")}, cpuPod("pod", "1").Obj())
	c := attemptsOf(t, cluster, "pod")[0]
	if c.Nodes.Wanted != 1 {
		t.Errorf("the search looked for %d nodes", c.Nodes.Wanted)
	}
	if got := explain.Cycle(c).NotEvaluated; got == nil || got.Why != explain.EnoughFound {
		t.Errorf("the other nodes were not evaluated because of %+v", got)
	}
}

func TestTheSearchLooksForNoMoreThanPreFilterAllows(t *testing.T) {
	var nodes []runtime.Object
	for i := range 150 {
		nodes = append(nodes, cpuNode(fmt.Sprintf("n%03d", i), "4"))
	}
	cluster := factCluster("", nodes, cpuPod("pod", "1").NodeAffinityIn("metadata.name", []string{"n007", "n008", "absent"}, st.NodeSelectorTypeMatchFields).Obj())
	terms := make([]v1.NodeSelectorTerm, 3)
	for i, name := range []string{"n007", "n008", "absent"} {
		terms[i].MatchFields = []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{name}}}
	}
	pod := cpuPod("pod", "1").NodeAffinity(&v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: terms}}).Obj()
	cluster.Operations = []schedulertest.Operation{adding(pod)}
	if c := attemptsOf(t, cluster, "pod")[0]; c.Nodes.Wanted != 2 || c.Nodes.Evaluated != 2 {
		t.Errorf("the search looked for %d nodes and evaluated %d", c.Nodes.Wanted, c.Nodes.Evaluated)
	}
}

// The second pod takes the node that batching proposes. To propose it, batching scores
// the first pod's node again, which is not part of the second pod's cycle.
func TestReScoringIsNotPartOfTheCycle(t *testing.T) {
	cluster := factCluster("parallelism: 1\nprofiles:\n- plugins: {multiPoint: {enabled: [{name: Picky}]}}\n  pluginConfig:\n  - name: PodTopologySpread\n    args: {defaultingType: List}\n",
		[]runtime.Object{cpuNode("n1", "4"), cpuNode("n2", "4"), cpuNode("n3", "4")})
	cluster.Operations = []schedulertest.Operation{adding(cpuPod("first", "1").Obj(), cpuPod("second", "1").Obj())}
	c := attemptsOf(t, cluster, "second")[0]
	if c.Hint == nil || !c.Hint.Used {
		t.Fatalf("the hint is %+v", c.Hint)
	}
	var facts []string
	for _, f := range c.Facts {
		facts = append(facts, f.Node)
	}
	if diff := cmp.Diff([]string{c.SelectedNode}, facts); diff != "" {
		t.Error("facts of nodes: " + diff)
	}
	if len(c.PreScore) > 0 || slices.ContainsFunc(c.ExtensionPoints, func(p result.ExtensionPoint) bool { return p.Name == "preScore" }) {
		t.Errorf("PreScore is recorded: %v", statuses(c.PreScore))
	}
}

func TestMembersOfAGroupHaveItsBackoff(t *testing.T) {
	setGates(t, map[string]bool{"GenericWorkload": true, "SchedulerPopFromBackoffQ": false})
	member := func(name string) *v1.Pod { return cpuPod(name, "2").PodGroupName("g").Priority(10).Obj() }
	cluster := factCluster("", []runtime.Object{cpuNode("n1", "2")})
	cluster.Operations = []schedulertest.Operation{
		adding(gang(2, ""), member("a"), member("b")),
		adding(cpuNode("n2", "2")),
	}
	attempts := attemptsOf(t, cluster, "a")
	if last := attempts[len(attempts)-1]; len(attempts) < 2 || last.Queue.BackoffUntil == nil {
		t.Errorf("%d attempts, the last with %+v", len(attempts), last.Queue)
	}
}

// Thorough takes longer than Brisk, which runs beside it.
func TestPreBindAnswersStandInTheOrderOfThePlugins(t *testing.T) {
	cluster := factCluster("profiles:\n- plugins: {preBind: {enabled: [{name: Thorough}, {name: Brisk}]}}\n", []runtime.Object{cpuNode("n1", "4")}, cpuPod("pod", "1").Obj())
	c := attemptsOf(t, cluster, "pod")[0]
	want := []string{"VolumeBinding Skip", "DynamicResources Skip", "Thorough Success", "Brisk Success"}
	if diff := cmp.Diff(want, statuses(c.PreBind)); diff != "" {
		t.Error(diff)
	}
}
