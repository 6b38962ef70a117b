package command

import (
	"context"
	"errors"
	"os"

	"kube-scheduler-simulator/simulator/ask"
	"kube-scheduler-simulator/simulator/hypothesis"
)

// errNo is the answer no of a command with --exit-code. It has no message, because the answer was printed.
var errNo = errors.New("no")

func whatIf(ctx context.Context, args []string, with []Option) error {
	a := newAsking("simulator whatif ([NAMESPACE/]NAME | -f FILE) [flags]",
		"Says where a pod would go, and why: a pod that exists, as if it were not placed yet, or one from a file. Nothing is changed.", with)
	copies := a.flags.Int("copies", 0, "`number` of copies to place one after the other (default: 1, or the replicas of a workload)")
	extenders := a.flags.Bool("extenders", false, "also ask the extenders of the configuration, which are other programs")
	rest, done, err := a.flags.parseWith(args)
	if done || err != nil {
		return err
	}
	format, err := ask.ParseFormat(a.output)
	if err != nil {
		return err
	}
	target, err := a.target(ctx, os.Stderr)
	if err != nil {
		return err
	}
	q, replicas, err := a.question(ctx, target, rest)
	if err != nil {
		return err
	}
	if *copies == 0 {
		*copies = replicas
	}
	answer, err := target.WhatIf(ctx, hypothesis.WhatIf{Question: q, Copies: *copies, Extenders: *extenders})
	if err != nil {
		return err
	}
	return a.decide(ask.PrintWhatIf(os.Stdout, target, answer, format), answer.Fits())
}

// decide turns the answer no into an exit code on request.
func (a *asking) decide(err error, yes bool) error {
	if err == nil && a.exitCode && !yes {
		return errNo
	}
	return err
}
