package virtualnode

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"
)

// podWorkers is small: running pods must not take from the scheduler the API server
// capacity that it needs.
const podWorkers = 2

type pods struct {
	client   kubernetes.Interface
	informer coreinformers.PodInformer
	nodes    coreinformers.NodeInformer
	placed   placed
	hold     *hold
	player   *player
	changed  func(*corev1.Pod)
}

var _ target = (*pods)(nil)

func newPods(client kubernetes.Interface, core coreinformers.Interface, stages lifecycle.Lifecycle, held *hold, recorder record.EventRecorder) *pods {
	p := &pods{client: client, informer: core.Pods(), nodes: core.Nodes(), placed: placed{on: map[string]sets.Set[string]{}}, hold: held}
	p.player = newPlayer("Pod", podWorkers, p, stages, podTemplateFunctions(p.nodeOf), recorder)
	return p
}

// placed has the keys of the pods on each node, as the informer reports them. It is
// not an index of the informer: the informer is shared and already runs, and adding
// an index to it races with controllers that read the set of indexes.
type placed struct {
	mu sync.Mutex
	on map[string]sets.Set[string]
}

func (p *placed) add(node, pod string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.on[node] == nil {
		p.on[node] = sets.New[string]()
	}
	p.on[node].Insert(pod)
}

func (p *placed) remove(node, pod string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on[node].Delete(pod)
	if len(p.on[node]) == 0 {
		delete(p.on, node)
	}
}

func (p *placed) list(node string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.on[node].UnsortedList()
}

func (p *pods) run(ctx context.Context) { p.player.run(ctx) }

// on returns the pods on a node, in the order of their creation.
func (p *pods) on(node string) []*corev1.Pod {
	var all []*corev1.Pod
	for _, key := range p.placed.list(node) {
		namespace, name, err := cache.SplitMetaNamespaceKey(key)
		if err != nil {
			continue
		}
		if pod, err := p.informer.Lister().Pods(namespace).Get(name); err == nil && pod.Spec.NodeName == node {
			all = append(all, pod)
		}
	}
	slices.SortFunc(all, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(keyOf(a), keyOf(b)))
	})
	return all
}

func (p *pods) nodeOf(name string) *corev1.Node {
	node, err := p.nodes.Lister().Get(name)
	if err != nil {
		return nil
	}
	return node
}

func (p *pods) watch() (func(), []cache.InformerSynced, error) {
	add := func(obj any) {
		if pod, ok := obj.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
			p.placed.add(pod.Spec.NodeName, keyOf(pod))
			p.player.queue.Add(keyOf(pod))
			p.changed(pod)
		}
	}
	remove := func(obj any) {
		if pod, ok := withoutTombstone(obj).(*corev1.Pod); ok && pod.Spec.NodeName != "" {
			p.placed.remove(pod.Spec.NodeName, keyOf(pod))
			p.player.queue.Add(keyOf(pod))
			p.changed(pod)
		}
	}
	onPods, err := p.informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, obj any) { add(obj) },
		DeleteFunc: remove,
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
		// Both are registered, so neither call can fail.
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

func (p *pods) resume(obj any) {
	node, ok := obj.(*corev1.Node)
	if !ok || isUnreachable(node) {
		return
	}
	for _, key := range p.placed.list(node.Name) {
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
	if p.hold.holds(key, pod) {
		return nil, nil
	}
	node, err := p.nodes.Lister().Get(pod.Spec.NodeName)
	if apierrors.IsNotFound(err) || (err == nil && isUnreachable(node)) {
		return nil, nil
	}
	return pod, err
}

// latest is the end of a pod's grace period, if it has one: a kubelet kills it then.
func (p *pods) latest(o object) time.Time {
	deletion, grace := o.GetDeletionTimestamp(), o.GetDeletionGracePeriodSeconds()
	if deletion == nil || grace != nil && *grace == 0 {
		return time.Time{}
	}
	return deletion.Time
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

func keyOf(o metav1.Object) string {
	return cache.MetaObjectToName(o).String()
}

func withoutTombstone(obj any) any {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Obj
	}
	return obj
}
