package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/suggest"
)

// ErrOff means that the cluster does not have Kueue's kinds.
var ErrOff = errors.New("this cluster does not have Kueue's kinds")

// ErrObserves means that another Kueue decides.
var ErrObserves = errors.New("another Kueue decides in this cluster, and its controllers set the states of admission checks")

// View is what the page shows of the queues.
type View struct {
	// Quotas are the trees of cohorts, each from its root down.
	Quotas []admission.NodeQuota `json:"quotas"`
	// Pending are the workloads that wait, queue by queue, in the order of each, and then those in no queue.
	Pending []admission.Pending `json:"pending"`
	// Running are those that hold quota, the latest first.
	Running []Holder `json:"running"`
	// LocalQueues lead to the ClusterQueues.
	LocalQueues []LocalQueue `json:"localQueues"`
	Checks      []string     `json:"checks"`
	// Problems are what keeps the controllers from doing what admission decided, the oldest first.
	Problems []admission.Problem `json:"problems"`
}

type LocalQueue struct {
	Namespace    string `json:"namespace"`
	Name         string `json:"name"`
	ClusterQueue string `json:"clusterQueue"`
}

type Holder struct {
	Workload     admission.Ref `json:"workload"`
	LocalQueue   string        `json:"localQueue"`
	ClusterQueue string        `json:"clusterQueue"`
	Priority     int32         `json:"priority"`
	Created      time.Time     `json:"created"`
	// Since is when the quota was reserved, AdmittedAt when the workload was admitted; nil before.
	Since      time.Time  `json:"since"`
	AdmittedAt *time.Time `json:"admittedAt,omitempty"`
	// Evicted is the reason of an eviction that has not ended yet.
	Evicted string        `json:"evicted,omitempty"`
	Flavors []PodSetQuota `json:"flavors"`
	Checks  []CheckState  `json:"checks,omitempty"`
}

type PodSetQuota struct {
	PodSet  string            `json:"podSet"`
	Count   int32             `json:"count"`
	Flavors map[string]string `json:"flavors"`
	Usage   map[string]string `json:"usage"`
}

type CheckState struct {
	Name    string           `json:"name"`
	State   kueue.CheckState `json:"state"`
	Message string           `json:"message,omitempty"`
}

func (q *Queues) On() bool { return q.engaged.Load() != nil }

// View returns the queues as they are. The error is ErrOff while there are none.
func (q *Queues) View() (*View, error) {
	e := q.engaged.Load()
	if e == nil {
		return nil, ErrOff
	}
	v := &View{Quotas: []admission.NodeQuota{}, Pending: []admission.Pending{}, Running: []Holder{}, LocalQueues: []LocalQueue{}, Checks: []string{}, Problems: e.problemsNow()}
	now := e.clock.Now()
	e.mu.Lock()
	if quotas := e.state.Quotas(); quotas != nil {
		v.Quotas = quotas
	}
	for _, n := range v.Quotas {
		if n.ClusterQueue != "" {
			v.Pending = append(v.Pending, e.state.Pending(n.ClusterQueue, now)...)
		}
	}
	v.Pending = append(v.Pending, e.state.Held()...)
	e.mu.Unlock()
	if e.observes {
		for i := range v.Pending {
			v.Pending[i] = e.reported(v.Pending[i])
		}
	}
	for _, queue := range list[kueue.LocalQueue](e.localQueues) {
		v.LocalQueues = append(v.LocalQueues, LocalQueue{queue.Namespace, queue.Name, string(queue.Spec.ClusterQueue)})
	}
	slices.SortFunc(v.LocalQueues, func(a, b LocalQueue) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, check := range list[kueue.AdmissionCheck](e.checks) {
		v.Checks = append(v.Checks, check.Name)
	}
	slices.Sort(v.Checks)
	for _, w := range list[kueue.Workload](e.workloads) {
		if is(w, kueue.WorkloadQuotaReserved) && !is(w, kueue.WorkloadFinished) && w.Status.Admission != nil {
			v.Running = append(v.Running, holderOf(w))
		}
	}
	slices.SortFunc(v.Running, func(a, b Holder) int {
		return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.Workload.Namespace, b.Workload.Namespace), cmp.Compare(a.Workload.Name, b.Workload.Name))
	})
	return v, nil
}

// reported returns a waiting workload with what the Kueue that decides says of it, in place of what our engine would.
func (e *engaged) reported(p admission.Pending) admission.Pending {
	w := cached[kueue.Workload](e.workloads, p.Workload.Key())
	if w == nil {
		return p
	}
	p.Parked, p.Cycle = false, 0
	if c := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved); c != nil && c.Status == metav1.ConditionFalse {
		p.Condition, p.Reason = c.Reason, admission.Reason{Operands: admission.Reported{Message: c.Message}}
	} else if !p.Held {
		p.Condition, p.Reason = "", admission.Reason{Operands: admission.NotTried{}}
	}
	return p
}

