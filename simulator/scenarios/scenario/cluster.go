package scenario

import (
	"context"
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
)

// Cluster is what a run acts on. A run calls it from one goroutine.
//
// A method that changes something returns when all that needs no time has followed from it: controllers have acted, and
// the scheduler has emptied its active queue.
type Cluster interface {
	// Create creates objects, in this order. It may neither keep nor change them.
	Create(ctx context.Context, objects ...runtime.Object) error
	// Apply creates objects, or merges them with those of their names as kubectl apply does. It may neither keep nor change what it gets.
	Apply(ctx context.Context, objects ...runtime.Object) error
	Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, kind types.PatchType, patch []byte) error
	Delete(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) error
	// Fail makes a node unreachable until Recover.
	Fail(ctx context.Context, node string) error
	Recover(ctx context.Context, node string) error
	Configure(ctx context.Context, c *config.Configuration) error
	// Advance lets time pass, and Settle as much of it as the cluster needs to settle: until no pod is in the active or the
	// backoff queue and nothing is in flight. The error of Settle is a *UnsettledError if it does not.
	Advance(ctx context.Context, d time.Duration) error
	Settle(ctx context.Context) error
	// Now is the cluster's time.
	Now() time.Time
	// State returns the nodes by name and the pods by namespace and name. They do not change.
	State(ctx context.Context) ([]*v1.Node, []*v1.Pod, error)
	// List returns the objects of a kind by namespace and name. They do not change.
	List(ctx context.Context, gvk schema.GroupVersionKind) ([]runtime.Object, error)
	// Cycle returns a decision, or nil if it is not kept. The error may be ErrUnrecorded.
	Cycle(ctx context.Context, pod types.UID, attempt int) (*result.Cycle, error)
	Close() error
}

// Pricer is a Cluster that can price where its pods are.
type Pricer interface {
	// Gap is Metrics.Gap, nil if there are no pods, or too many.
	Gap(ctx context.Context) (*float64, error)
}

// ClusterOptions say which cluster a run needs.
type ClusterOptions struct {
	Configuration *config.Configuration
	FeatureGates  map[string]bool
	// Seed decides wherever Kubernetes leaves a choice to chance.
	Seed int64
	// Observe gets every finished cycle, in order, on the goroutine of the run, before the method that caused it returns. A
	// cycle that waited or preempted is given again. What plugins said about nodes may be missing for a pod that is not in Pods.
	Observe func(*result.Cycle)
	// Pods are those about whose decisions Cycle may be asked; nil means all. An engine that records less of the others returns ErrUnrecorded for
	// them.
	Pods sets.Set[types.UID]
	// Played: the run plays what controllers and kubelets did in another cluster, so of its own only those run that carry out what its scheduler
	// decides.
	Played bool
}

// ErrUnrecorded is the error of Cycle for a pod that is not in ClusterOptions.Pods, if another run of the same scenario can record its decisions.
// That run makes the same decisions, and gives the pod the same UID.
var ErrUnrecorded = errors.New("the decisions about this pod have not been recorded")

// Engine opens clusters. Many runs may call it at the same time.
type Engine func(ctx context.Context, o ClusterOptions) (Cluster, error)

// UnsettledError means that a cluster did not settle. Its message says what goes on in it.
type UnsettledError struct{ Err error }

func (e *UnsettledError) Error() string { return e.Err.Error() }

func (e *UnsettledError) Unwrap() error { return e.Err }
