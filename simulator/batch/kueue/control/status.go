package control

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

const (
	// statusPause is how long changes gather before the statuses of queues are written.
	statusPause = 100 * time.Millisecond
	// statusShare bounds the share of time that the statuses take: they follow admission, and with many workloads they
	// must not slow it down.
	statusShare = 5
)

// writeStatuses keeps the statuses of queues, cohorts and checks, and the finalizers by which objects stay
// while something uses them.
func (e *engaged) writeStatuses(ctx context.Context) {
	for {
		begun := e.clock.Now()
		next := e.sample()
		e.writeAll(ctx)
		pause := max(statusPause, (statusShare-1)*e.clock.Since(begun))
		e.changed()
		select {
		case <-ctx.Done():
			return
		case <-e.stale:
		case <-next:
		}
		select {
		case <-ctx.Done():
			return
		case <-e.clock.After(pause):
		}
	}
}

// sample brings what LocalQueues have used up to date, and returns what tells when to do so again; nil for never.
func (e *engaged) sample() (again <-chan time.Time) {
	e.mu.Lock()
	turned, next := e.state.Sample(e.clock.Now())
	e.mu.Unlock()
	if turned {
		signal(e.wake)
	}
	if next == 0 {
		return nil
	}
	return e.clock.After(next)
}

func (e *engaged) writeAll(ctx context.Context) {
	failed := false
	note := func(kind controller, o metav1.Object, errs ...error) {
		t := trouble{kind, types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}}
		if err := errors.Join(errs...); err != nil {
			failed = failed || ctx.Err() == nil
			e.tell(ctx, t, err)
		} else {
			e.untell(t)
		}
	}
	now := e.clock.Now()
	for _, queue := range list[kueue.ClusterQueue](e.clusterQueues) {
		after := queue.DeepCopy()
		e.mu.Lock()
		after.Status = e.state.ClusterQueueStatus(queue.Name, now)
		e.mu.Unlock()
		note("ClusterQueue", queue, e.patch(ctx, clusterQueueResource, queue, after, "status"), hold(ctx, e, clusterQueueResource, queue, after.Status.ReservingWorkloads > 0))
	}
	for _, queue := range list[kueue.LocalQueue](e.localQueues) {
		after := queue.DeepCopy()
		e.mu.Lock()
		after.Status = e.state.LocalQueueStatus(types.NamespacedName{Namespace: queue.Namespace, Name: queue.Name}, now)
		e.mu.Unlock()
		note("LocalQueue", queue, e.patch(ctx, localQueueResource, queue, after, "status"))
	}
	for _, cohort := range list[kueue.Cohort](e.cohorts) {
		after := cohort.DeepCopy()
		e.mu.Lock()
		after.Status = e.state.CohortStatus(cohort.Name)
		e.mu.Unlock()
		note("Cohort", cohort, e.patch(ctx, cohortResource, cohort, after, "status"))
	}
	for _, check := range list[kueue.AdmissionCheck](e.checks) {
		after := check.DeepCopy()
		active := metav1.Condition{
			Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue, Reason: "Active", Message: "The admission check is active", ObservedGeneration: check.Generation, LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
		}
		if check.Spec.ControllerName == kueue.ProvisioningRequestControllerName {
			if _, err := e.configOf(check); err != nil {
				active.Status, active.Reason, active.Message = metav1.ConditionFalse, "BadParametersRef", err.Error()
			}
		}
		meta.SetStatusCondition(&after.Status.Conditions, active)
		note("AdmissionCheck", check, e.patch(ctx, checkResource, check, after, "status"), hold(ctx, e, checkResource, check, e.usesCheck(check.Name)))
	}
	for _, flavor := range list[kueue.ResourceFlavor](e.flavors) {
		note("ResourceFlavor", flavor, hold(ctx, e, flavorResource, flavor, e.usesFlavor(flavor.Name)))
	}
	for _, topology := range list[kueue.Topology](e.topologies) {
		note("Topology", topology, hold(ctx, e, topologyResource, topology, slices.ContainsFunc(list[kueue.ResourceFlavor](e.flavors), func(f *kueue.ResourceFlavor) bool {
			return f.Spec.TopologyName != nil && string(*f.Spec.TopologyName) == topology.Name
		})))
	}
	if failed {
		signal(e.stale)
	}
}

func list[T any](informer cache.SharedIndexInformer) []*T {
	var out []*T
	for _, obj := range informer.GetStore().List() {
		if typed, ok := obj.(*T); ok {
			out = append(out, typed)
		}
	}
	return out
}

// kept is an object with a finalizer of ours.
type kept[T any] interface {
	object
	DeepCopy() T
}

// hold adds the finalizer to an object, and removes it from a deleted one that nothing uses.
func hold[T kept[T]](ctx context.Context, e *engaged, resource schema.GroupVersionResource, o T, used bool) error {
	has := slices.Contains(o.GetFinalizers(), kueue.ResourceInUseFinalizerName)
	deleted := o.GetDeletionTimestamp() != nil
	after := o.DeepCopy()
	switch {
	case deleted && has && !used:
		after.SetFinalizers(slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == kueue.ResourceInUseFinalizerName }))
	case !deleted && !has:
		after.SetFinalizers(append(slices.Clone(o.GetFinalizers()), kueue.ResourceInUseFinalizerName))
	default:
		return nil
	}
	err := e.patch(ctx, resource, o, after)
	if isRace(err) {
		return nil // its change calls again
	}
	return err
}

func (e *engaged) usesFlavor(name string) bool {
	return slices.ContainsFunc(list[kueue.ClusterQueue](e.clusterQueues), func(q *kueue.ClusterQueue) bool {
		return slices.ContainsFunc(q.Spec.ResourceGroups, func(g kueue.ResourceGroup) bool {
			return slices.ContainsFunc(g.Flavors, func(f kueue.FlavorQuotas) bool { return string(f.Name) == name })
		})
	})
}

func (e *engaged) usesCheck(name string) bool {
	return slices.ContainsFunc(list[kueue.ClusterQueue](e.clusterQueues), func(q *kueue.ClusterQueue) bool {
		return q.Spec.AdmissionChecksStrategy != nil && slices.ContainsFunc(q.Spec.AdmissionChecksStrategy.AdmissionChecks, func(c kueue.AdmissionCheckStrategyRule) bool { return string(c.Name) == name })
	})
}
