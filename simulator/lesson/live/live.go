// Package live is a lesson's cluster as it runs: it plays steps on a control plane, and reads the
// decisions of its scheduler.
//
// Package simulator/scenarios/oncluster reaches the cluster. It may import simulator/lesson,
// simulator/scenarios/scenario, that package and what they share.
package live

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/lesson"
	"kube-scheduler-simulator/simulator/scenarios/oncluster"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Options say which cluster. All are required but Doing.
type Options struct {
	ClientConfig *rest.Config
	Results      Results
	// Configure makes a document the scheduler's configuration.
	Configure func(ctx context.Context, document []byte) error
	// Queues returns the state of the scheduling queue.
	Queues func() (result.Queues, error)
	// Doing says what else is about to act in this cluster; "" for nothing.
	Doing func() string
	// Engine answers what the scheduler would decide.
	Engine *whatif.Engine
}

// Results are the recorded decisions. Methods are safe for concurrent use.
type Results interface {
	// List returns a page of summaries, newest first.
	List(q result.Query) (result.Page, error)
	// Get returns nil if the UID or the attempt is unknown.
	Get(uid types.UID, attempt int) (*result.Cycle, error)
}

// Expressions see the latest maxDecisions decisions.
const maxDecisions = 1000

// Cluster is this simulator's cluster. Methods are safe for concurrent use.
type Cluster struct {
	*oncluster.Cluster
	options Options
}

var (
	_ scenario.Cluster = (*Cluster)(nil)
	_ lesson.Player    = (*Cluster)(nil)
)

// New returns the cluster. It makes no request.
func New(o Options) (*Cluster, error) {
	c, err := oncluster.New(oncluster.Options{ClientConfig: o.ClientConfig, Cycle: o.Results.Get, Configure: o.Configure, Queues: o.Queues, Doing: o.Doing})
	if err != nil {
		return nil, err
	}
	return &Cluster{c, o}, nil
}

// Stage implements lesson.World.
func (c *Cluster) Stage(context.Context) (*scenario.Stage, error) {
	f := newFollowing(c)
	return f.stage, f.observe()
}

// following is the cluster of a stage that learns of each decision before it looks at the pods.
type following struct {
	*Cluster
	stage *scenario.Stage
	// latest is the newest decision that the stage knows.
	latest result.Summary
}

func newFollowing(c *Cluster) *following {
	f := &following{Cluster: c}
	// A stage shows the configuration to none of its expressions.
	f.stage = scenario.NewStage(f, nil)
	return f
}

// observe gives the stage the decisions since the last call.
func (f *following) observe() error {
	page, err := f.options.Results.List(result.Query{Limit: maxDecisions})
	if err != nil {
		return fmt.Errorf("reading the decisions: %w", err)
	}
	known := slices.IndexFunc(page.Items, func(s result.Summary) bool { return s.Pod.UID == f.latest.Pod.UID && s.Attempt == f.latest.Attempt })
	if known >= 0 {
		page.Items = page.Items[:known]
	}
	for _, s := range slices.Backward(page.Items) {
		cycle, err := f.options.Results.Get(s.Pod.UID, s.Attempt)
		if err != nil {
			return fmt.Errorf("reading a decision: %w", err)
		}
		if cycle != nil {
			f.stage.Observe(cycle)
		}
		f.latest = s
	}
	return nil
}

// State implements scenario.Cluster.
func (f *following) State(ctx context.Context) ([]*v1.Node, []*v1.Pod, error) {
	nodes, pods, err := f.Cluster.State(ctx)
	if err != nil {
		return nil, nil, err
	}
	// Observe afterwards, so that the stage knows why each pod has its node.
	return nodes, pods, f.observe()
}

// Decide implements lesson.World.
func (c *Cluster) Decide(ctx context.Context, a *lesson.Asked) (*result.Cycle, *v1.Pod, error) {
	return lesson.Decide(ctx, c.options.Engine, a)
}

// Play implements lesson.Player.
func (c *Cluster) Play(ctx context.Context, steps []*scenario.Step) error {
	stage, err := c.Stage(ctx)
	if err != nil {
		return err
	}
	return stage.Play(ctx, steps)
}
