package virtualnode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
)

// userAgent names the virtual nodes in the API server's log.
const userAgent = "virtual-nodes"

// Options say which cluster the nodes belong to and what they do.
type Options struct {
	// ClientConfig is used for all writes. Required.
	ClientConfig *rest.Config
	// Informers are shared with others in the process; their owner stops them after
	// Stop. Pods need those of their annotations that the stages look at. Default:
	// our own informers.
	Informers informers.SharedInformerFactory
	// Stages are kwok Stages, in YAML documents or Lists; LoadStages reads them from
	// a file. Stages for nodes replace our stages for nodes, those for pods ours for
	// pods. Default: ours.
	Stages *Stages
	// Devices are devices of the virtual driver that no annotation describes.
	// LoadDevices reads them from a file. Default: none.
	Devices []NodeDevices
	// NUMA says how nodes without AnnotationNUMA are cut into NUMA nodes. LoadNUMA reads it
	// from a file. Default: they are not.
	NUMA []NodeCut
}

// Nodes are all virtual nodes of one cluster. They start once and stop once.
type Nodes struct {
	opts Options

	mu      sync.Mutex // held during Start and Stop
	started bool
	cancel  context.CancelFunc
	running sync.WaitGroup
	undo    []func()

	hold hold

	partsMu sync.Mutex
	// pods and topologies are nil until Start has made them.
	pods       *pods
	topologies *topologies
}

// New returns nodes that have not started. It does no I/O.
func New(opts Options) *Nodes { return &Nodes{opts: opts} }

// Start returns when the existing nodes are known; afterwards they turn Ready and
// run their pods in the background. ctx bounds the start only.
func (n *Nodes) Start(ctx context.Context) (err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.started {
		return errors.New("virtual nodes start once")
	}
	n.started = true
	runCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	n.cancel = cancel
	defer func() {
		if err != nil {
			n.end()
		}
	}()
	w, err := n.build(runCtx)
	if err != nil {
		return err
	}
	w.informers.StartWithContext(runCtx)
	if !cache.WaitForCacheSync(ctx.Done(), w.synced...) {
		return fmt.Errorf("waiting for nodes and pods: %w", context.Cause(ctx))
	}
	for _, run := range w.runs {
		n.running.Go(func() { run(runCtx) })
	}
	return nil
}

// Stop returns when nothing is written any more and every goroutine has ended, or
// with an error when ctx has ended. The nodes stay in the cluster unchanged.
func (n *Nodes) Stop(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.started = true
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.end()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop virtual nodes: %w", context.Cause(ctx))
	}
}

func (n *Nodes) end() {
	if n.cancel == nil {
		return
	}
	n.cancel()
	for i := len(n.undo) - 1; i >= 0; i-- {
		n.undo[i]()
	}
	n.undo = nil
	n.running.Wait()
}

// wiring is the result of build.
type wiring struct {
	informers informers.SharedInformerFactory
	synced    []cache.InformerSynced
	runs      []func(context.Context)
}

func (n *Nodes) build(ctx context.Context) (*wiring, error) {
	config := rest.CopyConfig(n.opts.ClientConfig)
	config.UserAgent = userAgent
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	stages := n.opts.Stages
	if stages == nil {
		stages = &Stages{}
	}
	if stages, err = stages.withDefaults(); err != nil {
		return nil, err
	}
	w := &wiring{informers: n.opts.Informers}
	if w.informers == nil {
		w.informers = informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(withoutManagedFields))
		n.undo = append(n.undo, w.informers.Shutdown)
	}
	recorder := n.recordEvents(ctx, client)

	pods := newPods(client, w.informers.Core().V1(), stages.pod, &n.hold, recorder)
	nodes := newNodes(client, w.informers.Core().V1().Nodes(), stages.node, recorder)
	devices := newDriver(client, w.informers, n.opts.Devices, recorder)
	topologies, err := newTopologies(config, w.informers, nodes, pods, n.opts.NUMA, recorder)
	if err != nil {
		return nil, err
	}
	resizes := newResizes(pods, w.informers.Core().V1().Nodes(), recorder)
	pods.changed = func(pod *corev1.Pod) {
		topologies.podsChanged(pod.Spec.NodeName)
		resizes.note(pod)
	}
	nodes.failures.waits = topologies.awaited
	n.partsMu.Lock()
	n.pods, n.topologies = pods, topologies
	n.partsMu.Unlock()
	for _, part := range []interface {
		// watch registers the part with its informers; it returns a function that
		// undoes that.
		watch() (func(), []cache.InformerSynced, error)
		run(ctx context.Context)
	}{nodes, pods, devices, topologies, resizes} {
		unwatch, synced, err := part.watch()
		if err != nil {
			return nil, err
		}
		n.undo = append(n.undo, unwatch)
		w.synced = append(w.synced, synced...)
		w.runs = append(w.runs, part.run)
	}
	return w, nil
}

// Register gives a node that is being created the label of its host name, as a kubelet does: the domains of spread constraints count
// from the creation on. It returns the Ready condition with which a node that has none is to be created; nil if
// it needs none. Of the node, only the metadata count. A node waits for its topology from its
// creation on: without the condition, the node lifecycle controller would let pods in. Any
// goroutine may call it, at any time.
func (n *Nodes) Register(node metav1.Object) *corev1.NodeCondition {
	if labels := node.GetLabels(); node.GetName() != "" && labels[corev1.LabelHostname] == "" {
		labels = maps.Clone(labels)
		if labels == nil {
			labels = map[string]string{}
		}
		labels[corev1.LabelHostname] = node.GetName()
		node.SetLabels(labels)
	}
	n.partsMu.Lock()
	defer n.partsMu.Unlock()
	if n.topologies == nil || !n.topologies.isCut(node) || !n.topologies.isDefined() {
		return nil
	}
	return new(topologyNotPublished())
}

// resume plays held pods.
func (n *Nodes) resume(keys []string) {
	n.partsMu.Lock()
	defer n.partsMu.Unlock()
	if n.pods == nil {
		return
	}
	for _, key := range keys {
		n.pods.player.queue.Add(key)
	}
}

// recordEvents returns an event recorder that stops with the nodes.
func (n *Nodes) recordEvents(ctx context.Context, client kubernetes.Interface) record.EventRecorder {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	n.undo = append(n.undo, broadcaster.Shutdown)
	return broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: userAgent})
}

func withoutManagedFields(obj any) (any, error) {
	if accessor, err := meta.Accessor(obj); err == nil {
		accessor.SetManagedFields(nil)
	}
	return obj, nil
}
