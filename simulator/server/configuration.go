package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
	"github.com/munnerz/goautoneg"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/yamlsource"
)

const (
	mimeYAML          = "application/yaml"
	configurationPath = apiPrefix + "/v1/schedulerconfiguration"
)

// getConfiguration answers with one of the documents, as JSON unless the client prefers YAML.
func (s *Server) getConfiguration(document func(Configuration) ([]byte, error)) echo.HandlerFunc {
	return s.configuration(func(c echo.Context, configuration Configuration) error {
		data, err := document(configuration)
		if err != nil {
			return readError(err)
		}
		c.Response().Header().Set("Vary", "Accept")
		if goautoneg.Negotiate(c.Request().Header.Get("Accept"), []string{echo.MIMEApplicationJSON, mimeYAML}) == mimeYAML {
			return c.Blob(http.StatusOK, mimeYAML, data)
		}
		converted, wrong := yamlsource.JSON(data)
		if wrong != nil {
			return fmt.Errorf("converting the configuration to JSON: %w", wrong)
		}
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, converted)
	})
}

// putConfiguration applies the body, or only checks it for a dry run. The body is YAML or JSON,
// whatever its Content-Type says.
func (s *Server) putConfiguration(c echo.Context, configuration Configuration) error {
	dryRun, err := boolParam(c, "dryRun")
	if err != nil {
		return err
	}
	document, release, err := s.readBody(c.Request().Body)
	if err != nil {
		return err
	}
	defer release()
	apply := configuration.Apply
	if dryRun {
		apply = configuration.Check
	}
	return s.apply(c, func(ctx context.Context) (config.Applied, error) { return apply(ctx, document) })
}

// apply waits for its turn to read a document.
func (s *Server) apply(c echo.Context, do func(context.Context) (config.Applied, error)) error {
	ctx := c.Request().Context()
	var applied config.Applied
	err := s.parse(ctx, func() (err error) {
		applied, err = do(ctx)
		return err
	})
	return answerApplied(c, applied, err)
}

func (s *Server) deleteConfiguration(c echo.Context, configuration Configuration) error {
	applied, err := configuration.ApplyDefault(c.Request().Context())
	return answerApplied(c, applied, err)
}

func (s *Server) getEffective(c echo.Context, configuration Configuration) error {
	effective, err := configuration.Effective()
	return answerJSON(c, effective, readError(err))
}

func (s *Server) listRevisions(c echo.Context, configuration Configuration) error {
	return answerList(c, configuration.Revisions(), nil)
}

func (s *Server) getRevision(c echo.Context, configuration Configuration) error {
	r, err := revisionOf(c, configuration)
	return answerJSON(c, r, err)
}

func (s *Server) applyRevision(c echo.Context, configuration Configuration) error {
	r, err := revisionOf(c, configuration)
	if err != nil {
		return err
	}
	return s.apply(c, func(ctx context.Context) (config.Applied, error) { return configuration.Apply(ctx, []byte(r.Document)) })
}

func revisionOf(c echo.Context, configuration Configuration) (config.Revision, error) {
	number, err := strconv.Atoi(c.Param("number"))
	if err != nil || number < 1 {
		return config.Revision{}, refuse(http.StatusBadRequest, "%q is not a revision number", c.Param("number"))
	}
	r, ok := configuration.Revision(number)
	if !ok {
		return config.Revision{}, refuse(http.StatusNotFound, "there is no revision %d", number)
	}
	return r, nil
}

func (s *Server) configuration(h func(echo.Context, Configuration) error) echo.HandlerFunc {
	return handle(s, func(b *attached) Configuration { return b.Configuration }, "", h)
}

func answerApplied(c echo.Context, applied config.Applied, err error) error {
	if applied.NoEffect == nil {
		applied.NoEffect = []config.NoEffect{}
	}
	return answerJSON(c, applied, configurationError(err))
}

// Between two schedulers there is no configuration to read, as during the start, so clients ask
// again.
func readError(err error) error {
	if errors.Is(err, config.ErrNotRunning) {
		return refuse(http.StatusServiceUnavailable, "%v", err).retry(1)
	}
	return configurationError(err)
}

func configurationError(err error) error {
	if bad, ok := errors.AsType[*config.Error](err); ok {
		answer := refuse(http.StatusUnprocessableEntity, "%v", bad)
		answer.Details = append(answer.Details, bad.Mistakes...)
		return answer
	}
	switch {
	case errors.Is(err, config.ErrNotRunning):
		return refuse(http.StatusConflict, "%v", err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return refuse(http.StatusServiceUnavailable, "%v", err).retry(1)
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
		answer := refuse(http.StatusBadRequest, "%s must be true or false, not %q", name, value)
		answer.Details = []config.Mistake{{Field: name, Message: answer.Message}}
		return false, answer
	}
	return b, nil
}
