package scheduler

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/result"
)

const (
	idlePoll = 500 * time.Microsecond
	// uncertainFor is how long Idle waits for the scheduler to see a change that it may not be
	// watching: many times what the API server needs to send an event.
	uncertainFor = 30 * time.Millisecond
	// quietFor is how long the scheduler must have had nothing to do: an event
	// caused by a binding may be in transit. While a nominated pod waits, the
	// deletions of its victims may be, and they take longer.
	quietFor           = time.Millisecond
	quietForPreemption = 30 * time.Millisecond
	// claimsFor is how long after its creation a pod may wait for its claims, because no controller
	// may be running that creates them.
	claimsFor = 5 * time.Second
)

// Idle waits until s has seen the changes and has nothing to do: no pod is ready to be scheduled,
// none is being scheduled or bound, and the sink has all results. Pods that are unschedulable,
// gated, or in backoff after an error may remain. Idle waits for a pod whose claims a controller is
// about to create. Its error wraps ctx's and says what Idle was waiting for. It requires a Sink.
// Any goroutine may call it while s runs.
func (s *Scheduler) Idle(ctx context.Context, changes []Change) error {
	return s.idle(ctx, changes, true)
}

// Rest is Idle without changes. It does not wait for pods in backoff, which need time.
func (s *Scheduler) Rest(ctx context.Context) error { return s.idle(ctx, nil, false) }

func (s *Scheduler) idle(ctx context.Context, changes []Change, backoff bool) error {
	start := time.Now()
	waiting, quiet := "", time.Time{}
	err := wait.PollUntilContextCancel(ctx, idlePoll, true, func(context.Context) (bool, error) {
		late := time.Since(start) > uncertainFor
		for len(changes) > 0 && (s.seen.has(changes[0]) || late && !changes[0].Certain) {
			changes = changes[1:]
		}
		if len(changes) > 0 {
			waiting, quiet = fmt.Sprintf("it has not seen %d changes", len(changes)), time.Time{}
			return false, nil
		}
		var atLeast time.Duration
		if waiting, atLeast = s.busy(backoff); waiting != "" {
			quiet = time.Time{}
			return false, nil
		}
		if quiet.IsZero() {
			quiet = time.Now()
		}
		return time.Since(quiet) >= atLeast, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the scheduler to become idle (%s): %w", waiting, err)
	}
	return nil
}

// busy returns what s is doing, with or without pods in backoff. If s is doing nothing, busy
// returns how long s must stay idle.
func (s *Scheduler) busy(backoff bool) (doing string, atLeast time.Duration) {
	queue := s.sched.SchedulingQueue
	if n := len(queue.PodsInActiveQ()); n > 0 {
		return fmt.Sprintf("%d pods are ready to be scheduled", n), 0
	}
	for _, pod := range queue.PodsInBackoffQ() {
		if info, ok := queue.GetPod(pod.Name, pod.Namespace, pod.Spec.SchedulingGroup); backoff && ok && info.ConsecutiveErrorsCount == 0 {
			return "pods back off", 0
		}
	}
	// A popped pod is in flight before it leaves the queue.
	if n := len(queue.InFlightPods()); n > 0 {
		return fmt.Sprintf("%d pods are being scheduled or bound", n), 0
	}
	if !s.recorder.Idle() || !s.recorder.Delivered() {
		return "results are on their way", 0
	}
	if n := s.seen.expectedBindings(); n > 0 {
		return fmt.Sprintf("it has not seen %d of its own bindings", n), 0
	}
	atLeast = quietFor
	for _, pod := range queue.UnschedulablePods() {
		switch {
		case s.gatedBy(names.DefaultPreemption, pod):
			return "preemption is running", 0
		case time.Since(pod.CreationTimestamp.Time) < claimsFor && s.awaitsClaim(pod):
			return "a controller is creating the claims of a pod", 0
		}
		if pod.Status.NominatedNodeName != "" {
			atLeast = quietForPreemption
		}
	}
	return "", atLeast
}

// gatedBy reports whether a PreEnqueue plugin keeps the pod out of the queue.
func (s *Scheduler) gatedBy(plugin string, pod *v1.Pod) bool {
	return slices.ContainsFunc(s.PreEnqueueRejections(pod.UID), func(r result.PluginResult) bool { return r.Plugin == plugin })
}

func (s *Scheduler) awaitsClaim(pod *v1.Pod) bool {
	generated := func(c v1.PodResourceClaim) bool { return c.ResourceClaimTemplateName != nil }
	if slices.ContainsFunc(pod.Spec.ResourceClaims, generated) && s.gatedBy(names.DynamicResources, pod) {
		return true
	}
	return slices.ContainsFunc(pod.Spec.Volumes, func(v v1.Volume) bool {
		if v.Ephemeral == nil {
			return false
		}
		_, err := s.claims.PersistentVolumeClaims(pod.Namespace).Get(ephemeral.VolumeClaimName(pod, &v))
		return apierrors.IsNotFound(err)
	})
}
