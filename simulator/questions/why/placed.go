package why

import (
	"encoding/json"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// Placed are the pods that earlier questions of a list have placed. It is for one goroutine.
type Placed struct {
	names   []string
	changes []hypothesis.Change
}

// Clone returns a copy to which more can be added.
func (p *Placed) Clone() Placed {
	return Placed{names: slices.Clone(p.names), changes: slices.Clone(p.changes)}
}

// Before makes a question count the pods as placed.
func (p *Placed) Before(q *Question) {
	q.After = slices.Clone(p.names)
	q.Changes = append(slices.Clone(q.Changes), p.changes...)
}

// Add places the pods that do not exist and that the answer found nodes for.
func (p *Placed) Add(q Question, a *Answer) error {
	if q.Pod == nil || len(a.Nodes) == 0 {
		return nil
	}
	p.names = append(p.names, a.Subject.title())
	changes, err := placed(q.Pod, a, len(p.names))
	p.changes = append(p.changes, changes...)
	return err
}

func placedName(a *Answer, turn, i int) string {
	return fmt.Sprintf("%s-placed-%d-%d", a.Subject.Name, turn, i)
}

// isPlaced reports whether a pod is one that placed creates in turn 0.
func isPlaced(t hypothesis.Target, a *Answer) bool {
	for i := range a.Nodes {
		if t.Kind == "Pod" && t.Namespace == a.Subject.Namespace && t.Name == placedName(a, 0, i) {
			return true
		}
	}
	return false
}

// placed returns changes that create the pods of an answer on the nodes that it found. turn makes their names differ.
func placed(template hypothesis.Document, a *Answer, turn int) ([]hypothesis.Change, error) {
	var out []hypothesis.Change
	for i, node := range a.Nodes {
		pod := &v1.Pod{}
		if err := json.Unmarshal(template, pod); err != nil {
			return nil, err
		}
		pod.APIVersion, pod.Kind = "v1", "Pod"
		pod.Namespace = a.Subject.Namespace
		pod.Name, pod.GenerateName = placedName(a, turn, i), ""
		pod.Spec.NodeName = node
		pod.Spec.SchedulingGates = nil
		data, err := json.Marshal(pod)
		if err != nil {
			return nil, err
		}
		out = append(out, hypothesis.Change{Apply: data})
	}
	return out, nil
}
