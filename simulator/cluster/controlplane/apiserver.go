package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/admission"
	mutatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/controlplane/reconcilers"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/kubeapiserver/authorizer/modes"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"
	schedulingrest "k8s.io/kubernetes/pkg/registry/scheduling/rest"
	"k8s.io/kubernetes/plugin/pkg/admission/nodetaint"
	"k8s.io/kubernetes/plugin/pkg/admission/serviceaccount"

	"kube-scheduler-simulator/simulator/host/connections"
)

const (
	readyInterval = 10 * time.Millisecond
	closeInterval = 5 * time.Millisecond
	// Watches may take so long to end when the API server stops.
	watchTimeout = time.Second
	// Connections may take so long to end after that. Go's HTTP/2 server gives clients one second.
	connectionTimeout = 1500 * time.Millisecond
	// A connection that has carried less than this, which no TLS handshake without a certificate
	// reaches, may be closed for a newer one.
	greetingBytes = 2 << 10
	// Clients in this process are trusted not to overload the API server.
	clientQPS   = 10_000
	clientBurst = 20_000
	// serviceIPs starts like kubeadm's default range; the API server supports no larger one.
	serviceIPs = "10.96.0.0/16"
	// The API server's own.
	ownServiceIP = "10.96.0.1"
)

// apiServer is a kube-apiserver with its whole delegation chain (aggregator,
// built-in kinds, custom resources) on a loopback port.
type apiServer struct {
	listener *connections.Listener
	server   *aggregator.APIAggregator
	cancel   context.CancelFunc
	ended    chan struct{}
	err      error // why it ended; valid once ended is closed
}

type serverOptions struct {
	Options
	certs certificates
	etcd  Etcd
	// taintNewNodes taints every new node not-ready, unless it is created as Ready.
	taintNewNodes bool
	guard         func(http.Handler) http.Handler
}

// startAPIServer returns when the API server listens; waitReady waits until it serves. fail is
// called when it ends before stop.
func startAPIServer(ctx context.Context, opts serverOptions, fail func(error)) (_ *apiServer, err error) {
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	listener := connections.Bound(port, connections.Limit(), greetingBytes)
	defer func() {
		if err != nil {
			err = errors.Join(err, listener.Close())
		}
	}()

	server, err := newServerChain(ctx, serverRunOptions(listener, opts), opts)
	if err != nil {
		return nil, err
	}
	prepared, err := server.PrepareRun()
	if err != nil {
		server.GenericAPIServer.Destroy()
		return nil, fmt.Errorf("prepare: %w", err)
	}

	runCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a := &apiServer{listener: listener, server: server, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(a.ended)
		a.err = prepared.Run(runCtx)
		if runCtx.Err() == nil {
			fail(fmt.Errorf("kube-apiserver ended: %w", a.err))
		}
	}()
	return a, nil
}

func newServerChain(ctx context.Context, run *options.ServerRunOptions, opts serverOptions) (*aggregator.APIAggregator, error) {
	completedOptions, err := run.Complete(ctx)
	if err != nil {
		return nil, fmt.Errorf("complete options: %w", err)
	}
	if errs := completedOptions.Validate(); len(errs) > 0 {
		return nil, fmt.Errorf("validate options: %w", utilerrors.NewAggregate(errs))
	}
	config, err := app.NewConfig(completedOptions)
	if err != nil {
		return nil, fmt.Errorf("build configuration: %w", err)
	}
	// The first hook tries once before the server serves, and then waits a second; bootstrap does its
	// work. bootstrapRoles does that of the second.
	config.KubeAPIs.ControlPlane.Generic.DisabledPostStartHooks.Insert(schedulingrest.PostStartHookName, rbacrest.PostStartHookName)
	confine(opts.Options).apply(config)
	extensions := &config.ApiExtensions.ExtraConfig
	extensions.CRDRESTOptionsGetter = uncached{shortHistory{extensions.CRDRESTOptionsGetter, isCustom}, opts.Webhooks.Uncached}
	builtIn := config.KubeAPIs.ControlPlane.Generic
	builtIn.RESTOptionsGetter = shortHistory{builtIn.RESTOptionsGetter, changesOften}
	installOpenAPI := delayOpenAPI(builtIn, openAPIHash(opts.Version, utilfeature.DefaultMutableFeatureGate))
	setVersion(config, opts.Version)
	connects, err := newConnects(config.Aggregator.GenericConfig.LoopbackClientConfig, config.Aggregator.GenericConfig.Serializer)
	if err != nil {
		return nil, err
	}
	front := config.Aggregator.GenericConfig
	build := front.BuildHandlerChainFunc
	front.BuildHandlerChainFunc = func(handler http.Handler, c *genericapiserver.Config) http.Handler {
		return opts.guard(build(connects.before(withHandlers(opts.Handlers, handler)), c))
	}
	completed, err := config.Complete()
	if err != nil {
		return nil, fmt.Errorf("complete configuration: %w", err)
	}
	server, err := app.CreateServerChain(completed)
	if err != nil {
		return nil, fmt.Errorf("build server chain: %w", err)
	}
	kinds, ok := server.GenericAPIServer.NextDelegate().(*genericapiserver.GenericAPIServer)
	if !ok {
		return nil, fmt.Errorf("the server of the built-in kinds is a %T", server.GenericAPIServer.NextDelegate())
	}
	installOpenAPI(kinds)
	server.GenericAPIServer.ShutdownTimeout = connectionTimeout
	return server, nil
}

