package scenario

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// perfRun is the run of a workload of scheduler_perf.
type perfRun struct {
	// nodes and names count what has a name of ours.
	nodes int
	names map[string]int
	// namespaces exist. waiting are those with pods that no operation has waited for.
	namespaces, waiting map[string]bool
	background          []*perfBackground
	collection          *perfCollection
	// spent is how long the cluster has worked, in real time.
	spent time.Duration
}

// perfBackground happens again and again while the cluster's time passes, until do returns false.
type perfBackground struct {
	every time.Duration
	next  time.Time
	do    func() (more bool, err error)
}

func newPerfRun() *perfRun {
	return &perfRun{names: map[string]int{}, namespaces: map[string]bool{}, waiting: map[string]bool{}}
}

// Real is a Cluster whose time is that of the machine.
type Real interface{ Real() bool }

func (p *perfRun) isReal(r *run) bool {
	real, ok := r.cluster.(Real)
	return ok && real.Real()
}

// name gives an object with generateName its name.
func (p *perfRun) name(o *unstructured.Unstructured) {
	if o.GetName() != "" {
		return
	}
	key := o.GetKind() + "/" + o.GetNamespace() + "/" + o.GetGenerateName()
	p.names[key]++
	o.SetName(fmt.Sprintf("%s%d", o.GetGenerateName(), p.names[key]))
	o.SetGenerateName("")
}

// namespace creates a namespace, unless it exists.
func (p *perfRun) namespace(r *run, name string, base *unstructured.Unstructured) error {
	if p.namespaces[name] {
		return nil
	}
	p.namespaces[name] = true
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
func (p *perfRun) timed(r *run, do func() error) error {
	began := time.Now()
	err := do()
	p.spent += time.Since(began)
	r.view = nil
	return err
}

// perfBatches is into how many parts the objects of an operation are cut: each gives a point of the throughput.
const perfBatches = 100

// create creates objects. What happens in the background goes on meanwhile: the cluster's time passes as fast as the machine's.
func (p *perfRun) create(r *run, all []runtime.Object) error {
	if len(all) == 0 {
		return nil
	}
	size := max(20, len(all)/perfBatches)
	if p.isReal(r) && len(p.background) == 0 {
		size = len(all) // the cluster works while objects are created
	}
	for batch := range slices.Chunk(all, size) {
		before := p.spent
		if err := p.timed(r, func() error { return r.cluster.Create(r.ctx, batch...) }); err != nil {
			return err
		}
		if len(p.background) > 0 {
			passed := p.spent - before
			if p.isReal(r) {
				passed = 0
			}
			if err := p.pass(r, passed); err != nil {
				return err
			}
		}
		if err := p.sample(r); err != nil {
			return err
		}
	}
	return nil
}

// beside lets something happen in the background.
func (p *perfRun) beside(r *run, every time.Duration, do func() (bool, error)) {
	p.background = append(p.background, &perfBackground{max(every, time.Millisecond), r.cluster.Now().Add(every), do})
}

// pass lets the cluster's time pass, with what happens in the background.
func (p *perfRun) pass(r *run, d time.Duration) error {
	for end := r.cluster.Now().Add(d); ; {
		next := p.due(end)
		at := end
		if next != nil {
			at = next.next
		}
		if left := at.Sub(r.cluster.Now()); left > 0 {
			if err := p.timed(r, func() error { return r.cluster.Advance(r.ctx, left) }); err != nil {
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
			p.background = slices.DeleteFunc(p.background, func(b *perfBackground) bool { return b == next })
		}
	}
}

// due returns what happens next, at most until the end, or nil.
func (p *perfRun) due(end time.Time) *perfBackground {
	var out *perfBackground
	for _, b := range p.background {
		if !b.next.After(end) && (out == nil || b.next.Before(out.next)) {
			out = b
		}
	}
	return out
}

// scheduled counts the pods that have a node, and all.
func (p *perfRun) scheduled(r *run, namespaces []string, labels perfLabels) (scheduled, all int, err error) {
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
	// perfTimeout is how long pods may take to be scheduled, in the cluster's time.
	perfTimeout = 10 * time.Minute
	// perfPause is the pause between two looks at the pods.
	perfPause = time.Second
)

// wait lets time pass until the pods have a node, at least as many as want, or with attempted until each has been tried.
func (p *perfRun) wait(r *run, namespaces []string, labels perfLabels, want int, attempted bool) error {
	for end := r.cluster.Now().Add(perfTimeout); ; {
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
			return p.sample(r)
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
			return &waitError{fmt.Sprintf("after %s, %s have no node%s", perfTimeout, plural(missing, "pod"), why)}
		}
		if err := p.pass(r, perfPause); err != nil {
			return err
		}
		if err := p.sample(r); err != nil {
			return err
		}
	}
}
