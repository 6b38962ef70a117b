package virtualnode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/customresource"
	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
	"kube-scheduler-simulator/simulator/objects"
)

const (
	topologyWorkers = 2
	// lookForKind is how often nodes that are cut look for the definition of their topologies.
	lookForKind = 500 * time.Millisecond
)

// topologies publishes the NodeResourceTopologies of the nodes that are cut into NUMA nodes, as
// an agent on each node would, and keeps what is available true to the pods on the node. It does
// nothing while no node is cut, or while the cluster has no definition of the kind. A new node
// turns Ready when its topology is published, so that no pod gets there before.
type topologies struct {
	// all is the kind as it is served. followed is the same for the informer.
	all      dynamic.NamespaceableResourceInterface
	followed dynamic.NamespaceableResourceInterface
	nodes    coreinformers.NodeInformer
	pods     *pods
	// ready makes a node play its stages again.
	ready    func(node string)
	file     []NodeCut
	recorder record.EventRecorder
	// needed gets a value when a node is cut.
	needed chan struct{}

	mu sync.Mutex
	// queue has the names of nodes; nil while nothing is published.
	queue workqueue.TypedRateLimitingInterface[string]
	// unserved: the API server was asked, and does not serve the kind.
	unserved bool
	// done are the nodes whose topology has been published, or cannot be.
	done sets.Set[string]
}

func newTopologies(config *rest.Config, nodes *nodes, pods *pods, file []NodeCut, recorder record.EventRecorder) (*topologies, error) {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	all, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for topologies: %w", err)
	}
	followed, err := customresource.NewClient(config)
	if err != nil {
		return nil, err
	}
	return &topologies{
		all: all.Resource(v1alpha2.NodeResourceTopologies), followed: followed.Resource(v1alpha2.NodeResourceTopologies),
		nodes: nodes.informer, ready: nodes.player.queue.Add, pods: pods, file: file, recorder: recorder,
		needed: make(chan struct{}, 1), done: sets.New[string](),
	}, nil
}

func (t *topologies) watch() (func(), []cache.InformerSynced, error) {
	note := func(obj any) {
		if node, ok := withoutTombstone(obj).(*corev1.Node); ok && t.isCut(node) {
			t.add(node.Name)
		}
	}
	onNodes, err := t.nodes.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: note,
		UpdateFunc: func(before, after any) {
			b, a := before.(*corev1.Node), after.(*corev1.Node)
			if b.Annotations[objects.AnnotationNUMA] == a.Annotations[objects.AnnotationNUMA] && labels.Equals(b.Labels, a.Labels) &&
				b.UID == a.UID && equality.Semantic.DeepEqual(b.Status.Allocatable, a.Status.Allocatable) {
				return
			}
			note(before) // it may be cut no more
			note(after)
		},
		DeleteFunc: func(obj any) {
			if node, ok := withoutTombstone(obj).(*corev1.Node); ok {
				t.mu.Lock()
				t.done.Delete(node.Name)
				t.mu.Unlock()
			}
			note(obj)
		},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("watch nodes: %w", err)
	}
	unwatch := func() {
		// It is registered with this informer, so the call cannot fail.
		_ = t.nodes.Informer().RemoveEventHandler(onNodes)
	}
	return unwatch, []cache.InformerSynced{onNodes.HasSynced}, nil
}

// isCut reports whether the node is to have a topology, even one that cannot be read.
func (t *topologies) isCut(node *corev1.Node) bool {
	cut, err := cutOf(node, t.file)
	return cut != nil || err != nil
}

