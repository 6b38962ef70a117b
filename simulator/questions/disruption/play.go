package disruption

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/cluster/eviction"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/questions/why"
)

// Play is evictions while they are played, in whole seconds. Its methods are called from one goroutine, within whatif's Try.
type Play struct {
	world   *World
	trial   *whatif.Trial
	assumed Assumed

	now    int
	events []event
	// idle: a budget has refused an eviction, and nothing else has happened since.
	idle    bool
	budgets []*budget
	// pods are those that are there, by namespace and name.
	pods map[types.NamespacedName]*Pod
	// missing are pods of StatefulSets that have gone, and whose replacements are not created yet.
	missing []*missing
	// waiting are replacements without a node, in the order of the scheduler's queue.
	waiting []*Pod
	// preempted are the evictions of pods that replacements take the place of.
	preempted []*Eviction
	foreign   map[string]bool // schedulers that were not asked
}

// Assumed is how long pods take, in seconds: from their node to being ready, and to go when they are evicted. A pod whose annotations tell a
// virtual node something else takes that long.
type Assumed struct{ StartSeconds, StopSeconds int }

// New returns a play that begins with a state, at 0.
func New(w *World, t *whatif.Trial, assumed Assumed) *Play {
	p := &Play{world: w, trial: t, assumed: assumed, pods: map[types.NamespacedName]*Pod{}, foreign: map[string]bool{}}
	for _, one := range w.Pods {
		p.pods[types.NamespacedName{Namespace: one.Namespace, Name: one.Name}] = &Pod{Pod: one, ready: isReady(one), leaving: one.DeletionTimestamp != nil}
	}
	for _, b := range w.budgets {
		p.budgets = append(p.budgets, newBudget(b, w.Pods))
	}
	for _, b := range p.budgets {
		b.out.Allowed = p.allows(b)
		b.step(0, b.out.Allowed)
	}
	return p
}

// isReady reports whether a pod is ready. One on a node whose kubelet has written no status yet counts as ready.
func isReady(p *v1.Pod) bool {
	if len(p.Status.Conditions) == 0 && (p.Status.Phase == "" || p.Status.Phase == v1.PodRunning) {
		return p.Spec.NodeName != ""
	}
	return podutil.IsPodReady(p)
}

// Pod is a pod of the cluster, or a replacement. The object is replaced when it changes.
type Pod struct {
	*v1.Pod
	// Grace is how many seconds its eviction gives it at most; nil for what the pod says.
	Grace          *int64
	ready, leaving bool
	// replaces is the eviction that it is the replacement of; nil for a pod of the cluster.
	replaces *Eviction
}

// Leaving reports whether the pod terminates.
func (one *Pod) Leaving() bool { return one.leaving }

// missing is a pod of a StatefulSet that has gone.
type missing struct {
	*Pod
	e *Eviction
}

// Now is the time of what happens now.
func (p *Play) Now() int { return p.now }

// Pod returns a pod that is there; nil for none.
func (p *Play) Pod(namespace, name string) *Pod {
	return p.pods[types.NamespacedName{Namespace: namespace, Name: name}]
}

// Pods returns the pods that are there, by namespace and name.
func (p *Play) Pods() []*v1.Pod {
	out := make([]*v1.Pod, 0, len(p.pods))
	for _, one := range p.pods {
		out = append(out, one.Pod)
	}
	slices.SortFunc(out, ComparePods)
	return out
}

// event happens at a time. Of those at one time, what the client does that evicts comes after what happens in the cluster, because it looks at
// that; else the earlier made comes first.
type event struct {
	at     int
	client bool
	// retries: it asks again, for ever, for what a budget refuses.
	retries bool
	do      func(context.Context) error
}

// After adds what happens in the cluster so many seconds from now.
func (p *Play) After(seconds int, do func(context.Context) error) {
	p.add(event{at: p.now + seconds, do: do})
}

// Then adds what the client does that evicts.
func (p *Play) Then(seconds int, do func(context.Context) error) {
	p.add(event{at: p.now + seconds, client: true, do: do})
}

// Again adds that the client asks again for an eviction that a budget has just refused. forever: it does so until the budget allows it, so
// the play ends when only such questions are left.
func (p *Play) Again(seconds int, forever bool, do func(context.Context) error) {
	p.idle = p.idle || forever
	p.add(event{at: p.now + seconds, client: true, retries: forever, do: do})
}

