package stepwise

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"

	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

type kind = schema.GroupVersionKind

var (
	nodeKind = v1.SchemeGroupVersion.WithKind("Node")
	podKind  = v1.SchemeGroupVersion.WithKind("Pod")
)

// World is the cluster that an autoscaler acts on. Objects that it returns do not change.
type World interface {
	// List returns the objects of a kind by namespace and name.
	List(of schema.GroupVersionKind) []runtime.Object
	Create(o runtime.Object) error
	// Store stores an object of a custom kind as it is, with its status.
	Store(o runtime.Object) error
	Patch(of schema.GroupVersionKind, namespace, name string, as types.PatchType, patch []byte) error
	Delete(of schema.GroupVersionKind, namespace, name string) error
	// Evict deletes a pod if its PodDisruptionBudget allows it, and otherwise says what does not.
	Evict(ctx context.Context, pod *v1.Pod) (refusal string, err error)
	// Launched and Ended say that an instance begins and ends to cost its price in US dollars an hour.
	Launched(name string, pricePerHour float64)
	Ended(name string)
}

// The times are Karpenter's; see the package.
const (
	batchIdle        = time.Second
	batchMost        = 10 * time.Second
	lookAgain        = 10 * time.Second // at pods that still wait, and at evictions that were refused
	polling          = 10 * time.Second
	validation       = 15 * time.Second
	lookMost         = 160 * time.Second
	nomination       = 20 * time.Second
	scheduledRecheck = 5 * time.Minute
	podEventsApart   = 10 * time.Second
	commandMost      = 10 * time.Minute
)

// mostWaiting is how many pods may wait for nodes when disruption looks for underutilized ones. Each of its simulations places them anew.
const mostWaiting = 10

// Autoscaler follows a cluster through Changed, and acts on it in Act. Use it from one goroutine.
type Autoscaler struct {
	settings Settings
	now      func() time.Time
	start    time.Time
	// provider is that of the zones in of.
	provider *provider.Provider
	of       string

	pools    map[string]*karpenter.NodePool
	machines map[string]*machine
	numbers  map[string]int
	nodes    int // of the cluster
	waiting  map[types.UID]*waits
	// answers are why pods get no node, and told are those of which an event tells.
	answers map[types.UID]string
	told    map[types.UID]string
	report  Report

	// stale says that next and awaited are to be found anew.
	stale   bool
	next    time.Time
	awaited bool

	// A batch of pods began at batchFrom, and grew at batchLast; zero without one.
	batchFrom, batchLast time.Time
	decided              time.Time
	// podsStale and nodesStale say that the cluster has changed since the last look at pods and at nodes.
	podsStale, nodesStale bool
	polled                time.Time
	// lookStale says the same of the look for underutilized nodes, which comes at lookAt at the earliest: lookWait after one that found
	// nothing.
	lookStale bool
	lookAt    time.Time
	lookWait  time.Duration
	// lookFrom is where the last look stopped; empty if it saw all.
	lookFrom   string
	validating *dryrun.Command
	validateAt time.Time
	commands   []*command
	// strangers are nodes of NodePools without a NodeClaim, and doomed are machines whose NodeClaim or NodePool was deleted.
	strangers map[string]bool
	doomed    map[string]bool
	// ours is what the autoscaler itself deletes.
	ours map[string]bool
}

// New returns an autoscaler for a cluster without nodes. now returns the time of the cluster.
func New(settings Settings, now func() time.Time) *Autoscaler {
	return &Autoscaler{
		settings: settings, now: now, start: now(), polled: now(),
		pools: map[string]*karpenter.NodePool{}, machines: map[string]*machine{}, numbers: map[string]int{}, waiting: map[types.UID]*waits{}, answers: map[types.UID]string{}, told: map[types.UID]string{},
		strangers: map[string]bool{}, doomed: map[string]bool{}, ours: map[string]bool{}, report: Report{Events: []Event{}},
	}
}

