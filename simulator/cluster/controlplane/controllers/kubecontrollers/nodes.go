package kubecontrollers

import (
	"context"

	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	"k8s.io/kubernetes/pkg/controller/nodelifecycle"
	"k8s.io/kubernetes/pkg/controller/podgc"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
	"k8s.io/kubernetes/pkg/controller/ttl"
)

// nodeTTLWorkers is not configurable in kube-controller-manager either.
const nodeTTLWorkers = 5

func (b *Builder) nodeLifecycle(ctx context.Context) (Run, error) {
	client, err := b.client("node-controller")
	if err != nil {
		return nil, err
	}
	core := b.informers.Core().V1()
	configuration := b.configuration.NodeLifecycleController
	c, err := nodelifecycle.NewNodeLifecycleController(ctx,
		b.informers.Coordination().V1().Leases(), core.Pods(), core.Nodes(), b.informers.Apps().V1().DaemonSets(), client,
		configuration.NodeMonitorPeriod.Duration,
		configuration.NodeStartupGracePeriod.Duration,
		configuration.NodeMonitorGracePeriod.Duration,
		configuration.NodeEvictionRate,
		configuration.SecondaryNodeEvictionRate,
		configuration.LargeClusterSizeThreshold,
		configuration.UnhealthyZoneThreshold)
	if err != nil {
		return nil, err
	}
	return c.Run, nil
}

func (b *Builder) taintEviction(ctx context.Context) (Run, error) {
	// It once was part of the node controller and still uses its name.
	client, err := b.client("node-controller")
	if err != nil {
		return nil, err
	}
	core := b.informers.Core().V1()
	c, err := tainteviction.New(ctx, client, core.Pods(), core.Nodes(), names.TaintEvictionController)
	if err != nil {
		return nil, err
	}
	return c.Run, nil
}

func (b *Builder) podGarbageCollector(ctx context.Context) (Run, error) {
	client, err := b.client("pod-garbage-collector")
	if err != nil {
		return nil, err
	}
	core := b.informers.Core().V1()
	return podgc.NewPodGC(ctx, client, core.Pods(), core.Nodes(), int(b.configuration.PodGCController.TerminatedPodGCThreshold)).Run, nil
}

// nodeTTL builds the controller that tells kubelets how long to cache secrets.
func (b *Builder) nodeTTL(ctx context.Context) (Run, error) {
	client, err := b.client("ttl-controller")
	if err != nil {
		return nil, err
	}
	return with(nodeTTLWorkers, ttl.NewTTLController(ctx, b.informers.Core().V1().Nodes(), client).Run), nil
}
