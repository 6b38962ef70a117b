package controlplane

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/scheduling/podgroupprotection"
	"k8s.io/kubernetes/pkg/controller/volume/persistentvolume"
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"
	"k8s.io/kubernetes/pkg/controller/volume/pvprotection"
	"k8s.io/kubernetes/pkg/features"
)

// volumeSyncPeriod is how long a claim may wait for a volume that was created
// after it. kube-controller-manager takes 15 seconds, for clusters with many.
const volumeSyncPeriod = 2 * time.Second

// controllers are the loops without which objects that scheduling waits for
// would not move: claims that bind, and deletions that finish.
type controllers struct {
	cancel    context.CancelFunc
	informers informers.SharedInformerFactory
	running   sync.WaitGroup
}

// startControllers returns at once; the controllers wait for their informers by
// themselves.
func startControllers(config *rest.Config) (*controllers, error) {
	client, err := kubernetes.NewForConfig(userAgent(config, "simulator-controllers"))
	if err != nil {
		return nil, err
	}
	metadataClient, err := metadata.NewForConfig(userAgent(config, "simulator-namespace-deletion"))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &controllers{
		cancel:    cancel,
		informers: informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(trim)),
	}
	runs, err := c.build(ctx, client, metadataClient)
	if err != nil {
		cancel()
		return nil, err
	}
	c.informers.StartWithContext(ctx)
	for _, run := range runs {
		c.running.Go(func() { run(ctx) })
	}
	return c, nil
}

// build makes every controller and returns what runs each of them until its
// context ends.
func (c *controllers) build(ctx context.Context, client kubernetes.Interface, metadataClient metadata.Interface) ([]func(context.Context), error) {
	volumes, err := c.buildVolumes(ctx, client)
	if err != nil {
		return nil, err
	}
	protection, err := c.buildProtection(ctx, client)
	if err != nil {
		return nil, err
	}
	core := c.informers.Core().V1()
	podDeletion, err := newPodDeletion(client, core.Pods())
	if err != nil {
		return nil, fmt.Errorf("pod deletion: %w", err)
	}
	namespaceDeletion, err := newNamespaceDeletion(client, metadataClient, core.Namespaces())
	if err != nil {
		return nil, fmt.Errorf("namespace deletion: %w", err)
	}
	return slices.Concat(volumes, protection, []func(context.Context){podDeletion.run, namespaceDeletion.run}), nil
}

func (c *controllers) buildVolumes(ctx context.Context, client kubernetes.Interface) ([]func(context.Context), error) {
	core := c.informers.Core().V1()
	classes := c.informers.Storage().V1().StorageClasses()
	binding, err := persistentvolume.NewController(ctx, persistentvolume.ControllerParameters{
		KubeClient: client,
		SyncPeriod: volumeSyncPeriod,
		// No plugins: those of the tree would touch this machine's disk. What
		// they would provision or delete is left to the provisioner.
		VolumePlugins:             nil,
		VolumeInformer:            core.PersistentVolumes(),
		ClaimInformer:             core.PersistentVolumeClaims(),
		ClassInformer:             classes,
		PodInformer:               core.Pods(),
		NodeInformer:              core.Nodes(),
		EnableDynamicProvisioning: true,
	})
	if err != nil {
		return nil, fmt.Errorf("persistent volume controller: %w", err)
	}
	provisioner, err := newProvisioner(client, core.PersistentVolumeClaims(), core.PersistentVolumes(), core.Nodes(), classes)
	if err != nil {
		return nil, fmt.Errorf("provisioner: %w", err)
	}
	return []func(context.Context){binding.Run, provisioner.run}, nil
}

// buildProtection makes the controllers that remove the finalizers which
// admission sets on volumes, claims and pod groups.
func (c *controllers) buildProtection(ctx context.Context, client kubernetes.Interface) ([]func(context.Context), error) {
	logger := klog.FromContext(ctx)
	core := c.informers.Core().V1()
	claims, err := pvcprotection.NewPVCProtectionController(logger, core.PersistentVolumeClaims(), core.Pods(), client)
	if err != nil {
		return nil, fmt.Errorf("claim protection controller: %w", err)
	}
	volumes, err := pvprotection.NewPVProtectionController(logger, core.PersistentVolumes(), client)
	if err != nil {
		return nil, fmt.Errorf("volume protection controller: %w", err)
	}
	runs := []func(context.Context){
		func(ctx context.Context) { claims.Run(ctx, 1) },
		func(ctx context.Context) { volumes.Run(ctx, 1) },
	}
	if !utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload) {
		return runs, nil
	}
	groups, err := podgroupprotection.NewPodGroupProtectionController(
		logger, c.informers.Scheduling().V1beta1().PodGroups(), core.Pods(), client)
	if err != nil {
		return nil, fmt.Errorf("pod group protection controller: %w", err)
	}
	return append(runs, func(ctx context.Context) { groups.Run(ctx, 1) }), nil
}

func (c *controllers) stop(ctx context.Context) error {
	c.cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.running.Wait()
		c.informers.Shutdown()
	}()
	return waitUntil(ctx, ended, "controllers")
}

// trim drops from what the informers keep what no controller here reads, and
// what may be large: managed fields, and a pod's annotations, in which whole
// scheduling results are written. Nothing here updates a whole pod.
func trim(obj any) (any, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		// A tombstone: its object has been trimmed before.
		return obj, nil
	}
	accessor.SetManagedFields(nil)
	if pod, ok := obj.(*corev1.Pod); ok {
		pod.Annotations = nil
	}
	return obj, nil
}

func userAgent(config *rest.Config, name string) *rest.Config {
	config = rest.CopyConfig(config)
	config.UserAgent = name
	return config
}
