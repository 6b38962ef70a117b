package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
)

// apiError is an answer that is not the one that was asked for. Its JSON form
// is the public one.
type apiError struct {
	Code    int           `json:"-"`
	Message string        `json:"message"`
	Details []errorDetail `json:"details"`

	// retryAfter, in seconds, is sent when it is not 0.
	retryAfter int
}

type errorDetail struct {
	// Field is the parameter or field that Message is about.
	Field string `json:"field,omitempty"`
	// Line and Column, from 1, are where in a document that was sent; 0 when
	// that is not known.
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

func (e *apiError) Error() string { return e.Message }

func refuse(code int, format string, args ...any) *apiError {
	return &apiError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// writeTo answers with e. It is used where there is no echo context, too.
func (e *apiError) writeTo(w http.ResponseWriter) {
	if e.Details == nil {
		e.Details = []errorDetail{}
	}
	h := w.Header()
	if e.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(e.retryAfter))
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/json")
	w.WriteHeader(e.Code)
	_ = json.NewEncoder(w).Encode(e) // the client has gone
}

// refuseUpgrade answers a request for a WebSocket that does not get one.
func refuseUpgrade(w http.ResponseWriter, _ *http.Request, status int, reason error) {
	refuse(status, "%v", reason).writeTo(w)
}

// handleError is echo's: every error of a handler or a middleware ends here.
func (s *Server) handleError(err error, c echo.Context) {
	if c.Response().Committed {
		s.log.V(2).Info("answer ended early", "path", c.Request().URL.Path, "err", err)
		return
	}
	answer := apiErrorOf(err, c)
	if answer.Code == http.StatusInternalServerError {
		s.log.Error(err, "answering", "method", c.Request().Method, "path", c.Request().URL.Path)
	}
	answer.writeTo(c.Response())
}

func apiErrorOf(err error, c echo.Context) *apiError {
	r := c.Request()
	if own, ok := errors.AsType[*apiError](err); ok {
		return own
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(large.Limit)
	}
	fromEcho, ok := errors.AsType[*echo.HTTPError](err)
	if !ok {
		return refuse(http.StatusInternalServerError, "%v", err)
	}
	switch {
	case fromEcho.Code == http.StatusNotFound:
		return refuse(http.StatusNotFound, "there is nothing at %s", r.URL.Path)
	case fromEcho.Code == http.StatusMethodNotAllowed && c.Path() == anyPath:
		c.Response().Header().Del("Allow")
		return refuse(http.StatusNotFound, "there is nothing at %s", r.URL.Path)
	case fromEcho.Code == http.StatusMethodNotAllowed:
		return refuse(http.StatusMethodNotAllowed, "%s is not allowed at %s", r.Method, r.URL.Path)
	}
	return refuse(fromEcho.Code, "%v", fromEcho.Message)
}

func tooLarge(limit int64) *apiError {
	return refuse(http.StatusRequestEntityTooLarge, "the request body is larger than %d MiB, the most that this server takes", limit>>20)
}
