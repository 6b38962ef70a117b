package server

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
)

// maxLimit is the largest page that a client may ask for.
const maxLimit = result.MaxLimit

func (s *Server) listResults(c echo.Context) error {
	b, err := s.require()
	if err != nil {
		return err
	}
	q, err := parseQuery(c)
	if err != nil {
		return err
	}
	page, err := b.Results.List(q)
	if err != nil {
		return badQuery(config.Mistake{Field: "continue", Message: err.Error()})
	}
	if page.Items == nil {
		page.Items = []result.Summary{}
	}
	return c.JSON(http.StatusOK, page)
}

func parseQuery(c echo.Context) (result.Query, error) {
	q := result.Query{
		Namespace: c.QueryParam("namespace"),
		Name:      c.QueryParam("name"),
		UID:       types.UID(c.QueryParam("uid")),
		Outcome:   result.Outcome(c.QueryParam("outcome")),
		Continue:  c.QueryParam("continue"),
	}
	var wrong []config.Mistake
	if q.Outcome != "" && !q.Outcome.Valid() {
		wrong = append(wrong, config.Mistake{Field: "outcome", Message: "want one of " + outcomes()})
	}
	if limit := c.QueryParam("limit"); limit != "" {
		n, err := strconv.Atoi(limit)
		if err != nil || n < 1 || n > maxLimit {
			wrong = append(wrong, config.Mistake{Field: "limit", Message: "want a number from 1 to " + strconv.Itoa(maxLimit)})
		}
		q.Limit = n
	}
	if wrong != nil {
		return result.Query{}, badQuery(wrong...)
	}
	return q, nil
}

func badQuery(details ...config.Mistake) *apiError {
	fields := make([]string, 0, len(details))
	for _, d := range details {
		fields = append(fields, d.Field+": "+d.Message)
	}
	return &apiError{Code: http.StatusBadRequest, Message: strings.Join(fields, "; "), Details: details}
}

func outcomes() string {
	names := make([]string, 0, len(result.Outcomes))
	for _, o := range result.Outcomes {
		names = append(names, string(o))
	}
	return strings.Join(names, ", ")
}

type attempts struct {
	Items []result.Summary `json:"items"`
	// PreEnqueueRejections are the answers of the PreEnqueue plugins that currently
	// keep the pod out of the active queue. The scheduler may never have tried the
	// pod.
	PreEnqueueRejections []result.PluginResult `json:"held,omitempty"`
}

func (s *Server) listAttempts(c echo.Context) error {
	b, err := s.require()
	if err != nil {
		return err
	}
	uid := types.UID(c.Param("uid"))
	items, err := b.Results.Attempts(uid)
	if err != nil {
		return err
	}
	var rejections []result.PluginResult
	if b.PreEnqueueRejections != nil {
		rejections = b.PreEnqueueRejections(uid)
	}
	switch {
	case items == nil && rejections == nil:
		return refuse(http.StatusNotFound, "there are no results for pod UID %q", uid)
	case items == nil:
		items = []result.Summary{}
	}
	return c.JSON(http.StatusOK, attempts{items, rejections})
}

func (s *Server) getCycle(c echo.Context) error {
	b, err := s.require()
	if err != nil {
		return err
	}
	uid := c.Param("uid")
	attempt, err := strconv.Atoi(c.Param("attempt"))
	if err != nil || attempt < 1 {
		return badQuery(config.Mistake{Field: "attempt", Message: "want a number from 1"})
	}
	cycle, err := b.Results.Get(types.UID(uid), attempt)
	if err != nil {
		return err
	}
	if cycle == nil {
		return refuse(http.StatusNotFound, "there is no result for attempt %d of pod UID %q", attempt, uid)
	}
	return c.JSON(http.StatusOK, explained{Cycle: cycle, Explanation: explain.Cycle(cycle)})
}

// explained is a cycle with its explanation.
type explained struct {
	*result.Cycle
	Explanation explain.Explanation `json:"explanation"`
}
