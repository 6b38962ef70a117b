package server

import (
	"fmt"
	"net/http"
	"reflect"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/simulator/elsewhere/mirror"
	"kube-scheduler-simulator/simulator/host/operation"
)

// Phase is a phase in the life of the simulator, or of its scheduler.
type Phase string

const (
	Starting Phase = "starting"
	Running  Phase = "running"
	// Stopping applies to the simulator only.
	Stopping Phase = "stopping"
	Failed   Phase = "failed"
	// Paused applies to the scheduler only: the simulator runs, and the scheduler waits for a
	// configuration.
	Paused Phase = "paused"
)

type Status struct {
	// Ready says that the scheduler schedules pods.
	Ready bool  `json:"ready"`
	Phase Phase `json:"phase"`
	// Message says what the simulator waits for, or what failed.
	Message string `json:"message"`
	// Warnings name problems that do not stop scheduling, such as a failure to write results to
	// disk.
	Warnings []string `json:"warnings"`
	// ControlPlane says whether the cluster is the simulator's own. The simulator never empties any
	// other.
	ControlPlane ControlPlane `json:"controlPlane"`
	// Operation is the operation on the whole cluster that is in progress, or nil.
	Operation *operation.Status `json:"operation,omitempty"`
	// Sync is the cluster that the simulator follows, or nil.
	Sync *mirror.Status `json:"sync,omitempty"`
	// Inactive counts the imported parts that wait for a user to activate them; see
	// Backend.Inactive.
	Inactive int `json:"inactive,omitempty"`
	// Replay says that a recording is loaded, whether it plays or not.
	Replay bool `json:"replay,omitempty"`
	// Version, Emulated and Emulatable are those of Options, from where SetStatus sets them.
	Version    string          `json:"version"`
	Emulated   string          `json:"emulated,omitempty"`
	Emulatable []string        `json:"emulatable,omitempty"`
	Scheduler  SchedulerStatus `json:"scheduler"`
}

// ControlPlane says where the cluster's API server runs.
type ControlPlane string

const (
	// Embedded: in this process.
	Embedded ControlPlane = "embedded"
	// External: elsewhere; the simulator connected to it.
	External ControlPlane = "external"
)

type SchedulerStatus struct {
	Phase   Phase  `json:"phase"`
	Message string `json:"message"`
	// Profiles are scheduler names, in the order of the configuration.
	Profiles []string `json:"profiles"`
	// Revision numbers the current configuration, from 1.
	Revision int `json:"revision"`
}

// SetStatus publishes st on /readyz, on /api/v1/status and to subscribers of the topic status. Safe
// for concurrent use. An empty phase means Starting. The server keeps Operation, Sync, Profiles and
// Warnings: do not change them afterwards.
func (s *Server) SetStatus(st Status) {
	if st.Version == "" {
		st.Version, st.Emulated, st.Emulatable = s.opts.Version, s.opts.Emulated, s.opts.Emulatable
	}
	if st.Phase == "" {
		st.Phase = Starting
	}
	if st.ControlPlane == "" {
		st.ControlPlane = Embedded
	}
	if st.Scheduler.Phase == "" {
		st.Scheduler.Phase = Starting
	}
	if st.Warnings == nil {
		st.Warnings = []string{}
	}
	if st.Scheduler.Profiles == nil {
		st.Scheduler.Profiles = []string{}
	}
	s.statusMu.Lock()
	defer s.statusMu.Unlock()
	if reflect.DeepEqual(s.status, st) {
		return
	}
	s.status = st
	s.hub.PutStatus(st)
}

func (s *Server) currentStatus() Status {
	s.statusMu.Lock()
	defer s.statusMu.Unlock()
	return s.status
}

func (s *Server) getStatus(c echo.Context) error {
	return c.JSON(http.StatusOK, s.currentStatus())
}

func (s *Server) getHealthz(c echo.Context) error {
	return c.String(http.StatusOK, "ok")
}

func (s *Server) getReadyz(c echo.Context) error {
	st := s.currentStatus()
	if st.Ready {
		return c.String(http.StatusOK, "ok")
	}
	message := string(st.Phase)
	if st.Message != "" {
		message = fmt.Sprintf("%s: %s", st.Phase, st.Message)
	}
	return refuse(http.StatusServiceUnavailable, "%s", message).retry(1)
}
