package whatif

import (
	"context"
	"errors"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// answer answers a question.
func (t *Trial) answer(ctx context.Context, q Question) (*Answer, error) {
	t.AskExtenders(q.AskExtenders)
	if err := t.Apply(q.Changes...); err != nil {
		return nil, t.foreign(q, err)
	}
	pod, err := t.Asked(q)
	if err != nil {
		return nil, err
	}
	f, err := t.framework(pod, q.Profile)
	if err != nil {
		return nil, err
	}
	answer := &Answer{State: t.state}
	for _, plugin := range f.ListPlugins().Permit.Enabled {
		answer.PermitNotAsked = append(answer.PermitNotAsked, plugin.Name)
	}
	copies := max(q.Copies, 1)
	if copies > maxCopies {
		return nil, &InvalidError{Path: "copies", Message: fmt.Sprintf("want a number from 1 to %d", maxCopies)}
	}
	if Grouped(pod) {
		answer.Decisions, err = t.decideCopies(ctx, pod, q.Profile, copies)
		return answer, err
	}
	for {
		cycle, err := t.Decide(ctx, pod, q.Profile)
		if err != nil {
			return nil, err
		}
		answer.Decisions = append(answer.Decisions, cycle)
		if len(answer.Decisions) == copies {
			return answer, nil
		}
		if cycle.Outcome == result.Scheduled {
			if err := t.Place(ctx, pod, q.Profile, cycle.SelectedNode); err != nil {
				return nil, err
			}
		}
		if pod, err = t.Another(pod); err != nil {
			return nil, err
		}
	}
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
	if _, other := t.framework(pod, q.Profile); other != nil {
		return other
	}
	return err
}

// decideCopies decides about a member of a pod group and its copies at once.
func (t *Trial) decideCopies(ctx context.Context, pod *v1.Pod, profile string, copies int) ([]*result.Cycle, error) {
	if _, err := t.prepare(ctx, pod); err != nil {
		return nil, err
	}
	asked := []types.UID{pod.UID}
	for next := pod; len(asked) < copies; asked = append(asked, next.UID) {
		var err error
		if next, err = t.Another(next); err != nil {
			return nil, err
		}
		if _, err := t.prepare(ctx, next); err != nil {
			return nil, err
		}
	}
	decided, err := t.DecideGroup(ctx, pod, profile)
	if err != nil {
		return nil, err
	}
	out := make([]*result.Cycle, len(asked))
	for _, c := range decided {
		if i := slices.Index(asked, c.Pod.UID); i >= 0 {
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
