package fit

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// order puts evictions and an in-place change of the pod into an order in which the scheduler does nothing else in between. It tries the
// pending pod after each of them: with only a part of the changes it could place the pod elsewhere, or preempt other pods for it. order reports
// false if there is no such order. before is the state without the changes, to which it returns.
func (s *search) order(ctx context.Context, c candidate, before whatif.Mark, w *written) (bool, error) {
	if w.evictions == 0 || len(s.pod.Spec.SchedulingGates) > 0 || whatif.GroupName(s.pod) != "" {
		return true, nil
	}
	last := len(w.hypothetical) - 1
	s.trial.Rollback(before)
	evicted, err := s.decide(ctx, w.hypothetical[:last]...)
	if err != nil || evicted.SelectedNode == "" && evicted.NominatedNode == "" {
		return err == nil, err
	}
	s.trial.Rollback(before)
	first := last - w.evictions
	changed, err := s.decide(ctx, append(slices.Clone(w.hypothetical[:first]), w.hypothetical[last])...)
	if err != nil {
		return false, err
	}
	victims := w.hypothetical[first:last]
	atEnd := len(w.real) - 1
	switch {
	case changed.SelectedNode == "" && (changed.NominatedNode == "" || preemptsOnly(changed, c.node, victims)):
		w.real = slices.Insert(w.real[:atEnd:atEnd], atEnd-w.evictions, w.real[atEnd])
	case s.writer.workload == nil:
		deletion := whatif.Change{Delete: podRef(s.writer.pod)}
		pod := s.writer.pod.DeepCopy()
		relax(&pod.Spec, c.remedies)
		w.real = append(slices.Insert(w.real[:atEnd:atEnd], atEnd-w.evictions, deletion), whatif.Change{Apply: unmerged(fresh(pod))})
		w.manner = explain.Recreated{Pod: pod.Name}
	default:
		return false, nil
	}
	return true, nil
}

// decide decides about the pod after some changes.
func (s *search) decide(ctx context.Context, changes ...whatif.Change) (*result.Cycle, error) {
	if err := s.trial.Apply(changes...); err != nil {
		return nil, err
	}
	pod, err := s.trial.Pod(s.pod.Namespace, s.pod.Name)
	if err != nil {
		return nil, err
	}
	return s.trial.Decide(ctx, pod, s.profile)
}

// preemptsOnly reports whether a decision preempts no pod but those that the changes delete.
func preemptsOnly(c *result.Cycle, node string, deletions []whatif.Change) bool {
	if c.NominatedNode != node || c.Preemption == nil {
		return false
	}
	at := slices.IndexFunc(c.Preemption.Candidates, func(candidate result.Candidate) bool { return candidate.Node == node })
	return at >= 0 && c.Preemption.Candidates[at].VictimsDropped == 0 && !slices.ContainsFunc(c.Preemption.Candidates[at].Victims, func(v result.Victim) bool {
		return !slices.ContainsFunc(deletions, func(d whatif.Change) bool {
			return *d.Delete == *podRef(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: v.Pod.Namespace, Name: v.Pod.Name}})
		})
	})
}
