package why

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// running answers about a pod that is bound: why there? The record says so, if there is one. Otherwise the scheduler
// is asked as if the pod were not placed yet.
func (a *asking) running(ctx context.Context, pod *v1.Pod) error {
	a.answer.Verdict, a.answer.SelectedNode = Runs, pod.Spec.NodeName
	record, err := a.cluster.Record(ctx, pod.UID)
	if err != nil {
		return err
	}
	answer, err := a.cluster.WhatIf(ctx, hypothesis.WhatIf{Question: hypothesis.Question{
		PodRef: &hypothesis.PodName{Namespace: pod.Namespace, Name: pod.Name}, Profile: a.q.Profile,
	}})
	if err != nil {
		return err
	}
	a.grounds(answer.Grounds)
	today := answer.Decisions[0]
	changed, err := a.changed(ctx, pod)
	if err != nil {
		return err
	}
	if record != nil && record.SelectedNode == pod.Spec.NodeName {
		recorded := explain.With(record)
		a.answer.Judged.Record, a.answer.Judged.Scheduler = true, record.Profile
		a.answer.Choice = choiceOf(recorded)
		a.answer.Reasons = ReasonsOf(record, "")
		a.answer.Sentence = said(record)
	} else {
		a.answer.Judged.Scheduler = today.Profile
		a.answer.Choice = choiceOf(today)
		a.answer.Reasons = ReasonsOf(today.Cycle, "")
		a.answer.Sentence = fmt.Sprintf("%s runs on %s. %s", a.answer.Subject.title(), pod.Spec.NodeName, again(today, pod.Spec.NodeName))
		a.unjudged("the decision of that time", "Nobody recorded why the pod was placed there. The answer is what the scheduler would do today, were the pod not placed yet.")
	}
	a.answer.Choice.Today, a.answer.Choice.Changed = today.SelectedNode, changed
	return nil
}

// again says what the scheduler would do with a pod that runs, were it not placed yet.
func again(today explain.Explained, node string) string {
	switch {
	case today.SelectedNode == node:
		return "Asked again now, the scheduler would choose it again" + chosen(today)
	case today.SelectedNode == "":
		return "Asked again now, it would find no node: " + said(today.Cycle)
	case rejects(today.Cycle, node):
		return fmt.Sprintf("Asked again now, that node would not take it any more, and the scheduler would choose %s%s", today.SelectedNode, chosen(today))
	}
	return fmt.Sprintf("Asked again now, the scheduler would choose %s%s", today.SelectedNode, chosen(today))
}

func rejects(c *result.Cycle, node string) bool {
	if c.Filter == nil {
		return false
	}
	at := c.Filter.Nodes.Index(node)
	if at < 0 {
		return false
	}
	verdict := c.Filter.Verdict(at)
	return len(verdict.Rejections()) > 0
}

// changed says what is younger than the placement of the pod. It cannot say what is gone.
func (a *asking) changed(ctx context.Context, pod *v1.Pod) ([]string, error) {
	since, _ := conditionOf(pod)
	if since == nil {
		since = pod.Status.StartTime
	}
	if since == nil || since.IsZero() {
		return nil, nil
	}
	var out []string
	nodes, err := a.cluster.List(ctx, v1.SchemeGroupVersion.WithKind("Node"), "")
	if err != nil {
		return nil, err
	}
	var young []string
	for _, o := range nodes {
		if n, ok := o.(*v1.Node); ok && n.CreationTimestamp.After(since.Time) {
			young = append(young, n.Name)
		}
	}
	if len(young) > 0 {
		slices.Sort(young)
		out = append(out, fmt.Sprintf("%d of %d nodes came later: %s.", len(young), len(nodes), explain.Names(young)))
	}
	pods, err := a.cluster.List(ctx, podKind, "")
	if err != nil {
		return nil, err
	}
	here := 0
	for _, o := range pods {
		if p, ok := o.(*v1.Pod); ok && p.Spec.NodeName == pod.Spec.NodeName && p.UID != pod.UID && later(p, since) {
			here++
		}
	}
	if here > 0 {
		out = append(out, fmt.Sprintf("%d of the pods on %s came later.", here, pod.Spec.NodeName))
	}
	if len(out) > 0 {
		out = append(out, fmt.Sprintf("The pod was placed %s; pods and nodes that are gone since are not known.", since.UTC().Format(time.RFC3339)))
	}
	return out, nil
}

func later(pod *v1.Pod, since *metav1.Time) bool {
	placed, _ := conditionOf(pod)
	if placed == nil {
		placed = &pod.CreationTimestamp
	}
	return placed.After(since.Time)
}
