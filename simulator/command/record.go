package command

import (
	"context"
	"errors"
	"github.com/spf13/cobra"
	"os"

	"kube-scheduler-simulator/simulator/past/capture"
)

func record() *cobra.Command {
	options := capture.Options{QPS: capture.DefaultQPS}
	flags := newFlags("record --kubeconfig FILE --output FILE [flags]",
		"Records the changes in a cluster until it is interrupted. It only reads from the cluster, and never its secrets.")
	flags.StringVar(&options.Kubeconfig, "kubeconfig", "", "kubeconfig `file` of the cluster")
	flags.StringVar(&options.Context, "context", "", "`context` of the kubeconfig (default: its current one)")
	flags.StringVar(&options.Output, "output", "", "`file` for the recording; an existing file is not overwritten")
	flags.StringSliceVar(&options.Namespaces, "namespaces", nil, "record only these `namespaces` (default: all); placements are then compared without the pods of the others")
	flags.StringVar(&options.Selector, "selector", "", "record only pods with these `labels`")
	flags.BoolVar(&options.Redact, "redact", false, "replace the names that users chose, each one consistently")
	flags.Float32Var(&options.QPS, "qps", options.QPS, "maximum `number` of requests per second")
	return flags.runs(func(ctx context.Context) error {
		switch {
		case options.Kubeconfig == "":
			return errors.New("record needs --kubeconfig (see --help)")
		case options.Output == "":
			return errors.New("record needs --output (see --help)")
		}
		return capture.Run(ctx, options, os.Stderr)
	})
}
