package jobs

import (
	"strconv"

	appwrapper "github.com/project-codeflare/appwrapper/api/v1beta2"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
)

// Object is an object of an API.
type Object interface {
	runtime.Object
	metav1.Object
}

// Job is an object that runs no pods while it is suspended, and is admitted as a whole. The methods that change it change it in
// place.
type Job interface {
	Object() Object
	Copy() Job
	Kind() schema.GroupVersionKind
	// PodSets are not adjusted yet; see Adjusted.
	PodSets() []kueue.PodSet
	// PodsOf selects the pods of a pod set.
	PodsOf(kueue.PodSetReference) labels.Set
	// Rank is the index of a pod in its pod set; false if it has none.
	Rank(kueue.PodSetReference, *v1.Pod) (int, bool)
	// Vary reports whether it can start with fewer pods than it asks for.
	Vary() bool
	Suspended() bool
	Suspend()
	// Start injects what admission gives to each pod set, and lets the job run. The error is an ErrConflict.
	Start([]Info) error
	// HasPods reports whether any of its pods is left.
	HasPods() bool
	// Rewind changes the status of a suspended job so that it can start again, and reports whether it had to.
	Rewind() (changed bool)
	// Restore undoes what Start injected, by the workload's pod sets, and reports whether anything changed. The job is
	// suspended and rewound.
	Restore([]kueue.PodSet) (changed bool)
	// Finished reports whether it has ended, how, and what it says about that.
	Finished() (message string, success, finished bool)
	Ready() bool
	// Reclaimable are the pods that will not run again.
	Reclaimable() []kueue.ReclaimablePod
}

// Idle reports whether a job is suspended and none of its pods is left.
func Idle(job Job) bool { return job.Suspended() && !job.HasPods() }

// WorkloadName is that of a job's workload.
func WorkloadName(job Job) string {
	if name := job.Object().GetLabels()[controllerconstants.PrebuiltWorkloadLabel]; name != "" {
		return name
	}
	return NameOf(job.Kind().GroupKind(), job.Object().GetName(), job.Object().GetUID())
}

// maxOwners is how far up ManagedAbove looks.
const maxOwners = 10

// ManagedAbove reports whether an object belongs to a job that a queue admits as a whole, whatever is in between. above returns an owner,
// nil if it is not known, and whether it would be admitted as a whole.
func ManagedAbove(o metav1.Object, above func(namespace string, owner *metav1.OwnerReference) (o metav1.Object, admitted bool)) bool {
	namespace := o.GetNamespace()
	for range maxOwners {
		owner := metav1.GetControllerOf(o)
		if owner == nil {
			return false
		}
		next, admitted := above(namespace, owner)
		if next == nil {
			return false
		}
		if admitted && next.GetLabels()[controllerconstants.QueueLabel] != "" {
			return true
		}
		o = next
	}
	return false
}

// JobOf returns the job that an object is; nil for objects of other kinds.
func JobOf(o any) Job {
	switch o := o.(type) {
	case *batchv1.Job:
		return Batch{o}
	case *jobset.JobSet:
		return Set{o}
	case *appwrapper.AppWrapper:
		return Wrapper{o}
	}
	return nil
}

// restore undoes what a start injected into a template, and reports whether anything changed.
func restore(now *v1.PodTemplateSpec, was v1.PodTemplateSpec) (changed bool) {
	if equality.Semantic.DeepEqual(now.Labels, was.Labels) && equality.Semantic.DeepEqual(now.Annotations, was.Annotations) && equality.Semantic.DeepEqual(now.Spec.NodeSelector, was.Spec.NodeSelector) &&
		equality.Semantic.DeepEqual(now.Spec.Tolerations, was.Spec.Tolerations) && equality.Semantic.DeepEqual(now.Spec.SchedulingGates, was.Spec.SchedulingGates) {
		return false
	}
	now.Labels, now.Annotations = was.Labels, was.Annotations
	now.Spec.NodeSelector, now.Spec.Tolerations, now.Spec.SchedulingGates = was.Spec.NodeSelector, was.Spec.Tolerations, was.Spec.SchedulingGates
	return true
}

// RankInGroup is the index of a pod in its group; false if it has none.
func RankInGroup(pod *v1.Pod) (int, bool) { return rankBy(pod, kueue.PodGroupPodIndexLabel) }

func rankBy(pod *v1.Pod, label string) (int, bool) {
	rank, err := strconv.Atoi(pod.Labels[label])
	return rank, err == nil
}
