package command

import (
	"context"
	"errors"
	"github.com/spf13/cobra"
	"os"

	"kube-scheduler-simulator/simulator/questions/ask"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// errNo is the answer no of a command with --exit-code. It has no message, because the command has
// printed the answer.
var errNo = errors.New("no")

func whatIf(with []Option) *cobra.Command {
	a := newAsking("whatif ([NAMESPACE/]NAME | -f FILE) [flags]",
		"Says where a pod would go, and why: a pod that exists, as if it were not placed yet, or one from a file. Nothing is changed.", with)
	a.decider()
	copies := a.flags.Int("copies", 0, "`number` of copies to place one after the other (default: 1, or the replicas of a workload)")
	extenders := a.flags.Bool("extenders", false, "also ask the extenders of the configuration, which are other programs")
	fit := a.flags.Bool("fit", false, "say instead which least changes make the pod fit")
	node := a.flags.String("node", "", "with --fit, the `name` of the node on which the pod is to fit (default: any)")
	limit := a.flags.Int("limit", 0, "with --fit, the `number` of suggestions (default 10)")
	return a.flags.takes(func(ctx context.Context, args []string) error {
		var err error
		if *fit {
			err = a.flags.alone("fit", "copies", "extenders", "kubernetes-version")
		} else {
			err = a.flags.without("fit", "node", "limit")
		}
		if err != nil {
			return err
		}
		return a.ask(ctx, args, func(target ask.Target, s *subject, format ask.Format) (yes bool, err error) {
			if *fit {
				answer, err := target.Fit(ctx, hypothesis.Fit{Question: s.question, Node: *node, Limit: *limit})
				if err != nil {
					return false, err
				}
				return answer.Fits, ask.PrintFit(os.Stdout, target, s.name, answer, format)
			}
			if *copies == 0 {
				*copies = s.replicas
			}
			answer, err := target.WhatIf(ctx, hypothesis.WhatIf{Question: s.question, Copies: *copies, Extenders: *extenders})
			if err != nil {
				return false, err
			}
			return answer.Fits(), ask.PrintWhatIf(os.Stdout, target, answer, format)
		})
	})
}
