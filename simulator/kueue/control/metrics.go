package control

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"kube-scheduler-simulator/simulator/kueue/admission"
	"kube-scheduler-simulator/simulator/kueue/api"
)

// The metrics have Kueue's names and labels. Like those of Kubernetes they belong to the process.
var (
	role = map[string]string{"replica_role": "standalone"}

	attemptTotal = counter("admission_attempts_total", "Attempts to admit workloads, by result.", "result")
	durations    = histogram("admission_attempt_duration_seconds", "Time of an attempt to admit workloads.", "result")
	quotaTotal   = counter("quota_reserved_workloads_total", "Workloads that got quota.", "cluster_queue", "priority_class")
	quotaWait    = histogram("quota_reserved_wait_time_seconds", "Time from a workload's creation or requeuing to its quota.", "cluster_queue", "priority_class")
	admitTotal   = counter("admitted_workloads_total", "Workloads that were admitted.", "cluster_queue", "priority_class")
	admitWait    = histogram("admission_wait_time_seconds", "Time from a workload's creation or requeuing to its admission.", "cluster_queue", "priority_class")
	checksWait   = histogram("admission_checks_wait_time_seconds", "Time from a workload's quota to its admission.", "cluster_queue", "priority_class")
	evictTotal   = counter("evicted_workloads_total", "Evictions.", "cluster_queue", "reason", "underlying_cause", "priority_class")
	preempted    = counter("preempted_workloads_total", "Preemptions.", "preempting_cluster_queue", "reason")
	evictOnce    = counter("evicted_workloads_once_total", "Workloads that were evicted, each once for a reason.", "cluster_queue", "reason", "underlying_cause", "priority_class")
	evictLatency = histogram("workload_eviction_latency_seconds", "Time from an eviction until the quota is free.", "cluster_queue", "reason", "underlying_cause")
	readyEvicted = histogram("pods_ready_to_evicted_time_seconds", "Time from when the pods were ready to the eviction.", "cluster_queue", "reason", "underlying_cause")
	readyWait    = histogram("ready_wait_time_seconds", "Time from a workload's creation or requeuing until its pods are ready.", "cluster_queue", "priority_class")
	admitReady   = histogram("admitted_until_ready_wait_time_seconds", "Time from a workload's admission until its pods are ready.", "cluster_queue", "priority_class")
	execution    = histogram("execution_time_seconds", "Time from a workload's admission to its end.", "cluster_queue", "priority_class")
	finishTotal  = counter("finished_workloads_total", "Workloads that have ended.", "cluster_queue", "priority_class")

	pending       = gauge("pending_workloads", "Workloads that wait.", "cluster_queue", "status")
	localPending  = gauge("local_queue_pending_workloads", "Workloads that wait.", "name", "namespace", "status")
	reserving     = gauge("reserving_active_workloads", "Workloads that hold quota.", "cluster_queue")
	admitted      = gauge("admitted_active_workloads", "Workloads that are admitted and have not ended.", "cluster_queue")
	queueStatus   = gauge("cluster_queue_status", "1 for the status that a ClusterQueue has.", "cluster_queue", "status")
	reservation   = gauge("cluster_queue_resource_reservation", "Quota that workloads hold.", "cohort", "cluster_queue", "flavor", "resource")
	nominal       = gauge("cluster_queue_nominal_quota", "Nominal quota.", "cohort", "cluster_queue", "flavor", "resource")
	borrowing     = gauge("cluster_queue_borrowing_limit", "Borrowing limit.", "cohort", "cluster_queue", "flavor", "resource")
	lending       = gauge("cluster_queue_lending_limit", "Lending limit.", "cohort", "cluster_queue", "flavor", "resource")
	usage         = gauge("cluster_queue_resource_usage", "Quota that admitted workloads hold.", "cohort", "cluster_queue", "flavor", "resource")
	demand        = gauge("cluster_queue_resource_pending", "What the workloads that wait ask for.", "cluster_queue", "resource")
	finished      = gauge("finished_workloads", "Workloads that have ended and still exist.", "cluster_queue")
	unadmitted    = gauge("unadmitted_workloads", "Workloads without admission, by the reason of the condition QuotaReserved.", "cluster_queue", "reason", "underlying_cause")
	skips         = gauge("admission_cycle_preemption_skips", "Workloads of the latest cycle whose victims another one evicts.", "cluster_queue")
	subtreeQuota  = gauge("cohort_subtree_quota", "Quota that a Cohort and its members have to share.", "cohort", "flavor", "resource")
	subtreeHeld   = gauge("cohort_subtree_resource_reservations", "Quota that the workloads below a Cohort hold.", "cohort", "flavor", "resource")
	subtreeActive = gauge("cohort_subtree_admitted_active_workloads", "Workloads below a Cohort that are admitted and have not ended.", "cohort")
	share         = gauge("cluster_queue_weighted_share", "Share under fair sharing.", "cluster_queue", "cohort")
	cohortShare   = gauge("cohort_weighted_share", "Share under fair sharing.", "cohort")
	gauges        = []*metrics.GaugeVec{pending, localPending, reserving, admitted, queueStatus, reservation, usage, demand, finished, unadmitted, subtreeQuota, subtreeHeld, subtreeActive, nominal, borrowing, lending, share, cohortShare}
	attemptLabels = map[bool]string{true: "success", false: "inadmissible"}
)

