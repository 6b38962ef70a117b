package scenario

import (
	"context"

	"kube-scheduler-simulator/scheduler/result"
)

// Runner is a run as the steps of another format see it.
type Runner interface {
	Context() context.Context
	Cluster() Cluster
	// Changed must be called after a step has changed the cluster.
	Changed()
	// Holds fails if objects of a step, with this one, are too large together.
	Holds(object any) error
	// Summaries returns the last one of each attempt so far, in the order of their first ends.
	Summaries() []result.Summary
	Measured(all ...Measurement)
	// State returns where the steps keep what they need; it is nil at first.
	State() *any
}

// NewStep returns a step of another format. what describes it, and do returns in a few words what
// it did, or an *UnmetError.
func NewStep(verb string, line int, what string, do func(Runner) (said string, err error)) *Step {
	return &Step{Verb: verb, Line: line, action: &otherStep{what, func(r *run) (string, error) { return do(r) }}}
}

type otherStep struct {
	what string
	do   func(r *run) (string, error)
}

func (s *otherStep) check(*loader)              {}
func (s *otherStep) describe() string           { return s.what }
func (s *otherStep) run(r *run) (string, error) { return s.do(r) }

func (r *run) Context() context.Context    { return r.ctx }
func (r *run) Cluster() Cluster            { return r.cluster }
func (r *run) Changed()                    { r.view = nil }
func (r *run) Summaries() []result.Summary { return r.summaries }
func (r *run) State() *any                 { return &r.state }

func (r *run) Measured(all ...Measurement) {
	r.result.Measurements = append(r.result.Measurements, all...)
}

// Measurement is a data item of scheduler_perf.
type Measurement struct {
	// Data has values by bucket: Average, Perc50, Perc90, Perc95 and Perc99, or Duration.
	Data map[string]float64 `json:"data"`
	Unit string             `json:"unit"`
	// Labels tell the measurement: Metric, Name, and those of a histogram.
	Labels map[string]string `json:"labels"`
}

// Real is a Cluster whose time is that of the machine.
type Real interface{ Real() bool }
