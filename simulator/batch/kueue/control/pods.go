package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"
	"sigs.k8s.io/kueue/pkg/util/tas"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

// reconcilePods brings the pods of a queue and their workload together, and gives pods their place in a
// topology. The key is that of the workload.
func (e *engaged) reconcilePods(ctx context.Context, key types.NamespacedName) error {
	w := cached[kueue.Workload](e.workloads, key)
	pods := e.podsOf(key)
	if len(pods) == 0 {
		if w == nil {
			return nil
		}
		if e.jobOf(w) != nil {
			return e.place(ctx, w)
		}
		if e.ofLeaderSet(w) {
			return nil // its controller makes pods again
		}
		return e.abandon(ctx, w)
	}
	if jobs.GroupOf(pods[0]) != "" && !jobs.Serves(pods[0]) {
		return e.reconcileGroup(ctx, key, w, pods)
	}
	for _, pod := range pods {
		if err := e.letGo(ctx, pod, w); err != nil {
			return err
		}
	}
	group := jobs.GroupOf(pods[0]) != ""
	switch {
	case w == nil && jobs.GroupOfMember(pods[0]) == key.Name:
		return nil // that is made of the LeaderWorkerSet
	case w == nil:
		return e.createForPods(ctx, key.Name, pods, group)
	case w.DeletionTimestamp != nil || is(w, kueue.WorkloadFinished):
		return nil
	}
	if group {
		if err := e.own(ctx, w, slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed || jobs.Terminating(p) })); err != nil {
			return err
		}
	}
	return e.attend(ctx, key, w, pods, group)
}

// attend takes a workload through the life of its pods.
func (e *engaged) attend(ctx context.Context, key types.NamespacedName, w *kueue.Workload, pods []*corev1.Pod, group bool) error {
	if err := e.followLabel(ctx, w, pods[0]); err != nil {
		return err
	}
	if message, success, finished := podsFinished(pods, w, group); finished {
		return e.finish(ctx, w, pods[0], success, message)
	}
	if evicted := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted); evicted != nil && evicted.Status == metav1.ConditionTrue && is(w, kueue.WorkloadQuotaReserved) {
		return e.stopPods(ctx, key, pods, evicted)
	}
	if err := e.reclaim(ctx, w, reclaimable(pods, w, group)); err != nil {
		return err
	}
	if err := e.ready(ctx, w, podsReady(pods, w)); err != nil {
		return err
	}
	if is(w, kueue.WorkloadAdmitted) {
		return e.startPods(ctx, w, pods)
	}
	return nil
}

// abandon deletes a workload all of whose pods have gone, unless they come back. The garbage collector would, too, but waits for
// the finalizer.
func (e *engaged) abandon(ctx context.Context, w *kueue.Workload) error {
	if !slices.ContainsFunc(w.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "Pod" || o.Kind == statefulSet.Kind }) {
		return nil
	}
	if alive, err := e.comesBack(ctx, w); err != nil || alive {
		if evicted := is(w, kueue.WorkloadEvicted) && is(w, kueue.WorkloadQuotaReserved); err == nil && evicted {
			return e.release(ctx, types.NamespacedName{Namespace: w.Namespace, Name: w.Name})
		}
		return err
	}
	return e.remove(ctx, w)
}

// comesBack reports whether a StatefulSet owns a workload and will create its pods again.
func (e *engaged) comesBack(ctx context.Context, w *kueue.Workload) (bool, error) {
	i := slices.IndexFunc(w.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == statefulSet.Kind })
	if i < 0 || w.DeletionTimestamp != nil || is(w, kueue.WorkloadFinished) {
		return false, nil
	}
	owner := w.OwnerReferences[i]
	set, err := e.client.AppsV1().StatefulSets(w.Namespace).Get(ctx, owner.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return set.UID == owner.UID && set.DeletionTimestamp == nil && ptr.Deref(set.Spec.Replicas, 1) > 0, nil
}

var statefulSet = appsv1.SchemeGroupVersion.WithKind("StatefulSet")

// remove deletes a workload whose pods may live on.
func (e *engaged) remove(ctx context.Context, w *kueue.Workload) error {
	if err := e.dropFinalizer(ctx, types.NamespacedName{Namespace: w.Namespace, Name: w.Name}); err != nil {
		return err
	}
	if w.DeletionTimestamp != nil {
		return nil
	}
	return e.custom.Resource(workloadResource).Namespace(w.Namespace).Delete(ctx, w.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &w.UID}})
}

