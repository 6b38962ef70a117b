package controlplane

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/volume/util"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/objects"
)

// createDefaultClass creates the default StorageClass, which is part of the start
// state: a reset restores it if it was deleted. The provisioner creates its
// volumes.
func createDefaultClass(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	class := &storagev1.StorageClass{
		ObjectMeta:           metav1.ObjectMeta{Name: objects.DefaultStorageClass, Annotations: map[string]string{util.IsDefaultStorageClassAnnotation: "true"}},
		Provisioner:          objects.DefaultProvisioner,
		ReclaimPolicy:        ptr.To(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode:    ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
		AllowVolumeExpansion: ptr.To(true),
	}
	_, err = client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create storage class %s: %w", objects.DefaultStorageClass, err)
	}
	return nil
}

// DropDefaultStorageClass deletes the default StorageClass that the cluster started
// with, if it exists: in a copy of another cluster, claims without a class must not
// get a class that they do not have there.
func (c *ControlPlane) DropDefaultStorageClass(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(c.ClientConfig())
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	classes := client.StorageV1().StorageClasses()
	class, err := classes.Get(ctx, objects.DefaultStorageClass, metav1.GetOptions{})
	if err == nil && class.Provisioner == objects.DefaultProvisioner {
		err = classes.Delete(ctx, objects.DefaultStorageClass, *metav1.NewPreconditionDeleteOptions(string(class.UID)))
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete storage class %s: %w", objects.DefaultStorageClass, err)
	}
	return nil
}
