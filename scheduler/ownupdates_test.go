package scheduler

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/resultstore"
)

// deaf is a queue that ignores everything.
type deaf struct{ internalqueue.SchedulingQueue }

func (deaf) Delete(klog.Logger, *v1.Pod) {}

func (deaf) MoveAllToActiveOrBackoffQueue(klog.Logger, fwk.ClusterEvent, any, any, internalqueue.PreEnqueueCheck) {
}

// Our own listener may hear of a deletion before Kubernetes' handler has processed an
// earlier update of the pod, which must still count as ours then.
func TestOwnUpdatesAreKnownUntilKubernetesHasProcessedTheDeletion(t *testing.T) {
	for name, pod := range map[string]*v1.Pod{
		"waiting": st.MakePod().Name("p").UID("p").SchedulerName("default-scheduler").Obj(),
		"bound":   st.MakePod().Name("p").UID("p").SchedulerName("default-scheduler").Node("n").Obj(),
		"other":   st.MakePod().Name("p").UID("p").SchedulerName("other").Obj(),
	} {
		s := New(Options{Sink: resultstore.New(resultstore.Options{})})
		s.sched = &kubescheduler.Scheduler{Profiles: profile.Map{"default-scheduler": nil}}
		queue := observedQueue{deaf{}, s.own, s.seen, s.recorder, &s.tee}
		before, after := pod.DeepCopy(), pod.DeepCopy()
		after.ResourceVersion = "2"
		annotated := after.DeepCopy()
		annotated.Annotations = map[string]string{annotation.Prefix + "selected-node": "n"}
		s.own.observe(annotated)
		if !s.own.only(before, after) {
			t.Fatalf("%s: the update is not known as ours", name)
		}
		s.podDeleted(after)
		handled := name != "other" // by Kubernetes
		if s.own.only(before, after) != handled {
			t.Errorf("%s: after our listener heard of the deletion, the update is known: %t", name, !handled)
		}
		switch name {
		case "waiting":
			queue.Delete(klog.Logger{}, after)
		case "bound":
			queue.MoveAllToActiveOrBackoffQueue(klog.Logger{}, framework.EventAssignedPodDelete, after, nil, nil)
		}
		if s.own.only(before, after) {
			t.Errorf("%s: the pod is not forgotten", name)
		}
	}
}