// awaited reports whether the topology of a node is to come.
func (t *topologies) awaited(node *corev1.Node) bool {
	if !t.isCut(node) {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.unserved && !t.done.Has(node.Name)
}

// settled notes that the topology of a node has been published, or cannot be.
func (t *topologies) settled(name string) {
	if _, err := t.nodes.Lister().Get(name); err != nil {
		return
	}
	t.mu.Lock()
	first := !t.done.Has(name)
	t.done.Insert(name)
	t.mu.Unlock()
	if first {
		t.ready(name)
	}
}

// setUnserved notes whether the API server serves the kind. If it does not, no node waits.
func (t *topologies) setUnserved(unserved bool) {
	t.mu.Lock()
	changed := t.unserved != unserved
	t.unserved = unserved
	t.mu.Unlock()
	if changed && unserved {
		for _, obj := range t.nodes.Informer().GetStore().List() {
			t.ready(obj.(*corev1.Node).Name)
		}
	}
}

// podsChanged is called for every change of a pod on any node.
func (t *topologies) podsChanged(name string) {
	if node, err := t.nodes.Lister().Get(name); err == nil && t.isCut(node) {
		t.add(name)
	}
}

func (t *topologies) add(name string) {
	select {
	case t.needed <- struct{}{}:
	default:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.queue != nil {
		t.queue.Add(name)
	}
}

func (t *topologies) run(ctx context.Context) {
	if !t.left(ctx) {
		select {
		case <-t.needed:
		case <-ctx.Done():
		}
	}
	for ctx.Err() == nil {
		if t.served(ctx) == nil {
			t.publishAll(ctx)
		}
	}
}

// left reports whether an earlier run has left topologies, of nodes that may be cut no more.
func (t *topologies) left(ctx context.Context) bool {
	list, err := t.all.List(ctx, metav1.ListOptions{LabelSelector: objects.LabelVirtualDriver, Limit: 1})
	return err == nil && len(list.Items) > 0
}

// served returns nil when the API server serves the kind.
func (t *topologies) served(ctx context.Context) error {
	return wait.PollUntilContextCancel(ctx, lookForKind, true, func(ctx context.Context) (bool, error) {
		_, err := t.all.List(ctx, metav1.ListOptions{Limit: 1})
		if err == nil || apierrors.IsNotFound(err) {
			t.setUnserved(err != nil)
		}
		return err == nil, nil
	})
}

// publishAll publishes the topologies of all nodes until ctx ends or the kind is served no more.
func (t *topologies) publishAll(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	published := customresource.NewInformer[v1alpha2.NodeResourceTopology](t.followed)
	note := func(obj any) {
		if topology, ok := withoutTombstone(obj).(*v1alpha2.NodeResourceTopology); ok {
			t.add(topology.Name)
		}
	}
	// Topologies that others change or delete are restored.
	handler, err := published.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: note, UpdateFunc: func(_, obj any) { note(obj) }, DeleteFunc: note,
	})
	if err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "follow topologies")
		return
	}
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry))
	t.use(queue)
	defer t.use(nil)
	var running sync.WaitGroup
	running.Go(func() { published.RunWithContext(ctx) })
	if cache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
		for _, obj := range t.nodes.Informer().GetStore().List() {
			queue.Add(obj.(*corev1.Node).Name)
		}
		for range topologyWorkers {
			running.Go(func() {
				for t.next(ctx, cancel, queue, published.GetStore()) {
				}
			})
		}
	}
	<-ctx.Done()
	queue.ShutDown()
	running.Wait()
}

func (t *topologies) use(queue workqueue.TypedRateLimitingInterface[string]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queue = queue
}

func (t *topologies) next(ctx context.Context, unserved func(), queue workqueue.TypedRateLimitingInterface[string], published cache.Store) bool {
	name, shutdown := queue.Get()
	if shutdown {
		return false
	}
	defer queue.Done(name)
	if ctx.Err() != nil {
		return true
	}
	err := t.publish(ctx, name, published)
	var wrong *invalidNUMA
	switch {
	case err == nil:
		t.settled(name)
	case errors.As(err, &wrong) || apierrors.IsInvalid(err):
		// Its author can correct it, and the correction comes here.
		t.say(name, err)
		t.settled(name)
	case errors.Is(err, errNotServed):
		unserved()
	default:
		// A conflict or a topology that exists already: the cache has not caught up.
		if ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			utilruntime.HandleErrorWithContext(ctx, err, "publish a topology", "node", name)
		}
		queue.AddRateLimited(name)
		return true
	}
	queue.Forget(name)
	return true
}

// errNotServed: the definition of the kind has gone, or is going.
var errNotServed = errors.New("the API server does not serve topologies")

