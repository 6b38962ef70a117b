package server

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/report"
	"kube-scheduler-simulator/simulator/runs"
	"kube-scheduler-simulator/simulator/scenario"
)

// Runs keeps runs of scenarios. Methods are safe for concurrent use.
type Runs interface {
	// Start begins runs. Its error is a *scenario.Error for a wrong scenario, or a *runs.FullError.
	Start(q runs.Request) (runs.Entry, error)
	List() []runs.Entry
	Get(id string) (runs.Entry, bool)
	// Delete cancels runs, or forgets those that have ended.
	Delete(id string) bool
}

const runsPath = apiPrefix + "/v1/runs"

// runs returns a handler that needs the backend's runs.
func (s *Server) runs(h func(echo.Context, Runs) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		b, err := s.require()
		if err != nil {
			return err
		}
		if b.Runs == nil {
			return refuse(http.StatusNotImplemented, "this simulator runs no scenarios")
		}
		return h(c, b.Runs)
	}
}

func (s *Server) postRun(c echo.Context, r Runs) error {
	body, release, err := s.readBody(c.Request().Body)
	if err != nil {
		return err
	}
	defer release()
	q, err := runRequest(body)
	if err != nil {
		return err
	}
	e, err := r.Start(q)
	if err != nil {
		return refusedRun(err)
	}
	c.Response().Header().Set(echo.HeaderLocation, runsPath+"/"+e.ID)
	return c.JSON(http.StatusCreated, e)
}

// runRequest reads a request, or a scenario that stands for itself.
func runRequest(body []byte) (runs.Request, error) {
	var head struct {
		Kind     string          `json:"kind"`
		Scenario json.RawMessage `json:"scenario"`
	}
	if err := yaml.Unmarshal(body, &head); err != nil || head.Scenario == nil || head.Kind != "" {
		return runs.Request{Scenario: string(body)}, nil // Load says what is wrong with it
	}
	var q runs.Request
	if err := yaml.UnmarshalStrict(body, &q, yaml.DisallowUnknownFields); err != nil {
		return q, refuse(http.StatusBadRequest, "the request body: %s", err)
	}
	return q, nil
}

// refusedRun is the answer to a request that Start refused.
func refusedRun(err error) error {
	if wrong, ok := errors.AsType[*scenario.Error](err); ok {
		refused := refuse(http.StatusBadRequest, "the scenario is wrong: %s", wrong)
		for _, m := range wrong.Mistakes {
			refused.Details = append(refused.Details, config.Mistake{Field: m.Field, Line: m.Line, Column: m.Column, Message: m.Message})
		}
		return refused
	}
	if _, full := errors.AsType[*runs.FullError](err); full {
		return refuse(http.StatusTooManyRequests, "%s", err).retry(5)
	}
	return err
}

// getRunSchema answers with the JSON Schema of scenario files.
func (s *Server) getRunSchema(c echo.Context) error {
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, scenario.ScenarioSchema)
}

func (s *Server) listRuns(c echo.Context, r Runs) error {
	return c.JSON(http.StatusOK, struct {
		Items []runs.Entry `json:"items"`
	}{r.List()})
}

func (s *Server) getRun(c echo.Context, r Runs) error {
	e, known := r.Get(c.Param("id"))
	if !known {
		return refuse(http.StatusNotFound, "there is no run %q", c.Param("id"))
	}
	asFile, err := asReport(c)
	if err != nil {
		return err
	}
	if asFile {
		run := report.Run{Name: e.Name, Results: e.Results, Comparison: e.Comparison}
		return s.answerReport(c, report.Report{Runs: []report.Run{run}}, "run-"+e.ID)
	}
	return c.JSON(http.StatusOK, e)
}

func (s *Server) deleteRun(c echo.Context, r Runs) error {
	if !r.Delete(c.Param("id")) {
		return refuse(http.StatusNotFound, "there is no run %q", c.Param("id"))
	}
	return c.NoContent(http.StatusNoContent)
}
