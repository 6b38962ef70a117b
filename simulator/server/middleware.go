package server

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"kube-scheduler-simulator/scheduler/config"
)

// contentPolicy suits a bundled application: everything comes from this server, except that the
// YAML editor creates style sheets at run time.
const contentPolicy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
	"worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// answerPolicy is for everything that is not the application. Everybody who may write to the
// cluster chooses that content, so a browser that opens it runs nothing and treats it as another
// origin.
const answerPolicy = "sandbox; default-src 'none'"

func (s *Server) setHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		if isPage(c.Request().URL.Path) {
			h.Set("Content-Security-Policy", contentPolicy)
		} else {
			h.Set("Content-Security-Policy", answerPolicy)
		}
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		if path := localPath(c.Request()); below(path, apiPrefix) || path == agentsPath {
			h.Set("Cache-Control", "no-store")
		}
		return next(c)
	}
}

// recoverPanics turns a panic into a 500. It lets http.ErrAbortHandler pass, with which handlers
// cut an answer short.
func (s *Server) recoverPanics() echo.MiddlewareFunc {
	return middleware.RecoverWithConfig(middleware.RecoverConfig{
		StackSize: 16 << 10,
		LogErrorFunc: func(c echo.Context, err error, stack []byte) error {
			s.log.Error(err, "panic", "method", c.Request().Method, "path", c.Request().URL.Path, "stack", string(stack))
			return refuse(http.StatusInternalServerError, "internal error; see the simulator's log")
		},
	})
}

// hangUpOnRefused closes the connection of a client that may not use the server. Otherwise the
// client could keep it busy with the rest of a request.
func (s *Server) hangUpOnRefused(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		refused, ok := errors.AsType[*apiError](err)
		if ok && (refused.Code == http.StatusUnauthorized || refused.Code == http.StatusForbidden) {
			c.Response().Header().Set("Connection", "close")
			requestOf(c.Request()).hangUp()
		}
		return err
	}
}

// limitBody bounds the size of request bodies and the time that they take, and ensures that a
// client can read the refusal.
func (s *Server) limitBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		q := requestOf(r)
		if q == nil || r.Body == nil || r.Body == http.NoBody {
			return next(c)
		}
		limit := s.bodyLimit(r)
		body := &boundedBody{
			ReadCloser: r.Body, limit: limit, left: limit, response: c.Response().Writer, request: q, begun: time.Now(), quiet: &s.quiet,
			waits: strings.EqualFold(r.Header.Get("Expect"), "100-continue"),
		}
		if r.ContentLength > limit {
			return body.refuse()
		}
		r.Body = body
		err := next(c)
		if err != nil && !c.Response().Committed {
			body.drain()
		}
		// net/http reads what the handler has left of the body.
		body.await()
		return err
	}
}

// maxAPIBody is the limit of the API server, in bytes.
const maxAPIBody = 3 << 20

// bodyLimit is larger for bodies that go to a file, and smaller for those that stay in memory for
// long.
func (s *Server) bodyLimit(r *http.Request) int64 {
	if below(r.URL.Path, configurationPath) {
		return min(config.MaxSize, s.opts.MaxBody)
	}
	if below(r.URL.Path, shadowPath) {
		return min(2*config.MaxSize, s.opts.MaxBody) // a string has escapes
	}
	// The API server refuses larger bodies itself, but closes the connection while the client is
	// still sending. A question holds objects for it.
	if below(r.URL.Path, proxyPrefix) || below(r.URL.Path, whatifPath) {
		return min(maxAPIBody, s.opts.MaxBody)
	}
	if r.URL.Path == agentsPath {
		return min(maxAgentBody, s.opts.MaxBody)
	}
	// A branch is the same program and has the same limits.
	if name, _ := splitBranch(r.URL.Path); name != "" {
		return max(maxRecording, maxImport)
	}
	if r.Method == http.MethodPost && (r.URL.Path == replayPath || r.URL.Path == upgradeFilePath) {
		return maxRecording
	}
	if r.Method == http.MethodPost && r.URL.Path == importPath {
		return maxImport
	}
	return s.opts.MaxBody
}

