package control

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

// ground is one flavor and one queue with four cores of it.
func ground(change ...func(*kueue.ClusterQueueSpec)) []runtime.Object {
	return append([]runtime.Object{aFlavor("f")}, aQueue("q", "f", "4", change...)...)
}

func preempts(s *kueue.ClusterQueueSpec) {
	s.Preemption = &kueue.ClusterQueuePreemption{WithinClusterQueue: kueue.PreemptionPolicyLowerPriority}
}

var urgent = &kueue.WorkloadPriorityClass{
	TypeMeta: metav1.TypeMeta{APIVersion: kueue.GroupVersion.String(), Kind: "WorkloadPriorityClass"}, ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 100,
}

// waits are the settings of a Kueue that waits for pods to be ready, as it does by default.
var waits = admission.Settings{WaitForPodsReady: &admission.WaitForPodsReady{}}

// TestReadinessIsOfNoInterest: without the setting there is no condition.
func TestReadinessIsOfNoInterest(t *testing.T) {
	play(t, admission.Settings{}, ground(), func(s *stage) {
		s.create(aJob("train", "q", 1))
		s.settle()
		s.has("train", "Admitted=True")
		for _, c := range s.workload("train").Status.Conditions {
			if c.Type == kueue.WorkloadPodsReady {
				t.Errorf("there is the condition %+v", c)
			}
		}
	})
}

func TestAJobFromSubmittedToFinished(t *testing.T) {
	play(t, waits, ground(), func(s *stage) {
		s.create(aJob("train", "q", 3))
		s.settle() // jobs of one second have no order
		s.create(aJob("later", "q", 3))
		s.settle()
		s.has("train", "QuotaReserved=True", "Admitted=True Admitted")
		s.has("later", "QuotaReserved=False WaitingForQuota", "Admitted=False NoReservation")
		job := s.job("train")
		if *job.Spec.Suspend || job.Spec.Template.Spec.NodeSelector["pool"] != "f" || len(job.Spec.Template.Spec.Tolerations) != 1 {
			t.Errorf("started as %+v", job.Spec)
		}
		if !*s.job("later").Spec.Suspend {
			t.Error("a job without quota runs")
		}
		if got := s.reserved("q"); got != "3" {
			t.Errorf("%s is reserved", got)
		}
		s.change("train", func(job *batchv1.Job) { job.Status.Active, job.Status.Ready = 3, ptr.To[int32](3) })
		s.has("train", "PodsReady=True Started")
		s.change("train", func(job *batchv1.Job) {
			job.Status.Active, job.Status.Ready, job.Status.Succeeded = 0, nil, 3
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, Message: "all done"}}
		})
		s.has("train", "Finished=True Succeeded")
		s.has("later", "Admitted=True")
		if got := s.reserved("q"); got != "3" {
			t.Errorf("%s is reserved for the second job", got)
		}
		for _, reason := range []string{"CreatedWorkload", "Started", "FinishedWorkload"} {
			if !s.heard("train", reason) {
				t.Errorf("there is no event %s", reason)
			}
		}
		if len(s.records) == 0 {
			t.Error("the ledger heard of nothing")
		}
	})
}

