package scheduler

import (
	"context"
	"maps"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/internal/upstream"
)

// Between the choice of a node and the answer of the API server, plugins hold volumes and devices
// in memory only. The decorators below write these to the tee.

// DRAManager returns the manager of claims, which all profiles share.
func (o *observer) DRAManager(manager fwk.SharedDRAManager) fwk.SharedDRAManager {
	if manager == nil {
		return nil // the feature is off
	}
	return &observedDRA{manager, &observedClaims{manager.ResourceClaims(), o.tee}}
}

type observedDRA struct {
	fwk.SharedDRAManager
	claims *observedClaims
}

func (d *observedDRA) ResourceClaims() fwk.ResourceClaimTracker { return d.claims }

type observedClaims struct {
	fwk.ResourceClaimTracker
	tee *atomic.Pointer[tee]
}

// SignalClaimPendingAllocation is called in Reserve.
func (c *observedClaims) SignalClaimPendingAllocation(uid types.UID, claim *resourcev1.ResourceClaim) error {
	err := c.ResourceClaimTracker.SignalClaimPendingAllocation(uid, claim)
	if t := c.tee.Load(); t != nil && err == nil {
		t.note(feed.Operation{Allocate: claim})
	}
	return err
}

// MaybeRemoveClaimPendingAllocation is called after the claim was written, and in Unreserve.
func (c *observedClaims) MaybeRemoveClaimPendingAllocation(uid types.UID, force bool) bool {
	removed := c.ResourceClaimTracker.MaybeRemoveClaimPendingAllocation(uid, force)
	if t := c.tee.Load(); t != nil && removed {
		t.note(feed.Operation{Release: uid})
	}
	return removed
}

// AssumeClaimAfterAPICall is called in PreBind.
func (c *observedClaims) AssumeClaimAfterAPICall(claim *resourcev1.ResourceClaim) error {
	err := c.ResourceClaimTracker.AssumeClaimAfterAPICall(claim)
	if t := c.tee.Load(); t != nil && err == nil {
		t.assume(claim)
	}
	return err
}

// AssumedClaimRestore is called in Unreserve.
func (c *observedClaims) AssumedClaimRestore(namespace, name string) {
	c.ResourceClaimTracker.AssumedClaimRestore(namespace, name)
	if t := c.tee.Load(); t != nil {
		t.restore(feed.Ref{GVK: resourcev1.SchemeGroupVersion.WithKind("ResourceClaim"), Namespace: namespace, Name: name})
	}
}

func (t *tee) allocating(claim *resourcev1.ResourceClaim, add func(feed.Operation)) {
	for _, f := range t.of.sched.Profiles {
		if f.SharedDRAManager() == nil {
			return
		}
		pending := f.SharedDRAManager().ResourceClaims().GetPendingAllocation(claim.UID)
		if pending != nil {
			claim = claim.DeepCopy()
			claim.Status.Allocation = pending
			add(feed.Operation{Allocate: claim})
		}
		return // all profiles share the manager
	}
}

func (o *observer) Wrap(registry frameworkruntime.Registry) frameworkruntime.Registry {
	registry = maps.Clone(registry)
	if factory := registry[names.VolumeBinding]; factory != nil {
		registry[names.VolumeBinding] = func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			plugin, err := factory(ctx, args, h)
			if p, ok := plugin.(*volumebinding.VolumeBinding); ok && p.Binder != nil {
				p.Binder = &observedBinder{p.Binder, o.tee}
			}
			return plugin, err
		}
	}
	return o.Recorder.Wrap(registry)
}

type observedBinder struct {
	volumebinding.SchedulerVolumeBinder
	tee *atomic.Pointer[tee]
}

// AssumePodVolumes is called in Reserve.
func (b *observedBinder) AssumePodVolumes(logger klog.Logger, pod *v1.Pod, node string, volumes *volumebinding.PodVolumes) (bool, error) {
	bound, err := b.SchedulerVolumeBinder.AssumePodVolumes(logger, pod, node, volumes)
	if t := b.tee.Load(); t != nil && err == nil && !bound {
		for _, o := range upstream.AssumedVolumes(volumes) {
			t.assume(o)
		}
	}
	return bound, err
}

// RevertAssumedPodVolumes is called in Unreserve.
func (b *observedBinder) RevertAssumedPodVolumes(volumes *volumebinding.PodVolumes) {
	b.SchedulerVolumeBinder.RevertAssumedPodVolumes(volumes)
	if t := b.tee.Load(); t != nil {
		for _, o := range upstream.AssumedVolumes(volumes) {
			t.restore(refOf(o))
		}
	}
}
