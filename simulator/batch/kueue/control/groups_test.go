package control

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

// aMember is a pod of a group, as it comes.
func aMember(name, group string, of int, annotations ...string) *corev1.Pod {
	pod := aPod(name, "q")
	pod.Labels[podconstants.GroupNameLabel] = group
	pod.Annotations = map[string]string{podconstants.GroupTotalCountAnnotation: fmt.Sprint(of), podconstants.RoleHashAnnotation: jobs.RoleOf(pod)}
	for i := 0; i < len(annotations); i += 2 {
		pod.Annotations[annotations[i]] = annotations[i+1]
	}
	return pod
}

// becomes plays the node and the kubelet.
func (s *stage) becomes(name string, phase corev1.PodPhase) {
	s.t.Helper()
	pod := s.pod(name)
	pod.Spec.NodeName, pod.Status.Phase = "n", phase
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
	if phase == corev1.PodRunning {
		pod.Status.Conditions[0].Status = corev1.ConditionTrue
	}
	if _, err := s.client.CoreV1().Pods(namespace).Update(context.Background(), pod, metav1.UpdateOptions{}); err != nil {
		s.t.Fatal(err)
	}
	s.settle()
}

func (s *stage) gone(name string) bool {
	s.t.Helper()
	_, err := s.client.CoreV1().Pods(namespace).Get(context.Background(), name, metav1.GetOptions{})
	return apierrors.IsNotFound(err)
}

// group returns the workload of a group, nil if there is none.
func (s *stage) group(name string) *kueue.Workload {
	return cached[kueue.Workload](s.queues.engaged.Load().workloads, types.NamespacedName{Namespace: namespace, Name: name})
}

