// Package controllers runs the controllers that make a cluster out of an API server: those of
// kube-controller-manager, which kubecontrollers builds, and stand-ins for storage provisioners
// and kubelets where the simulator needs less than the real ones do.
//
// Controllers of custom kinds, which belong to scheduler plugins, run while the cluster has the
// definition of the kind.
//
// It makes no scheduling decisions and simulates no nodes. It may import Kubernetes,
// kubecontrollers, simulator/cluster/objects, and of scheduler/ only what reads custom kinds: the package
// customresource and the API types of plugins.
package controllers

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	"k8s.io/kubernetes/pkg/controller/volume/persistentvolume"

	"kube-scheduler-simulator/scheduler/customresource"
	quotas "kube-scheduler-simulator/scheduler/plugins/capacityscheduling/v1alpha1"
	groups "kube-scheduler-simulator/scheduler/plugins/coscheduling/v1alpha1"
	"kube-scheduler-simulator/scheduler/sharedpods"
	"kube-scheduler-simulator/simulator/cluster/controlplane/controllers/kubecontrollers"
)

// volumeSyncPeriod is how long a claim may wait for a volume that was created after it.
// kube-controller-manager waits 15 seconds, for the sake of large clusters.
const volumeSyncPeriod = 2 * time.Second

// Controllers start once and stop once.
type Controllers struct {
	config       *rest.Config
	chosen       Chosen
	virtualNodes bool
	sharedPods   *sharedpods.Pool

	cancel    context.CancelFunc
	informers *sharedInformers
	running   sync.WaitGroup
}

// New returns controllers that have not started. virtualNodes says that another component
// does the work of kubelets, so that pods on nodes are not deleted here. The controllers' pod informer uses
// sharedPods, which may be nil.
func New(config *rest.Config, chosen Chosen, virtualNodes bool, sharedPods *sharedpods.Pool) *Controllers {
	return &Controllers{config: config, chosen: chosen, virtualNodes: virtualNodes, sharedPods: sharedPods}
}

// Start builds the controllers and runs them. They wait for their informers themselves. All are
// built before any informer runs: their constructors add handlers and indexes, and are not
// ready for events yet.
func (c *Controllers) Start() error {
	var err error
	if c.informers, err = newSharedInformers(c.config, c.sharedPods); err != nil {
		return err
	}
	kube, err := kubecontrollers.New(c.config, c.informers.typed, c.informers.metadata)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	own, err := c.buildOwn(ctx)
	if err != nil {
		cancel()
		return err
	}
	runs, err := kube.Build(ctx, kubeNames(c.chosen))
	if err != nil {
		cancel()
		return err
	}
	c.run(ctx, slices.Concat(own, runs, []func(context.Context){kube.ResetRESTMapper}))
	kube.InformersStarted()
	return nil
}

// Informers returns the informers that the controllers share; nil before Start. They end in
// Stop.
func (c *Controllers) Informers() informers.SharedInformerFactory {
	if c.informers == nil {
		return nil
	}
	return c.informers.typed
}

// run starts the informers that the controllers requested, and then the
// controllers.
func (c *Controllers) run(ctx context.Context, runs []func(context.Context)) {
	c.informers.start(ctx)
	for _, run := range runs {
		c.running.Go(func() { run(ctx) })
	}
}

