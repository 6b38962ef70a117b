// Package inmemory runs scenarios on clusters in memory: it is the engine of package scheduler/simulation in the form
// in which simulator/scenarios/scenario wants it. The session schedulers and the flow scheduler run beside kube-scheduler, for the pods that
// name them.
//
// It may import these two packages, scheduler/feed, scheduler/others/flow, scheduler/others/session, scheduler/versions/proxy, scheduler/whatif, simulator/autoscaling/stepwise,
// simulator/cluster/storedform, simulator/batch/sessions, simulator/cluster/virtualnode, and what they share.
package inmemory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/others/flow"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/simulation"
	"kube-scheduler-simulator/scheduler/versions/proxy"
	"kube-scheduler-simulator/simulator/autoscaling/stepwise"
	"kube-scheduler-simulator/simulator/cluster/storedform"
	"kube-scheduler-simulator/simulator/cluster/virtualnode"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Engine opens clusters in memory, which run the given plugins in addition to those of Kubernetes.
func Engine(outOfTree frameworkruntime.Registry) scenario.Engine {
	return func(ctx context.Context, o scenario.ClusterOptions) (scenario.Cluster, error) {
		keep := simulation.Cycles
		if o.Pods != nil && len(o.Pods) == 0 {
			keep = simulation.Nothing // the run keeps the summaries
		}
		var version *proxy.Options
		if o.KubernetesVersion != "" {
			if version = proxy.Of(o.KubernetesVersion); version != nil {
				version.Gates = o.FeatureGates
			}
		}
		companion := newCompanion(o.Autoscale)
		s, err := simulation.New(ctx, simulation.Options{
			Configuration: o.Configuration.Internal, FeatureGates: o.FeatureGates, Seed: o.Seed, Observe: o.Observe, Keep: keep, Pods: o.Pods, OutOfTree: outOfTree,
			Version: version, Beside: newBeside(o.Seed), Actor: companion, Devices: virtualnode.Slices, Admit: admit,
		})
		if err != nil {
			return nil, err
		}
		companion.simulation = s
		return &cluster{s, o.Pods, companion}, nil
	}
}

// Supports reports whether every cluster in memory has a kind.
func Supports(gvk schema.GroupVersionKind) bool {
	_, custom := (*beside)(nil).Kinds()[gvk]
	return custom || simulation.Supports(gvk)
}

// admitter validates custom resources, which depend on no other objects.
var admitter = sync.OnceValues(storedform.New)

// admit does what an API server does with a custom resource. The definitions of kinds that only a user's plugins read are not known.
func admit(o, before *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	refused := func(err error) error {
		return apierrors.NewBadRequest(fmt.Sprintf("%s %q: %s", o.GetKind(), o.GetName(), err))
	}
	if err := stepwise.Admit(o); err != nil {
		return nil, refused(err)
	}
	if !storedform.Reads(o.GroupVersionKind().GroupKind()) {
		return o, nil
	}
	data, err := o.MarshalJSON()
	if err != nil {
		return nil, refused(err)
	}
	decoded, err := storedform.DecodeStrictly(data)
	if err != nil {
		return nil, refused(err)
	}
	a, err := admitter()
	if err != nil {
		return nil, err
	}
	var admitted runtime.Object
	if before == nil {
		admitted, err = a.Create(context.Background(), decoded)
	} else {
		admitted, err = a.Update(context.Background(), decoded, before)
	}
	if err != nil {
		return nil, err
	}
	return admitted.(*unstructured.Unstructured), nil // a custom resource is
}

// cluster is a simulation in the form that scenarios want.
type cluster struct {
	*simulation.Simulation
	// recorded are the pods whose decisions are recorded; nil means all.
	recorded  sets.Set[types.UID]
	companion *companion
}

var (
	_ scenario.Cluster   = (*cluster)(nil)
	_ scenario.Pricer    = (*cluster)(nil)
	_ scenario.Versioned = (*cluster)(nil)
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
	if c.recorded != nil && !c.recorded.Has(pod) {
		return nil, scenario.ErrUnrecorded
	}
	return c.Results().Cycle(pod, attempt)
}
