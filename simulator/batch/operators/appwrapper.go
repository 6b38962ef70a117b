package operators

import (
	"context"
	"fmt"
	"time"

	appwrapper "github.com/project-codeflare/appwrapper/api/v1beta2"
	"github.com/project-codeflare/appwrapper/pkg/utils"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// appWrappers takes AppWrappers through their phases, as the controller of their module does. That one cannot be imported. What is
// left out is in the guide to queues.
type appWrappers struct {
	client.Client // reads AppWrappers and pods from a cache, and components from the API server
	events        record.EventRecorder
	clock         clock.PassiveClock
}

var _ reconcile.Reconciler = (*appWrappers)(nil)

func setupAppWrapper(_ context.Context, m ctrl.Manager, events record.EventRecorder) error {
	return ctrl.NewControllerManagedBy(m).For(&appwrapper.AppWrapper{}).
		Watches(&v1.Pod{}, handler.EnqueueRequestsFromMapFunc(func(_ context.Context, pod client.Object) []reconcile.Request {
			if name := pod.GetLabels()[appwrapper.AppWrapperLabel]; name != "" {
				return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}}}
			}
			return nil
		})).
		Complete(&appWrappers{m.GetClient(), events, clock.RealClock{}})
}

const (
	// wrapperFinalizer holds an AppWrapper until its components have gone.
	wrapperFinalizer = "workload.codeflare.dev/finalizer"
	// lookAgain is how long the controller waits for what it is not told of: components that come and go.
	lookAgain = time.Second
)

// wrapper is an AppWrapper whose status is being changed.
type wrapper struct {
	*appwrapper.AppWrapper
	written *appwrapper.AppWrapper // as the API server has it
}

// changes is the patch from what the API server has. Another client's write makes it a conflict.
func (w *wrapper) changes() client.Patch {
	return client.MergeFromWithOptions(w.written, client.MergeFromWithOptimisticLock{})
}

// save writes the status if it has changed. The error is a conflict if another client has written the AppWrapper.
func (r *appWrappers) save(ctx context.Context, w *wrapper) error {
	if equality.Semantic.DeepEqual(w.Status, w.written.Status) {
		return nil
	}
	if err := r.Status().Patch(ctx, w.AppWrapper, w.changes()); err != nil {
		return err
	}
	w.written = w.DeepCopy()
	return nil
}

// Reconcile takes an AppWrapper one step further. The step after that follows from the event about its new status.
func (r *appWrappers) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	read := &appwrapper.AppWrapper{}
	if err := r.Get(ctx, request.NamespacedName, read); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if by := read.Spec.ManagedBy; by != nil && *by != appwrapper.AppWrapperControllerName {
		return ctrl.Result{}, nil
	}
	w := &wrapper{read, read.DeepCopy()}
	again, err := r.step(ctx, w)
	if err == nil {
		err = r.save(ctx, w)
	}
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if w.DeletionTimestamp != nil && again == 0 && controllerutil.RemoveFinalizer(w, wrapperFinalizer) {
		return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, w.AppWrapper, w.changes()))
	}
	return ctrl.Result{RequeueAfter: again}, nil
}

// step changes the status, and returns when to look again; 0 is when something changes.
func (r *appWrappers) step(ctx context.Context, w *wrapper) (again time.Duration, err error) {
	if w.DeletionTimestamp != nil {
		return r.terminate(ctx, w)
	}
	switch w.Status.Phase {
	case appwrapper.AppWrapperEmpty:
		w.Status.Phase = appwrapper.AppWrapperSuspended
		return 0, utils.EnsureComponentStatusInitialized(w.AppWrapper)
	case appwrapper.AppWrapperSuspended:
		return 0, r.resume(ctx, w)
	case appwrapper.AppWrapperResuming:
		return r.deploy(ctx, w)
	case appwrapper.AppWrapperRunning:
		return r.watchOver(ctx, w)
	case appwrapper.AppWrapperSuspending:
		return r.suspend(ctx, w)
	case appwrapper.AppWrapperResetting:
		return r.reset(ctx, w)
	case appwrapper.AppWrapperFailed:
		return r.afterFailure(ctx, w)
	case appwrapper.AppWrapperSucceeded:
		return r.afterSuccess(ctx, w)
	}
	return 0, nil
}

