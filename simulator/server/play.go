package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/simulator/scenarios/runs"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// PlayedStep is a step of a scenario that is being played. Done counts those before it.
type PlayedStep struct {
	Step  string `json:"step"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

type playLine struct {
	Progress *PlayedStep `json:"progress,omitempty"`
	Error    *apiError   `json:"error,omitempty"`
}

// postPlay plays a scenario on the cluster as it is, and streams the steps. What was played stays
// if a step fails or the client leaves, which ends the scenario.
func (s *Server) postPlay(c echo.Context, r Runs) error {
	b, err := s.require()
	if err != nil {
		return err
	}
	if b.Play == nil {
		return refuse(http.StatusNotImplemented, "this simulator plays no scenarios on its cluster")
	}
	var sc *scenario.Scenario
	if err := s.readRun(c, func(ctx context.Context, q runs.Request) (err error) {
		sc, err = r.Load(ctx, q)
		return err
	}); err != nil {
		return err
	}
	w := c.Response()
	w.Header().Set("Content-Type", mimeNDJSON)
	lines := json.NewEncoder(w)
	err = operationError(b.Play(c.Request().Context(), sc, func(step PlayedStep) {
		_ = lines.Encode(playLine{Progress: &step}) // the context ends when the client has gone
		w.Flush()
	}))
	if err != nil && w.Committed {
		return lines.Encode(playLine{Error: apiErrorOf(err, c)})
	}
	if wrong, ok := errors.AsType[*scenario.Error](err); ok {
		return refusedRun(runs.Request{}, wrong)
	}
	return err
}
