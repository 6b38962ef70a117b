package admission

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
)

// WaitingForReplacementPods is the condition of a workload whose pod group waits for pods in place of
// failed ones.
const WaitingForReplacementPods = "WaitingForReplacementPods"

// The reasons of workloads' conditions.
const (
	reasonQuotaReserved = "QuotaReserved"
	reasonAdmitted      = "Admitted"

	reasonNoMatchingFlavor              = "NoMatchingFlavor"
	reasonExceedsMaxQuota               = "ExceedsMaxQuota"
	reasonWaitingForQuota               = "WaitingForQuota"
	reasonTopologyPlacementFailed       = "TopologyPlacementFailed"
	reasonWaitingForPreemptedWorkloads  = "WaitingForPreemptedWorkloads"
	reasonMisconfigured                 = "Misconfigured"
	reasonSuspended                     = "Suspended"
	reasonPendingEvaluation             = "PendingEvaluation"
	reasonWaitingForPodsReady           = "WaitingForPodsReady"
	reasonAdmissionGated                = "AdmissionGated"
	reasonOnHold                        = "OnHold"
	reasonDeactivated                   = "Deactivated"
	reasonDeactivatedDueTo              = "DeactivatedDueTo"
	reasonNoReservation                 = "NoReservation"
	reasonUnsatisfiedChecks             = "UnsatisfiedAdmissionChecks"
	reasonPreempted                     = "Preempted"
	reasonPodsReadyTimeout              = "PodsReadyTimeout"
	reasonAdmissionCheck                = "AdmissionCheck"
	reasonClusterQueueStopped           = "ClusterQueueStopped"
	reasonLocalQueueStopped             = "LocalQueueStopped"
	reasonNodeFailures                  = "NodeFailures"
	reasonInClusterQueue                = "InClusterQueue"
	reasonInCohortReclamation           = "InCohortReclamation"
	reasonInCohortReclaimWhileBorrowing = "InCohortReclaimWhileBorrowing"
	reasonInCohortFairSharing           = "InCohortFairSharing"
	reasonReactivated                   = "Reactivated"
	reasonBackoffFinished               = "BackoffFinished"
	reasonClusterQueueRestarted         = "ClusterQueueRestarted"
	reasonLocalQueueRestarted           = "LocalQueueRestarted"
	reasonRequeuingLimitExceeded        = "RequeuingLimitExceeded"
	reasonMaximumExecutionTimeExceeded  = "MaximumExecutionTimeExceeded"
	reasonInadmissible                  = "Inadmissible"
	reasonSliceReplaced                 = "WorkloadSliceReplaced"
	reasonWaitForStart                  = "WaitForStart"
	reasonWaitForRecovery               = "WaitForRecovery"
)

const unlimited = int64(math.MaxInt64)

// conditionOf returns the reason of the condition QuotaReserved that fits why a workload waits.
func conditionOf(why Reason) string {
	switch operands := why.Operands.(type) {
	case LocalQueueMissing, ClusterQueueMissing, NamespaceMismatch, RequestsAboveLimits, OutsideLimitRange:
		return reasonMisconfigured
	case ClaimsUnsupported, DevicesUncounted:
		return reasonInadmissible
	case LocalQueueStopped, LocalQueueInactive, ClusterQueueInactive, ClusterQueueStopped:
		return reasonSuspended
	case PodsNotReady:
		return reasonWaitingForPodsReady
	case Gated:
		return reasonAdmissionGated
	case Deactivated:
		return reasonDeactivated
	case PodsAwaited:
		return reasonOnHold
	case EqualRefused:
		return conditionOf(operands.Reason)
	case NoFlavors:
		severest := 0
		for _, podSet := range operands.PodSets {
			for _, reason := range podSet.Reasons {
				severest = max(severest, severityOf(reason))
			}
		}
		return refusals[severest]
	default:
		return reasonPendingEvaluation
	}
}

// whyPreempted is how Kueue words the reason of a preemption.
var whyPreempted = map[string]string{
	reasonInClusterQueue:                "prioritization in the ClusterQueue",
	reasonInCohortReclamation:           "reclamation within the cohort",
	reasonInCohortReclaimWhileBorrowing: "reclamation within the cohort while borrowing",
	reasonInCohortFairSharing:           "Fair Sharing within the cohort",
}

