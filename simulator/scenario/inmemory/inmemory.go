// Package inmemory runs scenarios on clusters in memory: it is the engine of package scheduler/simulation in the form
// in which simulator/scenario wants it. The session schedulers and the flow scheduler run beside kube-scheduler, for the pods that
// name them.
//
// It may import these two packages, scheduler/feed, scheduler/flow, scheduler/session, scheduler/whatif, simulator/sessions, and
// what they share.
package inmemory

import (
	"context"
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/flow"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/simulation"
	"kube-scheduler-simulator/simulator/scenario"
)

// Engine opens clusters in memory, which run the given plugins in addition to those of Kubernetes.
func Engine(outOfTree frameworkruntime.Registry) scenario.Engine {
	return func(ctx context.Context, o scenario.ClusterOptions) (scenario.Cluster, error) {
		keep := simulation.Cycles
		if o.KeepNothing {
			keep = simulation.Nothing
		}
		s, err := simulation.New(ctx, simulation.Options{
			Configuration: o.Configuration.Internal, FeatureGates: o.FeatureGates, Seed: o.Seed, Observe: o.Observe, Keep: keep, OutOfTree: outOfTree,
			Beside: newBeside(o.Seed),
		})
		if err != nil {
			return nil, err
		}
		return &cluster{s}, nil
	}
}

// cluster is a simulation in the form that scenarios want.
type cluster struct{ *simulation.Simulation }

var (
	_ scenario.Cluster = (*cluster)(nil)
	_ scenario.Pricer  = (*cluster)(nil)
)

// maxPriced bounds the pods whose placement is priced: the network has an arc for each pair of a pod and a slot.
const maxPriced = 2000

func (c *cluster) Gap(ctx context.Context) (*float64, error) {
	nodes, pods, err := c.State(ctx)
	if err != nil {
		return nil, err
	}
	return Price(ctx, nodes, pods)
}

// Price is the gap of scenario.Pricer for a cluster of any engine.
func Price(ctx context.Context, nodes []*v1.Node, pods []*v1.Pod) (*float64, error) {
	if len(pods) == 0 || len(pods) > maxPriced {
		return nil, nil
	}
	compared, err := flow.CompareState(ctx, nodes, pods, flow.Options{})
	if err != nil || len(compared.Tasks) == 0 {
		return nil, err
	}
	gap := float64(compared.Gap)
	return &gap, nil
}

func (c *cluster) Configure(ctx context.Context, to *config.Configuration) error {
	return c.Simulation.Configure(ctx, to.Internal)
}

func (c *cluster) Settle(ctx context.Context) error {
	err := c.Simulation.Settle(ctx)
	if _, ok := errors.AsType[*simulation.UnsettledError](err); ok {
		return &scenario.UnsettledError{Err: err}
	}
	return err
}

func (c *cluster) Now() time.Time { return c.Simulation.Now() }

func (c *cluster) State(context.Context) ([]*v1.Node, []*v1.Pod, error) {
	s := c.Simulation.State()
	return s.Nodes, s.Pods, nil
}

func (c *cluster) List(_ context.Context, gvk schema.GroupVersionKind) ([]runtime.Object, error) {
	return c.Simulation.List(gvk), nil
}

func (c *cluster) Cycle(_ context.Context, pod types.UID, attempt int) (*result.Cycle, error) {
	return c.Results().Cycle(pod, attempt)
}
