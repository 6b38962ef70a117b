package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"kube-scheduler-simulator/simulator/kubectl"
	"kube-scheduler-simulator/simulator/questions/deschedule"
)

// maxPolicy bounds a policy file, in bytes.
const maxPolicy = 1 << 20

// descheduleNodes asks what the descheduler would do. It evicts nothing.
func descheduleNodes(with []Option) *cobra.Command {
	a := &asking{flags: newFlags("deschedule --dry-run --policy FILE [flags]",
		"Says what the descheduler would do with a policy: which pods its plugins evict and in which order, who refuses an eviction, where each replacement lands or why it stays pending, and what its own dry run would say. "+
			"Each eviction is carried out on a copy before the next is decided, and nothing is evicted. "+
			"Exit code: 0 every evicted pod finds a node again, 1 not so, 2 it could not be told."), options: optionsOf(with)}
	a.options.Outbound.Anywhere = true
	f := a.flags
	dryRun := f.Bool("dry-run", false, "ask, and evict nothing; required")
	policy := f.String("policy", "", "`file` with a DeschedulerPolicy of descheduler/v1alpha2, or - for standard input; required")
	var q deschedule.Question
	f.IntVar(&q.Rounds, "rounds", 1, "the `number` of times that the descheduler runs")
	interval := f.Duration("interval", deschedule.DefaultInterval*time.Second, "the `duration` between two rounds")
	start := f.Duration("start", deschedule.DefaultStart*time.Second, "how long a `duration` pods take from their node to being ready")
	stop := f.Duration("stop", deschedule.DefaultStop*time.Second, "how long a `duration` evicted pods take to go")
	output := f.StringP("output", "o", "text", "`format`: text, json or yaml")
	a.sources()
	return f.takes(func(ctx context.Context, args []string) error {
		if len(args) > 0 {
			return &exitError{code: kubectl.CannotTell, err: fmt.Errorf("deschedule takes no argument, and got %q; --policy names the file", args[0])}
		}
		q.IntervalSeconds, q.StartSeconds, q.StopSeconds = int(interval.Seconds()), int(start.Seconds()), int(stop.Seconds())
		code, err := a.deschedule(ctx, *dryRun, *policy, q, *output)
		if err != nil {
			return &exitError{code: kubectl.CannotTell, err: err}
		}
		if code != kubectl.Yes {
			return &exitError{code: code}
		}
		return nil
	})
}

func (a *asking) deschedule(ctx context.Context, dryRun bool, policy string, q deschedule.Question, output string) (code int, err error) {
	if !dryRun {
		return 0, errors.New("this only asks, with --dry-run; the descheduler evicts")
	}
	if policy == "" {
		return 0, errors.New("--policy names the file with the DeschedulerPolicy")
	}
	text, err := readPolicy(policy)
	if err != nil {
		return 0, fmt.Errorf("reading the policy: %w", err)
	}
	q.Policy = string(text)
	target, err := a.target(ctx, os.Stderr)
	if err != nil {
		return 0, err
	}
	return kubectl.Deschedule(ctx, os.Stdout, target, q, output)
}

func readPolicy(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(os.Stdin, maxPolicy))
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxPolicy))
}
