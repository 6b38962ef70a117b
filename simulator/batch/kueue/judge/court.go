package judge

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/judge/original"
)

// court has both Kueues.
type court struct {
	original, own *cluster
	kueue         original.Kueue
	manager       string
	runs          int
	log           func(format string, args ...any)
}

// together is how many scenarios run at the same time.
const together = 16

func open(ctx context.Context, dir, simulator string, kueue original.Kueue, manager string, log func(format string, args ...any)) (*court, error) {
	c := &court{kueue: kueue, manager: manager, log: log}
	var starting errgroup.Group
	starting.Go(func() (err error) {
		c.original, err = startCluster(ctx, dir, simulator, "original", "off", kueue.Define)
		return err
	})
	starting.Go(func() (err error) {
		c.own, err = startCluster(ctx, dir, simulator, "own", "on", nil)
		return err
	})
	err := starting.Wait()
	if err == nil {
		err = c.configure(ctx, false)
	}
	for _, k := range []*cluster{c.original, c.own} {
		if err == nil {
			err = k.furnish(ctx)
		}
	}
	return c, err
}

func (c *court) close() {
	c.original.stop()
	c.own.stop()
}

// configure restarts the original and configures the built-in queues.
func (c *court) configure(ctx context.Context, fair bool) error {
	c.original.manager.Stop()
	if err := errors.Join(c.kueue.Forget(ctx, c.original.client), c.original.sweep(ctx)); err != nil {
		return err
	}
	if err := errors.Join(c.original.startManager(ctx, c.kueue, c.manager, fair), c.own.configure(ctx, fair)); err != nil {
		return err
	}
	return c.original.awaitControllers(ctx)
}

// furnish creates what all scenarios share.
func (c *cluster) furnish(ctx context.Context) error {
	objects := []*unstructured.Unstructured{
		object("WorkloadPriorityClass", "low", parse("value: 0")),
		object("WorkloadPriorityClass", "mid", parse("value: 100")),
		object("WorkloadPriorityClass", "high", parse("value: 300")),
	}
	for _, content := range pulseObjects {
		objects = append(objects, &unstructured.Unstructured{Object: content})
	}
	for _, o := range objects {
		if err := c.client.Create(ctx, o.DeepCopy()); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("%s: creating %s %s: %w", filepath.Base(c.name), o.GetKind(), o.GetName(), err)
		}
	}
	return errors.Join(c.addPulse(ctx), c.addPulse(ctx))
}

