package jobs

import (
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Batch is Kubernetes' own Job.
type Batch struct{ *batchv1.Job }

var _ Job = Batch{}

func (job Batch) Object() Object            { return job.Job }
func (job Batch) Copy() Job                 { return Batch{job.DeepCopy()} }
func (Batch) Kind() schema.GroupVersionKind { return batchv1.SchemeGroupVersion.WithKind("Job") }
func (job Batch) Suspended() bool           { return ptr.Deref(job.Spec.Suspend, false) }
func (job Batch) Suspend()                  { job.Spec.Suspend = ptr.To(true) }
func (job Batch) HasPods() bool {
	return job.Status.Active > 0 || ptr.Deref(job.Status.Terminating, 0) > 0
}
func (job Batch) Vary() bool { return job.Annotations[MinParallelism] != "" }
func (job Batch) PodsOf(kueue.PodSetReference) labels.Set {
	return labels.Set{batchv1.ControllerUidLabel: string(job.UID)}
}

func (Batch) Rank(_ kueue.PodSetReference, pod *v1.Pod) (int, bool) {
	return rankBy(pod, jobIndexLabel)
}

// Rewind resets the start time.
func (job Batch) Rewind() (changed bool) {
	changed = job.Status.StartTime != nil
	job.Status.StartTime = nil
	return changed
}

// podsOf is how many pods of a job run at once.
func podsOf(spec *batchv1.JobSpec) int32 {
	count := ptr.Deref(spec.Parallelism, 1)
	if spec.Completions != nil {
		count = min(count, *spec.Completions)
	}
	return count
}

// PodSets returns the one pod set of a job.
func (job Batch) PodSets() []kueue.PodSet {
	set := kueue.PodSet{
		Name: kueue.DefaultPodSetName, Count: podsOf(&job.Spec), Template: *job.Spec.Template.DeepCopy(),
		TopologyRequest: indexed(TopologyOf(job.Spec.Template.Annotations), jobIndexLabel),
	}
	if least, err := strconv.ParseInt(job.Annotations[MinParallelism], 10, 32); err == nil && least > 0 {
		set.MinCount = ptr.To(int32(least))
	}
	return []kueue.PodSet{set}
}

// Start also gives the job as many pods as were admitted.
func (job Batch) Start(infos []Info) error {
	info := infos[0]
	job.Spec.Suspend = ptr.To(false)
	if job.Vary() {
		job.Spec.Parallelism = ptr.To(info.Count)
		if follows(job.Job) {
			job.Spec.Completions = ptr.To(info.Count)
		}
	}
	return info.Inject(&job.Spec.Template.ObjectMeta, &job.Spec.Template.Spec)
}

// follows reports whether the completions of a job are as many as its pods.
func follows(job *batchv1.Job) bool {
	follows, err := strconv.ParseBool(job.Annotations[CompletionsEqualParallelism])
	return err == nil && follows
}

func (job Batch) Restore(sets []kueue.PodSet) (changed bool) {
	set := sets[0]
	if job.Vary() && ptr.Deref(job.Spec.Parallelism, 1) != set.Count {
		job.Spec.Parallelism = ptr.To(set.Count)
		if follows(job.Job) {
			job.Spec.Completions = ptr.To(set.Count)
		}
		changed = true
	}
	return restore(&job.Spec.Template, set.Template) || changed
}

// Matches reports whether the pod sets of a workload are those of its job as it is. want comes from the
// job, after Adjust. What a start changes does not count; counts says whether the number of pods does.
func Matches(want, have []kueue.PodSet, counts bool) bool {
	return slices.EqualFunc(want, have, func(want, have kueue.PodSet) bool {
		return want.Name == have.Name && (!counts || want.Count == have.Count) && ptr.Equal(want.MinCount, have.MinCount) &&
			equality.Semantic.DeepEqual(resources(want.Template.Spec), resources(have.Template.Spec))
	})
}

func resources(spec v1.PodSpec) (out []v1.ResourceRequirements) {
	for _, list := range [][]v1.Container{spec.InitContainers, spec.Containers} {
		for _, c := range list {
			out = append(out, c.Resources)
		}
	}
	return out
}

func (job Batch) Finished() (message string, success, finished bool) {
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == v1.ConditionTrue {
			return c.Message, c.Type == batchv1.JobComplete, true
		}
	}
	return "", false, false
}

func (job Batch) Ready() bool {
	return ptr.Deref(job.Spec.Parallelism, 1) <= job.Status.Succeeded+ptr.Deref(job.Status.Ready, 0)
}

func (job Batch) Reclaimable() []kueue.ReclaimablePod {
	parallelism := ptr.Deref(job.Spec.Parallelism, 1)
	if parallelism <= 1 || job.Status.Succeeded == 0 {
		return nil
	}
	remaining := ptr.Deref(job.Spec.Completions, parallelism) - job.Status.Succeeded
	if remaining >= parallelism {
		return nil
	}
	return []kueue.ReclaimablePod{{Name: kueue.DefaultPodSetName, Count: parallelism - remaining}}
}
