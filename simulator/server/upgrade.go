package server

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/versions"
	"kube-scheduler-simulator/simulator/questions/upgrade"
)

// Upgrades compares the decisions of two versions of Kubernetes, one pair at a time. Methods are safe for concurrent use. The errors of
// Start and StartFile may be upgrade.ErrBusy, an *upgrade.QuestionError or a *versions.NotBuiltError.
type Upgrades interface {
	// Start begins a comparison about the pods of the cluster.
	Start(q upgrade.Question) (upgrade.Job, error)
	// StartFile reads a file, and begins a comparison about the pods in it. ctx ends only the reading.
	StartFile(ctx context.Context, q upgrade.Question, name string, body io.Reader) (upgrade.Job, error)
	// Latest returns the latest comparison; false if there is none.
	Latest() (upgrade.Job, bool)
	// Delete cancels the comparison, or forgets it if it has ended. It reports whether there was one.
	Delete() bool
}

const (
	upgradePath     = apiPrefix + "/v1/upgrade"
	upgradeFilePath = upgradePath + "/file"
)

func (s *Server) upgrade(h func(echo.Context, Upgrades) error) echo.HandlerFunc {
	part := func(b *attached) Upgrades { return b.Upgrades }
	return handle(s, part, "this simulator asks no other versions", func(c echo.Context, part Upgrades) error {
		return upgradeError(h(c, part))
	})
}

func upgradeError(err error) error {
	wrong, isQuestion := errors.AsType[*upgrade.QuestionError](err)
	missing, isMissing := errors.AsType[*versions.NotBuiltError](err)
	switch {
	case errors.Is(err, upgrade.ErrBusy):
		return refuse(http.StatusConflict, "%v", err)
	case isQuestion:
		answer := refuse(http.StatusUnprocessableEntity, "%s", wrong.Message)
		answer.Details = []config.Mistake{{Field: wrong.Field, Message: wrong.Message}}
		return answer
	case isMissing:
		return refuse(http.StatusUnprocessableEntity, "%v", missing)
	}
	return err
}

// upgradeVersion says whether the scheduler of a version can be asked.
type upgradeVersion struct {
	Minor string `json:"minor"`
	// Own: it is the version of this simulator.
	Own   bool `json:"own"`
	Built bool `json:"built"`
	// Command builds it.
	Command string `json:"command"`
}

// upgradeState is what can be asked, and the latest comparison; nil if there is none.
type upgradeState struct {
	Versions []upgradeVersion `json:"versions"`
	Latest   *upgrade.Job     `json:"latest,omitempty"`
}

func (s *Server) getUpgrade(c echo.Context, u Upgrades) error {
	var state upgradeState
	for _, minor := range versions.Minors() {
		state.Versions = append(state.Versions, upgradeVersion{minor, minor == versions.Own, versions.Check(minor) == nil, versions.Command(minor)})
	}
	if job, found := u.Latest(); found {
		state.Latest = &job
	}
	return c.JSON(http.StatusOK, state)
}

func (s *Server) postUpgrade(c echo.Context, u Upgrades) error {
	var q upgrade.Question
	if err := s.readStrictly(c, &q); err != nil {
		return err
	}
	job, err := u.Start(q)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusAccepted, job)
}

func (s *Server) postUpgradeFile(c echo.Context, u Upgrades) error {
	q := upgrade.Question{From: c.QueryParam("from"), To: c.QueryParam("to")}
	name := c.QueryParam("name")
	if name == "" {
		name = "file"
	}
	end, err := s.beginUpload()
	if err != nil {
		return err
	}
	defer end()
	job, err := u.StartFile(c.Request().Context(), q, name, c.Request().Body)
	if err != nil {
		return receiveError(err)
	}
	return c.JSON(http.StatusAccepted, job)
}

func (s *Server) deleteUpgrade(c echo.Context, u Upgrades) error {
	if !u.Delete() {
		return refuse(http.StatusNotFound, "there is no comparison of versions")
	}
	return c.NoContent(http.StatusNoContent)
}
