package coscheduling

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/pluginfact"
	"kube-scheduler-simulator/scheduler/plugins/argument"
	"kube-scheduler-simulator/scheduler/plugins/coscheduling/v1alpha1"
)

const ns = "team"

// start is the time of the tests. Groups are created a minute before.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bench is a plugin with a cluster that consists of informers only.
type bench struct {
	*Plugin
	t       *testing.T
	clock   time.Time
	waiting []*waitingPod
	states  map[string]fwk.CycleState
}

// handle is the handle of a bench.
type handle struct {
	fwk.Handle
	factory informers.SharedInformerFactory
	bench   *bench
}

func (h *handle) KubeConfig() *rest.Config { return nil }

func (h *handle) SharedInformerFactory() informers.SharedInformerFactory { return h.factory }

func (h *handle) IterateOverWaitingPods(do func(fwk.WaitingPod)) {
	for _, w := range h.bench.waiting {
		do(w)
	}
}

// waitingPod notes what becomes of a pod that waits.
type waitingPod struct {
	fwk.WaitingPod
	pod  *v1.Pod
	fate string
}

func (w *waitingPod) GetPod() *v1.Pod { return w.pod }

func (w *waitingPod) Allow(plugin string) { w.fate = "allowed by " + plugin }

func (w *waitingPod) Reject(plugin, message string) bool {
	w.fate = message
	return true
}

func newBench(t *testing.T, args Arguments) *bench {
	t.Helper()
	setDefaults(&args)
	b := &bench{t: t, clock: start, states: map[string]fwk.CycleState{}}
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	made, err := New(t.Context(), &args, &handle{factory: factory, bench: b})
	if err != nil {
		t.Fatal(err)
	}
	b.Plugin = made.(*Plugin)
	b.now = func() time.Time { return b.clock }
	return b
}

// group puts a group into the cluster.
func (b *bench) group(name string, least int32, change ...func(*v1alpha1.PodGroup)) *bench {
	group := &v1alpha1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, CreationTimestamp: metav1.NewTime(start.Add(-time.Minute))},
		Spec:       v1alpha1.PodGroupSpec{MinMember: least},
	}
	for _, c := range change {
		c(group)
	}
	b.must(b.groups.Informer().GetIndexer().Add(group))
	return b
}

func (b *bench) dropGroup(name string) {
	b.must(b.groups.Informer().GetIndexer().Delete(&v1alpha1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}))
}

// add puts pods into the cluster, of which the plugin hears as of new ones.
func (b *bench) add(pods ...*v1.Pod) *bench {
	for _, pod := range pods {
		b.must(b.pods.Add(pod))
		if groupName(pod) != "" {
			b.seen(pod)
		}
	}
	return b
}

// finish removes a pod from the cluster, or lets it finish, which is the same here.
func (b *bench) finish(pod *v1.Pod) {
	b.must(b.pods.Delete(pod))
	b.gone(pod)
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) state(pod *v1.Pod) fwk.CycleState {
	if b.states[pod.Name] == nil {
		state := framework.NewCycleState()
		state.Write(framework.PodsToActivateKey, framework.NewPodsToActivate())
		pluginfact.Attach(state, func() bool { return true })
		b.states[pod.Name] = state
	}
	return b.states[pod.Name]
}

// preFilter returns the answer as text, ok for success.
func (b *bench) preFilter(pod *v1.Pod, nodes ...fwk.NodeInfo) string {
	_, status := b.PreFilter(b.t.Context(), b.state(pod), pod, nodes)
	return answer(status)
}

func (b *bench) postFilter(pod *v1.Pod) string {
	_, status := b.PostFilter(b.t.Context(), b.state(pod), pod, nil)
	return answer(status)
}

// permit returns the answer and the wait. A pod that waits does so until end.
func (b *bench) permit(pod *v1.Pod) string {
	status, wait := b.Permit(b.t.Context(), b.state(pod), pod, "n1")
	if status.Code() == fwk.Wait {
		b.waiting = append(b.waiting, &waitingPod{pod: pod})
		return fmt.Sprintf("Wait %s", wait)
	}
	return answer(status)
}

// unreserve is what happens when a pod loses its place.
func (b *bench) unreserve(pod *v1.Pod) {
	b.waiting = slices.DeleteFunc(b.waiting, func(w *waitingPod) bool { return w.pod == pod })
	b.Unreserve(b.t.Context(), b.state(pod), pod, "n1")
}

// fates returns what has become of the pods that waited, by name.
func (b *bench) fates() map[string]string {
	out := map[string]string{}
	for _, w := range b.waiting {
		out[w.pod.Name] = w.fate
	}
	return out
}

