package virtualnode

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"
)

const (
	// podWorkers is few: running pods is not to take from the scheduler what it
	// needs of the API server.
	podWorkers = 2
	// byNode indexes pods by the node that they are on. Others may have an index
	// of the same in the informer that is shared, by a name of their own.
	byNode = "virtualnode.spec.nodeName"
)

// pods are those that are on a node.
type pods struct {
	client   kubernetes.Interface
	informer coreinformers.PodInformer
	nodes    coreinformers.NodeInformer
	player   *player
}

var _ target = (*pods)(nil)

func newPods(client kubernetes.Interface, core coreinformers.Interface, stages lifecycle.Lifecycle, recorder record.EventRecorder) (*pods, error) {
	p := &pods{client: client, informer: core.Pods(), nodes: core.Nodes()}
	p.player = newPlayer("Pod", podWorkers, p, stages, podFunctions(time.Now), recorder)
	err := p.informer.Informer().AddIndexers(cache.Indexers{byNode: func(obj any) ([]string, error) {
		pod, ok := obj.(*corev1.Pod)
		if !ok || pod.Spec.NodeName == "" {
			return nil, nil
		}
		return []string{pod.Spec.NodeName}, nil
	}})
	if err != nil {
		return nil, fmt.Errorf("index pods by node: %w", err)
	}
	return p, nil
}

func (p *pods) run(ctx context.Context) { p.player.run(ctx) }

func (p *pods) watch() (func(), []cache.InformerSynced, error) {
	add := func(obj any) {
		if pod, ok := obj.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
			p.player.queue.Add(keyOf(pod))
		}
	}
	onPods, err := p.informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, obj any) { add(obj) },
		DeleteFunc: func(obj any) { add(withoutTombstone(obj)) },
	})
	if err != nil {
		return nil, nil, fmt.Errorf("watch pods: %w", err)
	}
	onNodes, err := p.nodes.Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, _ bool) { p.resume(obj) },
		UpdateFunc: func(before, after any) {
			if isUnreachable(before.(*corev1.Node)) {
				p.resume(after)
			}
		},
	})
	unwatch := func() {
		// Both have been added to these informers, so neither can fail.
		_ = p.informer.Informer().RemoveEventHandler(onPods)
		if onNodes != nil {
			_ = p.nodes.Informer().RemoveEventHandler(onNodes)
		}
	}
	if err != nil {
		unwatch()
		return nil, nil, fmt.Errorf("watch nodes: %w", err)
	}
	return unwatch, []cache.InformerSynced{onPods.HasSynced, onNodes.HasSynced}, nil
}

// resume plays the pods of a node that is there, or there again.
func (p *pods) resume(obj any) {
	node, ok := obj.(*corev1.Node)
	if !ok || isUnreachable(node) {
		return
	}
	onIt, err := p.informer.Informer().GetIndexer().IndexKeys(byNode, node.Name)
	if err != nil {
		return // the index is there since newPods
	}
	for _, key := range onIt {
		p.player.queue.Add(key)
	}
}

func (p *pods) get(key string) (object, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil, err
	}
	pod, err := p.informer.Lister().Pods(namespace).Get(name)
	if apierrors.IsNotFound(err) || (err == nil && pod.Spec.NodeName == "") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	node, err := p.nodes.Lister().Get(pod.Spec.NodeName)
	if apierrors.IsNotFound(err) || (err == nil && isUnreachable(node)) {
		return nil, nil
	}
	return pod, err
}

// latest is the end of a pod's grace period: then a kubelet kills.
func (p *pods) latest(o object) time.Time {
	if deletion := o.GetDeletionTimestamp(); deletion != nil {
		return deletion.Time
	}
	return time.Time{}
}

func (p *pods) patch(ctx context.Context, o object, kind types.PatchType, data []byte, subresources ...string) (object, error) {
	changed, err := p.client.CoreV1().Pods(o.GetNamespace()).Patch(ctx, o.GetName(), kind, data, metav1.PatchOptions{}, subresources...)
	if err != nil {
		return nil, err
	}
	return changed, nil
}

func (p *pods) remove(ctx context.Context, o object) error {
	options := metav1.NewPreconditionDeleteOptions(string(o.GetUID()))
	options.GracePeriodSeconds = ptr.To[int64](0)
	return p.client.CoreV1().Pods(o.GetNamespace()).Delete(ctx, o.GetName(), *options)
}

// keyOf is cache.MetaNamespaceKeyFunc for what has metadata.
func keyOf(o metav1.Object) string {
	return cache.MetaObjectToName(o).String()
}

func withoutTombstone(obj any) any {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Obj
	}
	return obj
}
