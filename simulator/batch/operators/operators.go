package operators

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	appwrapper "github.com/project-codeflare/appwrapper/api/v1beta2"
	v1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	jobsetcontrollers "sigs.k8s.io/jobset/pkg/controllers"
	lws "sigs.k8s.io/lws/api/leaderworkerset/v1"
	lwscontrollers "sigs.k8s.io/lws/pkg/controllers"

	"kube-scheduler-simulator/simulator/cluster/definitions"
	"kube-scheduler-simulator/simulator/cluster/manager"
)

// Options of Operators. All are required.
type Options struct {
	// ClientConfig reaches the cluster with the rights of an administrator.
	ClientConfig *rest.Config
	Logger       klog.Logger
}

// Operators are the controllers. They start once and stop once.
type Operators struct {
	opts    Options
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// New returns controllers that have not started. It does no I/O.
func New(options Options) *Operators { return &Operators{opts: options} }

// operator sets the controllers of a kind up in a manager.
type operator struct {
	// component is its name in events.
	component string
	setup     func(context.Context, ctrl.Manager, record.EventRecorder) error
}

// all are the operators, by the definition of their kind.
var all = map[string]operator{
	definitions.Of([]string{definitions.JobSet})[0].Name():          {"jobset", setupJobSet},
	definitions.Of([]string{definitions.LeaderWorkerSet})[0].Name(): {"leaderworkerset", setupLeaderWorkerSet},
	definitions.Of([]string{definitions.AppWrapper})[0].Name():      {"appwrapper", setupAppWrapper},
}

// known has the kinds of all operators.
var known = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, jobset.AddToScheme, lws.AddToScheme, appwrapper.AddToScheme} {
		utilruntime.Must(add(s))
	}
	return s
}()

func setupJobSet(ctx context.Context, m ctrl.Manager, events record.EventRecorder) error {
	if err := jobsetcontrollers.SetupJobSetIndexes(ctx, m.GetFieldIndexer()); err != nil {
		return err
	}
	if err := jobsetcontrollers.SetupPodIndexes(ctx, m.GetFieldIndexer()); err != nil {
		return err
	}
	return errors.Join(
		jobsetcontrollers.NewJobSetReconciler(m.GetClient(), m.GetScheme(), events).SetupWithManager(m),
		jobsetcontrollers.NewPodReconciler(m.GetClient(), m.GetScheme(), events).SetupWithManager(m))
}

func setupLeaderWorkerSet(_ context.Context, m ctrl.Manager, events record.EventRecorder) error {
	if err := lwscontrollers.SetupIndexes(m.GetFieldIndexer()); err != nil {
		return err
	}
	return errors.Join(
		lwscontrollers.NewLeaderWorkerSetReconciler(m.GetClient(), m.GetScheme(), events).SetupWithManager(m),
		lwscontrollers.NewPodReconciler(m.GetClient(), m.GetScheme(), events, nil).SetupWithManager(m))
}

// Start begins to watch for the definitions. It does not wait for them.
func (o *Operators) Start(ctx context.Context) error {
	if o.cancel != nil {
		return errors.New("the operators start once")
	}
	client, err := metadata.NewForConfig(o.opts.ClientConfig)
	if err != nil {
		return fmt.Errorf("making a client for definitions: %w", err)
	}
	ctx, o.cancel = context.WithCancel(context.WithoutCancel(ctx))
	informer := metadatainformer.NewFilteredMetadataInformer(client, apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"), metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	changed := make(chan struct{}, 1)
	note := func(any) {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: note, DeleteFunc: note})
	if err != nil {
		return err
	}
	o.running.Go(func() { informer.RunWithContext(ctx) })
	o.running.Go(func() {
		if cache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
			o.run(ctx, informer.GetStore(), changed)
		}
	})
	return nil
}

// Stop returns when nothing is written any more, or with an error when ctx ends.
func (o *Operators) Stop(ctx context.Context) error {
	if o.cancel == nil {
		return nil
	}
	o.cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		o.running.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stopping the controllers of jobs: %w", context.Cause(ctx))
	}
}

// run keeps one manager with the controllers of the kinds that the cluster has.
func (o *Operators) run(ctx context.Context, store cache.Store, changed <-chan struct{}) {
	stop := func() {}
	defer func() { stop() }()
	for now := map[string]bool{}; ; {
		next := map[string]bool{}
		for name := range all {
			if _, exists, _ := store.GetByKey(name); exists {
				next[name] = true
			}
		}
		if !maps.Equal(next, now) {
			stop()
			stop = func() {}
			if len(next) > 0 {
				stop = o.manage(ctx, next)
			}
		}
		now = next
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// manage runs a manager until the function that it returns is called.
func (o *Operators) manage(ctx context.Context, kinds map[string]bool) (stop func()) {
	running := manager.Start(ctx, manager.Options{
		ClientConfig: o.opts.ClientConfig, Name: "batch-operators", Scheme: known, Logger: o.opts.Logger,
		Setup: func(ctx context.Context, m ctrl.Manager, events record.EventBroadcaster) error {
			for name := range kinds {
				if err := all[name].setup(ctx, m, events.NewRecorder(known, v1.EventSource{Component: all[name].component})); err != nil {
					return fmt.Errorf("setting the controllers of %s up: %w", name, err)
				}
			}
			return nil
		},
	})
	return func() { _ = running.Stop(context.Background()) }
}
