package agents

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFates(t *testing.T) {
	owned := func(kind string) *v1.Pod {
		return &v1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: kind, Controller: new(true)}}}}
	}
	terminating, mirror := owned("ReplicaSet"), &v1.Pod{}
	terminating.DeletionTimestamp = &metav1.Time{}
	mirror.Annotations = map[string]string{isMirror: "hash"}
	got := []string{fateOf(owned("DaemonSet")), fateOf(mirror), fateOf(terminating), fateOf(&v1.Pod{}), fateOf(owned("ReplicaSet"))}
	if diff := cmp.Diff([]string{stays, stays, leaves, goes, ""}, got); diff != "" {
		t.Error(diff)
	}
}

func TestBudgets(t *testing.T) {
	budget := func(name string, allowed int32) *policyv1.PodDisruptionBudget {
		return &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}},
			Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
		}
	}
	left := allowances([]*policyv1.PodDisruptionBudget{budget("web", 1), budget("db", 0)})
	pod := func(namespace, app string) *v1.Pod {
		return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Labels: map[string]string{"app": app}}}
	}
	for _, tc := range []struct {
		name     string
		pod      *v1.Pod
		waits    []string
		possible bool
	}{
		{"the first", pod("shop", "web"), nil, true},
		{"one more than the budget allows", pod("shop", "web"), []string{"web"}, true},
		{"a budget that allows none", pod("shop", "db"), []string{"db"}, false},
		{"another namespace", pod("other", "db"), nil, true},
		{"without a budget", pod("shop", "etl"), nil, true},
	} {
		waits, possible := left.evict(tc.pod)
		if diff := cmp.Diff(tc.waits, waits); diff != "" || possible != tc.possible {
			t.Errorf("%s: %v %v\n%s", tc.name, waits, possible, diff)
		}
	}
}
