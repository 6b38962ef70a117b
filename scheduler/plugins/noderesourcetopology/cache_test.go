package noderesourcetopology

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
)

// world is a node n with two zones of 4 CPUs and 8Gi, whose allocatable is 8 CPUs and 16Gi.
type world struct {
	*testing.T
	plugin *Plugin
	now    time.Time
	// pods are those that the test names.
	pods map[string]*v1.Pod
}

func (w *world) over() *overReserving {
	o, ok := w.plugin.topologies.(*overReserving)
	if !ok {
		w.Fatalf("the cache is a %T", w.plugin.topologies)
	}
	return o
}

// step is something that happens.
type step func(w *world)

// pod names a Guaranteed pod with one container, or a Burstable one.
func pod(name, requests string, guaranteed bool) step {
	return func(w *world) { w.pods[name] = podOf(name, guaranteed, requests) }
}

func reserve(name string) step {
	return func(w *world) { w.plugin.Reserve(w.Context(), nil, w.pods[name], "n") }
}

func unreserve(name string) step {
	return func(w *world) { w.plugin.Unreserve(w.Context(), nil, w.pods[name], "n") }
}

func postBind(name string) step {
	return func(w *world) { w.plugin.PostBind(w.Context(), nil, w.pods[name], "n") }
}

// seen: the pod is on the node, by that scheduler, in that phase.
func seen(name, scheduler string, phase v1.PodPhase) step {
	return func(w *world) {
		p := w.pods[name]
		p.Spec.NodeName, p.Spec.SchedulerName, p.Status.Phase = "n", scheduler, phase
		w.over().podChanged(p, false)
	}
}

func gone(name string) step {
	return func(w *world) { w.over().podChanged(w.pods[name], true) }
}

// reports: the agent writes the topology, with the fingerprint of those pods.
func reports(t topology, pods ...string) step {
	return func(w *world) {
		var known []*v1.Pod
		for _, name := range pods {
			known = append(known, podOf(name, true))
		}
		if len(pods) > 0 {
			t.set(v1alpha2.AttributeFingerprint, v1alpha2.FingerprintOf(known))
		}
		w.over().latest.set(t.NodeResourceTopology)
	}
}

func after(d time.Duration) step { return func(w *world) { w.now = w.now.Add(d) } }

// asks: a Guaranteed pod of one container gets that answer, a reason or a score.
func asks(requests string, want any) step {
	return asksAs("asking", true, requests, want)
}

func asksAs(name string, guaranteed bool, requests string, want any) step {
	return func(w *world) {
		w.Helper()
		reason, score := try(w.T, w.plugin, podOf(name, guaranteed, requests), nodeInfo("n", "cpu=8 memory=16Gi example.com/gpu=4"))
		got := reason
		if got == "" {
			got = fmt.Sprint(score)
		}
		if got != fmt.Sprint(want) {
			w.Errorf("a pod that asks for %s: %s, want %v", requests, got, want)
		}
	}
}

const (
	ours    = "ours"
	another = "another-scheduler"
	large   = "cpu=3 memory=1Gi"
	small   = "cpu=1 memory=1Gi"
)

