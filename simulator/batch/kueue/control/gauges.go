package control

import (
	"cmp"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	resourcehelper "k8s.io/component-helpers/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
)

// The gauges say how things are. The program computes them when a client asks for its metrics, so that they cost nothing
// in between.
var (
	pending      = gaugeOfQueues("pending_workloads", "Workloads that wait.", "status")
	hashes       = gauge("pending_scheduling_hashes", "Different shapes of the workloads that wait.", "cluster_queue", "status")
	reserving    = gaugeOfQueues("reserving_active_workloads", "Workloads that hold quota.")
	admitted     = gaugeOfQueues("admitted_active_workloads", "Workloads that are admitted and have not ended.")
	finished     = gaugeOfQueues("finished_workloads", "Workloads that have ended and still exist.")
	unadmitted   = gauge("unadmitted_workloads", "Workloads without admission, by the reason of the condition QuotaReserved.", "cluster_queue", "reason", "underlying_cause")
	demand       = gauge("cluster_queue_resource_pending", "What the workloads that wait ask for.", "cluster_queue", "resource")
	queueStatus  = gauge("cluster_queue_status", "1 for the status that a ClusterQueue has.", "cluster_queue", "status")
	reservation  = gauge("cluster_queue_resource_reservation", "Quota that workloads hold.", "cohort", "cluster_queue", "flavor", "resource")
	usage        = gauge("cluster_queue_resource_usage", "Quota that admitted workloads hold.", "cohort", "cluster_queue", "flavor", "resource")
	nominal      = gauge("cluster_queue_nominal_quota", "Nominal quota.", "cohort", "cluster_queue", "flavor", "resource")
	borrowing    = gauge("cluster_queue_borrowing_limit", "Borrowing limit.", "cohort", "cluster_queue", "flavor", "resource")
	lending      = gauge("cluster_queue_lending_limit", "Lending limit.", "cohort", "cluster_queue", "flavor", "resource")
	share        = gauge("cluster_queue_weighted_share", "Share under fair sharing.", "cluster_queue", "cohort")
	cohortShare  = gauge("cohort_weighted_share", "Share under fair sharing.", "cohort")
	subtreeQuota = gauge("cohort_subtree_quota", "Quota that a Cohort and its members have to share.", "cohort", "flavor", "resource")
	subtreeHeld  = gauge("cohort_subtree_resource_reservations", "Quota that the workloads below a Cohort hold.", "cohort", "flavor", "resource")
	subtreeOnes  = gauge("cohort_subtree_admitted_active_workloads", "Workloads below a Cohort that are admitted and have not ended.", "cohort")

	localStatus      = gauge(local+"status", "1 for the status of the condition Active that a LocalQueue has.", "name", "namespace", "active")
	localReservation = gauge(local+"resource_reservation", "Quota that workloads of a LocalQueue hold.", "name", "namespace", "flavor", "resource")
	localUsage       = gauge(local+"resource_usage", "Quota that admitted workloads of a LocalQueue hold.", "name", "namespace", "flavor", "resource")
)

// descriptions are those of all gauges.
var descriptions []*metrics.Desc

func gauge(name, help string, labels ...string) *metrics.Desc {
	d := metrics.NewDesc(subsystem+"_"+name, help, labels, role, metrics.ALPHA, "")
	descriptions = append(descriptions, d)
	return d
}

// queueGauge says how things are for ClusterQueues and for LocalQueues.
type queueGauge struct{ cluster, local *metrics.Desc }

func gaugeOfQueues(name, help string, labels ...string) queueGauge {
	return queueGauge{gauge(name, help, append([]string{"cluster_queue"}, labels...)...), gauge(local+name, help, append([]string{"name", "namespace"}, labels...)...)}
}

// gauges reads the controllers that engaged last in the process.
type gauges struct {
	metrics.BaseStableCollector
	engaged atomic.Pointer[engaged]
}

var allGauges = &gauges{}

func init() { legacyregistry.CustomMustRegister(allGauges) }

