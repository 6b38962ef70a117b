// Package kubecontrollers builds the controllers of kube-controller-manager that run in the
// simulator, each with its own constructor and with the arguments that kube-controller-manager
// passes.
//
// It does not import kube-controller-manager itself, because that would add everything that never
// runs here to the program: volume plugins, certificate signers, node IPAM. Instead, this
// package repeats the wiring of kube-controller-manager's app package. The tests in upstreamtest
// compare names, feature gates and configuration with it, and the test in
// scheduler/internal/upstream/contract fails when one of the repeated functions changes.
//
// The package neither chooses nor runs controllers. It may import Kubernetes only.
package kubecontrollers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/clientbuilder"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	kubectrlmgrconfig "k8s.io/kubernetes/pkg/controller/apis/config"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
)

// restMapperReset is how often the REST mapper forgets the kinds that it knows, as in
// kube-controller-manager.
const restMapperReset = 30 * time.Second

// Run runs a controller until its context ends. It returns when the controller has ended.
type Run = func(context.Context)

// Builder builds controllers that share their informers. It is used by one goroutine.
type Builder struct {
	clients       clientbuilder.SimpleControllerClientBuilder
	informers     informers.SharedInformerFactory
	metadata      metadatainformer.SharedInformerFactory
	restMapper    *restmapper.DeferredDiscoveryRESTMapper
	started       chan struct{}
	configuration kubectrlmgrconfig.KubeControllerManagerConfiguration
}

// New returns a Builder for the cluster of config. It does not start the informers: the caller
// starts them after Build, and then calls InformersStarted.
func New(config *rest.Config, typed informers.SharedInformerFactory, metadata metadatainformer.SharedInformerFactory) (*Builder, error) {
	configuration, err := Configuration()
	if err != nil {
		return nil, err
	}
	clients := clientbuilder.SimpleControllerClientBuilder{ClientConfig: config}
	discovery, err := clients.DiscoveryClient("controller-discovery")
	if err != nil {
		return nil, fmt.Errorf("make a discovery client: %w", err)
	}
	return &Builder{
		clients:       clients,
		informers:     typed,
		metadata:      metadata,
		restMapper:    restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discovery)),
		started:       make(chan struct{}),
		configuration: configuration,
	}, nil
}

// Build builds the named controllers, except those that feature gates disable, and returns the
// functions that run them. Every name must be one of Names. The context is that of the
// constructors; some start goroutines that end with it.
func (b *Builder) Build(ctx context.Context, wanted []string) ([]Run, error) {
	var runs []Run
	for _, name := range wanted {
		c, known := table[name]
		if !known {
			return nil, fmt.Errorf("%s: not a controller that is built here", name)
		}
		if !c.enabled() {
			continue
		}
		run, err := c.build(b, klog.NewContext(ctx, klog.LoggerWithName(klog.FromContext(ctx), name)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// ResetRESTMapper resets the REST mapper periodically, so that the controllers discover new
// kinds, until ctx ends.
func (b *Builder) ResetRESTMapper(ctx context.Context) {
	wait.UntilWithContext(ctx, func(context.Context) { b.restMapper.Reset() }, restMapperReset)
}

// InformersStarted unblocks the controllers that start informers themselves. It must be called
// once, after the informers that Build requested have been started.
func (b *Builder) InformersStarted() { close(b.started) }

func (c controller) enabled() bool {
	for _, gate := range c.gates {
		if !utilfeature.DefaultFeatureGate.Enabled(gate) {
			return false
		}
	}
	return true
}

// config returns the configuration of a client that introduces itself by name.
func (b *Builder) config(name string) (*rest.Config, error) {
	config, err := b.clients.Config(name)
	if err != nil {
		return nil, fmt.Errorf("configure the client of %s: %w", name, err)
	}
	return config, nil
}

func (b *Builder) client(name string) (kubernetes.Interface, error) {
	client, err := b.clients.Client(name)
	if err != nil {
		return nil, fmt.Errorf("make the client of %s: %w", name, err)
	}
	return client, nil
}

func (b *Builder) discovery(name string) (discovery.DiscoveryInterface, error) {
	client, err := b.clients.DiscoveryClient(name)
	if err != nil {
		return nil, fmt.Errorf("make the discovery client of %s: %w", name, err)
	}
	return client, nil
}

// objectsOrMetadata returns the informers of the controllers that work with all kinds: whole
// objects of built-in kinds, and the metadata of all others.
func (b *Builder) objectsOrMetadata() informerfactory.InformerFactory {
	return informerfactory.NewInformerFactory(b.informers, b.metadata)
}

// with returns a Run that passes the number of workers.
func with[N int | int32](workers N, run func(ctx context.Context, workers int)) Run {
	return func(ctx context.Context) { run(ctx, int(workers)) }
}

// together runs all functions at the same time.
func together(runs ...Run) Run {
	return func(ctx context.Context) {
		var running sync.WaitGroup
		for _, run := range runs {
			running.Go(func() { run(ctx) })
		}
		running.Wait()
	}
}

// graph returns the graph from which the garbage collector knows owners and dependents.
func (b *Builder) graph(ctx context.Context) (*garbagecollector.GraphBuilder, error) {
	config, err := b.config("metadata-informers")
	if err != nil {
		return nil, err
	}
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a metadata client: %w", err)
	}
	ignored := map[schema.GroupResource]struct{}{}
	for _, r := range b.configuration.GarbageCollectorController.GCIgnoredResources {
		ignored[schema.GroupResource{Group: r.Group, Resource: r.Resource}] = struct{}{}
	}
	return garbagecollector.NewDependencyGraphBuilder(ctx, client, b.restMapper, ignored, b.objectsOrMetadata(), b.started), nil
}