// TestAGroupOutlivesItsPods: its workload counts the evictions, keeps its place, and is deactivated after too many.
func TestAGroupOutlivesItsPods(t *testing.T) {
	settings := admission.Settings{WaitForPodsReady: &admission.WaitForPodsReady{Timeout: time.Minute, BackoffBase: time.Second, BackoffLimit: ptr.To[int32](1)}}
	play(t, settings, ground(), func(s *stage) {
		s.holdPods()
		s.create(aMember("lonely", "team", 1))
		s.settle()
		s.has("lonely", "Admitted=True")
		uid := s.group("team").UID
		time.Sleep(time.Minute)
		s.settle()
		s.has("lonely", "Evicted=True PodsReadyTimeout", "QuotaReserved=False", "WaitingForReplacementPods=True PodsReadyTimeout")
		w := s.group("team")
		if w.UID != uid || w.Status.RequeueState == nil || ptr.Deref(w.Status.RequeueState.Count, 0) != 1 {
			t.Fatalf("after the first eviction: %s (was %s), %+v", w.UID, uid, w.Status.RequeueState)
		}
		if got := s.reserved("q"); got != "0" {
			t.Errorf("%s is reserved while it waits for pods", got)
		}
		if v, err := s.queues.View(); err != nil || len(v.Pending) != 1 || !v.Pending[0].Held || admission.KindOf(v.Pending[0].Reason.Operands) != "PodsAwaited" {
			t.Errorf("the view has %+v %v", v.Pending, err)
		}
		s.create(aMember("another", "team", 1))
		s.settle()
		if !s.gone("lonely") {
			t.Error("the pod whose place is taken is still there")
		}
		s.has("another", "WaitingForReplacementPods=False", "Admitted=True")
		time.Sleep(time.Minute)
		s.settle()
		w = s.group("team")
		if w.UID != uid || ptr.Deref(w.Spec.Active, true) {
			t.Errorf("after the second eviction: %s (was %s), active %v", w.UID, uid, ptr.Deref(w.Spec.Active, true))
		}
		s.has("another", "Evicted=True DeactivatedDueToRequeuingLimitExceeded", "QuotaReserved=False")
		if got := s.reserved("q"); got != "0" {
			t.Errorf("%s is reserved for a workload that is deactivated", got)
		}
		// Whoever deletes the workload ends the group.
		if err := s.at("Workload").Delete(context.Background(), "team", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAPreemptedGroupWaitsForPods: pods that end later take its quota with them, and others take their places.
func TestAPreemptedGroupWaitsForPods(t *testing.T) {
	play(t, waits, append(ground(preempts), urgent), func(s *stage) {
		s.holdPods()
		for _, name := range []string{"crew-1", "crew-2"} {
			s.create(aMember(name, "crew", 2))
		}
		s.settle()
		s.becomes("crew-1", corev1.PodRunning)
		s.becomes("crew-2", corev1.PodRunning)
		s.has("crew-1", "PodsReady=True")
		s.create(aJob("urgent", "q", 4, controllerconstants.WorkloadPriorityClassLabel, "urgent"))
		s.settle()
		s.has("crew-1", "Evicted=True Preempted", "QuotaReserved=True")
		s.becomes("crew-1", corev1.PodFailed)
		s.has("crew-1", "QuotaReserved=True", "WaitingForReplacementPods=True Preempted")
		s.becomes("crew-2", corev1.PodFailed)
		s.has("crew-1", "QuotaReserved=False", "WaitingForReplacementPods=True Preempted")
		s.has("urgent", "Admitted=True")
		s.create(aMember("crew-3", "crew", 2))
		s.settle()
		s.has("crew-3", "WaitingForReplacementPods=True")
		s.create(aMember("crew-4", "crew", 2))
		s.settle()
		s.has("crew-4", "WaitingForReplacementPods=False", "QuotaReserved=False")
		if !s.gone("crew-1") || !s.gone("crew-2") {
			t.Error("the pods that were replaced are still there")
		}
		if err := s.client.BatchV1().Jobs(namespace).Delete(context.Background(), "urgent", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := s.at("Workload").Delete(context.Background(), s.workload("urgent").Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		s.settle()
		s.has("crew-3", "Admitted=True")
		if !jobs.Admitted(s.pod("crew-3")) || !jobs.Admitted(s.pod("crew-4")) {
			t.Error("the pods did not pass the gate")
		}
	})
}

// TestAFailedPodOfAGroupIsReplaced: its group runs on, and the new pod gets in at once.
func TestAFailedPodOfAGroupIsReplaced(t *testing.T) {
	play(t, admission.Settings{}, ground(), func(s *stage) {
		s.holdPods()
		s.create(aMember("a", "team", 2))
		s.create(aMember("b", "team", 2))
		s.settle()
		s.becomes("a", corev1.PodRunning)
		s.becomes("b", corev1.PodFailed)
		s.has("a", "Admitted=True", "WaitingForReplacementPods=True PodsFailed")
		s.create(aMember("c", "team", 2))
		s.settle()
		s.has("a", "WaitingForReplacementPods=False")
		if !jobs.Admitted(s.pod("c")) || s.pod("b").Finalizers != nil {
			t.Errorf("the new pod has %v, the failed one %v", s.pod("c").Spec.SchedulingGates, s.pod("b").Finalizers)
		}
		s.becomes("a", corev1.PodSucceeded)
		s.becomes("c", corev1.PodSucceeded)
		s.has("a", "Finished=True Succeeded")
	})
}

// TestMorePodsThanAGroupExpects: the youngest go, of those that are not admitted.
func TestMorePodsThanAGroupExpects(t *testing.T) {
	play(t, admission.Settings{}, ground(), func(s *stage) {
		s.holdPods()
		for _, name := range []string{"a", "b", "c"} {
			s.create(aMember(name, "team", 2))
			time.Sleep(time.Second)
		}
		s.settle()
		if s.gone("a") || s.gone("b") || !s.gone("c") || s.group("team").Spec.PodSets[0].Count != 2 {
			t.Errorf("gone: %v %v %v, of %d", s.gone("a"), s.gone("b"), s.gone("c"), s.group("team").Spec.PodSets[0].Count)
		}
	})
}

// TestADeletedWorkloadEndsItsPods: they would wait behind the gate for ever, or hold the places of a group that has gone.
func TestADeletedWorkloadEndsItsPods(t *testing.T) {
	play(t, admission.Settings{}, ground(), func(s *stage) {
		s.holdPods()
		s.create(aMember("a", "team", 1))
		s.settle()
		s.becomes("a", corev1.PodRunning)
		s.patch("Workload", "team", `{"metadata":{"deletionTimestamp":"2030-01-01T00:00:00Z"}}`)
		s.settle()
		if !s.gone("a") {
			t.Error("the pod of a deleted workload is still there")
		}
	})
}

// TestAGroupGoesWithItsNamespace: it takes its pods first, and waits for them.
func TestAGroupGoesWithItsNamespace(t *testing.T) {
	play(t, admission.Settings{}, ground(), func(s *stage) {
		s.holdPods()
		s.create(aMember("a", "team", 1))
		s.settle()
		s.becomes("a", corev1.PodRunning)
		if err := s.client.CoreV1().Pods(namespace).Delete(context.Background(), "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		s.becomes("a", corev1.PodFailed)
		if s.gone("a") {
			t.Fatal("the pod did not wait for another")
		}
		ending := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, DeletionTimestamp: ptr.To(metav1.Now()), Finalizers: []string{"kubernetes"}}}
		if err := s.client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("namespaces"), ending, ""); err != nil {
			t.Fatal(err)
		}
		s.settle()
		if !s.gone("a") {
			t.Error("the pod keeps the namespace")
		}
	})
}
