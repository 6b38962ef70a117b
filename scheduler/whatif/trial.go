package whatif

import (
	"context"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/memory"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
)

// Trial is a view of the state that one caller changes and asks about, as often as it likes. Its methods
// must be called from one goroutine, within Try.
//
// The costs differ: Apply, Place and Rollback cost microseconds per object that they touch, except
// that a node which comes or goes costs microseconds per node of the cluster at the next decision.
// Feasible costs a PreFilter, which is reused while neither the pod nor the state changes, and then
// microseconds per node asked about. Choose costs what the live scheduler needs if it searches all nodes, and
// Decide up to twice that.
type Trial struct {
	// inside is an *inside. Its types lead to all informers, so packages that name a Trial must not see them: each would compile for seconds
	// longer.
	inside any
	state  State
	// steps are the placements, which have more to undo than the world has.
	steps []step
	// added are the new nodes like existing ones that changes have added.
	added []added
}

// inside is what a trial works on and has found out.
type inside struct {
	*Replica
	// last is the latest attempt, and decided the latest one that selected a node. They are nil after a
	// change.
	last    *attempt
	decided *decided
}

// in returns what is inside a trial. A small method of Trial that calls it is not inlined: its body would bring the types of what is inside into
// the packages of its callers. For the same reason, what has such a type as a parameter or a result is a function, not a method of Trial.
func in(t *Trial) *inside { return t.inside.(*inside) }

// added is a new node that is like a sample.
type added struct {
	name   string
	sample *newnode.Sample
}

type step struct {
	before memory.Mark
	undo   func()
}

// attempt is what plugins have found out about a pod, in the present state.
type attempt struct {
	pod         *v1.Pod
	framework   framework.Framework
	state       fwk.CycleState
	restriction *fwk.PreFilterResult
	status      *fwk.Status
}

// decided is an attempt in which the scheduler selected a node.
type decided struct {
	attempt
	node string
}

// State returns the state before all changes.
func (t *Trial) State() State { return t.state }

// Moment identifies a state of a replica: as long as nothing in the state changes, it stays the same pointer.
type Moment struct{ _ byte }

// Moment returns that of the state before all changes.
//
//go:noinline
func (t *Trial) Moment() *Moment { return in(t).moment }

// Now returns the engine's time.
//
//go:noinline
func (t *Trial) Now() time.Time { return in(t).now() }

// Mark is a point in the sequence of a Trial's changes. The zero value is its beginning.
type Mark struct {
	world memory.Mark
	steps int
}

// Mark returns a point to which Rollback can return.
//
//go:noinline
func (t *Trial) Mark() Mark { return Mark{in(t).world.Mark(), len(t.steps)} }

// Rollback undoes all changes since the mark, the latest first.
func (t *Trial) Rollback(to Mark) {
	for i := len(t.steps) - 1; i >= to.steps; i-- {
		in(t).world.Rollback(t.steps[i].before)
		t.steps[i].undo()
	}
	t.steps = t.steps[:to.steps]
	in(t).world.Rollback(to.world)
	t.changed()
}

func (t *Trial) changed() {
	in := in(t)
	in.last, in.decided, in.stale = nil, nil, true
}

func (t *Trial) set(o runtime.Object) error {
	t.changed()
	return in(t).world.Set(o)
}

// AskExtenders says whether the following decisions ask extenders. At first they do not.
//
//go:noinline
func (t *Trial) AskExtenders(ask bool) { in(t).observer.asks.Store(ask) }