func counter(name, help string, labels ...string) *metrics.CounterVec {
	c := metrics.NewCounterVec(&metrics.CounterOpts{Subsystem: "kueue", Name: name, Help: help, ConstLabels: role, StabilityLevel: metrics.ALPHA}, labels)
	legacyregistry.MustRegister(c)
	return c
}

func gauge(name, help string, labels ...string) *metrics.GaugeVec {
	g := metrics.NewGaugeVec(&metrics.GaugeOpts{Subsystem: "kueue", Name: name, Help: help, ConstLabels: role, StabilityLevel: metrics.ALPHA}, labels)
	legacyregistry.MustRegister(g)
	return g
}

func histogram(name, help string, labels ...string) *metrics.HistogramVec {
	h := metrics.NewHistogramVec(&metrics.HistogramOpts{
		Subsystem: "kueue", Name: name, Help: help, ConstLabels: role, StabilityLevel: metrics.ALPHA, Buckets: metrics.ExponentialBuckets(0.001, 4, 12),
	}, labels)
	legacyregistry.MustRegister(h)
	return h
}

// observe counts a cycle.
func observe(r *admission.Record, took time.Duration) {
	result := attemptLabels[reserved(r)]
	attemptTotal.WithLabelValues(result).Inc()
	durations.WithLabelValues(result).Observe(took.Seconds())
	skips.Reset()
	for _, h := range r.Heads {
		if _, shared := h.Reason.Operands.(admission.VictimsShared); shared {
			skips.WithLabelValues(h.ClusterQueue).Inc()
		}
		for _, v := range h.Victims {
			if h.Outcome == admission.Preempting && !v.AlreadyEvicted {
				preempted.WithLabelValues(h.ClusterQueue, v.Reason).Inc()
			}
		}
	}
}

func classOf(w *api.Workload) string {
	if w.Spec.PriorityClassRef == nil {
		return ""
	}
	return w.Spec.PriorityClassRef.Name
}