func withHandlers(handlers map[string]http.Handler, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for prefix, handler := range handlers {
			if r.URL.Path == prefix || strings.HasPrefix(r.URL.Path, prefix+"/") {
				handler.ServeHTTP(w, r)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// serverRunOptions are those of an ordinary cluster, without features that need nodes, other
// machines, or controllers that do not run here.
func serverRunOptions(listener net.Listener, opts serverOptions) *options.ServerRunOptions {
	certs := opts.certs
	address := listener.Addr().(*net.TCPAddr)
	o := options.NewServerRunOptions()

	o.SecureServing.Listener = listener
	o.SecureServing.BindAddress = address.IP
	o.SecureServing.BindPort = address.Port
	o.SecureServing.ServerCert.CertKey.CertFile = certs.servingCertFile
	o.SecureServing.ServerCert.CertKey.KeyFile = certs.servingKeyFile
	// Every controller of this process shares one connection, and their watches alone exceed the usual
	// 100 streams. At the limit, a server can refuse a request with PROTOCOL_ERROR: it may not yet have
	// counted the end of a response that the client has already read.
	o.SecureServing.HTTP2MaxStreamsPerConnection = 1000
	// Without these two, the API server would ask the system for its default route and its
	// name.
	o.GenericServerRunOptions.AdvertiseAddress = address.IP
	o.GenericServerRunOptions.ExternalHost = address.IP.String()
	o.GenericServerRunOptions.ShutdownWatchTerminationGracePeriod = watchTimeout
	o.EndpointReconcilerType = string(reconcilers.NoneEndpointReconcilerType)
	o.ServiceClusterIPRanges = serviceIPs

	o.Etcd.StorageConfig.Prefix = opts.etcd.prefix()
	o.Etcd.StorageConfig.Transport.ServerList = opts.etcd.Servers
	o.Etcd.StorageConfig.Transport.TrustedCAFile = opts.etcd.CAFile
	o.Etcd.StorageConfig.Transport.CertFile = opts.etcd.CertFile
	o.Etcd.StorageConfig.Transport.KeyFile = opts.etcd.KeyFile
	// No part reads the metric, and a count that runs during a stop retries for seconds and writes a
	// line to stderr each time.
	o.Etcd.StorageConfig.CountMetricPollPeriod = 0

	o.Authentication.ClientCert.ClientCA = certs.caFile
	o.Authentication.ServiceAccounts.Issuers = []string{"https://kubernetes.default.svc.cluster.local"}
	o.Authentication.ServiceAccounts.KeyFiles = []string{certs.serviceAccountKeyFile}
	o.Authentication.ServiceAccounts.OptionalTokenGetter = tokenGetter
	o.ServiceAccountSigningKeyFile = certs.serviceAccountKeyFile
	// There is no kubelet to authorize.
	o.Authorization.Modes = []string{modes.ModeRBAC}

	o.AllowPrivileged = true
	// They change the process-wide registry, and log an error when there is nothing to change.
	o.Metrics = nil
	o.Features.EnableProfiling = false
	enableAPIs(o)
	disableAdmission(o, opts.taintNewNodes)
	decorateAdmission(o, opts)
	addWebhooks(o, opts.Webhooks)
	addUserWrites(o)
	return o
}

// enableAPIs turns on every GA and beta API, so that users can apply all kinds of manifests.
func enableAPIs(o *options.ServerRunOptions) {
	o.APIEnablement.RuntimeConfig["api/ga"] = "true"
	o.APIEnablement.RuntimeConfig["api/beta"] = "true"
	if !utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload) {
		// Without the gate, the API server would warn about each kind of this version at every
		// start.
		o.APIEnablement.RuntimeConfig["scheduling.k8s.io/v1beta1"] = "false"
	}
}

// disableAdmission turns off those default plugins that depend on components that do not run here.
func disableAdmission(o *options.ServerRunOptions, taintNewNodes bool) {
	o.Admission.GenericAdmission.DisablePlugins = []string{
		// Requires a service account for every pod, which a controller would have created.
		serviceaccount.PluginName,
	}
	if !taintNewNodes {
		// Nothing makes nodes Ready, so no pod would fit on a node from YAML.
		o.Admission.GenericAdmission.DisablePlugins = append(o.Admission.GenericAdmission.DisablePlugins, nodetaint.PluginName)
	}
}

func addWebhooks(o *options.ServerRunOptions, w Webhooks) {
	if w.Register == nil {
		return
	}
	generic := o.Admission.GenericAdmission
	w.Register(generic.Plugins)
	order := generic.RecommendedPluginOrder
	generic.RecommendedPluginOrder = slices.Insert(slices.Clone(order), slices.Index(order, mutatingwebhook.PluginName), w.Plugins...)
}

// decorateAdmission puts our decorators first, so that the metrics decorator wraps ours.
func decorateAdmission(o *options.ServerRunOptions, opts serverOptions) {
	o.Admission.GenericAdmission.Decorators = slices.Insert(o.Admission.GenericAdmission.Decorators, 0,
		admission.Decorator(admission.DecoratorFunc(decorateNodeTaint(opts.RegisterNode))),
		admission.Decorator(admission.DecoratorFunc(confine(opts.Options).decorate)))
}

func (a *apiServer) url() string {
	return "https://" + a.listener.Addr().String()
}

// clientConfig returns the API server's own loopback configuration.
func (a *apiServer) clientConfig() *rest.Config {
	config := rest.CopyConfig(a.server.GenericAPIServer.LoopbackClientConfig)
	config.QPS = clientQPS
	config.Burst = clientBurst
	return config
}

// The start takes about a second, and much longer on a very busy machine.
const readyTimeout = 90 * time.Second

func (a *apiServer) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("it was not ready within %v", readyTimeout))
	defer cancel()
	return a.pollReadyz(ctx)
}

