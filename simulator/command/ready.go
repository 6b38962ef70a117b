package command

import (
	"context"
	"github.com/spf13/cobra"

	"kube-scheduler-simulator/simulator/app"
	"kube-scheduler-simulator/simulator/questions/ask"
)

// ready is for probes of a container, which cannot send the token.
func ready() *cobra.Command {
	flags := newFlags("ready [flags]", "Exits with code 0 if a running simulator schedules, and with code 1 otherwise.")
	server := flags.String("server", "http://"+app.DefaultListen, "`address` of the running simulator")
	tokenFile := flags.String("token-file", "", "`file` with the token of that simulator")
	alive := flags.Bool("alive", false, "ask only whether it answers, and not whether it schedules")
	return flags.runs(func(ctx context.Context) error {
		token, err := app.ReadToken(*tokenFile)
		if err != nil {
			return err
		}
		client, err := ask.NewClient(*server, token)
		if err != nil {
			return err
		}
		return client.Ready(ctx, *alive)
	})
}
