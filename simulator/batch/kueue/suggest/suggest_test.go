package suggest_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/kueuetest"
	"kube-scheduler-simulator/simulator/batch/kueue/suggest"
)

func TestEverySuggestionIsEnough(t *testing.T) {
	before := func(minutes int) time.Time { return kueuetest.Begin.Add(-time.Duration(minutes) * time.Minute) }
	waits := func(name, cpu string, minutes int) *kueue.Workload {
		return kueuetest.Workload(name, "a", cpu, 0, before(minutes))
	}
	holds := func(name, cpu string, minutes int) *kueue.Workload {
		return kueuetest.Holding(name, "a", cpu, 0, before(minutes))
	}
	pods := func(count int32, w *kueue.Workload) *kueue.Workload {
		w.Spec.PodSets[0].Count = count
		return w
	}
	for _, tc := range []struct {
		name      string
		queue     func(*kueue.ClusterQueueSpec)
		state     func(*admission.State)
		workloads []*kueue.Workload
		own       bool
		want      string
	}{
		{
			name: "it would be admitted anyway", workloads: []*kueue.Workload{holds("v", "6", 2), waits("w", "4", 1)},
			want: `admits`,
		},
		{
			name: "more quota, or the end of the right workload", workloads: []*kueue.Workload{holds("big", "6", 3), holds("small", "2", 2), waits("w", "6", 1)},
			want: `
{"kind":"request","podSet":"main","resource":"cpu","amount":"2"}
{"kind":"quota","clusterQueue":"a","flavor":"f","quota":{"cpu":"4"}}
{"kind":"finish","workload":{"namespace":"ns","name":"big","uid":"big"}}`,
		},
		{
			name: "only several workloads together", workloads: []*kueue.Workload{holds("v1", "3", 5), holds("v2", "3", 4), holds("v3", "4", 3), waits("w", "7", 1)},
			want: `
{"kind":"quota","clusterQueue":"a","flavor":"f","quota":{"cpu":"7"}}
{"kind":"finish","workload":{"namespace":"ns","name":"v3","uid":"v3"},"others":[{"namespace":"ns","name":"v2","uid":"v2"}]}`,
		},
		{
			name: "a priority that may evict",
			queue: func(q *kueue.ClusterQueueSpec) {
				q.Preemption = &kueue.ClusterQueuePreemption{WithinClusterQueue: kueue.PreemptionPolicyLowerPriority}
			},
			workloads: []*kueue.Workload{holds("v", "10", 2), waits("w", "1", 1)}, own: true,
			want: `
{"kind":"priority","priority":1}`,
		},
		{
			name: "fewer pods", workloads: []*kueue.Workload{pods(12, waits("w", "1", 1))},
			want: `
{"kind":"pods","podSet":"main","count":10}
{"kind":"quota","clusterQueue":"a","flavor":"f","quota":{"cpu":"2"}}`,
		},
		{
			name: "whoever is ahead takes what is freed", queue: func(q *kueue.ClusterQueueSpec) { q.QueueingStrategy = kueue.StrictFIFO },
			workloads: []*kueue.Workload{holds("v", "10", 3), waits("head", "10", 2), waits("w", "10", 1)},
			want: `
{"kind":"quota","clusterQueue":"a","flavor":"f","quota":{"cpu":"20"}}`,
		},
		{
			name: "a stopped queue", queue: func(q *kueue.ClusterQueueSpec) { q.StopPolicy = ptr.To(kueue.Hold) },
			workloads: []*kueue.Workload{waits("w", "1", 1)},
			want: `
{"kind":"resume","clusterQueue":"a"}`,
		},
		{
			name: "a flavor whose taint can be tolerated, and whose label is another", workloads: []*kueue.Workload{func() *kueue.Workload {
				w := waits("w", "20", 1)
				w.Spec.PodSets[0].Template.Spec.NodeSelector = map[string]string{"gpu": "a100", "zone": "z"}
				return w
			}()}, own: true,
			queue: func(q *kueue.ClusterQueueSpec) {
				spot := q.ResourceGroups[0].Flavors[0].DeepCopy()
				spot.Name, spot.Resources[0].NominalQuota = "spot", resource.MustParse("30")
				q.ResourceGroups[0].Flavors = append(q.ResourceGroups[0].Flavors, *spot)
			},
			state: func(s *admission.State) {
				s.SetFlavor(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "spot"}, Spec: kueue.ResourceFlavorSpec{
					NodeLabels: map[string]string{"gpu": "h100"}, NodeTaints: []v1.Taint{{Key: "spot", Value: "true", Effect: v1.TaintEffectNoSchedule}},
				}})
			},
			want: `
{"kind":"request","podSet":"main","resource":"cpu","amount":"10"}
{"kind":"flavor","flavor":"spot","tolerations":[{"key":"spot","operator":"Equal","value":"true","effect":"NoSchedule"}],"selectors":["gpu"]}`,
		},
		{
			name: "another queue", workloads: []*kueue.Workload{holds("v", "10", 2), waits("w", "1", 1)}, own: true,
			state: func(s *admission.State) { kueuetest.Queue(s, "b", "", "1", nil) },
			want: `
{"kind":"queue","localQueue":"b"}`,
		},
		{
			name: "nothing helps against a resource without quota", workloads: []*kueue.Workload{func() *kueue.Workload {
				w := waits("w", "1", 1)
				w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests["gpu"] = resource.MustParse("1")
				return w
			}()},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			state := kueuetest.NewState(admission.Settings{})
			kueuetest.Queue(state, "a", "", "10", tc.queue)
			if tc.state != nil {
				tc.state(state)
			}
			for _, w := range tc.workloads {
				state.SetWorkload(w, kueuetest.Begin)
			}
			quotas := state.Quotas()
			answer, ok := suggest.Ask(t.Context(), suggest.Question{State: state, Workload: types.NamespacedName{Namespace: "ns", Name: "w"}, Now: kueuetest.Begin, Own: tc.own})
			if !ok || !answer.Complete {
				t.Fatalf("it was not told: %t, %+v", ok, answer)
			}
			var got []string
			if answer.Admits {
				got = append(got, "admits")
			}
			for _, s := range answer.Suggestions {
				line, err := json.Marshal(s)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(line))
			}
			if diff := cmp.Diff(strings.TrimSpace(tc.want), strings.Join(got, "\n")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(quotas, state.Quotas()); diff != "" {
				t.Errorf("asking changed the state:\n%s", diff)
			}
		})
	}
	state := kueuetest.NewState(admission.Settings{})
	kueuetest.Queue(state, "a", "", "10", nil)
	state.SetWorkload(holds("w", "1", 1), kueuetest.Begin)
	for _, name := range []string{"w", "none"} {
		if _, ok := suggest.Ask(t.Context(), suggest.Question{State: state, Workload: types.NamespacedName{Namespace: "ns", Name: name}, Now: kueuetest.Begin}); ok {
			t.Errorf("%s does not wait, and was asked about", name)
		}
	}
}
