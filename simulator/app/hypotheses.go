package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
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

// hypotheses answers hypothetical questions, and keeps the shadow. Both follow the running
// scheduler.
type hypotheses struct {
	simulator *simulator
	engine    *whatif.Engine
	doors     *doors
	judge     *shadow.Judge
	drafts    *shadow.Drafts
}

var (
	_ server.Shadow = (*hypotheses)(nil)
)

// startHypotheses also restores the shadow of an earlier run. Call it once the scheduler has
// started.
func (s *simulator) startHypotheses(ctx context.Context) error {
	options := whatif.Options{
		Source: s.feed, OutOfTree: s.prepared.registry, ClientConfig: s.controlPlane.ClientConfig(), Configuration: s.configurationInForce,
		Devices: virtualnode.Slices,
	}
	h := &hypotheses{simulator: s, engine: whatif.New(options), judge: shadow.New(shadow.Options{
		Follow: s.feed.FollowDecisions, Subscribe: s.store.Subscribe, Engine: options, Logger: s.options.Logger,
	})}
	h.drafts = shadow.NewDrafts(h.engine)
	client, err := dynamic.NewForConfig(s.controlPlane.ClientConfig())
	if err != nil {
		return err
	}
	desk, err := hypothesis.New(hypothesis.Options{
		ClientConfig: s.controlPlane.ClientConfig(), Engine: h.engine, Parse: s.parse, CompleteNode: s.completeNode, Beside: s.sessions, Waiting: s.scheduler.Waiting, Ready: h.ready,
	})
	if err != nil {
		return err
	}
	h.doors = &doors{Desk: desk, queues: s.queueing, configuration: configuration{s.scheduler}, catalog: s.prepared.instances, client: client, results: s.store}
	s.hypotheses = h
	// Stop these before the scheduler that they follow.
	s.onStopOf("the answers to hypotheses", 0, func(ctx context.Context) error {
		return within(ctx, func() {
			h.judge.Clear()
			h.engine.Stop()
		})
	})
	h.resume(ctx)
	return nil
}

// It returns an empty configuration when none is in force.
func (s *simulator) configurationInForce() *schedulerconfig.KubeSchedulerConfiguration {
	if c := s.scheduler.Configuration(); c != nil {
		return c.Internal
	}
	return &schedulerconfig.KubeSchedulerConfiguration{}
}

// A virtual node, if one will run for the new node, does the same.
func (s *simulator) completeNode(node *v1.Node) {
	if _, virtual := s.controllers(); virtual && s.embedded != nil {
		standin.Complete(node)
	}
}

// ready fails while no scheduler runs, because then nothing here knows the state.
func (h *hypotheses) ready() error {
	if state := h.simulator.scheduler.State(); !state.Running && !state.Swapping {
		return config.ErrNotRunning
	}
	return nil
}

func (h *hypotheses) State() shadow.State { return h.judge.State() }

func (s *simulator) shadowFile() string {
	return filepath.Join(s.prepared.dataDir, "shadow-configuration.yaml")
}

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

func (h *hypotheses) Clear() error {
	h.judge.Clear()
	return datadir.Remove(h.simulator.shadowFile())
}

// resume restores the shadow of an earlier run. A broken shadow never prevents the start. A
// scheduler that starts paused gets no shadow, because its plugins may have caused the crash.
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

func (h *hypotheses) Draft(ctx context.Context, document []byte, last int, within time.Duration) (*shadow.Draft, error) {
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
	draft, err := h.drafts.Judge(ctx, c.Internal, h.simulator.configurationInForce(), page.Items, within)
	if bad, ok := errors.AsType[*whatif.ConfigurationError](err); ok {
		return nil, hypothesis.RefusedConfiguration(c.Refuse(bad.Err))
	}
	return draft, err
}
