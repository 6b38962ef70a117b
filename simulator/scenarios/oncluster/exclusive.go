package oncluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/standin"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// ExclusiveOptions say how a run uses its cluster. All are required but Observe and Played.
type ExclusiveOptions struct {
	// Idle waits until the scheduler has nothing to do, and with backoff until no pod backs off. Its error says what it was waiting for.
	Idle func(ctx context.Context, backoff bool) error
	// Slow reports whether the pods of that schedulerName wait for a scheduler that decides from time to time, and not for that of Idle.
	Slow func(schedulerName string) bool
	// Decided returns the cycles that have ended since the last call, in order. Those that Idle has waited for are among them.
	Decided func() []*result.Cycle
	// Observe is that of scenario.ClusterOptions.
	Observe func(*result.Cycle)
	// Price is the gap of scenario.Pricer.
	Price func(ctx context.Context, nodes []*v1.Node, pods []*v1.Pod) (*float64, error)
	// Played is that of scenario.ClusterOptions: no kubelet ends or starts a pod, and no controller acts on workloads.
	Played bool
	// Limit is how much real time the run may take.
	Limit time.Duration
	// Close ends the cluster.
	Close func() error
}

// Exclusive is the cluster of one run. Its methods return when all has followed that needs no time: controllers have acted, new nodes are
// ready, and the scheduler has nothing to do. Use it from one goroutine.
type Exclusive struct {
	*Cluster
	options ExclusiveOptions
	start   time.Time
	// ready says of the nodes of Fail and Recover when they were called, and what is to become of them.
	ready map[string]readiness
}

type readiness struct {
	want  bool
	since time.Time
}

var (
	_ scenario.Cluster = (*Exclusive)(nil)
	_ scenario.Pricer  = (*Exclusive)(nil)
	_ scenario.Real    = (*Exclusive)(nil)
)

// NewExclusive returns the cluster of a run that begins now.
func NewExclusive(c *Cluster, o ExclusiveOptions) *Exclusive {
	return &Exclusive{Cluster: c, options: o, start: time.Now(), ready: map[string]readiness{}}
}

// LimitError means that a run needs more real time than it may take.
type LimitError struct{ Limit time.Duration }

func (e *LimitError) Error() string {
	return fmt.Sprintf("on the full engine time is real, and the run may take %s of it: allow more with --time-limit, or use --engine memory, where time costs nothing", e.Limit)
}

// within bounds ctx by the time that is left.
func (e *Exclusive) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, e.start.Add(e.options.Limit), &LimitError{e.options.Limit})
}

// changed waits for what follows from a change.
func (e *Exclusive) changed(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	ctx, cancel := e.within(ctx)
	defer cancel()
	return e.rest(ctx, false)
}

// Create implements scenario.Cluster.
func (e *Exclusive) Create(ctx context.Context, objects ...runtime.Object) error {
	return e.changed(ctx, e.Cluster.Create(ctx, objects...))
}

// Apply implements scenario.Cluster.
func (e *Exclusive) Apply(ctx context.Context, objects ...runtime.Object) error {
	return e.changed(ctx, e.Cluster.Apply(ctx, objects...))
}

// Patch implements scenario.Cluster.
func (e *Exclusive) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, kind types.PatchType, patch []byte) error {
	return e.changed(ctx, e.Cluster.Patch(ctx, gvk, namespace, name, kind, patch))
}

// Delete implements scenario.Cluster.
func (e *Exclusive) Delete(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) error {
	if e.options.Played {
		return e.changed(ctx, e.remove(ctx, gvk, namespace, name, new(int64(0))))
	}
	return e.changed(ctx, e.Cluster.Delete(ctx, gvk, namespace, name))
}

// Fail implements scenario.Cluster.
func (e *Exclusive) Fail(ctx context.Context, node string) error {
	e.ready[node] = readiness{false, time.Now()}
	return e.changed(ctx, e.Cluster.Fail(ctx, node))
}

// Recover implements scenario.Cluster.
func (e *Exclusive) Recover(ctx context.Context, node string) error {
	e.ready[node] = readiness{true, time.Now()}
	return e.changed(ctx, e.Cluster.Recover(ctx, node))
}

// Configure implements scenario.Cluster.
func (e *Exclusive) Configure(ctx context.Context, to *config.Configuration) error {
	return e.changed(ctx, e.Cluster.Configure(ctx, to))
}

// Advance waits. The error is a *LimitError, at once, if the run would take too long.
func (e *Exclusive) Advance(ctx context.Context, d time.Duration) error {
	if time.Since(e.start)+d > e.options.Limit {
		return &LimitError{e.options.Limit}
	}
	if err := e.Cluster.Advance(ctx, d); err != nil {
		return err
	}
	return e.changed(ctx, nil)
}

