package simulation

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/result"
)

// Options say what to simulate. The zero value of a field means its default.
type Options struct {
	// Configuration must be defaulted and validated, as package config returns it. It is required; New copies it. Extenders
	// are not supported.
	Configuration *config.KubeSchedulerConfiguration
	// FeatureGates are the gates that the run depends on. New refuses a gate that has another value in this
	// process, with a *FeatureGateError.
	FeatureGates map[string]bool
	// Seed decides wherever Kubernetes leaves a choice to chance.
	Seed int64
	// Start is the virtual time at which the simulation begins; DefaultStart by default.
	Start time.Time
	// Keep says what Results holds; Cycles by default.
	Keep Keep
	// Observe gets every finished cycle, in order. It is called on the goroutine of the caller of a method, and must not call the
	// simulation. A cycle that waited or preempted is given again, as for recorder.Sink. It may be nil.
	Observe func(*result.Cycle)
	// OutOfTree are plugins in addition to those of Kubernetes.
	OutOfTree frameworkruntime.Registry
	// SettleLimit is how much virtual time Settle lets pass at most; DefaultSettleLimit by default.
	SettleLimit time.Duration
}

// DefaultStart is when simulations begin.
var DefaultStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// DefaultSettleLimit is longer than what a settling cluster takes by default: a permit, or a binding that times out after 10 minutes.
const DefaultSettleLimit = 30 * time.Minute

// Keep says which results a simulation keeps.
type Keep int

const (
	// Cycles keeps whole cycles, compressed, in up to 128 MiB; the oldest go first.
	Cycles Keep = iota
	// Summaries keeps only result.Summary of each cycle.
	Summaries
	// Nothing keeps none. Without Observe, decisions are then not recorded at all, which is fastest.
	Nothing
)

// Simulation is a cluster in memory with its scheduler. Call its methods from one goroutine at a time. Objects that it returns
// must not be changed; they do not change either.
//
// A method that changes something lets everything follow that needs no time, before it returns: controllers act, the scheduler
// empties its active queue, and pods are bound. Time passes in Advance and Settle.
//
// After a *PanicError every method returns that error.
type Simulation struct{}

// New starts a simulation with an empty cluster, in which only the namespaces default, kube-system, kube-public and kube-node-lease,
// the two system PriorityClasses and the StorageClass "standard" exist. ctx provides the logger. The error is a *ConfigurationError, a
// *FeatureGateError or an *UnsupportedError.
func New(ctx context.Context, options Options) (*Simulation, error) { return nil, nil }

// Create creates objects, in this order. Objects may be typed or unstructured; they get the defaults of the API server that
// scheduling can see, and names if they have generateName. Nothing is kept of what the caller passes. The error is one of an API
// server, or an *UnsupportedError, and names the object; the objects before it have been created.
//
// Objects may carry a status, which Create keeps: a pod that has spec.nodeName is bound, and a node has the allocatable that its status says.
func (s *Simulation) Create(ctx context.Context, objects ...runtime.Object) error { return nil }

// Apply is Create for objects that do not exist yet. It merges an object that exists with the given one, as kubectl apply
// does: maps are merged, other fields are replaced, and fields that the given object leaves out stay.
func (s *Simulation) Apply(ctx context.Context, objects ...runtime.Object) error { return nil }

// Patch changes an object by a patch in JSON. Strategic merge patches need a built-in kind.
func (s *Simulation) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, kind types.PatchType, patch []byte) error {
	return nil
}

// Delete deletes an object, and what it owns. A bound pod terminates first, as on a virtual node.
func (s *Simulation) Delete(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) error {
	return nil
}

// Scale sets spec.replicas of a Deployment, ReplicaSet or StatefulSet.
func (s *Simulation) Scale(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, replicas int32) error {
	return nil
}

// Fail makes a node unreachable until Recover. Its pods stop counting as ready, the node gets the taints that the node
// lifecycle controller gives, and its pods are evicted when they no longer tolerate them: after five minutes by default.
func (s *Simulation) Fail(ctx context.Context, node string) error { return nil }

// Recover ends Fail.
func (s *Simulation) Recover(ctx context.Context, node string) error { return nil }

// Configure replaces the scheduler by one of another configuration, as the full simulator does: unscheduled pods enter the queue
// of the new one. On an error, the old one stays.
func (s *Simulation) Configure(ctx context.Context, configuration *config.KubeSchedulerConfiguration) error {
	return nil
}

// Advance lets virtual time pass.
func (s *Simulation) Advance(ctx context.Context, d time.Duration) error { return nil }

// Settle lets virtual time pass until the cluster has settled: no pod is in the active or the backoff queue, none is being
// scheduled, bound, started or terminated, and controllers have nothing to do. Pods that are unschedulable or gated may remain, and so
// may Jobs that run. The error is an *UnsettledError if that takes longer than Options.SettleLimit.
func (s *Simulation) Settle(ctx context.Context) error { return nil }

// Now returns the virtual time.
func (s *Simulation) Now() time.Time { return time.Time{} }

// Get returns an object, or nil. Objects of built-in kinds are typed, others are unstructured.
func (s *Simulation) Get(gvk schema.GroupVersionKind, namespace, name string) runtime.Object {
	return nil
}

// List returns the objects of a kind by namespace and name.
func (s *Simulation) List(gvk schema.GroupVersionKind) []runtime.Object { return nil }

// State is what the cluster looks like.
type State struct {
	// Nodes are sorted by name.
	Nodes []*v1.Node
	// Pods are sorted by namespace and name. Finished pods are among them.
	Pods []*v1.Pod
}

// State returns the nodes and the pods.
func (s *Simulation) State() State { return State{} }

// Results are the decisions so far.
type Results struct{}

// Results returns the decisions so far. They stay readable after Close.
func (s *Simulation) Results() *Results { return nil }

// Summaries returns the summaries of all cycles in the order of their ends. It is empty under Nothing.
func (r *Results) Summaries() []result.Summary { return nil }

// Cycle returns a cycle of a pod, or nil if it is not kept.
func (r *Results) Cycle(pod types.UID, attempt int) (*result.Cycle, error) { return nil, nil }

// Close ends the simulation.
func (s *Simulation) Close() error { return nil }