// count counts a decision that has been written to a workload.
func count(d admission.Decision, before, after *api.Workload, now time.Time) {
	queue := ""
	for _, w := range []*api.Workload{before, after} {
		if w.Status.Admission != nil {
			queue = w.Status.Admission.ClusterQueue
		}
	}
	since := before.CreationTimestamp.Time
	if c := meta.FindStatusCondition(before.Status.Conditions, api.WorkloadRequeued); c != nil {
		since = c.LastTransitionTime.Time
	}
	class := classOf(before)
	if !is(before, api.WorkloadQuotaReserved) && is(after, api.WorkloadQuotaReserved) {
		quotaTotal.WithLabelValues(queue, class).Inc()
		quotaWait.WithLabelValues(queue, class).Observe(now.Sub(since).Seconds())
	}
	if !is(before, api.WorkloadAdmitted) && is(after, api.WorkloadAdmitted) {
		admitTotal.WithLabelValues(queue, class).Inc()
		admitWait.WithLabelValues(queue, class).Observe(now.Sub(since).Seconds())
		if c := meta.FindStatusCondition(after.Status.Conditions, api.WorkloadQuotaReserved); c != nil && d.Verb == admission.Admit {
			checksWait.WithLabelValues(queue, class).Observe(now.Sub(c.LastTransitionTime.Time).Seconds())
		}
	}
	if d.Verb == admission.Evict {
		evictTotal.WithLabelValues(queue, d.Reason, d.Cause, class).Inc()
		if !evictedBefore(before, d.Reason, d.Cause) {
			evictOnce.WithLabelValues(queue, d.Reason, d.Cause, class).Inc()
		}
		if c := trueCondition(before, api.WorkloadPodsReady); c != nil {
			readyEvicted.WithLabelValues(queue, d.Reason, d.Cause).Observe(now.Sub(c.LastTransitionTime.Time).Seconds())
		}
	}
	if evicted := trueCondition(before, api.WorkloadEvicted); evicted != nil && is(before, api.WorkloadQuotaReserved) && !is(after, api.WorkloadQuotaReserved) {
		evictLatency.WithLabelValues(queue, evicted.Reason, "").Observe(now.Sub(evicted.LastTransitionTime.Time).Seconds())
	}
}

// trueCondition returns a condition that is true; nil if it is not.
func trueCondition(w *api.Workload, kind string) *metav1.Condition {
	if c := meta.FindStatusCondition(w.Status.Conditions, kind); c != nil && c.Status == metav1.ConditionTrue {
		return c
	}
	return nil
}

func evictedBefore(w *api.Workload, reason, cause string) bool {
	return w.Status.SchedulingStats != nil && slices.ContainsFunc(w.Status.SchedulingStats.Evictions, func(e api.WorkloadSchedulingStatsEviction) bool {
		return e.Reason == reason && e.UnderlyingCause == cause
	})
}

// holding is the ClusterQueue whose quota a workload holds; "" if it holds none.
func holding(w *api.Workload) string {
	if w.Status.Admission == nil {
		return ""
	}
	return w.Status.Admission.ClusterQueue
}

func countFinished(w *api.Workload, now time.Time) {
	finishTotal.WithLabelValues(holding(w), classOf(w)).Inc()
	if c := trueCondition(w, api.WorkloadAdmitted); c != nil {
		execution.WithLabelValues(holding(w), classOf(w)).Observe(now.Sub(c.LastTransitionTime.Time).Seconds())
	}
}

// countReady counts a workload whose pods have become ready for the first time since its admission.
func countReady(w *api.Workload, now time.Time) {
	since := w.CreationTimestamp.Time
	if c := meta.FindStatusCondition(w.Status.Conditions, api.WorkloadRequeued); c != nil {
		since = c.LastTransitionTime.Time
	}
	readyWait.WithLabelValues(holding(w), classOf(w)).Observe(now.Sub(since).Seconds())
	if c := trueCondition(w, api.WorkloadAdmitted); c != nil {
		admitReady.WithLabelValues(holding(w), classOf(w)).Observe(now.Sub(c.LastTransitionTime.Time).Seconds())
	}
}

