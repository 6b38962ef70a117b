package server

import (
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/labstack/echo/v4"
)

// Phase says how far the simulator, or its scheduler, has come.
type Phase string

const (
	Starting Phase = "starting"
	Running  Phase = "running"
	// Stopping is the simulator's only.
	Stopping Phase = "stopping"
	Failed   Phase = "failed"
)

// Status is what the simulator is doing.
type Status struct {
	// Ready: the scheduler schedules.
	Ready bool  `json:"ready"`
	Phase Phase `json:"phase"`
	// Message says what is being waited for, or what failed.
	Message string `json:"message"`
	// Warnings are what works less well than it should, such as results that
	// cannot be written to disk. None of them stops scheduling.
	Warnings []string `json:"warnings"`
	// ControlPlane says whose the cluster is: one that is not the simulator's own
	// is never emptied.
	ControlPlane ControlPlane `json:"controlPlane"`
	// Operation is what is being done to the whole cluster; nil when nothing is.
	Operation *Operation `json:"operation,omitempty"`
	// Sync is the cluster that is followed; nil when none is.
	Sync *Sync `json:"sync,omitempty"`
	// Replay: a recording is loaded, whether or not it plays.
	Replay bool `json:"replay,omitempty"`
	// Version is Kubernetes'; SetStatus fills it from Options.Version.
	Version   string          `json:"version"`
	Scheduler SchedulerStatus `json:"scheduler"`
}

// ControlPlane says where the cluster's API server runs.
type ControlPlane string

const (
	// Embedded: in this process.
	Embedded ControlPlane = "embedded"
	// External: elsewhere; it was there before.
	External ControlPlane = "external"
)

// OperationKind names an operation.
type OperationKind string

const (
	OperationImport OperationKind = "import"
	OperationReset  OperationKind = "reset"
	OperationReplay OperationKind = "replay"
	OperationSync   OperationKind = "sync"
)

// Operation is something that is done to the whole cluster.
type Operation struct {
	Kind OperationKind `json:"kind"`
	// Message is what of it is being done.
	Message string `json:"message"`
	// Done of Total; both are 0 when it cannot be counted.
	Done  int `json:"done"`
	Total int `json:"total"`
}

// SyncState is how the simulator gets on with a cluster that it follows.
type SyncState string

const (
	SyncConnecting SyncState = "connecting"
	SyncLive       SyncState = "live"
	// SyncStale: it does not answer. What came from it stays as it is.
	SyncStale SyncState = "stale"
)

// Sync is a cluster that is followed: what changes there changes here.
type Sync struct {
	// Source is what people call it.
	Source  string    `json:"source"`
	State   SyncState `json:"state"`
	Message string    `json:"message"`
	// LastChange is nil while nothing has come.
	LastChange *time.Time `json:"lastChange,omitempty"`
	// Objects are those here that came from it.
	Objects int `json:"objects"`
}

// SchedulerStatus is what the scheduler is doing.
type SchedulerStatus struct {
	Phase   Phase  `json:"phase"`
	Message string `json:"message"`
	// Profiles are scheduler names, in the order of the configuration.
	Profiles []string `json:"profiles"`
	// Revision counts the configurations that were applied, from 1.
	Revision int `json:"revision"`
}

// SetStatus publishes st: on /readyz, on /api/v1/status and to subscribers of
// the topic. Safe for concurrent use. Empty phases mean Starting. Operation, Sync,
// Profiles and Warnings are kept and must not be changed afterwards.
func (s *Server) SetStatus(st Status) {
	if st.Version == "" {
		st.Version = s.opts.Version
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
	return &apiError{Code: http.StatusServiceUnavailable, Message: message, retryAfter: 1}
}
