package whatif

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// Trial is a view of the state that one caller changes and asks about, as often as it likes. Its methods
// must be called from one goroutine, within Try.
//
// The costs differ: Apply, Place and Rollback cost microseconds per object that they touch, except
// that a node which comes or goes costs microseconds per node of the cluster at the next decision.
// Feasible costs a PreFilter and then microseconds per node asked about. Choose costs about what the
// live scheduler needs if it searches all nodes, and Decide up to twice that.
type Trial struct{}

// State returns the state before all changes.
func (t *Trial) State() State { return State{} }

// Apply applies changes in order. When one fails, with a *ChangeError, those before it stay applied.
func (t *Trial) Apply(changes ...Change) error { return errSkeleton }

// Mark returns a point to which Rollback can return.
func (t *Trial) Mark() Mark { return 0 }

// Rollback undoes, in reverse order, every Apply and Place since the mark.
func (t *Trial) Rollback(to Mark) {}

// Mark is a point in the sequence of a Trial's changes.
type Mark int

// Pod returns a pod of the state as Decide expects it: as if it were not placed yet. A pod that is bound no longer counts on
// its node until a Rollback. The error is a *NotFoundError.
func (t *Trial) Pod(namespace, name string) (*v1.Pod, error) { return nil, errSkeleton }

// New returns a pod as Decide expects it: pod with a name and a UID of its own and the defaults of the API
// server. The error is an *InvalidError.
func (t *Trial) New(pod *v1.Pod) (*v1.Pod, error) { return nil, errSkeleton }

// Decide makes a recorded decision, and does not place the pod. profile is as in Question.
func (t *Trial) Decide(ctx context.Context, pod *v1.Pod, profile string) (*result.Cycle, error) {
	return nil, errSkeleton
}

// Choose returns the node that the scheduler would choose, empty when none fits: a decision without its
// record, and without extenders and preemption.
func (t *Trial) Choose(ctx context.Context, pod *v1.Pod, profile string) (string, error) {
	return "", errSkeleton
}

// Feasible returns those of the named nodes, in their order, on which the pod fits; of all nodes if none is named. It stops at a
// node's first rejection.
func (t *Trial) Feasible(ctx context.Context, pod *v1.Pod, profile string, nodes ...string) ([]string, error) {
	return nil, errSkeleton
}

// Place places the pod on the node without asking whether it fits, and reserves what its plugins hand out: volumes and
// devices. The error is that of a Reserve plugin; the pod is then not placed.
func (t *Trial) Place(ctx context.Context, pod *v1.Pod, profile, node string) error {
	return errSkeleton
}

// Nodes returns the nodes in the scheduler's order, with their pods. The list is valid until the next change.
func (t *Trial) Nodes() []fwk.NodeInfo { return nil }

// Pods returns all pods, bound and pending, in no particular order.
func (t *Trial) Pods() []*v1.Pod { return nil }

// Get returns an object. Do not change it. The error is a *NotFoundError or a *KindError.
func (t *Trial) Get(gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error) {
	return nil, errSkeleton
}

// List returns all objects of a kind, in no particular order. Do not change them. The error is a *KindError.
func (t *Trial) List(gvk schema.GroupVersionKind) ([]runtime.Object, error) {
	return nil, errSkeleton
}
