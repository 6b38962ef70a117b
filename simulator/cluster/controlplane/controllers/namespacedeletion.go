package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/kubernetes/pkg/controller/namespace/deletion"
)

// namespaceDeletion empties namespaces that are being deleted, with the deleter of Kubernetes'
// namespace controller. That controller first waits five seconds for other API servers and etcd
// members; here there is one of each.
type namespaceDeletion struct {
	*reconciler
	client         kubernetes.Interface
	metadataClient metadata.Interface

	mu      sync.Mutex
	deleter deletion.NamespacedResourcesDeleterInterface
}

func newNamespaceDeletion(client kubernetes.Interface, metadataClient metadata.Interface, namespaces coreinformers.NamespaceInformer) (*namespaceDeletion, error) {
	d := &namespaceDeletion{client: client, metadataClient: metadataClient}
	d.reconciler = newReconciler("namespace deletion", 1, d.empty)
	return d, follow(d.reconciler, namespaces.Informer(), func(n *corev1.Namespace) bool {
		return n.DeletionTimestamp != nil
	})
}

func (d *namespaceDeletion) empty(ctx context.Context, name string) error {
	deleter, err := d.resourcesDeleter(ctx)
	if err != nil {
		return err
	}
	err = deleter.Delete(ctx, name)
	var remaining *deletion.ResourcesRemainingError
	if errors.As(err, &remaining) {
		return errNotYet
	}
	return err
}

// resourcesDeleter creates the deleter when it is first needed. Creating it reads the API
// server's whole discovery, which would slow down every start.
func (d *namespaceDeletion) resourcesDeleter(ctx context.Context) (deletion.NamespacedResourcesDeleterInterface, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.deleter != nil {
		return d.deleter, nil
	}
	// The deleter exits the process when its first discovery finds nothing, which happens
	// while the API server stops. So we make the first discovery here.
	discover := d.client.Discovery().ServerPreferredNamespacedResources
	first, err := discover()
	if len(first) == 0 {
		return nil, fmt.Errorf("discover resources: %w", err)
	}
	var once sync.Once
	d.deleter = deletion.NewNamespacedResourcesDeleter(
		ctx, d.client.CoreV1().Namespaces(), d.metadataClient, d.client.CoreV1(),
		func() (lists []*metav1.APIResourceList, err error) {
			once.Do(func() { lists = first })
			if lists != nil {
				return lists, nil
			}
			return discover()
		},
		corev1.FinalizerKubernetes)
	return d.deleter, nil
}