// NotAsked says whom decisions about the pod do not ask. A profile that does not exist is a *ProfileError.
func (t *Trial) NotAsked(pod *v1.Pod, profile string) (NotAsked, error) {
	f, err := frameworkOf(t, pod, profile)
	if err != nil {
		return NotAsked{}, err
	}
	var out NotAsked
	for _, plugin := range f.ListPlugins().Permit.Enabled {
		out.PermitNotAsked = append(out.PermitNotAsked, plugin.Name)
	}
	out.ExtendersNotAsked = in(t).observer.notAsked(pod)
	objects := []metav1.Object{pod}
	for _, n := range t.Nodes() {
		objects = append(objects, n.Node())
	}
	out.AutoscalersNotAsked = named(autoscalers, objects...)
	out.ControllersNotAsked = named(podControllers, pod)
	for _, g := range pod.Spec.SchedulingGates {
		out.GatesNotAsked = append(out.GatesNotAsked, g.Name)
	}
	return out, nil
}

// Among limits the following decisions to some nodes: of those that pass Filter, only these are scored, unless none of
// them passes. A live scheduler whose search ends early normalizes the scores among fewer nodes, so a comparison with
// its decision needs the same ones. nil, as at first, means all nodes.
//
//go:noinline
func (t *Trial) Among(nodes func(name string) bool) { in(t).observer.among = nodes }

// framework returns the framework that decides about a pod.
func frameworkOf(t *Trial, pod *v1.Pod, profile string) (framework.Framework, error) {
	if profile == "" {
		profile = pod.Spec.SchedulerName
	}
	if f := in(t).decider.Profiles[profile]; f != nil {
		return f, nil
	}
	err := &ProfileError{Profile: profile}
	for i := range in(t).given.Profiles {
		err.Profiles = append(err.Profiles, in(t).given.Profiles[i].SchedulerName)
	}
	return nil, err
}

// prepare makes the pod a pending pod of the state, if it is not yet, and brings the snapshot up to date.
func prepare(ctx context.Context, t *Trial, pod *v1.Pod) (*framework.QueuedPodInfo, error) {
	info, err := upstream.NewPodInfo(pod)
	if err != nil {
		return nil, &InvalidError{Message: err.Error()}
	}
	if known := in(t).world.Get(podKind, pod.Namespace, pod.Name); known != runtime.Object(pod) && !outdates(known, pod) {
		if err := t.set(pod); err != nil {
			return nil, err
		}
	}
	return info, t.refresh(ctx)
}

// Add makes a pod that Asked, Another or New has returned a pending pod of the state. Decide does so itself.
//
//go:noinline
func (t *Trial) Add(ctx context.Context, pod *v1.Pod) error {
	_, err := prepare(ctx, t, pod)
	return err
}

// outdates reports whether the state has a newer version of a pending pod than the scheduling queue had. Plugins that list
// pods read the newer one, as DefaultPreemption does to learn whether the pod is nominated.
func outdates(known runtime.Object, pod *v1.Pod) bool {
	latest, ok := known.(*v1.Pod)
	if !ok || latest.UID != pod.UID || latest.Spec.NodeName != "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(latest.ResourceVersion, pod.ResourceVersion)
	return err == nil && order > 0
}

// refresh brings the snapshot up to date. Every step of a question begins with it, so it is where
// a question ends with ctx.
func (t *Trial) refresh(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !in(t).stale {
		return nil
	}
	in(t).stale = false
	return in(t).decider.Update(ctx)
}

func newState() *framework.CycleState {
	state := framework.NewCycleState()
	state.Write(framework.PodsToActivateKey, framework.NewPodsToActivate())
	return state
}

// Decide makes a recorded decision. The pod becomes a pending pod of the state if it is not one yet; it is not
// placed. profile is as in Question.
func (t *Trial) Decide(ctx context.Context, pod *v1.Pod, profile string) (*result.Cycle, error) {
	f, err := frameworkOf(t, pod, profile)
	if err != nil {
		return nil, err
	}
	info, err := prepare(ctx, t, pod)
	if err != nil {
		return nil, err
	}
	for _, plugin := range f.PreEnqueuePlugins() {
		plugin.PreEnqueue(ctx, pod) // for the record
	}
	state := newState()
	decision := in(t).decider.Decide(ctx, f, state, info)
	cycle := in(t).observer.Conclude(pod.UID, decision.Status, decision.Nominating)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	in(t).decided = &decided{attempt{pod: pod, framework: f, state: state}, decision.Node}
	return cycle, nil
}

