package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/shadow"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// Shadow is a second configuration that judges live decisions. Methods are safe for concurrent use.
// Their errors are those of Hypotheses, and a *hypothesis.Refused for an invalid document.
type Shadow interface {
	State() shadow.State
	// Set replaces the shadow by document and begins to judge.
	Set(ctx context.Context, document []byte) error
	// Clear removes the shadow, if there is one.
	Clear() error
	// Draft judges a document once, for the pods of at most last latest decisions. It begins no
	// decision when the time is over, and goes on where it ended when asked again.
	Draft(ctx context.Context, document []byte, last int, within time.Duration) (*shadow.Draft, error)
}

const (
	shadowPath  = apiPrefix + "/v1/shadow"
	defaultLast = 200
	// defaultWithin, in milliseconds, is also the most.
	defaultWithin = 10_000
)

type shadowRequest struct {
	Configuration hypothesis.Document `json:"configuration"`
}

type draftRequest struct {
	Configuration hypothesis.Document `json:"configuration"`
	Last          int                 `json:"last,omitempty"`
	Within        int                 `json:"withinMilliseconds,omitempty"`
}

type shadowAnswer struct {
	// Configuration is the document as JSON, or null.
	Configuration json.RawMessage `json:"configuration"`
	Since         *time.Time      `json:"since,omitempty"`
	Skipped       int             `json:"skipped"`
	Waiting       int             `json:"waiting"`
	// Problem says why the shadow does not judge now; empty if it does.
	Problem string `json:"problem,omitempty"`
	shadow.Judgement
}

func (s *Server) shadow(h func(echo.Context, Shadow) error) echo.HandlerFunc {
	part := func(b *attached) Shadow { return b.Shadow }
	return handle(s, part, "this simulator answers no hypotheses", h)
}

func (s *Server) getShadow(c echo.Context, sh Shadow) error {
	state := sh.State()
	answer := shadowAnswer{Configuration: json.RawMessage("null"), Skipped: state.Skipped, Waiting: state.Waiting, Problem: state.Problem, Judgement: state.Judgement}
	if state.Configuration != nil {
		document, err := state.Configuration.JSON()
		if err != nil {
			return err
		}
		answer.Configuration, answer.Since = document, &state.Since
	}
	return c.JSON(http.StatusOK, answer)
}

func (s *Server) putShadow(c echo.Context, sh Shadow) error {
	var r shadowRequest
	if err := s.readStrictly(c, &r); err != nil {
		return err
	}
	if err := needsConfiguration(r.Configuration); err != nil {
		return err
	}
	ctx := c.Request().Context()
	if err := s.parse(ctx, func() error { return sh.Set(ctx, r.Configuration) }); err != nil {
		return questionError(ctx, err)
	}
	return s.getShadow(c, sh)
}

func (s *Server) deleteShadow(c echo.Context, sh Shadow) error {
	return answerNothing(c, sh.Clear())
}

func (s *Server) postShadow(c echo.Context, sh Shadow) error {
	r := draftRequest{Last: defaultLast, Within: defaultWithin}
	if err := s.readStrictly(c, &r); err != nil {
		return err
	}
	if err := needsConfiguration(r.Configuration); err != nil {
		return err
	}
	if r.Last < 1 || r.Last > shadow.MaxItems {
		return badQuery(config.Mistake{Field: "last", Message: fmt.Sprintf("want a number from 1 to %d", shadow.MaxItems)})
	}
	if r.Within < 1 || r.Within > defaultWithin {
		return badQuery(config.Mistake{Field: "withinMilliseconds", Message: fmt.Sprintf("want a number from 1 to %d", defaultWithin)})
	}
	return s.answering(c, func(ctx context.Context) (any, error) {
		return sh.Draft(ctx, r.Configuration, r.Last, time.Duration(r.Within)*time.Millisecond)
	})
}

func needsConfiguration(d hypothesis.Document) error {
	if d == nil {
		return badQuery(config.Mistake{Field: "configuration", Message: "want a KubeSchedulerConfiguration"})
	}
	return nil
}
