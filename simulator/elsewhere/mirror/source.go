package mirror

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/redact"
	"kube-scheduler-simulator/simulator/host/kubeconfig"
)

const (
	// DefaultQPS bounds the requests per second to the source, after a burst of twice as many.
	DefaultQPS = 20
	// pageSize is how many objects a request lists.
	pageSize = 500
	// reachTimeout bounds the discovery of the source's APIs.
	reachTimeout = 10 * time.Second
	// reloadEvery is how often to look for another address in the kubeconfig.
	reloadEvery = 2 * time.Second
	userAgent   = "kube-scheduler-simulator-mirror"
)

// Selection says which objects of a source to read. The zero value selects all that matter to
// scheduling.
type Selection struct {
	// Namespaces restricts namespaced objects; default: all namespaces. Nodes, volumes and other
	// objects without a namespace are always read.
	Namespaces []string
	// Pods is a label selector for pods; all by default. It applies to nothing else.
	Pods string
}

func (s Selection) check() error {
	for _, name := range s.Namespaces {
		if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
			return fmt.Errorf("the source's namespace %q: %s", name, strings.Join(wrong, "; "))
		}
	}
	if _, err := labels.Parse(s.Pods); err != nil {
		return fmt.Errorf("the selector for the source's pods: %w", err)
	}
	return nil
}

// SourceOptions say which cluster to read, and how.
type SourceOptions struct {
	// Kubeconfig is a file; Context one of its contexts, its current one by default.
	Kubeconfig, Context string
	// Config, if set, reaches the cluster instead of a kubeconfig; Context is then only its name.
	Config    *rest.Config
	Selection Selection
	// QPS is DefaultQPS by default.
	QPS float32
	// Redactor redacts each object before anything else sees it. Nil does not redact.
	Redactor *redact.Redactor
}

// Source is a cluster to read from. Methods are safe for concurrent use.
type Source struct {
	options SourceOptions
	context string

	mu     sync.Mutex
	config *rest.Config
}

// NewSource reads the kubeconfig and checks the options. It does not contact the cluster.
func NewSource(o SourceOptions) (*Source, error) {
	if err := o.Selection.check(); err != nil {
		return nil, err
	}
	switch {
	case o.QPS < 0:
		return nil, errors.New("the requests per second to the source are negative")
	case o.QPS == 0:
		o.QPS = DefaultQPS
	}
	if o.Config != nil {
		return &Source{options: o, context: o.Context, config: o.Config}, nil
	}
	config, context, err := kubeconfig.Load(o.Kubeconfig, o.Context)
	if err != nil {
		return nil, fmt.Errorf("reading the source's kubeconfig: %s: %w", o.Kubeconfig, err)
	}
	return &Source{options: o, context: context, config: config}, nil
}

// Name is the context of the kubeconfig, which the name of a redacted source does not reveal.
func (s *Source) Name() string {
	if s.options.Redactor != nil {
		return "a redacted cluster"
	}
	return s.context
}

// Version is the cluster's version of Kubernetes, such as v1.35.4.
func (s *Source) Version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	return ServerVersion(ctx, s.clientConfig())
}

// ServerVersion asks an API server for its version. Unlike discovery's method of that name, it ends with ctx.
func ServerVersion(ctx context.Context, config *rest.Config) (string, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return "", fmt.Errorf("making a client: %w", err)
	}
	data, err := client.RESTClient().Get().AbsPath("/version").DoRaw(ctx)
	if err != nil {
		return "", err
	}
	var served version.Info
	if err := json.Unmarshal(data, &served); err != nil {
		return "", fmt.Errorf("it is not an API server: %w", err)
	}
	return objects.ServedVersion(&served), nil
}

func (s *Source) clientConfig() *rest.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	config := OnlyReading(s.config)
	config.QPS, config.Burst = s.options.QPS, max(1, int(2*s.options.QPS))
	config.UserAgent = userAgent
	config.WarningHandler = rest.NoWarnings{}
	if s.options.Redactor != nil {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return discreet{next} })
	}
	return config
}

// address is for messages. Those about a redacted source do not reveal it.
func (s *Source) address(config *rest.Config) string {
	if s.options.Redactor != nil {
		return "a redacted address"
	}
	return config.Host
}

// discreet is a transport whose errors do not name the host: names, addresses and certificates
// would.
type discreet struct{ next http.RoundTripper }

var _ http.RoundTripper = discreet{}

func (d discreet) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := d.next.RoundTrip(r)
	if err != nil {
		return nil, &discreetError{err}
	}
	return response, nil
}

// discreetError is an error of a transport without its text.
type discreetError struct{ err error }

func (e *discreetError) Unwrap() error { return e.err }

func (e *discreetError) Error() string {
	_, isName := errors.AsType[*net.DNSError](e.err)
	_, isCertificate := errors.AsType[*tls.CertificateVerificationError](e.err)
	_, isRefused := errors.AsType[*refusedError](e.err)
	wait, isNet := errors.AsType[net.Error](e.err)
	switch {
	case isRefused:
		return e.err.Error()
	case isName:
		return "its name cannot be resolved"
	case isCertificate:
		return "its certificate cannot be verified"
	case errors.Is(e.err, syscall.ECONNREFUSED):
		return "connection refused"
	case isNet && wait.Timeout():
		return "timeout"
	}
	return "the connection failed"
}

// reload reads the kubeconfig again, and reports whether the source's address or credentials have
// changed. It keeps the context that was chosen at the start. A file that cannot be read changes
// nothing.
func (s *Source) reload() bool {
	if s.options.Config != nil {
		return false
	}
	config, _, err := kubeconfig.Load(s.options.Kubeconfig, s.context)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if way(config) == way(s.config) {
		return false
	}
	s.config = config
	return true
}