// activated returns the pods that the cycle of pod activates.
func (b *bench) activated(pod *v1.Pod) []string {
	data, err := b.state(pod).Read(framework.PodsToActivateKey)
	b.must(err)
	var names []string
	for name := range data.(*framework.PodsToActivate).Map {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// facts returns those of the pod's cycle by key.
func (b *bench) facts(pod *v1.Pod) map[string]string {
	data, err := b.state(pod).Read("kube-scheduler-simulator/facts")
	b.must(err)
	all, _ := data.(*pluginfact.Log).Facts()
	out := map[string]string{}
	for _, f := range all {
		out[f.Key] = f.Value
	}
	return out
}

func answer(status *fwk.Status) string {
	switch {
	case status.IsSuccess():
		return "ok"
	case status.Message() == "":
		return status.Code().String()
	}
	return status.Code().String() + ": " + status.Message()
}

func member(name, group string) *v1.Pod {
	return st.MakePod().Namespace(ns).Name(name).UID(ns+"/"+name).Label(v1alpha1.PodGroupLabel, group).Obj()
}

func on(pod *v1.Pod, node string) *v1.Pod {
	pod.Spec.NodeName = node
	return pod
}

func gated(pod *v1.Pod) *v1.Pod {
	pod.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/hold"}}
	return pod
}

func cpu(pod *v1.Pod, amount string) *v1.Pod {
	pod.Spec.Containers = []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(amount)}}}}
	return pod
}

func node(name string, pods ...*v1.Pod) fwk.NodeInfo {
	info := framework.NewNodeInfo(pods...)
	info.SetNode(st.MakeNode().Name(name).Capacity(map[v1.ResourceName]string{"cpu": "4", "memory": "8Gi", "pods": "10", "example.com/gpu": "2"}).Obj())
	return info
}

func minResources(list map[string]string) func(*v1alpha1.PodGroup) {
	return func(g *v1alpha1.PodGroup) {
		g.Spec.MinResources = v1.ResourceList{}
		for name, amount := range list {
			g.Spec.MinResources[v1.ResourceName(name)] = resource.MustParse(amount)
		}
	}
}

const (
	tooFew      = "UnschedulableAndUnresolvable: pre-filter pod %s cannot find enough sibling pods, current pods number: %d, minMember of group: %d"
	gatedPods   = "UnschedulableAndUnresolvable: pre-filter pod %s cannot proceed due to gated pods in the same PodGroup"
	optimistic  = "optimistic rejection in PostFilter"
	groupFailed = "Unschedulable: PodGroup team/pg gets rejected due to Pod %s is unschedulable even after PostFilter"
)

