package dryrun

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
)

// Judgement is what the explanation and Karpenter's scheduling say of one pod and one NodePool, alone.
type Judgement struct {
	Pod, NodePool string
	// Explained has no Kind if nothing speaks against the NodePool.
	Explained Refusal
	// Placed is the NodePool of the new node that Solve found, or the node that exists; empty if it found none.
	Placed string
	OnNew  bool
}

// Judgements asks about every pod and every NodePool alone.
func Judgements(ctx context.Context, q Question) (all []Judgement, err error) {
	ctx = karpenterContext(ctx, q.Provider)
	r, err := newRun(ctx, &q)
	if err != nil {
		return nil, err
	}
	for _, pod := range r.asked {
		w, err := r.wishOf(ctx, pod)
		if err != nil {
			return nil, err
		}
		for i, refusal := range r.explain(w) {
			j := Judgement{Pod: pod.Name, NodePool: r.pools[i].Name, Explained: refusal}
			if r.pools[i].never == nil {
				results, err := r.solve(ctx, r.alone(r.pools[i]), r.settle([]*v1.Pod{pod}))
				if err != nil {
					return nil, fmt.Errorf("%s on %s: %w", pod.Name, r.pools[i].Name, err)
				}
				for _, node := range results.ExistingNodes {
					if len(node.Pods) > 0 {
						j.Placed = node.Name()
					}
				}
				for _, claim := range results.NewNodeClaims {
					j.Placed, j.OnNew = claim.NodePoolName, true
				}
			}
			all = append(all, j)
		}
	}
	return all, nil
}

// PlayTo is Play with the state at the end.
func PlayTo(ctx context.Context, q RoundsQuestion) (*Rounds, State, error) {
	p := newPlay(q)
	err := p.all(ctx)
	return p.out, p.state, err
}

// WithClaims returns a state in which each node of a NodePool has a NodeClaim, whose consolidateAfter has passed.
func WithClaims(of State) State {
	of.NodeClaims = (&departures{waits: map[string]bool{}}).settledClaims(&of)
	return of
}

// DisruptThoroughly is Disrupt without what it knows beforehand.
func DisruptThoroughly(ctx context.Context, q DisruptionQuestion) (*Command, error) {
	command, _, err := disrupt(ctx, q, true)
	return command, err
}
