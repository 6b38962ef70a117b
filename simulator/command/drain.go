package command

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"kube-scheduler-simulator/simulator/kubectl"
	"kube-scheduler-simulator/simulator/questions/drain"
)

// drainNodes asks what kubectl drain would do. It evicts nothing. The flags that kubectl has are kubectl's.
func drainNodes(with []Option) *cobra.Command {
	a := &asking{flags: newFlags("drain --dry-run NODE... [flags]",
		"Says what kubectl drain would do: which evictions a PodDisruptionBudget delays and until when, where each replacement lands, which pods stay pending and why, and which nodes never become empty. It is played in virtual time, and nothing is evicted. "+
			"Exit code: 0 all nodes become empty and no pod stays pending, 1 not so, 2 it could not be told."), options: optionsOf(with)}
	a.options.Outbound.Anywhere = true
	f := a.flags
	dryRun := f.Bool("dry-run", false, "ask, and evict nothing; required")
	var q drain.Question
	f.StringVarP(&q.Selector, "selector", "l", "", "drain the nodes that this label `selector` selects, by name")
	f.IntVar(&q.Dearest, "dearest", 0, "find up to this `number` of the dearest nodes that can be emptied such that every pod finds a node again")
	f.StringVar(&q.PodSelector, "pod-selector", "", "evict only the pods that this label `selector` selects")
	f.BoolVar(&q.IgnoreDaemonSets, "ignore-daemonsets", false, "leave pods of DaemonSets on the node")
	f.BoolVar(&q.DeleteEmptyDirData, "delete-emptydir-data", false, "also evict pods with an emptyDir, whose data are then lost")
	f.BoolVar(&q.Force, "force", false, "also evict pods that no controller creates again")
	timeout := f.Duration("timeout", 0, "`duration` after which to give up a node, as 2m (default: never)")
	f.IntVar(&q.AtOnce, "at-once", 1, "the `number` of nodes to drain at a time")
	start := f.Duration("start", drain.DefaultStart*time.Second, "how long a `duration` pods take from their node to being ready")
	stop := f.Duration("stop", drain.DefaultStop*time.Second, "how long a `duration` evicted pods take to go")
	output := f.StringP("output", "o", "text", "`format`: text, json or yaml")
	a.sources()
	return f.takes(func(ctx context.Context, args []string) error {
		q.Nodes = args
		q.TimeoutSeconds, q.StartSeconds, q.StopSeconds = int(timeout.Seconds()), int(start.Seconds()), int(stop.Seconds())
		code, err := a.drain(ctx, *dryRun, q, *output)
		if err != nil {
			return &exitError{code: kubectl.CannotTell, err: err}
		}
		if code != kubectl.Yes {
			return &exitError{code: code}
		}
		return nil
	})
}

func (a *asking) drain(ctx context.Context, dryRun bool, q drain.Question, output string) (code int, err error) {
	if !dryRun {
		return 0, errors.New("this only asks, with --dry-run; kubectl drain evicts")
	}
	target, err := a.target(ctx, os.Stderr)
	if err != nil {
		return 0, err
	}
	return kubectl.Drain(ctx, os.Stdout, target, q, output)
}
