package forward

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/kueuetest"
)

var begin = kueuetest.Begin

// world is a State with the flavor f, and a log of what a run does.
type world struct {
	state *admission.State
	log   []string
}

func newWorld(settings admission.Settings) *world {
	return &world{state: kueuetest.NewState(settings)}
}

func (w *world) add(list ...*kueue.Workload) {
	for _, o := range list {
		w.state.SetWorkload(o, begin)
	}
}

// options run the world; durations are those after admission, by name.
func (w *world) options(durations map[string]time.Duration) Options {
	return Options{
		State: w.state, Begin: begin,
		Duration: func(o *kueue.Workload, _ time.Time) (time.Duration, bool) {
			d, known := durations[o.Name]
			return d, known
		},
		Told: func(e Event) bool {
			line := fmt.Sprintf("%v %s %s", e.At.Sub(begin), e.Workload.Name, e.What)
			if e.What == Evicted && e.Head != nil {
				line += " for " + e.Head.Workload.Name
			}
			w.log = append(w.log, line)
			return true
		},
	}
}

func (w *world) want(t *testing.T, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimSpace(want), strings.Join(w.log, "\n")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTheQueueRunsUntilNothingIsLeft(t *testing.T) {
	w := newWorld(admission.Settings{})
	kueuetest.Queue(w.state, "a", "", "10", nil)
	w.add(kueuetest.Holding("v", "a", "6", 0, begin.Add(-10*time.Minute)), kueuetest.Workload("w1", "a", "6", 0, begin.Add(-2*time.Minute)), kueuetest.Workload("w2", "a", "4", 0, begin.Add(-time.Minute)))
	r := New(w.options(map[string]time.Duration{"v": 15 * time.Minute, "w1": time.Hour, "w2": 30 * time.Minute, "w3": time.Minute}))
	r.Arrive(kueuetest.Workload("w3", "a", "6", 5, begin.Add(time.Minute)), begin.Add(time.Minute))
	if err := r.Until(t.Context(), begin.Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	// w1 is the head, and does not fit beside v; w3 goes before it, by priority.
	w.want(t, `
0s w2 Reserved
0s w2 Admitted
1m0s w3 Arrived
5m0s v Ended
5m0s w3 Reserved
5m0s w3 Admitted
6m0s w3 Ended
6m0s w1 Reserved
6m0s w1 Admitted
30m0s w2 Ended
1h6m0s w1 Ended`)
}

func TestNobodyKnowsWhenSomeEnd(t *testing.T) {
	w := newWorld(admission.Settings{})
	kueuetest.Queue(w.state, "a", "", "10", nil)
	w.add(kueuetest.Holding("v", "a", "6", 0, begin.Add(-time.Minute)), kueuetest.Workload("w1", "a", "6", 0, begin))
	r := New(w.options(nil))
	if err := r.Until(t.Context(), begin.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	w.want(t, "")
	if head := r.Latest().Heads[0]; head.Condition != "WaitingForQuota" {
		t.Errorf("w1 waits because of %s", head.Condition)
	}
}

func TestVictimsStopAndComeBack(t *testing.T) {
	evicts := func(spec *kueue.ClusterQueueSpec) {
		spec.Preemption = &kueue.ClusterQueuePreemption{WithinClusterQueue: kueue.PreemptionPolicyLowerPriority}
	}
	for _, tc := range []struct {
		name     string
		stopping time.Duration
		want     string
	}{
		{"at once", 0, `
0s v Evicted for w1
0s v Released
0s w1 Reserved
0s w1 Admitted
10m0s w1 Ended
10m0s v Reserved
10m0s v Admitted
1h10m0s v Ended`},
		{"after half a minute", 30 * time.Second, `
0s v Evicted for w1
30s v Released
30s w1 Reserved
30s w1 Admitted
10m30s w1 Ended
10m30s v Reserved
10m30s v Admitted
1h10m30s v Ended`},
		{"never", Never, `
0s v Evicted for w1`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(admission.Settings{})
			kueuetest.Queue(w.state, "a", "", "10", evicts)
			w.add(kueuetest.Holding("v", "a", "10", 0, begin.Add(-50*time.Minute)), kueuetest.Workload("w1", "a", "10", 9, begin))
			o := w.options(map[string]time.Duration{"v": time.Hour, "w1": 10 * time.Minute})
			o.Stopping = tc.stopping
			if err := New(o).Until(t.Context(), begin.Add(24*time.Hour)); err != nil {
				t.Fatal(err)
			}
			w.want(t, tc.want)
		})
	}
}

func TestABackoffEnds(t *testing.T) {
	w := newWorld(admission.Settings{WaitForPodsReady: &admission.WaitForPodsReady{}})
	kueuetest.Queue(w.state, "a", "", "10", nil)
	late := kueuetest.Workload("late", "a", "1", 0, begin)
	at := metav1.NewTime(begin.Add(4 * time.Minute))
	late.Status.RequeueState = &kueue.RequeueState{Count: ptr.To[int32](1), RequeueAt: &at}
	meta.SetStatusCondition(&late.Status.Conditions, metav1.Condition{Type: kueue.WorkloadRequeued, Status: metav1.ConditionFalse, Reason: "PodsReadyTimeout", LastTransitionTime: metav1.NewTime(begin)})
	meta.SetStatusCondition(&late.Status.Conditions, metav1.Condition{Type: kueue.WorkloadEvicted, Status: metav1.ConditionTrue, Reason: "PodsReadyTimeout", LastTransitionTime: metav1.NewTime(begin)})
	w.add(late)
	if err := New(w.options(nil)).Until(t.Context(), begin.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	w.want(t, `
4m0s late Reserved
4m0s late Admitted`)
}

// TestTheOrderTurnsWhileNothingHappens: what is used is sampled on the way to the next event, and the head of a StrictFIFO queue changes.
func TestTheOrderTurnsWhileNothingHappens(t *testing.T) {
	w := newWorld(admission.Settings{AdmissionFairSharing: &admission.AdmissionFairSharing{HalfLife: 5 * time.Minute}})
	kueuetest.Queue(w.state, "busy", "", "10", func(spec *kueue.ClusterQueueSpec) {
		spec.QueueingStrategy = kueue.StrictFIFO
		spec.AdmissionScope = &kueue.AdmissionScope{AdmissionMode: kueue.UsageBasedAdmissionFairSharing}
	})
	calm := &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "calm"}, Spec: kueue.LocalQueueSpec{ClusterQueue: "busy"}}
	calm.Status.FairSharing = &kueue.LocalQueueFairSharingStatus{AdmissionFairSharingStatus: &kueue.LocalQueueAdmissionFairSharingStatus{
		ConsumedResources: v1.ResourceList{"cpu": resource.MustParse("4")}, LastUpdate: metav1.NewTime(begin),
	}}
	w.state.SetLocalQueue(calm)
	w.add(kueuetest.Holding("v", "busy", "6", 0, begin.Add(-time.Minute)), kueuetest.Workload("w1", "busy", "8", 0, begin), kueuetest.Workload("w2", "calm", "4", 0, begin))
	if err := New(w.options(map[string]time.Duration{"v": 20 * time.Minute, "w1": time.Minute, "w2": 30 * time.Minute})).Until(t.Context(), begin.Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	// After 5m busy has used 3, half of v's 6, and calm 2.
	w.want(t, `
5m0s w2 Reserved
5m0s w2 Admitted
19m0s v Ended
35m0s w2 Ended
35m0s w1 Reserved
35m0s w1 Admitted
36m0s w1 Ended`)
}

func TestAChecksAgreementAdmits(t *testing.T) {
	w := newWorld(admission.Settings{})
	check := &kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "budget"}}
	meta.SetStatusCondition(&check.Status.Conditions, metav1.Condition{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue, Reason: "Active"})
	w.state.SetAdmissionCheck(check)
	kueuetest.Queue(w.state, "a", "", "10", func(spec *kueue.ClusterQueueSpec) {
		spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "budget"}}}
	})
	w.add(kueuetest.Workload("w1", "a", "1", 0, begin))
	if err := New(w.options(map[string]time.Duration{"w1": time.Minute})).Until(t.Context(), begin.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	w.want(t, `
0s w1 Reserved
0s w1 Admitted
1m0s w1 Ended`)
}

func TestWhatIsToldEndsTheRun(t *testing.T) {
	w := newWorld(admission.Settings{})
	kueuetest.Queue(w.state, "a", "", "10", nil)
	w.add(kueuetest.Workload("w1", "a", "1", 0, begin), kueuetest.Workload("w2", "a", "1", 0, begin.Add(time.Second)))
	o := w.options(nil)
	told := o.Told
	o.Told = func(e Event) bool { return told(e) && e.What != Admitted }
	if err := New(o).Until(t.Context(), begin.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	w.want(t, `
0s w1 Reserved
0s w1 Admitted`)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if err := New(w.options(nil)).Settle(ctx); !errors.Is(err, why) {
		t.Errorf("a cancelled run ends with %v", err)
	}
}