// TestParkedWorkloadsAreAboutToBeTried: after quota is released, nothing changes for a second. Whoever waits until the cluster has settled
// must wait on.
func TestParkedWorkloadsAreAboutToBeTried(t *testing.T) {
	play(t, waits, ground(), func(s *stage) {
		s.create(aJob("train", "q", 3))
		s.settle()
		s.create(aJob("later", "q", 3))
		s.settle()
		if doing := s.queues.Doing(); doing != "" {
			t.Errorf("nothing has changed, but %s", doing)
		}
		job := s.job("train")
		job.Status.Succeeded, job.Status.Conditions = 3, []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		if _, err := s.client.BatchV1().Jobs(namespace).Update(t.Context(), job, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(flushAfter / 2)
		synctest.Wait()
		if s.queues.Doing() == "" {
			t.Error("the parked job is about to be tried, but Doing says nothing")
		}
		time.Sleep(flushAfter/2 + 100*time.Millisecond)
		synctest.Wait()
		s.has("later", "Admitted=True")
		if doing := s.queues.Doing(); doing != "" {
			t.Errorf("all are admitted, but %s", doing)
		}
	})
}

// TestAPreemptedJobStops: its template is as before, and its quota is free only when no pod is left.
func TestAPreemptedJobStops(t *testing.T) {
	play(t, admission.Settings{}, append(ground(preempts), urgent), func(s *stage) {
		s.create(aJob("patient", "q", 3))
		s.settle()
		s.change("patient", func(job *batchv1.Job) { job.Status.Active, job.Status.StartTime = 3, ptr.To(metav1.Now()) })
		s.create(aJob("urgent", "q", 4, controllerconstants.WorkloadPriorityClassLabel, "urgent"))
		s.settle()
		s.has("patient", "Evicted=True Preempted", "QuotaReserved=True")
		s.has("urgent", "QuotaReserved=False WaitingForPreemptedWorkloads")
		if !*s.job("patient").Spec.Suspend {
			t.Error("the victim still runs")
		}
		s.change("patient", func(job *batchv1.Job) { job.Status.Active = 0 })
		s.has("patient", "QuotaReserved=False", "Requeued=True Preempted")
		s.has("urgent", "Admitted=True")
		job := s.job("patient")
		if len(job.Spec.Template.Spec.NodeSelector)+len(job.Spec.Template.Spec.Tolerations) > 0 || job.Status.StartTime != nil {
			t.Errorf("the victim keeps %+v, started at %v", job.Spec.Template.Spec, job.Status.StartTime)
		}
	})
}

// TestAJobWithFewerPodsIsPreempted: it keeps its workload, and asks for all of its pods again.
func TestAJobWithFewerPodsIsPreempted(t *testing.T) {
	play(t, admission.Settings{}, append(ground(preempts), urgent), func(s *stage) {
		s.create(aJob("other", "q", 1))
		s.settle()
		patient := aJob("patient", "q", 4)
		patient.Annotations = map[string]string{jobs.MinParallelism: "2"}
		s.create(patient)
		s.settle()
		s.change("patient", func(job *batchv1.Job) { job.Status.Active = 3 })
		before := s.workload("patient")
		if got := *s.job("patient").Spec.Parallelism; got != 3 {
			t.Fatalf("it starts with %d pods", got)
		}
		s.create(aJob("urgent", "q", 3, controllerconstants.WorkloadPriorityClassLabel, "urgent"))
		s.settle()
		s.has("patient", "Evicted=True Preempted")
		s.change("patient", func(job *batchv1.Job) { job.Status.Active = 0 })
		s.has("patient", "QuotaReserved=False", "Requeued=True Preempted", "Evicted=True Preempted")
		after := s.workload("patient")
		if after.UID != before.UID || after.Spec.PodSets[0].Count != 4 || after.Status.SchedulingStats.Evictions[0].Count != 1 {
			t.Errorf("its workload was %s and is %s, for %d pods, with the evictions %+v", before.UID, after.UID, after.Spec.PodSets[0].Count, after.Status.SchedulingStats)
		}
		if got := *s.job("patient").Spec.Parallelism; got != 4 {
			t.Errorf("it asks for %d pods again", got)
		}
		s.has("urgent", "Admitted=True")
	})
}

func TestWhatStopsAJob(t *testing.T) {
	for _, c := range []struct {
		name string
		// do is done to a job that runs.
		do         func(*stage)
		conditions []string
	}{
		{"its workload is deactivated", func(s *stage) {
			s.patch("Workload", s.workload("train").Name, `{"spec":{"active":false}}`)
		}, []string{"Evicted=True Deactivated"}},
		{"its ClusterQueue is drained", func(s *stage) {
			s.patch("ClusterQueue", "q", `{"metadata":{"generation":2},"spec":{"stopPolicy":"HoldAndDrain"}}`)
		}, []string{"Evicted=True ClusterQueueStopped"}},
		{"its LocalQueue is drained", func(s *stage) {
			s.patch("LocalQueue", "q", `{"metadata":{"generation":2},"spec":{"stopPolicy":"HoldAndDrain"}}`)
		}, []string{"Evicted=True LocalQueueStopped"}},
		{"it asks for other pods", func(s *stage) {
			s.change("train", func(job *batchv1.Job) { job.Spec.Template.Spec = aSpec("2") })
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, admission.Settings{}, ground(), func(s *stage) {
				s.create(aJob("train", "q", 2))
				s.settle()
				s.change("train", func(job *batchv1.Job) { job.Status.Active = 2 })
				if *s.job("train").Spec.Suspend {
					t.Fatal("it does not run")
				}
				c.do(s)
				s.settle()
				if !*s.job("train").Spec.Suspend {
					t.Error("it still runs")
				}
				if c.conditions != nil {
					s.has("train", c.conditions...)
				}
			})
		})
	}
}

