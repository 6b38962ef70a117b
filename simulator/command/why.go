package command

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"kube-scheduler-simulator/simulator/kubectl"
)

// whyThere is what kubectl-why is, asked of a simulator, a file or a recording as well.
func whyThere(with []Option) *cobra.Command {
	a := newAsking("why ([TYPE/]NAME... | -f FILE) [flags]",
		"Says why a pod is on its node, why it is pending, or whether it would fit, as kubectl why does. Nothing is changed. "+
			"Exit code: 0 it runs or fits, 1 it waits or does not fit, 2 it could not be told.", with)
	var outputs kubectl.Outputs
	output := a.flags.Lookup("output")
	output.Usage, output.Value = kubectl.Usage, &outputs
	node := a.flags.String("node", "", "`name` of the only node to ask about: why not there?")
	fit := a.flags.Bool("fit", false, "also print the commands that make the least changes")
	limit := a.flags.Int("limit", 0, "the `number` of changes to look for (default 10)")
	return a.flags.takes(func(ctx context.Context, args []string) error {
		code, err := a.why(ctx, args, outputs, *node, *limit, *fit)
		if err != nil {
			return &exitError{code: kubectl.CannotTell, err: err}
		}
		if code != kubectl.Yes {
			return &exitError{code: code}
		}
		return nil
	})
}

func (a *asking) why(ctx context.Context, args []string, outputs kubectl.Outputs, node string, limit int, fit bool) (code int, err error) {
	if err := outputs.Check(); err != nil {
		return 0, err
	}
	var files []string
	if a.file != "" {
		files = []string{a.file}
	}
	questions, err := kubectl.Questions(ctx, args, files, a.namespace, os.Stdin)
	if err != nil {
		return 0, err
	}
	target, err := a.target(ctx, os.Stderr)
	if err != nil {
		return 0, err
	}
	var common subject
	if err := a.complete(ctx, target, &common.question); err != nil {
		return 0, err
	}
	for i := range questions {
		q := &questions[i]
		q.Changes = append(q.Changes, common.question.Changes...)
		q.Configuration, q.Profile = common.question.Configuration, common.question.Profile
		q.Node, q.Limit = node, limit
	}
	answers, err := kubectl.AskAll(ctx, target, questions)
	if err != nil {
		return 0, err
	}
	return kubectl.Code(answers), outputs.Print(os.Stdout, answers, fit)
}
