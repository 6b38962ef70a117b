package controllers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	controllersmetrics "k8s.io/component-base/metrics/prometheus/controllers"
	"k8s.io/controller-manager/pkg/clientbuilder"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	kubectrlmgrconfig "k8s.io/kubernetes/pkg/controller/apis/config"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
)

const (
	// neverSilent is how long a node may go without a heartbeat. Virtual nodes send none, so
	// it is practically forever. To make a node fail, users change its Ready condition.
	neverSilent = 10 * 365 * 24 * time.Hour
	// nodeMonitorPeriod is how often the node lifecycle controller checks all nodes. Each
	// check copies every node, which is most of the work of a large cluster at rest, so it
	// is longer than Kubernetes' 5 s. Changes that users make to a node show at once in its
	// conditions and its NoSchedule taint; only the NoExecute taint waits for the check.
	nodeMonitorPeriod = 16 * time.Second
	// restMapperReset is how often the REST mapper forgets the kinds that it knows, as in
	// kube-controller-manager.
	restMapperReset = 30 * time.Second
)

// ownControllers are the controllers that are not built by kube-controller-manager's
// constructors. buildOwn builds them and says why.
var ownControllers = []string{
	externalProvisioner,
	names.NamespaceController,
	names.PersistentVolumeBinderController,
}

// kubeControllers builds controllers with the constructors of kube-controller-manager.
// kube-controller-manager's own Run does not suit a process that runs other components:
// it registers process-wide singletons, serves HTTP, and pauses between the starts of
// controllers.
type kubeControllers struct {
	descriptors map[string]*app.ControllerDescriptor
	context     app.ControllerContext
}

func newKubeControllers(config *rest.Config, shared *sharedInformers) (*kubeControllers, error) {
	component, err := componentConfig()
	if err != nil {
		return nil, err
	}
	clients := clientbuilder.SimpleControllerClientBuilder{ClientConfig: config}
	discovery, err := clients.DiscoveryClient("controller-discovery")
	if err != nil {
		return nil, err
	}
	return &kubeControllers{
		descriptors: app.NewControllerDescriptors(),
		context: app.ControllerContext{
			ClientBuilder:                   clients,
			InformerFactory:                 shared.typed,
			ObjectOrMetadataInformerFactory: informerfactory.NewInformerFactory(shared.typed, shared.metadata),
			ComponentConfig:                 component,
			RESTMapper:                      restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discovery)),
			InformersStarted:                make(chan struct{}),
			ResyncPeriod:                    func() time.Duration { return 0 },
			ControllerManagerMetrics:        controllersmetrics.NewControllerManagerMetrics("kube-controller-manager"),
		},
	}, nil
}

func componentConfig() (kubectrlmgrconfig.KubeControllerManagerConfiguration, error) {
	component, err := options.NewDefaultComponentConfig()
	if err != nil {
		return component, fmt.Errorf("default configuration of the controllers: %w", err)
	}
	// Only the flags have defaults for the eviction rates. Without them, the controller would
	// taint one node of each zone and then no other.
	lifecycle := options.NodeLifecycleControllerOptions{NodeLifecycleControllerConfiguration: &component.NodeLifecycleController}
	lifecycle.AddFlags(pflag.NewFlagSet("node lifecycle", pflag.ContinueOnError))
	component.NodeLifecycleController.NodeMonitorGracePeriod.Duration = neverSilent
	component.NodeLifecycleController.NodeStartupGracePeriod.Duration = neverSilent
	component.NodeLifecycleController.NodeMonitorPeriod.Duration = nodeMonitorPeriod
	return component, nil
}

// build builds the named controllers that the feature gates allow, and returns the functions
// that run them until their context ends.
func (k *kubeControllers) build(ctx context.Context, wanted []string) ([]func(context.Context), error) {
	var runs []func(context.Context)
	for _, name := range wanted {
		if name == names.GarbageCollectorController {
			if err := k.buildGraph(ctx); err != nil {
				return runs, err
			}
		}
		controller, err := k.descriptors[name].BuildController(ctx, k.context)
		if err != nil {
			return runs, fmt.Errorf("%s: %w", name, err)
		}
		if controller != nil {
			runs = append(runs, controller.Run)
		}
	}
	return runs, nil
}

// buildGraph creates the graph from which the garbage collector knows owners and
// dependents.
func (k *kubeControllers) buildGraph(ctx context.Context) error {
	config, err := k.context.NewClientConfig("metadata-informers")
	if err != nil {
		return err
	}
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	ignored := map[schema.GroupResource]struct{}{}
	for _, r := range k.context.ComponentConfig.GarbageCollectorController.GCIgnoredResources {
		ignored[schema.GroupResource{Group: r.Group, Resource: r.Resource}] = struct{}{}
	}
	k.context.GraphBuilder = garbagecollector.NewDependencyGraphBuilder(
		ctx, client, k.context.RESTMapper, ignored, k.context.ObjectOrMetadataInformerFactory, k.context.InformersStarted)
	return nil
}

// resetRESTMapper resets the REST mapper periodically, so that it discovers new
// kinds, until ctx ends.
func (k *kubeControllers) resetRESTMapper(ctx context.Context) {
	wait.UntilWithContext(ctx, func(context.Context) { k.context.RESTMapper.Reset() }, restMapperReset)
}

// informersStarted unblocks the controllers that start informers themselves.
func (k *kubeControllers) informersStarted() { close(k.context.InformersStarted) }

// kubeNames are the chosen controllers that kube-controller-manager's constructors build.
func kubeNames(chosen Chosen) []string {
	return slices.DeleteFunc(All(), func(name string) bool {
		return !chosen[name] || slices.Contains(ownControllers, name)
	})
}
