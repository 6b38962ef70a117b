package virtualnode

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"
)

// nodeWorkers suffices for a new node to be Ready within milliseconds while
// thousands are created.
const nodeWorkers = 4

type nodes struct {
	client   kubernetes.Interface
	informer coreinformers.NodeInformer
	player   *player
	failures *failures
}

var _ target = (*nodes)(nil)

func newNodes(client kubernetes.Interface, informer coreinformers.NodeInformer, stages lifecycle.Lifecycle, recorder record.EventRecorder) *nodes {
	n := &nodes{client: client, informer: informer, failures: newFailures(client, informer, recorder)}
	n.player = newPlayer("Node", nodeWorkers, n, stages, nodeTemplateFunctions(), recorder)
	return n
}

func (n *nodes) run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { n.player.run(ctx) })
	running.Go(func() { n.failures.run(ctx) })
	running.Wait()
}

func (n *nodes) watch() (func(), []cache.InformerSynced, error) {
	add := func(obj any) {
		node, ok := obj.(*corev1.Node)
		if !ok {
			return
		}
		n.player.queue.Add(node.Name)
		if n.failures.concern(node) {
			n.failures.queue.Add(node.Name)
		}
	}
	handler, err := n.informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, obj any) { add(obj) },
		DeleteFunc: func(obj any) { add(withoutTombstone(obj)) },
	})
	if err != nil {
		return nil, nil, fmt.Errorf("watch nodes: %w", err)
	}
	unwatch := func() {
		// It is registered, so this cannot fail.
		_ = n.informer.Informer().RemoveEventHandler(handler)
	}
	return unwatch, []cache.InformerSynced{handler.HasSynced}, nil
}

func (n *nodes) get(name string) (object, error) {
	node, err := n.informer.Lister().Get(name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil || readyCondition(node) == nil && n.failures.waits(node) {
		return nil, err
	}
	return node, nil
}

func (n *nodes) retry(name string) {
	n.failures.queue.Add(name)
	n.player.queue.Add(name)
}

func (n *nodes) latest(object) time.Time { return time.Time{} }

func (n *nodes) patch(ctx context.Context, o object, kind types.PatchType, data []byte, subresources ...string) (object, error) {
	changed, err := n.client.CoreV1().Nodes().Patch(ctx, o.GetName(), kind, data, metav1.PatchOptions{}, subresources...)
	if err != nil {
		return nil, err
	}
	return changed, nil
}

func (n *nodes) remove(ctx context.Context, o object) error {
	return n.client.CoreV1().Nodes().Delete(ctx, o.GetName(), *metav1.NewPreconditionDeleteOptions(string(o.GetUID())))
}

func readyCondition(node *corev1.Node) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == corev1.NodeReady {
			return &node.Status.Conditions[i]
		}
	}
	return nil
}

func isUnreachable(node *corev1.Node) bool {
	ready := readyCondition(node)
	return ready != nil && ready.Status == corev1.ConditionUnknown
}
