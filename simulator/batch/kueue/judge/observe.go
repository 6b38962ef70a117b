package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// observation is the state of one scenario in one cluster.
type observation struct {
	// facts has, for things such as "w3 Workload condition Admitted", what is true of them. Work that consists of several
	// objects, such as the pods of a Deployment, has one line for each, in order.
	facts map[string]string
	// moving says what is on its way to another state.
	moving []string
	// unsettled means that something still changed when it was taken.
	unsettled bool
	// preempted counts the preemptions of each workload, by its UID.
	preempted map[string]int
	// reserved says which workloads have quota.
	reserved map[string]bool
}

// work matches the names of what steps create, and of what controllers make of it.
var work = regexp.MustCompile(`^(?:[a-z]+-)?(w[0-9]+)(?:-|$)`)

func owner(name string) string {
	if match := work.FindStringSubmatch(name); match != nil {
		return match[1]
	}
	return name
}

type observer struct {
	observation
	lines map[string][]string
}

func (o *observer) see(of, fact string, value any) {
	text, isText := value.(string)
	if !isText {
		raw, err := json.Marshal(value)
		if err != nil {
			panic(err) // parts of API objects
		}
		text = string(raw)
	}
	o.lines[of+" "+fact] = append(o.lines[of+" "+fact], text)
}

func (o *observer) conditions(of string, conditions []metav1.Condition) {
	for _, c := range conditions {
		o.see(of, "condition "+c.Type, string(c.Status)+" "+c.Reason)
	}
}

func (o *observer) moves(when bool, of, what string) {
	if when {
		o.moving = append(o.moving, of+": "+what)
	}
}

// observe returns what the judge's cache has.
func (p place) observe(ctx context.Context) (observation, error) {
	o := &observer{observation: observation{facts: map[string]string{}, preempted: map[string]int{}, reserved: map[string]bool{}}, lines: map[string][]string{}}
	var (
		workloads   kueue.WorkloadList
		jobs        batchv1.JobList
		pods        v1.PodList
		deployments appsv1.DeploymentList
		sets        appsv1.StatefulSetList
	)
	for _, list := range []client.ObjectList{&workloads, &jobs, &pods, &deployments, &sets} {
		if err := p.cache.List(ctx, list, client.InNamespace(p.mark)); err != nil {
			return observation{}, err
		}
	}
	for i := range workloads.Items {
		o.workload(&workloads.Items[i])
	}
	for i := range jobs.Items {
		o.job(&jobs.Items[i])
	}
	for i := range pods.Items {
		o.pod(&pods.Items[i])
	}
	for i := range deployments.Items {
		d := &deployments.Items[i]
		o.see(d.Name+" Deployment", "replicas", []any{d.Spec.Replicas, d.Status.Replicas, d.Status.ReadyReplicas})
		o.moves(d.Status.Replicas != ptr.Deref(d.Spec.Replicas, 1), d.Name, "a pod is missing")
	}
	for i := range sets.Items {
		s := &sets.Items[i]
		o.see(s.Name+" StatefulSet", "replicas", []any{s.Spec.Replicas, s.Status.Replicas, s.Status.ReadyReplicas})
	}
	if p.statuses {
		if err := o.queues(ctx, p, workloads.Items); err != nil {
			return observation{}, err
		}
	}
	for name, lines := range o.lines {
		slices.Sort(lines)
		o.facts[strings.ReplaceAll(name, p.mark+"-", "")] = strings.ReplaceAll(strings.Join(lines, "\n"), p.mark+"-", "")
	}
	return o.observation, nil
}

func (o *observer) workload(w *kueue.Workload) {
	of := owner(w.Name) + " Workload"
	o.conditions(of, w.Status.Conditions)
	for _, s := range w.Spec.PodSets {
		o.see(of, "pod set", []any{s.Name, s.Count, s.MinCount, s.TopologyRequest})
	}
	o.see(of, "priority", w.Spec.Priority)
	o.see(of, "active", w.Spec.Active)
	o.see(of, "queue", string(w.Spec.QueueName))
	o.see(of, "given back", w.Status.ReclaimablePods)
	if w.Status.RequeueState != nil {
		o.see(of, "requeues", w.Status.RequeueState.Count)
	}
	if w.Status.Admission != nil {
		o.see(of, "admission", w.Status.Admission)
	}
	if w.Status.SchedulingStats != nil {
		o.see(of, "evictions", w.Status.SchedulingStats.Evictions)
		for _, e := range w.Status.SchedulingStats.Evictions {
			if e.Reason == kueue.WorkloadEvictedByPreemption {
				o.preempted[string(w.UID)] += int(e.Count)
			}
		}
	}
	reserved := meta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadQuotaReserved)
	o.reserved[string(w.UID)] = reserved
	finished := meta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadFinished)
	o.moves(reserved && !finished && meta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadEvicted), of, "evicted")
	o.moves(w.DeletionTimestamp != nil, of, "being deleted")
}

