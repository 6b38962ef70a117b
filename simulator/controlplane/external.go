package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	baseversion "k8s.io/component-base/version"
	"k8s.io/utils/ptr"
)

const (
	// Clients in this process share a machine of others: much more than
	// kube-scheduler's 50 per second, so that three requests for each pod do not
	// hold it up, but bounded.
	externalQPS   = 500
	externalBurst = 1000
	// externalStartTimeout bounds how long a start waits for the API server.
	externalStartTimeout = 4 * time.Second
	// oldestMinor is the oldest 1.x whose API has what the scheduler watches.
	oldestMinor = 34
	// healthInterval is how often the API server is asked whether it is there,
	// healthTimeout how long it may take to answer.
	healthInterval = 2 * time.Second
	healthTimeout  = 5 * time.Second
	// leaseFreshness is how long ago a scheduler may have renewed its lease: four
	// times what it usually is good for, as clocks differ.
	leaseFreshness = time.Minute
)

// ExternalOptions say where the API server is.
type ExternalOptions struct {
	// Kubeconfig is a file. Required.
	Kubeconfig string
	// Context is one of the file's; its current one by default.
	Context string
	// DataDir is locked, so that one program at a time uses it. Required.
	DataDir string
	// Changed is called when State has changed, from any goroutine. It may be nil.
	Changed func()
}

// External is a control plane that runs elsewhere and was there before. Nothing is
// started or stopped there, and nothing is ever emptied. It starts once and stops
// once. All methods may be called from any goroutine.
type External struct {
	opts ExternalOptions
	path string

	config *rest.Config // set by Start
	undo   []func() error

	mu    sync.Mutex
	state ExternalState
	never chan struct{}
}

// ExternalState is what is known of the API server.
type ExternalState struct {
	// Unreachable says since when and why it does not answer; empty while it does.
	Unreachable string
	// Warnings are what works less well than it should.
	Warnings []string
}

// NewExternal returns one that has not started. It does no I/O.
func NewExternal(opts ExternalOptions) *External {
	if opts.Changed == nil {
		opts.Changed = func() {}
	}
	return &External{opts: opts, path: opts.Kubeconfig, never: make(chan struct{})}
}

// Start returns when the API server has answered, is of a version that works, and
// allows what is needed, or within some seconds with one error that says what is
// wrong.
func (e *External) Start(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, externalStartTimeout)
	defer cancel()
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Stop(ctx))
		}
	}()
	if e.path, err = filepath.Abs(e.opts.Kubeconfig); err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	lock, err := lockDataDir(e.opts.DataDir)
	if err != nil {
		return err
	}
	e.undo = append(e.undo, lock.Close)
	if e.config, err = loadKubeconfig(e.path, e.opts.Context); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(e.config)
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", e.path, err)
	}
	served, err := serverVersion(ctx, client)
	if err != nil {
		return fmt.Errorf("the API server %s: %w", e.config.Host, err)
	}
	skew, err := checkVersion(served)
	if err != nil {
		return fmt.Errorf("the API server %s: %w", e.config.Host, err)
	}
	if err := checkAccess(ctx, client); err != nil {
		return fmt.Errorf("the API server %s: %w", e.config.Host, err)
	}
	e.follow(client, skew)
	return nil
}

// loadKubeconfig reads what reaches a cluster.
func loadKubeconfig(path, context string) (*rest.Config, error) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: path},
		&clientcmd.ConfigOverrides{CurrentContext: context})
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	config.QPS, config.Burst = externalQPS, externalBurst
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return config, nil
}

func serverVersion(ctx context.Context, client kubernetes.Interface) (*version.Info, error) {
	info := &version.Info{}
	// Discovery's own method takes no context.
	data, err := client.Discovery().RESTClient().Get().AbsPath("/version").DoRaw(ctx)
	switch {
	case apierrors.IsUnauthorized(err):
		return nil, errors.New("it does not accept the kubeconfig's credentials")
	case err != nil:
		return nil, fmt.Errorf("it does not answer: %w", withoutURL(err))
	}
	if err := unmarshalVersion(data, info); err != nil {
		return nil, fmt.Errorf("what answers there is no API server: %w", err)
	}
	return info, nil
}

// withoutURL drops what net/http says first: the method and the whole URL.
func withoutURL(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}

