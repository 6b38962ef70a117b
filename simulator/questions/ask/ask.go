package ask

import (
	"context"

	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/simulator/questions/autoscale"
	"kube-scheduler-simulator/simulator/questions/deschedule"
	"kube-scheduler-simulator/simulator/questions/drain"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/submit"
	"kube-scheduler-simulator/simulator/questions/why"
)

// Target is a cluster that answers questions. Nothing that it does changes the cluster.
type Target interface {
	// Name completes the sentence "Asked of …".
	Name() string
	// Node returns a node of the cluster, in JSON.
	Node(ctx context.Context, name string) ([]byte, error)
	WhatIf(ctx context.Context, q hypothesis.WhatIf) (*hypothesis.WhatIfAnswer, error)
	Fit(ctx context.Context, q hypothesis.Fit) (*hypothesis.FitAnswer, error)
	Capacity(ctx context.Context, q hypothesis.Capacity) (*capacity.Answer, error)
	Why(ctx context.Context, q why.Question) (*why.Answer, error)
	Submit(ctx context.Context, q submit.Question) (*submit.Answers, error)
	Autoscale(ctx context.Context, q autoscale.Question) (*autoscale.Answer, error)
	Drain(ctx context.Context, q drain.Question) (*drain.Answer, error)
	Deschedule(ctx context.Context, q deschedule.Question) (*deschedule.Answer, error)
}
