package control

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
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
	share         = gauge("cluster_queue_weighted_share", "Share under fair sharing.", "cluster_queue", "cohort")
	cohortShare   = gauge("cohort_weighted_share", "Share under fair sharing.", "cohort")
	gauges        = []*metrics.GaugeVec{pending, localPending, reserving, admitted, queueStatus, reservation, nominal, borrowing, lending, share, cohortShare}
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
	for _, h := range r.Heads {
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
	}
}

func countFinished(w *api.Workload) {
	queue := ""
	if w.Status.Admission != nil {
		queue = w.Status.Admission.ClusterQueue
	}
	finishTotal.WithLabelValues(queue, classOf(w)).Inc()
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
	for _, queue := range list[api.LocalQueue](e.localQueues) {
		localPending.WithLabelValues(queue.Name, queue.Namespace, "active").Set(float64(queue.Status.PendingWorkloads))
	}
}

// units returns an amount in cores, bytes or pieces.
func units(r admission.ResourceQuota, amount int64) float64 {
	if r.Resource == corev1.ResourceCPU {
		return float64(amount) / 1000
	}
	return float64(amount)
}
