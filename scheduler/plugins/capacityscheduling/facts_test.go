package capacityscheduling

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/pluginfact"
	"kube-scheduler-simulator/scheduler/plugins/capacityscheduling/v1alpha1"
	"kube-scheduler-simulator/scheduler/result"
)

// TestFacts: what a cycle keeps of the arithmetic.
func TestFacts(t *testing.T) {
	for _, c := range []struct {
		name   string
		quotas []*v1alpha1.ElasticQuota
		pods   []string
		asks   string
		want   map[string]string
	}{
		{name: "a namespace without a quota", quotas: twoQuotas, asks: "plain/x cpu=1"},
		{
			name: "a pod that passes", quotas: twoQuotas, pods: []string{"q1/a on=n1 cpu=4"}, asks: "q1/x cpu=2",
			want: map[string]string{
				"quota":   "q1",
				"own cpu": "used 4000, nominated 0, requested 2000, min 4000, max 6000",
				"all cpu": "used 4000, nominated 0, requested 2000, min 8000",
			},
		},
		{
			name: "above its max", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=4", "cpu=6"), quotaOf("q2", "example.com/gpu=1", "-")},
			pods: []string{"q1/a on=n1 cpu=4", "q1/n nominated=n1 cpu=1"}, asks: "q1/x cpu=2 memory=1Gi",
			want: map[string]string{
				"quota": "q1", "exceeded": result.ExceededMax, "takes": result.TakesOwn,
				"own cpu":                      "used 4000, nominated 1000, requested 2000, min 4000, max 6000",
				"own memory":                   "used 0, nominated 0, requested 1073741824, min 0, max 0",
				"all cpu":                      "used 4000, nominated 1000, requested 2000, min 4000",
				"all memory":                   "used 0, nominated 0, requested 1073741824, min 0",
				"all example.com/gpu":          "used 0, nominated 0, requested 0, min 1",
				"namespace q2 example.com/gpu": "used 0, nominated 0, requested 0, min 1",
			},
		},
		{
			name: "others have borrowed", quotas: twoQuotas, pods: []string{"q1/a on=n1 cpu=6", "q2/n nominated=n1 cpu=1"}, asks: "q2/x cpu=3",
			want: map[string]string{
				"quota": "q2", "exceeded": result.ExceededTotal, "takes": result.TakesBorrowed,
				"own cpu":          "used 0, nominated 1000, requested 3000, min 4000, max 6000",
				"all cpu":          "used 6000, nominated 1000, requested 3000, min 8000",
				"namespace q1 cpu": "used 6000, nominated 0, requested 0, min 4000, max 6000",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var pods []*v1.Pod
			for _, text := range c.pods {
				pods = append(pods, podOf(t, text))
			}
			s := newStage(t, c.quotas, []string{"n1 cpu=8"}, pods)
			state := framework.NewCycleState()
			log := pluginfact.Attach(state, func() bool { return true })
			s.framework.RunPreFilterPlugins(t.Context(), state, podOf(t, c.asks))
			var got map[string]string
			facts, _ := log.Facts()
			for _, f := range facts {
				if got == nil {
					got = map[string]string{}
				}
				got[f.Key] = f.Value
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFactsAreBounded: those that borrow come first.
func TestFactsAreBounded(t *testing.T) {
	quotas := []*v1alpha1.ElasticQuota{quotaOf("q", "cpu=1", "cpu=1")}
	var pods []*v1.Pod
	for i := range 2 * result.MaxQuotas {
		namespace := fmt.Sprintf("n%02d", i)
		quotas = append(quotas, quotaOf(namespace, "cpu=1", "-"))
		if i >= result.MaxQuotas {
			pods = append(pods, podOf(t, namespace+"/p on=n1 cpu=2"))
		}
	}
	s := newStage(t, quotas, []string{"n1 cpu=800"}, pods)
	state := framework.NewCycleState()
	log := pluginfact.Attach(state, func() bool { return true })
	s.framework.RunPreFilterPlugins(t.Context(), state, podOf(t, "q/x cpu=2"))
	got := map[string]string{}
	facts, _ := log.Facts()
	for _, f := range facts {
		got[f.Key] = f.Value
	}
	if _, ok := got["namespace n00 cpu"]; ok || got["namespace n63 cpu"] == "" || got[result.QuotaMore] != fmt.Sprint(result.MaxQuotas) {
		t.Errorf("facts: %v", got)
	}
}
