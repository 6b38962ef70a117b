package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/standin"
	"kube-scheduler-simulator/scheduler/versions/proxy"
)

// Options say what to simulate. The zero value of a field means its default.
type Options struct {
	// Configuration must be defaulted and validated, as package config returns it. It is required;
	// New copies it. Extenders are not supported.
	Configuration *config.KubeSchedulerConfiguration
	// FeatureGates are the gates that the run depends on. New refuses a gate that has another value
	// in this process, with a *FeatureGateError.
	FeatureGates map[string]bool
	// Version, if set, is the version of Kubernetes whose scheduler judges nodes, in a program of its own; see package proxy. The cycles lack the
	// inputs of verdicts and scores then. New and Configure return the errors of package versions that Start returns, and later methods that of
	// a program that has died.
	Version *proxy.Options
	// Seed decides wherever Kubernetes leaves a choice to chance.
	Seed int64
	// Start is the virtual time at which the simulation begins; DefaultStart by default.
	Start time.Time
	// Keep says what Results holds; Cycles by default.
	Keep Keep
	// Pods limits Cycles to those of these pods; nil means all pods. The same calls give the pods
	// the same UIDs in every run, so a second run can keep what the first found interesting.
	Pods sets.Set[types.UID]
	// Observe gets every finished cycle, in order. A cycle that is not kept lacks what
	// Recorder.Briefly leaves out, and the answers that the scheduler knew without asking plugins.
	// Observe gets a cycle that waited or preempted again, as recorder.Sink does. It runs on the
	// goroutine of a method's caller, and must not call the simulation. It may be nil.
	Observe func(*result.Cycle)
	// OutOfTree are plugins in addition to those of Kubernetes.
	OutOfTree frameworkruntime.Registry
	// Devices returns the ResourceSlices that a node publishes for its annotation
	// standin.AnnotationDevices, sorted by name. Without it, such nodes are not supported.
	Devices func(*v1.Node) ([]*resourcev1.ResourceSlice, error)
	// Admit does what an API server does before it stores a custom resource: it sets defaults and
	// validates. before is nil for a new one. Without Admit, custom resources are stored as they
	// are.
	Admit func(o, before *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Beside are further schedulers; nil for none. Close closes it.
	Beside Beside
	// Actor acts at moments of virtual time; nil for none.
	Actor Actor
	// SettleLimit is how much virtual time Settle lets pass at most; DefaultSettleLimit by default.
	SettleLimit time.Duration
}

// DefaultStart is when simulations begin.
var DefaultStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// DefaultSettleLimit exceeds what a settling cluster takes by default: a permit, or a binding that
// times out after 10 minutes.
const DefaultSettleLimit = 30 * time.Minute

type Keep int

const (
	// Cycles keeps whole cycles, in up to 128 MiB; the oldest go first. It keeps the summaries of
	// all.
	Cycles Keep = iota
	// Summaries keeps only result.Summary of each cycle. The scheduler then need not ask plugins
	// whose answer is known.
	Summaries
	// Nothing keeps none. Without Observe, nothing is recorded then, which is fastest.
	Nothing
)

// Simulation is a cluster in memory with its scheduler. Call its methods from one goroutine at a
// time. Objects that it returns must not be changed; they do not change either.
//
// Methods that change the cluster return once every immediate consequence has happened: controllers
// act, the scheduler empties its active queue, and pods are bound. Time passes in Advance and
// Settle.
//
// The error is a *ControllerError if a consequence fails, such as making the pods of a Deployment.
// After a *PanicError every method returns that error.
type Simulation struct {
	options  Options
	timeline *timeline
	cluster  *cluster
	control  *control
	engine   *engine
	results  *Results
	beside   *besides
	// broken, if not nil, is the error of every further call.
	broken error
}

// New starts a simulation with an empty cluster, in which only the namespaces default, kube-system,
// kube-public and kube-node-lease, the two system PriorityClasses and the StorageClass "standard"
// exist. The scheduler logs nothing. The error is a *ConfigurationError, a *FeatureGateError or an
// *UnsupportedError.
func New(ctx context.Context, options Options) (*Simulation, error) {
	if err := checkGates(options.FeatureGates); err != nil {
		return nil, err
	}
	if options.Start.IsZero() {
		options.Start = DefaultStart
	}
	if options.SettleLimit == 0 {
		options.SettleLimit = DefaultSettleLimit
	}
	s := &Simulation{options: options, timeline: newTimeline(options.Start), results: newResults(options)}
	s.cluster = newCluster(s.timeline)
	s.control = newControl(s)
	s.control.admitCustom, s.control.nodes.devices = options.Admit, options.Devices
	s.beside = newBesides(s, options.Beside)
	if options.Actor == nil {
		s.options.Actor = noActor{}
	}
	s.cluster.custom = s.options.Actor.Kinds()
	if s.beside != nil {
		s.cluster.custom = maps.Clone(s.beside.kinds)
		maps.Copy(s.cluster.custom, s.options.Actor.Kinds())
	}
	s.cluster.changed = func(r ref, before, after object) {
		s.control.note(r, before, after)
		s.beside.note(r, before, after)
		s.options.Actor.Changed(r.gvk, runtimeOf(before), runtimeOf(after))
	}
	e, err := newEngine(ctx, s, options.Configuration)
	if err != nil {
		return nil, err
	}
	s.engine, s.cluster.world = e, e.world
	if err := s.do(ctx, s.bootstrap); err != nil {
		return nil, err
	}
	return s, nil
}

func checkGates(gates map[string]bool) error {
	for _, name := range sortedKeys(gates) {
		gate := featuregate.Feature(name)
		if _, known := utilfeature.DefaultMutableFeatureGate.GetAll()[gate]; !known {
			return &FeatureGateError{Gate: name, Want: gates[name]}
		}
		if utilfeature.DefaultFeatureGate.Enabled(gate) != gates[name] {
			return &FeatureGateError{Gate: name, Want: gates[name], Known: true}
		}
	}
	return nil
}

// KubernetesVersion returns the version of Kubernetes whose scheduler judges nodes, such as v1.35.4; empty for that of this process.
func (s *Simulation) KubernetesVersion() string { return s.engine.version.Name() }

// do makes a change, and returns once its immediate consequences have happened.
func (s *Simulation) do(ctx context.Context, change func() error) (err error) {
	if s.broken != nil {
		return s.broken
	}
	defer func() {
		if value := recover(); value != nil {
			s.broken = &PanicError{Message: fmt.Sprint(value), Stack: string(debug.Stack())}
			err = s.broken
		}
	}()
	s.control.ended = ctx.Err
	if err := change(); err != nil {
		// Changes before the error have consequences, too.
		if follow := s.follow(ctx); follow != nil {
			return follow
		}
		return err
	}
	return s.follow(ctx)
}

// follow makes every immediate consequence happen.
func (s *Simulation) follow(ctx context.Context) error {
	most := turnsPerPod * (len(s.cluster.objects[podKind]) + 1000)
	for taken := 0; ; taken++ {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case taken > most:
			return &UnsettledError{Doing: "the scheduler is busy all the time: " + s.engine.busy()}
		case s.control.run(), s.engine.turns.run():
		case s.engine.sched.Ready():
			s.timeline.tick()
			s.engine.sched.ScheduleOne(s.engine.ctx)
			if err := s.engine.version.Err(); err != nil {
				return err
			}
			if taken%handEvery == 0 {
				s.results.hand() // what Observe has seen need not stay in memory
			}
		case s.beside.isDue():
			if err := s.beside.run(ctx); err != nil {
				return fmt.Errorf("a scheduler beside kube-scheduler: %w", err)
			}
		case s.actorIsDue():
			if err := s.options.Actor.Act(ctx, Hands{s}); err != nil {
				return fmt.Errorf("a controller beside the scheduler: %w", err)
			}
		default:
			s.engine.deliver()
			s.results.hand()
			return s.control.failure()
		}
	}
}

