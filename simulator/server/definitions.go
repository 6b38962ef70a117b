package server

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/simulator/cluster/definitions"
)

// Definitions are the CustomResourceDefinitions of the objects that the simulator's own plugins
// read. Methods are safe for concurrent use.
type Definitions interface {
	// List returns all of them, installed or not.
	List(ctx context.Context) ([]definitions.State, error)
	// Keep installs those that the cluster lacks. They stay until a user deletes them. It returns
	// when the API server serves their objects.
	Keep(ctx context.Context, definitions []definitions.Definition) error
}

// definitionList is the answer of both routes.
type definitionList struct {
	Items []definitions.State `json:"items"`
}

func (s *Server) requireDefinitions() (Definitions, error) {
	return needed(s, func(b *attached) Definitions { return b.Definitions }, "this simulator installs no custom resource definitions")
}

func (s *Server) listDefinitions(c echo.Context) error {
	here, err := s.requireDefinitions()
	if err != nil {
		return err
	}
	return answerDefinitions(c, here)
}

func (s *Server) putDefinition(c echo.Context) error {
	here, err := s.requireDefinitions()
	if err != nil {
		return err
	}
	d, known := definitions.Named(c.Param("name"))
	if !known {
		return refuse(http.StatusNotFound, "the simulator has no custom resource definition of that name")
	}
	if err := here.Keep(c.Request().Context(), []definitions.Definition{d}); err != nil {
		return err
	}
	return answerDefinitions(c, here)
}

func answerDefinitions(c echo.Context, here Definitions) error {
	items, err := here.List(c.Request().Context())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, definitionList{Items: items})
}
