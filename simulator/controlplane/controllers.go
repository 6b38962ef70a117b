package controlplane

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	"k8s.io/kubernetes/pkg/controller/volume/persistentvolume"
)

// volumeSyncPeriod is how long a claim may wait for a volume that was created
// after it. kube-controller-manager takes 15 seconds, for clusters with many.
const volumeSyncPeriod = 2 * time.Second

// controllers are the loops that make a cluster out of an API server.
type controllers struct {
	config *rest.Config
	chosen map[string]bool
	// virtualNodes: somebody else does what kubelets do.
	virtualNodes bool

	cancel    context.CancelFunc
	informers *sharedInformers
	running   sync.WaitGroup
}

// start makes the controllers and lets them run. They wait for their informers by
// themselves. All are made before any informer runs: their constructors add
// handlers and indexes, and are not ready for what a running informer would send.
func (c *controllers) start() error {
	var err error
	if c.informers, err = newSharedInformers(c.config); err != nil {
		return err
	}
	kube, err := newKubeControllers(c.config, c.informers)
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
	runs, err := kube.build(ctx, kubeNames(c.chosen))
	if err != nil {
		cancel()
		return err
	}
	c.run(ctx, slices.Concat(own, runs, []func(context.Context){kube.resetRESTMapper}))
	kube.informersStarted()
	return nil
}

// run starts the informers that the controllers have asked for, and then the
// controllers.
func (c *controllers) run(ctx context.Context, runs []func(context.Context)) {
	c.informers.start(ctx)
	for _, run := range runs {
		c.running.Go(func() { run(ctx) })
	}
}

// buildOwn makes the chosen controllers that are not kube-controller-manager's.
func (c *controllers) buildOwn(ctx context.Context) ([]func(context.Context), error) {
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

func (c *controllers) buildBinding(ctx context.Context, client kubernetes.Interface) (func(context.Context), error) {
	core := c.informers.typed.Core().V1()
	binding, err := persistentvolume.NewController(ctx, persistentvolume.ControllerParameters{
		KubeClient: client,
		SyncPeriod: volumeSyncPeriod,
		// No plugins: those that kube-controller-manager would give it touch
		// this machine's disk. What they would provision or delete is left to
		// the provisioner.
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

func (c *controllers) buildProvisioner(client kubernetes.Interface) (func(context.Context), error) {
	core := c.informers.typed.Core().V1()
	provisioner, err := newProvisioner(client, core.PersistentVolumeClaims(), core.PersistentVolumes(), core.Nodes(),
		c.informers.typed.Storage().V1().StorageClasses())
	if err != nil {
		return nil, err
	}
	return provisioner.run, nil
}

func (c *controllers) buildNamespaceDeletion(client kubernetes.Interface) (func(context.Context), error) {
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

// stop returns when all have ended. It does nothing when none has started.
func (c *controllers) stop(ctx context.Context) error {
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
	return waitUntil(ctx, ended, "controllers")
}

func userAgent(config *rest.Config, name string) *rest.Config {
	config = rest.CopyConfig(config)
	config.UserAgent = name
	return config
}
