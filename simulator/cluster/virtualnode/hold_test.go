package virtualnode

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestHold: while anything holds pods, pods that have not started do not start. Running pods
// continue.
func TestHold(t *testing.T) {
	pod := func(phase corev1.PodPhase) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
	}
	leaving := pod(corev1.PodPending)
	leaving.DeletionTimestamp = &metav1.Time{}
	var resumed []string
	resume := func(keys []string) { resumed = append(resumed, keys...) }
	h := &hold{}

	if h.holds("before", pod(corev1.PodPending)) {
		t.Error("a pod is held although no hold is in force")
	}
	first, second := h.hold(resume), h.hold(resume)
	held := []bool{
		h.holds("waits", pod(corev1.PodPending)), h.holds("changed", pod(corev1.PodPending)), h.holds("changed", pod(corev1.PodRunning)),
		h.holds("runs", pod(corev1.PodRunning)), h.holds("leaves", leaving),
	}
	if diff := cmp.Diff([]bool{true, true, false, false, false}, held); diff != "" {
		t.Errorf("held (-want +got):\n%s", diff)
	}
	first()
	first()
	if len(resumed) > 0 || !h.holds("later", pod(corev1.PodPending)) {
		t.Errorf("released after one of two has let go: %v", resumed)
	}
	second()
	slices.Sort(resumed)
	if diff := cmp.Diff([]string{"later", "waits"}, resumed); diff != "" {
		t.Errorf("resumed (-want +got):\n%s", diff)
	}
	if h.holds("after", pod(corev1.PodPending)) {
		t.Error("a pod is held after all have let go")
	}
}
