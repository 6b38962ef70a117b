package simulation

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Beside are schedulers that run beside kube-scheduler, each for pods with a schedulerName of its
// own. They decide at intervals instead of pod by pod. A Beside belongs to one Simulation, which
// calls its methods from its caller's goroutine.
type Beside interface {
	// Serves reports whether the schedulers serve the pods of a schedulerName. kube-scheduler keeps
	// the pods for which the configuration has a profile.
	Serves(schedulerName string) bool
	// Kinds are the custom kinds that the schedulers read, and whether their objects have
	// namespaces.
	Kinds() map[schema.GroupVersionKind]bool
	// Changed gets each change of an object, in order. before or after is nil if there was, or is,
	// no object. It must not change the cluster.
	Changed(gvk schema.GroupVersionKind, before, after runtime.Object)
	// Turn lets the schedulers decide once, when kube-scheduler has nothing to do, a whole second
	// after the last change. There are no turns while there is neither a pod that they serve nor an
	// object of their kinds.
	Turn(ctx context.Context, h Hands) error
	// Close is called once, at the end.
	Close()
}

// besidePeriod is how often a Beside has its turn while something changes.
const besidePeriod = time.Second

type besides struct {
	Beside
	simulation *Simulation
	kinds      map[schema.GroupVersionKind]bool
	// concerned counts the Beside's pods and objects.
	concerned int
	alarm     *timer
	due       bool
}

func newBesides(s *Simulation, b Beside) *besides {
	if b == nil {
		return nil
	}
	return &besides{Beside: b, simulation: s, kinds: b.Kinds()}
}

func (b *besides) concerns(r ref, o object) bool {
	if o == nil {
		return false
	}
	if p, isPod := o.(*v1.Pod); isPod {
		return !ended(p) && b.serves(p.Spec.SchedulerName)
	}
	_, its := b.kinds[r.gvk]
	return its
}

func (b *besides) serves(schedulerName string) bool {
	return b.Serves(schedulerName) && b.simulation.engine.sched.Profiles[schedulerName] == nil
}

// note is called after each change of an object. b may be nil.
func (b *besides) note(r ref, before, after object) {
	if b == nil {
		return
	}
	b.Changed(r.gvk, runtimeOf(before), runtimeOf(after))
	if b.concerns(r, before) {
		b.concerned--
	}
	if b.concerns(r, after) {
		b.concerned++
	}
	b.wake()
}

func runtimeOf(o object) runtime.Object {
	if o == nil {
		return nil
	}
	return o
}

// recount is called after a change of the configuration, and so of its profiles.
func (b *besides) recount() {
	if b == nil {
		return
	}
	b.concerned = 0
	for gvk, objects := range b.simulation.cluster.objects {
		for _, o := range objects {
			if b.concerns(ref{gvk: gvk}, o) {
				b.concerned++
			}
		}
	}
	b.wake()
}

func (b *besides) wake() {
	if b.concerned == 0 || b.due || b.alarm != nil {
		return
	}
	t := b.simulation.timeline
	now := t.Now()
	b.alarm = t.after(now.Truncate(besidePeriod).Add(besidePeriod).Sub(now), true, func() { b.alarm, b.due = nil, true })
}

// isDue reports whether a turn is due. b may be nil.
func (b *besides) isDue() bool { return b != nil && b.due }

func (b *besides) run(ctx context.Context) error {
	b.due = false
	if b.concerned == 0 {
		return nil
	}
	return b.Turn(ctx, Hands{b.simulation})
}

// Hands are what a Beside may do to the cluster during its turn. Errors are those of the methods of
// a Simulation.
type Hands struct{ simulation *Simulation }

// Serves is Beside.Serves, and false for a profile of the configuration.
func (h Hands) Serves(schedulerName string) bool { return h.simulation.beside.serves(schedulerName) }

// Now returns the virtual time.
func (h Hands) Now() time.Time { return h.simulation.Now() }

func (h Hands) Results() *Results { return h.simulation.results }

func (h Hands) NewUID() types.UID { return h.simulation.cluster.uid() }

// List returns the objects of a kind by namespace and name.
func (h Hands) List(gvk schema.GroupVersionKind) []runtime.Object { return h.simulation.List(gvk) }

// Get returns an object, or nil.
func (h Hands) Get(gvk schema.GroupVersionKind, namespace, name string) runtime.Object {
	return h.simulation.Get(gvk, namespace, name)
}

// Assumed returns the pods that kube-scheduler is binding, on their nodes. The cluster does not
// show them there yet.
func (h Hands) Assumed() []*v1.Pod {
	var out []*v1.Pod
	for _, b := range h.simulation.engine.turns.running {
		if b.pod.Spec.NodeName != "" && !b.over {
			out = append(out, b.pod)
		}
	}
	return out
}

func (h Hands) Create(o runtime.Object) error {
	_, err := h.simulation.control.create(o)
	return err
}

func (h Hands) Patch(gvk schema.GroupVersionKind, namespace, name string, kind types.PatchType, patch []byte) error {
	return h.simulation.control.patch(h.simulation.cluster.ref(gvk, namespace, name), kind, patch)
}

func (h Hands) Bind(ctx context.Context, pod *v1.Pod, node string) error {
	return h.simulation.engine.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     v1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
}

// Evict deletes a pod with its grace period.
func (h Hands) Evict(pod *v1.Pod) error {
	return h.simulation.control.remove(refOf(podKind, pod), metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
}
