package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"
)

// Reset is what a reset has done.
type Reset struct {
	// Deleted is the number of objects that were deleted.
	Deleted         int     `json:"deleted"`
	DurationSeconds float64 `json:"durationSeconds"`
}

// Busy is an error that says that something waits for something else to end.
type Busy struct {
	// With is what is under way.
	With OperationKind
}

func (e *Busy) Error() string {
	what := map[OperationKind]string{
		OperationImport: "an import", OperationReset: "a reset", OperationReplay: "a replay", OperationSync: "the connection with another cluster",
	}[e.With]
	return what + " is under way; try again when it is over"
}

// Forbidden is an error that says what is not done to this cluster, and why.
type Forbidden struct{ Message string }

func (e *Forbidden) Error() string { return e.Message }

// reset empties everything. It goes on when the client leaves.
func (s *Server) reset(c echo.Context) error {
	b, err := s.require()
	if err != nil {
		return err
	}
	if b.Reset == nil {
		return refuse(http.StatusForbidden, "the cluster is not the simulator's own, so it is not reset")
	}
	done, err := b.Reset(context.WithoutCancel(c.Request().Context()))
	if err != nil {
		return operationError(err)
	}
	return c.JSON(http.StatusOK, done)
}

// operationError translates what keeps an operation on the whole cluster from
// being done.
func operationError(err error) error {
	if busy, ok := errors.AsType[*Busy](err); ok {
		return &apiError{Code: http.StatusConflict, Message: busy.Error(), retryAfter: 1}
	}
	if forbidden, ok := errors.AsType[*Forbidden](err); ok {
		return refuse(http.StatusForbidden, "%s", forbidden.Message)
	}
	return err
}

// ClearResults tells subscribers that the results are gone: they list again. It is
// called after the results were emptied, while none is put.
func (s *Server) ClearResults() { s.hub.ClearResults() }
