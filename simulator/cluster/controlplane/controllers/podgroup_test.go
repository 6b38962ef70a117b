package controllers

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/plugins/coscheduling/v1alpha1"
)

func TestTheStatusOfAPodGroup(t *testing.T) {
	type status = v1alpha1.PodGroupStatus
	for _, c := range []struct {
		name   string
		before status
		least  int32
		// pods has one letter per pod: p, r, s, f for its phase; o is one that runs and has no owner.
		pods string
		want status
	}{
		{"a new one", status{}, 2, "rr", status{Phase: "Pending"}},
		{"too few pods", status{Phase: "Pending"}, 3, "pp", status{Phase: "Pending"}},
		{"enough pods without owners; who occupied it stays", status{Phase: "Pending", OccupiedBy: "ns/job"}, 2, "oo", status{Phase: "Scheduling", OccupiedBy: "ns/job"}},
		{"enough pods; the counts are not touched", status{Phase: "Pending", Failed: 7}, 2, "rr", status{Phase: "Scheduling", OccupiedBy: "ns/job", Failed: 7}},
		{"minMember 0, no pods", status{Phase: "Pending"}, 0, "", status{Phase: "Scheduling"}},
		{"not enough run", status{Phase: "Scheduling"}, 2, "rp", status{Phase: "Scheduling", Running: 1}},
		{"enough run", status{Phase: "Scheduling"}, 2, "rrp", status{Phase: "Running", Running: 2}},
		{"those that succeeded count", status{Phase: "Running", Running: 3}, 3, "rsr", status{Phase: "Running", Running: 2, Succeeded: 1}},
		{"pods have gone", status{Phase: "Running", Running: 3}, 3, "rr", status{Phase: "Pending", Running: 2}},
		{"pods have stopped", status{Phase: "Running", Running: 3}, 3, "rrp", status{Phase: "Scheduling", Running: 2}},
		{"one has failed", status{Phase: "Running"}, 3, "rsf", status{Phase: "Failed", Running: 1, Succeeded: 1, Failed: 1}},
		{"one has failed before enough had started", status{Phase: "Scheduling"}, 3, "rfp", status{Phase: "Scheduling", Running: 1, Failed: 1}},
		{"enough have succeeded", status{Phase: "Running"}, 2, "ssr", status{Phase: "Finished", Running: 1, Succeeded: 2}},
		{"also if one has failed", status{Phase: "Running"}, 2, "ssf", status{Phase: "Finished", Succeeded: 2, Failed: 1}},
		{"a finished one is final", status{Phase: "Finished"}, 2, "", status{Phase: "Finished"}},
		{"so is a failed one", status{Phase: "Failed"}, 2, "rr", status{Phase: "Failed"}},
		{"a phase that nobody writes", status{Phase: "Unknown"}, 2, "rr", status{Phase: "Running", Running: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			group := &v1alpha1.PodGroup{Spec: v1alpha1.PodGroupSpec{MinMember: c.least}, Status: c.before}
			phases := map[rune]corev1.PodPhase{'p': corev1.PodPending, 'r': corev1.PodRunning, 's': corev1.PodSucceeded, 'f': corev1.PodFailed, 'o': corev1.PodRunning}
			var pods []*corev1.Pod
			for i, letter := range c.pods {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("p", i)}, Status: corev1.PodStatus{Phase: phases[letter]}}
				if letter != 'o' {
					pod.OwnerReferences = []metav1.OwnerReference{{Name: "job"}}
				}
				pods = append(pods, pod)
			}
			if diff := cmp.Diff(c.want, nextStatus(group, pods)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOccupiedBy(t *testing.T) {
	pod := func(name string, owners ...string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
		for _, owner := range owners {
			p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{Name: owner})
		}
		return p
	}
	for _, c := range []struct {
		pods []*corev1.Pod
		want string
	}{
		{nil, ""},
		{[]*corev1.Pod{pod("a")}, ""},
		{[]*corev1.Pod{pod("b", "no"), pod("a", "z", "y")}, "ns/y,ns/z"},
	} {
		if got := occupiedBy(c.pods); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