func (p *Play) add(e event) {
	p.events = append(p.events, e)
	slices.SortStableFunc(p.events, func(a, b event) int {
		if a.at == b.at && a.client != b.client {
			if a.client {
				return 1
			}
			return -1
		}
		return a.at - b.at
	})
}

// Run plays until nothing happens any more.
func (p *Play) Run(ctx context.Context) error {
	for len(p.events) > 0 {
		if p.idle && !slices.ContainsFunc(p.events, func(e event) bool { return !e.retries }) {
			return nil // nothing but refused evictions is left, and nothing will change about them
		}
		e := p.events[0]
		p.events = slices.Delete(p.events, 0, 1)
		p.now = e.at
		if err := e.do(ctx); err != nil {
			return err
		}
		if !e.retries {
			p.idle = false
		}
		p.count()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Settle lets happen what happens in the cluster without time passing. Who evicts several pods in one event calls it after each.
func (p *Play) Settle(ctx context.Context) error {
	for len(p.events) > 0 && p.events[0].at <= p.now && !p.events[0].client {
		e := p.events[0]
		p.events = slices.Delete(p.events, 0, 1)
		if err := e.do(ctx); err != nil {
			return err
		}
	}
	p.count()
	return ctx.Err()
}

// count notes what the budgets allow now.
func (p *Play) count() {
	for _, b := range p.budgets {
		b.step(p.now, p.allows(b))
	}
}

// allows is how many evictions a budget allows now.
func (p *Play) allows(b *budget) int { return max(0, p.healthy(b)-b.desired) }

// healthy counts the pods of a budget that are ready and stay.
func (p *Play) healthy(b *budget) (n int) {
	for _, one := range p.pods {
		if one.ready && !one.leaving && b.protects(one.Pod) {
			n++
		}
	}
	return n
}

// Refusal says what the API server does about an eviction: it evicts the pod if both results are empty. Otherwise by is the budget, as
// namespace/name, that refuses it for now, or never is why it refuses the eviction for good.
func (p *Play) Refusal(target *Pod) (by, never string) {
	if target.leaving {
		return "", ""
	}
	var of []eviction.Budget
	for _, b := range p.budgets {
		if b.protects(target.Pod) {
			of = append(of, eviction.Budget{PodDisruptionBudget: b.PodDisruptionBudget, Healthy: p.healthy(b), Desired: b.desired, Allowed: p.allows(b)})
		}
	}
	refuses, never := eviction.Refuses(target.Pod, target.ready, of)
	if refuses != nil {
		return refuses.Namespace + "/" + refuses.Name, ""
	}
	return "", never
}

// Wait notes that a budget has made an eviction wait.
func (p *Play) Wait(e *Eviction, by string) {
	e.Budget = by
	for _, b := range p.budgets {
		if b.name() == by {
			note(&b.out.Waits, e.Namespace+"/"+e.Name)
		}
	}
}

// Outcome is what has become of the budgets and of other pods when a play has ended.
type Outcome struct {
	// Budgets are those that had a say.
	Budgets []Budget
	// Preempted are the evictions of pods that replacements took the place of.
	Preempted []*Eviction
	// NotJudged are the schedulers that were not asked; nil for none.
	NotJudged *why.NotJudged
}

// Conclude completes the evictions that were asked for, when nothing happens any more.
func (p *Play) Conclude(asked []*Eviction) Outcome {
	out := Outcome{Budgets: []Budget{}, Preempted: p.preempted}
	for _, m := range p.missing {
		m.e.Behind = p.behind(m)
	}
	for _, e := range asked {
		for _, b := range p.budgets {
			if e.Fate == Blocked && e.Budget == b.name() {
				note(&b.out.Blocks, e.Namespace+"/"+e.Name)
			}
		}
	}
	for _, b := range p.budgets {
		if len(b.out.Waits) > 0 || len(b.out.Steps) > 1 {
			out.Budgets = append(out.Budgets, b.out)
		}
	}
	if len(p.foreign) > 0 {
		out.NotJudged = &why.NotJudged{What: "schedulers", Text: fmt.Sprintf("Where pods of %s go was not asked: kube-scheduler does not decide about them.", strings.Join(slices.Sorted(maps.Keys(p.foreign)), ", "))}
	}
	return out
}

// Remove deletes a pod: it leaves after some time, and its controller creates another one, which is scheduled before Remove returns. gone is
// called when the pod has left.
func (p *Play) Remove(ctx context.Context, target *Pod, e *Eviction, gone func()) error {
	target.leaving, e.Evicted = true, new(p.now)
	// Plugins do not count a pod that terminates, though it keeps its room.
	leaving := target.Pod.DeepCopy()
	leaving.DeletionTimestamp = new(metav1.NewTime(p.trial.Now()))
	target.Pod = leaving
	if err := p.trial.Apply(whatif.Change{Apply: leaving}); err != nil {
		return fmt.Errorf("deleting %s/%s: %w", target.Namespace, target.Name, err)
	}
	owner := metav1.GetControllerOf(target.Pod)
	switch {
	case podutil.IsPodTerminal(target.Pod) && (owner == nil || owner.Kind != "StatefulSet"):
		// Only StatefulSets keep a pod that has ended, and create another one when it has gone.
		e.Fate = Ended
	case owner == nil:
		e.Fate = Gone
	default:
		e.Fate = Pending
		if owner.Kind != "StatefulSet" {
			if err := p.create(ctx, target, e); err != nil {
				return err
			}
		}
	}
	p.After(p.StopOf(target), func(ctx context.Context) error {
		if err := p.Leave(ctx, target); err != nil {
			return err
		}
		if owner != nil && owner.Kind == "StatefulSet" {
			p.missing = append(p.missing, &missing{target, e})
			if err := p.restore(ctx); err != nil {
				return err
			}
		}
		gone()
		return nil
	})
	return nil
}

// restore creates the pods of StatefulSets that are due: those of the lowest ordinals, each when all before it are ready, unless the set
// creates them in parallel.
func (p *Play) restore(ctx context.Context) error {
	for {
		due := slices.IndexFunc(p.missing, p.isDue)
		if due < 0 {
			return nil
		}
		m := p.missing[due]
		p.missing = slices.Delete(p.missing, due, due+1)
		if err := p.create(ctx, m.Pod, m.e); err != nil {
			return err
		}
	}
}

func (p *Play) isDue(m *missing) bool { return p.behind(m) == "" }

// behind returns the pod that is to be ready before a missing one is created; empty if none is.
func (p *Play) behind(m *missing) (name string) {
	owner := metav1.GetControllerOf(m.Pod)
	if p.world.parallel[m.Namespace+"/"+owner.Name] {
		return ""
	}
	before := func(other *Pod) bool {
		of := metav1.GetControllerOf(other.Pod)
		return of != nil && of.UID == owner.UID && of.Name == owner.Name && other.Namespace == m.Namespace && ordinal(other.Name) < ordinal(m.Name)
	}
	for _, other := range p.missing {
		if before(other.Pod) && (name == "" || ordinal(other.Name) < ordinal(name)) {
			name = other.Name
		}
	}
	for _, other := range p.pods {
		if before(other) && (!other.ready || other.leaving) && (name == "" || ordinal(other.Name) < ordinal(name)) {
			name = other.Name
		}
	}
	return name
}

// ordinal is the number at the end of the name of a StatefulSet's pod; -1 if there is none.
func ordinal(name string) int {
	n, err := strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
	if err != nil {
		return -1
	}
	return n
}

// startOf is in whole seconds, rounded up: what a virtual node takes if the pod's annotations say so, or else the assumption.
func (p *Play) startOf(one *Pod) int {
	return annotated(one.Pod, objects.AnnotationStartupDuration, p.assumed.StartSeconds)
}

// StopOf is how many seconds a pod takes to go that is deleted.
func (p *Play) StopOf(one *Pod) int {
	seconds := annotated(one.Pod, objects.AnnotationShutdownDuration, -1)
	if grace := one.Spec.TerminationGracePeriodSeconds; grace != nil && seconds >= 0 {
		seconds = min(seconds, int(*grace))
	}
	if seconds < 0 {
		seconds = p.assumed.StopSeconds
	}
	if one.Grace != nil {
		seconds = min(seconds, int(*one.Grace))
	}
	return seconds
}

func annotated(pod *v1.Pod, annotation string, otherwise int) int {
	d, err := time.ParseDuration(pod.Annotations[annotation])
	if err != nil {
		return otherwise
	}
	return int(math.Ceil(d.Seconds()))
}

// Leave takes a pod from the cluster.
func (p *Play) Leave(ctx context.Context, target *Pod) error {
	key := types.NamespacedName{Namespace: target.Namespace, Name: target.Name}
	if p.pods[key] != target {
		return nil
	}
	delete(p.pods, key)
	p.waiting = slices.DeleteFunc(p.waiting, func(w *Pod) bool { return w == target })
	if podutil.IsPodTerminal(target.Pod) {
		return nil // the scheduler has not seen it since it ended
	}
	if err := p.trial.Apply(whatif.Change{Delete: &whatif.ObjectRef{GVK: v1.SchemeGroupVersion.WithKind("Pod"), Namespace: target.Namespace, Name: target.Name}}); err != nil {
		return err
	}
	return p.scheduleWaiting(ctx)
}

// create creates the replacement of a pod, and tries to place it.
func (p *Play) create(ctx context.Context, of *Pod, e *Eviction) error {
	fresh := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: of.Name, Labels: of.Labels, Annotations: of.Annotations, OwnerReferences: of.OwnerReferences}, Spec: *of.Spec.DeepCopy()}
	fresh.Spec.NodeName = ""
	if owner := metav1.GetControllerOf(of.Pod); owner != nil && owner.Kind != "StatefulSet" {
		fresh.Name, fresh.GenerateName = "", owner.Name+"-"
	}
	made, err := p.trial.New(fresh)
	if err != nil {
		return fmt.Errorf("creating a replacement of %s/%s: %w", of.Namespace, of.Name, err)
	}
	made.Status.Phase = v1.PodPending
	made.CreationTimestamp = metav1.NewTime(p.trial.Now().Add(time.Duration(p.now) * time.Second))
	one := &Pod{Pod: made, replaces: e}
	p.pods[types.NamespacedName{Namespace: made.Namespace, Name: made.Name}] = one
	if err := p.trial.Add(ctx, made); err != nil {
		return err
	}
	p.waiting = append(p.waiting, one)
	return p.scheduleWaiting(ctx)
}

