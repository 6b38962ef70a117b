package virtualnode

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
)

// userAgent is what the API server knows the virtual nodes as.
const userAgent = "virtual-nodes"

// Options say which cluster the nodes belong to and what they do.
type Options struct {
	// ClientConfig is used for all that is written. Required.
	ClientConfig *rest.Config
	// Informers are shared with others in the process; whoever made them ends
	// them, after Stop. Pods need their annotations, all that the stages look at,
	// but no others. Default: own ones.
	Informers informers.SharedInformerFactory
	// Stages are kwok Stages, in YAML documents or Lists; LoadStages makes them
	// of a file. Those for nodes replace ours for nodes, those for pods ours for
	// pods. Default: ours.
	Stages *Stages
	// Devices are those of the virtual driver that are not on an annotation.
	// LoadDevices makes them of a file. Default: none.
	Devices []NodeDevices
}

// Nodes are the virtual nodes of one cluster: all there are. They start once and
// stop once.
type Nodes struct {
	opts Options

	mu      sync.Mutex // held during Start and Stop
	started bool
	cancel  context.CancelFunc
	running sync.WaitGroup
	undo    []func()

	hold hold

	podsMu sync.Mutex
	pods   *pods // nil until Start has made them
}

// New returns nodes that have not started. It does no I/O.
func New(opts Options) *Nodes { return &Nodes{opts: opts} }

// Start returns when the nodes that exist are known; they turn Ready and run
// their pods behind it. ctx bounds the start only.
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

// Stop returns when nothing is written any more and every goroutine has ended,
// or with an error when ctx has. The nodes stay in the cluster as they are.
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

// wiring is what build has made.
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
	n.podsMu.Lock()
	n.pods = pods
	n.podsMu.Unlock()
	nodes := newNodes(client, w.informers.Core().V1().Nodes(), stages.node, recorder)
	devices := newDriver(client, w.informers, n.opts.Devices, recorder)
	for _, part := range []interface {
		// watch makes the part follow its informers; it returns what undoes that.
		watch() (func(), []cache.InformerSynced, error)
		run(ctx context.Context)
	}{nodes, pods, devices} {
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

// resume plays pods that were held.
func (n *Nodes) resume(keys []string) {
	n.podsMu.Lock()
	defer n.podsMu.Unlock()
	if n.pods == nil {
		return
	}
	for _, key := range keys {
		n.pods.player.queue.Add(key)
	}
}

// recordEvents returns a recorder of events that ends with the nodes.
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
