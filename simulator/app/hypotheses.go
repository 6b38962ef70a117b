package app

import (
	"context"
	"fmt"
	"time"

	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/shadow"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/hypothesis"
	"kube-scheduler-simulator/simulator/server"
	"kube-scheduler-simulator/simulator/virtualnode"
)

// hypotheses answers questions on a copy of what the running scheduler sees, and lets a second
// configuration judge its decisions. The shadow lasts until the program ends.
type hypotheses struct {
	simulator *simulator
	engine    *whatif.Engine
	desk      *hypothesis.Desk
	judge     *shadow.Judge
}

// newHypotheses needs the scheduler. It makes no request, and follows the scheduler only when somebody
// asks.
func (s *simulator) newHypotheses() (*hypotheses, error) {
	options := whatif.Options{
		Source:        s.feed,
		Configuration: s.runningConfiguration,
		OutOfTree:     s.prepared.registry,
		ClientConfig:  s.controlPlane.ClientConfig(),
	}
	h := &hypotheses{simulator: s, engine: whatif.New(options)}
	desk := hypothesis.Options{ClientConfig: s.controlPlane.ClientConfig(), Engine: h.engine, Parse: s.parse}
	if s.nodes != nil {
		desk.CompleteNode = virtualnode.Complete
	}
	var err error
	if h.desk, err = hypothesis.New(desk); err != nil {
		return nil, fmt.Errorf("preparing to answer hypotheses: %w", err)
	}
	h.judge = shadow.New(shadow.Options{
		Follow:    func(ctx context.Context) (*feed.Follower, error) { return s.feed.FollowDecisions(ctx) },
		Subscribe: s.store.Subscribe,
		Engine:    options,
		Logger:    s.options.Logger,
	})
	return h, nil
}

// runningConfiguration returns the configuration of the running scheduler. While another one is
// being swapped in, it waits for none: the latest one that ran is as good for a question.
func (s *simulator) runningConfiguration() *schedulerconfig.KubeSchedulerConfiguration {
	if c := s.scheduler.Configuration(); c != nil {
		s.latest.Store(c.Internal)
		return c.Internal
	}
	return s.latest.Load()
}

// stop ends the shadow and lets go of all copies.
func (h *hypotheses) stop(context.Context) error {
	h.judge.Clear()
	h.engine.Stop()
	return nil
}

var _ server.Shadow = (*shadowed)(nil)

// shadowed is the shadow as the web server sees it.
type shadowed struct{ *hypotheses }

// draftTime bounds how long a draft is judged, so that a client has an answer in time.
const draftTime = 20 * time.Second

func (h shadowed) State() shadow.State { return h.judge.State() }

func (h shadowed) Set(ctx context.Context, document []byte) error {
	c, err := h.simulator.parse(document)
	if err != nil {
		return err
	}
	return h.judge.Set(ctx, c)
}

func (h shadowed) Clear() error {
	h.judge.Clear()
	return nil
}

func (h shadowed) Draft(ctx context.Context, document []byte, last int) (*shadow.Draft, error) {
	c, err := h.simulator.parse(document)
	if err != nil {
		return nil, err
	}
	page, err := h.simulator.store.List(result.Query{Limit: last})
	if err != nil {
		return nil, err
	}
	return shadow.JudgeDraft(ctx, h.engine, c.Internal, page.Items, draftTime)
}
