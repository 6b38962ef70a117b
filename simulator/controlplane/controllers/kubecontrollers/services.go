package kubecontrollers

import (
	"context"

	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/endpointslicemirroring"
)

func (b *Builder) endpoints(ctx context.Context) (Run, error) {
	client, err := b.client("endpoint-controller")
	if err != nil {
		return nil, err
	}
	core := b.informers.Core().V1()
	configuration := b.configuration.EndpointController
	c := endpoint.NewEndpointController(ctx, core.Pods(), core.Services(), core.Endpoints(), client, configuration.EndpointUpdatesBatchPeriod.Duration)
	return with(configuration.ConcurrentEndpointSyncs, c.Run), nil
}

func (b *Builder) endpointSlice(ctx context.Context) (Run, error) {
	client, err := b.client("endpointslice-controller")
	if err != nil {
		return nil, err
	}
	core := b.informers.Core().V1()
	configuration := b.configuration.EndpointSliceController
	c := endpointslice.NewController(ctx, core.Pods(), core.Services(), core.Nodes(), b.informers.Discovery().V1().EndpointSlices(),
		configuration.MaxEndpointsPerSlice, client, configuration.EndpointUpdatesBatchPeriod.Duration)
	return with(configuration.ConcurrentServiceEndpointSyncs, c.Run), nil
}

func (b *Builder) endpointSliceMirroring(ctx context.Context) (Run, error) {
	client, err := b.client("endpointslicemirroring-controller")
	if err != nil {
		return nil, err
	}
	core := b.informers.Core().V1()
	configuration := b.configuration.EndpointSliceMirroringController
	c := endpointslicemirroring.NewController(ctx, core.Endpoints(), b.informers.Discovery().V1().EndpointSlices(), core.Services(),
		configuration.MirroringMaxEndpointsPerSubset, client, configuration.MirroringEndpointUpdatesBatchPeriod.Duration)
	return with(configuration.MirroringConcurrentServiceEndpointSyncs, c.Run), nil
}
