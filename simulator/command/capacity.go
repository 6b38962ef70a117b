package command

import (
	"context"
	"os"

	engine "kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/simulator/questions/ask"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

func capacity(ctx context.Context, args []string, with []Option) error {
	a := newAsking("simulator capacity ([NAMESPACE/]NAME | -f FILE) [flags]",
		"Says how many more of a pod fit, where they go, what stops the next one, and what then remains. Nothing is changed.", with)
	limit := a.flags.Int("limit", 0, "`number` of pods at which the count ends (default 1000)")
	wanted := a.flags.Int("for", 1, "`number` of pods that are wanted: --nodes-like counts the nodes for them, and --exit-code compares with it")
	like := a.flags.String("nodes-like", "", "also say how many nodes like this `node` make room for the pods of --for")
	rest, done, err := a.flags.parseWith(args)
	if done || err != nil {
		return err
	}
	return a.ask(ctx, rest, func(target ask.Target, s *subject, format ask.Format) (yes bool, err error) {
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
}
