package server

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/simulator/host/process"
)

type featureGates struct {
	// Items are sorted by name.
	Items []process.Gate `json:"items"`
}

func (s *Server) listFeatureGates(c echo.Context) error {
	b, err := s.require()
	if err != nil {
		return err
	}
	items := b.FeatureGates
	if items == nil {
		items = []process.Gate{}
	}
	return c.JSON(http.StatusOK, featureGates{Items: items})
}