// measure sets the gauges.
func (e *engaged) measure() {
	e.mu.Lock()
	quotas := e.state.Quotas()
	e.mu.Unlock()
	for _, g := range gauges {
		g.Reset()
	}
	for _, q := range quotas {
		if q.Share != nil {
			if q.Cohort != "" {
				cohortShare.WithLabelValues(q.Cohort).Set(q.Share.Share)
			} else {
				share.WithLabelValues(q.ClusterQueue, q.Parent).Set(q.Share.Share)
			}
		}
		if q.ClusterQueue == "" {
			for _, r := range q.Resources {
				subtreeQuota.WithLabelValues(q.Cohort, r.Flavor, string(r.Resource)).Set(units(r, r.Subtree))
				subtreeHeld.WithLabelValues(q.Cohort, r.Flavor, string(r.Resource)).Set(units(r, r.Used))
			}
			continue
		}
		pending.WithLabelValues(q.ClusterQueue, "active").Set(float64(q.Queued))
		pending.WithLabelValues(q.ClusterQueue, "inadmissible").Set(float64(q.Parked))
		reserving.WithLabelValues(q.ClusterQueue).Set(float64(q.Reserving))
		admitted.WithLabelValues(q.ClusterQueue).Set(float64(q.Admitted))
		active := q.Active != nil && q.Active.Status == "True"
		for status, is := range map[string]bool{"active": active, "pending": !active, "terminating": q.Active != nil && q.Active.Reason == "Terminating"} {
			value := 0.0
			if is {
				value = 1
			}
			queueStatus.WithLabelValues(q.ClusterQueue, status).Set(value)
		}
		for _, r := range q.Resources {
			labels := []string{q.Parent, q.ClusterQueue, r.Flavor, string(r.Resource)}
			reservation.WithLabelValues(labels...).Set(units(r, r.Used))
			nominal.WithLabelValues(labels...).Set(units(r, r.Nominal))
			if r.BorrowingLimit != nil {
				borrowing.WithLabelValues(labels...).Set(units(r, *r.BorrowingLimit))
			}
			if r.LendingLimit != nil {
				lending.WithLabelValues(labels...).Set(units(r, *r.LendingLimit))
			}
		}
	}
	for cohort, n := range admittedBelow(quotas) {
		subtreeActive.WithLabelValues(cohort).Set(float64(n))
	}
	e.measureWorkloads()
	for _, queue := range list[api.LocalQueue](e.localQueues) {
		localPending.WithLabelValues(queue.Name, queue.Namespace, "active").Set(float64(queue.Status.PendingWorkloads))
	}
}

// admittedBelow counts the admitted workloads below each Cohort.
func admittedBelow(quotas []admission.NodeQuota) map[string]int {
	parents, out := map[string]string{}, map[string]int{}
	for _, q := range quotas {
		if q.ClusterQueue == "" {
			parents[q.Cohort], out[q.Cohort] = q.Parent, 0
		}
	}
	for _, q := range quotas {
		if q.ClusterQueue == "" {
			continue
		}
		for cohort, left := q.Parent, len(parents); cohort != "" && left > 0; cohort, left = parents[cohort], left-1 {
			out[cohort] += q.Admitted
		}
	}
	return out
}

// measureWorkloads sets the gauges that count workloads and what they ask for.
func (e *engaged) measureWorkloads() {
	queues, cohorts := map[types.NamespacedName]string{}, map[string]string{}
	for _, queue := range list[api.LocalQueue](e.localQueues) {
		queues[types.NamespacedName{Namespace: queue.Namespace, Name: queue.Name}] = queue.Spec.ClusterQueue
	}
	for _, queue := range list[api.ClusterQueue](e.clusterQueues) {
		cohorts[queue.Name] = queue.Spec.CohortName
	}
	for _, w := range list[api.Workload](e.workloads) {
		queue := cmp.Or(holding(w), queues[types.NamespacedName{Namespace: w.Namespace, Name: w.Spec.QueueName}])
		switch {
		case is(w, api.WorkloadFinished):
			finished.WithLabelValues(queue).Inc()
			continue
		case is(w, api.WorkloadAdmitted):
			for _, set := range w.Status.Admission.PodSetAssignments {
				for name, amount := range set.ResourceUsage {
					usage.WithLabelValues(cohorts[queue], queue, set.Flavors[name], string(name)).Add(amount.AsApproximateFloat64())
				}
			}
			continue
		}
		reason := "PendingEvaluation"
		if c := meta.FindStatusCondition(w.Status.Conditions, api.WorkloadQuotaReserved); c != nil {
			reason = c.Reason
		}
		unadmitted.WithLabelValues(queue, reason, "").Inc()
		if !is(w, api.WorkloadQuotaReserved) {
			for name, amount := range requestsOf(w) {
				demand.WithLabelValues(queue, string(name)).Add(units(admission.ResourceQuota{Resource: name}, amount))
			}
		}
	}
}

// units returns an amount in cores, bytes or pieces.
func units(r admission.ResourceQuota, amount int64) float64 {
	if r.Resource == corev1.ResourceCPU {
		return float64(amount) / 1000
	}
	return float64(amount)
}
