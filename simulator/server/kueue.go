package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/configuration"
	"kube-scheduler-simulator/simulator/batch/kueue/control"
	"kube-scheduler-simulator/simulator/batch/kueue/ledger"
	"kube-scheduler-simulator/simulator/batch/kueue/suggest"
)

// Kueue admits the workloads of queues. Methods are safe for concurrent use.
type Kueue interface {
	// State says whether Kueue admits, and why not.
	State() (KueueState, string)
	// TurnOn installs Kueue's kinds, which begins admission. It returns when the API server serves
	// them.
	TurnOn(ctx context.Context) error
	// Configuration returns Kueue's configuration. Configure changes it: YAML or JSON. The error is
	// a *configuration.Invalid for one that Kueue would refuse.
	Configuration() *configuration.Configuration
	Configure(document []byte) error
	// View returns the queues; control.ErrOff while there are none.
	View() (*control.View, error)
	// Admissions returns a page of the ledger. It fails if q.Continue does not come from an earlier
	// page.
	Admissions(q ledger.Query) (ledger.Page, error)
	// Flip sets the state of a workload's admission check. Without such a check the error is a
	// *control.NoCheckError, or the API server's.
	Flip(ctx context.Context, workload types.NamespacedName, check string, state kueue.CheckState, message string) error
	// Suggest finds what would let a workload in. The error is NotFound for one that does not wait.
	Suggest(ctx context.Context, workload types.NamespacedName) (suggest.Answer, error)
}

type KueueState string

const (
	KueueOff KueueState = "off"
	KueueOn  KueueState = "on"
	// KueueForeign means that the cluster's own Kueue admits, and ours stays out.
	KueueForeign KueueState = "foreign"
	// KueueUnavailable means that ours cannot act in this cluster.
	KueueUnavailable KueueState = "unavailable"
)

type kueueAnswer struct {
	State   KueueState    `json:"state"`
	Message string        `json:"message,omitempty"`
	View    *control.View `json:"view,omitempty"`
	// Configuration is the part of Kueue's configuration that changes admission.
	Configuration *configuration.Configuration `json:"configuration"`
	// Ignored are the settings that the simulator does not follow.
	Ignored []configuration.Ignored `json:"ignored"`
	// Follows is the last release before the state of Kueue's main branch that the simulator
	// follows.
	Follows string `json:"follows"`
	// Latest are the newest entries of the ledger.
	Latest []json.RawMessage `json:"latest"`
}

// The state of the queues comes with so many entries of the ledger.
const latestAdmissions = 50

func answerOf(k Kueue) (kueueAnswer, error) {
	a := kueueAnswer{Latest: []json.RawMessage{}, Configuration: k.Configuration(), Ignored: []configuration.Ignored{}, Follows: admission.Follows}
	a.Ignored = append(a.Ignored, a.Configuration.Ignored...)
	a.State, a.Message = k.State()
	view, err := k.View()
	if err != nil && !errors.Is(err, control.ErrOff) {
		return a, err
	}
	a.View = view
	page, err := k.Admissions(ledger.Query{Limit: latestAdmissions})
	if err != nil {
		return a, err
	}
	a.Latest = page.Items
	return a, nil
}

// admissions returns the source of the watch topic, nil if there is none.
func (b Backend) admissions() func() (any, error) {
	if b.Kueue == nil {
		return nil
	}
	return func() (any, error) { return answerOf(b.Kueue) }
}

func (s *Server) kueue(h func(echo.Context, Kueue) error) echo.HandlerFunc {
	part := func(b *attached) Kueue { return b.Kueue }
	return handle(s, part, "this simulator has no queues of Kueue", h)
}

func (s *Server) getKueue(c echo.Context, k Kueue) error {
	body, err := answerOf(k)
	return answerJSON(c, body, err)
}

func (s *Server) putKueue(c echo.Context, k Kueue) error {
	if state, why := k.State(); state == KueueForeign || state == KueueUnavailable {
		return refuse(http.StatusConflict, "%s", why)
	}
	if err := k.TurnOn(c.Request().Context()); err != nil {
		return err
	}
	return s.getKueue(c, k)
}

