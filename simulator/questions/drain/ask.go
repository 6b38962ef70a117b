package drain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/questions/why"
)

// Ask answers a question. Errors about the question are a *hypothesis.Refused.
func Ask(ctx context.Context, c Cluster, q Question) (*Answer, error) {
	begun := time.Now()
	if err := q.complete(); err != nil {
		return nil, err
	}
	w, err := read(ctx, c)
	if err != nil {
		return nil, err
	}
	if q.Dearest > 0 {
		return w.emptyDearest(ctx, c, &q, begun)
	}
	names, err := w.chosen(&q)
	if err != nil {
		return nil, err
	}
	return w.drained(ctx, c, &q, names, begun)
}

// drained plays the drain of nodes.
func (w *world) drained(ctx context.Context, c Cluster, q *Question, names []string, begun time.Time) (*Answer, error) {
	g := c.Grounds()
	a := &Answer{
		APIVersion: APIVersion, Kind: Kind, Nodes: []Node{}, Evictions: []Eviction{}, Budgets: []Budget{}, NotJudged: append([]why.NotJudged{}, g.Missing...),
		Judged: Judged{
			Cluster: g.Cluster, Scheduler: g.Version, At: metav1.NewTime(begun.UTC().Truncate(time.Second)), Nodes: len(w.nodes), Pods: len(w.pods),
			StartSeconds: q.StartSeconds, StopSeconds: q.StopSeconds, Note: "A preview in virtual time: nothing was cordoned or evicted.",
		},
	}
	err := c.Try(ctx, func(ctx context.Context, t *whatif.Trial) error {
		p := &play{q: q, world: w, trial: t, answer: a, pods: map[types.NamespacedName]*pod{}, foreign: map[string]bool{}}
		for _, one := range w.pods {
			p.pods[types.NamespacedName{Namespace: one.Namespace, Name: one.Name}] = &pod{Pod: one, ready: isReady(one), leaving: one.DeletionTimestamp != nil}
		}
		for _, b := range w.budgets {
			p.budgets = append(p.budgets, newBudget(b, w.pods))
		}
		for _, b := range p.budgets {
			b.out.Allowed = p.allows(b)
			b.step(0, b.out.Allowed)
		}
		if err := p.begin(ctx, names); err != nil {
			return err
		}
		if err := p.run(ctx); err != nil {
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

// isReady reports whether a pod is ready. One on a node whose kubelet has written no status yet counts as ready.
func isReady(p *v1.Pod) bool {
	if len(p.Status.Conditions) == 0 && (p.Status.Phase == "" || p.Status.Phase == v1.PodRunning) {
		return p.Spec.NodeName != ""
	}
	return podutil.IsPodReady(p)
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
	for _, m := range p.missing {
		m.e.Behind = p.behind(m)
	}
	a.Summary.Nodes, a.Summary.Asked = len(p.nodes), len(p.evictions)
	for _, e := range slices.Concat(p.evictions, p.preempted) {
		if e.Evicted != nil && !e.Preempted {
			a.Summary.Evicted++
		}
		switch e.Fate {
		case Pending:
			a.Summary.Pending++
		case Gone:
			a.Summary.Gone++
		case Blocked:
			for _, b := range p.budgets {
				if e.Budget == b.Namespace+"/"+b.Name {
					note(&b.out.Blocks, e.Namespace+"/"+e.Name)
				}
			}
		}
		if e.Ready != nil {
			last = max(last, *e.Ready)
		}
		a.Evictions = append(a.Evictions, *e)
	}
	if ends {
		a.Summary.Seconds = new(last)
	}
	for _, b := range p.budgets {
		if len(b.out.Waits) > 0 || len(b.out.Steps) > 1 {
			a.Budgets = append(a.Budgets, b.out)
		}
	}
	a.Cost = p.world.cost(p.nodes)
	if len(p.foreign) > 0 {
		a.NotJudged = append(a.NotJudged, why.NotJudged{What: "schedulers", Text: fmt.Sprintf("Where pods of %s go was not asked: kube-scheduler does not decide about them.", strings.Join(slices.Sorted(maps.Keys(p.foreign)), ", "))})
	}
	a.Sentence = a.sentence()
}