func (r *appWrappers) set(w *wrapper, kind appwrapper.AppWrapperCondition, status metav1.ConditionStatus, reason, message string) {
	r.setIn(&w.Status.Conditions, kind, status, reason, message)
}

func (r *appWrappers) setIn(conditions *[]metav1.Condition, kind appwrapper.AppWrapperCondition, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(conditions, metav1.Condition{Type: string(kind), Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(r.clock.Now())})
}

// clear ends a condition that is true.
func (r *appWrappers) clear(w *wrapper, kind appwrapper.AppWrapperCondition, reason, message string) {
	if is(w, kind) {
		r.set(w, kind, metav1.ConditionFalse, reason, message)
	}
}

func is(w *wrapper, kind appwrapper.AppWrapperCondition) bool {
	return meta.IsStatusConditionTrue(w.Status.Conditions, string(kind))
}

// left is how much of a period is left since a condition changed; 0 if it has passed, or the condition is not there.
func (r *appWrappers) left(w *wrapper, kind appwrapper.AppWrapperCondition, period time.Duration) time.Duration {
	c := meta.FindStatusCondition(w.Status.Conditions, string(kind))
	if c == nil {
		return 0
	}
	return max(0, c.LastTransitionTime.Add(period).Sub(r.clock.Now()))
}

// unhealthy says what is wrong, in the condition and in an event.
func (r *appWrappers) unhealthy(w *wrapper, reason, message string) {
	r.set(w, appwrapper.Unhealthy, metav1.ConditionTrue, reason, message)
	r.events.Event(w.AppWrapper, v1.EventTypeNormal, string(appwrapper.Unhealthy), reason+": "+message)
}

// resetOrFail lets an AppWrapper begin again, unless it has no attempt left.
func resetOrFail(w *wrapper, final bool) {
	if final || w.Status.Retries >= retryLimit(w) {
		w.Status.Phase = appwrapper.AppWrapperFailed
		return
	}
	w.Status.Retries++
	w.Status.Phase = appwrapper.AppWrapperResetting
}

// stops turns to the phase Suspending if the AppWrapper is suspended again, and reports whether it is.
func (r *appWrappers) stops(w *wrapper) bool {
	if !w.Spec.Suspend {
		return false
	}
	r.events.Eventf(w.AppWrapper, v1.EventTypeNormal, string(appwrapper.AppWrapperSuspending), "Suspended in the phase %s", w.Status.Phase)
	w.Status.Phase = appwrapper.AppWrapperSuspending
	return true
}

func (r *appWrappers) resume(ctx context.Context, w *wrapper) error {
	if w.Spec.Suspend {
		return nil
	}
	if controllerutil.AddFinalizer(w, wrapperFinalizer) {
		if err := r.Patch(ctx, w.AppWrapper, w.changes()); err != nil {
			return err
		}
		w.written = w.DeepCopy()
	}
	const message = "Suspend is false"
	for kind, status := range map[appwrapper.AppWrapperCondition]metav1.ConditionStatus{
		appwrapper.QuotaReserved: metav1.ConditionTrue, appwrapper.ResourcesDeployed: metav1.ConditionTrue, appwrapper.PodsReady: metav1.ConditionFalse, appwrapper.Unhealthy: metav1.ConditionFalse,
	} {
		r.set(w, kind, status, string(appwrapper.AppWrapperResuming), message)
	}
	w.Status.Phase = appwrapper.AppWrapperResuming
	return nil
}

// deploy creates the components that are not there.
func (r *appWrappers) deploy(ctx context.Context, w *wrapper) (again time.Duration, err error) {
	if r.stops(w) {
		return 0, nil
	}
	failure := r.createComponents(ctx, w)
	switch {
	case failure == nil:
		w.Status.Phase = appwrapper.AppWrapperRunning
	case isRace(failure):
		return 0, failure
	case !isFinal(failure) && r.left(w, appwrapper.ResourcesDeployed, period(w, appwrapper.AdmissionGracePeriodDurationAnnotation)) > 0:
		return lookAgain, nil
	default:
		r.unhealthy(w, "CreateFailed", fmt.Sprintf("creating components: %v", failure))
		if isFinal(failure) {
			w.Status.Phase = appwrapper.AppWrapperFailed
		} else {
			resetOrFail(w, false)
		}
	}
	return 0, nil
}

