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
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/customresource"
	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

const (
	topologyWorkers = 2
	// serveTimeout bounds how long the API server may take to serve a kind whose definition exists.
	serveTimeout = 30 * time.Second
	servePoll    = 50 * time.Millisecond
)

// definitions is the resource of CustomResourceDefinition.
var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// topologies publishes the NodeResourceTopologies of the nodes that are cut into NUMA nodes, as an
// agent on each node would, and keeps what is available true to the pods on the node. It does
// nothing while the cluster has no definition of the kind. A new node turns Ready when watches show
// its topology, so that no pod gets there before.
type topologies struct {
	// all is the kind as it is served. followed is the same for the informer.
	all         dynamic.NamespaceableResourceInterface
	followed    dynamic.NamespaceableResourceInterface
	definitions cache.SharedIndexInformer
	nodes       coreinformers.NodeInformer
	pods        *pods
	// retry makes a node play its stages again.
	retry    func(node string)
	file     []NodeCut
	recorder record.EventRecorder
	// changed gets a value when a definition comes or goes.
	changed chan struct{}

	mu sync.Mutex
	// queue has the names of nodes; nil while nothing is published.
	queue workqueue.TypedRateLimitingInterface[string]
	// done are the nodes whose topology has been published, or cannot be.
	done sets.Set[string]
}

func newTopologies(config *rest.Config, shared informers.SharedInformerFactory, nodes *nodes, pods *pods, file []NodeCut, recorder record.EventRecorder) (*topologies, error) {
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
		definitions: shared.InformerFor(&metav1.PartialObjectMetadata{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
			return customresource.NewInformer[metav1.PartialObjectMetadata](followed.Resource(definitions))
		}),
		nodes: nodes.informer, retry: nodes.retry, pods: pods, file: file, recorder: recorder,
		changed: make(chan struct{}, 1), done: sets.New[string](),
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
	change := func(any) {
		select {
		case t.changed <- struct{}{}:
		default:
		}
	}
	onDefinitions, err := t.definitions.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: change, UpdateFunc: func(_, after any) { change(after) }, DeleteFunc: change,
	})
	unwatch := func() {
		// Both are registered with these informers, so neither call can fail.
		_ = t.nodes.Informer().RemoveEventHandler(onNodes)
		if onDefinitions != nil {
			_ = t.definitions.RemoveEventHandler(onDefinitions)
		}
	}
	if err != nil {
		unwatch()
		return nil, nil, fmt.Errorf("watch custom resource definitions: %w", err)
	}
	return unwatch, []cache.InformerSynced{onNodes.HasSynced, onDefinitions.HasSynced}, nil
}

// isCut reports whether the node is to have a topology, even one that cannot be read.
func (t *topologies) isCut(node metav1.Object) bool {
	cut, err := cutOf(node, t.file)
	return cut != nil || err != nil
}

// isDefined reports whether the cluster has the definition of the kind.
func (t *topologies) isDefined() bool {
	kind := v1alpha2.NodeResourceTopologies
	obj, exists, err := t.definitions.GetStore().GetByKey(kind.Resource + "." + kind.Group)
	return err == nil && exists && obj.(*metav1.PartialObjectMetadata).DeletionTimestamp == nil
}

// awaited reports whether the topology of a node is to come.
func (t *topologies) awaited(node *corev1.Node) bool {
	if !t.isCut(node) || !t.isDefined() {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.done.Has(node.Name)
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
		t.retry(name)
	}
}

// podsChanged is called for every change of a pod on any node.
func (t *topologies) podsChanged(name string) {
	if node, err := t.nodes.Lister().Get(name); err == nil && t.isCut(node) {
		t.add(name)
	}
}

func (t *topologies) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.queue != nil {
		t.queue.Add(name)
	}
}

func (t *topologies) run(ctx context.Context) {
	for ctx.Err() == nil {
		if t.isDefined() && t.served(ctx) == nil {
			t.publishAll(ctx)
			continue
		}
		for _, obj := range t.nodes.Informer().GetStore().List() {
			t.retry(obj.(*corev1.Node).Name) // it waits for nothing now
		}
		select {
		case <-t.changed:
		case <-ctx.Done():
		}
	}
}

// served returns nil when the API server serves the kind, whose definition exists.
func (t *topologies) served(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, servePoll, serveTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := t.all.List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil && !t.isDefined() {
			return false, errNotServed
		}
		return err == nil, nil
	})
}

// publishAll publishes the topologies of all nodes until ctx ends, or the definition is deleted, or
// the kind is served no more.
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
	for ctx.Err() == nil && t.isDefined() {
		select {
		case <-t.changed:
		case <-ctx.Done():
		}
	}
	cancel()
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
	seen, err := t.publish(ctx, name, published)
	var wrong *invalidNUMA
	switch {
	case seen:
		t.settled(name)
	case err == nil: // the watch reports it, and then the node comes here again
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

// publish makes the node's topology agree with how it is cut and what runs there. It reports
// whether the watch already shows that. A node that turned Ready before could get pods from a
// scheduler whose watch does not show its topology yet.
func (t *topologies) publish(ctx context.Context, name string, published cache.Store) (seen bool, err error) {
	obj, exists, err := published.GetByKey(name)
	if err != nil {
		return false, err
	}
	var current *v1alpha2.NodeResourceTopology
	if exists {
		current = obj.(*v1alpha2.NodeResourceTopology)
	}
	wanted, err := t.wanted(name, current)
	if err != nil {
		return false, err
	}
	ours := current != nil && current.Labels[objects.LabelVirtualDriver] != ""
	switch {
	case wanted == nil && ours:
		return false, t.delete(ctx, current)
	case wanted == nil:
		return true, nil
	case current != nil && !ours:
		return false, &invalidNUMA{fmt.Errorf("the node has a NodeResourceTopology that the simulator has not published; delete it, or do not cut the node")}
	case current != nil && agree(current, wanted):
		return true, nil
	}
	return false, t.write(ctx, wanted, current)
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
