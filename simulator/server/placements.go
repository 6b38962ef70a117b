package server

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/past/clusterdiff"
	"kube-scheduler-simulator/simulator/past/placement"
)

// Placements compare where imported pods are with where they were. Methods are safe for concurrent
// use.
type Placements interface {
	Compare(ctx context.Context, q placement.Query) (placement.Comparison, error)
	Sides(ctx context.Context) (clusterdiff.Comparison, error)
	// Last returns the report of the last import; nil if there was none.
	Last() *transfer.Report
}

func (s *Server) placements(h func(echo.Context, Placements) error) echo.HandlerFunc {
	part := func(b *attached) Placements { return b.Placements }
	return handle(s, part, "this simulator cannot import", h)
}

type importPlacements struct {
	placement.Comparison
	// StartTime is the last import's; nil if there was none.
	StartTime *time.Time `json:"startTime,omitempty"`
	// Gone counts the pods that the last import left to the scheduler and that do not exist any more: at
	// least so many, if there were several imports.
	Gone  int             `json:"gone"`
	Lacks []transfer.Lack `json:"lacks"`
}

func (s *Server) getImportPlacements(c echo.Context, p Placements) error {
	paged, err := comparisonQuery(c)
	if err != nil {
		return err
	}
	compared, err := p.Compare(c.Request().Context(), placement.Query{
		ComparisonQuery: paged,
		Cause:           placement.Cause{Kind: explain.Kind(c.QueryParam("cause")), Plugin: c.QueryParam("plugin")},
	})
	answer := importPlacements{Comparison: compared, Lacks: []transfer.Lack{}}
	if last := p.Last(); last != nil {
		answer.StartTime, answer.Lacks = &last.StartTime, last.Lacks
		answer.Gone = max(0, last.LeftToScheduler-compared.Compared)
	}
	return answerJSON(c, answer, err)
}

func (s *Server) getImportSides(c echo.Context, p Placements) error {
	sides, err := p.Sides(c.Request().Context())
	return answerJSON(c, sides, err)
}