// settleLimit is how long a cluster may take to settle. In memory the limit is the same.
const settleLimit = 30 * time.Minute

// Settle implements scenario.Cluster.
func (e *Exclusive) Settle(ctx context.Context) error {
	ctx, cancel := e.within(ctx)
	defer cancel()
	ctx, cancel = context.WithTimeoutCause(ctx, settleLimit, &scenario.UnsettledError{Err: fmt.Errorf("the cluster has not settled within %s", settleLimit)})
	defer cancel()
	return e.rest(ctx, true)
}

// State implements scenario.Cluster.
func (e *Exclusive) State(ctx context.Context) ([]*v1.Node, []*v1.Pod, error) {
	nodes, pods, err := e.Cluster.State(ctx)
	e.observe() // afterwards: of a pod that has a node, the run knows why
	return nodes, pods, err
}

// Gap implements scenario.Pricer.
func (e *Exclusive) Gap(ctx context.Context) (*float64, error) {
	nodes, pods, err := e.State(ctx)
	if err != nil {
		return nil, err
	}
	return e.options.Price(ctx, nodes, pods)
}

// Real implements scenario.Real.
func (e *Exclusive) Real() bool { return true }

// Close implements scenario.Cluster.
func (e *Exclusive) Close() error { return e.options.Close() }

// observe hands over the decisions.
func (e *Exclusive) observe() {
	for _, c := range e.options.Decided() {
		if e.options.Observe != nil {
			e.options.Observe(c)
		}
	}
}

const (
	// A cluster rests when nothing has changed for restTime, and for slowTime if pods wait for a scheduler that decides once a second.
	// A cluster that is to settle must have rested for settledTime: controllers may act that nothing shows to be at work.
	restTime    = 100 * time.Millisecond
	settledTime = 600 * time.Millisecond
	slowTime    = 2500 * time.Millisecond
	// lookPause is the pause between two looks. A look at a large cluster takes longer, and then the pause does, too.
	lookPause = 40 * time.Millisecond
	// becomesReady is how long a node may take to become ready, or unreachable.
	becomesReady = time.Minute
)

// rest waits until the scheduler and the controllers have nothing to do. With settle it also waits for backoffs, and for pods that
// start or terminate.
func (e *Exclusive) rest(ctx context.Context, settle bool) error {
	last, since, doing, nodes := "", time.Now(), "", true
	for {
		began := time.Now()
		// Without nodes pods back off for good.
		err := e.options.Idle(ctx, settle && nodes)
		var l look
		if err == nil {
			l, err = e.look(ctx, settle)
		}
		if cause := context.Cause(ctx); cause != nil {
			return unrested(cause, doing)
		}
		if err != nil {
			return err
		}
		doing, nodes = l.doing, l.nodes
		if l.doing != "" || l.state != last {
			last, since = l.state, time.Now()
		}
		enough := restTime
		switch {
		case l.slow:
			enough = slowTime
		case settle:
			enough = settledTime
		}
		if time.Since(since) >= enough {
			e.observe()
			return nil
		}
		if err := e.Cluster.Advance(ctx, max(lookPause, 2*time.Since(began))); err != nil {
			return unrested(err, doing)
		}
	}
}

// unrested says what a cluster was doing when its time was over.
func unrested(err error, doing string) error {
	if doing == "" {
		return err
	}
	if _, unsettled := errors.AsType[*scenario.UnsettledError](err); unsettled {
		return &scenario.UnsettledError{Err: fmt.Errorf("%w: %s", err, doing)}
	}
	return fmt.Errorf("%w (%s)", err, doing)
}

// look is what a cluster looks like.
type look struct {
	// doing says what is under way; empty for nothing.
	doing string
	// state changes with whatever scheduling depends on.
	state string
	// slow: pods wait for a scheduler that decides from time to time. nodes: there are nodes.
	slow, nodes bool
}

func (e *Exclusive) look(ctx context.Context, settle bool) (look, error) {
	nodes, pods, err := e.Cluster.State(ctx)
	if err != nil {
		return look{}, err
	}
	out := look{nodes: len(nodes) > 0}
	var state strings.Builder
	for _, n := range nodes {
		fmt.Fprintln(&state, n.Name, isReady(n), n.Spec.Unschedulable, n.Spec.Taints)
	}
	for _, p := range pods {
		out.slow = out.slow || p.Spec.NodeName == "" && e.options.Slow(p.Spec.SchedulerName)
		fmt.Fprintln(&state, p.UID, p.Spec.NodeName, p.Status.Phase, p.Status.NominatedNodeName, p.DeletionTimestamp != nil)
	}
	out.state = state.String()
	if !e.options.Played {
		out.doing, err = e.underWay(ctx, nodes, pods, settle)
	}
	return out, err
}

