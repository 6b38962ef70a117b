package ask

import (
	"context"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/others/session"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// Target is a cluster that answers questions. Nothing that it does changes the cluster.
type Target interface {
	// Name completes the sentence "Asked of …".
	Name() string
	// Node returns a node of the cluster, in JSON.
	Node(ctx context.Context, name string) ([]byte, error)
	WhatIf(ctx context.Context, q hypothesis.WhatIf) (*WhatIfAnswer, error)
	Fit(ctx context.Context, q hypothesis.Fit) (*hypothesis.FitAnswer, error)
	Capacity(ctx context.Context, q hypothesis.Capacity) (*capacity.Answer, error)
}

// WhatIfAnswer is the answer to a hypothesis.WhatIf. Its JSON form is that of the HTTP API.
type WhatIfAnswer struct {
	State whatif.State `json:"state"`
	// Decisions has one for each copy of the pod, in order.
	Decisions []explain.Explained `json:"decisions"`
	whatif.NotAsked
	// NotCounted is as in whatif.Answer.
	NotCounted []explain.Statement `json:"notCounted,omitempty"`
	// Turn is as in hypothesis.WhatIfAnswer.
	Turn *session.Turn `json:"turn,omitempty"`
}

// Explained returns the answer of an engine.
func Explained(a *hypothesis.WhatIfAnswer) *WhatIfAnswer {
	out := &WhatIfAnswer{State: a.State, NotAsked: a.NotAsked, NotCounted: a.NotCounted, Turn: a.Turn}
	for _, c := range a.Decisions {
		out.Decisions = append(out.Decisions, explain.With(c))
	}
	return out
}

// Fits reports whether every copy of the pod finds a node.
func (a *WhatIfAnswer) Fits() bool {
	for _, d := range a.Decisions {
		if !placed(d) {
			return false
		}
	}
	return true
}

// placed reports whether the pod finds a node. One that a gang gives back has found a node, and is not placed.
func placed(d explain.Explained) bool { return d.Outcome == result.Scheduled }
