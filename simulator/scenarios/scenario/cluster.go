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
// A method that changes something returns when all that needs no time has followed from it:
// controllers have acted, and the scheduler has emptied its active queue.
type Cluster interface {
	// Create creates objects, in this order. It may neither keep nor change them.
	Create(ctx context.Context, objects ...runtime.Object) error
	// Apply creates or merges objects, as kubectl apply does. It may neither keep nor change them.
	Apply(ctx context.Context, objects ...runtime.Object) error
	Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, kind types.PatchType, patch []byte) error
	Delete(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) error
	// Fail makes a node unreachable until Recover.
	Fail(ctx context.Context, node string) error
	Recover(ctx context.Context, node string) error
	Configure(ctx context.Context, c *config.Configuration) error
	// Advance lets time pass, and Settle as much as the cluster needs until no pod is in the active
	// or the backoff queue and nothing is in flight. Otherwise Settle returns an *UnsettledError.
	Advance(ctx context.Context, d time.Duration) error
	Settle(ctx context.Context) error
	Now() time.Time
	// State returns the nodes by name and the pods by namespace and name. They do not change.
	State(ctx context.Context) ([]*v1.Node, []*v1.Pod, error)
	// List returns the objects of a kind by namespace and name. They do not change.
	List(ctx context.Context, gvk schema.GroupVersionKind) ([]runtime.Object, error)
	// Cycle returns a decision, or nil if it is not kept. The error may be ErrUnrecorded.
	Cycle(ctx context.Context, pod types.UID, attempt int) (*result.Cycle, error)
	Close() error
}

type Pricer interface {
	// Gap is Metrics.Gap, nil if there are no pods, or too many.
	Gap(ctx context.Context) (*float64, error)
}

// Versioned is a Cluster in which the scheduler of another version of Kubernetes may decide.
type Versioned interface {
	// KubernetesVersion is that version, such as v1.35.4; empty if this program's own scheduler decides.
	KubernetesVersion() string
}

type ClusterOptions struct {
	Configuration *config.Configuration
	FeatureGates  map[string]bool
	// KubernetesVersion is the minor version of Kubernetes whose scheduler decides; empty for that of this program. An engine that has only that
	// returns an error.
	KubernetesVersion string
	// Seed decides what Kubernetes leaves to chance.
	Seed int64
	// Observe gets every finished cycle, in order, on the goroutine of the run, before the method
	// that caused it returns; one that waited or preempted comes again. Without its pod in Pods,
	// what plugins said about nodes may be missing.
	Observe func(*result.Cycle)
	// Pods are those about whose decisions Cycle may be asked; nil means all. An engine that
	// records less of the others returns ErrUnrecorded for them.
	Pods sets.Set[types.UID]
	// Played: the run plays what controllers and kubelets did in another cluster, so only those run
	// that carry out what its scheduler decides.
	Played bool
	// Autoscale is the autoscaler that acts beside the scheduler; nil for none. An engine that has none returns an error.
	Autoscale *Autoscale
}

// Cycle returns ErrUnrecorded for a pod that is not in ClusterOptions.Pods, if another run can
// record its decisions. That run makes the same decisions, and gives the pod the same UID.
var ErrUnrecorded = errors.New("the decisions about this pod have not been recorded")

// Engine opens clusters. Many runs may call it at the same time.
type Engine func(ctx context.Context, o ClusterOptions) (Cluster, error)

// UnsettledError means that a cluster did not settle. Its message says what goes on in it.
type UnsettledError struct{ Err error }

func (e *UnsettledError) Error() string { return e.Err.Error() }

func (e *UnsettledError) Unwrap() error { return e.Err }
