package control

import (
	"context"
	"fmt"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

var elastic = admission.Settings{ElasticJobs: true}

// anElasticJob waits at the gate of its template besides.
func anElasticJob(name string, pods int32, labels ...string) *batchv1.Job {
	job := aJob(name, "q", pods, labels...)
	job.Annotations = map[string]string{jobs.ElasticJob: "true"}
	job.Spec.Completions = nil
	job.Spec.Template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: kueue.ElasticJobSchedulingGate}}
	return job
}

// resize gives a job another number of pods, and plays the job controller.
func (s *stage) resize(name string, pods int32) {
	s.t.Helper()
	s.change(name, func(job *batchv1.Job) {
		job.Spec.Parallelism = &pods
		job.Generation++
	})
	s.runPods(name)
}

// runPods gives a job that is not suspended as many pods as it wants, and a suspended one none. It lets the controllers follow.
func (s *stage) runPods(name string) {
	s.t.Helper()
	job := s.job(name)
	want := int(*job.Spec.Parallelism)
	if *job.Spec.Suspend {
		want = 0
	}
	client := s.client.CoreV1().Pods(namespace)
	for n := range 9 {
		at := fmt.Sprint(name, "-", n)
		_, err := client.Get(context.Background(), at, metav1.GetOptions{})
		switch {
		case err != nil && n < want:
			pod := &corev1.Pod{ObjectMeta: *job.Spec.Template.ObjectMeta.DeepCopy(), Spec: *job.Spec.Template.Spec.DeepCopy()}
			pod.Namespace, pod.Name, pod.Labels = namespace, at, map[string]string{batchv1.ControllerUidLabel: string(job.UID)}
			pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, jobs.Batch{}.Kind())}
			s.create(pod)
		case err == nil && n >= want:
			if err := client.Delete(context.Background(), at, metav1.DeleteOptions{}); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	s.change(name, func(job *batchv1.Job) { job.Status.Active = int32(want) })
}

