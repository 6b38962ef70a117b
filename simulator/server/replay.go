package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/past/replay"
)

// Replay plays one recording at a time. Methods are safe for concurrent use.
type Replay interface {
	// Status returns false if no recording is loaded.
	Status() (replay.Status, bool)
	// Load reads a recording, empties the simulator and pauses at the start of the recording. If
	// body is not a recording, it changes nothing and returns an error that wraps
	// replay.ErrNotRecording. It also changes nothing if ctx ends before it begins to empty the
	// simulator; once begun, it completes.
	Load(ctx context.Context, name string, body io.Reader) (replay.Status, error)
	// Do, Step, Comparison and Unload fail with replay.ErrNoRecording if none is loaded.
	Do(replay.Control) (replay.Status, error)
	Step(ctx context.Context) (replay.Status, error)
	Comparison(replay.ComparisonQuery) (replay.Comparison, error)
	Unload(ctx context.Context) error
}

const replayPath = apiPrefix + "/v1/replay"

// maxRecording bounds an uploaded recording, in bytes.
const maxRecording = 1 << 30

func (s *Server) replay(h func(echo.Context, Replay) error) echo.HandlerFunc {
	part := func(b *attached) Replay { return b.Replay }
	return handle(s, part, "this simulator does not play recordings", func(c echo.Context, part Replay) error {
		return replayError(h(c, part))
	})
}

func replayError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, replay.ErrNoRecording):
		return refuse(http.StatusNotFound, "%v; send one with POST /api/v1/replay", err)
	case errors.Is(err, replay.ErrBusy):
		return refuse(http.StatusConflict, "%v", err)
	case errors.Is(err, replay.ErrNotRecording), errors.Is(err, replay.ErrControl):
		return refuse(http.StatusBadRequest, "%v", err)
	}
	return operationError(err)
}

func (s *Server) getReplay(c echo.Context, r Replay) error {
	status, loaded := r.Status()
	if !loaded {
		return replay.ErrNoRecording
	}
	return c.JSON(http.StatusOK, status)
}

func (s *Server) postReplay(c echo.Context, r Replay) error {
	name := c.QueryParam("name")
	if name == "" {
		name = "recording"
	}
	end, err := s.beginUpload()
	if err != nil {
		return err
	}
	defer end()
	status, err := r.Load(c.Request().Context(), name, c.Request().Body)
	return answerJSON(c, status, receiveError(err))
}

// patchReplay refuses unknown fields: a misspelt one would silently do nothing.
func (s *Server) patchReplay(c echo.Context, r Replay) error {
	var control replay.Control
	if err := s.readStrictly(c, &control); err != nil {
		return err
	}
	status, err := r.Do(control)
	return answerJSON(c, status, err)
}

func (s *Server) stepReplay(c echo.Context, r Replay) error {
	status, err := r.Step(c.Request().Context())
	return answerJSON(c, status, err)
}

func (s *Server) deleteReplay(c echo.Context, r Replay) error {
	return answerNothing(c, r.Unload(c.Request().Context()))
}

func (s *Server) getReplayComparison(c echo.Context, r Replay) error {
	q, err := comparisonQuery(c)
	if err != nil {
		return err
	}
	comparison, err := r.Comparison(q)
	return answerJSON(c, comparison, err)
}

func comparisonQuery(c echo.Context) (replay.ComparisonQuery, error) {
	q := replay.ComparisonQuery{Outcome: replay.Outcome(c.QueryParam("outcome")), Continue: c.QueryParam("continue")}
	if q.Outcome != "" && !slices.Contains(replay.Outcomes, q.Outcome) {
		return q, badQuery(config.Mistake{Field: "outcome", Message: "want one of " + strings.Join(replayOutcomes(), ", ")})
	}
	if limit := c.QueryParam("limit"); limit != "" {
		n, err := strconv.Atoi(limit)
		if err != nil || n < 1 || n > maxLimit {
			return q, badQuery(config.Mistake{Field: "limit", Message: "want a number from 1 to " + strconv.Itoa(maxLimit)})
		}
		q.Limit = n
	}
	if _, err := q.From(); err != nil {
		return q, badQuery(config.Mistake{Field: "continue", Message: "want the continue value of an earlier page"})
	}
	return q, nil
}

func replayOutcomes() []string {
	names := make([]string, len(replay.Outcomes))
	for i, o := range replay.Outcomes {
		names[i] = string(o)
	}
	return names
}