// actorIsDue reports whether the actor's moment has come, and all timers of that moment have passed.
func (s *Simulation) actorIsDue() bool {
	at, _ := s.options.Actor.Next()
	if at.IsZero() || at.After(s.timeline.Now()) {
		return false
	}
	next := s.timeline.first()
	return next == nil || next.at.After(s.timeline.Now())
}

// handEvery is after how many turns Observe gets what has arrived.
const handEvery = 64

// turnsPerPod bounds, per pod of the cluster, what may happen at one time.
const turnsPerPod = 1000

// step lets time pass until the next event, at most until end, and reports whether there was one.
func (s *Simulation) step(end time.Time) bool {
	at, backoff, flush := s.engine.nextFlush()
	next := s.timeline.first()
	if acts, _ := s.options.Actor.Next(); !acts.IsZero() && (next == nil || acts.Before(next.at)) && (!flush || acts.Before(at)) {
		if acts.After(end) {
			return false
		}
		s.timeline.reach(acts)
		return true
	}
	if next != nil && (!flush || !next.at.After(at)) {
		if next.at.After(end) {
			return false
		}
		s.timeline.reach(next.at)
		s.timeline.due()
		return true
	}
	if !flush || at.After(end) {
		return false
	}
	s.timeline.reach(at)
	s.engine.flush(backoff)
	return true
}

// Create creates objects, in this order. Objects may be typed or unstructured; they get the API
// server's defaults that scheduling can see, and names if they have generateName. Create copies the
// objects. The error is an API server's or an *UnsupportedError, and names the object; the objects
// before it exist.
//
// Objects may carry a status, which Create keeps: a pod that has spec.nodeName is bound, and a node
// has the allocatable that its status says.
func (s *Simulation) Create(ctx context.Context, objects ...runtime.Object) error {
	return s.do(ctx, func() error {
		for _, o := range objects {
			if _, err := s.control.create(o); err != nil {
				return err
			}
		}
		return nil
	})
}

// Apply is Create for objects that do not exist yet. It merges the given object into an existing
// one by JSON merge patch (RFC 7386): maps are merged, other fields are replaced, and omitted
// fields stay.
func (s *Simulation) Apply(ctx context.Context, objects ...runtime.Object) error {
	return s.do(ctx, func() error {
		for _, o := range objects {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.control.apply(o); err != nil {
				return err
			}
		}
		return nil
	})
}

