package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/elsewhere/redact"
	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
	"kube-scheduler-simulator/simulator/server/watch"
)

// Results is the part of the result store that the server needs. Methods are safe for concurrent
// use. Neither side changes a cycle.
type Results interface {
	// List fails if q.Continue does not come from an earlier page.
	watch.Results
	// Attempts returns a pod's summaries, oldest first; nil if the UID is unknown.
	Attempts(uid types.UID) ([]result.Summary, error)
	// Get returns nil if the UID or the attempt is unknown.
	Get(uid types.UID, attempt int) (*result.Cycle, error)
}

// Configuration is the configuration of the running scheduler. Methods are safe for concurrent use.
// They return a *config.Error for an invalid document.
type Configuration interface {
	// Current returns the user's document, as written.
	Current() ([]byte, error)
	// Default returns the document that Kubernetes uses when the user gives none.
	Default() ([]byte, error)
	// Apply makes document, YAML or JSON, the configuration.
	Apply(ctx context.Context, document []byte) (config.Applied, error)
	// Check does everything that Apply does but change the scheduler.
	Check(ctx context.Context, document []byte) (config.Applied, error)
	// ApplyDefault makes the default the configuration.
	ApplyDefault(ctx context.Context) (config.Applied, error)
	// Effective returns the configuration in force, defaults included.
	Effective() (*config.Effective, error)
	// Revisions returns the applied configurations, newest first, without documents.
	Revisions() []config.Revision
	Revision(number int) (config.Revision, bool)
}

// Backend holds the components that the server gives access to. ClientConfig, Results and
// Configuration are required. A route whose component is nil answers 501, unless its field says
// otherwise.
type Backend struct {
	// ClientConfig reaches the kube-apiserver with the rights that users of the web application and
	// of /kubernetes/ get. The server copies it and ignores its content types and rate limits.
	ClientConfig  *rest.Config
	Results       Results
	Configuration Configuration
	// PreEnqueueRejections returns the answers of the PreEnqueue plugins that keep a pod out of the
	// active queue; nil if none does. If the function is nil, the server reports none.
	PreEnqueueRejections func(uid types.UID) []result.PluginResult
	// Waiting says where a pod waits for its next attempt; nil if it does not wait. If the function
	// is nil, the server reports none.
	Waiting func(pod result.Pod) *result.QueueWait
	// TryNow lets the scheduler try a waiting pod now, and reports whether it waited.
	TryNow func(pod result.Pod) bool
	// Queues returns the state of the scheduling queue for the watch topic of that name. The server
	// calls it about once per second while a client follows the topic. If it is nil, the server
	// refuses the topic.
	Queues func() (result.Queues, error)
	// Reset returns everything to the state of a first start. It may refuse with *operation.Busy or
	// *Forbidden. If it is nil, the cluster is not the simulator's own and cannot be reset.
	Reset    func(ctx context.Context) (Reset, error)
	Transfer Transfer
	// Placements: nil if nothing can be imported.
	Placements Placements
	// Inactive are imported parts that call no other program.
	Inactive Inactive
	// Definitions are the definitions of the objects that the simulator's own plugins read.
	Definitions Definitions
	// FeatureGates are the feature gates of Kubernetes, sorted by name.
	FeatureGates []process.Gate
	Replay       Replay
	Hypotheses   Hypotheses
	Kueue        Kueue
	// Karpenter is the autoscaler.
	Karpenter Karpenter
	Shadow    Shadow
	// Sessions are the session schedulers and the flow scheduler.
	Sessions Sessions
	Runs     Runs
	// Play plays a scenario on the cluster as it is, and returns when the last step has ended. begun
	// hears of each step before it is played. The error is a *scenario.Error for a scenario that a
	// cluster cannot play, or an *operation.Busy; then nothing has changed. When ctx ends, Play ends
	// within the step. nil if the simulator plays none.
	Play     func(ctx context.Context, sc *scenario.Scenario, begun func(PlayedStep)) error
	Timeline Timeline
	// Branches are simulators beside this one.
	Branches Branches
	// Redactor replaces the names in reports. If it is nil, each report has a new one.
	Redactor *redact.Redactor
	Lessons  Lessons
	// Agents answers agents by the Model Context Protocol, a POST with a whole body at a time. A call ends
	// with its request.
	Agents http.Handler
	// Upgrades compares versions of Kubernetes.
	Upgrades Upgrades
}

type attached struct {
	Backend
	proxy http.Handler
}

// SetBackend attaches the control plane and the scheduler once they are up: from then on their
// routes answer, and subscriptions that waited get their lists. Call it once. It fails if b is
// incomplete or invalid.
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
	s.hub.Attach(watch.Backend{Client: client, Results: b.Results, Queues: b.Queues, Admissions: b.admissions()})
	return nil
}

// require returns a 503 error if there is no backend yet, or if the simulator is stopping.
func (s *Server) require() (*attached, error) {
	if s.quiet.Load() {
		return nil, errStopping()
	}
	if b := s.backend.Load(); b != nil {
		return b, nil
	}
	return nil, refuse(http.StatusServiceUnavailable, "the control plane is starting").retry(1)
}

func errStopping() *apiError {
	return refuse(http.StatusServiceUnavailable, "the simulator is stopping")
}

// handle returns a handler that needs the part of the backend that part picks. Without that part it
// answers 501 with the message missing.
func handle[T any](s *Server, part func(*attached) T, missing string, h func(echo.Context, T) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		b, err := s.require()
		if err != nil {
			return err
		}
		picked := part(b)
		if any(picked) == nil {
			return refuse(http.StatusNotImplemented, "%s", missing)
		}
		return h(c, picked)
	}
}

type listOf[T any] struct {
	Items []T `json:"items"`
}

// answerList writes a list, which is never null.
func answerList[T any](c echo.Context, items []T, err error) error {
	if items == nil {
		items = []T{}
	}
	return answerJSON(c, listOf[T]{items}, err)
}

func answerJSON(c echo.Context, body any, err error) error {
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, body)
}

func answerNothing(c echo.Context, err error) error {
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