// checkVersion returns a warning for a version that may work, and an error for one
// that does not.
func checkVersion(served *version.Info) (warning string, err error) {
	minor, err := strconv.Atoi(strings.TrimRight(served.Minor, "+"))
	if err != nil || served.Major != "1" {
		return "", fmt.Errorf("its version %q is not understood", served.GitVersion)
	}
	ours, err := schedulerMinor()
	if err != nil {
		return "", err
	}
	switch {
	case minor < oldestMinor:
		return "", fmt.Errorf("it is of version %s, and this scheduler, of 1.%d, needs 1.%d or newer", served.GitVersion, ours, oldestMinor)
	case minor < ours || minor > ours+1:
		return fmt.Sprintf("the API server is of version %s and the scheduler here of 1.%d; Kubernetes supports 1.%d and 1.%d with it", served.GitVersion, ours, ours, ours+1), nil
	}
	return "", nil
}

// schedulerMinor is the minor version of Kubernetes that this program contains. Kubernetes
// supports its scheduler with an API server of the same minor version or the next.
func schedulerMinor() (int, error) {
	parsed, err := utilversion.ParseGeneric(baseversion.DefaultKubeBinaryVersion)
	if err != nil {
		return 0, fmt.Errorf("reading the version of the scheduler: %w", err)
	}
	return int(parsed.Minor()), nil
}

// observe updates the state.
func (e *External) observe(parent context.Context, client kubernetes.Interface, skew string) {
	ctx, cancel := context.WithTimeout(parent, healthTimeout)
	defer cancel()
	next := ExternalState{}
	if skew != "" {
		next.Warnings = append(next.Warnings, skew)
	}
	lease, err := client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, "kube-scheduler", metav1.GetOptions{})
	switch {
	case err == nil && isHeld(lease, time.Now()):
		next.Warnings = append(next.Warnings, fmt.Sprintf("another scheduler, %s, runs in this cluster: pods of its profiles are bound by whichever is first, and have no result when it is the other. "+
			"Give the profiles here a schedulerName of their own, and the pods too, or stop the other scheduler", ptr.Deref(lease.Spec.HolderIdentity, "")))
	case err != nil && !isAnswer(err):
		next.Unreachable = e.since(fmt.Sprintf("the API server %s does not answer: %v", e.config.Host, withoutURL(err)))
	}
	if parent.Err() == nil {
		e.set(next)
	}
}

// isAnswer reports whether it is the API server that said so.
func isAnswer(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && status.ErrStatus.Code < http.StatusInternalServerError
}

// since keeps what was said first, so that the status does not change with each try.
func (e *External) since(message string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state.Unreachable != "" {
		return e.state.Unreachable
	}
	return fmt.Sprintf("%s (since %s)", message, time.Now().Format(time.TimeOnly))
}

func (e *External) set(next ExternalState) {
	e.mu.Lock()
	changed := e.state.Unreachable != next.Unreachable || strings.Join(e.state.Warnings, "\n") != strings.Join(next.Warnings, "\n")
	e.state = next
	e.mu.Unlock()
	if changed {
		e.opts.Changed()
	}
}

// isHeld reports whether somebody renews a lease.
func isHeld(lease *coordinationv1.Lease, now time.Time) bool {
	return ptr.Deref(lease.Spec.HolderIdentity, "") != "" && lease.Spec.RenewTime != nil && now.Sub(lease.Spec.RenewTime.Time) < leaseFreshness
}

// follow keeps the state up to date until Stop.
func (e *External) follow(client kubernetes.Interface, skew string) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		wait.UntilWithContext(ctx, func(ctx context.Context) { e.observe(ctx, client, skew) }, healthInterval)
	})
	e.undo = append(e.undo, func() error {
		cancel()
		running.Wait()
		return nil
	})
}

// Stop ends what Start began. The API server is left alone.
func (e *External) Stop(context.Context) error {
	var errs []error
	for i := len(e.undo) - 1; i >= 0; i-- {
		errs = append(errs, e.undo[i]())
	}
	e.undo = nil
	return errors.Join(errs...)
}

// State says how the API server is.
func (e *External) State() ExternalState {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state
}

// ClientConfig has the rights of the kubeconfig's user, in protobuf where a kind has
// it. Each call returns a copy. It is nil before Start.
func (e *External) ClientConfig() *rest.Config {
	if e.config == nil {
		return nil
	}
	return rest.CopyConfig(e.config)
}

// Kubeconfig is the path of the file that was given.
func (e *External) Kubeconfig() string { return e.path }

// Done is never closed: a server that goes may come back.
func (e *External) Done() <-chan struct{} { return e.never }

// Err is nil.
func (e *External) Err() error { return nil }