// Changed gets each change of an object.
func (a *Autoscaler) Changed(of schema.GroupVersionKind, before, after runtime.Object) {
	switch of {
	case podKind:
		was, _ := before.(*v1.Pod)
		is, _ := after.(*v1.Pod)
		a.podChanged(was, is)
	case nodeKind:
		was, _ := before.(*v1.Node)
		is, _ := after.(*v1.Node)
		a.nodeChanged(was, is)
	case dryrun.NodePoolKind:
		a.poolChanged(before, after)
	case dryrun.NodeClaimKind:
		if after == nil {
			a.claimDeleted(before.(metav1.Object).GetName())
		}
	default:
		if slices.Contains(dryrun.Kinds, of) {
			a.touch()
		}
	}
}

// touch says that something has changed by which decisions may come out otherwise.
func (a *Autoscaler) touch() {
	a.stale, a.podsStale, a.nodesStale, a.lookStale = true, true, true, true
}

func (a *Autoscaler) podChanged(was, is *v1.Pod) {
	waited, waits := was != nil && podutils.IsProvisionable(was), is != nil && is.DeletionTimestamp == nil && podutils.IsProvisionable(is)
	bound := is != nil && is.Spec.NodeName != "" && (was == nil || was.Spec.NodeName == "")
	ending := is == nil || !podutils.IsActive(is) && (was == nil || podutils.IsActive(was))
	if waits && !waited {
		a.pending(is)
	}
	if uid := either(is, was).UID; !waits {
		if w := a.waiting[uid]; w != nil && w.bought && bound {
			a.report.ToNode = append(a.report.ToNode, a.now().Sub(w.since).Round(time.Millisecond).Seconds())
		}
		delete(a.waiting, uid)
		delete(a.answers, uid)
	}
	switch {
	case bound || ending || was != nil && is != nil && !maps.Equal(was.Labels, is.Labels):
		a.touch()
	case waits != waited:
		// One more pod that waits lets no node go that had to stay.
		a.stale, a.podsStale = true, true
	}
	node := either(is, was).Spec.NodeName
	m := a.machines[node]
	if m == nil || node == "" {
		return
	}
	if m.ending != nil {
		m.ending.look, a.stale = true, true
	}
	if (bound || ending && was != nil && podutils.IsActive(was)) && !podutils.IsOwnedByDaemonSet(either(is, was)) && a.now().Sub(m.podEvent) >= podEventsApart {
		m.podEvent = a.now()
	}
}

func either[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

// pending adds a pod to the batch.
func (a *Autoscaler) pending(pod *v1.Pod) {
	a.waiting[pod.UID] = &waits{name: pod.Namespace + "/" + pod.Name, since: a.now()}
	a.trigger()
}

func (a *Autoscaler) trigger() {
	a.batchLast, a.stale = a.now(), true
	if a.batchFrom.IsZero() {
		a.batchFrom = a.now()
	}
}

func (a *Autoscaler) nodeChanged(was, is *v1.Node) {
	switch {
	case was == nil:
		a.nodes++
		if is.Labels[karpenter.NodePoolLabelKey] != "" && a.machines[is.Name] == nil {
			a.strangers[is.Name] = true
		}
	case is == nil:
		a.nodes--
		delete(a.strangers, was.Name)
		if m := a.machines[was.Name]; m != nil && !a.ours[was.Name] {
			a.forget(m, ForGone)
		}
	default:
		if m := a.machines[is.Name]; m != nil && !m.initialized {
			m.look = true
		}
	}
	if was == nil || is == nil || !maps.Equal(was.Labels, is.Labels) || !maps.Equal(was.Annotations, is.Annotations) || was.Spec.Unschedulable != is.Spec.Unschedulable ||
		!slices.EqualFunc(was.Spec.Taints, is.Spec.Taints, func(x, y v1.Taint) bool { return x.MatchTaint(&y) }) || ready(was) != ready(is) {
		a.touch()
	}
}

func ready(n *v1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c v1.NodeCondition) bool { return c.Type == v1.NodeReady && c.Status == v1.ConditionTrue })
}

func (a *Autoscaler) poolChanged(before, after runtime.Object) {
	a.touch()
	if after == nil {
		name := before.(metav1.Object).GetName()
		delete(a.pools, name)
		for _, m := range a.machines {
			if m.nodePool() == name {
				a.doomed[m.name] = true
			}
		}
		return
	}
	if np, err := Pool(after.DeepCopyObject()); err == nil { // the cluster takes no other
		a.pools[np.Name] = np
	}
}

