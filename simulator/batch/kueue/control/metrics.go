package control

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
)

// The metrics have Kueue's names and labels. Like those of Kubernetes they belong to the process.
var (
	role = map[string]string{"replica_role": "standalone"}

	attemptTotal = counter("admission_attempts_total", "Attempts to admit workloads, by result.", "result")
	durations    = histogram("admission_attempt_duration_seconds", "Time of an attempt to admit workloads.", "result")
	quotaTotal   = counterOfQueues("quota_reserved_workloads_total", "Workloads that got quota.", "priority_class")
	quotaWait    = histogramOfQueues("quota_reserved_wait_time_seconds", "Time from a workload's creation or requeuing to its quota.", "priority_class")
	admitTotal   = counterOfQueues("admitted_workloads_total", "Workloads that were admitted.", "priority_class")
	admitWait    = histogramOfQueues("admission_wait_time_seconds", "Time from a workload's creation or requeuing to its admission.", "priority_class")
	checksWait   = histogramOfQueues("admission_checks_wait_time_seconds", "Time from a workload's quota to its admission.", "priority_class")
	cohortTotal  = counter("cohort_subtree_admitted_workloads_total", "Workloads that were admitted below a Cohort.", "cohort", "priority_class")
	evictTotal   = counterOfQueues("evicted_workloads_total", "Evictions.", "reason", "underlying_cause", "priority_class")
	preempted    = counter("preempted_workloads_total", "Preemptions.", "preempting_cluster_queue", "reason")
	evictOnce    = counter("evicted_workloads_once_total", "Workloads that were evicted, each once for a reason.", "cluster_queue", "reason", "underlying_cause", "priority_class")
	evictLatency = histogram("workload_eviction_latency_seconds", "Time from an eviction until the quota is free.", "cluster_queue", "reason", "underlying_cause")
	readyEvicted = histogram("pods_ready_to_evicted_time_seconds", "Time from when the pods were ready to the eviction.", "cluster_queue", "reason", "underlying_cause")
	readyWait    = histogramOfQueues("ready_wait_time_seconds", "Time from a workload's creation or requeuing until its pods are ready.", "priority_class")
	admitReady   = histogramOfQueues("admitted_until_ready_wait_time_seconds", "Time from a workload's admission until its pods are ready.", "priority_class")
	execution    = histogramOfQueues("execution_time_seconds", "Time from a workload's admission to its end.", "priority_class")
	finishTotal  = counterOfQueues("finished_workloads_total", "Workloads that have ended.", "priority_class")
	skips        = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem: subsystem, Name: "admission_cycle_preemption_skips", Help: "Workloads of the latest cycle whose victims another one evicts.",
		ConstLabels: role, StabilityLevel: metrics.ALPHA,
	}, []string{"cluster_queue"})
	attemptLabels = map[bool]string{true: "success", false: "inadmissible"}
)

const (
	subsystem = "kueue"
	local     = "local_queue_"
)

func init() { legacyregistry.MustRegister(skips) }

// member says for which queues the metrics count a workload.
type member struct{ clusterQueue, namespace, localQueue string }

// memberOf is where a workload counts that a ClusterQueue holds.
func memberOf(w *kueue.Workload, clusterQueue string) member {
	return member{clusterQueue, w.Namespace, string(w.Spec.QueueName)}
}

// queueCounter counts for ClusterQueues and for LocalQueues.
type queueCounter struct{ cluster, local *metrics.CounterVec }

func counterOfQueues(name, help string, labels ...string) queueCounter {
	return queueCounter{counter(name, help, append([]string{"cluster_queue"}, labels...)...), counter(local+name, help, append([]string{"name", "namespace"}, labels...)...)}
}

func (c queueCounter) inc(m member, labels ...string) {
	c.cluster.WithLabelValues(append([]string{m.clusterQueue}, labels...)...).Inc()
	c.local.WithLabelValues(append([]string{m.localQueue, m.namespace}, labels...)...).Inc()
}

// queueHistogram measures for ClusterQueues and for LocalQueues.
type queueHistogram struct{ cluster, local *metrics.HistogramVec }

func histogramOfQueues(name, help string, labels ...string) queueHistogram {
	return queueHistogram{histogram(name, help, append([]string{"cluster_queue"}, labels...)...), histogram(local+name, help, append([]string{"name", "namespace"}, labels...)...)}
}

func (h queueHistogram) observe(m member, took time.Duration, labels ...string) {
	h.cluster.WithLabelValues(append([]string{m.clusterQueue}, labels...)...).Observe(took.Seconds())
	h.local.WithLabelValues(append([]string{m.localQueue, m.namespace}, labels...)...).Observe(took.Seconds())
}

