package drain

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/questions/disruption"
)

// play is a drain while it is played.
type play struct {
	*disruption.Play
	q      *Question
	world  *disruption.World
	trial  *whatif.Trial
	answer *Answer
	nodes  []*node
	// evictions are those that the drain asks for.
	evictions []*Eviction
}

// node is a node that is to be drained.
type node struct {
	*Node
	// left counts the pods that it waits for, and failed those that stay.
	left, failed int
}

// begin cordons all nodes, as kubectl does, and begins with the first.
func (p *play) begin(ctx context.Context, names []string) error {
	for _, name := range names {
		for _, n := range p.world.Nodes {
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
		p.Then(0, p.next)
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
	n.Begins, n.Outcome = new(p.Now()), Stuck
	var there []*v1.Pod
	for _, one := range p.Pods() {
		if one.Spec.NodeName == n.Name {
			there = append(there, one)
		}
	}
	chosen, warnings, errs := p.q.rules().Choose(ctx, n.Name, there, p.world.DaemonSets)
	n.Warnings, n.Errors, n.Stay = warnings, errs, len(there)-len(chosen)
	if len(errs) > 0 {
		n.Outcome = Refused
		p.end(n)
		return nil
	}
	n.left = len(chosen)
	for _, one := range chosen {
		e := p.Ask(&one)
		p.evictions = append(p.evictions, e)
		target := p.Pod(one.Namespace, one.Name)
		p.Then(0, func(ctx context.Context) error { return p.evict(ctx, n, target, e) })
	}
	if p.q.TimeoutSeconds > 0 {
		p.Then(p.q.TimeoutSeconds, func(context.Context) error {
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
	n.Ends = new(p.Now())
	p.Then(0, p.next)
}

// evict asks for an eviction, and again later while a budget refuses it.
func (p *play) evict(ctx context.Context, n *node, target *disruption.Pod, e *Eviction) error {
	if n.Ends != nil {
		return nil
	}
	by, refused := p.Refusal(target)
	switch {
	case refused != "":
		e.Error = refused
		n.left, n.failed = n.left-1, n.failed+1
		p.finish(n)
		return nil
	case target.Leaving():
		e.Fate, e.Evicted = Leaves, new(p.Now())
		p.After(p.StopOf(target), func(ctx context.Context) error {
			n.left--
			p.finish(n)
			return p.Leave(ctx, target)
		})
		return nil
	case by == "":
		return p.Remove(ctx, target, e, func() { n.left--; p.finish(n) })
	}
	p.Wait(e, by)
	if p.q.TimeoutSeconds > 0 && p.Now()+retry >= *n.Begins+p.q.TimeoutSeconds {
		return nil // kubectl gives the node up before it asks again
	}
	p.Again(retry, p.q.TimeoutSeconds == 0, func(ctx context.Context) error { return p.evict(ctx, n, target, e) })
	return nil
}
