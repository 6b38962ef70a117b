package autoscale

import (
	"context"
	"encoding/json"
	"errors"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// turnsOf is the question where pods would go one after the other, each on the state that those before it left; and then, where those go
// that found no node, once new objects are there.
type turnsOf struct {
	// pods are pods of the state, or of fresh, in the order in which the scheduler tries them.
	pods []types.NamespacedName
	// fresh are pods that do not exist yet.
	fresh []*v1.Pod
	// then comes once each of the pods has been tried.
	then []runtime.Object
}

// turns are the decisions about one pod.
type turns struct {
	// first is the decision before the new objects came. It is nil for a pod that has a scheduler of its own.
	first *result.Cycle
	// then is nil if first placed the pod, or makes room for it.
	then *result.Cycle
}

// ask answers with the decisions about each pod. When ctx ends, it returns those that it has, and the error.
func (q turnsOf) ask(ctx context.Context, c Cluster) ([]turns, error) {
	out := make([]turns, len(q.pods))
	err := c.Try(ctx, func(ctx context.Context, t *whatif.Trial) error {
		for _, pod := range q.fresh {
			if err := t.Apply(whatif.Change{Apply: pod}); err != nil {
				return err
			}
		}
		s := &inTurn{trial: t, refused: map[string]*result.Cycle{}, grouped: map[types.UID]*result.Cycle{}}
		for i, name := range q.pods {
			var err error
			if out[i].first, err = s.decide(ctx, name); err != nil {
				return err
			}
		}
		if len(q.then) == 0 {
			return nil
		}
		for _, o := range q.then {
			if err := t.Apply(whatif.Change{Apply: o}); err != nil {
				return err
			}
		}
		s.forget()
		for i, name := range q.pods {
			first := out[i].first
			if first == nil || first.Outcome == result.Scheduled || first.NominatedNode != "" {
				continue
			}
			var err error
			if out[i].then, err = s.decide(ctx, name); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// inTurn decides about pods and places them.
type inTurn struct {
	trial *whatif.Trial
	// refused keeps decisions about pods that found no node, by all that makes pods differ, until the state changes.
	refused map[string]*result.Cycle
	// grouped keeps the decisions of a cycle about several pods.
	grouped map[types.UID]*result.Cycle
}

func (s *inTurn) forget() {
	clear(s.refused)
	clear(s.grouped)
}

func (s *inTurn) decide(ctx context.Context, name types.NamespacedName) (*result.Cycle, error) {
	pod, err := s.trial.Pod(name.Namespace, name.Name)
	if err != nil {
		return nil, err
	}
	if whatif.GroupName(pod) != "" {
		return s.decideGroup(ctx, pod)
	}
	kind := kindOf(pod)
	if known := s.refused[kind]; known != nil {
		return known, nil
	}
	cycle, err := s.trial.Decide(ctx, pod, "")
	if errors.As(err, new(*whatif.ProfileError)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if cycle.Outcome != result.Scheduled {
		s.refused[kind] = cycle
		return cycle, nil
	}
	clear(s.refused)
	return cycle, s.trial.Place(ctx, pod, "", cycle.SelectedNode)
}

// decideGroup decides about all pods of a group when the first of them is due.
func (s *inTurn) decideGroup(ctx context.Context, pod *v1.Pod) (*result.Cycle, error) {
	if known := s.grouped[pod.UID]; known != nil {
		return known, nil
	}
	cycles, err := s.trial.DecideGroup(ctx, pod, "")
	if errors.As(err, new(*whatif.ProfileError)) || errors.As(err, new(*whatif.InvalidError)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, c := range cycles {
		s.grouped[c.Pod.UID] = c
		if c.Outcome != result.Scheduled {
			continue
		}
		member, err := s.trial.Pod(c.Pod.Namespace, c.Pod.Name)
		if err != nil {
			return nil, err
		}
		if err := s.trial.Place(ctx, member, "", c.SelectedNode); err != nil {
			return nil, err
		}
		clear(s.refused)
	}
	return s.grouped[pod.UID], nil
}

// kindOf is the same for pods of which the scheduler decides alike.
func kindOf(pod *v1.Pod) string {
	of := v1.Pod{Spec: pod.Spec}
	of.Namespace, of.Labels, of.OwnerReferences = pod.Namespace, pod.Labels, pod.OwnerReferences
	of.Status.NominatedNodeName = pod.Status.NominatedNodeName
	text, _ := json.Marshal(of) // plain data
	return string(text)
}
