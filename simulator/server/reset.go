package server

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/simulator/host/operation"
)

type Reset struct {
	Deleted         int     `json:"deleted"`
	DurationSeconds float64 `json:"durationSeconds"`
}

// Forbidden is the error of an operation that this cluster does not allow.
type Forbidden struct{ Message string }

func (e *Forbidden) Error() string { return e.Message }

// Once begun, a reset completes even if the client disconnects.
func (s *Server) reset(c echo.Context) error {
	b, err := s.require()
	if err != nil {
		return err
	}
	if b.Reset == nil {
		return refuse(http.StatusForbidden, "the simulator does not own this cluster, so it cannot reset it")
	}
	done, err := b.Reset(c.Request().Context())
	return answerJSON(c, done, operationError(err))
}

func operationError(err error) error {
	if busy, ok := errors.AsType[*operation.Busy](err); ok {
		return refuse(http.StatusConflict, "%v", busy).retry(1)
	}
	if forbidden, ok := errors.AsType[*Forbidden](err); ok {
		return refuse(http.StatusForbidden, "%s", forbidden.Message)
	}
	return err
}

// ClearResults makes subscribers to results list again. Call it after emptying the result store,
// while no cycle is put.
func (s *Server) ClearResults() { s.hub.ClearResults() }
