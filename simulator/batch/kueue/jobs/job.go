package jobs

import (
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// JobPodSets returns the one pod set of a job.
func JobPodSets(job *batchv1.Job) []kueue.PodSet {
	count := ptr.Deref(job.Spec.Parallelism, 1)
	if job.Spec.Completions != nil {
		count = min(count, *job.Spec.Completions)
	}
	set := kueue.PodSet{
		Name: kueue.DefaultPodSetName, Count: count, Template: *job.Spec.Template.DeepCopy(),
		TopologyRequest: indexed(TopologyOf(job.Spec.Template.Annotations), jobIndexLabel),
	}
	if least, err := strconv.ParseInt(job.Annotations[MinParallelism], 10, 32); err == nil && least > 0 {
		set.MinCount = ptr.To(int32(least))
	}
	return []kueue.PodSet{set}
}

// StartJob injects what admission gives and lets the job run.
func StartJob(job *batchv1.Job, info Info) error {
	job.Spec.Suspend = ptr.To(false)
	if job.Annotations[MinParallelism] != "" {
		job.Spec.Parallelism = ptr.To(info.Count)
		if follows(job) {
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

// RestoreJob undoes what StartJob injected, by the workload's template, and reports whether anything
// changed. The job is suspended and has no start time any more.
func RestoreJob(job *batchv1.Job, set kueue.PodSet) (changed bool) {
	if job.Annotations[MinParallelism] != "" && ptr.Deref(job.Spec.Parallelism, 1) != set.Count {
		job.Spec.Parallelism = ptr.To(set.Count)
		if follows(job) {
			job.Spec.Completions = ptr.To(set.Count)
		}
		changed = true
	}
	now, was := &job.Spec.Template, set.Template
	if equality.Semantic.DeepEqual(now.Labels, was.Labels) && equality.Semantic.DeepEqual(now.Annotations, was.Annotations) && equality.Semantic.DeepEqual(now.Spec.NodeSelector, was.Spec.NodeSelector) &&
		equality.Semantic.DeepEqual(now.Spec.Tolerations, was.Spec.Tolerations) && equality.Semantic.DeepEqual(now.Spec.SchedulingGates, was.Spec.SchedulingGates) {
		return changed
	}
	now.Labels, now.Annotations = was.Labels, was.Annotations
	now.Spec.NodeSelector, now.Spec.Tolerations, now.Spec.SchedulingGates = was.Spec.NodeSelector, was.Spec.Tolerations, was.Spec.SchedulingGates
	return true
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

// JobFinished reports whether a job has ended, how, and what it says about that.
func JobFinished(job *batchv1.Job) (message string, success, finished bool) {
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == v1.ConditionTrue {
			return c.Message, c.Type == batchv1.JobComplete, true
		}
	}
	return "", false, false
}

func JobReady(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.Parallelism, 1) <= job.Status.Succeeded+ptr.Deref(job.Status.Ready, 0)
}

// JobReclaimable returns the pods of a job that will not run again.
func JobReclaimable(job *batchv1.Job) []kueue.ReclaimablePod {
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
