package controlplane

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
	// neverSilent is how long a node may go without a heartbeat: for good, as
	// virtual nodes send none. Who makes one fail says so in its Ready condition.
	neverSilent = 10 * 365 * 24 * time.Hour
	// nodeMonitorPeriod is how often all nodes are looked at for those that fail. Each
	// look copies every node, which is most of what a large cluster at rest takes, so
	// it is not Kubernetes' 5 s, which come after 50 s without a heartbeat there. What
	// people do to a node shows at once in its conditions and its NoSchedule taint; the
	// NoExecute taint waits for this.
	nodeMonitorPeriod = 16 * time.Second
	// restMapperReset is how often kinds that have come or gone since are looked
	// up anew, as in kube-controller-manager.
	restMapperReset = 30 * time.Second
)

// ownControllers are those that are not made by kube-controller-manager's
// constructors: see the places where they are made for why.
var ownControllers = []string{
	externalProvisioner,
	names.NamespaceController,
	names.PersistentVolumeBinderController,
}

// kubeControllers makes controllers with the constructors of
// kube-controller-manager. Its Run is not for a process that does more: it
// registers what there can be only one of, serves HTTP, and starts one
// controller after another with pauses.
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
	// How fast pods leave failed nodes has its defaults on the flags only: without
	// them one node of each zone would be tainted, and no other ever.
	lifecycle := options.NodeLifecycleControllerOptions{NodeLifecycleControllerConfiguration: &component.NodeLifecycleController}
	lifecycle.AddFlags(pflag.NewFlagSet("node lifecycle", pflag.ContinueOnError))
	component.NodeLifecycleController.NodeMonitorGracePeriod.Duration = neverSilent
	component.NodeLifecycleController.NodeStartupGracePeriod.Duration = neverSilent
	component.NodeLifecycleController.NodeMonitorPeriod.Duration = nodeMonitorPeriod
	return component, nil
}

// build makes those of the named controllers that kube-controller-manager has
// and that feature gates allow, and returns what runs each until its context
// ends.
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

// buildGraph makes what the garbage collector knows owners and dependents from.
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

// resetRESTMapper makes the REST mapper learn of new kinds, until ctx ends.
func (k *kubeControllers) resetRESTMapper(ctx context.Context) {
	wait.UntilWithContext(ctx, func(context.Context) { k.context.RESTMapper.Reset() }, restMapperReset)
}

// informersStarted tells controllers that start informers by themselves that
// they may.
func (k *kubeControllers) informersStarted() { close(k.context.InformersStarted) }

// kubeNames are the chosen controllers that kube-controller-manager's
// constructors make.
func kubeNames(chosen map[string]bool) []string {
	return slices.DeleteFunc(AllControllers(), func(name string) bool {
		return !chosen[name] || slices.Contains(ownControllers, name)
	})
}