// letGo removes the finalizer of a pod that holds no quota any more, and whose place in a group, if it has one, its
// controller fills.
func (e *engaged) letGo(ctx context.Context, pod *corev1.Pod, w *kueue.Workload) error {
	gone := jobs.Terminating(pod) && (jobs.Ended(pod) || pod.Spec.NodeName == "" || ptr.Deref(pod.DeletionGracePeriodSeconds, 1) == 0)
	over := jobs.Ended(pod) && w != nil && is(w, kueue.WorkloadFinished)
	if !gone && !over {
		return nil
	}
	return e.finalize(ctx, pod)
}

func (e *engaged) finalize(ctx context.Context, pod *corev1.Pod) error {
	if !slices.Contains(pod.Finalizers, podconstants.PodFinalizer) {
		return nil
	}
	after := pod.DeepCopy()
	after.Finalizers = slices.DeleteFunc(after.Finalizers, func(f string) bool { return f == podconstants.PodFinalizer })
	return e.patchPod(ctx, pod, after)
}

func (e *engaged) createForPods(ctx context.Context, name string, pods []*corev1.Pod, group bool) error {
	active := slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return jobs.Ended(p) || jobs.Terminating(p) })
	if group {
		active = slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return !jobs.Runnable(p) })
	}
	if len(active) == 0 {
		return nil
	}
	if group {
		var err error
		if active, err = e.dismiss(ctx, active); err != nil {
			return err
		}
	}
	sets := jobs.PodPodSets(active[0])
	if group {
		var err error
		if sets, err = jobs.GroupPodSets(name, active); err != nil {
			var unfit *jobs.GroupError
			if errors.As(err, &unfit) {
				e.recorder.Event(active[0], corev1.EventTypeWarning, "ErrWorkloadCompose", unfit.Message)
				return nil
			}
			return err
		}
	}
	w, err := jobs.NewWorkload(surroundings{e}, name, active[0], sets)
	if err != nil {
		return err
	}
	for _, pod := range active {
		w.OwnerReferences = append(w.OwnerReferences, ownerReference(pod))
	}
	if !group {
		w.OwnerReferences[0].Controller, w.OwnerReferences[0].BlockOwnerDeletion = ptr.To(true), ptr.To(true)
	} else {
		w.Annotations = map[string]string{kueue.GroupVersion.Group + "/is-group-workload": "true"}
		if owner := metav1.GetControllerOf(active[0]); owner != nil && schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind) == statefulSet {
			w.OwnerReferences = append(w.OwnerReferences, metav1.OwnerReference{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID})
		}
	}
	if err := e.create(ctx, workloadResource, w); err != nil {
		return fmt.Errorf("creating the workload of pod %s/%s: %w", active[0].Namespace, active[0].Name, err)
	}
	e.recorder.Eventf(active[0], corev1.EventTypeNormal, "CreatedWorkload", "Created Workload: %s/%s", w.Namespace, w.Name)
	return nil
}

func ownerReference(pod *corev1.Pod) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}
}

// own makes pods owners of their workload.
func (e *engaged) own(ctx context.Context, w *kueue.Workload, pods []*corev1.Pod) error {
	owns := func(w *kueue.Workload, pod *corev1.Pod) bool {
		return slices.ContainsFunc(w.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == pod.UID })
	}
	late := slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return owns(w, p) })
	if len(late) == 0 {
		return nil
	}
	_, after, err := e.change(ctx, types.NamespacedName{Namespace: w.Namespace, Name: w.Name}, func(w *kueue.Workload) {
		for _, pod := range late {
			if !owns(w, pod) {
				w.OwnerReferences = append(w.OwnerReferences, ownerReference(pod))
			}
		}
	})
	if err == nil {
		e.recorder.Eventf(after, corev1.EventTypeNormal, "OwnerReferencesAdded", "Added %d owner reference(s)", len(late))
	}
	return err
}

// podsFinished is jobs.GroupFinished for a pod of its own, too.
func podsFinished(pods []*corev1.Pod, w *kueue.Workload, group bool) (message string, success, finished bool) {
	if !group {
		return pods[0].Status.Message, pods[0].Status.Phase == corev1.PodSucceeded, jobs.Ended(pods[0])
	}
	total := int32(0)
	for _, set := range w.Spec.PodSets {
		total += set.Count
	}
	return jobs.GroupFinished(pods, total)
}

