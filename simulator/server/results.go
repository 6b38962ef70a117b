package server

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/htmlreport"
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
	p := queryParams{Context: c}
	q := result.Query{
		Namespace:  c.QueryParam("namespace"),
		Name:       c.QueryParam("name"),
		UID:        types.UID(c.QueryParam("uid")),
		Outcome:    p.outcome(),
		Text:       c.QueryParam("q"),
		Plugin:     c.QueryParam("plugin"),
		Reason:     c.QueryParam("reason"),
		Node:       c.QueryParam("node"),
		RejectedOn: c.QueryParam("rejectedOn"),
		Profile:    c.QueryParam("profile"),
		Revision:   p.number("revision", math.MaxInt32),
		Owner:      p.owner(),
		Since:      p.time("since"),
		Until:      p.time("until"),
		Limit:      p.number("limit", maxLimit),
		Continue:   c.QueryParam("continue"),
		Counts:     p.boolean("counts"),
		Buckets:    p.number("buckets", result.MaxBuckets),
	}
	if q.Buckets > 0 && !(q.Counts && q.Since.Before(q.Until)) {
		p.refuse("buckets", "a timeline needs counts=true, since and a later until")
	}
	if p.wrong != nil {
		return result.Query{}, badQuery(p.wrong...)
	}
	return q, nil
}

// queryParams reads query parameters and collects the wrong ones.
type queryParams struct {
	echo.Context
	wrong []config.Mistake
}

func (p *queryParams) refuse(name, message string) {
	p.wrong = append(p.wrong, config.Mistake{Field: name, Message: message})
}

func (p *queryParams) outcome() result.Outcome {
	o := result.Outcome(p.QueryParam("outcome"))
	if o != "" && !o.Valid() {
		p.refuse("outcome", "want one of "+outcomes())
	}
	return o
}

func (p *queryParams) owner() string {
	owner := p.QueryParam("owner")
	if owner != "" && !strings.Contains(owner, "/") {
		p.refuse("owner", "want a kind and a name, such as Deployment/web")
	}
	return owner
}

// number returns 0 for an absent parameter.
func (p *queryParams) number(name string, most int) int {
	value := p.QueryParam(name)
	if value == "" {
		return 0
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most {
		p.refuse(name, "want a number from 1 to "+strconv.Itoa(most))
		return 0
	}
	return n
}

// time returns the zero time for an absent parameter.
func (p *queryParams) time(name string) time.Time {
	value := p.QueryParam(name)
	if value == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		p.refuse(name, "want a time such as 2026-01-02T15:04:05Z")
	}
	return t
}

func (p *queryParams) boolean(name string) bool {
	value := p.QueryParam(name)
	if value == "" {
		return false
	}
	b, err := strconv.ParseBool(value)
	if err != nil {
		p.refuse(name, "want true or false")
	}
	return b
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
	// PreEnqueueRejections are the answers of the PreEnqueue plugins that currently keep the pod
	// out of the active queue. The scheduler may never have tried the pod.
	PreEnqueueRejections []result.PluginResult `json:"held,omitempty"`
	// Waiting is where the pod waits for its next attempt.
	Waiting *result.QueueWait `json:"waiting,omitempty"`
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
	answer := attempts{Items: items, PreEnqueueRejections: rejections}
	switch {
	case items == nil && rejections == nil:
		return noResults(uid)
	case items == nil:
		answer.Items = []result.Summary{}
	case b.Waiting != nil:
		answer.Waiting = b.Waiting(items[len(items)-1].Pod)
	}
	return c.JSON(http.StatusOK, answer)
}

func noResults(uid types.UID) error {
	return refuse(http.StatusNotFound, "there are no results for pod UID %q", uid)
}

// tryNow ends the wait of a pod that the scheduler has tried before.
func (s *Server) tryNow(c echo.Context) error {
	b, err := s.require()
	if err != nil {
		return err
	}
	if b.TryNow == nil {
		return refuse(http.StatusNotImplemented, "this simulator has no scheduling queue")
	}
	uid := types.UID(c.Param("uid"))
	items, err := b.Results.Attempts(uid)
	if err != nil {
		return err
	}
	if items == nil {
		return noResults(uid)
	}
	of := items[len(items)-1].Pod
	if !b.TryNow(of) {
		return refuse(http.StatusConflict, "pod %s/%s does not wait in the backoff queue or among the unschedulable pods", of.Namespace, of.Name)
	}
	return c.NoContent(http.StatusNoContent)
}

func (s *Server) getCycle(c echo.Context) error {
	b, err := s.require()
	if err != nil {
		return err
	}
	cycle, err := cycleOf(b.Results, c.Param("uid"), c.Param("attempt"))
	if err != nil {
		return err
	}
	switch format := c.QueryParam("format"); format {
	case "", "json":
		return writeJSON(c, explain.With(cycle))
	case "html":
		return s.getReport(c, b, cycle)
	default:
		return badQuery(config.Mistake{Field: "format", Message: "want json or html"})
	}
}

// uid and number come from an address.
func cycleOf(results Results, uid, number string) (*result.Cycle, error) {
	attempt, err := strconv.Atoi(number)
	if err != nil || attempt < 1 {
		return nil, badQuery(config.Mistake{Field: "attempt", Message: "want a number from 1"})
	}
	cycle, err := results.Get(types.UID(uid), attempt)
	if err != nil {
		return nil, err
	}
	if cycle == nil {
		return nil, refuse(http.StatusNotFound, "there is no result for attempt %d of pod UID %q", attempt, uid)
	}
	return cycle, nil
}

// getReport writes a decision as a file that opens without a server. With the parameter other, the
// UID and the attempt of another decision, the file compares both; with redact, it replaces names.
func (s *Server) getReport(c echo.Context, b *attached, cycle *result.Cycle) error {
	redacted, err := boolParam(c, "redact")
	if err != nil {
		return err
	}
	d := &htmlreport.Decision{Cycle: cycle}
	if other := c.QueryParam("other"); other != "" {
		uid, attempt, _ := strings.Cut(other, "/")
		if d.Other, err = cycleOf(b.Results, uid, attempt); err != nil {
			return err
		}
	}
	if d.Attempts, err = b.Results.Attempts(cycle.Pod.UID); err != nil {
		return err
	}
	if redacted {
		if d, err = d.Redact(b.redactor()); err != nil {
			return err
		}
	}
	of := d.Cycle.Pod
	return s.answerReport(c, htmlreport.Report{Decision: d}, fmt.Sprintf("%s-%s-%d", of.Namespace, of.Name, d.Cycle.Attempt))
}