// Patch changes an object by a patch in JSON. Strategic merge patches need a built-in kind.
func (s *Simulation) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, kind types.PatchType, patch []byte) error {
	return s.do(ctx, func() error { return s.control.patch(s.cluster.ref(gvk, namespace, name), kind, patch) })
}

// Delete deletes an object, and what it owns. A bound pod terminates first, as on a virtual node.
func (s *Simulation) Delete(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) error {
	return s.do(ctx, func() error { return s.control.remove(s.cluster.ref(gvk, namespace, name), metav1.DeleteOptions{}) })
}

// Scale sets spec.replicas of a Deployment, ReplicaSet or StatefulSet.
func (s *Simulation) Scale(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, replicas int32) error {
	return s.Patch(ctx, gvk, namespace, name, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))
}

// Fail makes a node unreachable until Recover, as the annotation standin.AnnotationFailure does.
// Its pods stop counting as ready, and the node gets the node lifecycle controller's taints, which
// evict its pods when their toleration ends: after five minutes by default.
func (s *Simulation) Fail(ctx context.Context, node string) error {
	return s.annotateFailure(ctx, node, `"unreachable"`)
}

// Recover ends Fail.
func (s *Simulation) Recover(ctx context.Context, node string) error {
	return s.annotateFailure(ctx, node, "null")
}

func (s *Simulation) annotateFailure(ctx context.Context, node, value string) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, standin.AnnotationFailure, value)
	return s.Patch(ctx, nodeKind, "", node, types.MergePatchType, patch)
}

// Configure replaces the scheduler by one with another configuration, as the full simulator does.
// Binding cycles end first; those that wait fail. Then unscheduled pods enter the new queue, the
// oldest first. On an error, the old scheduler stays.
func (s *Simulation) Configure(ctx context.Context, configuration *config.KubeSchedulerConfiguration) error {
	return s.do(ctx, func() error {
		next, err := newEngine(ctx, s, configuration)
		if err != nil {
			return err
		}
		stopped := s.engine.stop()
		s.engine, s.cluster.world = next, next.world
		s.beside.recount()
		return errors.Join(stopped, s.cluster.show())
	})
}

func (s *Simulation) Advance(ctx context.Context, d time.Duration) error {
	end := s.timeline.Now().Add(d)
	return s.do(ctx, func() error {
		for s.step(end) {
			if err := s.follow(ctx); err != nil {
				return err
			}
		}
		s.timeline.reach(end)
		return nil
	})
}

// Settle lets virtual time pass until the cluster has settled: no pod is in the active or the
// backoff queue, none is being scheduled, bound or terminated, and controllers have nothing to do.
// Unschedulable and gated pods may remain, pods that back off while there are no nodes, running
// Jobs, and pods on failed nodes. The error is an *UnsettledError if that takes longer than
// Options.SettleLimit.
func (s *Simulation) Settle(ctx context.Context) error {
	end := s.timeline.Now().Add(s.options.SettleLimit)
	return s.do(ctx, func() error {
		for {
			if err := s.follow(ctx); err != nil {
				return err
			}
			doing := s.engine.busy()
			_, acts := s.options.Actor.Next()
			if doing == "" && !acts && !s.timeline.awaits() {
				return nil
			}
			if !s.step(end) {
				return &UnsettledError{Limit: s.options.SettleLimit, Doing: cmp.Or(doing, "pods terminate or start")}
			}
		}
	})
}

// Now returns the virtual time.
func (s *Simulation) Now() time.Time { return s.timeline.Now() }

// Get returns an object, or nil. Objects of built-in kinds are typed, others are unstructured.
func (s *Simulation) Get(gvk schema.GroupVersionKind, namespace, name string) runtime.Object {
	if o := s.cluster.get(gvk, s.cluster.ref(gvk, namespace, name).key); o != nil {
		return o
	}
	return nil
}

// List returns the objects of a kind by namespace and name.
func (s *Simulation) List(gvk schema.GroupVersionKind) []runtime.Object {
	var out []runtime.Object
	for _, o := range s.cluster.list(gvk) {
		out = append(out, o)
	}
	return out
}

// State is the cluster's nodes and pods.
type State struct {
	// Nodes are sorted by name.
	Nodes []*v1.Node
	// Pods are sorted by namespace and name. Finished pods are among them.
	Pods []*v1.Pod
}

func (s *Simulation) State() State {
	return State{Nodes: all[*v1.Node](s.cluster, nodeKind), Pods: all[*v1.Pod](s.cluster, podKind)}
}

// Results returns the decisions so far. They stay readable after Close.
func (s *Simulation) Results() *Results { return s.results }

func (s *Simulation) Close() error {
	if s.beside != nil {
		s.beside.Close()
	}
	if s.broken != nil {
		s.engine.cancel()
		return nil
	}
	s.broken = errors.New("the simulation is closed")
	err := s.engine.stop()
	s.results.hand()
	return err
}