// The body is YAML or JSON, whatever its Content-Type says.
func (s *Server) putKueueConfiguration(c echo.Context, k Kueue) error {
	if state, why := k.State(); state == KueueForeign || state == KueueUnavailable {
		return refuse(http.StatusConflict, "%s", why)
	}
	document, release, err := s.readBody(c.Request().Body)
	if err != nil {
		return err
	}
	defer release()
	var invalid *configuration.Invalid
	err = s.parse(c.Request().Context(), func() error { return k.Configure(document) })
	if errors.As(err, &invalid) {
		mistakes := make([]config.Mistake, 0, len(invalid.Mistakes))
		for _, m := range invalid.Mistakes {
			mistakes = append(mistakes, config.Mistake{Field: m.Field, Message: m.ErrorBody()})
		}
		return badQuery(mistakes...)
	}
	if err != nil {
		return err
	}
	for _, ignored := range k.Configuration().Ignored {
		c.Response().Header().Add("Warning", fmt.Sprintf("299 - %q", ignored.Text)) // as the API server warns
	}
	return s.getKueue(c, k)
}

func (s *Server) listAdmissions(c echo.Context, k Kueue) error {
	p := queryParams{Context: c}
	q := ledger.Query{
		Namespace: c.QueryParam("namespace"), Name: c.QueryParam("name"), ClusterQueue: c.QueryParam("clusterQueue"),
		Outcome: admission.Outcome(c.QueryParam("outcome")), Limit: p.number("limit", ledger.MaxLimit), Continue: c.QueryParam("continue"),
	}
	switch q.Outcome {
	case "", admission.Reserved, admission.Preempting, admission.Skipped, admission.Refused, admission.Blocked:
	default:
		p.refuse("outcome", "must be Reserved, Preempting, Skipped, Refused or Blocked")
	}
	if p.wrong != nil {
		return badQuery(p.wrong...)
	}
	page, err := k.Admissions(q)
	if err != nil {
		return badQuery(config.Mistake{Field: "continue", Message: err.Error()})
	}
	return c.JSON(http.StatusOK, page)
}

type workloadRequest struct {
	Namespace string `json:"namespace"`
	Workload  string `json:"workload"`
}

func (r workloadRequest) key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Workload}
}

// checkRequest is the body of PUT /kueue/checks.
type checkRequest struct {
	workloadRequest
	Check   string           `json:"check"`
	State   kueue.CheckState `json:"state"`
	Message string           `json:"message,omitempty"`
}

func (s *Server) putCheck(c echo.Context, k Kueue) error {
	var request checkRequest
	if err := s.readStrictly(c, &request); err != nil {
		return err
	}
	switch request.State {
	case kueue.CheckStatePending, kueue.CheckStateReady, kueue.CheckStateRetry, kueue.CheckStateRejected:
	default:
		return badQuery(config.Mistake{Field: "state", Message: "must be Pending, Ready, Retry or Rejected"})
	}
	if err := k.Flip(c.Request().Context(), request.key(), request.Check, request.State, request.Message); err != nil {
		return refusedByKueue(err)
	}
	return s.getKueue(c, k)
}

func (s *Server) postKueueWhatIf(c echo.Context, k Kueue) error {
	var request workloadRequest
	if err := s.readStrictly(c, &request); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), questionTime)
	defer cancel()
	suggested, err := k.Suggest(ctx, request.key())
	return answerJSON(c, suggested, refusedByKueue(err))
}

func refusedByKueue(err error) error {
	var none *control.NoCheckError
	switch {
	case errors.As(err, &none), apierrors.IsNotFound(err):
		return refuse(http.StatusNotFound, "%v", err)
	case errors.Is(err, control.ErrOff), errors.Is(err, control.ErrObserves):
		return refuse(http.StatusConflict, "%v", err)
	}
	return err
}
