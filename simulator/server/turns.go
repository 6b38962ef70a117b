package server

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/semaphore"
)

const (
	// maxUploads is how many imports and recordings are received at a time: they go to the disk
	// that the cluster is on.
	maxUploads = 1
	// maxParses is how many texts are read at a time. Reading one takes up to a hundred times its
	// size.
	maxParses = 2
	// maxExports is how many exports are written at a time. Each holds all pods in memory until its
	// client has read them.
	maxExports = 2
	// exportPatience is how long an export waits for its turn.
	exportPatience = 5 * time.Second
)

// turns bound the expensive requests that are answered at the same time.
type turns struct {
	uploads, parses, exports, bodies, questions *semaphore.Weighted
}

func newTurns() turns {
	return turns{semaphore.NewWeighted(maxUploads), semaphore.NewWeighted(maxParses), semaphore.NewWeighted(maxExports), semaphore.NewWeighted(maxBodies), semaphore.NewWeighted(maxQuestions)}
}

// beginUpload returns a function that ends the upload, or an error if another one is under way.
func (s *Server) beginUpload() (end func(), err error) {
	if !s.turns.uploads.TryAcquire(1) {
		return nil, refuse(http.StatusConflict, "another file is being uploaded; try again when that has ended").retry(1)
	}
	return func() { s.turns.uploads.Release(1) }, nil
}

// parse waits for its turn to call do, which reads a document.
func (s *Server) parse(ctx context.Context, do func() error) error {
	if err := s.turns.parses.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.turns.parses.Release(1)
	return do()
}

// beginExport waits for its turn and returns a function that ends it.
func (s *Server) beginExport(ctx context.Context) (end func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, exportPatience)
	defer cancel()
	if err := s.turns.exports.Acquire(waiting, 1); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, refuse(http.StatusServiceUnavailable, "%d other exports are being read; try again when one of them has ended", maxExports).retry(5)
	}
	return func() { s.turns.exports.Release(1) }, nil
}

// complete reads the body of a request that needs none, so that it has an effect only if the client
// has sent all of it and is still there.
func complete(c echo.Context) error {
	r := c.Request()
	n, err := io.Copy(io.Discard, io.LimitReader(r.Body, maxNeedless+1))
	if err != nil {
		return err
	}
	if n > maxNeedless {
		return tooLarge(maxNeedless)
	}
	return r.Context().Err()
}

// maxNeedless bounds a body that has no meaning, in bytes.
const maxNeedless = 1 << 20

// whole returns a handler for requests whose body has no meaning.
func whole(h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := complete(c); err != nil {
			return err
		}
		return h(c)
	}
}