// boundedBody is a request body that fails once it exceeds limit, or when it does not arrive in
// time.
type boundedBody struct {
	io.ReadCloser
	limit, left int64
	response    http.ResponseWriter
	request     *request
	begun       time.Time
	// quiet is set while the server stops; nil in tests.
	quiet *atomic.Bool
	// waits says that the client sends nothing until the server reads (Expect: 100-continue).
	waits bool
	// ended: the body is complete, or it failed.
	ended bool
}

// brokenBody says that the server could not read a request's body to its end.
type brokenBody struct{ err error }

func (e *brokenBody) Error() string {
	return "the body of the request cannot be read: " + strings.TrimPrefix(e.err.Error(), "http: ")
}

func (e *brokenBody) Unwrap() error { return e.err }

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, &http.MaxBytesError{Limit: b.limit}
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	b.waits = false
	b.await()
	n, err := b.ReadCloser.Read(p)
	b.ended = err != nil
	b.request.got(errors.Is(err, io.EOF))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, b.late()
	case err != nil && !errors.Is(err, io.EOF):
		err = &brokenBody{err}
	}
	if int64(n) <= b.left {
		b.left -= int64(n)
		return n, err
	}
	n, b.left = int(b.left), -1
	return n, b.refuse()
}

// await sets the time by which the next part must arrive.
func (b *boundedBody) await() {
	if b.ended || b.request == nil {
		return
	}
	pace, now := b.request.pace, time.Now()
	received := b.limit - max(b.left, 0)
	slowest := b.begun.Add(3*pace.body + time.Duration(received/max(pace.bodyRate, 1))*time.Second)
	deadline := now.Add(pace.body)
	if slowest.Before(deadline) {
		deadline = slowest
	}
	b.request.await(deadline)
}

// late returns the error of a body that does not arrive.
func (b *boundedBody) late() error {
	b.response.Header().Set("Connection", "close")
	if b.quiet.Load() {
		return errStopping()
	}
	return refuse(http.StatusRequestTimeout, "the request body did not arrive in time: nothing for %s, or less than %d kB per second", b.request.pace.body, b.request.pace.bodyRate>>10)
}

const (
	// drainBytes and drainTimeout bound how much of a refused body the server reads.
	drainBytes   = 128 << 20
	drainTimeout = 10 * time.Second
)

// refuse drains the body and returns the error.
func (b *boundedBody) refuse() error {
	b.response.Header().Set("Connection", "close")
	b.drain()
	return &http.MaxBytesError{Limit: b.limit}
}

// drain reads the rest of the body before the server answers with an error. Otherwise a client that
// is still sending would see a reset connection instead of the answer.
func (b *boundedBody) drain() {
	if b.waits || b.ended {
		return
	}
	if b.quiet != nil && b.quiet.Load() {
		b.response.Header().Set("Connection", "close")
		b.request.hangUp()
		return
	}
	b.request.await(time.Now().Add(drainTimeout))
	_, err := io.CopyN(io.Discard, b.ReadCloser, drainBytes)
	b.ended = true
	b.request.got(errors.Is(err, io.EOF))
	if !errors.Is(err, io.EOF) {
		b.response.Header().Set("Connection", "close")
		b.request.hangUp()
	}
}

// compress compresses API answers to clients on other machines; on loopback it would cost more than
// it saves. Page files are stored compressed, and the Kubernetes API compresses its answers itself.
func (s *Server) compress() echo.MiddlewareFunc {
	return middleware.GzipWithConfig(middleware.GzipConfig{
		MinLength: 1 << 10,
		Skipper: func(c echo.Context) bool {
			a, path := s.access.Load(), localPath(c.Request())
			return a == nil || !a.remote || !strings.HasPrefix(path, apiPrefix+"/") || path == watchPath
		},
	})
}
