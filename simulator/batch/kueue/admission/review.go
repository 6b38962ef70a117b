package admission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Review returns what a workload is owed outside of cycles, as Kueue's workload controller
// writes it: its admission checks, its admission once they agree, its eviction by checks, by
// stopped queues, by pods that are not ready in time or by its maximum execution time, and the
// end of a backoff. The caller writes the decisions, feeds the new object and asks again. next is
// when to ask even if nothing changes; 0 for never.
func (s *State) Review(key types.NamespacedName, now time.Time) (decisions []Decision, next time.Duration) {
	w := s.workloads[key]
	if w == nil || meta.IsStatusConditionTrue(w.object.Status.Conditions, kueue.WorkloadFinished) {
		return nil, 0
	}
	r := &review{state: s, w: w, object: w.object, now: now}
	if w.place == reserved {
		r.reserved()
	} else {
		r.waiting()
	}
	return r.decisions, r.next
}

type review struct {
	state     *State
	w         *workload
	object    *kueue.Workload
	now       time.Time
	decisions []Decision
	next      time.Duration
}

func (r *review) is(condition string) bool {
	return meta.IsStatusConditionTrue(r.object.Status.Conditions, condition)
}

func (r *review) decide(d Decision) {
	d.Workload = r.w.ref()
	for i := range d.Events {
		d.Events[i].Workload = d.Workload
	}
	r.decisions = append(r.decisions, d)
}

func (r *review) reserved() {
	target := meta.FindStatusCondition(r.object.Status.Conditions, kueue.WorkloadDeactivationTarget)
	targeted := target != nil && target.Status == metav1.ConditionTrue
	switch {
	case r.w.assumed, r.w.evicted():
		return
	case !isActive(r.object):
		reason, message := reasonDeactivated, "The workload is deactivated"
		if targeted {
			reason, message = reasonDeactivatedDueTo+target.Reason, message+" due to: "+target.Message
		}
		r.evict(Decision{Reason: reason, Message: message})
		return
	case targeted:
		r.decide(Decision{Verb: Deactivate, Spec: true, Reason: target.Reason, Message: target.Message})
		return
	}
	if r.checksSpoke() || r.queueStopped() || r.nodesFailed() {
		return
	}
	if !r.is(kueue.WorkloadAdmitted) {
		r.admitWhenChecked()
		return
	}
	r.executionTime()
	if len(r.decisions) == 0 {
		r.podsReady()
	}
}

func (r *review) evict(d Decision) {
	d.Verb = Evict
	d.Events = append(d.Events, Event{Reason: "EvictedDueTo" + d.Reason, Message: d.Message})
	r.decide(d)
}

// checksSpoke acts on a check that asked to retry or rejected the workload.
func (r *review) checksSpoke() bool {
	for _, check := range r.object.Status.AdmissionChecks {
		if check.State == kueue.CheckStateRejected {
			message := fmt.Sprintf("Admission check(s): %s, were rejected", check.Name)
			r.decide(Decision{Verb: Target, Reason: reasonAdmissionCheck, Message: message, Events: []Event{{Warning: true, Reason: "AdmissionCheckRejected", Message: message}}})
			return true
		}
	}
	var retries []string
	var wait time.Duration
	for _, check := range r.object.Status.AdmissionChecks {
		if check.State == kueue.CheckStateRetry {
			retries = append(retries, fmt.Sprintf("%q (%s)", check.Name, check.Message))
			wait = max(wait, time.Duration(ptr.Deref(check.RequeueAfterSeconds, 0))*time.Second)
		}
	}
	if len(retries) == 0 {
		return false
	}
	d := Decision{Reason: reasonAdmissionCheck, Message: "Evicted due to AdmissionCheck in Retry state: " + strings.Join(retries, ", ")}
	if wait > 0 {
		d.RequeueAt = r.now.Add(wait)
	}
	r.evict(d)
	return true
}

// queueStopped evicts from a stopped queue: always under HoldAndDrain, and only while the
// workload is not admitted under Hold.
func (r *review) queueStopped() bool {
	evicts := func(policy *kueue.StopPolicy) bool {
		return stopped(policy) && (*policy == kueue.HoldAndDrain || !r.is(kueue.WorkloadAdmitted))
	}
	if queue := r.state.clusterQueues[r.w.queue]; queue != nil && evicts(queue.Spec.StopPolicy) {
		r.evict(Decision{Reason: reasonClusterQueueStopped, Message: "The ClusterQueue is stopped"})
		return true
	}
	if local := r.state.localQueues[r.w.localQueue()]; local != nil && evicts(local.Spec.StopPolicy) {
		r.evict(Decision{Reason: reasonLocalQueueStopped, Message: "The LocalQueue is stopped"})
		return true
	}
	return false
}

