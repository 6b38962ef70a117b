package scheduler_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// In a large cluster the recorder looks at few of the calls that succeed, but at all of
// them once the scheduler was told of nominated pods. The preemptors wait for a port, so
// there is room for others beside them.
func TestANodeWithNominatedPodsIsRecordedThoughItFits(t *testing.T) {
	var objects []runtime.Object
	for i := range 70 {
		objects = append(objects, cpuNode(fmt.Sprintf("n%02d", i), "4"))
	}
	on := func(pod *st.PodWrapper, node string) *st.PodWrapper {
		return pod.NodeSelector(map[string]string{v1.LabelHostname: node})
	}
	cluster := factCluster("", nil)
	var want []string
	var plain []*v1.Pod
	for i := range 3 {
		node := fmt.Sprintf("n%02d", i)
		objects = append(objects, cpuPod(fmt.Sprint("victim-", i), "1").HostPort(80).Node(node).Obj())
		cluster.Operations = append(cluster.Operations, adding(on(cpuPod(fmt.Sprint("preemptor-", i), "1").HostPort(80), node).Priority(100).Obj()))
		plain = append(plain, on(cpuPod(fmt.Sprint("plain-", i), "1"), node).Obj())
		want = append(want, fmt.Sprintf("plain-%d on %s beside preemptor-%d", i, node, i))
	}
	cluster.Objects = objects
	for _, pod := range plain {
		cluster.Operations = append(cluster.Operations, adding(pod))
	}
	cycles := &sink{}
	run(t, cluster, schedulertest.Hooks{Start: start(t, cluster, cycles)})
	var got []string
	for _, c := range cycles.history {
		if c.Outcome != result.Scheduled || len(c.Filter.Nominated) == 0 {
			continue
		}
		for _, pass := range c.Filter.Nominated {
			if !pass.Rejected {
				got = append(got, fmt.Sprintf("%s on %s beside %s", c.Pod.Name, pass.Node, pass.Pods[0].Name))
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
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

// Before it proposes another node, batching filters the first pod's node again. That node is
// full by now, which is not part of the second pod's search.
func TestReFilteringIsNotPartOfTheCycle(t *testing.T) {
	cluster := factCluster("parallelism: 1\nprofiles:\n- pluginConfig:\n  - name: PodTopologySpread\n    args: {defaultingType: List}\n",
		[]runtime.Object{cpuNode("n1", "1"), cpuNode("n2", "1"), cpuNode("n3", "1")})
	cluster.Operations = []schedulertest.Operation{adding(cpuPod("first", "1").Obj(), cpuPod("second", "1").Obj())}
	c := attemptsOf(t, cluster, "second")[0]
	if c.Hint == nil || !c.Hint.Used || c.Nodes.Evaluated != 1 {
		t.Fatalf("the hint is %+v, %d nodes were evaluated", c.Hint, c.Nodes.Evaluated)
	}
	for _, rejected := range c.Filter.Comparisons {
		t.Errorf("the record compares %s, which was not filtered", rejected.Node)
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

// app sets the label by which the test plugins choose what to do.
func app(pod *st.PodWrapper, app string) *v1.Pod { return pod.Label("app", app).Obj() }

func TestTheWaitForAPermitIsRecorded(t *testing.T) {
	seconds := func(s float64) *float64 { return &s }
	for _, tc := range []struct {
		app  string
		want []*result.PermitWait
	}{
		{"a", []*result.PermitWait{{Plugins: []string{"Patient"}, DurationSeconds: seconds(0.12), Status: "Success"}}},
		{"b", []*result.PermitWait{
			{Plugins: []string{"Patient"}, DurationSeconds: seconds(0.18), Status: "Unschedulable", Plugin: "Patient", Reasons: []string{"on second thoughts, no"}}, nil,
		}},
		{"c", []*result.PermitWait{
			{Plugins: []string{"Patient"}, DurationSeconds: seconds(0.3), Status: "Unschedulable", Plugin: "Patient", TimedOut: true, Reasons: []string{"rejected due to timeout after waiting 300ms at plugin Patient"}}, nil,
		}},
	} {
		cluster := factCluster("profiles:\n- plugins: {multiPoint: {enabled: [{name: Patient}]}}\n", []runtime.Object{cpuNode("n1", "4")}, app(cpuPod("pod", "1"), tc.app))
		var got []*result.PermitWait
		var points []string
		for _, c := range attemptsOf(t, cluster, "pod") {
			got = append(got, c.PermitWait)
			for _, p := range c.ExtensionPoints {
				if p.Name == "waitOnPermit" || p.Name == "unreserve" {
					points = append(points, p.Name)
				}
			}
		}
		// The timers' own delay is less than a millisecond.
		if diff := cmp.Diff(tc.want, got, cmp.Comparer(func(a, b float64) bool { return a-b < 0.001 && b-a < 0.001 })); diff != "" {
			t.Errorf("app %s: %s", tc.app, diff)
		}
		want := []string{"waitOnPermit"}
		if tc.app != "a" {
			want = append(want, "unreserve")
		}
		if diff := cmp.Diff(want, points); diff != "" {
			t.Errorf("app %s: %s", tc.app, diff)
		}
	}
}

// While a pod waits, its cycle says for which plugin, and no duration.
func TestAWaitHasNoDurationBeforeItEnds(t *testing.T) {
	cluster := factCluster("profiles:\n- plugins: {multiPoint: {enabled: [{name: Patient}]}}\n", []runtime.Object{cpuNode("n1", "4")}, app(cpuPod("pod", "1"), "a"))
	cycles := &sink{}
	run(t, cluster, schedulertest.Hooks{Start: start(t, cluster, cycles)})
	first := cycles.history[0]
	if diff := cmp.Diff(&result.PermitWait{Plugins: []string{"Patient"}}, first.PermitWait); diff != "" || first.Outcome != result.Waiting {
		t.Errorf("%s: %s", first.Outcome, diff)
	}
	if last := cycles.history[1]; first.Updates != 0 || last.Updates != 1 || last.Attempt != 1 {
		t.Errorf("the first version has %d updates, the second %d", first.Updates, last.Updates)
	}
}

// A pod that loses its place is unreserved by the plugins in reverse order.
func TestUnreserveIsRecorded(t *testing.T) {
	cluster := factCluster("profiles:\n- plugins: {multiPoint: {enabled: [{name: Patient}]}}\n", []runtime.Object{cpuNode("n1", "4")}, app(cpuPod("pod", "1"), "b"))
	attempts := attemptsOf(t, cluster, "pod")
	want := [][]string{{"DynamicResources Success", "VolumeBinding Success"}, nil}
	var got [][]string
	for _, c := range attempts {
		got = append(got, statuses(c.Unreserve))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPreBindPreFlightIsRecorded(t *testing.T) {
	cluster := factCluster("profiles:\n- plugins: {preBind: {enabled: [{name: Thorough}, {name: Brisk}]}}\n", []runtime.Object{cpuNode("n1", "4")},
		app(cpuPod("pod", "1"), "a"), app(cpuPod("unprepared", "1"), "c"))
	c := attemptsOf(t, cluster, "pod")[0]
	if diff := cmp.Diff([]string{"VolumeBinding Skip", "DynamicResources Skip", "Thorough Success", "Brisk Success"}, statuses(c.PreBindPreFlight)); diff != "" {
		t.Error(diff)
	}
	if !c.PreBindPreFlight[2].Parallel || c.PreBindPreFlight[0].Parallel {
		t.Errorf("beside others run: %+v", c.PreBindPreFlight)
	}
	c = attemptsOf(t, cluster, "unprepared")[0]
	skips := []string{"VolumeBinding Skip", "DynamicResources Skip", "Thorough Skip", "Brisk Skip"}
	if diff := cmp.Diff([][]string{skips, skips}, [][]string{statuses(c.PreBindPreFlight), statuses(c.PreBind)}); diff != "" {
		t.Error(diff)
	}
}

// The nominated node is tried first, whether or not the search ends there.
func TestTheNominationAtTheStartIsRecorded(t *testing.T) {
	for _, tc := range []struct {
		node string
		want result.Nomination
		left int
	}{
		{"n2", result.Nomination{Node: "n2", Used: true}, 2},
		{"full", result.Nomination{Node: "full"}, 0},
		{"gone", result.Nomination{Node: "gone"}, 0},
	} {
		cluster := factCluster("", []runtime.Object{cpuNode("n1", "4"), cpuNode("n2", "2"), cpuNode("full", "500m")}, cpuPod("pod", "1").NominatedNodeName(tc.node).Obj())
		c := attemptsOf(t, cluster, "pod")[0]
		if diff := cmp.Diff(&tc.want, c.Nomination); diff != "" || c.Nodes.Total-c.Nodes.Evaluated != tc.left {
			t.Errorf("%s: %d of %d nodes were evaluated; %s", tc.node, c.Nodes.Evaluated, c.Nodes.Total, diff)
		}
		if c.Nomination != nil && (c.SelectedNode == tc.node) != c.Nomination.Used {
			t.Errorf("%s: selected is %s", tc.node, c.SelectedNode)
		}
	}
}

// InterPodAffinity and PodTopologySpread keep counts, which dry runs change.
func TestPreFilterExtensionsAreCounted(t *testing.T) {
	spread := func(p *st.PodWrapper) *st.PodWrapper {
		return p.Label("app", "s").SpreadConstraint(5, v1.LabelHostname, v1.DoNotSchedule, st.MakeLabelSelector().Label("app", "s").Obj(), nil, nil, nil, nil)
	}
	cluster := factCluster("parallelism: 1\n", []runtime.Object{cpuNode("n1", "4"), cpuPod("small", "1").Node("n1").Obj(), cpuPod("large", "3").Node("n1").Obj()},
		spread(cpuPod("preemptor", "3")).Priority(100).Obj(), spread(cpuPod("later", "1")).Obj())
	c := attemptsOf(t, cluster, "preemptor")[0]
	var got []string
	for _, calls := range c.PreFilterExtensions {
		got = append(got, fmt.Sprintf("%s in %s: %d added, %d removed, %d failed", calls.Plugin, calls.Point, calls.Added, calls.Removed, calls.Failed))
	}
	// Both are removed, the large one fits no more when it is added again and the small
	// one does.
	if diff := cmp.Diff([]string{"PodTopologySpread in postFilter: 2 added, 3 removed, 0 failed"}, got); diff != "" {
		t.Error(diff)
	}
	c = attemptsOf(t, cluster, "later")[0]
	if len(c.PreFilterExtensions) != 1 || c.PreFilterExtensions[0].Point != result.ForNominatedPods || c.PreFilterExtensions[0].Added != 1 {
		t.Errorf("for the nominated pod: %+v", c.PreFilterExtensions)
	}
}

// The scheduler evicts in the background. The attempt is published again when it knows
// what has become of the victims, and keeps its number.
func TestTheEvictionOfVictimsIsRecorded(t *testing.T) {
	objects := []runtime.Object{cpuNode("n1", "4"), cpuPod("v1", "2").Node("n1").Obj(), cpuPod("v2", "2").Node("n1").Obj()}
	for _, tc := range []struct {
		name  string
		async bool
		fail  int
		want  []result.Evictions
	}{
		{"in the background", true, 0, []result.Evictions{{Victims: 2, Deleted: 2, Done: true}}},
		{"in the cycle", false, 0, []result.Evictions{{Victims: 2, Deleted: 2, Done: true}}},
		{"failing once", true, 1, []result.Evictions{
			{Victims: 2, Failed: 1, Done: true, Failures: []result.EvictionFailure{{Pod: result.Pod{Name: "v1"}, Error: "failure"}}},
			{Victims: 2, Deleted: 2, Done: true},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			setGates(t, map[string]bool{"SchedulerAsyncPreemption": tc.async})
			cluster := factCluster("parallelism: 1\n", objects)
			add := adding(cpuPod("preemptor", "4").Priority(100).Obj())
			cluster.Operations = []schedulertest.Operation{{Name: "preempt", Do: func(ctx context.Context, s *schedulertest.Simulation) error {
				s.FailDeletion("v1", tc.fail)
				return add.Do(ctx, s)
			}}}
			var got []result.Evictions
			for i, c := range attemptsOf(t, cluster, "preemptor") {
				if c.Preemption == nil || c.Preemption.Evictions == nil {
					continue
				}
				e := *c.Preemption.Evictions
				if e.DurationSeconds == nil {
					t.Errorf("attempt %d has no duration", i+1)
				}
				e.DurationSeconds = nil
				e.Failures = slices.Clone(e.Failures)
				for f := range e.Failures {
					if e.Failures[f].Error == "" {
						t.Errorf("attempt %d: no error", i+1)
					}
					e.Failures[f].Error, e.Failures[f].Pod = "failure", result.Pod{Name: e.Failures[f].Pod.Name}
				}
				got = append(got, e)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Each member's cycle says what became of the group's victims.
func TestTheEvictionOfAGroupsVictimsIsRecorded(t *testing.T) {
	setGates(t, map[string]bool{"GenericWorkload": true})
	cluster := factCluster("", []runtime.Object{cpuNode("n1", "2"), cpuNode("n2", "2"), runningPod("v1", "n1", ""), runningPod("v2", "n2", "")})
	member := func(name string) *v1.Pod { return cpuPod(name, "2").PodGroupName("g").Priority(10).Obj() }
	cluster.Operations = []schedulertest.Operation{adding(gang(2, ""), member("a"), member("b"))}
	for _, pod := range []string{"a", "b"} {
		c := attemptsOf(t, cluster, pod)[0]
		if c.PodGroup == nil || c.PodGroup.Preemption == nil || c.PodGroup.Preemption.Evictions == nil {
			t.Fatalf("%s: the group is %+v", pod, c.PodGroup)
		}
		if e := c.PodGroup.Preemption.Evictions; e.Deleted != 2 || !e.Done {
			t.Errorf("%s: evictions are %+v", pod, e)
		}
	}
}

// In a large cluster few calls are timed. A plugin none of whose calls was timed has no
// duration, which is not a duration of 0.
func TestWhatWasNotMeasuredHasNoDuration(t *testing.T) {
	var nodes []runtime.Object
	for i := range 70 {
		nodes = append(nodes, cpuNode(fmt.Sprintf("n%02d", i), "4"))
	}
	// The nominated node alone is filtered, and its generation is not among those
	// that are sampled in one of the attempts.
	cluster := factCluster("", nodes)
	for i := range 4 {
		cluster.Operations = append(cluster.Operations, adding(cpuPod(fmt.Sprintf("p%d", i), "1").NominatedNodeName(fmt.Sprintf("n%02d", i)).Obj()))
	}
	cycles := &sink{}
	run(t, cluster, schedulertest.Hooks{Start: start(t, cluster, cycles)})
	missing := 0
	for _, c := range cycles.history {
		fit := slices.Index(c.Filter.Plugins, "NodeResourcesFit")
		if seconds := c.Filter.DurationSeconds[fit]; seconds == nil {
			missing++
		} else if *seconds == 0 && !testing.Short() {
			t.Logf("%s: measured as 0 by the fake clock", c.Pod.Name)
		}
		ports := slices.Index(c.Filter.Plugins, "NodePorts")
		if c.Filter.DurationSeconds[ports] != nil {
			t.Error("NodePorts was skipped and has a duration")
		}
	}
	if missing < 3 {
		t.Errorf("%d of %d attempts have no duration of NodeResourcesFit", missing, len(cycles.history))
	}
}

// The nodes are alike and so are their pods, so only their start times differ, if any.
func TestWhichRuleDecidesAmongEqualCandidates(t *testing.T) {
	at := func(seconds int64) *metav1.Time { return &metav1.Time{Time: time.Unix(seconds, 0)} }
	for _, tc := range []struct {
		name   string
		starts []*metav1.Time
		rule   result.PreemptionRule
		chosen []string // one of them
	}{
		{"the latest start", []*metav1.Time{at(1), at(3), at(2)}, result.LatestEarliestStartTime, []string{"n1"}},
		{"no start is later than any", []*metav1.Time{at(1), nil, at(3)}, result.LatestEarliestStartTime, []string{"n1"}},
		{"a tie", []*metav1.Time{at(3), at(1), at(3)}, result.FirstFound, []string{"n0", "n2"}},
		{"a tie without starts", []*metav1.Time{at(3), nil, nil}, result.FirstFound, []string{"n1", "n2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var objects []runtime.Object
			for i, start := range tc.starts {
				node := fmt.Sprintf("n%d", i)
				victim := cpuPod("on-"+node, "4").Node(node).Obj()
				victim.Status.StartTime = start
				objects = append(objects, cpuNode(node, "4"), victim)
			}
			c := attemptsOf(t, factCluster("parallelism: 1\n", objects, cpuPod("preemptor", "4").Priority(100).Obj()), "preemptor")[0]
			if c.Preemption == nil || c.Preemption.Rule != tc.rule || !slices.Contains(tc.chosen, c.Preemption.Chosen) {
				t.Errorf("preemption is %+v", c.Preemption)
			}
		})
	}
}

// With many workers, more nodes are found than are wanted. The scheduler compares those that
// it wants, if these are several.
func TestOnlyConsideredCandidatesCompete(t *testing.T) {
	for wanted, rule := range map[int]result.PreemptionRule{1: "", 2: result.FirstFound} {
		onlyConsideredCompete(t, wanted, rule)
	}
}

func onlyConsideredCompete(t *testing.T, wanted int, rule result.PreemptionRule) {
	t.Helper()
	var objects []runtime.Object
	for i := range 24 {
		node := fmt.Sprintf("n%02d", i)
		objects = append(objects, cpuNode(node, "4"), cpuPod("on-"+node, "4").Node(node).Obj())
	}
	cluster := factCluster(fmt.Sprintf("parallelism: 16\nprofiles:\n- pluginConfig:\n  - name: DefaultPreemption\n    args: {minCandidateNodesAbsolute: %d, minCandidateNodesPercentage: 0}\n", wanted),
		objects, cpuPod("preemptor", "4").Priority(100).Obj())
	c := attemptsOf(t, cluster, "preemptor")[0]
	var considered []string
	for _, candidate := range c.Preemption.Candidates {
		if !candidate.Surplus {
			considered = append(considered, candidate.Node)
		}
	}
	if len(considered) != wanted || !slices.Contains(considered, c.Preemption.Chosen) || c.Preemption.Rule != rule {
		t.Errorf("%s was chosen among %v of %d candidates by %q, want %d and %q", c.Preemption.Chosen, considered, len(c.Preemption.Candidates), c.Preemption.Rule, wanted, rule)
	}
}