// Choose returns the node that the scheduler would choose, empty when none fits: a decision without its
// record and without preemption.
func (t *Trial) Choose(ctx context.Context, pod *v1.Pod, profile string) (string, error) {
	f, err := frameworkOf(t, pod, profile)
	if err != nil {
		return "", err
	}
	info, err := prepare(ctx, t, pod)
	if err != nil {
		return "", err
	}
	state := newState()
	node, err := in(t).decider.Choose(ctx, f, state, info)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return "", err
	}
	in(t).decided = &decided{attempt{pod: pod, framework: f, state: state}, node}
	return node, nil
}

// Feasible returns those of the named nodes, in their order, on which the pod fits; of all nodes, in the order of Nodes, if none is
// named. It stops at a node's first rejection, and asks no extender. The error may be a *NotFoundError.
func (t *Trial) Feasible(ctx context.Context, pod *v1.Pod, profile string, nodes ...string) ([]string, error) {
	a, err := attemptOf(ctx, t, pod, profile)
	if err != nil || !a.status.IsSuccess() {
		return nil, err
	}
	infos, err := t.nodes(nodes)
	if err != nil {
		return nil, err
	}
	statuses := make([]*fwk.Status, len(infos))
	a.framework.Parallelizer().Until(ctx, len(infos), func(i int) { statuses[i] = a.filter(ctx, infos[i]) }, metrics.Filter)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var out []string
	for i, status := range statuses {
		switch {
		case status.IsSuccess():
			out = append(out, infos[i].Node().Name)
		case !status.IsRejected():
			return nil, status.AsError()
		}
	}
	return out, nil
}

// nodes returns the named nodes, or all.
func (t *Trial) nodes(names []string) ([]fwk.NodeInfo, error) {
	if len(names) == 0 {
		return in(t).decider.Nodes(), nil
	}
	out := make([]fwk.NodeInfo, len(names))
	for i, name := range names {
		if out[i] = in(t).decider.Node(name); out[i] == nil {
			return nil, &NotFoundError{ObjectRef{GVK: nodeKind, Name: name}}
		}
	}
	return out, nil
}

// attempt returns an attempt after PreFilter. Without an error, its status is a success or a rejection.
func attemptOf(ctx context.Context, t *Trial, pod *v1.Pod, profile string) (*attempt, error) {
	f, err := frameworkOf(t, pod, profile)
	if err != nil {
		return nil, err
	}
	if _, err := prepare(ctx, t, pod); err != nil {
		return nil, err
	}
	if in(t).last != nil && in(t).last.pod == pod && in(t).last.framework == f {
		return in(t).last, nil
	}
	a := &attempt{pod: pod, framework: f, state: newState()}
	a.restriction, a.status, _ = f.RunPreFilterPlugins(ctx, a.state, pod)
	if !a.status.IsSuccess() && !a.status.IsRejected() {
		return nil, a.status.AsError()
	}
	in(t).last = a
	return a, nil
}

func (a *attempt) filter(ctx context.Context, node fwk.NodeInfo) *fwk.Status {
	if !a.restriction.AllNodes() && !a.restriction.NodeNames.Has(node.Node().Name) {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "PreFilter restricts the pod to other nodes")
	}
	return a.framework.RunFilterPluginsWithNominatedPods(ctx, a.state, a.pod, node)
}

