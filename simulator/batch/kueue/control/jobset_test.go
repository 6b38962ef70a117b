package control

import (
	"context"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
)

// aJobSet has a driver of one pod and workers of two jobs with pods each. It is suspended, as one of a queue is when it comes.
func aJobSet(name, queue string, pods int32) *jobset.JobSet {
	replicated := func(name string, replicas, pods int32) jobset.ReplicatedJob {
		return jobset.ReplicatedJob{Name: name, Replicas: replicas, Template: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
			Parallelism: &pods, Completions: &pods, Template: corev1.PodTemplateSpec{Spec: aSpec("1")},
		}}}
	}
	return &jobset.JobSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: jobset.SchemeGroupVersion.String(), Kind: "JobSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{controllerconstants.QueueLabel: queue}},
		Spec:       jobset.JobSetSpec{Suspend: ptr.To(true), ReplicatedJobs: []jobset.ReplicatedJob{replicated("driver", 1, 1), replicated("workers", 2, pods)}},
	}
}

func (s *stage) jobSet(name string) *jobset.JobSet {
	s.t.Helper()
	o, err := s.at("JobSet").Get(context.Background(), name, metav1.GetOptions{})
	set := &jobset.JobSet{}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, set)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return set
}

// changeJobSet writes what do changes in the status of a JobSet.
func (s *stage) changeJobSet(name string, do func(*jobset.JobSet)) {
	s.t.Helper()
	set := s.jobSet(name)
	do(set)
	set.TypeMeta = metav1.TypeMeta{APIVersion: jobset.SchemeGroupVersion.String(), Kind: "JobSet"}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(set)
	if err == nil {
		_, err = s.at("JobSet").Update(context.Background(), &unstructured.Unstructured{Object: content}, metav1.UpdateOptions{})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.settle()
}

// TestJobSet: a JobSet is admitted as a whole, with a flavor for each replicated job, gives quota back for the jobs that ended,
// and is restored when it is evicted.
func TestJobSet(t *testing.T) {
	play(t, admission.Settings{WaitForPodsReady: &admission.WaitForPodsReady{}}, append(aQueue("a", "f", "6"), aFlavor("f")), func(s *stage) {
		s.create(aJobSet("train", "a", 2))
		s.settle()
		s.has("train", "Admitted=True")
		set := s.jobSet("train")
		if *set.Spec.Suspend || set.Spec.ReplicatedJobs[1].Template.Spec.Template.Spec.NodeSelector["pool"] != "f" {
			t.Errorf("it does not run as admitted: %+v", set.Spec)
		}
		if got := s.reserved("a"); got != "5" {
			t.Errorf("%s are reserved, want 5", got)
		}
		s.create(aJobSet("large", "a", 1))
		s.settle()
		s.has("large", "QuotaReserved=False WaitingForQuota")

		s.changeJobSet("train", func(set *jobset.JobSet) {
			set.Status.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "driver", Active: 1, Ready: 1}, {Name: "workers", Active: 1, Ready: 1, Succeeded: 1}}
		})
		s.has("large", "Admitted=True") // 3 are left, which it asks for
		s.has("train", "PodsReady=True")

		s.changeJobSet("train", func(set *jobset.JobSet) {
			set.Spec.ReplicatedJobs[1].Template.Spec.Template.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("2")
		})
		if set := s.jobSet("train"); !*set.Spec.Suspend {
			t.Error("a JobSet that is no longer what was admitted runs on")
		}
		s.changeJobSet("train", func(set *jobset.JobSet) { set.Status.ReplicatedJobsStatus = nil })
		if set := s.jobSet("train"); set.Spec.ReplicatedJobs[1].Template.Spec.Template.Spec.NodeSelector["pool"] != "" {
			t.Error("the stopped JobSet keeps the selector of the flavor")
		}
		s.changeJobSet("large", func(set *jobset.JobSet) {
			set.Status.Conditions = []metav1.Condition{{Type: string(jobset.JobSetCompleted), Status: metav1.ConditionTrue, Message: "done"}}
		})
		s.has("large", "Finished=True Succeeded")
	})
}