func podsReady(pods []*corev1.Pod, w *kueue.Workload) bool {
	wanted := int32(0)
	for _, set := range w.Spec.PodSets {
		wanted += set.Count
	}
	for _, pod := range pods {
		if jobs.Ready(pod) && !jobs.Terminating(pod) {
			wanted--
		}
	}
	return wanted <= 0
}

func reclaimable(pods []*corev1.Pod, w *kueue.Workload, group bool) []kueue.ReclaimablePod {
	if !group {
		return nil
	}
	done := map[kueue.PodSetReference]int32{}
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodSucceeded {
			done[roleIn(w, pod)]++
		}
	}
	var out []kueue.ReclaimablePod
	for _, set := range w.Spec.PodSets {
		if n := done[set.Name]; n > 0 {
			out = append(out, kueue.ReclaimablePod{Name: set.Name, Count: n})
		}
	}
	return out
}

// roleIn returns the pod set that a pod belongs to. Admission changes the shape of pods, so those that have
// been admitted are told by their label, and all by the role that they had when they came.
func roleIn(w *kueue.Workload, pod *corev1.Pod) kueue.PodSetReference {
	if name := pod.Labels[constants.PodSetLabel]; name != "" {
		return kueue.PodSetReference(name)
	}
	if sets := w.Spec.PodSets; len(sets) == 1 && (sets[0].Name == kueue.DefaultPodSetName || pod.Annotations[podconstants.RoleHashAnnotation] == "") {
		return sets[0].Name
	}
	return kueue.PodSetReference(jobs.RoleOf(pod))
}

// stopPods deletes the pods of an evicted workload, and releases its quota when none runs any more. What has not passed the gate
// may wait on.
func (e *engaged) stopPods(ctx context.Context, key types.NamespacedName, pods []*corev1.Pod, evicted *metav1.Condition) error {
	left, check := false, time.Duration(0)
	for _, pod := range pods {
		if jobs.Ended(pod) || !jobs.Admitted(pod) {
			continue
		}
		if !jobs.Terminating(pod) {
			if err := e.stopPod(ctx, pod, "WorkloadEvictedDueTo"+evicted.Reason, evicted.Message); err != nil {
				return err
			}
			left = true // its deletion calls again
			continue
		}
		// A pod that has no node never runs, and one that is stuck holds no quota.
		if pod.Spec.NodeName == "" {
			continue
		}
		if over := pod.DeletionTimestamp.Sub(e.clock.Now()); over >= 0 {
			left, check = true, max(check, over+time.Second)
		}
	}
	if left {
		if check > 0 {
			e.podKeys.AddAfter(key, check)
		}
		return nil
	}
	return e.release(ctx, key)
}

// stopPod deletes a pod, and says in its status why.
func (e *engaged) stopPod(ctx context.Context, pod *corev1.Pod, reason, message string) error {
	marked := pod.DeepCopy()
	setPodCondition(marked, corev1.PodCondition{
		Type: "TerminationTarget", Status: corev1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(e.clock.Now()),
	})
	if err := e.patchPod(ctx, pod, marked, "status"); err != nil {
		return err
	}
	return e.deletePod(ctx, pod, "Stopped", message)
}

func setPodCondition(pod *corev1.Pod, c corev1.PodCondition) {
	pod.Status.Conditions = append(slices.DeleteFunc(pod.Status.Conditions, func(here corev1.PodCondition) bool { return here.Type == c.Type }), c)
}

func (e *engaged) deletePod(ctx context.Context, pod *corev1.Pod, reason, message string) error {
	if err := e.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}}); err != nil {
		return err
	}
	e.recorder.Event(pod, corev1.EventTypeNormal, reason, message)
	return nil
}

