package capacityscheduling

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/plugins/capacityscheduling/v1alpha1"
)

// TestLedger: what the plugin has in memory after a sequence of events.
func TestLedger(t *testing.T) {
	for _, c := range []struct {
		name string
		// quotas and pods exist when the scheduler starts.
		quotas []*v1alpha1.ElasticQuota
		pods   []string
		// events are "quota+ NAMESPACE NAME", quota~ and quota-, pod+, pod~ and pod-, and
		// reserve and unreserve, each with a pod as for podOf.
		events []string
		want   string
	}{
		{
			name: "pods that have a node when the scheduler starts", quotas: twoQuotas,
			pods: []string{"q1/a on=n1 cpu=2", "q1/b cpu=1", "plain/c on=n1 cpu=1", "q2/d on=n1 cpu=3 deleted"}, want: "q1:2 q2:3",
		},
		{
			name: "16: a quota that is created after its pods counts later ones only",
			pods: []string{"q1/a on=n1 cpu=2"}, events: []string{"quota+ q1 q1", "pod+ q1/b on=n1 cpu=1"}, want: "q1:1",
		},
		{
			name: "a pod counts once", quotas: twoQuotas,
			events: []string{"reserve q1/a cpu=2", "pod~ q1/a on=n1 cpu=2 phase=Pending", "pod~ q1/a on=n1 cpu=2 phase=Running"}, want: "q1:2 q2:0",
		},
		{
			name: "a pod that gets a node from elsewhere", quotas: twoQuotas, pods: []string{"q1/a cpu=2"},
			events: []string{"pod~ q1/a on=n9 cpu=2"}, want: "q1:2 q2:0",
		},
		{name: "Unreserve", quotas: twoQuotas, events: []string{"reserve q1/a cpu=2", "unreserve q1/a cpu=2"}, want: "q1:0 q2:0"},
		{name: "deletion", quotas: twoQuotas, pods: []string{"q1/a on=n1 cpu=2"}, events: []string{"pod- q1/a on=n1 cpu=2"}, want: "q1:0 q2:0"},
		{
			name: "success and failure", quotas: twoQuotas, pods: []string{"q1/a on=n1 cpu=2", "q2/b on=n1 cpu=2"},
			events: []string{"pod~ q1/a on=n1 cpu=2 phase=Succeeded", "pod~ q2/b on=n1 cpu=2 phase=Failed"}, want: "q1:0 q2:0",
		},
		{
			name: "a pod counts while it waits for its kubelet, and while it runs", quotas: twoQuotas, pods: []string{"q1/a cpu=2"},
			events: []string{"pod~ q1/a on=n1 cpu=2 phase=Pending", "pod~ q1/a on=n1 cpu=2 phase=Running"}, want: "q1:2 q2:0",
		},
		{
			name: "in no other phase, and not again after one", quotas: twoQuotas, pods: []string{"q1/a on=n1 cpu=2 phase=Running"},
			events: []string{"pod~ q1/a on=n1 cpu=2 phase=Unknown", "pod~ q1/a on=n1 cpu=2 phase=Running"}, want: "q1:0 q2:0",
		},
		{
			name: "changes of pods do not make them count for a quota that came later", pods: []string{"q1/a on=n1 cpu=2 phase=Pending"},
			events: []string{"quota+ q1 q1", "pod~ q1/a on=n1 cpu=2 phase=Running"}, want: "q1:0",
		},
		{
			name: "a resize in place changes nothing", quotas: twoQuotas, pods: []string{"q1/a on=n1 cpu=2"},
			events: []string{"pod~ q1/a on=n1 cpu=3 phase=Running", "pod+ q1/b on=n1 cpu=1", "pod- q1/a on=n1 cpu=3"}, want: "q1:1 q2:0",
		},
		{
			name: "the first quota of a namespace counts", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=4", "cpu=6")},
			events: []string{"quota+ q1 second", "limits q1"}, want: "q1:0 max 6",
		},
		{
			name: "until any of them changes", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=4", "cpu=6")}, pods: []string{"q1/a on=n1 cpu=2"},
			events: []string{"quota+ q1 second", "quota~ q1 second", "limits q1"}, want: "q1:2 max 1",
		},
		{
			name: "a deleted quota frees what it held, whichever it is", quotas: twoQuotas, pods: []string{"q1/a on=n1 cpu=2", "q2/b on=n1 cpu=2"},
			events: []string{"quota- q1 other"}, want: "q2:2",
		},
		{
			name: "a later change brings the namespace back, without its pods", quotas: twoQuotas, pods: []string{"q1/a on=n1 cpu=2"},
			events: []string{"quota- q1 other", "quota~ q1 q1"}, want: "q1:0 q2:0",
		},
		{
			name: "and so does a later pod", quotas: twoQuotas, pods: []string{"q1/a on=n1 cpu=2"},
			events: []string{"quota- q1 other", "pod+ q1/b on=n1 cpu=1"}, want: "q1:1 q2:0",
		},
		{name: "pods that nobody counted are released without a trace", quotas: twoQuotas, events: []string{"pod- q1/a on=n1 cpu=2", "unreserve plain/b cpu=1"}, want: "q1:0 q2:0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var pods []*v1.Pod
			before := map[string]*v1.Pod{}
			name := func(text string) string { return strings.Fields(text)[0] }
			for _, text := range c.pods {
				pods = append(pods, podOf(t, text))
				before[name(text)] = podOf(t, text)
			}
			p := newStage(t, c.quotas, nil, pods).plugin
			limits := ""
			for _, e := range c.events {
				what, on, _ := strings.Cut(e, " ")
				switch what {
				case "quota+", "quota~", "quota-":
					namespace, name, _ := strings.Cut(on, " ")
					q := quotaOf(namespace, "cpu=1", "cpu=1")
					q.Name = name
					map[string]func(*v1alpha1.ElasticQuota){"quota+": p.ledger.added, "quota~": p.ledger.updated, "quota-": p.ledger.deleted}[what](q)
				case "pod+":
					p.podAdded(podOf(t, on))
					before[name(on)] = podOf(t, on)
				case "pod~":
					next := podOf(t, on)
					last := before[name(on)]
					if last == nil {
						last = &v1.Pod{}
					}
					p.podChanged(last, next)
					before[name(on)] = next
				case "pod-":
					p.ledger.release(podOf(t, on))
				case "reserve":
					p.Reserve(t.Context(), nil, podOf(t, on), "n1")
				case "unreserve":
					p.Unreserve(t.Context(), nil, podOf(t, on), "n1")
				case "limits":
					limits = " max " + cpus(p.ledger.snapshot().of[on].max[v1.ResourceCPU])
				}
			}
			if diff := cmp.Diff(c.want, p.used()+limits); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestACycleKeepsItsView: neither later events nor the dry runs of preemption change what
// other users of the account see.
func TestACycleKeepsItsView(t *testing.T) {
	s := newStage(t, twoQuotas, []string{"n1 cpu=8"}, []*v1.Pod{podOf(t, "q1/a on=n1 cpu=2")})
	state := framework.NewCycleState()
	pod := podOf(t, "q1/x cpu=1")
	if _, status, _ := s.framework.RunPreFilterPlugins(t.Context(), state, pod); !status.IsSuccess() {
		t.Fatal(status)
	}
	before, _, _ := read(state)
	s.plugin.ledger.place(podOf(t, "q1/b on=n1 cpu=3"))

	clone := state.Clone()
	removed, err := framework.NewPodInfo(podOf(t, "q1/a on=n1 cpu=2"))
	if err != nil {
		t.Fatal(err)
	}
	s.plugin.RemovePod(t.Context(), clone, pod, removed, nil)
	further := clone.Clone()
	s.plugin.AddPod(t.Context(), further, pod, removed, nil)

	used := func(a *accounts) string { return cpus(a.of["q1"].used[v1.ResourceCPU]) }
	first, _, _ := read(clone)
	second, _, _ := read(further)
	got := []string{used(before), used(first), used(second), used(s.plugin.ledger.snapshot())}
	if diff := cmp.Diff([]string{"2", "0", "2", "5"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestWithoutItsPreFilter: another plugin may have ended PreFilter before.
func TestWithoutItsPreFilter(t *testing.T) {
	s := newStage(t, twoQuotas, []string{"n1 cpu=8"}, []*v1.Pod{podOf(t, "q2/b cpu=1")})
	state, pod := framework.NewCycleState(), podOf(t, "q2/b cpu=1")
	statuses := framework.NewNodeToStatus(nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable))
	_, status := s.plugin.PostFilter(t.Context(), state, pod, statuses)
	if diff := cmp.Diff("not eligible due to failed to read from cycleState", status.Message()); diff != "" {
		t.Error(diff)
	}
	added, err := framework.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	if status := s.plugin.AddPod(t.Context(), state, pod, added, nil); !status.IsSuccess() {
		t.Error(status)
	}
	if status := s.plugin.RemovePod(t.Context(), state, pod, added, nil); !status.IsSuccess() {
		t.Error(status)
	}
}

// TestANominatedNodeThatCannotFitIsForgotten: the pod looks for other victims although one
// is still terminating there.
func TestANominatedNodeThatCannotFitIsForgotten(t *testing.T) {
	pods := []*v1.Pod{podOf(t, "q1/a on=n1 cpu=6 deleted"), podOf(t, "q2/b nominated=n1 cpu=4")}
	s := newStage(t, twoQuotas, []string{"n1 cpu=8"}, pods)
	state := framework.NewCycleState()
	s.framework.RunPreFilterPlugins(t.Context(), state, pods[1])
	statuses := framework.NewNodeToStatus(map[string]*fwk.Status{"n1": fwk.NewStatus(fwk.UnschedulableAndUnresolvable)}, nil)
	if why := s.plugin.ineligible(state, pods[1], statuses); why != "" {
		t.Error(why)
	}
}

// TestTheEventsThatWakePods: a deleted pod and every change of a quota.
func TestTheEventsThatWakePods(t *testing.T) {
	events, err := newStage(t, nil, nil, nil).plugin.EventsToRegister(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []fwk.ClusterEvent
	for _, e := range events {
		got = append(got, e.Event)
		if hint, err := e.QueueingHintFn(klog.Background(), nil, nil, nil); hint != fwk.Queue || err != nil {
			t.Errorf("%v: hint %v, %v", e.Event, hint, err)
		}
	}
	want := []fwk.ClusterEvent{
		{Resource: fwk.Pod, ActionType: fwk.Delete},
		{Resource: "elasticquotas.v1alpha1.scheduling.x-k8s.io", ActionType: fwk.All},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
