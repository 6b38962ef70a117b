package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"kube-scheduler-simulator/scheduler/others/flow"
	"kube-scheduler-simulator/scheduler/others/session"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/past/playback"
	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/oncluster"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// FullEngine runs scenarios in this process. Each run has a new control plane with virtual nodes
// and all schedulers, and takes at most limit of real time. Runs wait for each other, because a
// scheduler's metrics belong to the process.
//
// The caller has set Kubernetes' feature gates, as for Run. The options that place the cluster and
// its web server have no effect.
func FullEngine(o Options, limit time.Duration) scenario.Engine {
	turn := make(chan struct{}, 1)
	return func(ctx context.Context, c scenario.ClusterOptions) (scenario.Cluster, error) {
		if c.Autoscale != nil {
			return nil, &autoscaleError{}
		}
		if c.KubernetesVersion != "" {
			return nil, &versionError{}
		}
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		release := func() { <-turn }
		cluster, err := openFull(ctx, o, c, limit, release)
		if err != nil {
			release()
			return nil, err
		}
		return cluster, nil
	}
}

// autoscaleError refuses the field autoscale.
type autoscaleError struct{}

func (*autoscaleError) Error() string {
	return "the field autoscale works in memory only: on the full engine time is real, and Karpenter's controllers decide at moments of their own, after which a step cannot wait; use --engine memory, or let Karpenter act beside a simulator that serves, with --karpenter"
}

// versionError refuses the field kubernetesVersion.
type versionError struct{}

func (*versionError) Error() string {
	return "the field kubernetesVersion works in memory only: on the full engine this program's own scheduler runs; use --engine memory, or emulate an older version with a simulator that serves, with --kubernetes-version"
}

func openFull(ctx context.Context, o Options, c scenario.ClusterOptions, limit time.Duration, release func()) (scenario.Cluster, error) {
	o.Listen, o.DataDir, o.Kubeconfig, o.TokenFile = "127.0.0.1:0", "", "", ""
	// Nobody looks at this cluster later, so keep nothing for that.
	o.AnnotationBytes, o.TimelineBytes, o.SessionScheduler, o.TieSeed = 0, 0, true, &c.Seed
	if c.Played {
		o.Controllers, o.NoVirtualNodes = playback.Controllers(), true
	}
	s, err := newSimulator(ctx, o)
	if err != nil {
		return nil, err
	}
	s.prepared.configuration = c.Configuration
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ready, ended := newReadyLine(), make(chan error, 1)
	go func() { ended <- s.run(running, ready) }()
	select {
	case <-ready.written:
	case err := <-ended:
		stop()
		return nil, fmt.Errorf("starting a control plane: %w", err)
	case <-ctx.Done():
		stop()
		<-ended
		return nil, context.Cause(ctx)
	}
	decided := &decidedCycles{}
	unsubscribe := s.store.Subscribe(decided.add)
	closed := func() error {
		defer release()
		unsubscribe()
		stop()
		// Nothing of the cluster stays, so a part that did not end does no harm.
		if err := <-ended; errors.As(err, new(*NotOrderlyError)) {
			return nil
		} else {
			return err
		}
	}
	cluster, err := s.scenarioCluster()
	if err != nil {
		_ = closed()
		return nil, err
	}
	return oncluster.NewExclusive(cluster, oncluster.ExclusiveOptions{
		Idle: func(ctx context.Context, backoff bool) error {
			if backoff {
				return s.scheduler.Idle(ctx, nil)
			}
			return s.scheduler.Rest(ctx)
		},
		Slow: func(name string) bool {
			return (name == flow.SchedulerName || session.Serves(name)) && !slices.Contains(s.scheduler.State().Profiles, name)
		},
		Decided: decided.take, Observe: c.Observe, Price: inmemory.Price, Played: c.Played, Limit: limit, Close: closed,
	}), nil
}

func (s *simulator) scenarioCluster() (*oncluster.Cluster, error) {
	return oncluster.New(oncluster.Options{
		ClientConfig: s.controlPlane.ClientConfig(), Cycle: s.store.Get, Queues: s.queues.Queues, Configure: s.configureFrom,
		Doing: s.queueing.doing,
	})
}

func (s *simulator) configureFrom(ctx context.Context, document []byte) error {
	_, err := configuration{s.scheduler}.Apply(ctx, document)
	return err
}

type readyLine struct {
	written chan struct{}
	once    sync.Once
}

func newReadyLine() *readyLine { return &readyLine{written: make(chan struct{})} }

func (r *readyLine) Write(p []byte) (int, error) {
	if bytes.HasSuffix(p, []byte("\n")) {
		r.once.Do(func() { close(r.written) })
	}
	return len(p), nil
}

type decidedCycles struct {
	mu     sync.Mutex
	cycles []*result.Cycle
}

func (d *decidedCycles) add(c *result.Cycle) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cycles = append(d.cycles, c)
}

func (d *decidedCycles) take() []*result.Cycle {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.cycles
	d.cycles = nil
	return out
}
