package control

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
	lws "sigs.k8s.io/lws/api/leaderworkerset/v1"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

// TestLeaderWorkerSet: each group of a LeaderWorkerSet has a workload before its pods come, with a pod set for leaders that have a
// template of their own.
func TestLeaderWorkerSet(t *testing.T) {
	play(t, admission.Settings{}, append(aQueue("a", "f", "5"), aFlavor("f")), func(s *stage) {
		set := &lws.LeaderWorkerSet{
			TypeMeta:   metav1.TypeMeta{APIVersion: lws.GroupVersion.String(), Kind: "LeaderWorkerSet"},
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "serve", Labels: map[string]string{controllerconstants.QueueLabel: "a"}},
			Spec: lws.LeaderWorkerSetSpec{Replicas: ptr.To[int32](2), LeaderWorkerTemplate: lws.LeaderWorkerTemplate{
				Size: ptr.To[int32](3), LeaderTemplate: &corev1.PodTemplateSpec{Spec: aSpec("2")}, WorkerTemplate: corev1.PodTemplateSpec{Spec: aSpec("1")},
			}},
		}
		s.create(set)
		s.settle()
		admitted := 0
		for index := range 2 {
			w := cached[kueue.Workload](s.queues.engaged.Load().workloads, types.NamespacedName{Namespace: namespace, Name: jobs.GroupOfSet("serve", index)})
			if w == nil {
				t.Fatalf("group %d has no workload", index)
			}
			if sets := w.Spec.PodSets; len(sets) != 2 || sets[0].Name != "leader" || sets[0].Count != 1 || sets[1].Name != "worker" || sets[1].Count != 2 {
				t.Errorf("the pod sets of group %d are %+v", index, sets)
			}
			if is(w, kueue.WorkloadAdmitted) {
				admitted++
			}
		}
		if got := s.reserved("a"); admitted != 1 || got != "4" {
			t.Errorf("%d groups are admitted with %s cores, want 1 with 4", admitted, got)
		}
	})
}
