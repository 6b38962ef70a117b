package autoscale

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/autoscaling/provider"
	"kube-scheduler-simulator/simulator/questions/why"
)

// Cluster is a cluster that is asked. Nothing that it does changes the cluster. Methods are safe for concurrent use.
type Cluster interface {
	why.Cluster
	Try(ctx context.Context, do func(context.Context, *whatif.Trial) error) error
}

const (
	// schedulerTime bounds the time that the scheduler is asked for.
	schedulerTime = 8 * time.Second
	// roundsTime bounds the time of the rounds, of which an answer has one or two series.
	roundsTime = 8 * time.Second
)

// asking is a question while it is answered.
type asking struct {
	cluster  Cluster
	q        Question
	state    dryrun.State
	provider *provider.Provider
	pods     []*v1.Pod
	// added are those of the pods that do not exist, and placed are further ones that count as placed.
	added, placed []*v1.Pod
	answer        *Answer
}

// Ask answers a question. Errors about the question are a *hypothesis.Refused or a *whatif.NotFoundError.
func Ask(ctx context.Context, c Cluster, q Question) (*Answer, error) {
	begun := time.Now()
	q.Namespace = cmp.Or(q.Namespace, metav1.NamespaceDefault)
	g := c.Grounds()
	a := &asking{cluster: c, q: q, answer: &Answer{
		APIVersion: APIVersion, Kind: Kind, NotJudged: append([]why.NotJudged{}, g.Missing...),
		Judged: Judged{
			Cluster: g.Cluster, Scheduler: g.Version, Karpenter: dryrun.Version, At: metav1.NewTime(begun.UTC().Truncate(time.Second)),
			Note: "A dry run: no node was bought, and no pod was placed.",
		},
	}}
	if err := a.read(ctx); err != nil {
		return nil, err
	}
	as := a.state // as it is without the question's NodePools
	as.NodePools = slices.Clone(as.NodePools)
	var err error
	if a.added, a.placed, err = a.q.read(ctx, &a.state); err != nil {
		return nil, err
	}
	if a.pods, err = a.q.asked(&a.state, a.added); err != nil {
		return nil, err
	}
	catalog, err := a.q.catalog(ctx, a.state.Zones())
	if err != nil {
		return nil, err
	}
	a.provider = provider.New(catalog)
	found, err := a.ask(ctx, a.state)
	if err != nil {
		return nil, err
	}
	a.fill(found)
	if err := a.askScheduler(ctx); err != nil {
		return nil, err
	}
	if err := a.couldGo(ctx, begun); err != nil {
		return nil, err
	}
	if len(a.state.NodePools) > len(as.NodePools) {
		if err := a.before(ctx, as, begun); err != nil {
			return nil, err
		}
	}
	if a.answer.Rounds, err = a.rounds(ctx, a.state, as, begun); err != nil {
		return nil, err
	}
	a.answer.Sentence = a.answer.sentence()
	a.answer.Judged.Seconds = time.Since(begun).Seconds()
	return a.answer, nil
}

// read reads the state. What cannot be read but nodes and pods is not judged.
func (a *asking) read(ctx context.Context) error {
	for _, gvk := range dryrun.Kinds {
		all, err := a.cluster.List(ctx, gvk, metav1.NamespaceAll)
		if err != nil {
			if gvk.Group == "" || ctx.Err() != nil {
				return err
			}
			a.unjudged(gvk.Kind, fmt.Sprintf("%v: the autoscaler is judged without it.", err))
			continue
		}
		for _, o := range all {
			if pod, ok := o.(*v1.Pod); ok && (pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed) {
				continue
			}
			if err := a.state.Add(o); err != nil {
				a.unjudged(gvk.Kind, fmt.Sprintf("One is left out: %v.", err))
			}
		}
	}
	return nil
}

func (a *asking) unjudged(what, text string) {
	a.answer.NotJudged = append(a.answer.NotJudged, why.NotJudged{What: what, Text: text})
}

func (a *asking) ask(ctx context.Context, state dryrun.State) (*dryrun.Answer, error) {
	return dryrun.Ask(ctx, dryrun.Question{State: state, Provider: a.provider, Pods: a.pods})
}

