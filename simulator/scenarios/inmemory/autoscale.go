package inmemory

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/scheduler/simulation"
	"kube-scheduler-simulator/simulator/autoscaling/stepwise"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

var nodeKind = v1.SchemeGroupVersion.WithKind("Node")

// companion meters what the nodes of a simulation cost, and is the autoscaler beside its scheduler, if the run has one.
type companion struct {
	meter      *scenario.Meter
	autoscaler *stepwise.Autoscaler
	// simulation is nil while it starts.
	simulation *simulation.Simulation
}

var _ simulation.Actor = (*companion)(nil)

func newCompanion(a *scenario.Autoscale) *companion {
	c := &companion{meter: scenario.NewMeter()}
	if a != nil {
		c.autoscaler = stepwise.New(a.Settings, c.now)
	}
	return c
}

func (c *companion) now() time.Time {
	if c.simulation == nil {
		return simulation.DefaultStart
	}
	return c.simulation.Now()
}

// Kinds are those of an autoscaler, so that objects which nothing would read are refused.
func (c *companion) Kinds() map[schema.GroupVersionKind]bool {
	out := map[schema.GroupVersionKind]bool{}
	if c.autoscaler != nil {
		for _, gvk := range stepwise.Kinds {
			out[gvk] = false
		}
	}
	return out
}

func (c *companion) Changed(gvk schema.GroupVersionKind, before, after runtime.Object) {
	switch gvk {
	case nodeKind:
		was, _ := before.(*v1.Node)
		is, _ := after.(*v1.Node)
		c.meter.Node(was, is, c.now())
	case podKind:
		was, _ := before.(*v1.Pod)
		is, _ := after.(*v1.Pod)
		c.meter.Pod(was, is, c.now())
	}
	if c.autoscaler != nil {
		c.autoscaler.Changed(gvk, before, after)
	}
}

func (c *companion) Next() (time.Time, bool) {
	if c.autoscaler == nil {
		return time.Time{}, false
	}
	return c.autoscaler.Next()
}

func (c *companion) Act(ctx context.Context, h simulation.Hands) error {
	return c.autoscaler.Act(ctx, world{Hands: h, companion: c})
}

// world is what the autoscaler acts on.
type world struct {
	simulation.Hands
	companion *companion
}

var _ stepwise.World = world{}

// Evict evicts as the verb drain does.
func (w world) Evict(ctx context.Context, pod *v1.Pod) (refusal string, err error) {
	return scenario.Evict(ctx, evicting{hands: w.Hands}, pod)
}

func (w world) Launched(name string, pricePerHour float64) {
	w.companion.meter.Launched(name, pricePerHour, w.Now())
}

func (w world) Ended(name string) { w.companion.meter.Ended(name, w.Now()) }

// evicting has what scenario.Evict needs of a cluster.
type evicting struct {
	scenario.Cluster
	hands simulation.Hands
}

func (e evicting) List(_ context.Context, gvk schema.GroupVersionKind) ([]runtime.Object, error) {
	return e.hands.List(gvk), nil
}

func (e evicting) Delete(_ context.Context, gvk schema.GroupVersionKind, namespace, name string) error {
	return e.hands.Delete(gvk, namespace, name)
}

var (
	_ scenario.Autoscaled = (*cluster)(nil)
	_ scenario.Metered    = (*cluster)(nil)
)

// Costs implements scenario.Metered.
func (c *cluster) Costs() scenario.Costs { return c.companion.meter.Read(c.Now()) }

// Autoscaling implements scenario.Autoscaled.
func (c *cluster) Autoscaling() *stepwise.Report {
	if c.companion.autoscaler == nil {
		return nil
	}
	return c.companion.autoscaler.Report()
}
