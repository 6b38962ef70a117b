package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/server/watch"
)

// Results is what the server needs of the result store. Methods are safe for
// concurrent use. Cycles are not changed by either side.
type Results interface {
	// List fails when q.Continue is not one that it gave out.
	watch.Results
	// Attempts returns a pod's summaries, oldest first; nil when the UID is
	// unknown.
	Attempts(uid types.UID) ([]result.Summary, error)
	// Get returns nil when the UID or the attempt is unknown.
	Get(uid types.UID, attempt int) (*result.Cycle, error)
}

// Configuration is the scheduler's, while it runs. Methods are safe for concurrent
// use. What is wrong with a document is a *config.Error.
type Configuration interface {
	// Current is the user's document, as written.
	Current() ([]byte, error)
	// Default is what Kubernetes uses when there is no document.
	Default() ([]byte, error)
	// Apply makes document, YAML or JSON, the configuration.
	Apply(ctx context.Context, document []byte) (config.Applied, error)
	// Check does all that Apply does but for the change itself.
	Check(ctx context.Context, document []byte) (config.Applied, error)
	// ApplyDefault makes the default the configuration.
	ApplyDefault(ctx context.Context) (config.Applied, error)
	// Effective says what is in force.
	Effective() (*config.Effective, error)
	// Revisions are what was applied, newest first, without documents.
	Revisions() []config.Revision
	// Revision returns one with its document.
	Revision(number int) (config.Revision, bool)
}

// Backend is what the server fronts. ClientConfig, Results and Configuration are
// required.
type Backend struct {
	// ClientConfig reaches the kube-apiserver with the rights that users of
	// the web application and of /kubernetes/ are to have. The server copies
	// it; its content types and rate limits do not matter.
	ClientConfig  *rest.Config
	Results       Results
	Configuration Configuration
	// Held returns what keeps a pod out of the scheduler's queue, nil when nothing
	// does. Nil: nobody knows.
	Held func(uid types.UID) []result.PluginResult
	// Queues returns the state of the scheduling queue, for the watch topic. It is
	// called about once per second while a client follows it. Nil: the topic is
	// refused.
	Queues func() (result.Queues, error)
	// Reset brings everything back to the start. It is refused with *Busy or
	// *Forbidden. Nil: the cluster is not the simulator's own.
	Reset func(ctx context.Context) (Reset, error)
	// Transfer imports and exports. Nil: its routes answer that it is not done here.
	Transfer Transfer
	// FeatureGates are Kubernetes', in the order of their names.
	FeatureGates []FeatureGate
	// Replay plays recordings. nil: its routes answer that none is played here.
	Replay Replay
}

// attached is a Backend in use.
type attached struct {
	Backend
	proxy http.Handler
}

// SetBackend attaches the control plane and the scheduler once they are up:
// from then on their routes answer, and subscriptions that waited begin. It
// may be called once; what it returns is an error in b.
func (s *Server) SetBackend(b Backend) error {
	if b.ClientConfig == nil || b.Results == nil || b.Configuration == nil {
		return errors.New("attaching the backend: client config, results and configuration are all required")
	}
	proxy, err := newProxy(b.ClientConfig, s.closing)
	if err != nil {
		return fmt.Errorf("attaching the backend: %w", err)
	}
	client, err := watch.NewClient(b.ClientConfig)
	if err != nil {
		return fmt.Errorf("attaching the backend: %w", err)
	}
	if !s.backend.CompareAndSwap(nil, &attached{Backend: b, proxy: proxy}) {
		return errors.New("attaching the backend: there is one already")
	}
	s.hub.Attach(watch.Backend{Client: client, Results: b.Results, Queues: b.Queues})
	return nil
}

// require returns the backend, or the error that says that there is none yet.
func (s *Server) require() (*attached, error) {
	if b := s.backend.Load(); b != nil {
		return b, nil
	}
	return nil, &apiError{Code: http.StatusServiceUnavailable, Message: startingMessage, retryAfter: 1}
}

const startingMessage = "the control plane is starting"
