package simulation

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-helpers/storage/ephemeral"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/standin"
)

// podLife does what kubelets do to pods, and controllers that make their claims and collect them.
type podLife struct {
	*control
	// timers are the next steps of pods, by key.
	timers map[string]podTimer
}

// podTimer is a step of a pod. It counts only for the pod with this UID in this state.
type podTimer struct {
	*timer
	state podState
}

type podState struct {
	uid   string
	step  podStep
	since int64
}

type podStep int

const (
	starts podStep = iota + 1
	ends
	stops
	isCollected
)

// orphanedFor is about how long Kubernetes keeps the pods of a missing node: 40 seconds, and the
// rest of a period of 20.
const orphanedFor = time.Minute

func newPodLife(c *control) podLife { return podLife{c, map[string]podTimer{}} }

func ended(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

func isReady(pod *v1.Pod) bool {
	i := slices.IndexFunc(pod.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.PodReady })
	return i >= 0 && pod.Status.Conditions[i].Status == v1.ConditionTrue
}

// admitPod does what the admission plugins Priority and DefaultTolerationSeconds and the API
// server's strategy for pods do.
func (c *control) admitPod(pod *v1.Pod) error {
	if err := c.prioritize(pod); err != nil {
		return err
	}
	tolerate(pod)
	if pod.Status.Phase == "" {
		pod.Status.Phase = v1.PodPending
	}
	if pod.Status.QOSClass == "" {
		pod.Status.QOSClass = qosOf(pod)
	}
	if len(pod.Spec.SchedulingGates) > 0 && pod.Spec.NodeName == "" {
		setCondition(&pod.Status, v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonSchedulingGated, Message: "Scheduling is blocked due to non-empty scheduling gates"})
	}
	return invalid(podKind, pod.Name, pod)
}

// invalid returns the error of an API server about a new pod, or nil.
func invalid(gvk schema.GroupVersionKind, name string, pod *v1.Pod) error {
	internal := &core.Pod{}
	if err := corev1.Convert_v1_Pod_To_core_Pod(pod, internal, nil); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if errs := validation.ValidatePodCreate(internal, podutil.GetValidationOptionsFromPodSpecAndMeta(&internal.Spec, nil, &internal.ObjectMeta, nil)); len(errs) > 0 {
		return apierrors.NewInvalid(gvk.GroupKind(), name, errs)
	}
	return nil
}

// prioritize is the admission plugin Priority.
func (c *control) prioritize(pod *v1.Pod) error {
	if pod.Spec.Priority != nil {
		return nil
	}
	var class *schedulingv1.PriorityClass
	for _, other := range c.objects[priorityClassKind] {
		other := other.(*schedulingv1.PriorityClass)
		named := pod.Spec.PriorityClassName == other.Name
		// Of several global defaults the one with the lowest value counts.
		byDefault := pod.Spec.PriorityClassName == "" && other.GlobalDefault && (class == nil || other.Value < class.Value)
		if named || byDefault {
			class = other
		}
	}
	switch {
	case class != nil:
		pod.Spec.PriorityClassName, pod.Spec.Priority = class.Name, ptr.To(class.Value)
		if pod.Spec.PreemptionPolicy == nil {
			pod.Spec.PreemptionPolicy = class.PreemptionPolicy
		}
	case pod.Spec.PriorityClassName != "":
		return apierrors.NewForbidden(resourceOf(podKind), pod.Name, fmt.Errorf("no PriorityClass with name %v was found", pod.Spec.PriorityClassName))
	default:
		pod.Spec.Priority = ptr.To[int32](0)
	}
	if pod.Spec.PreemptionPolicy == nil {
		pod.Spec.PreemptionPolicy = ptr.To(v1.PreemptLowerPriority)
	}
	return nil
}

// tolerate is the admission plugin DefaultTolerationSeconds.
func tolerate(pod *v1.Pod) {
	const seconds = 300
	for _, key := range []string{v1.TaintNodeNotReady, v1.TaintNodeUnreachable} {
		tolerated := slices.ContainsFunc(pod.Spec.Tolerations, func(t v1.Toleration) bool {
			return (t.Key == key || t.Key == "") && (t.Effect == v1.TaintEffectNoExecute || t.Effect == "")
		})
		if !tolerated {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{
				Key: key, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](seconds),
			})
		}
	}
}