// underWay says what controllers and kubelets are about to do; empty for nothing.
func (e *Exclusive) underWay(ctx context.Context, nodes []*v1.Node, pods []*v1.Pod, settle bool) (string, error) {
	owners, doing, err := e.workloads(ctx)
	if err != nil || doing != "" {
		return doing, err
	}
	if doing := e.Cluster.options.Doing(); settle && doing != "" {
		return doing, nil
	}
	failed := map[string]bool{}
	for _, n := range nodes {
		ready := isReady(n)
		failed[n.Name] = !ready || n.Annotations[standin.AnnotationFailure] != ""
		if e.unready(n, ready) {
			return "the node " + n.Name + " is about to change", nil
		}
	}
	for _, p := range pods {
		owner := metav1.GetControllerOf(p)
		switch {
		case owner != nil && owners.kinds[owner.Kind] && !owners.alive[owner.UID] && p.DeletionTimestamp == nil:
			return "the pod " + p.Name + " is about to be deleted with its owner", nil
		case settle && p.DeletionTimestamp != nil && !failed[p.Spec.NodeName]:
			return "the pod " + p.Name + " terminates", nil
		case settle && p.Spec.NodeName != "" && p.Status.Phase == v1.PodPending && !failed[p.Spec.NodeName]:
			return "the pod " + p.Name + " starts", nil
		}
	}
	return "", nil
}

func isReady(n *v1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c v1.NodeCondition) bool { return c.Type == v1.NodeReady && c.Status == v1.ConditionTrue })
}

// unready reports whether a node is about to become ready or unreachable.
func (e *Exclusive) unready(n *v1.Node, ready bool) bool {
	tainted := slices.ContainsFunc(n.Spec.Taints, func(t v1.Taint) bool {
		return t.Key == v1.TaintNodeNotReady || t.Key == v1.TaintNodeUnreachable
	})
	if r, asked := e.ready[n.Name]; asked {
		return (r.want != ready || r.want == tainted) && time.Since(r.since) < becomesReady
	}
	return (!ready || tainted) && n.Annotations[standin.AnnotationFailure] == "" && time.Since(n.CreationTimestamp.Time) < becomesReady
}

// owners are the workloads that own pods.
type owners struct {
	alive map[types.UID]bool
	// kinds are those that were read.
	kinds map[string]bool
}

// workloads returns the workloads, and says which one its controller has yet to act on.
func (e *Exclusive) workloads(ctx context.Context) (o owners, doing string, err error) {
	o = owners{map[types.UID]bool{}, map[string]bool{"ReplicaSet": true, "StatefulSet": true, "DaemonSet": true, "Job": true}}
	apps, all := e.client.AppsV1(), metav1.ListOptions{}
	note := func(kind string, meta metav1.ObjectMeta, acted bool) {
		o.alive[meta.UID] = true
		if !acted {
			doing = "the controller of the " + kind + " " + meta.Name + " is about to act"
		}
	}
	deployments, err := apps.Deployments("").List(ctx, all)
	if err != nil {
		return o, "", fmt.Errorf("listing the Deployments: %w", err)
	}
	for _, d := range deployments.Items {
		note("Deployment", d.ObjectMeta, d.Status.ObservedGeneration >= d.Generation)
	}
	sets, err := apps.ReplicaSets("").List(ctx, all)
	if err != nil {
		return o, "", fmt.Errorf("listing the ReplicaSets: %w", err)
	}
	for _, s := range sets.Items {
		owner := metav1.GetControllerOf(&s)
		orphan := owner != nil && owner.Kind == "Deployment" && !o.alive[owner.UID]
		note("ReplicaSet", s.ObjectMeta, s.Status.ObservedGeneration >= s.Generation && !orphan)
	}
	stateful, err := apps.StatefulSets("").List(ctx, all)
	if err != nil {
		return o, "", fmt.Errorf("listing the StatefulSets: %w", err)
	}
	for _, s := range stateful.Items {
		note("StatefulSet", s.ObjectMeta, s.Status.ObservedGeneration >= s.Generation)
	}
	daemons, err := apps.DaemonSets("").List(ctx, all)
	if err != nil {
		return o, "", fmt.Errorf("listing the DaemonSets: %w", err)
	}
	for _, s := range daemons.Items {
		note("DaemonSet", s.ObjectMeta, s.Status.ObservedGeneration >= s.Generation)
	}
	jobs, err := e.client.BatchV1().Jobs("").List(ctx, all)
	if err != nil {
		return o, "", fmt.Errorf("listing the Jobs: %w", err)
	}
	for _, j := range jobs.Items {
		suspended := j.Spec.Suspend != nil && *j.Spec.Suspend
		note("Job", j.ObjectMeta, suspended || j.Status.StartTime != nil || j.Spec.ManagedBy != nil)
	}
	return o, doing, nil
}