func (*gauges) DescribeWithStability(out chan<- *metrics.Desc) {
	for _, d := range descriptions {
		out <- d
	}
}

// CollectWithStability implements metrics.StableCollector. It may run concurrently with itself.
func (g *gauges) CollectWithStability(out chan<- metrics.Metric) {
	if e := g.engaged.Load(); e != nil {
		for series, value := range e.measure() {
			out <- metrics.NewLazyConstMetric(series.gauge, metrics.GaugeValue, value, series.labels[:series.count]...)
		}
	}
}

// series is a gauge with values of its labels.
type series struct {
	gauge  *metrics.Desc
	labels [4]string
	count  int
}

type measured map[series]float64

func (m measured) add(gauge *metrics.Desc, value float64, labels ...string) {
	s := series{gauge: gauge, count: len(labels)}
	copy(s.labels[:], labels)
	m[s] += value
}

func (m measured) addOfQueues(gauge queueGauge, at member, value float64, labels ...string) {
	m.add(gauge.cluster, value, append([]string{at.clusterQueue}, labels...)...)
	m.add(gauge.local, value, append([]string{at.localQueue, at.namespace}, labels...)...)
}

// statusNames are those of pending workloads that are tried, and of those that wait for a change.
var statusNames = map[bool]string{true: "active", false: "inadmissible"}

// measure computes all gauges.
func (e *engaged) measure() measured {
	m := measured{}
	cohorts := e.measureQueues(m)
	for _, w := range list[kueue.Workload](e.workloads) {
		queue := holding(w)
		if local := cached[kueue.LocalQueue](e.localQueues, types.NamespacedName{Namespace: w.Namespace, Name: string(w.Spec.QueueName)}); local != nil {
			queue = cmp.Or(queue, string(local.Spec.ClusterQueue))
		}
		m.addWorkload(w, queue, cohorts[queue])
	}
	return m
}

// measureQueues adds what the state of admission knows. It returns the Cohorts of each ClusterQueue, from its own to the root.
func (e *engaged) measureQueues(m measured) map[string][]string {
	cohorts := map[string][]string{}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, q := range e.state.Quotas() {
		if q.ClusterQueue == "" {
			m.addCohort(q)
			continue
		}
		m.addClusterQueue(q)
		cohorts[q.ClusterQueue] = e.state.CohortsOf(q.ClusterQueue)
	}
	for _, queue := range list[kueue.LocalQueue](e.localQueues) {
		m.addLocalQueue(queue, e.state.LocalQueueStatus(types.NamespacedName{Namespace: queue.Namespace, Name: queue.Name}, e.clock.Now()))
	}
	seen := map[[3]string]bool{}
	e.state.EachWaiting(func(w *kueue.Workload, queue string, active bool, shape string) {
		status := statusNames[active]
		m.addOfQueues(pending, memberOf(w, queue), 1, status)
		if key := [...]string{queue, status, shape}; !seen[key] {
			seen[key] = true
			m.add(hashes, 1, queue, status)
		}
	})
	return cohorts
}

func (m measured) addClusterQueue(q admission.NodeQuota) {
	for _, status := range statusNames {
		m.add(pending.cluster, 0, q.ClusterQueue, status)
		m.add(hashes, 0, q.ClusterQueue, status)
	}
	m.add(reserving.cluster, float64(q.Reserving), q.ClusterQueue)
	m.add(admitted.cluster, float64(q.Admitted), q.ClusterQueue)
	active := q.Active != nil && q.Active.Status == "True"
	m.add(queueStatus, one(active), q.ClusterQueue, "active")
	m.add(queueStatus, one(!active), q.ClusterQueue, "pending")
	m.add(queueStatus, one(q.Active != nil && q.Active.Reason == "Terminating"), q.ClusterQueue, "terminating")
	if q.Share != nil {
		m.add(share, q.Share.Share, q.ClusterQueue, q.Parent)
	}
	for _, r := range q.Resources {
		labels := []string{q.Parent, q.ClusterQueue, r.Flavor, string(r.Resource)}
		m.add(reservation, units(r.Resource, r.Used), labels...)
		m.add(nominal, units(r.Resource, r.Nominal), labels...)
		if r.BorrowingLimit != nil {
			m.add(borrowing, units(r.Resource, *r.BorrowingLimit), labels...)
		}
		if r.LendingLimit != nil {
			m.add(lending, units(r.Resource, *r.LendingLimit), labels...)
		}
	}
}