// TestAJobThatRunsWithoutQuotaIsStopped: a user may have resumed it.
func TestAJobThatRunsWithoutQuotaIsStopped(t *testing.T) {
	play(t, admission.Settings{}, ground(), func(s *stage) {
		s.create(aJob("large", "q", 5))
		s.settle()
		s.has("large", "QuotaReserved=False ExceedsMaxQuota")
		s.change("large", func(job *batchv1.Job) { job.Spec.Suspend = ptr.To(false) })
		if !*s.job("large").Spec.Suspend || !s.heard("large", "Stopped") {
			t.Error("it runs")
		}
	})
}

func TestPodsPassTheGate(t *testing.T) {
	play(t, admission.Settings{}, ground(), func(s *stage) {
		s.create(aPod("alone", "q"))
		group := func(name string) *corev1.Pod {
			p := aPod(name, "q")
			p.Labels[podconstants.GroupNameLabel] = "team"
			p.Annotations = map[string]string{kueue.GroupVersion.Group + "/pod-group-total-count": "2"}
			return p
		}
		s.create(group("team-1"))
		s.settle()
		gates := func(name string) int { return len(s.pod(name).Spec.SchedulingGates) }
		if gates("alone") != 0 || s.pod("alone").Spec.NodeSelector["pool"] != "f" {
			t.Errorf("the pod is %+v", s.pod("alone").Spec)
		}
		if gates("team-1") != 1 || !s.heard("team-1", "ErrWorkloadCompose") {
			t.Error("a part of a group passed the gate")
		}
		s.create(group("team-2"))
		s.settle()
		if gates("team-1")+gates("team-2") != 0 {
			t.Error("the group did not pass the gate")
		}
		s.create(group("team-3"))
		s.settle()
		if _, err := s.client.CoreV1().Pods(namespace).Get(context.Background(), "team-3", metav1.GetOptions{}); err == nil {
			t.Error("a third pod of a group of two is still there")
		}
		pod := s.pod("alone")
		pod.Status.Phase = corev1.PodSucceeded
		if _, err := s.client.CoreV1().Pods(namespace).Update(context.Background(), pod, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		s.settle()
		s.has("alone", "Finished=True Succeeded")
		if pod := s.pod("alone"); slices.Contains(pod.Finalizers, podconstants.PodFinalizer) {
			t.Error("a pod that has ended keeps the finalizer")
		}
		if got := s.reserved("q"); got != "2" {
			t.Errorf("%s is reserved, want the group's 2", got)
		}
	})
}

func TestAdmissionChecksAreSwitches(t *testing.T) {
	check := &kueue.AdmissionCheck{TypeMeta: metav1.TypeMeta{APIVersion: kueue.GroupVersion.String(), Kind: "AdmissionCheck"}, ObjectMeta: metav1.ObjectMeta{Name: "budget"}}
	asks := func(s *kueue.ClusterQueueSpec) {
		s.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "budget"}}}
	}
	play(t, admission.Settings{}, append(ground(asks), check), func(s *stage) {
		s.create(aJob("checked", "q", 1))
		s.settle()
		s.has("checked", "QuotaReserved=True", "Admitted=False UnsatisfiedAdmissionChecks")
		if !*s.job("checked").Spec.Suspend {
			t.Error("it runs before its check")
		}
		key := types.NamespacedName{Namespace: namespace, Name: s.workload("checked").Name}
		var none *NoCheckError
		if err := s.queues.Flip(t.Context(), key, "other", kueue.CheckStateReady, ""); !errors.As(err, &none) {
			t.Errorf("a check that it does not have: %v", err)
		}
		if err := s.queues.Flip(t.Context(), key, "budget", kueue.CheckStateReady, "granted"); err != nil {
			t.Fatal(err)
		}
		s.settle()
		s.has("checked", "Admitted=True")
		if *s.job("checked").Spec.Suspend {
			t.Error("it does not run after its check")
		}
	})
}

