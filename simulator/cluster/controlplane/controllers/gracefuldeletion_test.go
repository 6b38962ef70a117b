package controllers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAwaitsKubelet: a deletion takes two writes, and one that was interrupted between them is
// finished later.
func TestAwaitsKubelet(t *testing.T) {
	now, none, some := metav1.Now(), int64(0), int64(30)
	for _, test := range []struct {
		name string
		pod  corev1.Pod
		want bool
	}{
		{"not deleted", corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}}, false},
		{"without a node", corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now, DeletionGracePeriodSeconds: &some}}, false},
		{"in its grace period", corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now, DeletionGracePeriodSeconds: &some}, Spec: corev1.PodSpec{NodeName: "n"}}, true},
		{"held by a finalizer", corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now, DeletionGracePeriodSeconds: &none, Finalizers: []string{"f"}}, Spec: corev1.PodSpec{NodeName: "n"}}, false},
		{"cut off", corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now, DeletionGracePeriodSeconds: &none}, Spec: corev1.PodSpec{NodeName: "n"}}, true},
	} {
		if got := awaitsKubelet(&test.pod); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}