func (m measured) addCohort(q admission.NodeQuota) {
	m.add(subtreeOnes, 0, q.Cohort)
	if q.Share != nil {
		m.add(cohortShare, q.Share.Share, q.Cohort)
	}
	for _, r := range q.Resources {
		m.add(subtreeQuota, units(r.Resource, r.Subtree), q.Cohort, r.Flavor, string(r.Resource))
		m.add(subtreeHeld, units(r.Resource, r.Used), q.Cohort, r.Flavor, string(r.Resource))
	}
}

func (m measured) addLocalQueue(queue *kueue.LocalQueue, status kueue.LocalQueueStatus) {
	name, namespace := queue.Name, queue.Namespace
	for _, status := range statusNames {
		m.add(pending.local, 0, name, namespace, status)
	}
	m.add(reserving.local, float64(status.ReservingWorkloads), name, namespace)
	m.add(admitted.local, float64(status.AdmittedWorkloads), name, namespace)
	active := corev1.ConditionUnknown
	if c := meta.FindStatusCondition(status.Conditions, kueue.ClusterQueueActive); c != nil {
		active = corev1.ConditionStatus(c.Status)
	}
	for _, value := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown} {
		m.add(localStatus, one(active == value), name, namespace, string(value))
	}
	for gauge, flavors := range map[*metrics.Desc][]kueue.LocalQueueFlavorUsage{localReservation: status.FlavorsReservation, localUsage: status.FlavorsUsage} {
		for _, flavor := range flavors {
			for _, r := range flavor.Resources {
				m.add(gauge, r.Total.AsApproximateFloat64(), name, namespace, string(flavor.Name), string(r.Name))
			}
		}
	}
}

func (m measured) addWorkload(w *kueue.Workload, queue string, cohorts []string) {
	switch {
	case is(w, kueue.WorkloadFinished):
		m.addOfQueues(finished, memberOf(w, queue), 1)
		return
	case is(w, kueue.WorkloadAdmitted):
		parent := ""
		if len(cohorts) > 0 {
			parent = cohorts[0]
		}
		for _, cohort := range cohorts {
			m.add(subtreeOnes, 1, cohort)
		}
		for _, set := range w.Status.Admission.PodSetAssignments {
			for name, amount := range set.ResourceUsage {
				m.add(usage, amount.AsApproximateFloat64(), parent, queue, string(set.Flavors[name]), string(name))
			}
		}
		return
	}
	reason := "PendingEvaluation"
	if c := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved); c != nil {
		reason = c.Reason
	}
	m.add(unadmitted, 1, queue, reason, "")
	if !is(w, kueue.WorkloadQuotaReserved) {
		for name, amount := range requestsOf(w) {
			m.add(demand, units(name, amount), queue, string(name))
		}
	}
}

// requestsOf returns what all pods of a workload ask for, in the units of admission.
func requestsOf(w *kueue.Workload) map[corev1.ResourceName]int64 {
	total := map[corev1.ResourceName]int64{corev1.ResourcePods: 0}
	for _, set := range w.Spec.PodSets {
		pod := &corev1.Pod{Spec: set.Template.Spec}
		total[corev1.ResourcePods] += int64(set.Count)
		for name, amount := range resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}) {
			n := amount.Value()
			if name == corev1.ResourceCPU {
				n = amount.MilliValue()
			}
			total[name] += n * int64(set.Count)
		}
	}
	return total
}

func one(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// units returns an amount in cores, bytes or pieces.
func units(resource corev1.ResourceName, amount int64) float64 {
	if resource == corev1.ResourceCPU {
		return float64(amount) / 1000
	}
	return float64(amount)
}
