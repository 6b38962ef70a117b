package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
	"github.com/munnerz/goautoneg"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/config"
)

const (
	mimeYAML          = "application/yaml"
	configurationPath = apiPrefix + "/v1/schedulerconfiguration"
)

// getConfiguration answers one of the documents, as JSON unless the client
// prefers YAML.
func (s *Server) getConfiguration(document func(Configuration) ([]byte, error)) echo.HandlerFunc {
	return s.configuration(func(c echo.Context, live Configuration) error {
		data, err := document(live)
		if err != nil {
			return err
		}
		c.Response().Header().Set("Vary", "Accept")
		if goautoneg.Negotiate(c.Request().Header.Get("Accept"), []string{echo.MIMEApplicationJSON, mimeYAML}) == mimeYAML {
			return c.Blob(http.StatusOK, mimeYAML, data)
		}
		if data, err = yaml.YAMLToJSON(data); err != nil {
			return fmt.Errorf("converting the configuration to JSON: %w", err)
		}
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, data)
	})
}

// putConfiguration applies the body, in YAML or JSON whatever its type is said
// to be, or only tries it.
func (s *Server) putConfiguration(c echo.Context, live Configuration) error {
	dryRun, err := boolParam(c, "dryRun")
	if err != nil {
		return err
	}
	document, err := io.ReadAll(c.Request().Body)
	if err != nil {
		return err
	}
	apply := live.Apply
	if dryRun {
		apply = live.Check
	}
	applied, err := apply(c.Request().Context(), document)
	return answerApplied(c, applied, err)
}

func (s *Server) deleteConfiguration(c echo.Context, live Configuration) error {
	applied, err := live.ApplyDefault(c.Request().Context())
	return answerApplied(c, applied, err)
}

func (s *Server) getEffective(c echo.Context, live Configuration) error {
	effective, err := live.Effective()
	if err != nil {
		return configurationError(err)
	}
	return c.JSON(http.StatusOK, effective)
}

// revisions is a list of them.
type revisions struct {
	// Items are newest first, without their documents.
	Items []config.Revision `json:"items"`
}

func (s *Server) listRevisions(c echo.Context, live Configuration) error {
	items := live.Revisions()
	if items == nil {
		items = []config.Revision{}
	}
	return c.JSON(http.StatusOK, revisions{Items: items})
}

func (s *Server) getRevision(c echo.Context, live Configuration) error {
	r, err := revisionOf(c, live)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, r)
}

// applyRevision applies the document of a revision again.
func (s *Server) applyRevision(c echo.Context, live Configuration) error {
	r, err := revisionOf(c, live)
	if err != nil {
		return err
	}
	applied, err := live.Apply(c.Request().Context(), []byte(r.Document))
	return answerApplied(c, applied, err)
}

func revisionOf(c echo.Context, live Configuration) (config.Revision, error) {
	number, err := strconv.Atoi(c.Param("number"))
	if err != nil || number < 1 {
		return config.Revision{}, refuse(http.StatusBadRequest, "%q is not the number of a revision", c.Param("number"))
	}
	r, ok := live.Revision(number)
	if !ok {
		return config.Revision{}, refuse(http.StatusNotFound, "there is no revision %d", number)
	}
	return r, nil
}

// configuration is a handler that needs the backend's configuration.
func (s *Server) configuration(h func(echo.Context, Configuration) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		b, err := s.require()
		if err != nil {
			return err
		}
		return h(c, b.Configuration)
	}
}

func answerApplied(c echo.Context, applied config.Applied, err error) error {
	if err != nil {
		return configurationError(err)
	}
	if applied.NoEffect == nil {
		applied.NoEffect = []config.NoEffect{}
	}
	return c.JSON(http.StatusOK, applied)
}

// configurationError translates what applying answers.
func configurationError(err error) error {
	if bad, ok := errors.AsType[*config.Error](err); ok {
		answer := refuse(http.StatusUnprocessableEntity, "%v", bad)
		answer.Details = bad.Mistakes
		return answer
	}
	switch {
	case errors.Is(err, config.ErrNotRunning):
		return &apiError{Code: http.StatusConflict, Message: err.Error()}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &apiError{Code: http.StatusServiceUnavailable, Message: err.Error(), retryAfter: 1}
	}
	return err
}

func boolParam(c echo.Context, name string) (bool, error) {
	value := c.QueryParam(name)
	if value == "" {
		return false, nil
	}
	b, err := strconv.ParseBool(value)
	if err != nil {
		answer := refuse(http.StatusBadRequest, "%s is true or false, not %q", name, value)
		answer.Details = []errorDetail{{Field: name, Message: answer.Message}}
		return false, answer
	}
	return b, nil
}