// scheduleWaiting tries all replacements that wait, the most important first and then the oldest.
func (p *Play) scheduleWaiting(ctx context.Context) error {
	slices.SortStableFunc(p.waiting, func(a, b *Pod) int { return cmp.Compare(scheduling.PodPriority(b.Pod), scheduling.PodPriority(a.Pod)) })
	for _, one := range slices.Clone(p.waiting) {
		if one.leaving {
			continue
		}
		if err := p.schedule(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// schedule asks the scheduler about one replacement.
func (p *Play) schedule(ctx context.Context, one *Pod) error {
	cycle, err := p.trial.Decide(ctx, one.Pod, "")
	if errors.As(err, new(*whatif.ProfileError)) {
		p.foreign[one.Spec.SchedulerName] = true
		return nil
	}
	if err != nil {
		return err
	}
	e := one.replaces
	if cycle.Outcome != result.Scheduled {
		e.Reasons = why.ReasonsOf(cycle, "")
		return p.preempt(ctx, one, cycle)
	}
	if err := p.trial.Place(ctx, one.Pod, "", cycle.SelectedNode); err != nil {
		return err
	}
	p.waiting = slices.DeleteFunc(p.waiting, func(w *Pod) bool { return w == one })
	placed := one.Pod.DeepCopy()
	placed.Spec.NodeName = cycle.SelectedNode
	one.Pod = placed
	e.Fate, e.To, e.Placed, e.Reasons = Moves, cycle.SelectedNode, new(p.now), nil
	if e.To == e.Node {
		if e.Choice = why.ChoiceOf(cycle); e.Choice.Feasible == 1 {
			e.Reasons = why.ReasonsOf(cycle, "")
		}
	}
	p.After(p.startOf(one), func(ctx context.Context) error {
		if one.leaving {
			return nil
		}
		one.ready, e.Ready = true, new(p.now)
		one.Status.Phase = v1.PodRunning
		return p.restore(ctx)
	})
	return nil
}

// preempt removes the victims of a preemption; the pod is tried again when they have left. Until then it holds its place against pods
// that are less important.
func (p *Play) preempt(ctx context.Context, one *Pod, cycle *result.Cycle) error {
	evicts := why.EvictsOf(cycle)
	if cycle.NominatedNode == "" || evicts == nil {
		return nil
	}
	if one.Status.NominatedNodeName != cycle.NominatedNode {
		nominated := one.Pod.DeepCopy()
		nominated.Status.NominatedNodeName = cycle.NominatedNode
		one.Pod = nominated
		if err := p.trial.Add(ctx, nominated); err != nil {
			return err
		}
	}
	for _, v := range evicts.Pods {
		victim := p.pods[types.NamespacedName{Namespace: v.Namespace, Name: v.Name}]
		if victim == nil || victim.leaving {
			continue
		}
		e := p.Ask(victim.Pod)
		e.Preempted = true
		p.preempted = append(p.preempted, e)
		if err := p.Remove(ctx, victim, e, func() {}); err != nil {
			return err
		}
	}
	return nil
}
