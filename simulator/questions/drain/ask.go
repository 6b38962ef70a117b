package drain

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/questions/disruption"
	"kube-scheduler-simulator/simulator/questions/why"
)

// Ask answers a question. Errors about the question are a *hypothesis.Refused.
func Ask(ctx context.Context, c Cluster, q Question) (*Answer, error) {
	begun := time.Now()
	if err := q.complete(); err != nil {
		return nil, err
	}
	w, err := disruption.Read(ctx, c)
	if err != nil {
		return nil, err
	}
	if q.Dearest > 0 {
		return q.emptyDearest(ctx, c, w, begun)
	}
	names, err := q.chosen(w)
	if err != nil {
		return nil, err
	}
	return q.drained(ctx, c, w, names, begun)
}

// drained plays the drain of nodes.
func (q *Question) drained(ctx context.Context, c Cluster, w *disruption.World, names []string, begun time.Time) (*Answer, error) {
	g := c.Grounds()
	a := &Answer{
		APIVersion: APIVersion, Kind: Kind, Nodes: []Node{}, Evictions: []Eviction{}, Budgets: []Budget{}, NotJudged: append([]why.NotJudged{}, g.Missing...),
		Judged: Judged{
			Cluster: g.Cluster, Scheduler: g.Version, At: metav1.NewTime(begun.UTC().Truncate(time.Second)), Nodes: len(w.Nodes), Pods: len(w.Pods),
			StartSeconds: q.StartSeconds, StopSeconds: q.StopSeconds, Note: "A preview in virtual time: nothing was cordoned or evicted.",
		},
	}
	err := c.Try(ctx, func(ctx context.Context, t *whatif.Trial) error {
		p := &play{Play: disruption.New(w, t, disruption.Assumed{StartSeconds: q.StartSeconds, StopSeconds: q.StopSeconds}), q: q, world: w, trial: t, answer: a}
		if err := p.begin(ctx, names); err != nil {
			return err
		}
		if err := p.Run(ctx); err != nil {
			return err
		}
		p.conclude()
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.Judged.Seconds = time.Since(begun).Seconds()
	return a, nil
}

// conclude fills in the answer when nothing happens any more.
func (p *play) conclude() {
	a := p.answer
	ends := true
	last := 0
	for _, n := range p.nodes {
		switch n.Outcome {
		case Emptied:
			a.Summary.Empty++
		case Stuck, NotReached:
			ends = false
		}
		if n.Ends != nil {
			last = max(last, *n.Ends)
		}
	}
	outcome := p.Conclude(p.evictions)
	a.Summary.Nodes, a.Summary.Asked = len(p.nodes), len(p.evictions)
	for _, e := range slices.Concat(p.evictions, outcome.Preempted) {
		if e.Evicted != nil && !e.Preempted {
			a.Summary.Evicted++
		}
		switch e.Fate {
		case Pending:
			a.Summary.Pending++
		case Gone:
			a.Summary.Gone++
		}
		if e.Ready != nil {
			last = max(last, *e.Ready)
		}
		a.Evictions = append(a.Evictions, *e)
	}
	if ends {
		a.Summary.Seconds = new(last)
	}
	a.Budgets = outcome.Budgets
	a.Cost = p.world.Cost(func(name string) bool {
		return slices.ContainsFunc(p.nodes, func(n *node) bool { return n.Name == name && n.Outcome == Emptied })
	})
	if outcome.NotJudged != nil {
		a.NotJudged = append(a.NotJudged, *outcome.NotJudged)
	}
	a.Sentence = a.sentence()
}
