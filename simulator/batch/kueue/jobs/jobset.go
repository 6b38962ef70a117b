package jobs

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Set is a JobSet. Each of its replicated jobs is a pod set.
type Set struct{ *jobset.JobSet }

var _ Job = Set{}

func (s Set) Object() Object              { return s.JobSet }
func (s Set) Copy() Job                   { return Set{s.DeepCopy()} }
func (Set) Kind() schema.GroupVersionKind { return jobset.SchemeGroupVersion.WithKind("JobSet") }
func (s Set) Suspended() bool             { return ptr.Deref(s.Spec.Suspend, false) }
func (s Set) Suspend()                    { s.Spec.Suspend = ptr.To(true) }
func (Set) Vary() bool                    { return false }
func (Set) Rewind() bool                  { return false }

func (s Set) PodsOf(set kueue.PodSetReference) labels.Set {
	return labels.Set{jobset.JobSetNameKey: s.Name, jobset.ReplicatedJobNameKey: string(set)}
}

// Rank counts over the jobs of the pod set.
func (s Set) Rank(set kueue.PodSetReference, pod *v1.Pod) (int, bool) {
	job, ok := rankBy(pod, jobset.JobIndexKey)
	index, indexed := rankBy(pod, jobIndexLabel)
	for i := range s.Spec.ReplicatedJobs {
		if kueue.NewPodSetReference(s.Spec.ReplicatedJobs[i].Name) == set {
			return job*int(podsOf(&s.Spec.ReplicatedJobs[i].Template.Spec)) + index, ok && indexed
		}
	}
	return 0, false
}

func (s Set) PodSets() []kueue.PodSet {
	sets := make([]kueue.PodSet, 0, len(s.Spec.ReplicatedJobs))
	for i := range s.Spec.ReplicatedJobs {
		job := &s.Spec.ReplicatedJobs[i]
		template := job.Template.Spec.Template.DeepCopy()
		request := indexed(TopologyOf(template.Annotations), jobIndexLabel)
		request.SubGroupIndexLabel, request.SubGroupCount = ptr.To(jobset.JobIndexKey), ptr.To(job.Replicas)
		sets = append(sets, kueue.PodSet{Name: kueue.NewPodSetReference(job.Name), Count: job.Replicas * podsOf(&job.Template.Spec), Template: *template, TopologyRequest: request})
	}
	return sets
}

func (s Set) Start(infos []Info) error {
	if len(infos) != len(s.Spec.ReplicatedJobs) {
		return fmt.Errorf("%d pod sets were admitted, and the JobSet has %d replicated jobs", len(infos), len(s.Spec.ReplicatedJobs))
	}
	s.Spec.Suspend = ptr.To(false)
	for i := range s.Spec.ReplicatedJobs {
		template := &s.Spec.ReplicatedJobs[i].Template.Spec.Template
		if err := infos[i].Inject(&template.ObjectMeta, &template.Spec); err != nil {
			return err
		}
	}
	return nil
}

func (s Set) Restore(sets []kueue.PodSet) (changed bool) {
	for i := range s.Spec.ReplicatedJobs[:min(len(sets), len(s.Spec.ReplicatedJobs))] {
		changed = restore(&s.Spec.ReplicatedJobs[i].Template.Spec.Template, sets[i].Template) || changed
	}
	return changed
}

// HasPods counts jobs, which are active while a pod of theirs is left.
func (s Set) HasPods() bool {
	for _, job := range s.Status.ReplicatedJobsStatus {
		if job.Active > 0 {
			return true
		}
	}
	return false
}

func (s Set) Finished() (message string, success, finished bool) {
	for _, ended := range []jobset.JobSetConditionType{jobset.JobSetCompleted, jobset.JobSetFailed} {
		if c := meta.FindStatusCondition(s.Status.Conditions, string(ended)); c != nil && c.Status == metav1.ConditionTrue {
			return c.Message, ended == jobset.JobSetCompleted, true
		}
	}
	return "", false, false
}

// Ready counts jobs, as the status does.
func (s Set) Ready() bool {
	var wanted, ready int32
	for i := range s.Spec.ReplicatedJobs {
		wanted += s.Spec.ReplicatedJobs[i].Replicas
	}
	for _, job := range s.Status.ReplicatedJobsStatus {
		ready += job.Ready + job.Succeeded
	}
	return wanted == ready
}

func (s Set) Reclaimable() (pods []kueue.ReclaimablePod) {
	for i := range s.Spec.ReplicatedJobs {
		job := &s.Spec.ReplicatedJobs[i]
		for _, status := range s.Status.ReplicatedJobsStatus {
			if status.Name == job.Name && status.Succeeded > 0 && status.Succeeded <= job.Replicas {
				pods = append(pods, kueue.ReclaimablePod{Name: kueue.NewPodSetReference(job.Name), Count: status.Succeeded * podsOf(&job.Template.Spec)})
			}
		}
	}
	return pods
}
