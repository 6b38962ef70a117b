package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	scheduling "k8s.io/component-helpers/scheduling/corev1"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/cluster/eviction"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/questions/why"
)

// play is a drain while it is played, in whole seconds.
type play struct {
	q      *Question
	world  *world
	trial  *whatif.Trial
	answer *Answer

	now    int
	events []event
	// idle: a budget has refused an eviction, and nothing else has happened since.
	idle    bool
	budgets []*budget
	// pods are those that are there, by namespace and name.
	pods  map[types.NamespacedName]*pod
	nodes []*node
	// missing are pods of StatefulSets that have gone, and whose replacements are not created yet.
	missing []*missing
	// waiting are replacements without a node, in the order of the scheduler's queue.
	waiting []*pod
	// evictions are those that the drain asks for, and preempted those of pods that replacements take the place of.
	evictions, preempted []*Eviction
	foreign              map[string]bool // schedulers that were not asked
}

// pod is a pod of the cluster, or a replacement.
type pod struct {
	*v1.Pod
	ready, leaving bool
	// replaces is the eviction that it is the replacement of; nil for a pod of the cluster.
	replaces *Eviction
}

// missing is a pod of a StatefulSet that has gone.
type missing struct {
	*pod
	e *Eviction
}

// node is a node that is to be drained.
type node struct {
	*Node
	// left counts the pods that it waits for, and failed those that stay.
	left, failed int
}

// event happens at a time. Of those at one time, what kubectl does comes after what happens in the cluster, because it looks at that; else the
// earlier made comes first.
type event struct {
	at      int
	kubectl bool
	// retries: it asks again, for ever, for what a budget refuses.
	retries bool
	do      func(context.Context) error
}

// after adds what happens in the cluster, and then what kubectl does.
func (p *play) after(seconds int, do func(context.Context) error) {
	p.add(event{at: p.now + seconds, do: do})
}

func (p *play) then(seconds int, do func(context.Context) error) {
	p.add(event{at: p.now + seconds, kubectl: true, do: do})
}

func (p *play) add(e event) {
	p.events = append(p.events, e)
	slices.SortStableFunc(p.events, func(a, b event) int {
		if a.at == b.at && a.kubectl != b.kubectl {
			if a.kubectl {
				return 1
			}
			return -1
		}
		return a.at - b.at
	})
}

