package whatif

import (
	"context"
	"errors"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
)

// mostAsked bounds Question.Copies.
const mostAsked = 10_000

// Answer answers a question whose configuration is the trial's. What it changes stays until Rollback.
//
//go:noinline
func (t *Trial) Answer(ctx context.Context, q Question) (*Answer, error) {
	t.AskExtenders(q.AskExtenders)
	var deleted NotAsked
	t.addDeleted(&deleted, q.Changes)
	if err := t.Apply(q.Changes...); err != nil {
		return nil, t.foreign(q, err)
	}
	pod, err := t.Asked(q)
	if err != nil {
		return nil, err
	}
	answer := &Answer{State: t.state}
	if in(t).decides != nil && GroupName(pod) != "" {
		return nil, &InvalidError{Path: "spec.schedulingGroup", Message: "the scheduler of another version of Kubernetes decides about single pods only"}
	}
	if answer.NotAsked, err = t.NotAsked(pod, q.Profile); err != nil {
		return nil, err
	}
	for _, name := range deleted.ControllersNotAsked {
		answer.AddController(name)
	}
	copies := max(q.Copies, 1)
	if copies > mostAsked {
		return nil, &InvalidError{Path: "copies", Message: fmt.Sprintf("want a number from 1 to %d", mostAsked)}
	}
	// All of them exist before the first is decided about: a plugin may want to see its siblings.
	pods, err := t.Await(ctx, pod, copies)
	if err != nil {
		return nil, err
	}
	if GroupName(pod) != "" {
		answer.Decisions, err = t.decideMembers(ctx, pods, q.Profile)
		t.addPreempted(&answer.NotAsked, answer.Decisions)
		answer.NotCounted = t.notCounted(pod, answer.Decisions)
		return answer, err
	}
	for i, pod := range pods {
		cycle, err := t.Decide(ctx, pod, q.Profile)
		if err != nil {
			return nil, err
		}
		answer.Decisions = append(answer.Decisions, cycle)
		if cycle.Outcome == result.Scheduled && i < len(pods)-1 {
			if err := t.Place(ctx, pod, q.Profile, cycle.SelectedNode); err != nil {
				return nil, err
			}
		}
	}
	t.addPreempted(&answer.NotAsked, answer.Decisions)
	answer.NotCounted = t.notCounted(pod, answer.Decisions)
	return answer, nil
}

// notCounted returns what the nodes that changes have added may bring beside what was counted, where it may matter to the decisions.
func (t *Trial) notCounted(pod *v1.Pod, decisions []*result.Cycle) []explain.Statement {
	var out []explain.Statement
	asked := map[string]bool{}
	for _, a := range t.added {
		if asked[a.sample.Like()] {
			continue
		}
		asked[a.sample.Like()] = true
		out = append(out, newnode.Said(a.sample.Unknown(pod), func(plugin string) bool {
			return slices.ContainsFunc(decisions, func(c *result.Cycle) bool { return rejects(c, plugin, a.name) })
		})...)
	}
	return out
}

// rejects reports whether a pod stayed pending, and the plugin rejects it on the node.
func rejects(c *result.Cycle, plugin, node string) bool {
	if c == nil || c.Outcome == result.Scheduled || c.Filter == nil {
		return false
	}
	for i, name := range c.Filter.Nodes.All() {
		if name == node {
			verdict := c.Filter.Verdict(i)
			return slices.ContainsFunc(verdict.Rejections(), func(r result.PluginReasons) bool { return r.Plugin == plugin })
		}
	}
	return false
}

// foreign returns the error of a question whose changes were refused: rather that the pod is another scheduler's, which may read more kinds.
func (t *Trial) foreign(q Question, err error) error {
	if kind := (*KindError)(nil); !errors.As(err, &kind) {
		return err
	}
	pod, missing := t.Asked(q)
	if missing != nil {
		return err
	}
	if _, other := frameworkOf(t, pod, q.Profile); other != nil {
		return other
	}
	return err
}

// decideMembers decides about pending members of a pod group at once.
func (t *Trial) decideMembers(ctx context.Context, pods []*v1.Pod, profile string) ([]*result.Cycle, error) {
	decided, err := t.DecideGroup(ctx, pods[0], profile)
	if err != nil {
		return nil, err
	}
	out := make([]*result.Cycle, len(pods))
	for _, c := range decided {
		if i := slices.IndexFunc(pods, func(p *v1.Pod) bool { return p.UID == c.Pod.UID }); i >= 0 {
			out[i] = c
		}
	}
	return out, nil
}

// Asked returns the pod that a question is about, as Decide expects it.
func (t *Trial) Asked(q Question) (*v1.Pod, error) {
	switch {
	case q.Pod != nil && q.PodRef == nil:
		return t.New(q.Pod)
	case q.Pod == nil && q.PodRef != nil:
		return t.Pod(q.PodRef.Namespace, q.PodRef.Name)
	}
	return nil, &InvalidError{Message: "want exactly one of pod and podRef"}
}

// Another returns one more pod like this one, as New does.
func (t *Trial) Another(pod *v1.Pod) (*v1.Pod, error) {
	next := pod.DeepCopy()
	next.GenerateName = pod.Name + "-"
	if pod.GenerateName != "" {
		next.GenerateName = pod.GenerateName
	}
	next.Name = ""
	return t.New(next)
}