// Place places the pod on the node, and reserves what its plugins hand out: volumes and devices. If Decide or Choose has just
// selected the node, what they found out is used; otherwise the pod is filtered for this node first. The error may be a
// *UnfitError or a *NotFoundError; the pod is then not placed. To put a pod on a node without asking whether it fits, apply it with a node.
func (t *Trial) Place(ctx context.Context, pod *v1.Pod, profile, node string) error {
	if d := in(t).decided; d != nil && d.pod == pod && d.node == node {
		return reserve(context.WithoutCancel(ctx), t, &d.attempt, node)
	}
	a, err := attemptOf(ctx, t, pod, profile)
	if err != nil {
		return err
	}
	on, err := t.nodes([]string{node})
	if err != nil {
		return err
	}
	status := a.status
	if status.IsSuccess() {
		status = a.filter(ctx, on[0])
	}
	if !status.IsSuccess() {
		return &UnfitError{Node: node, Plugin: status.Plugin(), Reasons: status.Reasons()}
	}
	return reserve(context.WithoutCancel(ctx), t, a, node)
}

func reserve(ctx context.Context, t *Trial, a *attempt, node string) error {
	bound := *a.pod
	bound.Spec.NodeName, bound.Status.NominatedNodeName = node, ""
	bound.ResourceVersion = in(t).nextVersion()
	undo := func() { a.framework.RunReservePluginsUnreserve(ctx, a.state, &bound, node) }
	if status := a.framework.RunReservePluginsReserve(ctx, a.state, &bound, node); !status.IsSuccess() {
		undo()
		return &UnfitError{Node: node, Plugin: status.Plugin(), Reasons: status.Reasons()}
	}
	t.steps = append(t.steps, step{in(t).world.Mark(), undo})
	if err := t.allocate(&bound); err != nil {
		return err
	}
	return t.set(&bound)
}

// allocate writes the claims of a placed pod, as DynamicResources does in PreBind: with what Reserve has allocated, and with
// the pod as their user.
func (t *Trial) allocate(pod *v1.Pod) error {
	for i := range pod.Spec.ResourceClaims {
		name, _, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i])
		if err != nil || name == nil {
			continue // the plugin has seen no such claim
		}
		claim, ok := in(t).world.Get(claimKind, pod.Namespace, *name).(*resourcev1.ResourceClaim)
		if !ok {
			continue
		}
		claim = claim.DeepCopy()
		if pending := in(t).claims.GetPendingAllocation(claim.UID); claim.Status.Allocation == nil && pending != nil {
			claim.Status.Allocation = pending
		}
		user := resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID}
		if !slices.Contains(claim.Status.ReservedFor, user) {
			claim.Status.ReservedFor = append(claim.Status.ReservedFor, user)
		}
		claim.ResourceVersion = in(t).nextVersion()
		if err := t.set(claim); err != nil {
			return err
		}
		in(t).claims.MaybeRemoveClaimPendingAllocation(claim.UID, true)
	}
	return nil
}

// Nodes returns the nodes in the scheduler's order, with their pods. The list is valid until the next change.
func (t *Trial) Nodes() []fwk.NodeInfo {
	// An error of the cache means that the list may be incomplete; the next decision reports it.
	_ = t.refresh(context.Background())
	return in(t).decider.Nodes()
}

// Pods returns all pods, bound and pending, in no particular order.
func (t *Trial) Pods() []*v1.Pod {
	objects := in(t).world.List(podKind)
	pods := make([]*v1.Pod, len(objects))
	for i, o := range objects {
		pods[i] = o.(*v1.Pod)
	}
	return pods
}

// Get returns an object. Do not change it. The error is a *NotFoundError or a *KindError.
func (t *Trial) Get(gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error) {
	ref := ObjectRef{GVK: gvk, Namespace: namespace, Name: name}
	if o := in(t).world.Get(gvk, namespace, name); o != nil {
		return o, nil
	}
	if !in(t).reads(gvk) {
		return nil, &KindError{ref}
	}
	return nil, &NotFoundError{ref}
}

// List returns all objects of a kind, in no particular order. Do not change them. The error is a *KindError.
func (t *Trial) List(gvk schema.GroupVersionKind) ([]runtime.Object, error) {
	if !in(t).reads(gvk) {
		return nil, &KindError{ObjectRef{GVK: gvk}}
	}
	return in(t).world.List(gvk), nil
}
