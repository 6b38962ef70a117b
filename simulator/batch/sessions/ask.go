package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/others/flow"
	"kube-scheduler-simulator/scheduler/others/session"
	"kube-scheduler-simulator/scheduler/whatif"
)

// WhatIf asks a scheduler what its next session or round would decide about a pod and its copies.
// Changes may also be about the PodGroups and Queues that the scheduler reads. The question's
// configuration and profile do not count. The errors are those of whatif.Engine.Ask.
func (s *Service) WhatIf(ctx context.Context, scheduler string, q whatif.Question) (*whatif.Answer, *session.Turn, error) {
	if err := s.prepare(ctx); err != nil {
		return nil, nil, err
	}
	if scheduler == flow.SchedulerName {
		return s.rounds.whatIf(ctx, q)
	}
	return s.runner(session.Rules(scheduler)).whatIf(ctx, q)
}

// pose makes the pods of a question pending pods of a scheduler. other takes the changes that the
// trial does not know, and reports whether it did.
func pose(ctx context.Context, trial *whatif.Trial, scheduler string, q whatif.Question, other func(whatif.Change) (bool, error)) ([]*v1.Pod, error) {
	for i, change := range q.Changes {
		taken, err := other(change)
		if err != nil {
			return nil, &whatif.ChangeError{Index: i, Err: err}
		}
		if taken {
			continue
		}
		if err := trial.Apply(change); err != nil {
			if bad := (*whatif.ChangeError)(nil); errors.As(err, &bad) {
				bad.Index = i
			}
			return nil, err
		}
	}
	pod, err := trial.Asked(q)
	if err != nil {
		return nil, err
	}
	pod = pod.DeepCopy()
	pod.Spec.SchedulerName = scheduler
	return trial.Await(ctx, pod, max(q.Copies, 1))
}

// whatIf runs a session for a question, beside those that run for real.
func (r *runner) whatIf(ctx context.Context, q whatif.Question) (*whatif.Answer, *session.Turn, error) {
	engine, board, configuration, err := r.asking()
	if err != nil {
		return nil, nil, err
	}
	objects, _, err := r.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	if objects.Ended, err = r.ended(ctx); err != nil {
		return nil, nil, err
	}
	answer, turn := &whatif.Answer{}, (*session.Turn)(nil)
	err = engine.Try(ctx, nil, func(ctx context.Context, trial *whatif.Trial) error {
		answer.State = trial.State()
		pods, err := pose(ctx, trial, string(r.rules), q, func(c whatif.Change) (bool, error) { return change(&objects, r.rules, c) })
		if err != nil {
			return err
		}
		classes, err := trial.List(schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"))
		if err != nil {
			return err
		}
		for _, o := range classes {
			objects.PriorityClasses = append(objects.PriorityClasses, o.(*schedulingv1.PriorityClass)) // the last one of a name counts
		}
		answer.Decisions, turn, err = session.Ask(ctx, trial, objects, session.Options{
			Configuration: configuration, Board: board, UID: newUID(),
			Annotations: func(namespace string, owner *metav1.OwnerReference) map[string]string {
				return r.service.annotations(ctx, namespace, owner)
			},
		}, pods)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return answer, turn, nil
}

// change reports false for a change of anything but a group or a queue of the dialect.
func change(objects *session.Objects, rules session.Rules, c whatif.Change) (bool, error) {
	var ref whatif.ObjectRef
	switch {
	case c.Apply != nil:
		u, ok := c.Apply.(*unstructured.Unstructured)
		if !ok {
			return false, nil
		}
		ref = whatif.ObjectRef{GVK: u.GroupVersionKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
	case c.Delete != nil:
		ref = *c.Delete
	default:
		return false, nil // admission turns patches into objects
	}
	if !slices.Contains(rules.GroupVersions(), ref.GVK.GroupVersion()) {
		return false, nil
	}
	found := objects.Remove(ref.GVK, ref.Namespace, ref.Name)
	if c.Delete != nil {
		if !found {
			return false, &whatif.NotFoundError{ObjectRef: ref}
		}
		return true, nil
	}
	u := c.Apply.(*unstructured.Unstructured).DeepCopy()
	if u.GetUID() == "" {
		u.SetUID(types.UID("hypothetical-" + u.GetNamespace() + "-" + u.GetName()))
	}
	var groups, queues []*unstructured.Unstructured
	switch ref.GVK.Kind {
	case session.PodGroupKind:
		groups = append(groups, u)
	case session.QueueKind:
		queues = append(queues, u)
	}
	return true, objects.Add(schema.GroupVersion{Group: ref.GVK.Group, Version: ref.GVK.Version}, groups, queues)
}

func (r *rounds) whatIf(ctx context.Context, q whatif.Question) (*whatif.Answer, *session.Turn, error) {
	answer, options := &whatif.Answer{}, r.options()
	turn := &session.Turn{Scheduler: flow.SchedulerName, Kind: session.RoundTurn, Model: string(options.Model), NotJudged: session.Open}
	err := r.engine.Try(ctx, nil, func(ctx context.Context, trial *whatif.Trial) error {
		answer.State = trial.State()
		pods, err := pose(ctx, trial, flow.SchedulerName, q, func(whatif.Change) (bool, error) { return false, nil })
		if err != nil {
			return err
		}
		out, err := flow.Run(ctx, trial, options)
		if err != nil {
			return err
		}
		if out == nil {
			out = &flow.Outcome{}
		}
		for _, p := range out.Evictions {
			turn.Evictions = append(turn.Evictions, p.Namespace+"/"+p.Name)
		}
		for _, p := range pods {
			answer.Decisions = append(answer.Decisions, flow.About(p, out.Cycles, len(trial.Nodes())))
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("asking the flow scheduler: %w", err)
	}
	return answer, turn, nil
}
