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

	"kube-scheduler-simulator/simulator/controlplane/controllers"
)

// defaultClass is the name of the default class in several local clusters, so that manifests
// made for them work here.
const defaultClass = "standard"

// createDefaultClass creates the default StorageClass. It is part of the start state, so a
// reset restores it if it was deleted. The provisioner creates its volumes.
func createDefaultClass(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	class := &storagev1.StorageClass{
		ObjectMeta:           metav1.ObjectMeta{Name: defaultClass, Annotations: map[string]string{util.IsDefaultStorageClassAnnotation: "true"}},
		Provisioner:          controllers.FallbackDriver,
		ReclaimPolicy:        ptr.To(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode:    ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
		AllowVolumeExpansion: ptr.To(true),
	}
	_, err = client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create storage class %s: %w", defaultClass, err)
	}
	return nil
}

// DropDefaultStorageClass deletes the initial default StorageClass, if it exists. In a copy of
// another cluster, claims without a class must not get a class that they did not get there.
func (c *ControlPlane) DropDefaultStorageClass(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(c.ClientConfig())
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	classes := client.StorageV1().StorageClasses()
	class, err := classes.Get(ctx, defaultClass, metav1.GetOptions{})
	if err == nil && class.Provisioner == controllers.FallbackDriver {
		err = classes.Delete(ctx, defaultClass, *metav1.NewPreconditionDeleteOptions(string(class.UID)))
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete storage class %s: %w", defaultClass, err)
	}
	return nil
}
