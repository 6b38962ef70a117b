package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/simulator/questions/autoscale"
	"kube-scheduler-simulator/simulator/questions/deschedule"
	"kube-scheduler-simulator/simulator/questions/drain"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/submit"
	"kube-scheduler-simulator/simulator/questions/why"
)

// Hypotheses answers questions about what did not happen, on a copy of the state. Methods are safe
// for concurrent use. Their errors are a *hypothesis.Refused, a *whatif.NotFoundError for what the
// question asks about, whatif.ErrBusy, or the context's.
type Hypotheses interface {
	WhatIf(ctx context.Context, q hypothesis.WhatIf) (*hypothesis.WhatIfAnswer, error)
	Fit(ctx context.Context, q hypothesis.Fit) (*hypothesis.FitAnswer, error)
	Capacity(ctx context.Context, q hypothesis.Capacity) (*capacity.Answer, error)
	Copies(ctx context.Context, c hypothesis.Change) (*hypothesis.Copies, error)
	Why(ctx context.Context, q why.Question) (*why.Answer, error)
	Submit(ctx context.Context, q submit.Question) (*submit.Answers, error)
	Autoscale(ctx context.Context, q autoscale.Question) (*autoscale.Answer, error)
	Drain(ctx context.Context, q drain.Question) (*drain.Answer, error)
	Deschedule(ctx context.Context, q deschedule.Question) (*deschedule.Answer, error)
}

const (
	whatifPath = apiPrefix + "/v1/whatif"
	// maxQuestions is how many questions are being answered, or wait for that, at a time. The
	// engine answers one after the other.
	maxQuestions = 32
	// questionTime bounds the time until a question is answered.
	questionTime = 30 * time.Second
)

// errSlow says that a question was not answered in questionTime.
var errSlow = errors.New("the question takes too long; ask for less")

// question returns a handler that reads a question and writes the answer.
func question[Q, A any](s *Server, answer func(Hypotheses, context.Context, Q) (A, error)) echo.HandlerFunc {
	part := func(b *attached) Hypotheses { return b.Hypotheses }
	return handle(s, part, "this simulator answers no hypotheses", func(c echo.Context, h Hypotheses) error {
		var q Q
		if err := s.readStrictly(c, &q); err != nil {
			return err
		}
		return s.answering(c, func(ctx context.Context) (any, error) { return answer(h, ctx, q) })
	})
}

// answering writes the answer to a question, of which only so many are answered at a time.
func (s *Server) answering(c echo.Context, answer func(context.Context) (any, error)) error {
	if !s.turns.questions.TryAcquire(1) {
		return tooManyQuestions()
	}
	defer s.turns.questions.Release(1)
	ctx, cancel := context.WithTimeoutCause(c.Request().Context(), s.opts.questionTime, errSlow)
	defer cancel()
	a, err := answer(ctx)
	if err != nil {
		return questionError(ctx, err)
	}
	return writeJSON(c, a)
}

// writeJSON answers with a document. One that knows how appends its JSON itself.
func writeJSON(c echo.Context, document any) error {
	own, ok := document.(interface {
		AppendJSON([]byte) ([]byte, error)
	})
	if !ok {
		return c.JSON(http.StatusOK, document)
	}
	data, err := own.AppendJSON(nil)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, append(data, '\n'))
}

func tooManyQuestions() *apiError {
	return refuse(http.StatusServiceUnavailable, "%d questions are being answered already; ask again", maxQuestions).retry(1)
}

// questionError turns the error of a question into an answer.
func questionError(ctx context.Context, err error) error {
	if refused, ok := errors.AsType[*hypothesis.Refused](err); ok {
		answer := refuse(http.StatusUnprocessableEntity, "%s", refused.Message)
		answer.Details = refused.Mistakes
		return answer
	}
	if missing, ok := errors.AsType[*whatif.NotFoundError](err); ok {
		return refuse(http.StatusNotFound, "%v", missing)
	}
	switch {
	case errors.Is(err, whatif.ErrBusy):
		return tooManyQuestions()
	case apierrors.IsConflict(err), apierrors.IsTooManyRequests(err), apierrors.IsServiceUnavailable(err):
		// A reset holds writes back, and dry runs with them; or the API server is busy or stops.
		return refuse(http.StatusServiceUnavailable, "%v", err).retry(1)
	case errors.Is(err, config.ErrNotRunning):
		return refuse(http.StatusServiceUnavailable, "%v", err).retry(1)
	case errors.Is(context.Cause(ctx), errSlow):
		return refuse(http.StatusServiceUnavailable, "%v", errSlow)
	case ctx.Err() != nil: // the client has gone, or the simulator stops
		return refuse(http.StatusServiceUnavailable, "%v", ctx.Err()).retry(1)
	}
	return err
}
