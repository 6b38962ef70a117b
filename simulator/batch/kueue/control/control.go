package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"k8s.io/apimachinery/pkg/runtime/schema"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
)

// Ledger keeps what the cycles did.
type Ledger interface {
	// Append keeps a record. It is called by one goroutine at a time.
	Append(*admission.Record)
}

type Options struct {
	// ClientConfig reaches the cluster with the rights of an administrator. Required.
	ClientConfig *rest.Config
	// Informers are shared with others in the process. Required.
	Informers informers.SharedInformerFactory
	// Settings are those of admission, until Configure changes them.
	Settings admission.Settings
	// Ledger is told of each cycle. Required.
	Ledger Ledger
	// Observe keeps the controllers from writing anything. They only read what another Kueue writes.
	Observe bool
	// Changed is called after each change of what State returns, by any goroutine, soon after it. Optional.
	Changed func()
	// Logger receives what cannot be written.
	Logger klog.Logger
}

// Queues are the controllers. They start once and stop once; the other methods are safe for concurrent use
// between the two.
type Queues struct {
	opts    Options
	clock   clock.Clock
	cancel  context.CancelFunc
	running sync.WaitGroup
	// engaged is nil while the cluster does not have the definitions.
	engaged atomic.Pointer[engaged]
	// original is what of Kueue itself is in the cluster; nil before anybody has looked.
	original atomic.Pointer[string]
	// settings are those in force, and again asks for a new beginning with them.
	settings atomic.Pointer[admission.Settings]
	again    chan struct{}
}

// New returns controllers that have not started. It does no I/O.
func New(options Options) *Queues {
	q := &Queues{opts: options, clock: clock.RealClock{}, again: make(chan struct{}, 1)}
	q.settings.Store(&options.Settings)
	return q
}

// Configure changes the settings and returns. The controllers then restart with them and read the objects again: workloads
// keep the quota that they have reserved.
func (q *Queues) Configure(settings admission.Settings) {
	q.settings.Store(&settings)
	signal(q.again)
}

// The resources of Kueue's group.
var (
	workloadResource      = kueue.GroupVersion.WithResource("workloads")
	clusterQueueResource  = kueue.GroupVersion.WithResource("clusterqueues")
	localQueueResource    = kueue.GroupVersion.WithResource("localqueues")
	cohortResource        = kueue.GroupVersion.WithResource("cohorts")
	flavorResource        = kueue.GroupVersion.WithResource("resourceflavors")
	topologyResource      = kueue.GroupVersion.WithResource("topologies")
	priorityClassResource = kueue.GroupVersion.WithResource("workloadpriorityclasses")
	checkResource         = kueue.GroupVersion.WithResource("admissionchecks")
)

// definition is that of the kind without which nothing runs. The others are installed with it.
var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	definition  = workloadResource.GroupResource().String()
)

// Start begins to watch for the definitions. It does not wait for them.
func (q *Queues) Start(ctx context.Context) error {
	if q.cancel != nil {
		return errors.New("the queues start once")
	}
	config := rest.CopyConfig(q.opts.ClientConfig)
	config.UserAgent = agent
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client for definitions: %w", err)
	}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client for leases: %w", err)
	}
	ctx, q.cancel = context.WithCancel(context.WithoutCancel(ctx))
	informer := metadatainformer.NewFilteredMetadataInformer(client, definitions, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	changed := make(chan struct{}, 1)
	note := func(any) { signal(changed) }
	defined, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: note, DeleteFunc: note})
	if err != nil {
		return err
	}
	other, err := watchOriginal(typed, q.opts.Informers, func() { signal(changed) })
	if err != nil {
		return err
	}
	q.opts.Informers.StartWithContext(ctx)
	q.running.Go(func() { informer.RunWithContext(ctx) })
	q.running.Go(func() { other.run(ctx) })
	q.running.Go(func() {
		if cache.WaitForCacheSync(ctx.Done(), append(other.synced, defined.HasSynced)...) {
			q.run(ctx, informer.GetStore(), other.sign, changed)
		}
	})
	return nil
}

// Original says what of Kueue itself is in the cluster, such as "the Lease kueue-system/c1f6bfd2.kueue.x-k8s.io"; "" for
// nothing. While there is any, the controllers write nothing.
func (q *Queues) Original() string {
	if sign := q.original.Load(); sign != nil {
		return *sign
	}
	return ""
}

// Observes reports whether the controllers leave every decision to another Kueue.
func (q *Queues) Observes() bool { return q.opts.Observe || q.Original() != "" }

// Stop returns when nothing is written any more, or with an error when ctx ends.
func (q *Queues) Stop(ctx context.Context) error {
	if q.cancel == nil {
		return nil
	}
	q.cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		q.running.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stopping the queues: %w", context.Cause(ctx))
	}
}

// optional are the kinds of jobs whose definition a cluster may lack.
var optional = [...]schema.GroupVersionResource{jobSets, leaderSets, appWrappers}

// phase is what the controllers do, and for which of the optional kinds.
type phase struct {
	do     activity
	served [len(optional)]bool
}

// serves reports whether the cluster has a kind of jobs.
func (p phase) serves(resource schema.GroupVersionResource) bool {
	at := slices.Index(optional[:], resource)
	return at >= 0 && p.served[at]
}

type activity int

const (
	resting activity = iota
	observing
	admitting
)

// run engages the controllers while the definition exists. They only observe while sign returns anything.
func (q *Queues) run(ctx context.Context, store cache.Store, sign func() string, changed <-chan struct{}) {
	disengage := func() {}
	defer func() { disengage() }()
	for now := (phase{}); ; {
		there := sign()
		if before := q.original.Swap(&there); before != nil && *before != there || before == nil && there != "" {
			q.opts.Logger.Info("Kueue itself has come, or gone; the simulator's queues admit nothing while it is there", "is there", there)
		}
		next := phase{}
		if _, exists, _ := store.GetByKey(definition); exists {
			for i, resource := range optional {
				_, next.served[i], _ = store.GetByKey(resource.GroupResource().String())
			}
			next.do = admitting
			if q.Observes() {
				next.do = observing
			}
		}
		if next != now {
			disengage()
			disengage = func() {}
			if next.do != resting {
				disengage = q.engage(ctx, next)
			}
		}
		now = next
		select {
		case <-changed:
		case <-q.again:
			if now.do != resting {
				disengage()
				disengage = q.engage(ctx, now)
			}
		case <-ctx.Done():
			return
		}
	}
}

// retryEngaging is how long the controllers wait after a failure that only a stop of the API server causes.
const retryEngaging = time.Second

// engage runs the controllers until the function that it returns is called.
func (q *Queues) engage(ctx context.Context, as phase) (disengage func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			e, err := newEngaged(q, as.serves)
			if err == nil {
				e.observes = as.do == observing
				q.engaged.Store(e)
				err = e.run(ctx)
				q.engaged.Store(nil)
			}
			if err == nil || ctx.Err() != nil {
				return
			}
			q.opts.Logger.Error(err, "Kueue's controllers ended, and start again")
			select {
			case <-ctx.Done():
			case <-q.clock.After(retryEngaging):
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// signal wakes the reader of a channel with room for one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
