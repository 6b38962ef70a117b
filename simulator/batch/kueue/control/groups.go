package control

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

// reconcileGroup brings the pods of a group and their workload together. The workload outlives its pods: a pod that has failed, or
// was deleted, stays as an object, held by the finalizer, until another of its role takes its place. Whoever deletes the workload
// ends the group.
func (e *engaged) reconcileGroup(ctx context.Context, key types.NamespacedName, w *kueue.Workload, pods []*corev1.Pod) error {
	switch {
	case w == nil:
		for _, pod := range pods {
			if jobs.Runnable(pod) {
				continue
			}
			if err := e.finalize(ctx, pod); err != nil {
				return err
			}
		}
		return e.createForPods(ctx, key.Name, pods, true)
	case w.DeletionTimestamp != nil:
		return nil // the workload's reconciler ends the group
	case is(w, kueue.WorkloadFinished), e.endsWithNamespace(w.Namespace):
		for _, pod := range pods {
			if !jobs.Ended(pod) && !jobs.Terminating(pod) {
				continue
			}
			if err := e.finalize(ctx, pod); err != nil {
				return err
			}
		}
		return nil
	}
	m := e.muster(w, pods)
	if len(m.kept) == 0 {
		return e.remove(ctx, w) // of a group that had other roles
	}
	if err := e.own(ctx, w, m.kept); err != nil {
		return err
	}
	if err := e.deleteExcess(ctx, m.excess); err != nil {
		return err
	}
	for _, pod := range m.replaced {
		if err := e.finalize(ctx, pod); err != nil {
			return err
		}
	}
	if err := e.awaitReplacements(ctx, w, m.absent); err != nil {
		return err
	}
	return e.attend(ctx, key, w, m.kept, true)
}

// endsWithNamespace reports whether a namespace is deleted. It takes its pods first, and waits for them before anything
// else: nobody can fill their places.
func (e *engaged) endsWithNamespace(name string) bool {
	namespace, err := e.opts.Informers.Core().V1().Namespaces().Lister().Get(name)
	return err == nil && namespace.DeletionTimestamp != nil
}

func (e *engaged) deleteExcess(ctx context.Context, pods []*corev1.Pod) error {
	for _, pod := range pods {
		if err := e.finalize(ctx, pod); err != nil {
			return err
		}
		if jobs.Terminating(pod) {
			continue
		}
		if err := e.deletePod(ctx, pod, "ExcessPodDeleted", "Excess pod deleted"); err != nil {
			return err
		}
	}
	return nil
}

// dismiss deletes those pods of a new group that are more than it expects, and returns the others.
func (e *engaged) dismiss(ctx context.Context, pods []*corev1.Pod) ([]*corev1.Pod, error) {
	total := int(numberOf(pods[0].Annotations[podconstants.GroupTotalCountAnnotation]))
	if total < 1 || len(pods) <= total {
		return pods, nil // what is wrong with the number is said elsewhere
	}
	pods = slices.Clone(pods)
	slices.SortStableFunc(pods, longestHere)
	return pods[:total], e.deleteExcess(ctx, pods[total:])
}

// muster is who of a group counts.
type muster struct {
	// kept are those that stand in the workload's pod sets, the dead among them whose place is empty. Excess are more pods than
	// there are places, and replaced those dead whose place another has taken.
	kept, excess, replaced []*corev1.Pod
	// absent is the number of empty places.
	absent int
}

// muster gives the places of each pod set to the pods of that role. Pods of other roles have none.
func (e *engaged) muster(w *kueue.Workload, pods []*corev1.Pod) (m muster) {
	for _, set := range w.Spec.PodSets {
		var alive, dead []*corev1.Pod
		for _, pod := range pods {
			switch {
			case roleIn(w, pod) != set.Name:
			case jobs.Runnable(pod):
				alive = append(alive, pod)
			default:
				dead = append(dead, pod)
			}
		}
		places := int(set.Count)
		if len(alive) > places {
			slices.SortStableFunc(alive, longestHere)
			m.excess = append(m.excess, alive[places:]...)
			alive = alive[:places]
		}
		m.absent += places - len(alive)
		m.kept = append(m.kept, alive...)
		slices.SortStableFunc(dead, e.latestDead)
		empty := min(places-len(alive), len(dead))
		m.kept = append(m.kept, dead[:empty]...)
		m.replaced = append(m.replaced, dead[empty:]...)
	}
	return m
}

// longestHere puts those pods last that leave first when there are too many: those without the finalizer, then those behind the
// gate, then the youngest.
func longestHere(a, b *corev1.Pod) int {
	return cmp.Or(
		first(slices.Contains(a.Finalizers, podconstants.PodFinalizer), slices.Contains(b.Finalizers, podconstants.PodFinalizer)),
		first(jobs.Admitted(a), jobs.Admitted(b)),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
	)
}

// latestDead puts those pods last whose places are filled first: those without the finalizer, then those that were
// active the longest time ago.
func (e *engaged) latestDead(a, b *corev1.Pod) int {
	return cmp.Or(
		first(slices.Contains(a.Finalizers, podconstants.PodFinalizer), slices.Contains(b.Finalizers, podconstants.PodFinalizer)),
		e.lastActive(b).Compare(e.lastActive(a)),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
	)
}

func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// lastActive is when a pod failed or was deleted.
func (e *engaged) lastActive(pod *corev1.Pod) time.Time {
	now := e.clock.Now()
	failed := now
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.ContainersReady && c.Status == corev1.ConditionFalse && c.Reason == string(corev1.PodFailed) {
			failed = c.LastTransitionTime.Time
		}
	}
	if deleted := ptr.Deref(pod.DeletionTimestamp, metav1.NewTime(now)); deleted.Time.Before(failed) {
		return deleted.Time
	}
	return failed
}

// awaitReplacements keeps the condition WaitingForReplacementPods, which keeps an evicted workload out of its queue.
func (e *engaged) awaitReplacements(ctx context.Context, w *kueue.Workload, absent int) error {
	was := meta.FindStatusCondition(w.Status.Conditions, admission.WaitingForReplacementPods)
	if was == nil && absent == 0 {
		return nil
	}
	_, _, err := e.change(ctx, types.NamespacedName{Namespace: w.Namespace, Name: w.Name}, func(w *kueue.Workload) {
		was := meta.FindStatusCondition(w.Status.Conditions, admission.WaitingForReplacementPods)
		evicted := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted)
		switch {
		case absent == 0:
			e.set(w, admission.WaitingForReplacementPods, metav1.ConditionFalse, kueue.WorkloadPodsReady, "No pods need replacement")
		case evicted != nil && evicted.Status == metav1.ConditionTrue:
			e.set(w, admission.WaitingForReplacementPods, metav1.ConditionTrue, evicted.Reason, evicted.Message)
		case was == nil || was.Status != metav1.ConditionTrue:
			e.set(w, admission.WaitingForReplacementPods, metav1.ConditionTrue, "PodsFailed", "Some Failed pods need replacement")
		}
	}, "status")
	return err
}
