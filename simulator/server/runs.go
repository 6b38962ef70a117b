package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	schedulerresult "kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/htmlreport"
	"kube-scheduler-simulator/simulator/scenarios/runs"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Runs keeps runs of scenarios. Methods are safe for concurrent use.
type Runs interface {
	// Start begins runs; ctx ends only the reading. The error is a *scenario.Error for a wrong
	// scenario, or a *runs.FullError.
	Start(ctx context.Context, q runs.Request) (runs.Entry, error)
	// Load reads the scenario of a request. The error is a *scenario.Error if it is wrong.
	Load(ctx context.Context, q runs.Request) (*scenario.Scenario, error)
	List() []runs.Entry
	Get(id string) (runs.Entry, bool)
	// Result returns nil if there is no such result, or not yet.
	Result(id string, index int) *scenario.Result
	// Delete cancels runs, or forgets those that have ended.
	Delete(id string) bool
}

const runsPath = apiPrefix + "/v1/runs"

func (s *Server) runs(h func(echo.Context, Runs) error) echo.HandlerFunc {
	part := func(b *attached) Runs { return b.Runs }
	return handle(s, part, "this simulator runs no scenarios", h)
}

func (s *Server) postRun(c echo.Context, r Runs) error {
	var e runs.Entry
	if err := s.readRun(c, func(ctx context.Context, q runs.Request) (err error) {
		e, err = r.Start(ctx, q)
		return err
	}); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, runsPath+"/"+e.ID)
	return c.JSON(http.StatusCreated, e)
}

// readRun calls do with the request of a run. Both parse in one turn.
func (s *Server) readRun(c echo.Context, do func(context.Context, runs.Request) error) error {
	body, release, err := s.readBody(c.Request().Body)
	if err != nil {
		return err
	}
	defer release()
	ctx := c.Request().Context()
	var q runs.Request
	if err := s.parse(ctx, func() (err error) {
		if q, err = runRequest(ctx, body); err != nil {
			return err
		}
		return do(ctx, q)
	}); err != nil {
		return refusedRun(q, err)
	}
	return nil
}

// runRequest reads a request, or a bare scenario.
func runRequest(ctx context.Context, body []byte) (runs.Request, error) {
	root, wrong := yamlsource.Parse(ctx, body, yamlsource.Object)
	if wrong != nil && wrong.Reason.Exceeds() {
		return runs.Request{}, wrongBody(*wrong)
	}
	has := func(name string) bool { return yamlsource.Field(root, name) != nil }
	if !has("scenario") && !has("sweep") || has("kind") {
		if yamlsource.Text(root, "kind") == scenario.KindSweep {
			return runs.Request{Sweep: string(body)}, nil
		}
		return runs.Request{Scenario: string(body)}, nil // Load says what is wrong with it
	}
	var q runs.Request
	if all := yamlsource.Decode(ctx, body, yamlsource.Object, &q); len(all) > 0 {
		return q, wrongBody(all...)
	}
	return q, nil
}

func refusedRun(q runs.Request, err error) error {
	if wrong, ok := errors.AsType[*scenario.Error](err); ok {
		what := "scenario"
		if q.Sweep != "" {
			what = "sweep"
		}
		refused := refuse(http.StatusBadRequest, "the %s is wrong: %s", what, wrong)
		refused.Details = append(refused.Details, wrong.Mistakes...)
		return refused
	}
	if _, full := errors.AsType[*runs.FullError](err); full {
		return refuse(http.StatusTooManyRequests, "%s", err).retry(5)
	}
	return err
}

// getRunSchema answers with the JSON Schema of scenario files, or of sweep files.
func (s *Server) getRunSchema(c echo.Context) error {
	switch kind := c.QueryParam("kind"); kind {
	case "", scenario.KindScenario:
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, scenario.ScenarioSchema)
	case scenario.KindSweep:
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, scenario.SweepSchema)
	default:
		return refuse(http.StatusBadRequest, "kind must be %s or %s, not %q", scenario.KindScenario, scenario.KindSweep, kind)
	}
}

func runResult(c echo.Context, r Runs) (*scenario.Result, int, error) {
	index, err := strconv.Atoi(c.Param("index"))
	if err == nil {
		if result := r.Result(c.Param("id"), index); result != nil {
			return result, index, nil
		}
	}
	return nil, 0, refuse(http.StatusNotFound, "run %q has no result %q, or not yet", c.Param("id"), c.Param("index"))
}

func (s *Server) getRunResult(c echo.Context, r Runs) error {
	result, _, err := runResult(c, r)
	return answerJSON(c, result, err)
}

// getRunDecision answers with a whole decision that explains a failed expectation, in the form of a
// report.
func (s *Server) getRunDecision(c echo.Context, r Runs) error {
	result, index, err := runResult(c, r)
	if err != nil {
		return err
	}
	asFile, err := asReport(c)
	if err != nil {
		return err
	}
	for d := range result.Decisions() {
		if d.Cycle == nil || htmlreport.DecisionKey(index, d) != c.Param("index")+"/"+c.Param("uid")+"/"+c.Param("attempt") {
			continue
		}
		one := htmlreport.Report{Decision: &htmlreport.Decision{Cycle: d.Cycle, Attempts: []schedulerresult.Summary{d.Summary}}, Exported: s.opts.clock.Now()}
		if asFile {
			return s.answerReport(c, one, "decision")
		}
		return c.JSON(http.StatusOK, htmlreport.Content(one))
	}
	return refuse(http.StatusNotFound, "run %q does not keep this decision", c.Param("id"))
}

func (s *Server) listRuns(c echo.Context, r Runs) error {
	return answerList(c, r.List(), nil)
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
		run := htmlreport.Run{Name: e.Name, Results: e.Results, Comparison: e.Comparison, Sweep: e.Sweep}
		if e.Sweep != nil {
			run.Results = make([]*scenario.Result, e.Total)
			for i := range run.Results {
				run.Results[i] = r.Result(e.ID, i)
			}
		}
		return s.answerReport(c, htmlreport.Report{Runs: []htmlreport.Run{run}}, "run-"+e.ID)
	}
	return c.JSON(http.StatusOK, e)
}

func (s *Server) deleteRun(c echo.Context, r Runs) error {
	if !r.Delete(c.Param("id")) {
		return refuse(http.StatusNotFound, "there is no run %q", c.Param("id"))
	}
	return c.NoContent(http.StatusNoContent)
}
