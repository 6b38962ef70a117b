package command

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/agents"
	"kube-scheduler-simulator/simulator/host/version"
	"kube-scheduler-simulator/simulator/questions/ask"
	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/runs"
)

func serveAgents(with []Option) *cobra.Command {
	a := &asking{flags: newFlags("mcp [flags]",
		"Answers an AI agent on stdin and stdout, by the Model Context Protocol: the agent's client starts this command. No tool changes a cluster."), options: optionsOf(with)}
	a.options.Outbound.Anywhere = true
	a.sources()
	return a.flags.runs(func(ctx context.Context) error {
		options, err := a.agents(ctx)
		if err != nil {
			return err
		}
		if local, ok := options.Runs.(agents.Local); ok {
			defer func() { _ = local.Stop(context.WithoutCancel(ctx)) }()
		}
		return agents.New(options).Serve(ctx, os.Stdin, os.Stdout)
	})
}

// agents returns whom the tools ask: a running simulator, or a cluster that each call reads anew.
func (a *asking) agents(ctx context.Context) (agents.Options, error) {
	options := agents.Options{Version: version.Get().Simulator}
	target, err := a.target(ctx, os.Stderr)
	if err != nil {
		return options, err
	}
	if client, ok := target.(*ask.Client); ok {
		options.Open = func(context.Context) (agents.Cluster, error) { return client, nil }
		options.Decisions, options.Queues, options.Runs = client.Decisions, client, client
		return options, nil
	}
	options.Open = func(ctx context.Context) (agents.Cluster, error) { return a.open(ctx, io.Discard) }
	plugins, err := a.options.Registry()
	if err != nil {
		return options, err
	}
	options.Runs = agents.Local{Runs: runs.New(runs.Options{
		Engine: inmemory.Engine(plugins), Parse: a.options.ParseConfiguration, Current: defaultConfiguration, Workers: 1,
	})}
	options.Missing = "this needs a running simulator: " + target.Name() + " keeps no decisions and admits nothing; start simulator mcp with --server"
	return options, nil
}

// defaultConfiguration stands for the current one where no scheduler runs.
func defaultConfiguration() ([]byte, error) {
	c, err := config.Default()
	if err != nil {
		return nil, err
	}
	return c.YAML, nil
}