// nodesFailed moves pods from unhealthy nodes to others, and evicts the workload if there are none.
func (r *review) nodesFailed() bool {
	if len(r.object.Status.UnhealthyNodes) == 0 {
		return false
	}
	if admission, ok := r.state.replaced(r.w, r.now); ok {
		r.decide(Decision{Verb: Assign, Admission: admission})
		return true
	}
	var names []string
	for _, node := range r.object.Status.UnhealthyNodes {
		names = append(names, node.Name)
	}
	r.evict(Decision{Reason: reasonNodeFailures, Message: "Workload was evicted as there was no replacement for unhealthy node(s): " + strings.Join(names, ", ")})
	return true
}

// admitWhenChecked lists the checks that apply, and admits once all are ready.
func (r *review) admitWhenChecked() {
	names := r.state.checksFor(r.object.Status.Admission)
	listed := make([]string, len(r.object.Status.AdmissionChecks))
	for i, check := range r.object.Status.AdmissionChecks {
		listed[i] = string(check.Name)
	}
	if !slices.Equal(names, listed) {
		r.decide(Decision{Verb: SyncChecks, Checks: names})
		return
	}
	for _, check := range r.object.Status.AdmissionChecks {
		if check.State != kueue.CheckStateReady {
			return
		}
	}
	r.decide(Decision{
		Verb: Admit, Reason: reasonAdmitted, Message: "The workload is admitted",
		Events: []Event{admittedEvent(r.w.ref(), r.w.queue, r.now.Sub(r.w.reservedAt))},
	})
}

// executionTime deactivates a workload that has run for longer than it may.
func (r *review) executionTime() {
	limit := r.object.Spec.MaximumExecutionTimeSeconds
	if limit == nil {
		return
	}
	admitted := meta.FindStatusCondition(r.object.Status.Conditions, kueue.WorkloadAdmitted)
	past := ptr.Deref(r.object.Status.AccumulatedPastExecutionTimeSeconds, 0)
	left := time.Duration(*limit-past)*time.Second - r.now.Sub(admitted.LastTransitionTime.Time)
	if left > 0 {
		r.wake(left)
		return
	}
	message := "exceeding the maximum execution time"
	r.decide(Decision{Verb: Target, Reason: reasonMaximumExecutionTimeExceeded, Message: message, Events: []Event{{Warning: true, Reason: reasonMaximumExecutionTimeExceeded, Message: message}}})
}

func (r *review) wake(after time.Duration) {
	if r.next == 0 || after < r.next {
		r.next = after
	}
}

// podsReady evicts a workload whose pods are not ready in time, with a growing backoff, and
// deactivates it after too many evictions.
func (r *review) podsReady() {
	settings := r.state.settings.WaitForPodsReady
	if settings == nil || r.is(kueue.WorkloadPodsReady) {
		return
	}
	timeout := cmp.Or(settings.Timeout, 30*time.Minute)
	since, cause := meta.FindStatusCondition(r.object.Status.Conditions, kueue.WorkloadAdmitted).LastTransitionTime.Time, reasonWaitForStart
	if ready := meta.FindStatusCondition(r.object.Status.Conditions, kueue.WorkloadPodsReady); ready != nil && ready.Reason == reasonWaitForRecovery {
		since, cause, timeout = ready.LastTransitionTime.Time, reasonWaitForRecovery, cmp.Or(settings.RecoveryTimeout, timeout)
	}
	if left := timeout - r.now.Sub(since); left > 0 {
		r.wake(left)
		return
	}
	count := int32(1)
	if state := r.object.Status.RequeueState; state != nil {
		count += ptr.Deref(state.Count, 0)
	}
	if settings.BackoffLimit != nil && count > *settings.BackoffLimit {
		r.decide(Decision{Verb: Target, Reason: reasonRequeuingLimitExceeded, Message: "exceeding the maximum number of re-queuing retries"})
		return
	}
	r.evict(Decision{
		Reason: reasonPodsReadyTimeout, Message: fmt.Sprintf("Exceeded the PodsReady timeout %s/%s", r.object.Namespace, r.object.Name),
		Cause: cause, Backoffs: count, RequeueAt: r.now.Add(settings.backoff(count)),
	})
}

