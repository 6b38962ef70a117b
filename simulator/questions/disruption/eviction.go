package disruption

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/questions/why"
)

// Fate is what becomes of a pod.
type Fate string

const (
	// Moves: its replacement finds a node.
	Moves Fate = "moves"
	// Pending: its replacement finds none.
	Pending Fate = "pending"
	// Gone: no controller creates it again.
	Gone Fate = "gone"
	// Blocked: it is not evicted.
	Blocked Fate = "blocked"
	// Leaves: it terminates already.
	Leaves Fate = "leaves"
	// Ended: it has succeeded or failed before, so its controller does not miss it.
	Ended Fate = "ended"
)

// Eviction is that of one pod. Times are in seconds since the play begins.
type Eviction struct {
	Node      string `json:"node"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Owner is the kind and the name of its controller; empty without one.
	Owner string `json:"owner,omitempty"`
	Fate  Fate   `json:"fate"`
	// Preempted: a replacement takes its place; the question does not ask for it.
	Preempted bool `json:"preempted,omitempty"`
	// Asked is when the eviction is first asked for, and Evicted when it is made; nil for never.
	Asked   int  `json:"asked"`
	Evicted *int `json:"evicted,omitempty"`
	// Budget is the PodDisruptionBudget, as namespace/name, that made it wait, or blocks it; empty for none. Error is why the API server
	// refuses it for good.
	Budget string `json:"budget,omitempty"`
	Error  string `json:"error,omitempty"`
	// To is where the replacement lands, at Placed; Ready is when it is ready.
	To     string `json:"to,omitempty"`
	Placed *int   `json:"placed,omitempty"`
	Ready  *int   `json:"ready,omitempty"`
	// Choice is why the replacement lands on the node that was left; nil for one that does not.
	Choice *why.Choice `json:"choice,omitempty"`
	// Reasons are why the replacement finds no node, or no other one than that which was left.
	Reasons []why.Reason `json:"reasons,omitempty"`
	// Behind is the pod that its StatefulSet waits for before it creates the replacement; empty for none.
	Behind string `json:"behind,omitempty"`
}

// Ask returns the eviction of a pod that is asked for now, and that has not been made.
func (p *Play) Ask(pod *v1.Pod) *Eviction {
	e := &Eviction{Node: pod.Spec.NodeName, Namespace: pod.Namespace, Name: pod.Name, Fate: Blocked, Asked: p.now}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		e.Owner = owner.Kind + " " + owner.Name
	}
	return e
}
