package server

import (
	"github.com/labstack/echo/v4"
)

func (s *Server) listFeatureGates(c echo.Context) error {
	b, err := s.require()
	if err != nil {
		return err
	}
	return answerList(c, b.FeatureGates, nil)
}
