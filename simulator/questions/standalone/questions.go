package standalone

import (
	"context"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/questions/autoscale"
	"kube-scheduler-simulator/simulator/questions/deschedule"
	"kube-scheduler-simulator/simulator/questions/disruption"
	"kube-scheduler-simulator/simulator/questions/drain"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/submit"
)

var _ submit.Cluster = (*Cluster)(nil)

// Queues returns what admission would know of the queues, from the objects of the moment that was read.
func (c *Cluster) Queues(ctx context.Context) (*admission.State, *submit.Configured, error) {
	return submit.StateOf(ctx, c, time.Now().UTC())
}

// Submit answers what would become of jobs. The error is as that of submit.Ask.
func (c *Cluster) Submit(ctx context.Context, q submit.Question) (*submit.Answers, error) {
	answers, err := submit.Ask(ctx, c, q)
	if err == nil {
		answers.NotJudged = append(answers.NotJudged, c.reading.later.missing(quota)...)
	}
	return answers, err
}

// Autoscale answers what an autoscaler would do. The error is as that of autoscale.Ask.
func (c *Cluster) Autoscale(ctx context.Context, q autoscale.Question) (*autoscale.Answer, error) {
	answer, err := autoscale.Ask(ctx, c, q)
	if err == nil {
		answer.NotJudged = append(answer.NotJudged, c.reading.later.missing(autoscaler)...)
	}
	return answer, err
}

// Fit answers with suggestions, and with what the autoscaler would do.
func (c *Cluster) Fit(ctx context.Context, q hypothesis.Fit) (*hypothesis.FitAnswer, error) {
	answer, err := c.Desk.Fit(ctx, q)
	autoscale.Help(ctx, c, nil, q, answer)
	return answer, err
}

// Drain answers what a drain would do. The error is as that of drain.Ask.
func (c *Cluster) Drain(ctx context.Context, q drain.Question) (*drain.Answer, error) {
	answer, err := drain.Ask(ctx, c, q)
	if err == nil {
		answer.NotJudged = append(answer.NotJudged, c.reading.later.missing(autoscaler)...)
	}
	return answer, err
}

var _ deschedule.Finisher = (*Cluster)(nil)

// Finished returns the pods that no longer run, by namespace and name.
func (c *Cluster) Finished() (pods []*v1.Pod) {
	for _, o := range c.state.finished {
		if p, is := o.(*v1.Pod); is {
			pods = append(pods, p)
		}
	}
	slices.SortFunc(pods, disruption.ComparePods)
	return pods
}

// Deschedule answers what the descheduler would do. The error is as that of deschedule.Ask.
func (c *Cluster) Deschedule(ctx context.Context, q deschedule.Question) (*deschedule.Answer, error) {
	answer, err := deschedule.Ask(ctx, c, q)
	if err == nil {
		answer.NotJudged = append(answer.NotJudged, c.reading.later.missing(autoscaler)...)
	}
	return answer, err
}
