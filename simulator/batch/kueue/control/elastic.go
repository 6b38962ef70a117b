package control

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

// elastic reports whether a job may get more or fewer pods while it runs. Of the kinds of jobs that we know, Kueue lets Kubernetes' own.
func (e *engaged) elastic(job jobs.Job) bool {
	return job.Kind() == jobs.Batch{}.Kind() && e.settings.Load().ElasticJobs && jobs.Elastic(job.Object())
}

// sliceOf returns the workload whose quota an elastic job has, or waits for. One that has got more pods than its quota is for gets a
// second workload for all of them, which takes the place of the first when it is admitted. It returns nil if the job has none.
func (e *engaged) sliceOf(ctx context.Context, job jobs.Job) (*kueue.Workload, error) {
	own, err := e.slicesOf(job)
	if err != nil || len(own) == 0 {
		return nil, err
	}
	if message, success, finished := job.Finished(); finished {
		for _, w := range own {
			if err := e.finish(ctx, w, job.Object(), success, message); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	latest := own[len(own)-1]
	waits := !is(latest, kueue.WorkloadQuotaReserved)
	current := latest
	for _, w := range own[:len(own)-1] {
		var err error
		switch {
		case waits && is(w, kueue.WorkloadQuotaReserved):
			current = w
		case latest.Annotations[admission.ReplacementFor] == w.Namespace+"/"+w.Name && !waits: // the cycle writes the same at the same time
			err = e.write(ctx, admission.Replaced(w, latest))
		default:
			err = e.outOfSync(ctx, w)
		}
		if err != nil {
			return nil, err
		}
	}
	count, had := job.PodSets()[0].Count, latest.Spec.PodSets[0].Count
	switch {
	case count == had:
	case count < had || waits:
		_, changed, err := e.change(ctx, types.NamespacedName{Namespace: latest.Namespace, Name: latest.Name}, func(w *kueue.Workload) { w.Spec.PodSets[0].Count = count })
		if err != nil {
			return nil, err
		}
		if current == latest {
			current = changed
		}
	case !is(latest, kueue.WorkloadEvicted):
		if err := e.createSlice(ctx, job, latest); err != nil {
			return nil, err
		}
	}
	return current, nil
}

// slicesOf returns the workloads of a job that have not finished, the latest last.
func (e *engaged) slicesOf(job jobs.Job) ([]*kueue.Workload, error) {
	owned, err := e.workloads.GetIndexer().ByIndex(byOwner, string(job.Object().GetUID()))
	if err != nil {
		return nil, err
	}
	var out []*kueue.Workload
	for _, o := range owned {
		if w := o.(*kueue.Workload); !is(w, kueue.WorkloadFinished) {
			out = append(out, w)
		}
	}
	replaces := func(a, b *kueue.Workload) bool {
		return a.Annotations[admission.ReplacementFor] == b.Namespace+"/"+b.Name
	}
	slices.SortFunc(out, func(a, b *kueue.Workload) int {
		switch c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); { // in whole seconds
		case c != 0:
			return c
		case replaces(a, b):
			return 1
		case replaces(b, a):
			return -1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out, nil
}

// outOfSync ends a workload of a job that has a later one.
func (e *engaged) outOfSync(ctx context.Context, w *kueue.Workload) error {
	_, _, err := e.change(ctx, types.NamespacedName{Namespace: w.Namespace, Name: w.Name}, func(w *kueue.Workload) {
		e.set(w, kueue.WorkloadFinished, metav1.ConditionTrue, kueue.WorkloadFinishedReasonOutOfSync, "The workload slice is out of sync with its parent job")
	}, "status")
	return err
}

// createSlice creates the first workload of an elastic job, or that which is to take the place of another.
func (e *engaged) createSlice(ctx context.Context, job jobs.Job, old *kueue.Workload) error {
	o := job.Object()
	name := jobs.SliceNameOf(job)
	sets := job.PodSets()
	if old != nil { // the job's own template has what its start has injected
		count := sets[0].Count
		sets = old.DeepCopy().Spec.PodSets
		sets[0].Count = count
	}
	w, err := jobs.NewWorkload(surroundings{e}, name, o, sets)
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&w.ObjectMeta, jobs.ElasticJob, "true")
	metav1.SetMetaDataAnnotation(&w.ObjectMeta, kueue.WorkloadSliceNameAnnotation, name)
	if old != nil {
		metav1.SetMetaDataAnnotation(&w.ObjectMeta, kueue.WorkloadSliceNameAnnotation, admission.NameInPods(old))
		metav1.SetMetaDataAnnotation(&w.ObjectMeta, admission.ReplacementFor, old.Namespace+"/"+old.Name)
	}
	return e.createOwned(ctx, job, w)
}

// readySlice reports whether as many pods of an elastic job are ready as its workload is for. Those that wait for a later one are not.
func readySlice(job *batchv1.Job, w *kueue.Workload) bool {
	return job.Status.Succeeded+ptr.Deref(job.Status.Ready, 0) >= w.Spec.PodSets[0].Count
}

// letThrough lets as many pods of an elastic job through their gate as its workload has quota for, the oldest first. While a later
// workload waits, no other pod takes the place of one that has succeeded, as in Kueue.
func (e *engaged) letThrough(ctx context.Context, job jobs.Job, w *kueue.Workload) error {
	set := w.Status.Admission.PodSetAssignments[0]
	pods, err := e.opts.Informers.Core().V1().Pods().Lister().Pods(w.Namespace).List(labels.SelectorFromSet(job.PodsOf(set.Name)))
	if err != nil {
		return err
	}
	own, err := e.slicesOf(job)
	if err != nil {
		return err
	}
	left := min(w.Spec.PodSets[0].Count, ptr.Deref(set.Count, w.Spec.PodSets[0].Count))
	var wait []*corev1.Pod
	for _, pod := range pods {
		switch {
		case jobs.Terminating(pod), jobs.Ended(pod) && (len(own) == 1 || pod.Status.Phase == corev1.PodFailed):
		case jobs.AwaitsSlice(pod):
			wait = append(wait, pod)
		default:
			left--
		}
	}
	slices.SortFunc(wait, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), compareNames(a, b))
	})
	for _, pod := range wait[:max(0, min(len(wait), int(left)))] {
		through := pod.DeepCopy()
		jobs.Ungate(through, kueue.ElasticJobSchedulingGate)
		if err := e.patchPod(ctx, pod, through); err != nil {
			return fmt.Errorf("letting a pod of job %s/%s through its gate: %w", w.Namespace, job.Object().GetName(), err)
		}
	}
	return nil
}