// sweep removes the workloads and ClusterQueues that earlier scenarios left behind, while no Kueue runs. Kueue 0.17.0 crashes if it starts
// with fair sharing while a ClusterQueue of theirs has lost its cohort.
func (c *cluster) sweep(ctx context.Context) error {
	var workloads kueue.WorkloadList
	var queues kueue.ClusterQueueList
	if err := errors.Join(c.client.List(ctx, &workloads), c.client.List(ctx, &queues)); err != nil {
		return err
	}
	var left []client.Object
	for i := range workloads.Items {
		if workloads.Items[i].Namespace != pulseMark {
			left = append(left, &workloads.Items[i])
		}
	}
	for i := range queues.Items {
		if queues.Items[i].Name != pulseMark {
			left = append(left, &queues.Items[i])
		}
	}
	for _, o := range left {
		err := errors.Join(client.IgnoreNotFound(c.client.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`)))),
			client.IgnoreNotFound(c.client.Delete(ctx, o)))
		if err != nil {
			return fmt.Errorf("removing %s: %w", o.GetName(), err)
		}
	}
	return nil
}

// run is a scenario that was played before both Kueues.
type run struct {
	*scenario
	kueue, simulator []state
}

// play runs scenarios of one configuration, many at the same time. They take their steps together.
func (c *court) play(ctx context.Context, scenarios []*scenario) ([]*run, error) {
	var out []*run
	for group := range slices.Chunk(scenarios, together) {
		runs, err := c.playGroup(ctx, group)
		if err != nil {
			return out, err
		}
		out = append(out, runs...)
	}
	return out, nil
}

func (c *court) playGroup(ctx context.Context, scenarios []*scenario) ([]*run, error) {
	begin := time.Now()
	var places []place // those of both clusters, one after the other
	var runs []*run
	steps := 0
	for _, s := range scenarios {
		c.runs++
		mark := fmt.Sprint("j", c.runs)
		places = append(places, place{cluster: c.original, mark: mark}, place{cluster: c.own, mark: mark})
		runs = append(runs, &run{scenario: s})
		steps = max(steps, len(s.Steps))
	}
	defer func() {
		for i, p := range places {
			p.clear(ctx, scenarios[i/2])
		}
	}()
	for n := -1; n < steps; n++ {
		refused := make([]bool, len(places))
		var taking errgroup.Group
		taking.SetLimit(together)
		for i, p := range places {
			s := scenarios[i/2]
			places[i].statuses = n == len(s.Steps)-1
			taking.Go(func() error {
				switch {
				case n < 0:
					return p.set(ctx, s)
				case n < len(s.Steps):
					err := p.take(ctx, s.Steps[n])
					refused[i] = err != nil
					if status := apierrors.APIStatus(nil); err != nil && !errors.As(err, &status) {
						return fmt.Errorf("%s: step %d of seed %d: %w", p.name, n, s.Seed, err)
					}
				}
				return nil
			})
		}
		if err := taking.Wait(); err != nil {
			return nil, err
		}
		observed, err := settle(ctx, places, c.log)
		if err != nil {
			return nil, err
		}
		for i, r := range runs {
			if n < len(r.Steps) {
				r.kueue = append(r.kueue, state{refused[2*i], observed[2*i]})
				r.simulator = append(r.simulator, state{refused[2*i+1], observed[2*i+1]})
			}
		}
	}
	c.log("%d scenarios in %s", len(scenarios), time.Since(begin).Round(time.Second))
	return runs, nil
}

// copies are how often a scenario that differs is played again, before it counts as different. Among workloads whose times are equal to the
// second, Kueue chooses by their UIDs, which are random.
const copies = 4

// confirm returns the differences of those runs that every repetition has, too: no Kueue has once done what the other did.
func (c *court) confirm(ctx context.Context, e *expectations, runs []*run) (map[*run]*difference, error) {
	var again []*scenario
	for _, r := range runs {
		again = append(again, slices.Repeat([]*scenario{r.scenario}, copies)...)
	}
	repeated, err := c.play(ctx, again)
	if err != nil {
		return nil, err
	}
	out := map[*run]*difference{}
	for i, r := range runs {
		if all := append(repeated[i*copies:(i+1)*copies:(i+1)*copies], r); !e.agree(all) {
			out[r] = e.compare(r.scenario, r.kueue, r.simulator)
		}
	}
	return out, nil
}

// agree reports whether either Kueue has done in some run what the other did in any. Where one of them is cut off
// before it comes to rest, or Kueue evicts the same workload again and again, a difference says nothing.
func (e *expectations) agree(runs []*run) bool {
	atRest := false
	for _, a := range runs {
		for _, b := range runs {
			d := e.compare(a.scenario, a.kueue, b.simulator)
			if d == nil {
				return true
			}
			atRest = atRest || rests(a.kueue, d.step+1) && !b.simulator[d.step+1].unsettled
		}
	}
	return !atRest
}

// often is how many preemptions of one workload in one step say that the queues evict it again and again.
const often = 10

// rests reports whether Kueue came to rest after a step, whose state is states[i]. Between two preemptions of the same workload it may look so.
func rests(states []state, i int) bool {
	if states[i].unsettled {
		return false
	}
	for uid, n := range states[i].preempted {
		if i > 0 {
			n -= states[i-1].preempted[uid]
		}
		if n >= often {
			return false
		}
	}
	return true
}

// part is a scenario without the steps and objects from begin to end, counted together, the steps first.
func (s *scenario) part(begin, end int) *scenario {
	out := &scenario{Seed: s.Seed, Fair: s.Fair}
	for i, step := range s.Steps {
		if i < begin || i >= end {
			out.Steps = append(out.Steps, step)
		}
	}
	for i, o := range s.Objects {
		if i += len(s.Steps); i < begin || i >= end {
			out.Objects = append(out.Objects, o)
		}
	}
	return out
}

// shrink leaves out ranges of steps and objects, long ones first, while what is left has a difference of the same kind. differs asks about many
// scenarios at once.
func shrink(s *scenario, differs func([]*scenario) ([]bool, error)) (*scenario, error) {
	for size := (len(s.Steps) + len(s.Objects) + 1) / 2; size > 0; {
		var smaller []*scenario
		for begin := 0; begin < len(s.Steps)+len(s.Objects); begin += size {
			smaller = append(smaller, s.part(begin, begin+size))
		}
		answers, err := differs(smaller)
		if err != nil {
			return s, err
		}
		if i := slices.Index(answers, true); i >= 0 {
			s = smaller[i]
			size = min(size, (len(s.Steps)+len(s.Objects)+1)/2)
		} else {
			size /= 2
		}
	}
	return s, nil
}