// watchOver looks at the components and the pods of a running AppWrapper.
func (r *appWrappers) watchOver(ctx context.Context, w *wrapper) (again time.Duration, err error) {
	if r.stops(w) {
		return 0, nil
	}
	components, err := r.countComponents(ctx, w)
	if err != nil {
		return 0, err
	}
	pods, err := r.countPods(ctx, w)
	if err != nil {
		return 0, err
	}
	switch expected := len(w.Status.ComponentStatus); {
	case components.deployed != expected:
		r.unhealthy(w, "MissingComponent", fmt.Sprintf("%d of %d components are there", components.deployed, expected))
		w.Status.Phase = appwrapper.AppWrapperFailed
		return 0, nil
	case components.failed > 0:
		r.unhealthy(w, "FailedComponent", fmt.Sprintf("%d components have failed", components.failed))
		resetOrFail(w, pods.final)
		return 0, nil
	case pods.succeeded >= pods.expected && pods.pending+pods.running+pods.failed == 0:
		if components.unfinished > 0 {
			return lookAgain, nil // a Job makes its next pod, or writes that it is complete
		}
		message := fmt.Sprintf("%d pods have succeeded, and no others are left", pods.succeeded)
		r.set(w, appwrapper.QuotaReserved, metav1.ConditionFalse, string(appwrapper.AppWrapperSucceeded), message)
		r.set(w, appwrapper.ResourcesDeployed, metav1.ConditionTrue, string(appwrapper.AppWrapperSucceeded), message)
		w.Status.Phase = appwrapper.AppWrapperSucceeded
		return 0, nil
	case pods.failed > 0:
		// The message has no number, which would change with each pod.
		r.set(w, appwrapper.Unhealthy, metav1.ConditionTrue, "FoundFailedPods", "")
		if left := r.left(w, appwrapper.Unhealthy, period(w, appwrapper.FailureGracePeriodDurationAnnotation)); left > 0 {
			return left, nil
		}
		r.events.Eventf(w.AppWrapper, v1.EventTypeNormal, string(appwrapper.Unhealthy), "FoundFailedPods: %d pods have failed", pods.failed)
		resetOrFail(w, pods.final)
		return 0, nil
	}
	r.clear(w, appwrapper.Unhealthy, "FoundNoFailedPods", "")
	if pods.running+pods.succeeded >= pods.expected {
		r.set(w, appwrapper.PodsReady, metav1.ConditionTrue, "SufficientPodsReady", fmt.Sprintf("%d pods run, %d pods have succeeded", pods.running, pods.succeeded))
		return time.Minute, nil // components may be deleted
	}
	message := fmt.Sprintf("%d pods are pending, %d pods run, %d pods have succeeded", pods.pending, pods.running, pods.succeeded)
	r.clear(w, appwrapper.PodsReady, "InsufficientPodsReady", message)
	grace := period(w, appwrapper.AdmissionGracePeriodDurationAnnotation)
	if pods.pending+pods.running+pods.succeeded >= pods.expected {
		grace = period(w, appwrapper.WarmupGracePeriodDurationAnnotation)
	}
	if left := r.left(w, appwrapper.ResourcesDeployed, grace); left > 0 {
		return min(left, 5*lookAgain), nil
	}
	r.unhealthy(w, "InsufficientPodsReady", message)
	resetOrFail(w, pods.final)
	return 0, nil
}

func (r *appWrappers) suspend(ctx context.Context, w *wrapper) (again time.Duration, err error) {
	const reason, message = string(appwrapper.AppWrapperSuspended), "Suspend is true"
	if gone, err := r.undeploy(ctx, w, reason, message); err != nil || !gone {
		return lookAgain, err
	}
	r.set(w, appwrapper.QuotaReserved, metav1.ConditionFalse, reason, message)
	r.clear(w, appwrapper.PodsReady, reason, "")
	r.clear(w, appwrapper.Unhealthy, reason, "")
	w.Status.Phase = appwrapper.AppWrapperSuspended
	return 0, nil
}

