package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/scheduler/config"
)

// apiError is the answer to a request that fails. Clients get its JSON form.
type apiError struct {
	// Code is the HTTP status.
	Code    int    `json:"-"`
	Message string `json:"message"`
	// Details name the wrong parameters, or the wrong fields of a document. They are never nil.
	Details []config.Mistake `json:"details"`

	// retryAfter is in seconds; 0 sends none.
	retryAfter int
}

func (e *apiError) Error() string { return e.Message }

func refuse(code int, format string, args ...any) *apiError {
	return &apiError{Code: code, Message: fmt.Sprintf(format, args...), Details: []config.Mistake{}}
}

func (e *apiError) retry(after int) *apiError {
	e.retryAfter = after
	return e
}

// writeTo needs no echo context, which the proxy and the watch hub do not have.
func (e *apiError) writeTo(w http.ResponseWriter) {
	h := w.Header()
	if e.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(e.retryAfter))
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/json")
	w.WriteHeader(e.Code)
	_ = json.NewEncoder(w).Encode(e) // it fails only if the client has disconnected
}

func refuseUpgrade(w http.ResponseWriter, _ *http.Request, status int, reason error) {
	refuse(status, "%v", reason).writeTo(w)
}

// handleError is echo's error handler: it answers for every handler and middleware that returns an
// error.
func (s *Server) handleError(err error, c echo.Context) {
	if c.Response().Committed {
		s.log.V(2).Info("answer ended early", "path", c.Request().URL.Path, "err", err)
		return
	}
	answer := apiErrorOf(err, c)
	if c.Request().Context().Err() != nil { // the client, or the program is to stop
		s.log.V(2).Info("answer not wanted any more", "path", c.Request().URL.Path, "err", err)
	} else if answer.Code == http.StatusInternalServerError {
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
	if broken, ok := errors.AsType[*brokenBody](err); ok {
		return refuse(http.StatusBadRequest, "%v", broken)
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
	return refuse(http.StatusRequestEntityTooLarge, "the request body is larger than %d MiB, the limit of this server", limit>>20)
}