func preempted(v victim, e *entry) Decision {
	why := whyPreempted[v.reason]
	message := fmt.Sprintf("Preempted to accommodate a workload (UID: %s, JobUID: %s) due to %s; preemptor path: %s; preemptee path: %s",
		cmp.Or(string(e.w.object.UID), "UNKNOWN"), cmp.Or(e.w.object.Labels[controllerconstants.JobUIDLabel], "UNKNOWN"), why, path(e.node), path(e.root(v.w.queue)))
	return Decision{
		Workload: v.w.ref(), Verb: Evict, Reason: reasonPreempted, Message: message, Preempted: v.reason,
		Events: []Event{
			{Workload: v.w.ref(), Reason: "EvictedDueToPreempted", Message: message},
			{Workload: v.w.ref(), Reason: "Preempted", Message: fmt.Sprintf("%s; preemptor effective priority: %d; preemptee effective priority: %d", message, e.w.priority, v.w.priority)},
			{Workload: e.w.ref(), Reason: "PreemptedWorkload", Message: fmt.Sprintf("Preempted workload %s/%s (UID: %s) due to %s", v.w.key.Namespace, v.w.key.Name, v.w.object.UID, why)},
		},
	}
}

// root returns the node of a ClusterQueue in the tree of a head.
func (e *entry) root(queue string) *node {
	var found *node
	var walk func(n *node)
	walk = func(n *node) {
		if !n.cohort && n.name == queue {
			found = n
		}
		for _, child := range n.children {
			walk(child)
		}
	}
	walk(e.node.root())
	return found
}

// path are the names from the root Cohort down to a ClusterQueue.
func path(n *node) string {
	names := append([]string{n.name}, n.cohorts()...)
	slices.Reverse(names)
	return "/" + strings.Join(names, "/")
}

// refuseDecision says why a workload waits. changed is false if its condition says so already.
func refuseDecision(w *workload, reason, message string) (d Decision, changed bool) {
	c := meta.FindStatusCondition(w.object.Status.Conditions, kueue.WorkloadQuotaReserved)
	if c != nil && c.Status == metav1.ConditionFalse && c.Reason == reason && c.Message == message {
		return Decision{}, false
	}
	d = Decision{Workload: w.ref(), Verb: Refuse, Reason: reason, Message: message}
	for _, p := range w.podSets {
		requests := make(v1.ResourceList)
		for name, v := range p.total(p.count) {
			requests[name] = quantityOf(name, v)
		}
		d.Requests = append(d.Requests, kueue.PodSetRequest{Name: kueue.PodSetReference(p.name), Resources: requests})
	}
	d.Events = []Event{{Workload: w.ref(), Warning: true, Reason: reason, Message: message}}
	return d, true
}

// reserveDecision gives a head its quota, and admits it if no check has a say.
func (s *State) reserveDecision(e *entry, admission *kueue.Admission, now time.Time) Decision {
	message := fmt.Sprintf("Quota reserved in ClusterQueue %s, wait time since queued was %.0fs", e.w.queue, now.Sub(e.w.since).Seconds())
	if considered := e.considered(); considered != "" {
		message += "; Flavors considered: " + considered
	}
	d := Decision{
		Workload: e.w.ref(), Verb: Reserve, Reason: reasonQuotaReserved, Message: "Quota reserved in ClusterQueue " + e.w.queue,
		Admission: admission, Checks: s.checksFor(admission),
		Events: []Event{{Workload: e.w.ref(), Reason: reasonQuotaReserved, Message: message}},
	}
	if len(d.Checks) == 0 {
		d.Events = append(d.Events, admittedEvent(e.w.ref(), e.w.queue, 0))
	}
	return d
}

func admittedEvent(w Ref, queue string, waited time.Duration) Event {
	return Event{Workload: w, Reason: reasonAdmitted, Message: fmt.Sprintf("Admitted by ClusterQueue %s, wait time since reservation was %.0fs", queue, waited.Seconds())}
}