// fill takes over what the dry run found.
func (a *asking) fill(found *dryrun.Answer) {
	out := a.answer
	out.NewNodes, out.Pools, out.Cost = orEmpty(found.NewNodes), orEmpty(found.Pools), found.Cost
	out.Pods, out.Nodes = make([]Pod, len(found.Pods)), []dryrun.Departure{}
	for i, p := range found.Pods {
		out.Pods[i] = Pod{Placement: p}
		out.Pods[i].Sentence = out.podSentence(&out.Pods[i])
	}
	out.Summary = summaryOf(found)
	j := &out.Judged
	j.Nodes, j.Pods, j.InstanceTypes, j.Prices = len(a.state.Nodes), len(a.state.Pods), found.State.InstanceTypes, found.Prices
}

func orEmpty[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

func summaryOf(found *dryrun.Answer) Summary {
	s := Summary{Pods: len(found.Pods)}
	for _, p := range found.Pods {
		switch p.Verdict {
		case dryrun.OnNewNode:
			s.NewNode++
		case dryrun.OnExistingNode:
			s.ExistingNode++
		case dryrun.OnNone:
			s.None++
		case dryrun.NotJudged:
			s.NotJudged++
		}
	}
	return s
}

// before asks the same with the NodePools as they are.
func (a *asking) before(ctx context.Context, state dryrun.State, now time.Time) error {
	found, err := a.ask(ctx, state)
	if err != nil {
		return err
	}
	a.answer.Before = &Before{Summary: summaryOf(found), Pools: orEmpty(found.Pools), Cost: found.Cost}
	a.answer.Before.Rounds, err = a.rounds(ctx, state, state, now)
	return err
}

// rounds plays what the autoscaler would do about a state whose nodes were bought by the NodePools of another.
func (a *asking) rounds(ctx context.Context, state, as dryrun.State, now time.Time) (*dryrun.Rounds, error) {
	if !a.q.Rounds {
		return nil, nil
	}
	state.Pods = slices.Concat(state.Pods, a.added)
	bounded, cancel := context.WithTimeout(ctx, roundsTime)
	defer cancel()
	rounds, err := dryrun.Play(bounded, dryrun.RoundsQuestion{State: state, Provider: a.provider, Was: as.NodePools, Now: now})
	if err == nil && !rounds.Complete {
		a.unjudged("rounds", fmt.Sprintf("After %s the autoscaler still had something to do.", why.Plural(len(rounds.Rounds), "round")))
	}
	if err == nil {
		err = ctx.Err()
	}
	return rounds, err
}

// couldGo asks about the nodes that the question names.
func (a *asking) couldGo(ctx context.Context, now time.Time) error {
	if len(a.q.Nodes) == 0 && !a.q.AllNodes {
		return nil
	}
	for _, name := range a.q.Nodes {
		if !slices.ContainsFunc(a.state.Nodes, func(n *v1.Node) bool { return n.Name == name }) {
			return refuse("nodes: there is no node %s", name)
		}
	}
	names := a.q.Nodes
	if a.q.AllNodes {
		names = nil
	}
	found, err := dryrun.CouldGo(ctx, dryrun.DepartureQuestion{State: a.state, Provider: a.provider, Nodes: names, Now: now})
	a.answer.Nodes = orEmpty(found)
	return err
}

// askScheduler asks the scheduler about the pods, and notes where the two disagree.
func (a *asking) askScheduler(ctx context.Context) error {
	if len(a.pods) == 0 {
		return nil
	}
	q := turnsOf{fresh: slices.Concat(a.placed, a.added)}
	for _, p := range a.pods {
		q.pods = append(q.pods, types.NamespacedName{Namespace: p.Namespace, Name: p.Name})
	}
	for _, n := range a.answer.NewNodes {
		q.then = append(q.then, n.Node)
		for _, pod := range n.Daemons {
			q.then = append(q.then, runtime.Object(pod))
		}
	}
	bounded, cancel := context.WithTimeout(ctx, schedulerTime)
	defer cancel()
	found, err := q.ask(bounded, a.cluster)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		a.unjudged("scheduler", fmt.Sprintf("The scheduler did not judge all pods in %s.", schedulerTime))
	} else if err != nil {
		return err
	}
	foreign := 0
	for i, t := range found {
		pod := &a.answer.Pods[i]
		switch {
		case t.first != nil:
			pod.compare(t)
		case err == nil:
			foreign++
		}
		if pod.Disagreement != nil {
			a.answer.Summary.Disagreements++
		}
	}
	if foreign > 0 {
		a.unjudged("scheduler", fmt.Sprintf("kube-scheduler does not decide about %s alone, so nobody compared it with the autoscaler.", why.Plural(foreign, "pod")))
	}
	return nil
}