func (o *observer) job(j *batchv1.Job) {
	of := j.Name + " Job"
	o.see(of, "suspend", j.Spec.Suspend)
	o.see(of, "parallelism", j.Spec.Parallelism)
	o.see(of, "pods", []any{j.Status.Active, j.Status.Succeeded, j.Status.Failed})
	o.see(of, "nodeSelector", j.Spec.Template.Spec.NodeSelector)
	o.see(of, "tolerations", j.Spec.Template.Spec.Tolerations)
	for _, c := range j.Status.Conditions {
		o.see(of, "condition "+string(c.Type), string(c.Status)+" "+c.Reason)
	}
	finished := slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == v1.ConditionTrue
	})
	want := ptr.Deref(j.Spec.Parallelism, 1)
	switch {
	case j.Spec.Completions != nil:
		want = min(want, *j.Spec.Completions-j.Status.Succeeded)
	case j.Status.Succeeded > 0: // it gets no more
		want = j.Status.Active
	}
	if ptr.Deref(j.Spec.Suspend, false) || finished {
		want = 0
	}
	o.moves(j.Status.Active != want, of, fmt.Sprintf("%d of %d pods are active", j.Status.Active, want))
	o.moves(j.DeletionTimestamp != nil, of, "being deleted")
}

func (o *observer) pod(p *v1.Pod) {
	of := owner(p.Name) + " Pod"
	gates := []string{}
	for _, g := range p.Spec.SchedulingGates {
		gates = append(gates, g.Name)
	}
	selector := maps.Clone(p.Spec.NodeSelector)
	o.see(of, "state", fmt.Sprintf("%s, gates %v, selector %v, deleted %t", p.Status.Phase, gates, selector, p.DeletionTimestamp != nil))
	if len(gates) > 0 || p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed {
		return
	}
	waits := slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Reason == v1.PodReasonUnschedulable })
	o.moves(p.Status.Phase == v1.PodPending && !waits, of, "not running yet")
	o.moves(p.DeletionTimestamp != nil, of, "being deleted")
}

// queues looks at the queues of a place. Their statuses follow the workloads some time later, and in the
// simulator by design only now and then. How many workloads are pending is left out: 0.17.0 does not always correct that number.
func (o *observer) queues(ctx context.Context, p place, workloads []kueue.Workload) error {
	var (
		local   kueue.LocalQueueList
		queues  kueue.ClusterQueueList
		cohorts kueue.CohortList
	)
	if err := errors.Join(p.cache.List(ctx, &local, client.InNamespace(p.mark)), p.cache.List(ctx, &queues), p.cache.List(ctx, &cohorts)); err != nil {
		return err
	}
	held := map[string][2]int32{}
	for _, q := range local.Items {
		for i := range workloads {
			if w := &workloads[i]; w.Status.Admission != nil && string(w.Spec.QueueName) == q.Name && !meta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadFinished) {
				n := held[string(q.Spec.ClusterQueue)]
				n[0]++
				if meta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadAdmitted) {
					n[1]++
				}
				held[string(q.Spec.ClusterQueue)] = n
			}
		}
		condition := meta.FindStatusCondition(q.Status.Conditions, kueue.LocalQueueActive)
		o.moves(condition == nil || condition.ObservedGeneration != q.Generation, q.Name, "status of an earlier generation")
		o.conditions(q.Name+" LocalQueue", q.Status.Conditions)
		o.see(q.Name+" LocalQueue", "counts", []any{q.Status.ReservingWorkloads, q.Status.AdmittedWorkloads})
	}
	for _, q := range queues.Items {
		if !strings.HasPrefix(q.Name, p.mark+"-") {
			continue
		}
		condition := meta.FindStatusCondition(q.Status.Conditions, kueue.ClusterQueueActive)
		o.moves(condition == nil || condition.ObservedGeneration != q.Generation, q.Name, "status of an earlier generation")
		o.moves(held[q.Name] != [2]int32{q.Status.ReservingWorkloads, q.Status.AdmittedWorkloads}, q.Name, "status of earlier workloads")
		o.conditions(q.Name+" ClusterQueue", q.Status.Conditions)
		o.see(q.Name+" ClusterQueue", "counts", []any{q.Status.ReservingWorkloads, q.Status.AdmittedWorkloads})
		o.see(q.Name+" ClusterQueue", "reservation", q.Status.FlavorsReservation)
		o.see(q.Name+" ClusterQueue", "usage", q.Status.FlavorsUsage)
		o.see(q.Name+" ClusterQueue", "share", q.Status.FairSharing)
	}
	for _, c := range cohorts.Items {
		if strings.HasPrefix(c.Name, p.mark+"-") {
			o.see(c.Name+" Cohort", "share", c.Status.FairSharing)
		}
	}
	return nil
}