// considered lists the flavors that did not fit cleanly.
func (e *entry) considered() string {
	var podSets []string
	for _, p := range e.assignment.podSets {
		var flavors []string
		for _, group := range p.search.Groups {
			for _, trial := range group.Flavors {
				if trial.Mode == Fit && trial.Borrowing == 0 {
					continue
				}
				flavors = append(flavors, fmt.Sprintf("%s(%s;borrow=%d;%s)", trial.Flavor, trial.Mode, trial.Borrowing, joinReasons(trial.Reasons)))
			}
		}
		if len(flavors) > 0 {
			podSets = append(podSets, p.podSet.name+": "+strings.Join(flavors, ", "))
		}
	}
	return strings.Join(podSets, "; ")
}

// checksFor are the admission checks of a ClusterQueue that apply to an admission; those for all
// flavors only if admission is nil.
func (s *State) checksFor(admission *kueue.Admission) []string {
	return checksOf(s.clusterQueues[string(admission.ClusterQueue)], admission)
}

func checksOf(queue *kueue.ClusterQueue, admission *kueue.Admission) []string {
	if queue == nil || queue.Spec.AdmissionChecksStrategy == nil {
		return nil
	}
	used := make(map[kueue.ResourceFlavorReference]bool)
	if admission != nil {
		for _, p := range admission.PodSetAssignments {
			for _, flavor := range p.Flavors {
				used[flavor] = true
			}
		}
	}
	var names []string
	for _, rule := range queue.Spec.AdmissionChecksStrategy.AdmissionChecks {
		if len(rule.OnFlavors) == 0 || slices.ContainsFunc(rule.OnFlavors, func(flavor kueue.ResourceFlavorReference) bool { return used[flavor] }) {
			names = append(names, string(rule.Name))
		}
	}
	return names
}

// Apply makes the change in w, which must be a copy of the caller's own. The caller writes the
// spec if d.Spec is set, and the status otherwise.
func (d Decision) Apply(w *kueue.Workload, now time.Time) {
	set := func(kind string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(now), ObservedGeneration: w.Generation,
		})
	}
	switch d.Verb {
	case Reserve:
		w.Status.Admission = d.Admission.DeepCopy()
		set(kueue.WorkloadQuotaReserved, metav1.ConditionTrue, d.Reason, d.Message)
		for _, over := range []string{kueue.WorkloadEvicted, kueue.WorkloadPreempted} {
			if c := meta.FindStatusCondition(w.Status.Conditions, over); c != nil && c.Status == metav1.ConditionTrue {
				set(over, metav1.ConditionFalse, reasonQuotaReserved, "Previously: "+c.Message)
			}
		}
		d.syncChecks(w, now)
		if len(d.Checks) == 0 {
			d.admit(w, set)
		} else {
			set(kueue.WorkloadAdmitted, metav1.ConditionFalse, reasonUnsatisfiedChecks, "The workload has not all checks ready")
		}
	case Admit:
		d.admit(w, set)
	case Refuse:
		set(kueue.WorkloadQuotaReserved, metav1.ConditionFalse, d.Reason, d.Message)
		unreserved(set)
		w.Status.ResourceRequests = d.Requests
	case Evict:
		d.evict(w, set, now)
	case Release:
		d.release(w, set, now)
	case Replace:
		set(kueue.WorkloadFinished, metav1.ConditionTrue, d.Reason, d.Message)
	case Requeue:
		set(kueue.WorkloadRequeued, metav1.ConditionTrue, d.Reason, d.Message)
	case Target:
		set(kueue.WorkloadDeactivationTarget, metav1.ConditionTrue, d.Reason, d.Message)
	case Deactivate:
		w.Spec.Active = new(bool)
	case Assign:
		w.Status.Admission = d.Admission.DeepCopy()
		w.Status.UnhealthyNodes = nil
	case SyncChecks:
		d.syncChecks(w, now)
	}
}

// unreserved says that a workload without quota is not admitted, either.
func unreserved(set setCondition) {
	set(kueue.WorkloadAdmitted, metav1.ConditionFalse, reasonNoReservation, "The workload has no reservation")
}

type setCondition func(kind string, status metav1.ConditionStatus, reason, message string)

func (d Decision) admit(w *kueue.Workload, set setCondition) {
	set(kueue.WorkloadAdmitted, metav1.ConditionTrue, reasonAdmitted, "The workload is admitted")
	w.Status.ResourceRequests = nil
}

