package server

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"kube-scheduler-simulator/scheduler/config"
)

// contentPolicy fits a bundled application: everything is the server's own,
// except that the YAML editor makes its style sheets as it runs.
const contentPolicy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
	"worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

func (s *Server) setHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		if below(c.Request().URL.Path, apiPrefix) {
			h.Set("Cache-Control", "no-store")
		}
		return next(c)
	}
}

// recoverPanics turns a panic into 500. http.ErrAbortHandler, by which the
// proxy cuts an answer short, passes.
func (s *Server) recoverPanics() echo.MiddlewareFunc {
	return middleware.RecoverWithConfig(middleware.RecoverConfig{
		StackSize: 16 << 10,
		LogErrorFunc: func(c echo.Context, err error, stack []byte) error {
			s.log.Error(err, "panic", "method", c.Request().Method, "path", c.Request().URL.Path, "stack", string(stack))
			return refuse(http.StatusInternalServerError, "the server failed while answering; its log says more")
		},
	})
}

// limitBody bounds what a request may send, and has who is refused read why.
func (s *Server) limitBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Body == nil || r.Body == http.NoBody {
			return next(c)
		}
		limit := s.bodyLimit(r)
		body := &boundedBody{
			ReadCloser: r.Body, limit: limit, left: limit, response: c.Response().Writer,
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
		return err
	}
}

// maxAPIBody is what the API server takes.
const maxAPIBody = 3 << 20

// bodyLimit is larger for what goes to a file, and smaller for what is held in memory
// while others are waited for.
func (s *Server) bodyLimit(r *http.Request) int64 {
	if below(r.URL.Path, configurationPath) {
		return min(config.MaxSize, s.opts.MaxBody)
	}
	// It would refuse more by itself, and hang up on who is still sending.
	if below(r.URL.Path, proxyPrefix) {
		return min(maxAPIBody, s.opts.MaxBody)
	}
	if r.Method == http.MethodPost && r.URL.Path == replayPath {
		return maxRecording
	}
	if r.Method == http.MethodPost && r.URL.Path == importPath {
		return maxImport
	}
	return s.opts.MaxBody
}

// boundedBody is a request body that fails when it is too large.
type boundedBody struct {
	io.ReadCloser
	limit, left int64
	response    http.ResponseWriter
	// waits: the client does not send before it is asked to, which reading does.
	waits bool
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, &http.MaxBytesError{Limit: b.limit}
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	b.waits = false
	n, err := b.ReadCloser.Read(p)
	if int64(n) <= b.left {
		b.left -= int64(n)
		return n, err
	}
	n, b.left = int(b.left), -1
	return n, b.refuse()
}

const (
	// drainBytes and drainTimeout bound what is read of a body that is refused.
	drainBytes   = 128 << 20
	drainTimeout = 10 * time.Second
)

// refuse returns the error.
func (b *boundedBody) refuse() error {
	b.response.Header().Set("Connection", "close")
	b.drain()
	return &http.MaxBytesError{Limit: b.limit}
}

// drain reads what is still coming before an error is answered: a client that is
// not done with sending would see its connection reset, not the answer.
func (b *boundedBody) drain() {
	if b.waits {
		return
	}
	// Where there are no deadlines, the bytes are bounded still.
	_ = http.NewResponseController(b.response).SetReadDeadline(time.Now().Add(drainTimeout))
	_, _ = io.CopyN(io.Discard, b.ReadCloser, drainBytes)
}

// compress is for clients on other machines; on loopback it would cost more
// than it saves. Page files are kept compressed, and the Kubernetes API
// compresses by itself.
func (s *Server) compress() echo.MiddlewareFunc {
	return middleware.GzipWithConfig(middleware.GzipConfig{
		MinLength: 1 << 10,
		Skipper: func(c echo.Context) bool {
			a, path := s.access.Load(), c.Request().URL.Path
			return a == nil || !a.remote || !strings.HasPrefix(path, apiPrefix+"/") || path == watchPath
		},
	})
}