// TestARestartWritesNothing: what admission knows is in the objects.
func TestARestartWritesNothing(t *testing.T) {
	play(t, admission.Settings{}, ground(), func(s *stage) {
		for _, name := range []string{"one", "two", "three"} {
			s.create(aJob(name, "q", 2))
		}
		s.settle()
		before, writes := s.conditions("one", "two", "three"), s.writes.Load()
		s.stop()
		s.begin(admission.Settings{})
		if diff := cmp.Diff(before, s.conditions("one", "two", "three")); diff != "" {
			t.Errorf("after a restart: %s", diff)
		}
		if got := s.writes.Load() - writes; got != 0 {
			t.Errorf("the restart wrote %d times", got)
		}
	})
}

// TestSettingsTakeEffect: with fair sharing, the status has a share.
func TestSettingsTakeEffect(t *testing.T) {
	cohort := func(s *kueue.ClusterQueueSpec) { s.CohortName = "both" }
	objects := append(append([]runtime.Object{aFlavor("f")}, aQueue("a", "f", "4", cohort)...), aQueue("b", "f", "4", cohort)...)
	play(t, admission.Settings{FairSharing: &admission.FairSharing{}}, objects, func(s *stage) {
		s.create(aJob("borrower", "a", 6))
		s.settle()
		v, err := s.queues.View()
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range v.Quotas {
			if q.ClusterQueue == "a" && (q.Share == nil || q.Share.Share != 250) {
				t.Errorf("a borrows 2 of 8: its share is %+v", q.Share)
			}
		}
	})
}

// TestMetricsHaveKueuesNames: after a life with admission, preemption and an end, these are there.
func TestMetricsHaveKueuesNames(t *testing.T) {
	have := map[string]bool{}
	play(t, waits, append(ground(preempts, func(s *kueue.ClusterQueueSpec) { s.CohortName = "c" }), urgent), func(s *stage) {
		s.create(aJob("patient", "q", 3))
		s.settle()
		s.change("patient", func(job *batchv1.Job) { job.Status.Active, job.Status.Ready = 3, ptr.To[int32](3) })
		s.create(aJob("urgent", "q", 4, controllerconstants.WorkloadPriorityClassLabel, "urgent"))
		s.settle()
		s.change("patient", func(job *batchv1.Job) { job.Status.Active = 0 })
		s.change("urgent", func(job *batchv1.Job) {
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		})
		s.create(aJob("large", "q", 9))
		s.settle()
		kueueNames(t, legacyregistry.DefaultGatherer, have)
		now := metrics.NewKubeRegistry() // the default one has the gauges of whichever test began last
		g := &gauges{}
		g.engaged.Store(s.queues.engaged.Load())
		now.CustomMustRegister(g)
		kueueNames(t, now, have)
	})
	for _, name := range strings.Fields(`admission_attempts_total admission_attempt_duration_seconds pending_workloads local_queue_pending_workloads
		quota_reserved_workloads_total quota_reserved_wait_time_seconds admitted_workloads_total admission_wait_time_seconds ready_wait_time_seconds
		evicted_workloads_total evicted_workloads_once_total preempted_workloads_total unadmitted_workloads
		reserving_active_workloads admitted_active_workloads finished_workloads finished_workloads_total cluster_queue_status
		cluster_queue_resource_reservation cluster_queue_resource_usage cluster_queue_nominal_quota cluster_queue_resource_pending
		cohort_subtree_quota cohort_subtree_resource_reservations cohort_subtree_admitted_active_workloads
		cohort_subtree_admitted_workloads_total pending_scheduling_hashes
		workload_eviction_latency_seconds pods_ready_to_evicted_time_seconds admitted_until_ready_wait_time_seconds execution_time_seconds
		local_queue_quota_reserved_workloads_total local_queue_quota_reserved_wait_time_seconds local_queue_admitted_workloads_total
		local_queue_admission_wait_time_seconds local_queue_ready_wait_time_seconds local_queue_admitted_until_ready_wait_time_seconds
		local_queue_evicted_workloads_total local_queue_finished_workloads local_queue_finished_workloads_total
		local_queue_reserving_active_workloads local_queue_admitted_active_workloads local_queue_status
		local_queue_resource_reservation local_queue_resource_usage local_queue_execution_time_seconds`) {
		if !have[name] {
			t.Errorf("there is no metric kueue_%s", name)
		}
	}
}