// syncChecks lists the checks that apply, and keeps what they have said.
func (d Decision) syncChecks(w *kueue.Workload, now time.Time) {
	var states []kueue.AdmissionCheckState
	for _, name := range d.Checks {
		i := slices.IndexFunc(w.Status.AdmissionChecks, func(c kueue.AdmissionCheckState) bool { return string(c.Name) == name })
		if i >= 0 {
			states = append(states, w.Status.AdmissionChecks[i])
			continue
		}
		states = append(states, kueue.AdmissionCheckState{Name: kueue.AdmissionCheckReference(name), State: kueue.CheckStatePending, LastTransitionTime: metav1.NewTime(now)})
	}
	w.Status.AdmissionChecks = states
}

func (d Decision) evict(w *kueue.Workload, set setCondition, now time.Time) {
	if c := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted); c != nil && c.Status == metav1.ConditionTrue && c.Reason == d.Reason {
		return // written before, and not seen yet when this was decided
	}
	set(kueue.WorkloadEvicted, metav1.ConditionTrue, d.Reason, d.Message)
	if d.Preempted != "" {
		set(kueue.WorkloadPreempted, metav1.ConditionTrue, d.Preempted, d.Message)
	}
	for i := range w.Status.AdmissionChecks {
		check := &w.Status.AdmissionChecks[i]
		if check.State == kueue.CheckStatePending {
			continue
		}
		previous := cmp.Or(check.Message, string(check.State))
		retries := check.RetryCount
		if check.State == kueue.CheckStateRetry {
			retries = ptr.To(ptr.Deref(retries, 0) + 1)
		}
		*check = kueue.AdmissionCheckState{
			Name: check.Name, State: kueue.CheckStatePending, LastTransitionTime: metav1.NewTime(now), RetryCount: retries,
			Message: "Reset to Pending after eviction. Previously: " + previous,
		}
	}
	d.count(w)
	w.Status.UnhealthyNodes = nil
	switch {
	case d.Backoffs > 0:
		at := metav1.NewTime(d.RequeueAt)
		w.Status.RequeueState = &kueue.RequeueState{Count: &d.Backoffs, RequeueAt: &at}
	case !d.RequeueAt.IsZero():
		if w.Status.RequeueState == nil {
			w.Status.RequeueState = &kueue.RequeueState{}
		}
		at := metav1.NewTime(d.RequeueAt)
		w.Status.RequeueState.RequeueAt = &at
	case strings.HasPrefix(d.Reason, reasonDeactivated):
		w.Status.RequeueState = nil
		meta.RemoveStatusCondition(&w.Status.Conditions, kueue.WorkloadDeactivationTarget)
	}
}

func (d Decision) count(w *kueue.Workload) {
	if w.Status.SchedulingStats == nil {
		w.Status.SchedulingStats = &kueue.SchedulingStats{}
	}
	stats := w.Status.SchedulingStats
	i := slices.IndexFunc(stats.Evictions, func(e kueue.WorkloadSchedulingStatsEviction) bool {
		return e.Reason == d.Reason && string(e.UnderlyingCause) == d.Cause
	})
	if i < 0 {
		stats.Evictions = append(stats.Evictions, kueue.WorkloadSchedulingStatsEviction{Reason: d.Reason, UnderlyingCause: kueue.EvictionUnderlyingCause(d.Cause)})
		i = len(stats.Evictions) - 1
	}
	stats.Evictions[i].Count++
}

func (d Decision) release(w *kueue.Workload, set setCondition, now time.Time) {
	if admitted := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadAdmitted); admitted != nil && admitted.Status == metav1.ConditionTrue {
		ran := int32(now.Sub(admitted.LastTransitionTime.Time).Seconds())
		if w.Status.AccumulatedPastExecutionTimeSeconds != nil {
			ran += *w.Status.AccumulatedPastExecutionTimeSeconds
		}
		w.Status.AccumulatedPastExecutionTimeSeconds = &ran
	}
	w.Status.Admission = nil
	set(kueue.WorkloadQuotaReserved, metav1.ConditionFalse, d.Reason, d.Message)
	unreserved(set)
	if d.Cause == "" {
		return
	}
	requeued := metav1.ConditionFalse
	if d.Cause == reasonPreempted || d.Cause == reasonNodeFailures {
		requeued = metav1.ConditionTrue
	}
	set(kueue.WorkloadRequeued, requeued, d.Cause, d.Message)
}
