package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

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
	// Version is Kubernetes'; SetStatus fills it from Options.Version.
	Version   string          `json:"version"`
	Scheduler SchedulerStatus `json:"scheduler"`
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
// the topic. Safe for concurrent use. Empty phases mean Starting. Profiles and
// Warnings are kept and must not be changed afterwards.
func (s *Server) SetStatus(st Status) {
	if st.Version == "" {
		st.Version = s.opts.Version
	}
	if st.Phase == "" {
		st.Phase = Starting
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
	s.hub.status.put(mustMarshal(st))
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

// mustMarshal is for types of ours, which always marshal.
func mustMarshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("marshalling %T: %v", v, err))
	}
	return data
}