// invalidNUMA is a mistake in how a node is cut.
type invalidNUMA struct{ error }

// say reports a mistake in an event on the node.
func (t *topologies) say(name string, wrong error) {
	if node, err := t.nodes.Lister().Get(name); err == nil {
		t.recorder.Eventf(node, corev1.EventTypeWarning, "InvalidNUMA", "%v", wrong)
	}
}

// publish makes the node's topology agree with how it is cut and what runs there.
func (t *topologies) publish(ctx context.Context, name string, published cache.Store) error {
	obj, exists, err := published.GetByKey(name)
	if err != nil {
		return err
	}
	var current *v1alpha2.NodeResourceTopology
	if exists {
		current = obj.(*v1alpha2.NodeResourceTopology)
	}
	wanted, err := t.wanted(name, current)
	if err != nil {
		return err
	}
	ours := current != nil && current.Labels[objects.LabelVirtualDriver] != ""
	switch {
	case wanted == nil && ours:
		return t.delete(ctx, current)
	case wanted == nil:
		return nil
	case current != nil && !ours:
		return &invalidNUMA{fmt.Errorf("the node has a NodeResourceTopology that the simulator has not published; delete it, or do not cut the node")}
	case current != nil && agree(current, wanted):
		return nil
	}
	return t.write(ctx, wanted, current)
}

// wanted returns the topology that the node should have; nil if it should have none.
func (t *topologies) wanted(name string, current *v1alpha2.NodeResourceTopology) (*v1alpha2.NodeResourceTopology, error) {
	node, err := t.nodes.Lister().Get(name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	cut, err := cutOf(node, t.file)
	if err != nil {
		return nil, &invalidNUMA{fmt.Errorf("annotation %s: %w", objects.AnnotationNUMA, err)}
	}
	if cut == nil {
		return nil, nil
	}
	pods := t.pods.on(name)
	wanted := cut.topologyOf(node)
	holdings := settle(wanted, pods, holdingsOf(current))
	reportPods(wanted, pods, holdings)
	placement, err := json.Marshal(holdings)
	if err != nil {
		return nil, err
	}
	wanted.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha2.NodeResourceTopologies.GroupVersion().String(), Kind: "NodeResourceTopology"}
	wanted.ObjectMeta = metav1.ObjectMeta{
		Name:        name,
		Labels:      map[string]string{objects.LabelVirtualDriver: "true"},
		Annotations: map[string]string{objects.AnnotationZonePlacement: string(placement)},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID, Controller: ptr.To(true),
		}},
	}
	return wanted, nil
}

// agree reports whether the published topology is the wanted one.
func agree(published, wanted *v1alpha2.NodeResourceTopology) bool {
	return equality.Semantic.DeepEqual(published.Zones, wanted.Zones) &&
		equality.Semantic.DeepEqual(published.Attributes, wanted.Attributes) &&
		equality.Semantic.DeepEqual(published.OwnerReferences, wanted.OwnerReferences) &&
		published.Annotations[objects.AnnotationZonePlacement] == wanted.Annotations[objects.AnnotationZonePlacement] &&
		len(published.TopologyPolicies) == 0
}

func (t *topologies) write(ctx context.Context, wanted, current *v1alpha2.NodeResourceTopology) error {
	if current != nil {
		wanted.UID, wanted.ResourceVersion = current.UID, current.ResourceVersion
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(wanted)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{Object: content}
	if current == nil {
		_, err = t.all.Create(ctx, object, metav1.CreateOptions{})
	} else {
		_, err = t.all.Update(ctx, object, metav1.UpdateOptions{})
	}
	switch {
	// An update of an object that has gone is not found either: then everything is read again.
	case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
		return errNotServed
	case err != nil:
		return fmt.Errorf("write the topology of node %s: %w", wanted.Name, err)
	}
	return nil
}

func (t *topologies) delete(ctx context.Context, gone *v1alpha2.NodeResourceTopology) error {
	err := t.all.Delete(ctx, gone.Name, *metav1.NewPreconditionDeleteOptions(string(gone.UID)))
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the topology of node %s: %w", gone.Name, err)
	}
	return nil
}
