package runs

import (
	"context"

	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// startSweep begins the runs of a sweep in the background.
func (r *Runs) startSweep(ctx context.Context, q Request) (Entry, error) {
	if q.Against != "" {
		return Entry{}, wrong("against: a sweep compares nothing with a second configuration")
	}
	l, err := scenario.LoadSweep(ctx, []byte(q.Sweep), scenario.Options{File: "sweep", Parse: r.options.Parse, Read: r.reader(q), Bounds: bounds}, nil)
	if err != nil {
		return Entry{}, wrongFile(err)
	}
	if l.Runs() > MaxRuns {
		return Entry{}, wrong("the sweep has %d runs; the limit of this server is %d: use the command sweep for more", l.Runs(), MaxRuns)
	}
	if err := process.HasGates(l.Scenario.Matrix.FeatureGates[0]); err != nil {
		return Entry{}, wrong("%s", err)
	}
	var jobs []scenario.Job
	for i := range l.Len() {
		point, err := l.Point(i)
		if err != nil {
			return Entry{}, wrong("%s", err)
		}
		for _, seed := range l.Seeds {
			job := l.Job(point, seed, r.options.Engine)
			job.Options.KeepDecisions, job.Options.Unexplained = true, false
			jobs = append(jobs, job)
		}
	}
	return r.begin(Entry{Name: l.Name, Scenario: q.Sweep}, l, jobs, nil)
}
