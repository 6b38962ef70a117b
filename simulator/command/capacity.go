package command

import (
	"context"
	"github.com/spf13/cobra"
	"os"

	engine "kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/simulator/questions/ask"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

func capacity(with []Option) *cobra.Command {
	a := newAsking("capacity ([NAMESPACE/]NAME | -f FILE) [flags]",
		"Says how many more of a pod fit, where they go, what stops the next one, and what then remains. Nothing is changed.", with)
	a.decider()
	limit := a.flags.Int("limit", 0, "`number` of pods at which the count ends (default 1000)")
	wanted := a.flags.Int("for", 1, "`number` of pods that are wanted: --nodes-like counts the nodes for them, and --exit-code compares with it")
	like := a.flags.String("nodes-like", "", "also say how many nodes like this `node` make room for the pods of --for")
	return a.flags.takes(func(ctx context.Context, args []string) error {
		return a.ask(ctx, args, func(target ask.Target, s *subject, format ask.Format) (yes bool, err error) {
			q := hypothesis.Capacity{Question: s.question, Limit: *limit}
			if *like != "" {
				q.NodesNeeded = &engine.NodesNeeded{Like: *like, For: *wanted}
			}
			answer, err := target.Capacity(ctx, q)
			if err != nil {
				return false, err
			}
			return answer.Fits >= *wanted, ask.PrintCapacity(os.Stdout, target, s.name, answer, format)
		})
	})
}
