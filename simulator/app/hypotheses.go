package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/shadow"
	"kube-scheduler-simulator/scheduler/standin"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/cluster/virtualnode"
	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/server"
)

// hypotheses answers questions about what did not happen, and keeps the shadow. Both follow the running scheduler.
type hypotheses struct {
	simulator *simulator
	engine    *whatif.Engine
	desk      *hypothesis.Desk
	judge     *shadow.Judge
}

var (
	_ server.Hypotheses = (*hypothesis.Desk)(nil)
	_ server.Shadow     = (*hypotheses)(nil)
)

// draftTime bounds how long a draft is judged.
const draftTime = 10 * time.Second

// startHypotheses resumes with the shadow of an earlier run. It is called when the scheduler has started.
func (s *simulator) startHypotheses(ctx context.Context) error {
	options := whatif.Options{
		Source: s.feed, OutOfTree: s.prepared.registry, ClientConfig: s.controlPlane.ClientConfig(), Configuration: s.configurationInForce,
		Devices: virtualnode.Slices,
	}
	h := &hypotheses{simulator: s, engine: whatif.New(options), judge: shadow.New(shadow.Options{
		Follow: s.feed.FollowDecisions, Subscribe: s.store.Subscribe, Engine: options, Logger: s.options.Logger,
	})}
	var err error
	h.desk, err = hypothesis.New(hypothesis.Options{
		ClientConfig: s.controlPlane.ClientConfig(), Engine: h.engine, Parse: s.parse, CompleteNode: s.completeNode, Beside: s.sessions, Waiting: s.scheduler.Waiting, Ready: h.ready,
	})
	if err != nil {
		return err
	}
	s.hypotheses = h
	// Before the scheduler stops, which they follow.
	s.onStopOf("the answers to hypotheses", 0, func(ctx context.Context) error {
		return within(ctx, func() {
			h.judge.Clear()
			h.engine.Stop()
		})
	})
	h.resume(ctx)
	return nil
}

// configurationInForce is also called while there is none.
func (s *simulator) configurationInForce() *schedulerconfig.KubeSchedulerConfiguration {
	if c := s.scheduler.Configuration(); c != nil {
		return c.Internal
	}
	return &schedulerconfig.KubeSchedulerConfiguration{}
}

// completeNode does what a virtual node will do if one runs for the new node.
func (s *simulator) completeNode(node *v1.Node) {
	if _, virtual := s.controllers(); virtual && s.embedded != nil {
		standin.Complete(node)
	}
}

// ready fails while no scheduler runs: no part of the program knows the state then.
func (h *hypotheses) ready() error {
	if state := h.simulator.scheduler.State(); !state.Running && !state.Swapping {
		return config.ErrNotRunning
	}
	return nil
}

// State implements server.Shadow.
func (h *hypotheses) State() shadow.State { return h.judge.State() }

// shadowFile keeps the document of the shadow.
func (s *simulator) shadowFile() string {
	return filepath.Join(s.prepared.dataDir, "shadow-configuration.yaml")
}

// Set implements server.Shadow.
func (h *hypotheses) Set(ctx context.Context, document []byte) error {
	c, err := h.simulator.parse(document)
	if err == nil {
		err = h.judge.Set(ctx, c)
	}
	if err != nil {
		return hypothesis.RefusedConfiguration(err)
	}
	if err := datadir.WriteFile(h.simulator.shadowFile(), document); err != nil {
		return fmt.Errorf("keeping the shadow configuration: %w", err)
	}
	return nil
}

// Clear implements server.Shadow.
func (h *hypotheses) Clear() error {
	h.judge.Clear()
	return datadir.Remove(h.simulator.shadowFile())
}

// resume makes the shadow of an earlier run the shadow again. A shadow that no longer works is no reason not to start,
// nor is one that a plugin of crashes the program: a scheduler that starts paused has none.
func (h *hypotheses) resume(ctx context.Context) {
	log := h.simulator.options.Logger
	document, err := os.ReadFile(h.simulator.shadowFile())
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	var c *config.Configuration
	if err == nil {
		c, err = h.simulator.parse(document)
	}
	if err == nil && h.simulator.scheduler.State().Paused != "" {
		log.Info("The shadow configuration does not judge, because the scheduler starts paused")
		return
	}
	if err == nil {
		err = h.judge.Set(ctx, c)
	}
	if err != nil {
		log.Error(err, "The kept shadow configuration no longer works", "file", h.simulator.shadowFile())
	}
}

// Draft implements server.Shadow.
func (h *hypotheses) Draft(ctx context.Context, document []byte, last int) (*shadow.Draft, error) {
	if err := h.ready(); err != nil {
		return nil, err
	}
	c, err := h.simulator.parse(document)
	if err != nil {
		return nil, hypothesis.RefusedConfiguration(err)
	}
	page, err := h.simulator.store.List(result.Query{Limit: last})
	if err != nil {
		return nil, fmt.Errorf("reading the latest decisions: %w", err)
	}
	draft, err := shadow.JudgeDraft(ctx, h.engine, c.Internal, page.Items, draftTime)
	if bad, ok := errors.AsType[*whatif.ConfigurationError](err); ok {
		return nil, hypothesis.RefusedConfiguration(c.Refuse(bad.Err))
	}
	return draft, err
}