func TestPreFilter(t *testing.T) {
	p1, p2, p3, p4 := member("p1", "pg"), member("p2", "pg"), member("p3", "pg"), member("p4", "pg")
	other := member("p5", "pg")
	other.Namespace = "other"
	terminating := member("p6", "pg")
	terminating.DeletionTimestamp = &metav1.Time{Time: start}
	foreign := member("p7", "pg")
	foreign.Spec.SchedulerName = "another"
	done := member("p8", "pg")
	done.Status.Phase = v1.PodSucceeded
	for _, c := range []struct {
		name  string
		setUp func(*bench)
		pod   *v1.Pod
		nodes []fwk.NodeInfo
		want  string
	}{
		{"a pod without a group passes", func(*bench) {}, st.MakePod().Namespace(ns).Name("p").Obj(), nil, "ok"},
		{"so does a pod whose group does not exist", func(b *bench) { b.add(p1) }, p1, nil, "ok"},
		{"1: too few members", func(b *bench) { b.group("pg", 3).add(p1, p2) }, p1, nil, fmt.Sprintf(tooFew, "p1", 2, 3)},
		{"enough members", func(b *bench) { b.group("pg", 3).add(p1, p2, p3) }, p1, nil, "ok"},
		{"11: another namespace does not count", func(b *bench) { b.group("pg", 2).add(p1, other) }, p1, nil, fmt.Sprintf(tooFew, "p1", 1, 2)},
		{"terminating, bound and foreign pods count", func(b *bench) { b.group("pg", 4).add(p1, terminating, foreign, on(member("b", "pg"), "n1")) }, p1, nil, "ok"},
		{"12: finished pods do not", func(b *bench) { b.group("pg", 2).add(p1, done) }, p1, nil, fmt.Sprintf(tooFew, "p1", 1, 2)},
		{"2: too many gates", func(b *bench) { b.group("pg", 3).add(p1, p2, gated(member("p3", "pg"))) }, p1, nil, fmt.Sprintf(gatedPods, "p1")},
		{"2: enough without the gated one", func(b *bench) { b.group("pg", 3).add(p1, p2, gated(member("p3", "pg")), p4) }, p1, nil, "ok"},
		{"minMember 0: everything passes", func(b *bench) { b.group("pg", 0) }, p1, nil, "ok"},
		{"backed off", func(b *bench) {
			b.group("pg", 2).add(p1, p2)
			b.memory("team/pg").backoff = start.Add(time.Second)
		}, p1, nil, "UnschedulableAndUnresolvable: podGroup team/pg failed recently"},
		{"a backoff that has ended", func(b *bench) {
			b.group("pg", 2).add(p1, p2)
			b.memory("team/pg").backoff = start
		}, p1, nil, "ok"},
		{"the backoff comes before the members", func(b *bench) {
			b.group("pg", 2).add(p1)
			b.memory("team/pg").backoff = start.Add(time.Second)
		}, p1, nil, "UnschedulableAndUnresolvable: podGroup team/pg failed recently"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Arguments{})
			c.setUp(b)
			if diff := cmp.Diff(c.want, b.preFilter(c.pod, c.nodes...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMinResources has two nodes of 4 CPU.
func TestMinResources(t *testing.T) {
	own, stranger := cpu(on(member("own", "pg"), "n1"), "3"), cpu(st.MakePod().Namespace(ns).Name("stranger").UID("s").Node("n1").Obj(), "3")
	over := cpu(st.MakePod().Namespace(ns).Name("over").UID("o").Node("n2").Obj(), "6")
	namesake := cpu(on(member("namesake", "pg"), "n1"), "3")
	namesake.Namespace = "other"
	for _, c := range []struct {
		name  string
		need  map[string]string
		least int32
		nodes []fwk.NodeInfo
		want  string // the lacking resources
	}{
		{"7: 10 CPU of 8", map[string]string{"cpu": "10"}, 1, []fwk.NodeInfo{node("n1"), node("n2")}, "cpu 2"},
		{"7: 6 CPU, 3 used by a stranger", map[string]string{"cpu": "6"}, 1, []fwk.NodeInfo{node("n1", stranger), node("n2")}, "cpu 1"},
		{"7: 6 CPU, 3 used by the group", map[string]string{"cpu": "6"}, 1, []fwk.NodeInfo{node("n1", own), node("n2")}, ""},
		{"used by a group of that name in another namespace", map[string]string{"cpu": "6"}, 1, []fwk.NodeInfo{node("n1", namesake), node("n2")}, "cpu 1"},
		{"an overcommitted node adds to the need", map[string]string{"cpu": "3"}, 1, []fwk.NodeInfo{node("n2", over)}, "cpu 5"},
		{"but not to what has been found", map[string]string{"cpu": "4"}, 1, []fwk.NodeInfo{node("n1"), node("n2", over)}, ""},
		{"all that is asked, exactly", map[string]string{"cpu": "8", "memory": "16Gi", "example.com/gpu": "4"}, 20, []fwk.NodeInfo{node("n1"), node("n2")}, ""},
		{"several are lacking", map[string]string{"cpu": "9", "memory": "17Gi", "example.com/gpu": "5"}, 1, []fwk.NodeInfo{node("n1"), node("n2")}, "cpu 1, example.com/gpu 1, memory 1Gi"},
		{"a resource that no node has", map[string]string{"example.com/fpga": "1"}, 1, []fwk.NodeInfo{node("n1")}, "example.com/fpga 1"},
		{"pods are minMember", map[string]string{"pods": "1"}, 21, []fwk.NodeInfo{node("n1"), node("n2")}, "pods 1"},
		{"also without asking for pods", map[string]string{}, 21, []fwk.NodeInfo{node("n1"), node("n2")}, "pods 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Arguments{}).group("pg", c.least, minResources(c.need))
			for i := range c.least {
				b.add(member(fmt.Sprint("p", i), "pg"))
			}
			pod := member("p0", "pg")
			got := b.preFilter(pod, c.nodes...)
			if diff := cmp.Diff(c.want, b.facts(pod)["lacking"]); diff != "" {
				t.Error(diff)
			}
			if refused := strings.HasPrefix(got, "UnschedulableAndUnresolvable: resource gap: map["); refused != (c.want != "") {
				t.Error(got)
			}
		})
	}
}

// TestMinResourcesAreRemembered: a group that has passed passes for a while, unless it fails.
func TestMinResourcesAreRemembered(t *testing.T) {
	pod, full := member("p1", "pg"), node("n1", cpu(st.MakePod().Name("x").UID("x").Obj(), "4"))
	for _, c := range []struct {
		name  string
		args  Arguments
		then  func(*bench)
		after time.Duration
		want  string
	}{
		{"at once", Arguments{}, nil, 0, "ok"},
		{"for permitWaitingTimeSeconds", Arguments{PermitWaitingTimeSeconds: ptr.To[int64](20)}, nil, 20*time.Second - 1, "ok"},
		{"no longer", Arguments{PermitWaitingTimeSeconds: ptr.To[int64](20)}, nil, 20 * time.Second, "refused"},
		{"for three seconds if that is 0", Arguments{PermitWaitingTimeSeconds: ptr.To[int64](0)}, nil, 3*time.Second - 1, "ok"},
		{"and no longer", Arguments{PermitWaitingTimeSeconds: ptr.To[int64](0)}, nil, 3 * time.Second, "refused"},
		{"not after PostFilter", Arguments{}, func(b *bench) { b.postFilter(pod) }, 0, "refused"},
		{"not after Unreserve", Arguments{}, func(b *bench) { b.unreserve(pod) }, 0, "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.args).group("pg", 1, minResources(map[string]string{"cpu": "2"})).add(pod)
			if got := b.preFilter(pod, node("n1")); got != "ok" {
				t.Fatal(got)
			}
			if c.then != nil {
				c.then(b)
			}
			b.clock = start.Add(c.after)
			if got := b.preFilter(pod, full); (got == "ok") != (c.want == "ok") {
				t.Error(got)
			}
		})
	}
}

func TestPermit(t *testing.T) {
	p1, p2, p3 := member("p1", "pg"), member("p2", "pg"), member("p3", "pg")
	t.Run("a pod without a group passes", func(t *testing.T) {
		if got := newBench(t, Arguments{}).permit(st.MakePod().Namespace(ns).Name("p").Obj()); got != "ok" {
			t.Error(got)
		}
	})
	t.Run("3: a group that does not exist", func(t *testing.T) {
		b := newBench(t, Arguments{}).add(p1)
		if got := b.preFilter(p1) + ", " + b.permit(p1); got != "ok, Unschedulable: PodGroup not found" {
			t.Error(got)
		}
	})
	t.Run("4: the last one lets all go", func(t *testing.T) {
		b := newBench(t, Arguments{}).group("pg", 3).add(p1, p2, p3)
		b.memory("team/pg").failure = start
		got := []string{b.permit(p1), b.permit(p2), b.permit(p3)}
		if diff := cmp.Diff([]string{"Wait 1m0s", "Wait 1m0s", "ok"}, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]string{"p1": "allowed by Coscheduling", "p2": "allowed by Coscheduling"}, b.fates()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"team/p2", "team/p3"}, b.activated(p1)); diff != "" {
			t.Errorf("the first one activates the others: %s", diff)
		}
		if got := append(b.activated(p2), b.activated(p3)...); len(got) > 0 {
			t.Errorf("the others activate %v", got)
		}
		if !b.memory("team/pg").failure.IsZero() || len(b.Plugin.waiting) > 0 {
			t.Error("the group that is complete is remembered as one that failed, or waits")
		}
	})
	t.Run("a group of another name or namespace waits on", func(t *testing.T) {
		stranger, namesake := member("s", "other"), member("n", "pg")
		namesake.Namespace = "other"
		b := newBench(t, Arguments{}).group("pg", 1).group("other", 2).add(p1, stranger, namesake)
		b.waiting = []*waitingPod{{pod: stranger}, {pod: namesake}}
		if got := b.permit(p1); got != "ok" {
			t.Error(got)
		}
		if diff := cmp.Diff(map[string]string{"s": "", "n": ""}, b.fates()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("10: two are bound, a replacement arrives", func(t *testing.T) {
		b := newBench(t, Arguments{}).group("pg", 3).add(on(member("b1", "pg"), "n1"), on(member("b2", "pg"), "n1"), p1)
		if got := b.permit(p1); got != "ok" {
			t.Error(got)
		}
	})
	t.Run("minMember 0", func(t *testing.T) {
		if got := newBench(t, Arguments{}).group("pg", 0).add(p1).permit(p1); got != "ok" {
			t.Error(got)
		}
	})
}

func TestTheWaitAtPermit(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  *int64
		group *int32
		want  string
	}{
		{"8: the group's", ptr.To[int64](60), ptr.To[int32](10), "Wait 10s"},
		{"8: 0 leaves it to the arguments", ptr.To[int64](30), ptr.To[int32](0), "Wait 30s"},
		{"the arguments' default", nil, nil, "Wait 1m0s"},
		{"8: unset, and 0 in the arguments", ptr.To[int64](0), nil, "Wait 1m0s"},
		{"8: 0 in both", ptr.To[int64](0), ptr.To[int32](0), "Wait 0s"},
		{"a negative one is over at once", nil, ptr.To[int32](-5), "Wait -5s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Arguments{PermitWaitingTimeSeconds: c.args})
			b.group("pg", 2, func(g *v1alpha1.PodGroup) { g.Spec.ScheduleTimeoutSeconds = c.group })
			if diff := cmp.Diff(c.want, b.permit(member("p1", "pg"))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPostFilter(t *testing.T) {
	t.Run("a pod without a group", func(t *testing.T) {
		got := newBench(t, Arguments{}).postFilter(st.MakePod().Namespace(ns).Name("p").Obj())
		if got != "Unschedulable: can not find pod group" {
			t.Error(got)
		}
	})
	t.Run("a group that does not exist", func(t *testing.T) {
		if got := newBench(t, Arguments{}).postFilter(member("p", "pg")); got != "Unschedulable: can not find pod group" {
			t.Error(got)
		}
	})
	// The members of these groups of 10 wait, and one more fits no node.
	for _, c := range []struct {
		name     string
		percent  *int32
		assigned int
		want     string
		sent     bool
	}{
		{"6: one of ten is 10 %", nil, 9, "Unschedulable", false},
		{"6: two are more", nil, 8, fmt.Sprintf(groupFailed, "last"), true},
		{"6: 0 % always rejects", ptr.To[int32](0), 9, fmt.Sprintf(groupFailed, "last"), true},
		{"6: a complete group is left alone", ptr.To[int32](0), 10, "Unschedulable", false},
		{"100 % never rejects", ptr.To[int32](100), 0, "Unschedulable", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Arguments{PodGroupRejectPercentage: c.percent}).group("pg", 10)
			want := map[string]string{}
			for i := range c.assigned {
				pod := member(fmt.Sprint("p", i), "pg")
				b.add(pod).memory("team/pg").assigned[pod.Name] = true
				b.waiting = append(b.waiting, &waitingPod{pod: pod})
				want[pod.Name] = map[bool]string{true: optimistic}[c.sent]
			}
			if diff := cmp.Diff(c.want, b.postFilter(member("last", "pg"))); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(want, b.fates()); diff != "" {
				t.Error(diff)
			}
			if failed := !b.memory("team/pg").failure.IsZero(); failed != c.sent {
				t.Errorf("the failure is remembered: %v", failed)
			}
		})
	}
	t.Run("5: one of three is more than 10 %", func(t *testing.T) {
		p1, p2, p3 := member("p1", "pg"), member("p2", "pg"), member("p3", "pg")
		b := newBench(t, Arguments{}).group("pg", 3).add(p1, p2, p3)
		b.permit(p1)
		b.permit(p2)
		if got := b.postFilter(p3); got != fmt.Sprintf(groupFailed, "p3") {
			t.Error(got)
		}
		if diff := cmp.Diff(map[string]string{"p1": optimistic, "p2": optimistic}, b.fates()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]string{"group": "team/pg", "minMember": "3", "assigned": "2", "sentBackCount": "2", "sentBack": "team/p1, team/p2"}, b.facts(p3)); diff != "" {
			t.Errorf("facts of p3: %s", diff)
		}
		if got := b.facts(p1); got["causedBy"] != "team/p3" || got["cause"] != "unschedulable" {
			t.Errorf("facts of p1: %v", got)
		}
	})
	t.Run("bound members stay assigned", func(t *testing.T) {
		bound := on(member("bound", "pg"), "n1")
		b := newBench(t, Arguments{}).group("pg", 3).add(bound)
		b.postFilter(member("p", "pg"))
		if !b.memory("team/pg").assigned["bound"] {
			t.Error("the bound pod is forgotten")
		}
	})
}

// TestBackoff is 9: a backoff of a second.
func TestBackoff(t *testing.T) {
	p1, p2, p3 := member("p1", "pg"), member("p2", "pg"), member("p3", "pg")
	const failed = "UnschedulableAndUnresolvable: podGroup team/pg failed recently"
	for _, c := range []struct {
		name  string
		pods  []*v1.Pod
		again time.Duration // a second failure
		at    time.Duration
		want  string
	}{
		{"with enough members", []*v1.Pod{p1, p2, p3}, 0, time.Second - 1, failed},
		{"it ends", []*v1.Pod{p1, p2, p3}, 0, time.Second, "ok"},
		{"a failure meanwhile does not extend it", []*v1.Pod{p1, p2, p3}, 500 * time.Millisecond, time.Second, "ok"},
		{"a failure afterwards starts it again", []*v1.Pod{p1, p2, p3}, time.Second, 2*time.Second - 1, failed},
		{"with too few there is none", []*v1.Pod{p1, p3}, 0, 0, fmt.Sprintf(tooFew, "p1", 2, 3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Arguments{PodGroupBackoffSeconds: ptr.To[int64](1)}).group("pg", 3).add(c.pods...)
			b.postFilter(p3)
			if c.again > 0 {
				b.clock = start.Add(c.again)
				b.postFilter(p3)
			}
			b.clock = start.Add(c.at)
			if diff := cmp.Diff(c.want, b.preFilter(p1)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnreserve(t *testing.T) {
	p1, p2, p3 := member("p1", "pg"), member("p2", "pg"), member("p3", "pg")
	t.Run("14: the others lose their places too", func(t *testing.T) {
		b := newBench(t, Arguments{}).group("pg", 4).add(p1, p2, p3)
		for _, pod := range []*v1.Pod{p1, p2, p3} {
			b.permit(pod)
		}
		b.unreserve(p1)
		if diff := cmp.Diff(map[string]string{"p2": "rejection in Unreserve", "p3": "rejection in Unreserve"}, b.fates()); diff != "" {
			t.Error(diff)
		}
		m := b.memory("team/pg")
		if diff := cmp.Diff(map[string]bool{"p2": true, "p3": true}, m.assigned); diff != "" {
			t.Errorf("assigned until their own Unreserve: %s", diff)
		}
		if m.failure != start {
			t.Errorf("the failure was at %v", m.failure)
		}
		if got := b.facts(p2); got["causedBy"] != "team/p1" || got["cause"] != "released" {
			t.Errorf("facts of p2: %v", got)
		}
	})
	t.Run("a name counts until its own Unreserve, so a group may start without the pod", func(t *testing.T) {
		b := newBench(t, Arguments{PodGroupRejectPercentage: ptr.To[int32](0)}).group("pg", 2).add(p1, p2, p3)
		b.permit(p1)
		b.postFilter(p3)
		if diff := cmp.Diff(map[string]string{"p1": "optimistic rejection in PostFilter"}, b.fates()); diff != "" {
			t.Error(diff)
		}
		if got := b.permit(p2); got != "ok" {
			t.Errorf("p2, after p1 was rejected and before its Unreserve: %s", got)
		}
	})
	t.Run("there is no backoff", func(t *testing.T) {
		b := newBench(t, Arguments{PodGroupBackoffSeconds: ptr.To[int64](10)}).group("pg", 1).add(p1)
		b.unreserve(p1)
		if got := b.preFilter(p1); got != "ok" {
			t.Error(got)
		}
	})
	t.Run("without the group, nothing happens and the name stays", func(t *testing.T) {
		b := newBench(t, Arguments{}).group("pg", 3).add(p1, p2)
		b.permit(p1)
		b.permit(p2)
		b.dropGroup("pg")
		b.unreserve(p1)
		if diff := cmp.Diff(map[string]string{"p2": ""}, b.fates()); diff != "" {
			t.Error(diff)
		}
		// A group that is created again inherits it.
		b.group("pg", 3)
		if got := b.permit(p3); got != "ok" {
			t.Error(got)
		}
	})
	t.Run("a pod without a group", func(t *testing.T) {
		b := newBench(t, Arguments{})
		b.unreserve(st.MakePod().Namespace(ns).Name("p").Obj())
		if len(b.known) > 0 {
			t.Errorf("the plugin remembers %v", b.known)
		}
	})
}

// TestAssigned: which names count as placed.
func TestAssigned(t *testing.T) {
	bound := on(member("bound", "pg"), "n1")
	for _, c := range []struct {
		name string
		do   func(*bench)
		want []string
	}{
		{"a pod that is seen with a node", func(b *bench) { b.add(bound) }, []string{"bound"}},
		{"not one that is seen without", func(b *bench) { b.add(member("p1", "pg")) }, nil},
		{"not one that another scheduler binds later", func(b *bench) {
			p := member("p1", "pg")
			b.add(p)
			b.must(b.pods.Update(on(p.DeepCopy(), "n1")))
		}, nil},
		{"a pod at Permit", func(b *bench) { b.group("pg", 2).permit(member("p1", "pg")) }, []string{"p1"}},
		{"not after Unreserve", func(b *bench) {
			b.group("pg", 2).permit(member("p1", "pg"))
			b.unreserve(member("p1", "pg"))
		}, nil},
		{"not after a bound pod is deleted or finishes", func(b *bench) {
			b.add(bound)
			b.finish(bound)
		}, nil},
		{"a pod without a node that is deleted stays until Unreserve", func(b *bench) {
			p := member("p1", "pg")
			b.group("pg", 2).add(p)
			b.permit(p)
			b.finish(p)
		}, []string{"p1"}},
		{"a terminating pod stays until it is gone", func(b *bench) {
			b.add(bound)
			p := bound.DeepCopy()
			p.DeletionTimestamp = &metav1.Time{Time: start}
			b.must(b.pods.Update(p))
		}, []string{"bound"}},
		{"the group need not exist", func(b *bench) { b.add(bound) }, []string{"bound"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Arguments{})
			c.do(b)
			var got []string
			for name := range b.memory("team/pg").assigned {
				got = append(got, name)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMemoryIsBounded: groups of which nothing is left are forgotten in the end, and no others.
func TestMemoryIsBounded(t *testing.T) {
	b := newBench(t, Arguments{}).group("exists", 2)
	b.add(on(member("bound", "placed"), "n1"), member("pending", "waits"))
	fail := func(group string) {
		b.memory("team/" + group).failure = start
	}
	for _, group := range []string{"exists", "placed", "waits", "gone"} {
		fail(group)
	}
	if at := b.memory("team/gone").failure; !at.Equal(start) {
		t.Error("a group that is gone is forgotten at once")
	}
	for n := range mostForgettable {
		fail(fmt.Sprintf("job-%d", n))
	}
	if n := len(b.known); n > mostForgettable {
		t.Errorf("%d groups are remembered", n)
	}
	got := map[string]bool{}
	for _, group := range []string{"exists", "placed", "waits", "gone"} {
		_, got[group] = b.known["team/"+group]
	}
	if diff := cmp.Diff(map[string]bool{"exists": true, "placed": true, "waits": true, "gone": false}, got); diff != "" {
		t.Error(diff)
	}
}

// TestPodsOfEvents: also of a deletion that the informer has missed.
func TestPodsOfEvents(t *testing.T) {
	pod := member("p1", "pg")
	for _, c := range []struct {
		event any
		want  *v1.Pod
	}{
		{pod, pod}, {cache.DeletedFinalStateUnknown{Obj: pod}, pod}, {cache.DeletedFinalStateUnknown{}, nil},
	} {
		if got := podOf(c.event); got != c.want {
			t.Errorf("%T has %v", c.event, got)
		}
	}
}

// entry is a pod in the queue, tried first at that time after start.
func entry(pod *v1.Pod, first time.Duration) fwk.QueuedEntityInfo {
	info, _ := framework.NewPodInfo(pod)
	at := start.Add(first)
	return &framework.QueuedPodInfo{PodInfo: info, QueueingParams: framework.QueueingParams{Timestamp: at.Add(time.Hour), InitialAttemptTimestamp: &at}}
}

// TestLess sorts a queue.
func TestLess(t *testing.T) {
	plain := func(name string) *v1.Pod { return st.MakePod().Namespace(ns).Name(name).UID(name).Obj() }
	important := func(pod *v1.Pod) *v1.Pod {
		pod.Spec.Priority = ptr.To[int32](10)
		return pod
	}
	at := func(d time.Duration) func(*v1alpha1.PodGroup) {
		return func(g *v1alpha1.PodGroup) { g.CreationTimestamp = metav1.NewTime(start.Add(d)) }
	}
	untried := func(pod *v1.Pod, added time.Duration) fwk.QueuedEntityInfo {
		info, _ := framework.NewPodInfo(pod)
		return &framework.QueuedPodInfo{PodInfo: info, QueueingParams: framework.QueueingParams{Timestamp: start.Add(added)}}
	}
	for _, c := range []struct {
		name  string
		setUp func(*bench)
		queue []fwk.QueuedEntityInfo
		want  string
	}{
		{"the higher priority first, also within a group", func(b *bench) { b.group("pg", 2) }, []fwk.QueuedEntityInfo{
			entry(plain("a"), 0), entry(member("b", "pg"), 0), entry(important(member("c", "pg")), 0), entry(important(plain("d")), -time.Hour),
		}, "d c b a"},
		{"the first attempt of a pod, the creation of a group", func(b *bench) { b.group("pg", 2, at(5*time.Second)) }, []fwk.QueuedEntityInfo{
			entry(plain("early"), 4*time.Second), entry(plain("late"), 6*time.Second), entry(member("m", "pg"), -time.Hour), entry(member("n", "pg"), time.Hour),
		}, "early m n late"},
		{"a group that does not exist counts as none", func(*bench) {}, []fwk.QueuedEntityInfo{
			entry(member("m", "pg"), 2*time.Second), entry(plain("early"), time.Second), entry(plain("late"), 3*time.Second),
		}, "early m late"},
		{"a pod that was not tried yet counts from when it was added", func(*bench) {}, []fwk.QueuedEntityInfo{
			untried(plain("late"), 2*time.Second), untried(plain("early"), time.Second), entry(plain("tried"), 0),
		}, "tried early late"},
		{"13: a group that failed stands behind younger ones", func(b *bench) {
			b.group("pg1", 2, at(-20*time.Second)).group("pg2", 2, at(-10*time.Second))
			b.postFilter(member("x", "pg1"))
		}, []fwk.QueuedEntityInfo{
			entry(member("a", "pg1"), 0), entry(member("b", "pg2"), 0),
		}, "b a"},
		{"13: until it is complete", func(b *bench) {
			b.group("pg1", 1, at(-20*time.Second)).group("pg2", 2, at(-10*time.Second))
			b.postFilter(member("x", "pg1"))
			b.permit(member("a", "pg1"))
		}, []fwk.QueuedEntityInfo{
			entry(member("a", "pg1"), 0), entry(member("b", "pg2"), 0),
		}, "a b"},
		{"also when it is deleted", func(b *bench) {
			b.group("pg1", 2, at(-20*time.Second))
			b.postFilter(member("x", "pg1"))
			b.dropGroup("pg1")
		}, []fwk.QueuedEntityInfo{
			entry(member("a", "pg1"), -time.Hour), entry(plain("b"), -time.Minute),
		}, "b a"},
		{"15: groups of the same second interleave by pod", func(b *bench) { b.group("pg1", 2).group("pg2", 2) }, []fwk.QueuedEntityInfo{
			entry(member("a4", "pg2"), 0), entry(member("a1", "pg1"), 0), entry(member("a3", "pg1"), 0), entry(member("a2", "pg2"), 0),
		}, "a1 a2 a3 a4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Arguments{})
			c.setUp(b)
			slices.SortFunc(c.queue, func(x, y fwk.QueuedEntityInfo) int {
				switch {
				case b.Less(x, y):
					return -1
				case b.Less(y, x):
					return 1
				}
				return 0
			})
			var got []string
			for _, e := range c.queue {
				got = append(got, firstPod(e).Name)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEvents: the events that wake a pod, without hints.
func TestEvents(t *testing.T) {
	events, err := newBench(t, Arguments{}).EventsToRegister(t.Context())
	want := []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: "Pod", ActionType: fwk.Add}},
		{Event: fwk.ClusterEvent{Resource: "podgroups.v1alpha1.scheduling.x-k8s.io", ActionType: fwk.Add | fwk.Update}},
	}
	if diff := cmp.Diff(want, events, cmpopts.IgnoreUnexported(fwk.ClusterEvent{})); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want Arguments
		err  string
	}{
		{raw: "", want: Arguments{PermitWaitingTimeSeconds: ptr.To[int64](60), PodGroupBackoffSeconds: ptr.To[int64](0), PodGroupRejectPercentage: ptr.To[int32](10)}},
		{raw: `{"permitWaitingTimeSeconds":0,"podGroupBackoffSeconds":5,"podGroupRejectPercentage":0}`,
			want: Arguments{PermitWaitingTimeSeconds: ptr.To[int64](0), PodGroupBackoffSeconds: ptr.To[int64](5), PodGroupRejectPercentage: ptr.To[int32](0)}},
		{raw: `{"permitWaitingTimeSeconds":-1,"podGroupBackoffSeconds":-2,"podGroupRejectPercentage":101}`, err: "permitWaitingTimeSeconds: Invalid value: -1: must be greater than 0\npodGroupBackoffSeconds: Invalid value: -2: must be greater than 0\npodGroupRejectPercentage: Invalid value: 101: must be between 0 and 100"},
		{raw: `{"podGroupRejectPercentage":-1}`, err: "podGroupRejectPercentage: Invalid value: -1: must be between 0 and 100"},
		{raw: `{"permitWaitSeconds":1}`, err: `permitWaitSeconds: unknown field "permitWaitSeconds"; the fields are apiVersion, kind, permitWaitingTimeSeconds, podGroupBackoffSeconds, podGroupRejectPercentage`},
	} {
		var raw runtime.Object
		if c.raw != "" {
			raw = &runtime.Unknown{Raw: []byte(c.raw)}
		}
		got, err := read(raw)
		if c.err != "" {
			if err == nil || err.Error() != c.err || len(argument.All(err)) == 0 {
				t.Errorf("%s: %v", c.raw, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.raw, err)
			continue
		}
		if diff := cmp.Diff(&c.want, got); diff != "" {
			t.Errorf("%s: %s", c.raw, diff)
		}
		if diff := cmp.Diff(got, got.DeepCopyObject()); diff != "" {
			t.Errorf("the copy of %s: %s", c.raw, diff)
		}
	}
}

// TestNothingPanics calls everything for objects that no API server would accept.
func TestNothingPanics(t *testing.T) {
	negative := member("p", "pg")
	for _, group := range []func(*v1alpha1.PodGroup){
		func(g *v1alpha1.PodGroup) { g.Spec.MinMember = -3 },
		func(g *v1alpha1.PodGroup) { g.Spec.ScheduleTimeoutSeconds = ptr.To[int32](-1 << 31) },
		func(g *v1alpha1.PodGroup) { g.Spec.MinResources = v1.ResourceList{"": resource.Quantity{}} },
		func(g *v1alpha1.PodGroup) { g.CreationTimestamp = metav1.Time{} },
	} {
		b := newBench(t, Arguments{}).group("pg", 1, group).add(negative)
		b.preFilter(negative, node("n1"))
		b.permit(negative)
		b.postFilter(negative)
		b.unreserve(negative)
		b.Less(entry(negative, 0), &framework.QueuedPodGroupInfo{PodGroupInfo: &framework.PodGroupInfo{}})
	}
}