// running are the pods of a job that have passed their gate, and gated those that have not.
func (s *stage) running(name string) (running, gated int) {
	s.t.Helper()
	list, err := s.client.CoreV1().Pods(namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	for i := range list.Items {
		switch pod := &list.Items[i]; {
		case pod.OwnerReferences[0].Name != name:
		case jobs.AwaitsSlice(pod):
			gated++
		default:
			running++
		}
	}
	return running, gated
}

// slices are the workloads of a job, each with its number of pods and what has become of it.
func (s *stage) slices(owner string) (out []string) {
	s.t.Helper()
	list, err := s.at("Workload").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, item := range list.Items {
		w := &kueue.Workload{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, w); err != nil {
			s.t.Fatal(err)
		}
		if w.OwnerReferences[0].Name != owner {
			continue
		}
		state := "waits"
		for _, c := range w.Status.Conditions {
			switch {
			case c.Type == kueue.WorkloadFinished:
				state = c.Reason
			case c.Type == kueue.WorkloadAdmitted && c.Status == metav1.ConditionTrue && state == "waits":
				state = "runs"
			}
		}
		out = append(out, fmt.Sprintf("%d %s", w.Spec.PodSets[0].Count, state))
	}
	slices.Sort(out)
	return out
}

func (s *stage) expect(owner string, running, gated int, reserved string, workloads ...string) {
	s.t.Helper()
	if got := s.slices(owner); !slices.Equal(got, workloads) {
		s.t.Errorf("%s has the workloads %q, want %q", owner, got, workloads)
	}
	if r, g := s.running(owner); r != running || g != gated {
		s.t.Errorf("%s has %d pods that run and %d at the gate, want %d and %d", owner, r, g, running, gated)
	}
	if got := s.reserved("q"); got != reserved {
		s.t.Errorf("%s is reserved, want %s", got, reserved)
	}
}

func TestAnElasticJobGrowsAndShrinks(t *testing.T) {
	play(t, elastic, ground(), func(s *stage) {
		s.create(anElasticJob("train", 2))
		s.settle()
		s.runPods("train")
		s.expect("train", 2, 0, "2", "2 runs")
		s.resize("train", 4)
		s.expect("train", 4, 0, "4", "2 WorkloadSliceReplaced", "4 runs")
		if *s.job("train").Spec.Suspend {
			t.Error("the job was stopped")
		}
		s.resize("train", 1)
		s.expect("train", 1, 0, "1", "1 runs", "2 WorkloadSliceReplaced")
		s.change("train", func(job *batchv1.Job) {
			job.Status.Active, job.Status.Succeeded = 0, 1
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		})
		s.expect("train", 1, 0, "0", "1 Succeeded", "2 WorkloadSliceReplaced")
	})
}

// TestAnElasticJobWaitsForMore: its pods go on meanwhile, those that are too many wait at their gate, and nothing is reserved twice.
func TestAnElasticJobWaitsForMore(t *testing.T) {
	play(t, elastic, ground(), func(s *stage) {
		s.create(anElasticJob("train", 2))
		s.settle()
		s.runPods("train")
		s.create(aJob("other", "q", 1))
		s.settle()
		s.resize("train", 4)
		s.expect("train", 2, 2, "3", "2 runs", "4 waits")
		s.resize("train", 5)
		s.expect("train", 2, 3, "3", "2 runs", "5 waits")
		s.resize("train", 3)
		s.expect("train", 3, 0, "4", "2 WorkloadSliceReplaced", "3 runs")
		s.resize("train", 4)
		s.expect("train", 3, 1, "4", "2 WorkloadSliceReplaced", "3 runs", "4 waits")
		// A restart changes nothing of that.
		s.stop()
		s.begin(elastic)
		s.expect("train", 3, 1, "4", "2 WorkloadSliceReplaced", "3 runs", "4 waits")
		s.change("other", func(job *batchv1.Job) {
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		})
		s.expect("train", 4, 0, "4", "2 WorkloadSliceReplaced", "3 WorkloadSliceReplaced", "4 runs")
	})
}

// TestAnElasticJobIsPreemptedWhileItWaits: all of it stops, and what waits for its next start is the workload of all its pods.
func TestAnElasticJobIsPreemptedWhileItWaits(t *testing.T) {
	play(t, elastic, append(ground(preempts), urgent), func(s *stage) {
		s.create(anElasticJob("train", 2))
		s.settle()
		s.runPods("train")
		s.resize("train", 5)
		s.expect("train", 2, 3, "2", "2 runs", "5 waits")
		s.create(aJob("urgent", "q", 4, controllerconstants.WorkloadPriorityClassLabel, "urgent"))
		s.settle()
		if !*s.job("train").Spec.Suspend {
			t.Error("the victim still runs")
		}
		s.runPods("train")
		s.has("urgent", "Admitted=True")
		s.expect("train", 0, 0, "4", "2 OutOfSync", "5 waits")
		s.change("urgent", func(job *batchv1.Job) {
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		})
		s.resize("train", 4)
		s.expect("train", 4, 0, "4", "2 OutOfSync", "4 runs")
		// One that has grown stops with the template that it came with, too.
		s.resize("train", 3)
		s.resize("train", 4)
		s.expect("train", 4, 0, "4", "2 OutOfSync", "3 WorkloadSliceReplaced", "4 runs")
		s.create(aJob("again", "q", 4, controllerconstants.WorkloadPriorityClassLabel, "urgent"))
		s.settle()
		s.runPods("train")
		s.has("again", "Admitted=True")
		if got := s.job("train").Spec.Template; len(got.Spec.NodeSelector)+len(got.Spec.Tolerations)+len(got.Annotations) > 0 || len(got.Spec.SchedulingGates) != 1 {
			t.Errorf("the victim keeps %+v", got)
		}
	})
}

// TestASucceededPodLeavesItsPlaceFree: for the next pod of the job. The workload that waits for more pods needs less, and is admitted.
func TestASucceededPodLeavesItsPlaceFree(t *testing.T) {
	play(t, elastic, ground(), func(s *stage) {
		s.create(anElasticJob("train", 2))
		s.create(aJob("other", "q", 2))
		s.settle()
		s.runPods("train")
		s.resize("train", 3)
		s.expect("train", 2, 1, "4", "2 runs", "3 waits")
		succeed := func(name string) {
			pod, err := s.client.CoreV1().Pods(namespace).Get(context.Background(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			pod.Status.Phase = corev1.PodSucceeded
			if _, err := s.client.CoreV1().Pods(namespace).UpdateStatus(context.Background(), pod, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			s.change("train", func(job *batchv1.Job) { job.Status.Succeeded++ })
		}
		succeed("train-0")
		s.expect("train", 3, 0, "4", "2 WorkloadSliceReplaced", "3 runs")
		s.change("train", func(job *batchv1.Job) { job.Spec.Parallelism, job.Generation = ptr.To[int32](2), job.Generation+1 })
		s.expect("train", 3, 0, "3", "2 WorkloadSliceReplaced", "2 runs")
	})
}

// TestAnElasticJobKeepsItsClass: as in Kueue, another class counts from its next workload on. Any other job's workload follows, even
// when it has finished.
func TestAnElasticJobKeepsItsClass(t *testing.T) {
	play(t, elastic, append(ground(), urgent), func(s *stage) {
		low := *urgent
		low.Name, low.Value = "low", 1
		s.create(&low)
		s.create(anElasticJob("train", 2, controllerconstants.WorkloadPriorityClassLabel, "low"))
		s.create(aJob("other", "q", 1, controllerconstants.WorkloadPriorityClassLabel, "low"))
		s.settle()
		s.change("other", func(job *batchv1.Job) {
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		})
		for _, name := range []string{"train", "other"} {
			s.change(name, func(job *batchv1.Job) { job.Labels[controllerconstants.WorkloadPriorityClassLabel] = "urgent" })
		}
		if got := *s.workload("train").Spec.Priority; got != 1 {
			t.Errorf("the elastic job has the priority %d", got)
		}
		if got := *s.workload("other").Spec.Priority; got != 100 {
			t.Errorf("the job that has finished has the priority %d", got)
		}
	})
}

// TestAJobIsElasticByConfiguration: without the feature gate, another number of pods needs another admission.
func TestAJobIsElasticByConfiguration(t *testing.T) {
	play(t, admission.Settings{}, ground(), func(s *stage) {
		s.create(anElasticJob("train", 2))
		s.settle()
		s.change("train", func(job *batchv1.Job) { job.Status.Active = 2 })
		s.change("train", func(job *batchv1.Job) { job.Spec.Parallelism = ptr.To[int32](4) })
		if !*s.job("train").Spec.Suspend {
			t.Error("the job goes on")
		}
	})
}

// TestDevicesCountOnceTheirTemplateIsThere: the workload says what it waits for.
func TestDevicesCountOnceTheirTemplateIsThere(t *testing.T) {
	settings := admission.Settings{Devices: &admission.Devices{Classes: map[string]corev1.ResourceName{"gpu.example.com": corev1.ResourceCPU}}}
	play(t, settings, ground(), func(s *stage) {
		job := aJob("train", "q", 1)
		job.Spec.Template.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpus", ResourceClaimTemplateName: ptr.To("two")}}
		s.create(job)
		s.settle()
		s.has("train", "QuotaReserved=False Inadmissible")
		template := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "two"}}
		template.Spec.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpus", Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: "gpu.example.com", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 2,
		}}}
		if _, err := s.client.ResourceV1().ResourceClaimTemplates(namespace).Create(context.Background(), template, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		s.settle()
		s.has("train", "Admitted=True")
		if got := s.reserved("q"); got != "3" {
			t.Errorf("%s is reserved for one core and two devices", got)
		}
	})
}
