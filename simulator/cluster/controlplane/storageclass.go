package controlplane

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// createDefaultClass makes a part of the start state. The provisioner creates its volumes.
func createDefaultClass(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	_, err = client.StorageV1().StorageClasses().Create(ctx, objects.NewDefaultStorageClass(), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create storage class %s: %w", objects.DefaultStorageClass, err)
	}
	return nil
}

// DropDefaultStorageClass deletes the default StorageClass that the cluster started with: in a copy
// of another cluster, claims must not get a class that they do not have there.
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