func (a *Autoscaler) claimDeleted(name string) {
	if m := a.machines[name]; m != nil && !a.ours[name] {
		a.doomed[name], a.stale = true, true
	}
}

// Next returns when the autoscaler wants to act, the zero time for not at all; awaited says that a settling cluster waits for it: for
// nodes that are on their way, and for a decision about pods.
func (a *Autoscaler) Next() (at time.Time, awaited bool) {
	if a.stale {
		a.next, a.awaited = a.find()
		a.stale = false
	}
	return a.next, a.awaited
}

// find goes through all that is planned.
func (a *Autoscaler) find() (at time.Time, awaited bool) {
	plan := func(t time.Time, awaits bool) {
		if t.IsZero() {
			return
		}
		if at.IsZero() || t.Before(at) {
			at = t
		}
		awaited = awaited || awaits
	}
	if len(a.strangers)+len(a.doomed) > 0 {
		plan(a.now(), true)
	}
	plan(a.batchDue(), true)
	for _, m := range a.machines {
		plan(m.due(a.now()))
	}
	for _, c := range a.commands {
		plan(c.due(a))
	}
	plan(a.pollDue(), false)
	return at, awaited
}

// batchDue returns when the autoscaler decides about pods; zero if there is nothing new to decide.
func (a *Autoscaler) batchDue() time.Time {
	if !a.batchFrom.IsZero() {
		return earlier(a.batchLast.Add(batchIdle), a.batchFrom.Add(batchMost))
	}
	if len(a.waiting) > 0 && a.podsStale {
		return later(a.decided.Add(lookAgain), a.now())
	}
	return time.Time{}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Act does one thing that is due.
func (a *Autoscaler) Act(ctx context.Context, w World) error {
	a.stale = true
	now := a.now()
	if len(a.strangers) > 0 {
		return a.adopt(w)
	}
	for _, name := range slices.Sorted(maps.Keys(a.doomed)) {
		delete(a.doomed, name)
		if m := a.machines[name]; m != nil && m.ending == nil {
			return a.end(w, m, ForDeleted)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.machines)) {
		m := a.machines[name]
		if due, _ := m.due(now); due.IsZero() || due.After(now) {
			continue
		}
		return a.step(ctx, w, m)
	}
	for _, c := range a.commands {
		if due, _ := c.due(a); !due.IsZero() && !due.After(now) {
			return a.carryOn(w, c)
		}
	}
	if due := a.batchDue(); !due.IsZero() && !due.After(now) {
		return a.provision(ctx, w)
	}
	if due := a.pollDue(); !due.IsZero() && !due.After(now) {
		return a.disrupt(ctx, w)
	}
	return nil
}

// state is the cluster as Karpenter sees it.
func (a *Autoscaler) state(w World) (dryrun.State, error) {
	var s dryrun.State
	for _, of := range dryrun.Kinds {
		if of == dryrun.NodePoolKind || of == dryrun.NodeClaimKind {
			continue
		}
		for _, o := range w.List(of) {
			if err := s.Add(o); err != nil {
				return s, fmt.Errorf("reading a %s: %w", of.Kind, err)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.pools)) {
		s.NodePools = append(s.NodePools, a.pools[name])
	}
	for _, name := range slices.Sorted(maps.Keys(a.machines)) {
		s.NodeClaims = append(s.NodeClaims, a.claimOf(a.machines[name]))
	}
	return s, nil
}

// cloud returns what can be bought, in the zones of the cluster.
func (a *Autoscaler) cloud(s *dryrun.State) *provider.Provider {
	if a.settings.Catalog != nil {
		if a.provider == nil {
			a.provider = provider.New(a.settings.Catalog)
		}
		return a.provider
	}
	zones := s.Zones()
	if of := fmt.Sprint(zones); a.provider == nil || a.of != of {
		a.provider, a.of = provider.New(instances.BuiltIn(zones...)), of
	}
	return a.provider
}