// buildOwn builds the chosen controllers that kubecontrollers does not build.
func (c *Controllers) buildOwn(ctx context.Context) ([]func(context.Context), error) {
	client, err := kubernetes.NewForConfig(userAgent(c.config, "simulator-controllers"))
	if err != nil {
		return nil, err
	}
	builders := []struct {
		on    bool
		name  string
		build func() (func(context.Context), error)
	}{
		{c.chosen[names.PersistentVolumeBinderController], "persistent volume controller", func() (func(context.Context), error) {
			return c.buildBinding(ctx, client)
		}},
		{c.chosen[externalProvisioner], "provisioner", func() (func(context.Context), error) { return c.buildProvisioner(client) }},
		{c.chosen[names.NamespaceController], "namespace deletion", func() (func(context.Context), error) { return c.buildNamespaceDeletion(client) }},
		{c.chosen[coschedulingPodGroups], "pod groups", func() (func(context.Context), error) {
			return c.buildCustom("simulator-pod-groups", groups.PodGroups, func(client dynamic.Interface) (func(context.Context), error) {
				groups, err := newPodGroups(client, c.informers.typed.Core().V1().Pods())
				return groups.control, err
			})
		}},
		{c.chosen[elasticQuotaStatus], "elastic quotas", func() (func(context.Context), error) {
			return c.buildCustom("simulator-elastic-quotas", quotas.ElasticQuotas, func(client dynamic.Interface) (func(context.Context), error) {
				return (&elasticQuotas{client.Resource(quotas.ElasticQuotas), c.informers.typed.Core().V1().Pods()}).control, nil
			})
		}},
		{!c.virtualNodes, "pod deletion", func() (func(context.Context), error) {
			deletion, err := newPodDeletion(client, c.informers.typed.Core().V1().Pods())
			return deletion.run, err
		}},
	}
	var runs []func(context.Context)
	for _, b := range builders {
		if !b.on {
			continue
		}
		run, err := b.build()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.name, err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}

func (c *Controllers) buildBinding(ctx context.Context, client kubernetes.Interface) (func(context.Context), error) {
	core := c.informers.typed.Core().V1()
	binding, err := persistentvolume.NewController(ctx, persistentvolume.ControllerParameters{
		KubeClient: client,
		SyncPeriod: volumeSyncPeriod,
		// No plugins: those of kube-controller-manager access this machine's disk.
		// The provisioner does their work.
		VolumePlugins:             nil,
		VolumeInformer:            core.PersistentVolumes(),
		ClaimInformer:             core.PersistentVolumeClaims(),
		ClassInformer:             c.informers.typed.Storage().V1().StorageClasses(),
		PodInformer:               core.Pods(),
		NodeInformer:              core.Nodes(),
		EnableDynamicProvisioning: true,
	})
	if err != nil {
		return nil, err
	}
	return binding.Run, nil
}

func (c *Controllers) buildProvisioner(client kubernetes.Interface) (func(context.Context), error) {
	core := c.informers.typed.Core().V1()
	provisioner, err := newProvisioner(client, core.PersistentVolumeClaims(), core.PersistentVolumes(), core.Nodes(),
		c.informers.typed.Storage().V1().StorageClasses())
	if err != nil {
		return nil, err
	}
	return provisioner.run, nil
}

func (c *Controllers) buildNamespaceDeletion(client kubernetes.Interface) (func(context.Context), error) {
	metadataClient, err := metadata.NewForConfig(userAgent(c.config, "simulator-namespace-deletion"))
	if err != nil {
		return nil, err
	}
	deletion, err := newNamespaceDeletion(client, metadataClient, c.informers.typed.Core().V1().Namespaces())
	if err != nil {
		return nil, err
	}
	return deletion.run, nil
}

// buildCustom builds the controller of a custom kind.
func (c *Controllers) buildCustom(agent string, kind schema.GroupVersionResource, build func(dynamic.Interface) (control func(context.Context), err error)) (func(context.Context), error) {
	client, err := customresource.NewClient(userAgent(c.config, agent))
	if err != nil {
		return nil, err
	}
	control, err := build(client)
	if err != nil {
		return nil, err
	}
	custom, err := newCustomKind(c.informers.metadata.ForResource(definitionResource).Informer(), kind, control)
	if err != nil {
		return nil, err
	}
	return custom.run, nil
}

// Stop returns when all controllers have ended. It does nothing when they have not started.
func (c *Controllers) Stop(ctx context.Context) error {
	if c.cancel == nil {
		return nil
	}
	c.cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.running.Wait()
		c.informers.shutdown()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop controllers: %w", context.Cause(ctx))
	}
}

func userAgent(config *rest.Config, name string) *rest.Config {
	config = rest.CopyConfig(config)
	config.UserAgent = name
	return config
}
