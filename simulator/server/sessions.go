package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/others/flow"
	"kube-scheduler-simulator/scheduler/others/session"
	"kube-scheduler-simulator/simulator/batch/sessions"
)

// Sessions are the session schedulers and the flow scheduler. Methods are safe for concurrent use.
// They return a *config.Error for an invalid document or setting.
type Sessions interface {
	Enabled() bool
	Enable(on bool) error
	Flow() sessions.FlowSettings
	SetFlow(sessions.FlowSettings) error
	Configurations() []sessions.Configuration
	// Apply makes a document the configuration of a dialect from the next session on.
	Apply(ctx context.Context, rules session.Rules, document []byte) (sessions.Configuration, error)
	// List returns the latest records, newest first, before a number; 0 means the newest.
	List(kind sessions.Kind, before int64, limit int) []sessions.Entry
	// Get returns nil for an unknown number.
	Get(number int64) json.RawMessage
	// Compare prices the placement of a scheduler's pods in one namespace, or in all.
	Compare(ctx context.Context, model flow.Model, scheduler, namespace string) (*flow.Comparison, error)
}

type sessionList struct {
	Enabled        bool                     `json:"enabled"`
	Flow           sessions.FlowSettings    `json:"flow"`
	Models         []flow.Model             `json:"models"`
	Configurations []sessions.Configuration `json:"configurations"`
	Items          []sessions.Entry         `json:"items"`
}

// sessionSettings is the body of PATCH /sessions. Nil fields change nothing.
type sessionSettings struct {
	Enabled *bool                  `json:"enabled,omitempty"`
	Flow    *sessions.FlowSettings `json:"flow,omitempty"`
}

const (
	defaultSessions = 100
	maxSessions     = 500
)

func (s *Server) sessions(h func(echo.Context, Sessions) error) echo.HandlerFunc {
	part := func(b *attached) Sessions { return b.Sessions }
	return handle(s, part, "this simulator runs no session schedulers", h)
}

func (s *Server) listSessions(c echo.Context, x Sessions) error {
	limit, before, kind := defaultSessions, int64(0), sessions.Kind(c.QueryParam("kind"))
	if kind != "" && kind != sessions.SessionKind && kind != sessions.RoundKind {
		return badQuery(config.Mistake{Field: "kind", Message: "want session or round"})
	}
	var err error
	if text := c.QueryParam("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxSessions {
			return badQuery(config.Mistake{Field: "limit", Message: fmt.Sprintf("want a number from 1 to %d", maxSessions)})
		}
	}
	if text := c.QueryParam("before"); text != "" {
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before < 1 {
			return badQuery(config.Mistake{Field: "before", Message: "want the number of a session"})
		}
	}
	return c.JSON(http.StatusOK, sessionList{Enabled: x.Enabled(), Flow: x.Flow(), Models: flow.Models, Configurations: x.Configurations(), Items: x.List(kind, before, limit)})
}

func (s *Server) patchSessions(c echo.Context, x Sessions) error {
	var r sessionSettings
	if err := s.readStrictly(c, &r); err != nil {
		return err
	}
	if r.Flow != nil {
		if err := x.SetFlow(*r.Flow); err != nil {
			return configurationError(err)
		}
	}
	if r.Enabled != nil {
		if err := x.Enable(*r.Enabled); err != nil {
			return err
		}
	}
	return s.listSessions(c, x)
}

func (s *Server) getSession(c echo.Context, x Sessions) error {
	number, err := strconv.ParseInt(c.Param("number"), 10, 64)
	if err != nil {
		return refuse(http.StatusBadRequest, "%q is not the number of a session", c.Param("number"))
	}
	record := x.Get(number)
	if record == nil {
		return refuse(http.StatusNotFound, "there is no session %d; the oldest ones are forgotten", number)
	}
	return c.JSONBlob(http.StatusOK, record)
}

// The body is YAML.
func (s *Server) putSessionConfiguration(c echo.Context, x Sessions) error {
	document, release, err := s.readBody(c.Request().Body)
	if err != nil {
		return err
	}
	defer release()
	ctx := c.Request().Context()
	var applied sessions.Configuration
	err = s.parse(ctx, func() (err error) {
		applied, err = x.Apply(ctx, session.Rules(c.Param("rules")), document)
		return err
	})
	return answerJSON(c, applied, configurationError(err))
}

func (s *Server) getFlowComparison(c echo.Context, x Sessions) error {
	return s.answering(c, func(ctx context.Context) (any, error) {
		return x.Compare(ctx, flow.Model(c.QueryParam("model")), c.QueryParam("scheduler"), c.QueryParam("namespace"))
	})
}