// startPods lets the pods of an admitted workload through the gate.
func (e *engaged) startPods(ctx context.Context, w *kueue.Workload, pods []*corev1.Pod) error {
	infos, err := jobs.Infos(w, e.flavor)
	if err != nil {
		return err
	}
	for i, info := range infos {
		members := slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return roleIn(w, p) != info.Name || jobs.Ended(p) })
		places := placesFor(w.Status.Admission.PodSetAssignments[i].TopologyAssignment, members, jobs.RankInGroup)
		for n, pod := range members {
			if jobs.Admitted(pod) || jobs.Terminating(pod) {
				continue
			}
			started := pod.DeepCopy()
			info.Gates = nil // pods get no gates once they exist
			if err := info.Inject(&started.ObjectMeta, &started.Spec); err != nil {
				return err
			}
			jobs.Ungate(started, podconstants.SchedulingGateName)
			jobs.Ungate(started, kueue.TopologySchedulingGate)
			selectNodes(started, places[n])
			if err := e.patchPod(ctx, pod, started); err != nil {
				return err
			}
			e.recorder.Eventf(pod, corev1.EventTypeNormal, "Started", "Admitted by clusterQueue %s", w.Status.Admission.ClusterQueue)
		}
	}
	return nil
}

// place gives the pods of an admitted job their places in a topology.
func (e *engaged) place(ctx context.Context, w *kueue.Workload) error {
	job := e.jobOf(w)
	if w.Status.Admission == nil || job == nil {
		return nil
	}
	for _, set := range w.Status.Admission.PodSetAssignments {
		if set.TopologyAssignment == nil {
			continue
		}
		list, err := e.opts.Informers.Core().V1().Pods().Lister().Pods(w.Namespace).List(labels.SelectorFromSet(job.PodsOf(set.Name)))
		if err != nil {
			return err
		}
		members := slices.DeleteFunc(slices.Clone(list), jobs.Ended)
		slices.SortFunc(members, func(a, b *corev1.Pod) int { return compareNames(a, b) })
		places := placesFor(set.TopologyAssignment, members, func(pod *corev1.Pod) (int, bool) { return job.Rank(set.Name, pod) })
		for n, pod := range members {
			if !jobs.AwaitsPlace(pod) || places[n] == nil {
				continue
			}
			placed := pod.DeepCopy()
			jobs.Ungate(placed, kueue.TopologySchedulingGate)
			selectNodes(placed, places[n])
			if err := e.patchPod(ctx, pod, placed); err != nil {
				return err
			}
		}
	}
	return nil
}

func selectNodes(pod *corev1.Pod, labels map[string]string) {
	if pod.Spec.NodeSelector == nil {
		pod.Spec.NodeSelector = map[string]string{}
	}
	maps.Copy(pod.Spec.NodeSelector, labels)
}

// placesFor returns the node selector of each pod's domain; nil without a topology, and where there is no
// room. Pods that have a rank go to the domain of their rank, the others to the first with room.
func placesFor(assignment *kueue.TopologyAssignment, pods []*corev1.Pod, rankOf func(*corev1.Pod) (int, bool)) []map[string]string {
	places := make([]map[string]string, len(pods))
	if assignment == nil {
		return places
	}
	domains := admission.Domains(assignment)
	free := make([]int32, len(domains))
	selectors := make([]labels.Set, len(domains))
	for i, d := range domains {
		free[i], selectors[i] = d.Pods, tas.NodeLabelsFromKeysAndValues(assignment.Levels, d.Values)
	}
	for _, pod := range pods {
		if jobs.AwaitsPlace(pod) || !jobs.Admitted(pod) {
			continue
		}
		if i := slices.IndexFunc(selectors, func(s labels.Set) bool { return s.AsSelector().Matches(labels.Set(pod.Spec.NodeSelector)) }); i >= 0 {
			free[i]--
		}
	}
	for n, pod := range pods {
		if !jobs.AwaitsPlace(pod) && jobs.Admitted(pod) {
			continue
		}
		at := slices.IndexFunc(free, func(n int32) bool { return n > 0 })
		if rank, ok := rankOf(pod); ok {
			for i, d := range domains {
				if rank -= int(d.Pods); rank < 0 {
					if free[i] > 0 {
						at = i
					}
					break
				}
			}
		}
		if at >= 0 {
			free[at]--
			places[n] = selectors[at]
		}
	}
	return places
}

func (e *engaged) patchPod(ctx context.Context, from, to *corev1.Pod, subresources ...string) error {
	data, err := difference(from, to)
	if err != nil || data == nil {
		return err
	}
	_, err = e.client.CoreV1().Pods(from.Namespace).Patch(ctx, from.Name, types.MergePatchType, data, metav1.PatchOptions{FieldManager: agent}, subresources...)
	if err != nil {
		return fmt.Errorf("writing pod %s/%s: %w", from.Namespace, from.Name, err)
	}
	return nil
}