func holderOf(w *kueue.Workload) Holder {
	h := Holder{
		Workload: admission.Ref{Namespace: w.Namespace, Name: w.Name, UID: w.UID}, LocalQueue: string(w.Spec.QueueName), ClusterQueue: string(w.Status.Admission.ClusterQueue),
		Created: w.CreationTimestamp.Time, Flavors: []PodSetQuota{},
	}
	if w.Spec.Priority != nil {
		h.Priority = *w.Spec.Priority
	}
	for _, c := range w.Status.Conditions {
		switch {
		case c.Type == kueue.WorkloadQuotaReserved:
			h.Since = c.LastTransitionTime.Time
		case c.Type == kueue.WorkloadAdmitted && c.Status == metav1.ConditionTrue:
			h.AdmittedAt = &c.LastTransitionTime.Time
		case c.Type == kueue.WorkloadEvicted && c.Status == metav1.ConditionTrue:
			h.Evicted = c.Reason
		}
	}
	for _, a := range w.Status.Admission.PodSetAssignments {
		set := PodSetQuota{PodSet: string(a.Name), Flavors: map[string]string{}, Usage: map[string]string{}}
		if a.Count != nil {
			set.Count = *a.Count
		}
		for resource, flavor := range a.Flavors {
			set.Flavors[string(resource)] = string(flavor)
		}
		for resource, amount := range a.ResourceUsage {
			set.Usage[string(resource)] = amount.String()
		}
		h.Flavors = append(h.Flavors, set)
	}
	for _, c := range w.Status.AdmissionChecks {
		h.Checks = append(h.Checks, CheckState{string(c.Name), c.State, c.Message})
	}
	return h
}

// Pending returns the workloads that wait in a ClusterQueue, in order; false if there is no such queue.
func (q *Queues) Pending(clusterQueue string) ([]admission.Pending, bool) {
	e := q.engaged.Load()
	if e == nil || cached[kueue.ClusterQueue](e.clusterQueues, types.NamespacedName{Name: clusterQueue}) == nil {
		return nil, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state.Pending(clusterQueue, e.clock.Now()), true
}

// LocalQueue returns the ClusterQueue of a local queue; false if there is no such queue.
func (q *Queues) LocalQueue(key types.NamespacedName) (clusterQueue string, known bool) {
	e := q.engaged.Load()
	if e == nil {
		return "", false
	}
	queue := cached[kueue.LocalQueue](e.localQueues, key)
	if queue == nil {
		return "", false
	}
	return string(queue.Spec.ClusterQueue), true
}

// Copy returns a copy of what admission knows, once the objects hold all that it has decided. The error is ErrOff while
// there are no queues.
func (q *Queues) Copy(ctx context.Context) (*admission.State, error) {
	for {
		e := q.engaged.Load()
		if e == nil {
			return nil, ErrOff
		}
		e.mu.Lock()
		if !e.state.Settling() {
			defer e.mu.Unlock()
			return e.state.Clone(), nil
		}
		e.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-e.clock.After(lastPause):
		}
	}
}

// Suggest finds what would let a workload in that waits. The error is NotFound for any other.
func (q *Queues) Suggest(ctx context.Context, key types.NamespacedName) (suggest.Answer, error) {
	e := q.engaged.Load()
	if e == nil {
		return suggest.Answer{}, ErrOff
	}
	e.mu.Lock()
	state := e.state.Clone()
	e.mu.Unlock()
	answer, waits := suggest.Ask(ctx, suggest.Question{State: state, Workload: key, Now: e.clock.Now()})
	if !waits {
		return suggest.Answer{}, apierrors.NewNotFound(schema.GroupResource{Group: kueue.GroupVersion.Group, Resource: workloadResource.Resource}, key.Name)
	}
	return answer, nil
}

// Owners returns the owners of a workload; nil if there is no such workload.
func (q *Queues) Owners(key types.NamespacedName) []metav1.OwnerReference {
	e := q.engaged.Load()
	if e == nil {
		return nil
	}
	if w := cached[kueue.Workload](e.workloads, key); w != nil {
		return w.OwnerReferences
	}
	return nil
}

// Flip gives an admission check a state, for one workload, as the check's controller would. A check that asks an autoscaler gets it from
// the answer that means the state, which Flip writes into its ProvisioningRequest.
func (q *Queues) Flip(ctx context.Context, key types.NamespacedName, check string, state kueue.CheckState, message string) error {
	e := q.engaged.Load()
	if e == nil {
		return ErrOff
	}
	if e.observes {
		return ErrObserves
	}
	if asked, err := e.answerFor(ctx, key, check, state, message); asked || err != nil {
		return err
	}
	found := false
	_, _, err := e.change(ctx, key, func(w *kueue.Workload) {
		for i := range w.Status.AdmissionChecks {
			c := &w.Status.AdmissionChecks[i]
			if string(c.Name) != check {
				continue
			}
			found = true
			if c.State != state {
				c.LastTransitionTime = metav1.NewTime(e.clock.Now().Truncate(time.Second))
			}
			c.State, c.Message = state, message
		}
	}, "status")
	if err == nil && !found {
		return &NoCheckError{Workload: key, Check: check}
	}
	return err
}

// NoCheckError means that a workload does not wait for a check of that name.
type NoCheckError struct {
	Workload types.NamespacedName
	Check    string
}

func (e *NoCheckError) Error() string {
	return fmt.Sprintf("workload %s has no admission check %q", e.Workload, e.Check)
}