// reset deletes what is there, and lets it come again after a pause.
func (r *appWrappers) reset(ctx context.Context, w *wrapper) (again time.Duration, err error) {
	if r.stops(w) {
		return 0, nil
	}
	r.clear(w, appwrapper.PodsReady, string(appwrapper.AppWrapperResetting), "")
	if gone, err := r.undeploy(ctx, w, string(appwrapper.AppWrapperResetting), "The components were deleted to begin again"); err != nil || !gone {
		return lookAgain, err
	}
	if left := r.left(w, appwrapper.Unhealthy, period(w, appwrapper.RetryPausePeriodDurationAnnotation)); left > 0 {
		return left, nil
	}
	r.set(w, appwrapper.ResourcesDeployed, metav1.ConditionTrue, string(appwrapper.AppWrapperResuming), "The AppWrapper begins again")
	w.Status.Phase = appwrapper.AppWrapperResuming
	return 0, nil
}

// afterFailure deletes the components. An annotation delays that, and with it the end for Kueue, unless Kueue suspends it.
func (r *appWrappers) afterFailure(ctx context.Context, w *wrapper) (again time.Duration, err error) {
	if delay := period(w, appwrapper.DeletionOnFailureGracePeriodAnnotation); delay > 0 && !w.Spec.Suspend && is(w, appwrapper.ResourcesDeployed) && !is(w, appwrapper.DeletingResources) {
		const paused = "DeletionPaused"
		if c := meta.FindStatusCondition(w.Status.Conditions, string(appwrapper.DeletingResources)); c != nil && c.Reason != paused {
			meta.RemoveStatusCondition(&w.Status.Conditions, c.Type) // the pause begins now, not when an earlier deletion ended
		}
		r.set(w, appwrapper.DeletingResources, metav1.ConditionFalse, paused, fmt.Sprintf("%s is %v", appwrapper.DeletionOnFailureGracePeriodAnnotation, delay))
		if left := r.left(w, appwrapper.DeletingResources, delay); left > 0 {
			return left, nil
		}
	}
	if gone, err := r.undeploy(ctx, w, string(appwrapper.AppWrapperFailed), "The components of the failed AppWrapper were deleted"); err != nil || !gone {
		return lookAgain, err
	}
	r.set(w, appwrapper.QuotaReserved, metav1.ConditionFalse, string(appwrapper.AppWrapperFailed), "No components are there")
	return 0, nil
}

// afterSuccess deletes the components after some days.
func (r *appWrappers) afterSuccess(ctx context.Context, w *wrapper) (again time.Duration, err error) {
	life := timeToLive(w)
	if left := r.left(w, appwrapper.ResourcesDeployed, life); left > 0 {
		return left, nil
	}
	if gone, err := r.undeploy(ctx, w, string(appwrapper.AppWrapperSucceeded), fmt.Sprintf("%v have passed since the success", life)); err != nil || !gone {
		return lookAgain, err
	}
	return 0, nil
}

// terminate deletes the components of an AppWrapper that is deleted. The caller then drops the finalizer.
func (r *appWrappers) terminate(ctx context.Context, w *wrapper) (again time.Duration, err error) {
	if !controllerutil.ContainsFinalizer(w, wrapperFinalizer) {
		return 0, nil
	}
	if gone, err := r.undeploy(ctx, w, string(appwrapper.AppWrapperTerminating), "The components were deleted"); err != nil || !gone {
		w.Status.Phase = appwrapper.AppWrapperTerminating
		return lookAgain, err
	}
	r.clear(w, appwrapper.QuotaReserved, string(appwrapper.AppWrapperTerminating), "No components are there")
	return 0, nil
}

// podCounts are how many pods of an AppWrapper are in which phase.
type podCounts struct {
	expected, pending, running, succeeded, failed int32
	// final means that a pod has failed in a way that is not tried again.
	final bool
}

func (r *appWrappers) countPods(ctx context.Context, w *wrapper) (counts podCounts, err error) {
	var pods v1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(w.Namespace), client.MatchingLabels{appwrapper.AppWrapperLabel: w.Name}); err != nil {
		return counts, err
	}
	for _, component := range w.Status.ComponentStatus {
		for _, set := range component.PodSets {
			counts.expected += ptr.Deref(set.Replicas, 1)
		}
	}
	for i := range pods.Items {
		switch pod := &pods.Items[i]; pod.Status.Phase {
		case v1.PodPending:
			counts.pending++
		case v1.PodRunning:
			if pod.DeletionTimestamp == nil {
				counts.running++
			}
		case v1.PodSucceeded:
			counts.succeeded++
		case v1.PodFailed:
			counts.failed++
			counts.final = counts.final || failsForGood(w, pod)
		}
	}
	return counts, nil
}
