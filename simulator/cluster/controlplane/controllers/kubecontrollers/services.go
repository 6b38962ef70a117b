package kubecontrollers

import (
	"context"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	coreinformers "k8s.io/client-go/informers/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
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
	c := endpointslice.NewController(ctx, core.Pods(), core.Services(), seldomListed{core.Nodes(), ctx}, b.informers.Discovery().V1().EndpointSlices(),
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

// topologyInterval is the shortest time from the end of one look at all nodes to the next.
const topologyInterval = time.Second

// seldomListed is an informer of nodes for the EndpointSlice controller. A goroutine of that controller lists all nodes when a node
// has come, or has become ready, as long as it takes to look at all of them again: a third of the processor time of an
// import of 5,000 nodes. Its lister lets it wait, in which time its queue joins the changes of all nodes.
type seldomListed struct {
	coreinformers.NodeInformer
	ctx context.Context // ends the wait
}

func (i seldomListed) Lister() corelisters.NodeLister {
	return &pacedLister{NodeLister: i.NodeInformer.Lister(), ended: i.ctx.Done()}
}

// pacedLister waits before it lists all nodes again. Other calls do not wait.
type pacedLister struct {
	corelisters.NodeLister
	ended <-chan struct{}

	mu   sync.Mutex
	next time.Time
}

func (l *pacedLister) List(selector labels.Selector) ([]*v1.Node, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-time.After(time.Until(l.next)):
	case <-l.ended:
	}
	defer func() { l.next = time.Now().Add(topologyInterval) }()
	return l.NodeLister.List(selector)
}