func counter(name, help string, labels ...string) *metrics.CounterVec {
	c := metrics.NewCounterVec(&metrics.CounterOpts{Subsystem: subsystem, Name: name, Help: help, ConstLabels: role, StabilityLevel: metrics.ALPHA}, labels)
	legacyregistry.MustRegister(c)
	return c
}

func histogram(name, help string, labels ...string) *metrics.HistogramVec {
	h := metrics.NewHistogramVec(&metrics.HistogramOpts{
		Subsystem: subsystem, Name: name, Help: help, ConstLabels: role, StabilityLevel: metrics.ALPHA, Buckets: metrics.ExponentialBuckets(0.001, 4, 12),
	}, labels)
	legacyregistry.MustRegister(h)
	return h
}

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

func classOf(w *kueue.Workload) string {
	if w.Spec.PriorityClassRef == nil {
		return ""
	}
	return w.Spec.PriorityClassRef.Name
}

func (e *engaged) count(d admission.Decision, before, after *kueue.Workload) {
	now := e.clock.Now()
	at := memberOf(after, cmp.Or(holding(after), holding(before)))
	since := before.CreationTimestamp.Time
	if c := meta.FindStatusCondition(before.Status.Conditions, kueue.WorkloadRequeued); c != nil {
		since = c.LastTransitionTime.Time
	}
	class := classOf(before)
	if !is(before, kueue.WorkloadQuotaReserved) && is(after, kueue.WorkloadQuotaReserved) {
		quotaTotal.inc(at, class)
		quotaWait.observe(at, now.Sub(since), class)
	}
	if !is(before, kueue.WorkloadAdmitted) && is(after, kueue.WorkloadAdmitted) {
		admitTotal.inc(at, class)
		admitWait.observe(at, now.Sub(since), class)
		if c := meta.FindStatusCondition(after.Status.Conditions, kueue.WorkloadQuotaReserved); c != nil && d.Verb == admission.Admit {
			checksWait.observe(at, now.Sub(c.LastTransitionTime.Time), class)
		}
		e.mu.Lock()
		cohorts := e.state.CohortsOf(at.clusterQueue)
		e.mu.Unlock()
		for _, cohort := range cohorts {
			cohortTotal.WithLabelValues(cohort, class).Inc()
		}
	}
	if d.Verb == admission.Evict {
		evictTotal.inc(at, d.Reason, d.Cause, class)
		if !evictedBefore(before, d.Reason, d.Cause) {
			evictOnce.WithLabelValues(at.clusterQueue, d.Reason, d.Cause, class).Inc()
		}
		if c := trueCondition(before, kueue.WorkloadPodsReady); c != nil {
			readyEvicted.WithLabelValues(at.clusterQueue, d.Reason, d.Cause).Observe(now.Sub(c.LastTransitionTime.Time).Seconds())
		}
	}
	if evicted := trueCondition(before, kueue.WorkloadEvicted); evicted != nil && is(before, kueue.WorkloadQuotaReserved) && !is(after, kueue.WorkloadQuotaReserved) {
		evictLatency.WithLabelValues(at.clusterQueue, evicted.Reason, "").Observe(now.Sub(evicted.LastTransitionTime.Time).Seconds())
	}
}

// trueCondition returns a condition that is true; nil if it is not.
func trueCondition(w *kueue.Workload, kind string) *metav1.Condition {
	if c := meta.FindStatusCondition(w.Status.Conditions, kind); c != nil && c.Status == metav1.ConditionTrue {
		return c
	}
	return nil
}

func evictedBefore(w *kueue.Workload, reason, cause string) bool {
	return w.Status.SchedulingStats != nil && slices.ContainsFunc(w.Status.SchedulingStats.Evictions, func(e kueue.WorkloadSchedulingStatsEviction) bool {
		return e.Reason == reason && string(e.UnderlyingCause) == cause
	})
}

// holding is the ClusterQueue whose quota a workload holds; "" if it holds none.
func holding(w *kueue.Workload) string {
	if w.Status.Admission == nil {
		return ""
	}
	return string(w.Status.Admission.ClusterQueue)
}

func countFinished(w *kueue.Workload, now time.Time) {
	at, class := memberOf(w, holding(w)), classOf(w)
	finishTotal.inc(at, class)
	if c := trueCondition(w, kueue.WorkloadAdmitted); c != nil {
		execution.observe(at, now.Sub(c.LastTransitionTime.Time), class)
	}
}

// countReady counts a workload whose pods have become ready for the first time since its admission.
func countReady(w *kueue.Workload, now time.Time) {
	at, class := memberOf(w, holding(w)), classOf(w)
	since := w.CreationTimestamp.Time
	if c := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadRequeued); c != nil {
		since = c.LastTransitionTime.Time
	}
	readyWait.observe(at, now.Sub(since), class)
	if c := trueCondition(w, kueue.WorkloadAdmitted); c != nil {
		admitReady.observe(at, now.Sub(c.LastTransitionTime.Time), class)
	}
}