// TestCaches: what Filter and Score say after what the cache was told.
func TestCaches(t *testing.T) {
	const overReserve = "cacheResyncPeriodSeconds: 5"
	with := func(cache string) string { return "{" + overReserve + ", cache: {" + cache + "}}" }
	half := func() topology { return cut("n", "cpu=1 memory=8Gi", "cpu=4 memory=8Gi") }
	p1 := pod("p1", large, true)
	resynced := []step{asks(large, noContainer), after(5 * time.Second)}
	for _, c := range []struct {
		name, args string
		// none: the node has no topology when the scheduler starts.
		none  bool
		steps []step
	}{
		{name: "without a cache, pods on their way do not count", args: "{}", steps: []step{p1, reserve("p1"), asks(large, 56)}},

		{name: "discarding: no pod beside one on its way", args: "{discardReservedNodes: true}", steps: []step{p1, reserve("p1"), asks(small, notFresh), postBind("p1"), asks(small, 81)}},
		{name: "discarding: a pod that is not on its way any more", args: "{discardReservedNodes: true}", steps: []step{p1, reserve("p1"), unreserve("p1"), asks(small, 81)}},
		{
			name: "discarding: all pods on their way count", args: "{discardReservedNodes: true}",
			steps: []step{p1, pod("p2", large, true), reserve("p1"), reserve("p2"), postBind("p1"), asks(small, notFresh), postBind("p2"), asks(small, 81)},
		},
		{name: "discarding comes before the period", args: "{discardReservedNodes: true, cacheResyncPeriodSeconds: 5}", steps: []step{p1, reserve("p1"), asks(small, notFresh)}},
		{name: "discarding: BestEffort pods pass", args: "{discardReservedNodes: true}", steps: []step{p1, reserve("p1"), asksAs("p", false, "", 100)}},

		{name: "16: a pod on its way is taken from every zone", args: "{" + overReserve + "}", steps: []step{p1, reserve("p1"), asks(large, noContainer), asks(small, 42)}},
		{name: "never below 0", args: "{" + overReserve + "}", steps: []step{pod("p1", "cpu=9 memory=9Gi", true), reserve("p1"), asks(small, noContainer)}},
		{name: "Unreserve gives it back", args: "{" + overReserve + "}", steps: []step{p1, reserve("p1"), unreserve("p1"), asks(large, 56)}},
		{name: "the pod's arrival and its deletion do not", args: "{" + overReserve + "}", steps: []step{p1, reserve("p1"), postBind("p1"), seen("p1", ours, v1.PodRunning), gone("p1"), asks(large, noContainer)}},
		{
			name: "16: a report of the same pods does", args: "{" + overReserve + "}",
			steps: append([]step{p1, reserve("p1"), seen("p1", ours, v1.PodRunning), reports(half(), "p1")}, append(resynced, asks(large, 43))...),
		},
		{
			name: "not before the period is over", args: "{" + overReserve + "}",
			steps: []step{p1, reserve("p1"), seen("p1", ours, v1.PodRunning), reports(half(), "p1"), asks(large, noContainer), after(4 * time.Second), asks(large, noContainer)},
		},
		{
			name: "not for a node that Filter has not rejected", args: "{" + overReserve + "}",
			steps: []step{p1, reserve("p1"), seen("p1", ours, v1.PodRunning), reports(half(), "p1"), after(5 * time.Second), asks(large, noContainer)},
		},
		{
			name: "not a report of other pods", args: "{" + overReserve + "}",
			steps: append([]step{p1, reserve("p1"), seen("p1", ours, v1.PodRunning), reports(half(), "p1", "p2")}, append(resynced, asks(large, noContainer))...),
		},
		{
			name: "not a report without a fingerprint", args: "{" + overReserve + "}",
			steps: append([]step{p1, reserve("p1"), seen("p1", ours, v1.PodRunning), reports(half())}, append(resynced, asks(large, noContainer))...),
		},
		{
			name: "not when no pod is there", args: "{" + overReserve + "}",
			steps: append([]step{p1, reserve("p1"), reports(half().set(v1alpha2.AttributeFingerprint, v1alpha2.FingerprintOf(nil)))}, append(resynced, asks(large, noContainer))...),
		},
		{
			name: "the fingerprint in the annotation", args: "{" + overReserve + "}",
			steps: append([]step{p1, reserve("p1"), seen("p1", ours, v1.PodRunning), reports(half().change(func(t *v1alpha2.NodeResourceTopology) {
				t.Annotations = map[string]string{v1alpha2.LegacyFingerprint: v1alpha2.FingerprintOf([]*v1.Pod{podOf("p1", true)})}
			}))}, append(resynced, asks(large, 43))...),
		},
		{
			name: "a report of the pods with exclusive resources", args: "{" + overReserve + "}",
			steps: append([]step{
				p1, pod("shared", small, false), reserve("p1"), seen("p1", ours, v1.PodRunning), seen("shared", ours, v1.PodRunning),
				reports(half().set(v1alpha2.AttributeFingerprintMethod, v1alpha2.MethodExclusive), "p1"),
			}, append(resynced, asks(large, 43))...),
		},
		{
			name: "the method of the arguments comes first", args: with("resyncMethod: All"),
			steps: append([]step{
				p1, pod("shared", small, false), reserve("p1"), seen("p1", ours, v1.PodRunning), seen("shared", ours, v1.PodRunning),
				reports(half().set(v1alpha2.AttributeFingerprintMethod, v1alpha2.MethodExclusive), "p1"),
			}, append(resynced, asks(large, noContainer))...),
		},
		{
			name: "only pods with exclusive resources, by the arguments", args: with("resyncMethod: OnlyExclusiveResources"),
			steps: append([]step{
				p1, pod("shared", small, false), reserve("p1"), seen("p1", ours, v1.PodRunning), seen("shared", ours, v1.PodRunning), reports(half(), "p1"),
			}, append(resynced, asks(large, 43))...),
		},
		{
			name: "a device makes a pod one of them, listed by zones or not", args: with("resyncMethod: OnlyExclusiveResources"),
			steps: append([]step{
				p1, pod("nic", "example.com/nic=0", false), reserve("p1"), seen("p1", ours, v1.PodRunning), seen("nic", ours, v1.PodRunning), reports(half(), "p1"),
			}, append(resynced, asks(large, noContainer))...),
		},
		{
			name: "finished pods count", args: "{" + overReserve + "}",
			steps: append([]step{p1, pod("done", small, true), reserve("p1"), seen("p1", ours, v1.PodRunning), seen("done", ours, v1.PodSucceeded), reports(half(), "p1", "done")},
				append(resynced, asks(large, 43))...),
		},
		{
			name: "pods that have not started do not", args: "{" + overReserve + "}",
			steps: append([]step{p1, pod("new", small, true), reserve("p1"), seen("p1", ours, v1.PodRunning), seen("new", ours, v1.PodPending), reports(half(), "p1")},
				append(resynced, asks(large, 43))...),
		},
		{
			name: "with the shared informer only running ones do", args: with("informerMode: Shared"),
			steps: append([]step{p1, pod("done", small, true), reserve("p1"), seen("p1", ours, v1.PodRunning), seen("done", ours, v1.PodSucceeded), reports(half(), "p1")},
				append(resynced, asks(large, 43))...),
		},
		{
			name: "a changed setting counts without a report of pods", args: "{" + overReserve + "}",
			steps: []step{reports(two().set(v1alpha2.AttributeScope, v1alpha2.ScopePod)), asks(large, 56), after(5 * time.Second), asksAs("p", true, "cpu=5 memory=1Gi", noPod)},
		},
		{
			name: "unless only resources are to be followed", args: with("resyncScope: OnlyResources"),
			steps: []step{reports(two().set(v1alpha2.AttributeScope, v1alpha2.ScopePod)), after(5 * time.Second), asksAs("p", true, "cpu=5 memory=1Gi", noContainer)},
		},
		{
			name: "a topology that comes later does not count", args: "{" + overReserve + "}", none: true,
			steps: []step{reports(two(), "p1"), after(5 * time.Second), asks("cpu=5 memory=1Gi", 0)},
		},

		{name: "17: a pod of another scheduler", args: "{" + overReserve + "}", steps: []step{p1, seen("p1", another, v1.PodRunning), asks(small, notFresh), asksAs("p", false, "", 100)}},
		{name: "17: its deletion too", args: "{" + overReserve + "}", steps: []step{p1, func(w *world) { w.pods["p1"].Spec.NodeName, w.pods["p1"].Spec.SchedulerName = "n", another }, gone("p1"), asks(small, notFresh)}},
		{name: "a pod without a node does not", args: "{" + overReserve + "}", steps: []step{p1, func(w *world) { w.over().podChanged(w.pods["p1"], false) }, asks(small, 81)}},
		{name: "nor does one of ours", args: "{" + overReserve + "}", steps: []step{p1, seen("p1", ours, v1.PodRunning), asks(small, 81)}},
		{
			name: "until a report of the same pods", args: "{" + overReserve + "}",
			steps: []step{p1, seen("p1", another, v1.PodRunning), reports(half(), "p1"), asks(large, notFresh), after(5 * time.Second), asks(large, 43)},
		},
		{name: "detection is off", args: with("foreignPodsDetect: None"), steps: []step{p1, seen("p1", another, v1.PodRunning), asks(small, 81)}},
		{
			name: "only those with exclusive resources", args: with("foreignPodsDetect: OnlyExclusiveResources"),
			steps: []step{p1, pod("shared", small, false), seen("shared", another, v1.PodRunning), asks(small, 81), seen("p1", another, v1.PodRunning), asks(small, notFresh)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var objects []runtime.Object
			if !c.none {
				objects = append(objects, two().NodeResourceTopology)
			}
			w := &world{T: t, pods: map[string]*v1.Pod{}}
			w.plugin, _ = build(t, c.args, objects...)
			if o, ok := w.plugin.topologies.(*overReserving); ok {
				w.now = o.now()
				o.now = func() time.Time { return w.now }
			}
			for _, do := range c.steps {
				do(w)
			}
		})
	}
}

