package server

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/munnerz/goautoneg"
	"sigs.k8s.io/yaml"
)

const mimeYAML = "application/yaml"

// getConfiguration answers one of the documents, as JSON unless the client
// prefers YAML.
func (s *Server) getConfiguration(document func(Configuration) ([]byte, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		b, err := s.require()
		if err != nil {
			return err
		}
		data, err := document(b.Configuration)
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
	}
}
