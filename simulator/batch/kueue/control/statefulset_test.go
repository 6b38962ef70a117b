package control

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

// TestAStatefulSetKeepsItsWorkload: also while its only pod has gone, because it was evicted. Without any wanted pod, or without the
// StatefulSet, the workload goes.
func TestAStatefulSetKeepsItsWorkload(t *testing.T) {
	play(t, admission.Settings{}, append(ground(preempts), urgent), func(s *stage) {
		s.holdPods()
		sets := s.client.AppsV1().StatefulSets(namespace)
		set, err := sets.Create(t.Context(), &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](1)}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		pod := func() {
			p := aPod("web-0", "q")
			p.Spec = aSpec("2")
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: podconstants.SchedulingGateName}}
			p.Labels[podconstants.GroupNameLabel] = jobs.GroupOfStatefulSet("web")
			p.Annotations = map[string]string{podconstants.GroupTotalCountAnnotation: "1", podconstants.GroupServingAnnotationKey: "true", podconstants.GroupFastAdmissionAnnotationKey: "true", podconstants.RoleHashAnnotation: "main"}
			p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, statefulSet)}
			s.create(p)
			s.settle()
		}
		pod()
		s.has("web-0", "Admitted=True")
		before := s.workload("web").UID
		s.create(aJob("urgent", "q", 4, controllerconstants.WorkloadPriorityClassLabel, "urgent"))
		s.settle()
		if _, err := s.client.CoreV1().Pods(namespace).Get(context.Background(), "web-0", metav1.GetOptions{}); err == nil {
			t.Fatal("the evicted pod is there")
		}
		s.has("web", "Evicted=True Preempted", "QuotaReserved=False", "Requeued=True Preempted")
		s.has("urgent", "Admitted=True")
		pod()
		if got := s.workload("web").UID; got != before {
			t.Errorf("another workload is there for the next pod: %s in place of %s", got, before)
		}
		s.change("urgent", func(job *batchv1.Job) {
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		})
		s.has("web", "Admitted=True")
		set.Spec.Replicas = ptr.To[int32](0)
		if _, err := sets.Update(t.Context(), set, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := s.client.CoreV1().Pods(namespace).Delete(context.Background(), "web-0", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		s.settle()
		if w := s.workload("web"); w != nil {
			t.Errorf("it has no pods, and this workload: %+v", w.Status)
		}
	})
}