// way returns everything in a configuration that decides how to reach a cluster.
func way(c *rest.Config) string {
	helper := ""
	if c.ExecProvider != nil {
		helper = fmt.Sprintf("%q %q", c.ExecProvider.Command, c.ExecProvider.Args)
	}
	return fmt.Sprintf("%q", []any{
		c.Host, c.APIPath, c.Username, c.Password, c.BearerToken, c.BearerTokenFile, c.Impersonate, helper,
		c.Insecure, c.ServerName, c.CertFile, c.KeyFile, c.CAFile, c.CertData, c.KeyData, c.CAData,
	})
}

// awaitOther returns when the address or credentials of the source have changed, or ctx has ended.
func (s *Source) awaitOther(ctx context.Context) {
	for pause(ctx, reloadEvery) == nil {
		if s.reload() {
			return
		}
	}
}

// plain returns an error without the URL of the request, which is long.
func plain(err error) error {
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Err
	}
	return err
}

var groupVersion = regexp.MustCompile(`^/(api/v1|apis/[^/]+(/[^/]+)?)/?$`)

func isGroupVersion(path string) bool { return groupVersion.MatchString(path) }

type kind struct {
	schema.GroupVersionKind
	resource   schema.GroupVersionResource
	namespaced bool
}

func (k kind) String() string { return k.GroupKind().String() }

type connection struct {
	client dynamic.Interface
	kinds  []kind // by rank
	// missed are wanted kinds of which the source and this cluster serve no common version.
	missed []kind
}

// Define installs, in the simulated cluster, the definitions that the simulator has of the given
// custom kinds, and reports whether it has any. It returns when they are served.
type Define func(ctx context.Context, kinds []schema.GroupKind) (bool, error)

// connect asks the source which of the wanted kinds it serves, and which of them the simulated
// cluster, which here reaches, serves or can serve by define. define may be nil.
func (s *Source) connect(ctx context.Context, here *rest.Config, wanted []objects.Kind, define Define) (*connection, error) {
	client, there, err := s.ask(ctx)
	if err != nil {
		return nil, err
	}
	served, err := discover(ctx, here)
	if err != nil {
		return nil, fmt.Errorf("asking for the APIs of the simulated cluster: %w", err)
	}
	var lacking []schema.GroupKind
	for _, k := range wanted {
		if gk := k.GroupKind(); len(there[gk]) > 0 && len(served[gk]) == 0 {
			lacking = append(lacking, gk)
		}
	}
	if len(lacking) > 0 && define != nil {
		defined, err := define(ctx, lacking)
		if err != nil {
			return nil, err
		}
		if defined {
			if served, err = discover(ctx, here); err != nil {
				return nil, fmt.Errorf("asking for the APIs of the simulated cluster: %w", err)
			}
		}
	}
	return s.meet(client, served, there, wanted)
}

func (s *Source) ask(ctx context.Context) (dynamic.Interface, map[schema.GroupKind][]kind, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, reachTimeout, fmt.Errorf("it does not answer within %s", reachTimeout))
	defer cancel()
	s.reload()
	config := s.clientConfig()
	there, err := discover(ctx, config)
	switch {
	case apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err):
		return nil, nil, fmt.Errorf("the source at %s refuses access: %w", s.address(config), plain(err))
	case err != nil && ctx.Err() != nil:
		return nil, nil, fmt.Errorf("the source at %s cannot be reached: %w", s.address(config), context.Cause(ctx))
	case err != nil:
		return nil, nil, fmt.Errorf("the source at %s cannot be reached: %w", s.address(config), plain(err))
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("making a client for the source: %w", err)
	}
	return client, there, nil
}

// meet finds the wanted kinds that both clusters serve.
func (s *Source) meet(client dynamic.Interface, here, there map[schema.GroupKind][]kind, wanted []objects.Kind) (*connection, error) {
	c := &connection{client: client}
	for _, k := range wanted {
		gk := k.GroupKind()
		if len(there[gk]) == 0 || (s.options.Redactor != nil && !redact.Covers(gk)) {
			continue
		}
		if k, ok := common(here[gk], there[gk]); ok {
			c.kinds = append(c.kinds, k)
		} else {
			c.missed = append(c.missed, there[gk][0])
		}
	}
	if len(c.kinds) == 0 {
		return nil, fmt.Errorf("the source at %s serves none of the kinds that scheduling depends on", s.address(s.clientConfig()))
	}
	return c, nil
}

// common returns the version that both serve and that is preferred here.
func common(here, there []kind) (kind, bool) {
	for _, k := range here {
		if at := slices.IndexFunc(there, func(t kind) bool { return t.Version == k.Version }); at >= 0 {
			return there[at], true
		}
	}
	return kind{}, false
}

// discover returns the kinds of a cluster that can be listed and watched, each in all its versions,
// the preferred one first.
func discover(ctx context.Context, config *rest.Config) (map[schema.GroupKind][]kind, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	_, lists, err := client.ServerGroupsAndResourcesWithContext(ctx)
	if err != nil && len(lists) == 0 {
		return nil, err
	}
	// Groups whose API server does not answer are missing; the others are usable.
	found := map[schema.GroupKind][]kind{}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "watch") {
				continue
			}
			k := kind{GroupVersionKind: gv.WithKind(r.Kind), resource: gv.WithResource(r.Name), namespaced: r.Namespaced}
			found[k.GroupKind()] = append(found[k.GroupKind()], k)
		}
	}
	return found, nil
}
