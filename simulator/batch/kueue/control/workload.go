package control

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

// reconcileWorkload writes what a workload is owed outside of cycles.
func (e *engaged) reconcileWorkload(ctx context.Context, key types.NamespacedName) error {
	w := cached[kueue.Workload](e.workloads, key)
	if w == nil {
		return nil
	}
	if w.DeletionTimestamp != nil {
		return e.releaseDeleted(ctx, w)
	}
	if err := e.followClass(ctx, w); err != nil {
		return err
	}
	e.mu.Lock()
	decisions, next := e.state.Review(key, e.clock.Now())
	e.mu.Unlock()
	if err := e.carry(ctx, decisions); err != nil {
		return err
	}
	if next > 0 {
		e.workloadKeys.AddAfter(key, next)
	}
	return nil
}

// followClass gives a workload the priority of its WorkloadPriorityClass, which can change.
func (e *engaged) followClass(ctx context.Context, w *kueue.Workload) error {
	ref := w.Spec.PriorityClassRef
	if ref == nil || ref.Kind != kueue.WorkloadPriorityClassKind {
		return nil
	}
	class := cached[kueue.WorkloadPriorityClass](e.classes, types.NamespacedName{Name: ref.Name})
	if class == nil || ptr.Equal(w.Spec.Priority, &class.Value) {
		return nil
	}
	_, _, err := e.change(ctx, types.NamespacedName{Namespace: w.Namespace, Name: w.Name}, func(w *kueue.Workload) { w.Spec.Priority = ptr.To(class.Value) })
	return err
}

// followLabel gives a workload the class that the label of its owner names, which can change, or be added.
func (e *engaged) followLabel(ctx context.Context, w *kueue.Workload, owner object) error {
	name, ref := owner.GetLabels()[controllerconstants.WorkloadPriorityClassLabel], w.Spec.PriorityClassRef
	if ref != nil && ref.Kind != kueue.WorkloadPriorityClassKind || ref == nil && name == "" || ref != nil && ref.Name == name {
		return nil
	}
	changed, priority, err := jobs.PriorityOf(surroundings{e}, owner.GetLabels(), w.Spec.PodSets)
	if err != nil {
		return err
	}
	if _, _, err := e.change(ctx, types.NamespacedName{Namespace: w.Namespace, Name: w.Name}, func(w *kueue.Workload) {
		w.Spec.PriorityClassRef, w.Spec.Priority = changed, priority
	}); err != nil {
		return err
	}
	e.recorder.Eventf(owner, corev1.EventTypeNormal, "UpdatedWorkload", "Updated workload priority class: %s/%s", w.Namespace, w.Name)
	return nil
}

// releaseDeleted lets a deleted workload go once nothing runs on its quota.
func (e *engaged) releaseDeleted(ctx context.Context, w *kueue.Workload) error {
	key := types.NamespacedName{Namespace: w.Namespace, Name: w.Name}
	waits := w.Annotations[admission.ReplacementFor] != "" && !is(w, kueue.WorkloadQuotaReserved) // the job runs on the quota of another
	if job := e.jobOf(w); job != nil && job.Object().GetDeletionTimestamp() == nil && !is(w, kueue.WorkloadFinished) && !waits {
		if done, err := e.stopped(ctx, job, w, "The workload is deleted"); err != nil || !done {
			return err
		}
	}
	if !is(w, kueue.WorkloadFinished) {
		if err := e.endPods(ctx, e.podsOf(key)); err != nil {
			return err
		}
	}
	return e.dropFinalizer(ctx, key)
}

