package control

import (
	"context"
	"math"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
)

func aLocalQueue(name, queue string) *kueue.LocalQueue {
	return &kueue.LocalQueue{
		TypeMeta: metav1.TypeMeta{APIVersion: kueue.GroupVersion.String(), Kind: "LocalQueue"}, ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(queue)},
	}
}

// consumed is how many cores the status of a LocalQueue says that it has consumed, and when it said so.
func (s *stage) consumed(queue string) (cores float64, at time.Time) {
	s.t.Helper()
	u, err := s.at("LocalQueue").Get(context.Background(), queue, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	q := &kueue.LocalQueue{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, q); err != nil {
		s.t.Fatal(err)
	}
	if q.Status.FairSharing == nil {
		s.t.Fatalf("the status of %s does not say what it has consumed", queue)
	}
	status := q.Status.FairSharing.AdmissionFairSharingStatus
	return status.ConsumedResources.Cpu().AsApproximateFloat64(), status.LastUpdate.Time
}

// TestLocalQueuesShareByUsage: what a LocalQueue has used is sampled into its status, outlives a restart, and lets another go first.
func TestLocalQueuesShareByUsage(t *testing.T) {
	byUsage := func(s *kueue.ClusterQueueSpec) {
		s.AdmissionScope = &kueue.AdmissionScope{AdmissionMode: kueue.UsageBasedAdmissionFairSharing}
	}
	settings := admission.Settings{AdmissionFairSharing: &admission.AdmissionFairSharing{HalfLife: 10 * time.Minute}}
	play(t, settings, append(ground(byUsage), aLocalQueue("busy", "q"), aLocalQueue("calm", "q")), func(s *stage) {
		if cores, at := s.consumed("busy"); cores != 0 || time.Since(at) > time.Minute {
			t.Errorf("busy has consumed %v at %v before anything ran", cores, at)
		}
		s.create(aJob("first", "busy", 4))
		s.settle()
		s.has("first", "Admitted=True")
		// The penalty is the part of 4 that 5m are of the average: 1−√½. The 10s since the first sample count with what is used at their end.
		if cores, _ := s.consumed("busy"); cores < 1.21 || cores > 1.22 {
			t.Errorf("busy has consumed %v, want 1.217", cores)
		}
		s.create(aJob("older", "busy", 4))
		s.settle()
		s.create(aJob("younger", "calm", 4))
		s.settle()

		time.Sleep(5 * time.Minute) // of the bubble
		s.settle()
		// √½ of 1.217, and 1−√½ of 4.
		before, _ := s.consumed("busy")
		if before < 2.02 || before > 2.04 {
			t.Errorf("busy has consumed %v after 5m, want 2.03", before)
		}
		s.stop()
		s.begin(settings)
		if after, _ := s.consumed("busy"); after != before {
			t.Errorf("busy has consumed %v after a restart, and %v before", after, before)
		}

		view, err := s.queues.View()
		if err != nil || len(view.Pending) != 2 {
			t.Fatalf("%d wait: %v", len(view.Pending), err)
		}
		first, second := view.Pending[0], view.Pending[1]
		if first.LocalQueue != "calm" || first.UsedMore != nil || second.UsedMore == nil || second.UsedMore.First != first.Workload || math.Abs(second.UsedMore.Used.Usage-before) > 0.001 {
			t.Errorf("in order are %+v and %+v", first, second)
		}
		s.change("first", func(job *batchv1.Job) {
			job.Status.Succeeded = 4
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		})
		s.has("younger", "Admitted=True")
		s.has("older", "QuotaReserved=False WaitingForQuota")
		last := s.records[len(s.records)-1].Heads
		if used := last[len(last)-1].LocalQueues; len(used) == 0 || used[0].Usage == 0 {
			t.Errorf("the ledger says that the LocalQueues have used %+v", used)
		}
	})
}
