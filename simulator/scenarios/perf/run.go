package perf

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// run is the run of a workload of scheduler_perf.
type run struct {
	scenario.Runner
	ctx     context.Context
	cluster scenario.Cluster
	// nodes and names count what has a name of ours.
	nodes int
	names map[string]int
	// namespaces exist. waiting are those with pods that no operation has waited for.
	namespaces, waiting map[string]bool
	background          []*background
	collection          *collection
	// spent is how long the cluster has worked, in real time.
	spent time.Duration
}

// background happens again and again while the cluster's time passes, until do returns false.
type background struct {
	every time.Duration
	next  time.Time
	do    func() (more bool, err error)
}

func runOf(r scenario.Runner) *run {
	state := r.State()
	if *state == nil {
		*state = &run{Runner: r, ctx: r.Context(), cluster: r.Cluster(), names: map[string]int{}, namespaces: map[string]bool{}, waiting: map[string]bool{}}
	}
	return (*state).(*run)
}

func (r *run) isReal() bool {
	real, ok := r.cluster.(scenario.Real)
	return ok && real.Real()
}

// name gives an object with generateName its name.
func (r *run) name(o *unstructured.Unstructured) {
	if o.GetName() != "" {
		return
	}
	key := o.GetKind() + "/" + o.GetNamespace() + "/" + o.GetGenerateName()
	r.names[key]++
	o.SetName(fmt.Sprintf("%s%d", o.GetGenerateName(), r.names[key]))
	o.SetGenerateName("")
}

// namespace creates a namespace, unless it exists.
func (r *run) namespace(name string, base *unstructured.Unstructured) error {
	if r.namespaces[name] {
		return nil
	}
	r.namespaces[name] = true
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	if base != nil {
		o = base.DeepCopy()
	}
	o.SetName(name)
	o.SetGenerateName("")
	if err := r.cluster.Create(r.ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// timed counts the time that the cluster works.
func (r *run) timed(do func() error) error {
	began := time.Now()
	err := do()
	r.spent += time.Since(began)
	r.Changed()
	return err
}

// batches is into how many parts the objects of an operation are cut: each gives a point of the
// throughput.
const batches = 100

// create creates objects. What happens in the background goes on meanwhile: the cluster's time
// passes as fast as the machine's.
func (r *run) create(all []runtime.Object) error {
	if len(all) == 0 {
		return nil
	}
	size := max(20, len(all)/batches)
	if r.isReal() && len(r.background) == 0 {
		size = len(all) // the cluster works while objects are created
	}
	for batch := range slices.Chunk(all, size) {
		before := r.spent
		if err := r.timed(func() error { return r.cluster.Create(r.ctx, batch...) }); err != nil {
			return err
		}
		if len(r.background) > 0 {
			passed := r.spent - before
			if r.isReal() {
				passed = 0
			}
			if err := r.pass(passed); err != nil {
				return err
			}
		}
		if err := r.sample(); err != nil {
			return err
		}
	}
	return nil
}

// beside lets something happen in the background.
func (r *run) beside(every time.Duration, do func() (bool, error)) {
	r.background = append(r.background, &background{max(every, time.Millisecond), r.cluster.Now().Add(every), do})
}

// pass lets the cluster's time pass, with what happens in the background.
func (r *run) pass(d time.Duration) error {
	for end := r.cluster.Now().Add(d); ; {
		next := r.due(end)
		at := end
		if next != nil {
			at = next.next
		}
		if left := at.Sub(r.cluster.Now()); left > 0 {
			if err := r.timed(func() error { return r.cluster.Advance(r.ctx, left) }); err != nil {
				return err
			}
		}
		if next == nil {
			return r.ctx.Err()
		}
		next.next = next.next.Add(next.every)
		more, err := next.do()
		if err != nil {
			return err
		}
		if !more {
			r.background = slices.DeleteFunc(r.background, func(b *background) bool { return b == next })
		}
	}
}

// due returns what happens next, at most until the end, or nil.
func (r *run) due(end time.Time) *background {
	var out *background
	for _, b := range r.background {
		if !b.next.After(end) && (out == nil || b.next.Before(out.next)) {
			out = b
		}
	}
	return out
}

// scheduled counts the pods that have a node, and all.
func (r *run) scheduled(namespaces []string, labels labels) (scheduled, all int, err error) {
	_, pods, err := r.cluster.State(r.ctx)
	for _, pod := range pods {
		if slices.Contains(namespaces, pod.Namespace) && labels.match(pod.Labels) {
			all++
			if pod.Spec.NodeName != "" {
				scheduled++
			}
		}
	}
	return scheduled, all, err
}

const (
	// timeout is how long pods may take to be scheduled, in the cluster's time.
	timeout = 10 * time.Minute
	// pause is the pause between two looks at the pods.
	pause = time.Second
)

// wait lets time pass until the pods have a node, at least as many as want, or with attempted until
// each has been tried.
func (r *run) wait(namespaces []string, labels labels, want int, attempted bool) error {
	for end := r.cluster.Now().Add(timeout); ; {
		_, pods, err := r.cluster.State(r.ctx)
		if err != nil {
			return err
		}
		have, missing, pending := 0, 0, (*v1.Pod)(nil)
		for _, pod := range pods {
			if !slices.Contains(namespaces, pod.Namespace) || !labels.match(pod.Labels) {
				continue
			}
			tried := attempted && slices.ContainsFunc(pod.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.PodScheduled })
			if pod.Spec.NodeName != "" || tried {
				have++
				continue
			}
			missing++
			pending = pod
		}
		if want >= 0 && have >= want || want < 0 && missing == 0 {
			return r.sample()
		}
		if !r.cluster.Now().Before(end) {
			why := ""
			if pending != nil {
				why = ", such as " + pending.Namespace + "/" + pending.Name
				for _, c := range pending.Status.Conditions {
					if c.Type == v1.PodScheduled && c.Message != "" {
						why += ": " + c.Message
					}
				}
			}
			return &scenario.UnmetError{Message: fmt.Sprintf("after %s, %s have no node%s", timeout, scenario.Plural(missing, "pod"), why)}
		}
		if err := r.pass(pause); err != nil {
			return err
		}
		if err := r.sample(); err != nil {
			return err
		}
	}
}
