package server

import (
	"context"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/simulator/elsewhere/transfer"
)

// Inactive are the imported parts that would call other programs: webhooks, APIServices,
// conversions, and extenders of the scheduler. They stay inactive until a user activates them.
// Methods are safe for concurrent use.
type Inactive interface {
	// List sorts them by kind and name.
	List(ctx context.Context) ([]transfer.InactiveObject, error)
	// Activate activates those that chosen returns true for. The error is a *Forbidden if some stay
	// inactive because the simulator may not call what they name.
	Activate(ctx context.Context, chosen func(kind, name string) bool) error
}

// activation chooses what to activate; everything if both fields are empty.
type activation struct {
	Kind string `json:"kind,omitempty"`
	Name string `json:"name,omitempty"`
}

func (a activation) chooses(kind, name string) bool {
	return (a.Kind == "" || a.Kind == kind) && (a.Name == "" || a.Name == name)
}

func (s *Server) inactive(h func(echo.Context, Inactive) error) echo.HandlerFunc {
	part := func(b *attached) Inactive { return b.Inactive }
	return handle(s, part, "this simulator cannot import", h)
}

// activate answers with what is still inactive.
func (s *Server) activate(c echo.Context, inactive Inactive) error {
	var which activation
	if _, err := s.readOptional(c, &which); err != nil {
		return err
	}
	if err := inactive.Activate(c.Request().Context(), which.chooses); err != nil {
		return operationError(err)
	}
	return s.getInactive(c, inactive)
}

func (s *Server) getInactive(c echo.Context, inactive Inactive) error {
	items, err := inactive.List(c.Request().Context())
	return answerList(c, items, err)
}
