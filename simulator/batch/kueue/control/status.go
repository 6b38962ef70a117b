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

	"kube-scheduler-simulator/simulator/batch/kueue/api"
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
		e.writeAll(ctx)
		pause := max(statusPause, (statusShare-1)*e.clock.Since(begun))
		e.changed()
		select {
		case <-ctx.Done():
			return
		case <-e.stale:
		}
		select {
		case <-ctx.Done():
			return
		case <-e.clock.After(pause):
		}
	}
}

func (e *engaged) writeAll(ctx context.Context) {
	failed := false
	note := func(kind schema.GroupVersionKind, o metav1.Object, errs ...error) {
		t := trouble{controller(kind.Kind), types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}}
		if err := errors.Join(errs...); err != nil {
			failed = failed || ctx.Err() == nil
			e.tell(ctx, t, err)
		} else {
			e.untell(t)
		}
	}
	now := e.clock.Now()
	for _, queue := range list[api.ClusterQueue](e.clusterQueues) {
		after := queue.DeepCopy()
		e.mu.Lock()
		after.Status = e.state.ClusterQueueStatus(queue.Name, now)
		e.mu.Unlock()
		note(api.ClusterQueueKind, queue, e.patch(ctx, api.ClusterQueues, queue, after, "status"), hold(ctx, e, api.ClusterQueues, queue, after.Status.ReservingWorkloads > 0))
	}
	for _, queue := range list[api.LocalQueue](e.localQueues) {
		after := queue.DeepCopy()
		e.mu.Lock()
		after.Status = e.state.LocalQueueStatus(types.NamespacedName{Namespace: queue.Namespace, Name: queue.Name}, now)
		e.mu.Unlock()
		note(api.LocalQueueKind, queue, e.patch(ctx, api.LocalQueues, queue, after, "status"))
	}
	for _, cohort := range list[api.Cohort](e.cohorts) {
		after := cohort.DeepCopy()
		e.mu.Lock()
		after.Status = e.state.CohortStatus(cohort.Name)
		e.mu.Unlock()
		note(api.CohortKind, cohort, e.patch(ctx, api.Cohorts, cohort, after, "status"))
	}
	for _, check := range list[api.AdmissionCheck](e.checks) {
		after := check.DeepCopy()
		meta.SetStatusCondition(&after.Status.Conditions, metav1.Condition{
			Type: api.ConditionActive, Status: metav1.ConditionTrue, Reason: "Active", Message: "The admission check is active", ObservedGeneration: check.Generation, LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
		})
		note(api.AdmissionCheckKind, check, e.patch(ctx, api.AdmissionChecks, check, after, "status"), hold(ctx, e, api.AdmissionChecks, check, e.usesCheck(check.Name)))
	}
	for _, flavor := range list[api.ResourceFlavor](e.flavors) {
		note(api.ResourceFlavorKind, flavor, hold(ctx, e, api.ResourceFlavors, flavor, e.usesFlavor(flavor.Name)))
	}
	for _, topology := range list[api.Topology](e.topologies) {
		note(api.TopologyKind, topology, hold(ctx, e, api.Topologies, topology, slices.ContainsFunc(list[api.ResourceFlavor](e.flavors), func(f *api.ResourceFlavor) bool {
			return f.Spec.TopologyName != nil && *f.Spec.TopologyName == topology.Name
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
	has := slices.Contains(o.GetFinalizers(), api.ResourceInUseFinalizer)
	deleted := o.GetDeletionTimestamp() != nil
	after := o.DeepCopy()
	switch {
	case deleted && has && !used:
		after.SetFinalizers(slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == api.ResourceInUseFinalizer }))
	case !deleted && !has:
		after.SetFinalizers(append(slices.Clone(o.GetFinalizers()), api.ResourceInUseFinalizer))
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
	return slices.ContainsFunc(list[api.ClusterQueue](e.clusterQueues), func(q *api.ClusterQueue) bool {
		return slices.ContainsFunc(q.Spec.ResourceGroups, func(g api.ResourceGroup) bool {
			return slices.ContainsFunc(g.Flavors, func(f api.FlavorQuotas) bool { return f.Name == name })
		})
	})
}

func (e *engaged) usesCheck(name string) bool {
	return slices.ContainsFunc(list[api.ClusterQueue](e.clusterQueues), func(q *api.ClusterQueue) bool {
		return q.Spec.AdmissionChecksStrategy != nil && slices.ContainsFunc(q.Spec.AdmissionChecksStrategy.AdmissionChecks, func(c api.AdmissionCheckStrategyRule) bool { return c.Name == name })
	})
}