// waitStarted waits for every post-start hook, whether or not etcd still answers.
func (a *apiServer) waitStarted(ctx context.Context) error {
	return a.pollReadyz(ctx, "etcd", "etcd-readiness")
}

func (a *apiServer) pollReadyz(ctx context.Context, exclude ...string) error {
	client, err := kubernetes.NewForConfig(a.clientConfig())
	if err != nil {
		return err
	}
	ticker := time.NewTicker(readyInterval)
	defer ticker.Stop()
	for {
		request := client.RESTClient().Get().AbsPath("/readyz")
		for _, check := range exclude {
			request.Param("exclude", check)
		}
		err := request.Do(ctx).Error()
		if err == nil {
			return nil
		}
		select {
		case <-a.ended:
			return fmt.Errorf("it ended: %w", a.err)
		case <-ctx.Done():
			return fmt.Errorf("%w; it last said: %s", context.Cause(ctx), strings.ReplaceAll(err.Error(), "\n", " "))
		case <-ticker.C:
		}
	}
}

// stop first waits for the post-start hooks, about a second after the start: a hook that fails, as
// it would without a server, exits the process.
func (a *apiServer) stop(ctx context.Context) error {
	if err := a.waitStarted(ctx); err != nil && !a.hasEnded() {
		return fmt.Errorf("stop kube-apiserver: wait until it has started: %w", err)
	}
	a.cancel()
	if err := a.waitEnded(ctx); err != nil {
		return err
	}
	if a.err != nil {
		return fmt.Errorf("stop kube-apiserver: %w", a.err)
	}
	return nil
}

// patience returns how long the API server may wait for its clients before it cuts them off.
func patience(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return watchTimeout + connectionTimeout
	}
	return min(watchTimeout, time.Until(deadline)/3)
}

// waitEnded closes the connection that all clients with a copy of clientConfig share, which
// client-go would keep open for a while. The API server waits for its connections.
func (a *apiServer) waitEnded(ctx context.Context) error {
	transport, err := rest.TransportFor(a.clientConfig())
	if err != nil {
		return fmt.Errorf("stop kube-apiserver: %w", err)
	}
	ticker := time.NewTicker(closeInterval)
	defer ticker.Stop()
	defer time.AfterFunc(patience(ctx), a.listener.CloseAll).Stop()
	for {
		utilnet.CloseIdleConnectionsFor(transport)
		select {
		case <-a.ended:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("stop kube-apiserver: %w", context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

func (a *apiServer) hasEnded() bool {
	select {
	case <-a.ended:
		return true
	default:
		return false
	}
}
