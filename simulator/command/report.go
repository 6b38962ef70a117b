package command

import (
	"context"
	"errors"
	"fmt"
	"os"

	"kube-scheduler-simulator/simulator/app"
	"kube-scheduler-simulator/simulator/ask"
	"kube-scheduler-simulator/simulator/datadir"
)

// report saves a decision of a running simulator as a file.
func report(ctx context.Context, args []string) error {
	flags := newFlags("simulator report [NAMESPACE/]NAME[@ATTEMPT] [[NAMESPACE/]NAME[@ATTEMPT]] [flags]",
		"Saves a decision as one HTML file that opens in a browser without a server or a network, by default the newest attempt to schedule the pod. With a second decision, the file compares both.")
	namespace := flags.StringP("namespace", "n", "default", "`namespace` of a pod that is named without one")
	output := flags.StringP("output", "o", "", "`file` to write; - is stdout (default: NAMESPACE-NAME-ATTEMPT.html)")
	server := flags.String("server", "http://"+app.DefaultListen, "`address` of the running simulator")
	tokenFile := flags.String("token-file", "", "`file` with the token of that simulator")
	rest, done, err := flags.parseWith(args)
	if done || err != nil {
		return err
	}
	if len(rest) == 0 || len(rest) > 2 {
		return errors.New("name one decision, or two to compare, as [NAMESPACE/]NAME[@ATTEMPT] (see --help)")
	}
	decision, err := ask.ParseDecision(rest[0], *namespace)
	if err != nil {
		return err
	}
	var other *ask.Decision
	if len(rest) == 2 {
		second, err := ask.ParseDecision(rest[1], *namespace)
		if err != nil {
			return err
		}
		other = &second
	}
	token, err := app.ReadToken(*tokenFile)
	if err != nil {
		return err
	}
	client, err := ask.NewClient(*server, token)
	if err != nil {
		return err
	}
	file, of, err := client.Report(ctx, decision, other)
	if err != nil {
		return err
	}
	switch *output {
	case "-":
		_, err = os.Stdout.Write(file)
		return err
	case "":
		*output = fmt.Sprintf("%s-%s-%d.html", of.Pod.Namespace, of.Pod.Name, of.Attempt)
	}
	return datadir.WriteFile(*output, file)
}
