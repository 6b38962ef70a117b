package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// podDeletionWorkers is enough to delete the victims of a large preemption in well under a
// second.
const podDeletionWorkers = 4

// podDeletion does the last step of a kubelet for a pod that is being deleted: it confirms that
// the pod has ended. Until then the API server keeps the pod, and the scheduler keeps its
// resources reserved.
//
// It confirms at once, whatever the grace period, because no container is running. With virtual
// nodes, they do this instead.
type podDeletion struct {
	*reconciler
	client kubernetes.Interface
	pods   coreinformers.PodInformer
}

func newPodDeletion(client kubernetes.Interface, pods coreinformers.PodInformer) (*podDeletion, error) {
	d := &podDeletion{client: client, pods: pods}
	d.reconciler = newReconciler("pod deletion", podDeletionWorkers, d.finish)
	return d, follow(d.reconciler, pods.Informer(), awaitsKubelet)
}

// awaitsKubelet reports whether the pod is being deleted and waits for its kubelet. The API
// server deletes a pod without a node at once. A pod with a grace period of zero waits for its
// finalizers only; if it has none, its deletion was interrupted between two writes and must be
// repeated.
func awaitsKubelet(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp == nil || pod.Spec.NodeName == "" || pod.DeletionGracePeriodSeconds == nil {
		return false
	}
	return *pod.DeletionGracePeriodSeconds > 0 || len(pod.Finalizers) == 0
}

func (d *podDeletion) finish(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	pod, err := d.pods.Lister().Pods(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil || !awaitsKubelet(pod) {
		return err
	}
	// The UID keeps a new pod of the same name from being deleted.
	options := metav1.NewPreconditionDeleteOptions(string(pod.UID))
	options.GracePeriodSeconds = new(int64)
	err = d.client.CoreV1().Pods(namespace).Delete(ctx, name, *options)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete pod: %w", err)
	}
	return nil
}
