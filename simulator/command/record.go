package command

import (
	"context"
	"errors"
	"os"

	"kube-scheduler-simulator/simulator/app"
)

func record(ctx context.Context, args []string) error {
	options := app.RecordOptions{QPS: app.DefaultRecordQPS}
	flags := newFlags("simulator record --kubeconfig FILE --output FILE [flags]",
		"Records what happens in a cluster, until it is interrupted. The cluster is only read, and never its secrets.")
	flags.StringVar(&options.Kubeconfig, "kubeconfig", "", "`file` that reaches the cluster")
	flags.StringVar(&options.Context, "context", "", "`context` of the kubeconfig (default: its current one)")
	flags.StringVar(&options.Output, "output", "", "`file` for the recording; one that exists is not written over")
	flags.StringSliceVar(&options.Namespaces, "namespaces", nil, "only these `namespaces` (default: all); a placement is then compared without the pods of the others")
	flags.StringVar(&options.Selector, "selector", "", "only pods with these `labels`")
	flags.BoolVar(&options.Redact, "redact", false, "replace the names that people have given by others, each by the same one throughout")
	flags.Float32Var(&options.QPS, "qps", options.QPS, "`number` of requests per second at most")
	if done, err := flags.parse(args); done || err != nil {
		return err
	}
	switch {
	case options.Kubeconfig == "":
		return errors.New("record needs --kubeconfig (see --help)")
	case options.Output == "":
		return errors.New("record needs --output (see --help)")
	}
	return app.Record(ctx, options, os.Stderr)
}
