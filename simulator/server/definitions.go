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

func (s *Server) definitions(h func(echo.Context, Definitions) error) echo.HandlerFunc {
	part := func(b *attached) Definitions { return b.Definitions }
	return handle(s, part, "this simulator installs no custom resource definitions", h)
}

func (s *Server) putDefinition(c echo.Context, here Definitions) error {
	d, known := definitions.Named(c.Param("name"))
	if !known {
		return refuse(http.StatusNotFound, "the simulator has no custom resource definition of that name")
	}
	if err := here.Keep(c.Request().Context(), []definitions.Definition{d}); err != nil {
		return err
	}
	return s.listDefinitions(c, here)
}

func (s *Server) listDefinitions(c echo.Context, here Definitions) error {
	items, err := here.List(c.Request().Context())
	return answerList(c, items, err)
}