// backoff returns how long the count-th eviction keeps a workload out.
func (p *WaitForPodsReady) backoff(count int32) time.Duration {
	wait, most := cmp.Or(p.BackoffBase, time.Minute), cmp.Or(p.BackoffMax, time.Hour)
	for range count - 1 {
		if wait = 2 * wait; wait >= most {
			break
		}
	}
	wait = min(wait, most)
	if p.Jitter != nil {
		wait += p.Jitter(wait)
	}
	return wait
}

// waiting reviews a workload that holds no quota.
func (r *review) waiting() {
	if target := meta.FindStatusCondition(r.object.Status.Conditions, kueue.WorkloadDeactivationTarget); target != nil && target.Status == metav1.ConditionTrue && isActive(r.object) {
		r.decide(Decision{Verb: Deactivate, Spec: true, Reason: target.Reason, Message: target.Message})
		return
	}
	if r.requeue() {
		return
	}
	why := r.w.waits
	if r.w.place != outside {
		why = r.suspended()
		if names := checksOf(r.state.clusterQueues[r.w.queue], nil); !why.IsZero() || !r.checksListed(names) {
			if why.IsZero() {
				r.decide(Decision{Verb: SyncChecks, Checks: names})
				return
			}
		}
	}
	switch why.Operands.(type) {
	case nil, PodsAwaited:
		// The controller of the job's kind says why it holds a workload back.
		return
	}
	if d, changed := refuseDecision(r.w, conditionOf(why), why.String()); changed {
		r.decide(d)
	}
}

// checksListed reports whether a waiting workload lists the checks that apply to all flavors.
func (r *review) checksListed(names []string) bool {
	for _, name := range names {
		if !slices.ContainsFunc(r.object.Status.AdmissionChecks, func(c kueue.AdmissionCheckState) bool { return string(c.Name) == name }) {
			return false
		}
	}
	return true
}

// suspended says why no cycle tries the workload's queue; the zero Reason for an active one.
func (r *review) suspended() Reason {
	queue := r.state.clusterQueues[r.w.queue]
	switch {
	case stopped(queue.Spec.StopPolicy):
		return Reason{ClusterQueueStopped{queue.Name}}
	case len(r.state.causes(queue.Name)) > 0:
		return Reason{ClusterQueueInactive{queue.Name}}
	}
	return Reason{}
}

// requeue ends what the latest eviction keeps the workload out for, and reports whether it did or
// has yet to wait.
func (r *review) requeue() bool {
	requeued := meta.FindStatusCondition(r.object.Status.Conditions, kueue.WorkloadRequeued)
	if requeued == nil || requeued.Status != metav1.ConditionFalse || !isActive(r.object) {
		return false
	}
	local := r.state.localQueues[r.w.localQueue()]
	var reason, message string
	switch {
	case strings.HasPrefix(requeued.Reason, reasonDeactivated):
		reason, message = reasonReactivated, "The workload was reactivated"
	case requeued.Reason == reasonClusterQueueStopped:
		if local == nil || r.state.clusterQueues[string(local.Spec.ClusterQueue)] == nil || stopped(r.state.clusterQueues[string(local.Spec.ClusterQueue)].Spec.StopPolicy) {
			return false
		}
		reason, message = reasonClusterQueueRestarted, "The ClusterQueue was restarted after being stopped"
	case requeued.Reason == reasonLocalQueueStopped:
		if local == nil || stopped(local.Spec.StopPolicy) {
			return false
		}
		reason, message = reasonLocalQueueRestarted, "The LocalQueue was restarted after being stopped"
	default:
		if state := r.object.Status.RequeueState; state != nil && state.RequeueAt != nil && state.RequeueAt.After(r.now) {
			r.wake(state.RequeueAt.Sub(r.now))
			return true
		}
		reason, message = reasonBackoffFinished, "The workload backoff was finished"
	}
	r.decide(Decision{Verb: Requeue, Reason: reason, Message: message})
	return true
}

// Released returns the decision to write once the job of an evicted workload has stopped: it
// takes the reservation away and says whether the workload may be tried again at once. It returns
// nil for a workload that is not evicted or holds no quota.
func (s *State) Released(key types.NamespacedName) []Decision {
	w := s.workloads[key]
	if w == nil || w.place != reserved {
		return nil
	}
	evicted := meta.FindStatusCondition(w.object.Status.Conditions, kueue.WorkloadEvicted)
	if evicted == nil || evicted.Status != metav1.ConditionTrue {
		return nil
	}
	d := Decision{Workload: w.ref(), Verb: Release, Reason: reasonPendingEvaluation, Message: evicted.Message, Cause: evicted.Reason}
	if !isActive(w.object) {
		d.Reason, d.Message = reasonDeactivated, "The workload is deactivated"
	}
	return []Decision{d}
}