// endPods deletes the pods of a workload that is deleted: nothing would let them through the gate, or fill their places.
func (e *engaged) endPods(ctx context.Context, pods []*corev1.Pod) error {
	for _, pod := range pods {
		if !jobs.Terminating(pod) {
			if err := e.stopPod(ctx, pod, "WorkloadDeleted", "Workload is deleted"); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		if jobs.GroupOf(pod) == "" {
			continue // its own end takes the finalizer
		}
		// The pod as it is now: the deletion has changed it.
		live, err := e.client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		if err == nil && live.UID == pod.UID {
			err = e.finalize(ctx, live)
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func (e *engaged) dropFinalizer(ctx context.Context, key types.NamespacedName) error {
	_, _, err := e.change(ctx, key, func(w *kueue.Workload) {
		w.Finalizers = slices.DeleteFunc(w.Finalizers, func(f string) bool { return f == kueue.ResourceInUseFinalizerName })
	})
	return err
}

// surroundings read the caches.
type surroundings struct{ *engaged }

var _ jobs.Surroundings = surroundings{}

func (s surroundings) WorkloadPriorityClass(name string) *kueue.WorkloadPriorityClass {
	return cached[kueue.WorkloadPriorityClass](s.classes, types.NamespacedName{Name: name})
}

func (s surroundings) PriorityClasses() []*schedulingv1.PriorityClass {
	all, _ := s.opts.Informers.Scheduling().V1().PriorityClasses().Lister().List(everything)
	return all
}

func (s surroundings) Overhead(runtimeClass string) corev1.ResourceList {
	class, err := s.opts.Informers.Node().V1().RuntimeClasses().Lister().Get(runtimeClass)
	if err != nil || class.Overhead == nil {
		return nil
	}
	return class.Overhead.PodFixed
}

func (s surroundings) LimitRanges(namespace string) []*corev1.LimitRange {
	ranges, _ := s.opts.Informers.Core().V1().LimitRanges().Lister().LimitRanges(namespace).List(everything)
	return ranges
}

var everything = labels.Everything()

func (e *engaged) set(w *kueue.Workload, kind string, status metav1.ConditionStatus, reason, message string) bool {
	return meta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: w.Generation, LastTransitionTime: metav1.NewTime(e.clock.Now().Truncate(time.Second)),
	})
}

func is(w *kueue.Workload, condition string) bool {
	return meta.IsStatusConditionTrue(w.Status.Conditions, condition)
}

func (e *engaged) finish(ctx context.Context, w *kueue.Workload, owner object, success bool, message string) error {
	if is(w, kueue.WorkloadFinished) {
		return nil
	}
	reason := "Failed"
	if success {
		reason = "Succeeded"
	}
	key := types.NamespacedName{Namespace: w.Namespace, Name: w.Name}
	if _, _, err := e.change(ctx, key, func(w *kueue.Workload) {
		e.set(w, kueue.WorkloadFinished, metav1.ConditionTrue, reason, cmp.Or(message, "Job finished"))
	}, "status"); err != nil {
		return err
	}
	countFinished(w, e.clock.Now())
	e.recorder.Eventf(owner, corev1.EventTypeNormal, "FinishedWorkload", "Workload '%s' is declared finished", key)
	return nil
}

// ready keeps the condition PodsReady of an admitted workload, if the settings ask for it.
func (e *engaged) ready(ctx context.Context, w *kueue.Workload, ready bool) error {
	if e.settings.Load().WaitForPodsReady == nil {
		return nil
	}
	if !is(w, kueue.WorkloadAdmitted) || is(w, kueue.WorkloadEvicted) || is(w, kueue.WorkloadFinished) || ready && is(w, kueue.WorkloadPodsReady) {
		return nil
	}
	was := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadPodsReady)
	status, reason, message := metav1.ConditionFalse, "WaitForStart", "Not all pods are ready or succeeded"
	before := was != nil && (was.Status == metav1.ConditionTrue || was.Reason == "WaitForRecovery" || was.Reason == "Recovered")
	switch {
	case ready && before:
		status, reason, message = metav1.ConditionTrue, "Recovered", "All pods were ready or succeeded since the workload admission"
	case ready:
		status, reason, message = metav1.ConditionTrue, "Started", "All pods were ready or succeeded since the workload admission"
	case before:
		reason, message = "WaitForRecovery", "At least one pod has failed, waiting for recovery"
	}
	_, _, err := e.change(ctx, types.NamespacedName{Namespace: w.Namespace, Name: w.Name}, func(w *kueue.Workload) {
		e.set(w, kueue.WorkloadPodsReady, status, reason, message)
	}, "status")
	if err == nil && reason == "Started" {
		countReady(w, e.clock.Now())
	}
	return err
}

// reclaim writes how many pods have given their quota back.
func (e *engaged) reclaim(ctx context.Context, w *kueue.Workload, pods []kueue.ReclaimablePod) error {
	if len(pods) == 0 || slices.Equal(pods, w.Status.ReclaimablePods) {
		return nil
	}
	_, _, err := e.change(ctx, types.NamespacedName{Namespace: w.Namespace, Name: w.Name}, func(w *kueue.Workload) { w.Status.ReclaimablePods = pods }, "status")
	return err
}

// release takes the quota of an evicted workload, whose job has stopped.
func (e *engaged) release(ctx context.Context, key types.NamespacedName) error {
	e.mu.Lock()
	decisions := e.state.Released(key)
	e.mu.Unlock()
	return e.carry(ctx, decisions)
}
