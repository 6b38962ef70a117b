package controlplane

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

// podDeletionWorkers is enough for the victims of a large preemption to go in
// well under a second.
const podDeletionWorkers = 4

// podDeletion does for a pod on a node what its kubelet would do last: confirm
// that it has ended. Until then the API server keeps the pod, and the
// scheduler, which preempts by deleting, keeps its room reserved.
//
// It confirms at once, whatever the grace period, as no container runs that
// could use it. Where there are virtual nodes, they do this.
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

// awaitsKubelet reports whether the pod is being deleted and its node has the
// next word. A pod without a node goes at once. One whose grace period has been set
// to zero waits for finalizers only; without any, its deletion was cut off between
// two writes, and it needs another.
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
