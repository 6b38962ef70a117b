package kubecontrollers

import (
	"context"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	"k8s.io/kubernetes/pkg/controller/devicetainteviction"
	"k8s.io/kubernetes/pkg/controller/resourceclaim"
	"k8s.io/kubernetes/pkg/controller/resourcepoolstatusrequest"
)

func (b *Builder) resourceClaim(ctx context.Context) (Run, error) {
	client, err := b.client("resource-claim-controller")
	if err != nil {
		return nil, err
	}
	resources := b.informers.Resource().V1()
	c, err := resourceclaim.NewController(klog.FromContext(ctx), client, b.informers.Core().V1().Pods(),
		b.informers.Scheduling().V1beta1().PodGroups(), resources.ResourceClaims(), resources.ResourceClaimTemplates())
	if err != nil {
		return nil, err
	}
	return with(b.configuration.ResourceClaimController.ConcurrentSyncs, c.Run), nil
}

func (b *Builder) deviceTaintEviction(context.Context) (Run, error) {
	client, err := b.client(names.DeviceTaintEvictionController)
	if err != nil {
		return nil, err
	}
	resources := b.informers.Resource().V1()
	c := devicetainteviction.New(client, b.informers.Core().V1().Pods(), resources.ResourceClaims(), resources.ResourceSlices(),
		resources.DeviceTaintRules(), resources.DeviceClasses(), names.DeviceTaintEvictionController)
	return func(ctx context.Context) {
		if err := c.Run(ctx, int(b.configuration.DeviceTaintEvictionController.ConcurrentSyncs)); err != nil {
			utilruntime.HandleErrorWithContext(ctx, err, "device taint eviction failed, pods are no longer evicted")
		}
		<-ctx.Done()
	}, nil
}

func (b *Builder) resourcePoolStatusRequest(ctx context.Context) (Run, error) {
	client, err := b.client("resourcepoolstatusrequest-controller")
	if err != nil {
		return nil, err
	}
	resources := b.informers.Resource().V1()
	c, err := resourcepoolstatusrequest.NewController(ctx, client, b.informers.Resource().V1alpha3().ResourcePoolStatusRequests(),
		resources.ResourceSlices(), resources.ResourceClaims(), resources.DeviceTaintRules())
	if err != nil {
		return nil, err
	}
	return with(1, c.Run), nil
}
