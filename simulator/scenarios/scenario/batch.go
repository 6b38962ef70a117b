package scenario

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

type Job struct {
	Scenario    *Scenario
	Combination Combination
	Options     RunOptions
}

func (s *Scenario) Jobs(o RunOptions) []Job {
	var out []Job
	for _, c := range s.Matrix.Combinations() {
		out = append(out, Job{s, c, o})
	}
	return out
}

type Batch struct {
	// Workers is how many run at the same time, at least one.
	Workers int
	// Gates sets feature gates, which belong to the process, and returns what unsets them.
	// Meanwhile only jobs with the same gates run.
	Gates func(map[string]bool) (restore func(), err error)
	// Done gets the result of a job by its index, from any goroutine, one at a time. It may be nil.
	Done func(i int, r *Result)
}

// Run returns the results in the order of the jobs. Those that ctx has prevented are canceled. The
// error is about gates.
func (b Batch) Run(ctx context.Context, jobs []Job) ([]*Result, error) {
	results := make([]*Result, len(jobs))
	finished := make(chan int)
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		for i := range finished {
			if b.Done != nil {
				b.Done(i, results[i])
			}
		}
	}()
	err := b.groups(jobs, func(group []int) {
		var workers errgroup.Group
		workers.SetLimit(max(1, b.Workers))
		for _, i := range group {
			workers.Go(func() error {
				results[i] = Run(ctx, jobs[i].Scenario, jobs[i].Combination, jobs[i].Options)
				finished <- i
				return nil
			})
		}
		_ = workers.Wait() // no worker returns an error
	})
	close(finished)
	<-collected
	return results, err
}

func (b Batch) groups(jobs []Job, run func(group []int)) error {
	var order []string
	groups := map[string][]int{}
	for i, job := range jobs {
		key := GatesName(job.Combination.FeatureGates)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	for _, key := range order {
		group := groups[key]
		restore, err := b.Gates(jobs[group[0]].Combination.FeatureGates)
		if err != nil {
			return fmt.Errorf("feature gates %s: %w", key, err)
		}
		run(group)
		restore()
	}
	return nil
}

// GatesName has the syntax of Kubernetes' flags, such as A=true,B=false.
func GatesName(gates map[string]bool) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		out = append(out, fmt.Sprintf("%s=%t", name, gates[name]))
	}
	return strings.Join(out, ",")
}

// Title names a run among those of its matrix, such as "default, seed 3".
func (r *Result) Title() string {
	title := fmt.Sprintf("%s, seed %d", r.Configuration, r.Seed)
	if gates := GatesName(r.FeatureGates); gates != "" {
		title += ", " + gates
	}
	if r.KubernetesVersion != "" {
		title += ", Kubernetes " + r.KubernetesVersion
	}
	return title
}