// TestProfilesShareWhatTheyKnow: pods of another profile with the plugin are no strangers,
// unless it belongs to another scheduler.
func TestProfilesShareWhatTheyKnow(t *testing.T) {
	const args = "{cacheResyncPeriodSeconds: 5}"
	p, f := build(t, args, two().NodeResourceTopology)
	other, _ := build(t, args, two().NodeResourceTopology)
	if _, err := New(t.Context(), &runtime.Unknown{Raw: []byte(args), ContentType: runtime.ContentTypeYAML}, renamed{f, "second"}); err != nil {
		t.Fatal(err)
	}
	for scheduler, foreign := range map[string]bool{ours: false, "second": false, another: true} {
		if got := p.topologies.(*overReserving).foreign(scheduler); got != foreign {
			t.Errorf("%s: foreign is %v", scheduler, got)
		}
	}
	if !other.topologies.(*overReserving).foreign("second") {
		t.Error("a profile of another scheduler is known")
	}
}

type renamed struct {
	framework.Framework
	name string
}

func (r renamed) ProfileName() string { return r.name }

// TestTheLastProfileLeaves: nothing is kept of a scheduler that has ended.
func TestTheLastProfileLeaves(t *testing.T) {
	before := len(registry.of)
	p, f := build(t, "{cacheResyncPeriodSeconds: 5}")
	if len(registry.of) != before+1 {
		t.Fatalf("%d schedulers are known, want %d", len(registry.of), before+1)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if len(registry.of) != before {
		t.Errorf("%d schedulers are known, want %d", len(registry.of), before)
	}
}

// TestPreemption: whether a dry run sees what the victims hold.
func TestPreemption(t *testing.T) {
	full := func() topology {
		t := two()
		for i := range t.Zones[1].Resources {
			r := &t.Zones[1].Resources[i]
			r.Available = amountsIn("x=0")["x"]
		}
		t.Zones[0].Resources = append([]v1alpha2.Amounts(nil), t.Zones[1].Resources...)
		return t
	}
	placed := func(t topology, zone int, pods ...string) topology {
		zones := map[v1alpha2.ContainerID]int{}
		for _, p := range pods {
			zones[v1alpha2.ContainerID{Namespace: "default", Pod: p, Container: "c0"}] = zone
		}
		t.SetPlacement(zones)
		return t
	}
	victim := podOf("victim", true, "cpu=4 memory=8Gi")
	other := podOf("other", true, "cpu=4 memory=8Gi")
	const enabled = "{cacheResyncPeriodSeconds: 5, preemptionMode: Enabled}"
	for _, c := range []struct {
		name, args string
		topology   topology
		victims    []*v1.Pod
		back       bool // the victims are put back
		want       string
	}{
		{"the zone is known", enabled, placed(full(), 1, "victim", "other"), []*v1.Pod{victim}, false, ""},
		{"nobody goes", enabled, placed(full(), 1, "victim", "other"), nil, false, noContainer},
		{"the victim stays after all", enabled, placed(full(), 1, "victim", "other"), []*v1.Pod{victim}, true, noContainer},
		{"no placement", enabled, full(), []*v1.Pod{victim}, false, noContainer},
		{"a placement of other pods", enabled, placed(full(), 1, "victim"), []*v1.Pod{victim}, false, noContainer},
		{"more than the zone has", enabled, placed(two(), 1, "victim", "other"), []*v1.Pod{victim}, false, "eviction simulation in NRT is not possible: node-1 would have more cpu than is allocatable"},
		{"switched off", "{cacheResyncPeriodSeconds: 5}", placed(full(), 1, "victim", "other"), []*v1.Pod{victim}, false, noContainer},
		{"without a cache", "{preemptionMode: Enabled}", placed(full(), 1, "victim", "other"), []*v1.Pod{victim}, false, noContainer},
	} {
		t.Run(c.name, func(t *testing.T) {
			var pods []runtime.Object
			for _, p := range []*v1.Pod{victim, other} {
				p = p.DeepCopy()
				p.Spec.NodeName, p.Spec.SchedulerName, p.Status.Phase = "n", ours, v1.PodRunning
				pods = append(pods, p)
			}
			p, _ := build(t, c.args, append(pods, c.topology.NodeResourceTopology)...)
			state, asking := framework.NewCycleState(), podOf("asking", true, "cpu=4 memory=4Gi")
			if _, status := p.PreFilter(t.Context(), state, asking, nil); !status.IsSuccess() {
				t.Fatal(status)
			}
			run := state.Clone()
			for _, v := range c.victims {
				info, _ := framework.NewPodInfo(v)
				p.RemovePod(t.Context(), run, asking, info, nil)
				if c.back {
					p.AddPod(t.Context(), run, asking, info, nil)
				}
			}
			status := p.Filter(t.Context(), run, asking, nodeInfo("n", "cpu=8 memory=16Gi"))
			if diff := cmp.Diff(c.want, status.Message()); diff != "" {
				t.Error(diff)
			}
			if o, ok := p.topologies.(*overReserving); ok && len(c.victims) > 0 && !c.back && o.node("n").refused {
				t.Error("the dry run counts as a rejection")
			}
			if r := read(state, asking); len(r.victims) > 0 {
				t.Error("the dry run has changed the cycle")
			}
		})
	}
}

// TestTheEventsThatWakePods: deleted pods, nodes with more room, and topologies.
func TestTheEventsThatWakePods(t *testing.T) {
	p, _ := build(t, "{}")
	events, err := p.EventsToRegister(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var got []fwk.ClusterEvent
	for _, e := range events {
		got = append(got, e.Event)
	}
	want := []fwk.ClusterEvent{
		{Resource: fwk.Pod, ActionType: fwk.Delete},
		{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeAllocatable},
		{Resource: "noderesourcetopologies.v1alpha2.topology.node.k8s.io", ActionType: fwk.Add | fwk.Update},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestATopologyThatGoes: the node then passes.
func TestATopologyThatGoes(t *testing.T) {
	p, _ := build(t, "{}", two().NodeResourceTopology)
	l := p.topologies.(*latest)
	l.forget(&v1alpha2.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	if reason, score := try(t, p, podOf("p", true, "cpu=5 memory=1Gi"), nodeInfo("n", "cpu=8")); reason != "" || score != 0 {
		t.Errorf("%q, %d", reason, score)
	}
}
