package server

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// FeatureGate is a feature gate of Kubernetes, as set in this process.
type FeatureGate struct {
	Name string `json:"name"`
	// Stage is ALPHA, BETA, GA or DEPRECATED.
	Stage   string `json:"stage"`
	Default bool   `json:"default"`
	Enabled bool   `json:"enabled"`
	// Locked gates cannot be set.
	Locked bool `json:"locked"`
}

// featureGates is a list of feature gates.
type featureGates struct {
	// Items are sorted by name.
	Items []FeatureGate `json:"items"`
}

func (s *Server) listFeatureGates(c echo.Context) error {
	b, err := s.require()
	if err != nil {
		return err
	}
	items := b.FeatureGates
	if items == nil {
		items = []FeatureGate{}
	}
	return c.JSON(http.StatusOK, featureGates{Items: items})
}