// reconcile takes a pod's next step that needs no time, and plans the one that does. pod is nil if
// it is gone.
func (l *podLife) reconcile(r ref, pod *v1.Pod) error {
	if pod == nil {
		l.wake(r.key, podState{}, 0, false, nil)
		return nil
	}
	if pod.Spec.NodeName == "" {
		return l.makeClaims(pod)
	}
	node, exists := find[*v1.Node](l.cluster, nodeKind, "", pod.Spec.NodeName)
	switch {
	case !exists:
		l.wake(r.key, podState{string(pod.UID), isCollected, 0}, orphanedFor, false, func() { l.cluster.remove(r) })
		return nil
	case isUnreachable(node):
		l.wake(r.key, podState{}, 0, false, nil)
		return l.loseSightOf(pod)
	case pod.DeletionTimestamp != nil:
		l.wake(r.key, podState{string(pod.UID), stops, pod.DeletionTimestamp.Unix()}, l.untilStopped(pod), true, func() { l.stopped(r) })
		return nil
	case pod.Status.Phase == v1.PodPending:
		if d, err := time.ParseDuration(pod.Annotations[standin.AnnotationStartupDuration]); err == nil && d > 0 {
			l.wake(r.key, podState{string(pod.UID), starts, 0}, d, true, func() {
				if pod, exists := l.get(podKind, r.key).(*v1.Pod); exists && pod.Status.Phase == v1.PodPending && pod.DeletionTimestamp == nil {
					if err := l.run(pod); err != nil {
						l.fail(err)
					}
				}
			})
			return nil
		}
		return l.run(pod)
	case pod.Status.Phase == v1.PodRunning && lostSight(pod):
		status, err := standin.PodBack(pod, l.timeline.stamp())
		if err != nil {
			return err
		}
		return l.setStatus(pod, status)
	case pod.Status.Phase == v1.PodRunning:
		return l.awaitEnd(r, pod)
	}
	return nil
}

// run makes a pod ready.
func (l *podLife) run(pod *v1.Pod) error {
	status, err := standin.PodRunning(pod, l.timeline.stamp())
	if err != nil {
		return err
	}
	return l.setStatus(pod, status)
}

// wake sets the next step of a pod. It does nothing if the step is set already.
func (l *podLife) wake(key string, state podState, after time.Duration, awaited bool, do func()) {
	present := l.timers[key]
	if present.state == state {
		return
	}
	present.timer.stop()
	delete(l.timers, key)
	if do == nil {
		return
	}
	l.timers[key] = podTimer{l.timeline.after(after, awaited, func() {
		delete(l.timers, key)
		do()
	}), state}
}

// awaitEnd ends the pods of Jobs, and those that have a duration.
func (l *podLife) awaitEnd(r ref, pod *v1.Pod) error {
	text, given := pod.Annotations[standin.AnnotationRunDuration]
	owner := metav1.GetControllerOfNoCopy(pod)
	if pod.Spec.RestartPolicy == v1.RestartPolicyAlways || !given && (owner == nil || owner.Kind != "Job") {
		return nil
	}
	d := standin.DefaultRunDuration
	if given {
		parsed, err := time.ParseDuration(text)
		if err != nil {
			return nil // as on a virtual node: it runs forever
		}
		d = parsed
	}
	started := l.timeline.Now()
	restarts := int32(0)
	if len(pod.Status.ContainerStatuses) > 0 {
		restarts = pod.Status.ContainerStatuses[0].RestartCount
		if running := pod.Status.ContainerStatuses[0].State.Running; running != nil {
			started = running.StartedAt.Time
		}
	}
	left := d - l.timeline.Now().Sub(started)
	l.wake(r.key, podState{string(pod.UID), ends, int64(restarts) + 1}, left, false, func() {
		pod, exists := l.get(podKind, r.key).(*v1.Pod)
		if !exists || pod.Status.Phase != v1.PodRunning {
			return
		}
		status, err := standin.PodEnded(pod, l.timeline.stamp())
		if err == nil {
			err = l.setStatus(pod, status)
		}
		if err != nil {
			l.fail(err)
		}
	})
	return nil
}

// setStatus writes what a kubelet writes.
func (l *podLife) setStatus(before *v1.Pod, status *standin.PodStatus) error {
	pod := *before
	to := &pod.Status
	to.Conditions = append(make([]v1.PodCondition, 0, len(to.Conditions)+len(status.Conditions)), to.Conditions...)
	for _, condition := range status.Conditions {
		setCondition(to, condition)
	}
	if status.Phase != "" {
		to.Phase = status.Phase
	}
	if status.StartTime != nil {
		to.StartTime = status.StartTime
	}
	if status.PodIP != "" {
		to.PodIP, to.PodIPs = status.PodIP, status.PodIPs
	}
	if status.InitContainerStatuses != nil {
		to.InitContainerStatuses = status.InitContainerStatuses
	}
	if status.ContainerStatuses != nil {
		to.ContainerStatuses = status.ContainerStatuses
	}
	return l.put(podKind, &pod)
}