// run plays until nothing happens any more.
func (p *play) run(ctx context.Context) error {
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

// count notes what the budgets allow now.
func (p *play) count() {
	for _, b := range p.budgets {
		b.step(p.now, p.allows(b))
	}
}

// allows is how many evictions a budget allows now.
func (p *play) allows(b *budget) int { return max(0, p.healthy(b)-b.desired) }

// healthy counts the pods of a budget that are ready and stay.
func (p *play) healthy(b *budget) (n int) {
	for _, one := range p.pods {
		if one.ready && !one.leaving && b.protects(one.Pod) {
			n++
		}
	}
	return n
}

// begin cordons all nodes, as kubectl does, and begins with the first.
func (p *play) begin(ctx context.Context, names []string) error {
	for _, name := range names {
		for _, n := range p.world.nodes {
			if n.Name != name {
				continue
			}
			cordoned := n.DeepCopy()
			cordoned.Spec.Unschedulable = true
			if err := p.trial.Apply(whatif.Change{Apply: cordoned}); err != nil {
				return err
			}
		}
		p.answer.Nodes = append(p.answer.Nodes, Node{Name: name, Outcome: NotReached})
	}
	for i := range p.answer.Nodes {
		p.nodes = append(p.nodes, &node{Node: &p.answer.Nodes[i]})
	}
	for range min(p.q.AtOnce, len(p.nodes)) {
		p.then(0, p.next)
	}
	return nil
}

// next begins with the next node.
func (p *play) next(ctx context.Context) error {
	at := slices.IndexFunc(p.nodes, func(n *node) bool { return n.Begins == nil })
	if at < 0 {
		return nil
	}
	n := p.nodes[at]
	n.Begins, n.Outcome = new(p.now), Stuck
	var there []*v1.Pod
	for _, one := range p.pods {
		if one.Spec.NodeName == n.Name {
			there = append(there, one.Pod)
		}
	}
	slices.SortFunc(there, comparePods)
	chosen, warnings, errs := p.q.rules().Choose(ctx, n.Name, there, p.world.daemonSets)
	n.Warnings, n.Errors, n.Stay = warnings, errs, len(there)-len(chosen)
	if len(errs) > 0 {
		n.Outcome = Refused
		p.end(n)
		return nil
	}
	n.left = len(chosen)
	for _, one := range chosen {
		e := &Eviction{Node: n.Name, Namespace: one.Namespace, Name: one.Name, Fate: Blocked, Asked: p.now}
		if owner := metav1.GetControllerOf(&one); owner != nil {
			e.Owner = owner.Kind + " " + owner.Name
		}
		p.evictions = append(p.evictions, e)
		target := p.pods[types.NamespacedName{Namespace: one.Namespace, Name: one.Name}]
		p.then(0, func(ctx context.Context) error { return p.evict(ctx, n, target, e) })
	}
	if p.q.TimeoutSeconds > 0 {
		p.then(p.q.TimeoutSeconds, func(context.Context) error {
			p.giveUp(n)
			return nil
		})
	}
	p.finish(n)
	return nil
}

// giveUp ends a node when its time is over, whether an eviction is refused or a pod takes longer to go.
func (p *play) giveUp(n *node) {
	if n.Ends == nil {
		n.left, n.failed = 0, n.failed+n.left
		p.finish(n)
	}
}

// finish ends a node when nothing is left of it to wait for.
func (p *play) finish(n *node) {
	if n.left > 0 || n.Ends != nil {
		return
	}
	n.Outcome = Emptied
	if n.failed > 0 {
		n.Outcome = GivenUp
	}
	p.end(n)
}

func (p *play) end(n *node) {
	n.Ends = new(p.now)
	p.then(0, p.next)
}

// evict asks for an eviction, and again later while a budget refuses it.
func (p *play) evict(ctx context.Context, n *node, target *pod, e *Eviction) error {
	if n.Ends != nil {
		return nil
	}
	b, refused := p.refusal(target)
	switch {
	case refused != "":
		e.Error = refused
		n.left, n.failed = n.left-1, n.failed+1
		p.finish(n)
		return nil
	case target.leaving:
		e.Fate, e.Evicted = Leaves, new(p.now)
		p.after(p.stopOf(target), func(ctx context.Context) error {
			n.left--
			p.finish(n)
			return p.leave(ctx, target)
		})
		return nil
	case b == nil:
		e.Evicted = new(p.now)
		return p.remove(ctx, target, e, func() { n.left--; p.finish(n) })
	}
	name := b.Namespace + "/" + b.Name
	e.Budget = name
	note(&b.out.Waits, e.Namespace+"/"+e.Name)
	if p.q.TimeoutSeconds > 0 && p.now+retry >= *n.Begins+p.q.TimeoutSeconds {
		return nil // kubectl gives the node up before it asks again
	}
	p.idle = p.idle || p.q.TimeoutSeconds == 0
	p.add(event{p.now + retry, true, p.q.TimeoutSeconds == 0, func(ctx context.Context) error { return p.evict(ctx, n, target, e) }})
	return nil
}

// refusal says what the API server does about an eviction: it evicts the pod if both are empty; a budget refuses it for now; or an error
// for good.
func (p *play) refusal(target *pod) (*budget, string) {
	if target.leaving {
		return nil, ""
	}
	var budgets []*budget
	var of []eviction.Budget
	for _, b := range p.budgets {
		if b.protects(target.Pod) {
			budgets = append(budgets, b)
			of = append(of, eviction.Budget{PodDisruptionBudget: b.PodDisruptionBudget, Healthy: p.healthy(b), Desired: b.desired, Allowed: p.allows(b)})
		}
	}
	by, never := eviction.Refuses(target.Pod, target.ready, of)
	if by != nil {
		return budgets[0], ""
	}
	return nil, never
}

// remove deletes a pod: it leaves after some time, and its controller creates another one. gone is called when it has left.
func (p *play) remove(ctx context.Context, target *pod, e *Eviction, gone func()) error {
	target.leaving = true
	// Plugins do not count a pod that terminates, though it keeps its room.
	leaving := target.Pod.DeepCopy()
	leaving.DeletionTimestamp = new(metav1.NewTime(p.trial.Now()))
	target.Pod = leaving
	if err := p.trial.Apply(whatif.Change{Apply: leaving}); err != nil {
		return fmt.Errorf("deleting %s/%s: %w", target.Namespace, target.Name, err)
	}
	owner := metav1.GetControllerOf(target.Pod)
	if owner == nil {
		e.Fate = Gone
	} else {
		e.Fate = Pending
		if owner.Kind != "StatefulSet" {
			if err := p.create(ctx, target, e); err != nil {
				return err
			}
		}
	}
	p.after(p.stopOf(target), func(ctx context.Context) error {
		if err := p.leave(ctx, target); err != nil {
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
func (p *play) restore(ctx context.Context) error {
	for {
		due := slices.IndexFunc(p.missing, p.isDue)
		if due < 0 {
			return nil
		}
		m := p.missing[due]
		p.missing = slices.Delete(p.missing, due, due+1)
		if err := p.create(ctx, m.pod, m.e); err != nil {
			return err
		}
	}
}

func (p *play) isDue(m *missing) bool { return p.behind(m) == "" }

// behind returns the pod that is to be ready before a missing one is created; empty if none is.
func (p *play) behind(m *missing) (name string) {
	owner := metav1.GetControllerOf(m.Pod)
	if p.world.parallel[m.Namespace+"/"+owner.Name] {
		return ""
	}
	before := func(other *pod) bool {
		of := metav1.GetControllerOf(other.Pod)
		return of != nil && of.UID == owner.UID && of.Name == owner.Name && other.Namespace == m.Namespace && ordinal(other.Name) < ordinal(m.Name)
	}
	for _, other := range p.missing {
		if before(other.pod) && (name == "" || ordinal(other.Name) < ordinal(name)) {
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

// startOf and stopOf are in whole seconds, rounded up: what a virtual node takes if the pod's annotations say so, or else the assumption.
func (p *play) startOf(one *pod) int {
	return annotated(one.Pod, objects.AnnotationStartupDuration, p.q.StartSeconds)
}

func (p *play) stopOf(one *pod) int {
	seconds := annotated(one.Pod, objects.AnnotationShutdownDuration, -1)
	if seconds < 0 {
		return p.q.StopSeconds
	}
	if grace := one.Spec.TerminationGracePeriodSeconds; grace != nil {
		seconds = min(seconds, int(*grace))
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

// leave takes a pod from the cluster.
func (p *play) leave(ctx context.Context, target *pod) error {
	key := types.NamespacedName{Namespace: target.Namespace, Name: target.Name}
	if p.pods[key] != target {
		return nil
	}
	delete(p.pods, key)
	p.waiting = slices.DeleteFunc(p.waiting, func(w *pod) bool { return w == target })
	if err := p.trial.Apply(whatif.Change{Delete: &whatif.ObjectRef{GVK: v1.SchemeGroupVersion.WithKind("Pod"), Namespace: target.Namespace, Name: target.Name}}); err != nil {
		return err
	}
	return p.scheduleWaiting(ctx)
}

// create creates the replacement of a pod, and tries to place it.
func (p *play) create(ctx context.Context, of *pod, e *Eviction) error {
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
	one := &pod{Pod: made, replaces: e}
	p.pods[types.NamespacedName{Namespace: made.Namespace, Name: made.Name}] = one
	if err := p.trial.Add(ctx, made); err != nil {
		return err
	}
	p.waiting = append(p.waiting, one)
	return p.scheduleWaiting(ctx)
}

// scheduleWaiting tries all replacements that wait, the most important first and then the oldest.
func (p *play) scheduleWaiting(ctx context.Context) error {
	slices.SortStableFunc(p.waiting, func(a, b *pod) int { return cmp.Compare(scheduling.PodPriority(b.Pod), scheduling.PodPriority(a.Pod)) })
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
func (p *play) schedule(ctx context.Context, one *pod) error {
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
	p.waiting = slices.DeleteFunc(p.waiting, func(w *pod) bool { return w == one })
	placed := one.Pod.DeepCopy()
	placed.Spec.NodeName = cycle.SelectedNode
	one.Pod = placed
	e.Fate, e.To, e.Placed, e.Reasons = Moves, cycle.SelectedNode, new(p.now), nil
	p.after(p.startOf(one), func(ctx context.Context) error {
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
func (p *play) preempt(ctx context.Context, one *pod, cycle *result.Cycle) error {
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
		e := &Eviction{Node: victim.Spec.NodeName, Namespace: v.Namespace, Name: v.Name, Preempted: true, Asked: p.now, Evicted: new(p.now)}
		if owner := metav1.GetControllerOf(victim.Pod); owner != nil {
			e.Owner = owner.Kind + " " + owner.Name
		}
		p.preempted = append(p.preempted, e)
		if err := p.remove(ctx, victim, e, func() {}); err != nil {
			return err
		}
	}
	return nil
}
