// Package external connects to a control plane that runs elsewhere: it checks the version and
// the user's permissions, and monitors whether the API server answers.
//
// It never starts, stops or empties anything there. It may import Kubernetes, the lock of
// data directories, and simulator/host/kubeconfig.
package external

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
	baseversion "k8s.io/component-base/version"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/host/kubeconfig"
)

const (
	// The API server belongs to others, so requests are bounded. The bound is much higher than
	// kube-scheduler's 50 per second, because each pod takes three requests.
	clientQPS   = 500
	clientBurst = 1000
	// startTimeout bounds how long a start waits for the API server.
	startTimeout = 4 * time.Second
	// oldestMinor is the oldest minor version 1.x whose API has all kinds that the
	// scheduler watches.
	oldestMinor = 34
	// healthInterval is how often the API server's health is checked, and healthTimeout how
	// long it may take to answer.
	healthInterval = 2 * time.Second
	healthTimeout  = 5 * time.Second
	// leaseFreshness is how long after its last renewal a lease counts as held: four times
	// the usual duration, because clocks differ.
	leaseFreshness = time.Minute
)

// Options locate the API server.
type Options struct {
	// Kubeconfig is the path of a kubeconfig. Required.
	Kubeconfig string
	// Context is one of the file's contexts; its current one by default.
	Context string
	// DataDir is locked, so that only one program at a time uses it. Required.
	DataDir string
	// Changed is called when State has changed, from any goroutine. It may be nil.
	Changed func()
}

// ControlPlane is a control plane that runs elsewhere. It starts once and stops once. All
// methods may be called from any goroutine.
type ControlPlane struct {
	opts Options
	path string

	config *rest.Config // set by Start
	undo   []func() error

	mu    sync.Mutex
	state State
	never chan struct{}
}

// State describes the API server.
type State struct {
	// Unreachable says since when and why the API server does not answer; empty
	// while it does.
	Unreachable string
	// Warnings are limitations that users should know about.
	Warnings []string
}

// New returns a control plane that has not started. It does no I/O.
func New(opts Options) *ControlPlane {
	if opts.Changed == nil {
		opts.Changed = func() {}
	}
	return &ControlPlane{opts: opts, path: opts.Kubeconfig, never: make(chan struct{})}
}

// Start returns when the API server has answered, its version is supported and the user has the
// required permissions. Otherwise it returns, within a few seconds, one error that says why.
func (e *ControlPlane) Start(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Stop())
		}
	}()
	if e.path, err = filepath.Abs(e.opts.Kubeconfig); err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	lock, err := datadir.Lock(e.opts.DataDir)
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

// loadKubeconfig returns the client configuration of a kubeconfig's context.
func loadKubeconfig(path, context string) (*rest.Config, error) {
	config, _, err := kubeconfig.Load(path, context)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	config.QPS, config.Burst = clientQPS, clientBurst
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
		return nil, fmt.Errorf("the server there is not an API server: %w", err)
	}
	return info, nil
}

// withoutURL drops net/http's prefix with the method and the whole URL.
func withoutURL(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}

// checkVersion returns a warning for a version that may work, and an error for a version that
// does not.
func checkVersion(served *version.Info) (warning string, err error) {
	minor, err := strconv.Atoi(strings.TrimRight(served.Minor, "+"))
	if err != nil || served.Major != "1" {
		return "", fmt.Errorf("it reports the version %q, which cannot be parsed", served.GitVersion)
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
func (e *ControlPlane) observe(parent context.Context, client kubernetes.Interface, skew string) {
	ctx, cancel := context.WithTimeout(parent, healthTimeout)
	defer cancel()
	next := State{}
	if skew != "" {
		next.Warnings = append(next.Warnings, skew)
	}
	lease, err := client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, "kube-scheduler", metav1.GetOptions{})
	switch {
	case err == nil && isHeld(lease, time.Now()):
		next.Warnings = append(next.Warnings, fmt.Sprintf("another scheduler, %s, runs in this cluster: whichever is first binds the pods of its profiles, and there is no result if it is the other scheduler. "+
			"Give the profiles here a different schedulerName and set it in the pods, or stop the other scheduler", ptr.Deref(lease.Spec.HolderIdentity, "")))
	case err != nil && !isClientError(err):
		next.Unreachable = e.since(fmt.Sprintf("the API server %s does not answer: %v", e.config.Host, withoutURL(err)))
	}
	if parent.Err() == nil {
		e.set(next)
	}
}

// isClientError reports whether the API server answered that it cannot serve this request, such as
// 403 or 404. An API server that answers with a server error counts as unreachable.
func isClientError(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && status.ErrStatus.Code < http.StatusInternalServerError
}

// since keeps the first message, so that the status does not change with each attempt.
func (e *ControlPlane) since(message string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state.Unreachable != "" {
		return e.state.Unreachable
	}
	return fmt.Sprintf("%s (since %s)", message, time.Now().Format(time.TimeOnly))
}

func (e *ControlPlane) set(next State) {
	e.mu.Lock()
	changed := e.state.Unreachable != next.Unreachable || strings.Join(e.state.Warnings, "\n") != strings.Join(next.Warnings, "\n")
	e.state = next
	e.mu.Unlock()
	if changed {
		e.opts.Changed()
	}
}

// isHeld reports whether a lease is being renewed.
func isHeld(lease *coordinationv1.Lease, now time.Time) bool {
	return ptr.Deref(lease.Spec.HolderIdentity, "") != "" && lease.Spec.RenewTime != nil && now.Sub(lease.Spec.RenewTime.Time) < leaseFreshness
}

// follow keeps the state up to date until Stop.
func (e *ControlPlane) follow(client kubernetes.Interface, skew string) {
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

// Stop disconnects. It does not affect the API server.
func (e *ControlPlane) Stop() error {
	var errs []error
	for i := len(e.undo) - 1; i >= 0; i-- {
		errs = append(errs, e.undo[i]())
	}
	e.undo = nil
	return errors.Join(errs...)
}

// State returns the latest state.
func (e *ControlPlane) State() State {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state
}

// ClientConfig has the rights of the kubeconfig's user, and uses protobuf for kinds that
// support it. Each call returns a copy. It is nil before Start.
func (e *ControlPlane) ClientConfig() *rest.Config {
	if e.config == nil {
		return nil
	}
	return rest.CopyConfig(e.config)
}

// Kubeconfig is the path of the given file.
func (e *ControlPlane) Kubeconfig() string { return e.path }

// Done is never closed, because an unreachable server may become reachable again.
func (e *ControlPlane) Done() <-chan struct{} { return e.never }

// Err is nil.
func (e *ControlPlane) Err() error { return nil }