// remove deletes a pod as the API server does: at once if nothing runs, otherwise after its
// containers stop.
func (l *podLife) remove(r ref, before *v1.Pod, options metav1.DeleteOptions) error {
	grace := ptr.Deref(before.Spec.TerminationGracePeriodSeconds, 30)
	if options.GracePeriodSeconds != nil {
		grace = *options.GracePeriodSeconds
	}
	if before.Spec.NodeName == "" || ended(before) {
		grace = 0
	}
	if before.DeletionTimestamp != nil && grace >= ptr.Deref(before.DeletionGracePeriodSeconds, 0) && grace > 0 {
		return nil
	}
	if grace == 0 && len(before.Finalizers) == 0 {
		l.cluster.remove(r)
		return nil
	}
	pod := *before
	at := metav1.NewTime(l.timeline.stamp().Add(time.Duration(grace) * time.Second))
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &at, &grace
	return l.put(podKind, &pod)
}

// untilStopped returns how long the containers of a terminating pod still run, as on a virtual
// node, which counts from when it learns of the deletion. The deletion timestamp, in whole seconds,
// bounds it.
func (l *podLife) untilStopped(pod *v1.Pod) time.Duration {
	left := pod.DeletionTimestamp.Sub(l.timeline.Now())
	if d, err := time.ParseDuration(pod.Annotations[standin.AnnotationShutdownDuration]); err == nil {
		return min(d, left)
	}
	if ptr.Deref(pod.DeletionGracePeriodSeconds, 0) == 30 {
		return time.Second
	}
	return left
}

func (l *podLife) stopped(r ref) {
	pod, exists := l.get(podKind, r.key).(*v1.Pod)
	switch {
	case !exists || pod.DeletionTimestamp == nil:
	case len(pod.Finalizers) == 0:
		l.cluster.remove(r)
	case !ended(pod):
		status, err := standin.PodStopped(pod, l.timeline.stamp())
		if err == nil {
			err = l.setStatus(pod, status)
		}
		if err != nil {
			l.fail(err)
		}
	}
}

func lostSight(pod *v1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c v1.PodCondition) bool {
		return c.Type == v1.PodReady && c.Status == v1.ConditionFalse && c.Reason == standin.ReasonNodeUnreachable
	})
}

func (l *podLife) loseSightOf(pod *v1.Pod) error {
	if !isReady(pod) {
		return nil
	}
	return l.setStatus(pod, &standin.PodStatus{Conditions: []v1.PodCondition{{
		Type: v1.PodReady, Status: v1.ConditionFalse, Reason: standin.ReasonNodeUnreachable,
		Message: "the node is unreachable", LastTransitionTime: l.timeline.stamp(),
	}}})
}

// makeClaims creates the claims of a pod's ephemeral volumes, and those from templates of resource
// claims.
func (l *podLife) makeClaims(pod *v1.Pod) error {
	owners := []metav1.OwnerReference{*metav1.NewControllerRef(pod, podKind)}
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		if volume.Ephemeral == nil || volume.Ephemeral.VolumeClaimTemplate == nil {
			continue
		}
		template := volume.Ephemeral.VolumeClaimTemplate
		claim := &v1.PersistentVolumeClaim{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy()}
		claim.Name, claim.Namespace, claim.OwnerReferences = ephemeral.VolumeClaimName(pod, volume), pod.Namespace, owners
		if _, err := l.create(claim); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	statuses := slices.Clone(pod.Status.ResourceClaimStatuses)
	for _, from := range pod.Spec.ResourceClaims {
		made := slices.ContainsFunc(statuses, func(s v1.PodResourceClaimStatus) bool { return s.Name == from.Name })
		if from.ResourceClaimTemplateName == nil || made {
			continue
		}
		template, exists := find[*resourcev1.ResourceClaimTemplate](l.cluster, claimTemplateKind, pod.Namespace, *from.ResourceClaimTemplateName)
		if !exists {
			continue
		}
		claim := &resourcev1.ResourceClaim{ObjectMeta: *template.Spec.ObjectMeta.DeepCopy(), Spec: *template.Spec.Spec.DeepCopy()}
		claim.GenerateName, claim.Namespace, claim.OwnerReferences = pod.Name+"-"+from.Name+"-", pod.Namespace, owners
		o, err := l.create(claim)
		if err != nil {
			return err
		}
		statuses = append(statuses, v1.PodResourceClaimStatus{Name: from.Name, ResourceClaimName: ptr.To(o.GetName())})
	}
	if len(statuses) == len(pod.Status.ResourceClaimStatuses) {
		return nil
	}
	after := *pod
	after.Status.ResourceClaimStatuses = statuses
	return l.put(podKind, &after)
}
