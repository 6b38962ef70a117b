package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	storageinformers "k8s.io/client-go/informers/storage/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	storagehelpers "k8s.io/component-helpers/storage/volume"

	"kube-scheduler-simulator/scheduler/standin"
)

const provisionerWorkers = 2

// provisioner stands in for every external provisioner, whatever its name. When the persistent
// volume controller requests a volume, it creates one without storage. It expands the volume
// with its claim and deletes it when it is released.
type provisioner struct {
	client  kubernetes.Interface
	claims  coreinformers.PersistentVolumeClaimInformer
	volumes coreinformers.PersistentVolumeInformer
	nodes   coreinformers.NodeInformer
	classes storageinformers.StorageClassInformer

	provision *reconciler
	reclaim   *reconciler
	expand    *reconciler
}

func newProvisioner(
	client kubernetes.Interface,
	claims coreinformers.PersistentVolumeClaimInformer,
	volumes coreinformers.PersistentVolumeInformer,
	nodes coreinformers.NodeInformer,
	classes storageinformers.StorageClassInformer,
) (*provisioner, error) {
	p := &provisioner{client: client, claims: claims, volumes: volumes, nodes: nodes, classes: classes}
	p.provision = newReconciler("volume provisioning", provisionerWorkers, p.provisionClaim)
	p.reclaim = newReconciler("volume reclaim", provisionerWorkers, p.reclaimVolume)
	p.expand = newReconciler("volume expansion", provisionerWorkers, p.expandClaim)
	// Requesting the informers makes the factory start them.
	nodes.Informer()
	classes.Informer()
	return p, errors.Join(
		follow(p.provision, claims.Informer(), standin.WantsVolume),
		follow(p.reclaim, volumes.Informer(), isExternal),
		follow(p.expand, claims.Informer(), wantsExpansion),
	)
}

func (p *provisioner) run(ctx context.Context) {
	// If ctx ends first, the reconcilers end at once.
	cache.WaitForCacheSync(ctx.Done(),
		p.claims.Informer().HasSynced, p.volumes.Informer().HasSynced,
		p.nodes.Informer().HasSynced, p.classes.Informer().HasSynced)
	var running sync.WaitGroup
	running.Go(func() { p.provision.run(ctx) })
	running.Go(func() { p.reclaim.run(ctx) })
	running.Go(func() { p.expand.run(ctx) })
	running.Wait()
}

func (p *provisioner) provisionClaim(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	claim, err := p.claims.Lister().PersistentVolumeClaims(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil || !standin.WantsVolume(claim) {
		return err
	}
	class, err := p.classes.Lister().Get(storagehelpers.GetPersistentVolumeClaimClass(claim))
	if apierrors.IsNotFound(err) {
		return errNotYet
	}
	if err != nil {
		return err
	}
	node, err := p.selectedNode(claim, class)
	if err != nil {
		return err
	}
	_, err = p.client.CoreV1().PersistentVolumes().Create(ctx, standin.NewVolume(claim, class, node), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create volume: %w", err)
	}
	return nil
}

// selectedNode returns the node that the scheduler chose for the claim's first pod, or nil if
// the class does not wait for one. It returns errNotYet until the node is known.
func (p *provisioner) selectedNode(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) (*corev1.Node, error) {
	if class.VolumeBindingMode == nil || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer {
		return nil, nil
	}
	node, err := p.nodes.Lister().Get(claim.Annotations[storagehelpers.AnnSelectedNode])
	if apierrors.IsNotFound(err) {
		return nil, errNotYet
	}
	return node, err
}

// isExternal reports whether an external provisioner manages the volume: our own, or that of
// another cluster from which the volume was imported.
func isExternal(volume *corev1.PersistentVolume) bool {
	name := volume.Annotations[storagehelpers.AnnDynamicallyProvisioned]
	_, migrated := volume.Annotations[storagehelpers.AnnMigratedTo]
	return name != "" && (migrated || !strings.HasPrefix(name, standin.InTreePrefix))
}

// reclaimVolume deletes a released volume whose policy is Delete, and removes the finalizer
// from a volume that is being deleted.
func (p *provisioner) reclaimVolume(ctx context.Context, key string) error {
	volume, err := p.volumes.Lister().Get(key)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil || !isExternal(volume) || volume.Status.Phase == corev1.VolumeBound {
		return err
	}
	if volume.DeletionTimestamp != nil {
		err = p.removeFinalizer(ctx, volume)
	} else if volume.Status.Phase == corev1.VolumeReleased &&
		volume.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
		err = p.client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, *metav1.NewPreconditionDeleteOptions(string(volume.UID)))
	}
	// After a conflict, the volume's next event triggers another attempt.
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("reclaim volume: %w", err)
	}
	return nil
}

// removeFinalizer removes the finalizer that keeps a volume until its provisioner has deleted
// the storage. Only volumes from other clusters have it.
func (p *provisioner) removeFinalizer(ctx context.Context, volume *corev1.PersistentVolume) error {
	kept := slices.DeleteFunc(slices.Clone(volume.Finalizers), func(name string) bool {
		return name == storagehelpers.PVDeletionProtectionFinalizer
	})
	if len(kept) == len(volume.Finalizers) {
		return nil
	}
	volume = volume.DeepCopy()
	volume.Finalizers = kept
	_, err := p.client.CoreV1().PersistentVolumes().Update(ctx, volume, metav1.UpdateOptions{})
	return err
}
