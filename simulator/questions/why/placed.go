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
	for i, node := range a.Nodes {
		pod := &v1.Pod{}
		if err := json.Unmarshal(q.Pod, pod); err != nil {
			return err
		}
		pod.APIVersion, pod.Kind = "v1", "Pod"
		pod.Namespace = a.Subject.Namespace
		pod.Name, pod.GenerateName = fmt.Sprintf("%s-placed-%d-%d", a.Subject.Name, len(p.names), i), ""
		pod.Spec.NodeName = node
		pod.Spec.SchedulingGates = nil
		data, err := json.Marshal(pod)
		if err != nil {
			return err
		}
		p.changes = append(p.changes, hypothesis.Change{Apply: data})
	}
	return nil
}
