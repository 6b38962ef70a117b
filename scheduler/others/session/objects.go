package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kinds of the objects that a dialect reads.
const (
	PodGroupKind = "PodGroup"
	QueueKind    = "Queue"
)

// Add reads the PodGroups and Queues of one of a dialect's versions. Of several queues with one name, the first one counts.
func (o *Objects) Add(version schema.GroupVersion, groups, queues []*unstructured.Unstructured) error {
	for _, u := range groups {
		g := &PodGroup{}
		if err := read(u, g); err != nil {
			return err
		}
		g.SetGroupVersionKind(version.WithKind(PodGroupKind))
		o.Groups = append(o.Groups, g)
	}
	for _, u := range queues {
		q := &Queue{}
		if err := read(u, q); err != nil {
			return err
		}
		if !slices.ContainsFunc(o.Queues, func(other *Queue) bool { return other.Name == q.Name }) {
			o.Queues = append(o.Queues, q)
		}
	}
	return nil
}

// Remove takes out the group or the queue of a name. It reports false if there is none.
func (o *Objects) Remove(gvk schema.GroupVersionKind, namespace, name string) bool {
	before := len(o.Groups) + len(o.Queues)
	switch gvk.Kind {
	case PodGroupKind:
		o.Groups = slices.DeleteFunc(o.Groups, func(g *PodGroup) bool {
			return g.GroupVersionKind() == gvk && g.Namespace == namespace && g.Name == name
		})
	case QueueKind:
		o.Queues = slices.DeleteFunc(o.Queues, func(q *Queue) bool { return q.Name == name })
	}
	return len(o.Groups)+len(o.Queues) < before
}

func read(u *unstructured.Unstructured, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into); err != nil {
		return fmt.Errorf("reading %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}

// NewDefaultQueue returns the queue of jobs that name none, which both schedulers need.
func NewDefaultQueue(rules Rules) *unstructured.Unstructured {
	q := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"weight": int64(1)}}}
	q.SetGroupVersionKind(rules.GroupVersions()[0].WithKind(QueueKind))
	q.SetName(DefaultQueue)
	return q
}

// Patch returns a strategic merge patch of the pod, of its status alone. It is nil if the pod says the same already.
func (u PodUpdate) Patch(now time.Time) ([]byte, error) {
	condition := v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: u.Reason, Message: u.Message, LastTransitionTime: metav1.NewTime(now)}
	for _, c := range u.Pod.Status.Conditions {
		if c.Type == condition.Type && c.Status == condition.Status && c.Reason == condition.Reason && c.Message == condition.Message && u.Pod.Status.NominatedNodeName == u.NominatedNode {
			return nil, nil
		}
	}
	status := map[string]any{"conditions": []v1.PodCondition{condition}}
	if u.NominatedNode != u.Pod.Status.NominatedNodeName {
		status["nominatedNodeName"] = u.NominatedNode
	}
	return json.Marshal(map[string]any{"metadata": map[string]any{"uid": u.Pod.UID}, "status": status})
}

// Patch returns a merge patch of the group, of its status alone.
func (u GroupUpdate) Patch() ([]byte, error) {
	return json.Marshal(map[string]any{"metadata": map[string]any{"uid": u.Group.UID}, "status": u.Status})
}
