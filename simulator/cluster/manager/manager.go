// Package manager runs controllers that are written for controller-runtime inside this process: without leader election, without a
// port, and as often as they are started again.
//
// It may import controller-runtime and Kubernetes' client libraries.
package manager

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Options of a manager. Those without another default are required.
type Options struct {
	// ClientConfig reaches the cluster. The controllers write to it as Name.
	ClientConfig *rest.Config
	Name         string
	Scheme       *runtime.Scheme
	// Cache changes how objects are cached; by default they are without their managed fields.
	Cache ctrlcache.Options
	// Setup adds the controllers. ctx ends with the manager. Setup is called again after a failure, with a new manager.
	Setup func(ctx context.Context, m ctrl.Manager, events record.EventBroadcaster) error
	// Context adds to the context of Setup and of every reconciliation; nil adds nothing.
	Context func(context.Context) context.Context
	// Logger learns of failures of the manager, and Log of what the controllers log; by default that is Logger at level 4.
	Logger klog.Logger
	Log    logr.LogSink
}

// Running is a manager that runs, or waits to be started again after a failure.
type Running struct {
	name   string
	cancel context.CancelFunc
	ended  chan struct{}
}

const (
	// retry is how long a manager waits after a failure, such as a definition that is not served yet.
	retry = time.Second
	// stopTime is how long a manager waits for its reconcilers when it stops.
	stopTime = 5 * time.Second
)

// Start runs a manager until Stop. It does not wait for it, and outlives ctx.
func Start(ctx context.Context, o Options) *Running {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &Running{name: o.Name, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		for ctx.Err() == nil {
			if err := run(ctx, o); err != nil && ctx.Err() == nil {
				o.Logger.Error(err, "The controllers ended, and start again", "controllers", o.Name)
				select {
				case <-ctx.Done():
				case <-time.After(retry):
				}
			}
		}
	}()
	return r
}

// Stop returns when nothing is written any more, or with an error when ctx ends. It may be called again.
func (r *Running) Stop(ctx context.Context) error {
	r.cancel()
	select {
	case <-r.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stopping %s: %w", r.name, context.Cause(ctx))
	}
}

// quiet keeps controller-runtime from complaining that it has no logger.
var quiet = sync.OnceFunc(func() { ctrllog.SetLogger(logr.Discard()) })

func run(ctx context.Context, o Options) error {
	quiet()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.Context != nil {
		ctx = o.Context(ctx)
	}
	config := rest.CopyConfig(o.ClientConfig)
	config.UserAgent, config.ContentType = o.Name, runtime.ContentTypeJSON // custom resources have no other form
	log := logr.Discard()
	if o.Log != nil {
		log = logr.New(calmly{o.Log})
	} else if sink := o.Logger.GetSink(); sink != nil {
		log = logr.New(calmly{sink}).V(4) // each controller tells of its start
	}
	cache := o.Cache
	if cache.DefaultTransform == nil {
		cache.DefaultTransform = ctrlcache.TransformStripManagedFields()
	}
	m, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: o.Scheme,
		Logger: log,
		// A manager ends its parts itself, in order. If they ended with ctx, one that stops while it starts would never return.
		BaseContext:             func() context.Context { return logr.NewContext(context.WithoutCancel(ctx), log) },
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:  "0",
		Cache:                   cache,
		Controller:              ctrlconfig.Controller{SkipNameValidation: ptr.To(true)}, // a name is there again after a restart
		GracefulShutdownTimeout: ptr.To(stopTime),
	})
	if err != nil {
		return fmt.Errorf("making a manager: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client for events: %w", err)
	}
	events := record.NewBroadcaster(record.WithContext(ctx))
	defer events.Shutdown()
	events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	if err := o.Setup(ctx, m, events); err != nil {
		return err
	}
	return m.Start(ctx)
}

// calmly leaves out what is no error: another client has written first, and the controller tries again.
type calmly struct{ logr.LogSink }

func (c calmly) Error(err error, message string, more ...any) {
	if !apierrors.IsConflict(err) {
		c.LogSink.Error(err, message, more...)
	}
}

func (c calmly) WithValues(more ...any) logr.LogSink { return calmly{c.LogSink.WithValues(more...)} }
func (c calmly) WithName(name string) logr.LogSink   { return calmly{c.LogSink.WithName(name)} }
