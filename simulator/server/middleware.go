package server

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
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

// limitBody bounds what a request may send. Bodies of unknown length are cut
// off when they have passed the bound.
func (s *Server) limitBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.ContentLength > s.opts.MaxBody {
			c.Response().Header().Set("Connection", "close")
			return tooLarge(s.opts.MaxBody)
		}
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = http.MaxBytesReader(c.Response().Writer, r.Body, s.opts.MaxBody)
		}
		return next(c)
	}
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
