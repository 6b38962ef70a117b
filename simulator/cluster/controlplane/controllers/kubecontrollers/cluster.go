package kubecontrollers

import (
	"context"
	"fmt"
	"time"

	apiextensionsscheme "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/scheme"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	kubecontroller "k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/controller/validatingadmissionpolicystatus"
	"k8s.io/kubernetes/pkg/generated/openapi"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"
)

const (
	// discoveryPeriod is how often the garbage collector and the quota controller look for
	// new kinds, as in kube-controller-manager.
	discoveryPeriod = 30 * time.Second
	// clusterRoleWorkers is not configurable in kube-controller-manager either.
	clusterRoleWorkers = 5
)

func (b *Builder) garbageCollector(ctx context.Context) (Run, error) {
	const name = "generic-garbage-collector"
	graph, err := b.graph(ctx)
	if err != nil {
		return nil, err
	}
	client, err := b.client(name)
	if err != nil {
		return nil, err
	}
	discovery, err := b.discovery(name)
	if err != nil {
		return nil, err
	}
	config, err := b.config(name)
	if err != nil {
		return nil, err
	}
	// Every deletion takes two requests.
	config.QPS *= 2
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a metadata client: %w", err)
	}
	c, err := garbagecollector.NewComposedGarbageCollector(ctx, client, metadataClient, b.restMapper, graph)
	if err != nil {
		return nil, err
	}
	workers := int(b.configuration.GarbageCollectorController.ConcurrentGCSyncs)
	return together(
		func(ctx context.Context) { c.Run(ctx, workers, discoveryPeriod) },
		func(ctx context.Context) { c.Sync(ctx, discovery, discoveryPeriod) },
	), nil
}

func (b *Builder) resourceQuota(ctx context.Context) (Run, error) {
	const name = "resourcequota-controller"
	client, err := b.client(name)
	if err != nil {
		return nil, err
	}
	discovery, err := b.discovery(name)
	if err != nil {
		return nil, err
	}
	quota, err := quotainstall.NewQuotaConfigurationForControllers(generic.ListerFuncForResourceFunc(b.informers.ForResource), b.informers)
	if err != nil {
		return nil, err
	}
	configuration := b.configuration.ResourceQuotaController
	c, err := resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
		QuotaClient:               client.CoreV1(),
		ResourceQuotaInformer:     b.informers.Core().V1().ResourceQuotas(),
		ResyncPeriod:              kubecontroller.StaticResyncPeriodFunc(configuration.ResourceQuotaSyncPeriod.Duration),
		InformerFactory:           b.objectsOrMetadata(),
		ReplenishmentResyncPeriod: kubecontroller.NoResyncPeriodFunc,
		DiscoveryFunc:             discovery.ServerPreferredNamespacedResources,
		IgnoredResourcesFunc:      quota.IgnoredResources,
		InformersStarted:          b.started,
		Registry:                  generic.NewRegistry(quota.Evaluators()),
		UpdateFilter:              quotainstall.DefaultUpdateFilter(),
	})
	if err != nil {
		return nil, err
	}
	return together(
		with(configuration.ConcurrentResourceQuotaSyncs, c.Run),
		func(ctx context.Context) { c.Sync(ctx, discovery.ServerPreferredNamespacedResources, discoveryPeriod) },
	), nil
}

func (b *Builder) serviceAccount(ctx context.Context) (Run, error) {
	client, err := b.client("service-account-controller")
	if err != nil {
		return nil, err
	}
	core := b.informers.Core().V1()
	c, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), core.ServiceAccounts(), core.Namespaces(), client,
		serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return nil, err
	}
	return with(1, c.Run), nil
}

func (b *Builder) clusterRoleAggregation(context.Context) (Run, error) {
	client, err := b.client("clusterrole-aggregation-controller")
	if err != nil {
		return nil, err
	}
	c := clusterroleaggregation.NewClusterRoleAggregation(b.informers.Rbac().V1().ClusterRoles(), client.RbacV1())
	return with(clusterRoleWorkers, c.Run), nil
}

func (b *Builder) validatingAdmissionPolicyStatus(context.Context) (Run, error) {
	const name = names.ValidatingAdmissionPolicyStatusController
	client, err := b.client(name)
	if err != nil {
		return nil, err
	}
	discovery, err := b.discovery(name)
	if err != nil {
		return nil, err
	}
	c, err := validatingadmissionpolicystatus.NewController(
		b.informers.Admissionregistration().V1().ValidatingAdmissionPolicies(),
		client.AdmissionregistrationV1().ValidatingAdmissionPolicies(),
		&validating.TypeChecker{
			// The schemas of built-in kinds are compiled in; those of others are discovered.
			SchemaResolver: resolver.NewDefinitionsSchemaResolver(openapi.GetOpenAPIDefinitions, scheme.Scheme, apiextensionsscheme.Scheme).
				Combine(&resolver.ClientDiscoveryResolver{Discovery: discovery}),
			RestMapper: b.restMapper,
		})
	if err != nil {
		return nil, err
	}
	return with(b.configuration.ValidatingAdmissionPolicyStatusController.ConcurrentPolicySyncs, c.Run), nil
}