// kueueNames adds the names of the metrics that a registry has, without their prefix.
func kueueNames(t *testing.T, registry metrics.Gatherer, names map[string]bool) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		name, ours := strings.CutPrefix(f.GetName(), "kueue_")
		if !ours {
			continue
		}
		names[name] = true
		for _, m := range f.GetMetric() {
			if !slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == "replica_role" }) {
				t.Errorf("%s has no label replica_role", name)
			}
		}
	}
}

// TestGaugesCount: workloads that wait count by shape, by queue and below all Cohorts.
func TestGaugesCount(t *testing.T) {
	play(t, admission.Settings{}, ground(func(s *kueue.ClusterQueueSpec) { s.CohortName = "c" }), func(s *stage) {
		s.create(aJob("runs", "q", 4))
		s.settle()
		s.create(aJob("large", "q", 3))
		s.create(aJob("alike", "q", 3))
		s.create(aJob("small", "q", 2))
		s.settle()
		m := s.queues.engaged.Load().measure()
		value := func(gauge *metrics.Desc, labels ...string) float64 {
			one := series{gauge: gauge, count: len(labels)}
			copy(one.labels[:], labels)
			return m[one]
		}
		got := []float64{
			value(pending.cluster, "q", "active"), value(pending.cluster, "q", "inadmissible"), value(pending.local, "q", namespace, "inadmissible"),
			value(hashes, "q", "inadmissible"), value(admitted.cluster, "q"), value(admitted.local, "q", namespace), value(subtreeOnes, "c"),
			value(usage, "c", "q", "f", "cpu"), value(localUsage, "q", namespace, "f", "cpu"), value(demand, "q", "cpu"), value(localStatus, "q", namespace, "True"),
		}
		if diff := cmp.Diff([]float64{0, 3, 3, 2, 1, 1, 1, 4, 4, 8, 1}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func (s *stage) patch(kind, name, text string) {
	s.t.Helper()
	if _, err := s.at(kind).Patch(context.Background(), name, types.MergePatchType, []byte(text), metav1.PatchOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) pod(name string) *corev1.Pod {
	s.t.Helper()
	pod, err := s.client.CoreV1().Pods(namespace).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return pod
}

// conditions returns those of the workloads of jobs, without their times.
func (s *stage) conditions(names ...string) map[string][]metav1.Condition {
	out := map[string][]metav1.Condition{}
	for _, name := range names {
		for _, c := range s.workload(name).Status.Conditions {
			c.LastTransitionTime = metav1.NewTime(time.Time{})
			out[name] = append(out[name], c)
		}
	}
	return out
}
