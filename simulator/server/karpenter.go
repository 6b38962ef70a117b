package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"kube-scheduler-simulator/simulator/autoscaling/live"
)

// Karpenter is the autoscaler beside the scheduler, which may be on or off. Methods are safe for concurrent use.
type Karpenter interface {
	// State says whether Karpenter's controllers run.
	State(ctx context.Context) (KarpenterState, error)
	// Configure turns them on or off, and changes how their cloud behaves. It refuses with a *Forbidden where they cannot run.
	Configure(ctx context.Context, s KarpenterSettings) error
	// Interrupt takes the spot instance of a node back after a notice. It refuses with a *live.NotInterruptedError.
	Interrupt(ctx context.Context, node string, notice time.Duration) error
	// Log returns up to so many of the latest entries, the latest first.
	Log(most int) []live.Entry
}

// KarpenterSettings are what a user sets.
type KarpenterSettings struct {
	On bool `json:"on"`
	live.Settings
}

// KarpenterState is whether Karpenter's controllers run.
type KarpenterState struct {
	State KarpenterPhase `json:"state"`
	// Message says why they cannot run.
	Message  string            `json:"message,omitempty"`
	Version  string            `json:"version"`
	Settings KarpenterSettings `json:"settings"`
	// Bare are pods that Karpenter would evict to save money, and that nothing creates again. They are counted while it is off.
	Bare live.BarePods `json:"bare"`
}

// KarpenterPhase is a word for the state.
type KarpenterPhase string

const (
	KarpenterOff KarpenterPhase = "off"
	KarpenterOn  KarpenterPhase = "on"
	// KarpenterForeign means that another Karpenter decides about the nodes of this cluster.
	KarpenterForeign KarpenterPhase = "foreign"
	// KarpenterUnavailable means that ours cannot act in this cluster.
	KarpenterUnavailable KarpenterPhase = "unavailable"
)

type karpenterAnswer struct {
	KarpenterState
	// Log has the latest entries, the latest first.
	Log []live.Entry `json:"log"`
}

// interruption asks for one.
type interruption struct {
	Node string `json:"node"`
	// NoticeSeconds is how long Karpenter has to move the pods; by default the two minutes of a large cloud.
	NoticeSeconds *float64 `json:"noticeSeconds,omitempty"`
}

const (
	// latestEntries bounds the log in an answer.
	latestEntries = 200
	defaultNotice = 2 * time.Minute
	maxNotice     = time.Hour
)

func (s *Server) karpenter(h func(echo.Context, Karpenter) error) echo.HandlerFunc {
	part := func(b *attached) Karpenter { return b.Karpenter }
	return handle(s, part, "this simulator has no autoscaler", h)
}

func (s *Server) getKarpenter(c echo.Context, k Karpenter) error {
	state, err := k.State(c.Request().Context())
	return answerJSON(c, karpenterAnswer{state, k.Log(latestEntries)}, err)
}

func (s *Server) putKarpenter(c echo.Context, k Karpenter) error {
	var settings KarpenterSettings
	if err := s.readStrictly(c, &settings); err != nil {
		return err
	}
	if err := settings.Validate(); err != nil {
		return refuse(http.StatusBadRequest, "%s", err)
	}
	if err := k.Configure(c.Request().Context(), settings); err != nil {
		return refusedByKarpenter(err)
	}
	return s.getKarpenter(c, k)
}

func (s *Server) postInterruption(c echo.Context, k Karpenter) error {
	var of interruption
	if err := s.readStrictly(c, &of); err != nil {
		return err
	}
	notice := defaultNotice
	if of.NoticeSeconds != nil {
		notice = time.Duration(*of.NoticeSeconds * float64(time.Second))
	}
	if of.Node == "" {
		return refuse(http.StatusBadRequest, "node is missing: it names the node whose instance is taken back")
	}
	if notice < 0 || notice > maxNotice {
		return refuse(http.StatusBadRequest, "noticeSeconds: %v is not between 0 and %v", *of.NoticeSeconds, maxNotice.Seconds())
	}
	if err := k.Interrupt(c.Request().Context(), of.Node, notice); err != nil {
		return refusedByKarpenter(err)
	}
	return s.getKarpenter(c, k)
}

func refusedByKarpenter(err error) error {
	var not *live.NotInterruptedError
	var forbidden *Forbidden
	if errors.As(err, &not) || errors.As(err, &forbidden) {
		return refuse(http.StatusConflict, "%v", err)
	}
	return err
}
