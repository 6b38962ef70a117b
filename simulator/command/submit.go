package command

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"kube-scheduler-simulator/simulator/kubectl"
	"kube-scheduler-simulator/simulator/questions/ask"
	"kube-scheduler-simulator/simulator/questions/submit"
)

// submitJobs asks what would become of jobs. It submits nothing.
func submitJobs(with []Option) *cobra.Command {
	a := &asking{flags: newFlags("submit --dry-run -f FILE... [flags]",
		"Says what would become of jobs before they are submitted: whether a queue of Kueue would admit each, why not and when it would start, and whether its pods would find nodes. Nothing is submitted or changed. "+
			"Exit code: 0 every job would start at once, 1 one would not, 2 it could not be told."), options: optionsOf(with)}
	a.options.Outbound.Anywhere = true
	f := a.flags
	dryRun := f.Bool("dry-run", false, "ask, and submit nothing; required")
	files := f.StringSliceP("filename", "f", nil, "`file` with jobs, in the order in which they are submitted; - is stdin. May be repeated")
	f.StringVarP(&a.namespace, "namespace", "n", "default", "`namespace` of objects that name none")
	output := f.StringP("output", "o", "text", "`format`: text, json, yaml or junit")
	runs := f.Int("runs", 0, "the `number` of times that the queues are run forward at most (default 200)")
	a.sources()
	return f.runs(func(ctx context.Context) error {
		code, err := a.submit(ctx, *dryRun, *files, *output, *runs)
		if err != nil {
			return &exitError{code: kubectl.CannotTell, err: err}
		}
		if code != kubectl.Yes {
			return &exitError{code: code}
		}
		return nil
	})
}

func (a *asking) submit(ctx context.Context, dryRun bool, files []string, output string, runs int) (code int, err error) {
	switch {
	case !dryRun:
		return 0, errors.New("this only asks, with --dry-run; kubectl create -f submits a job")
	case len(files) == 0:
		return 0, errors.New("name files with jobs with -f (see --help)")
	}
	if err := kubectl.CheckSubmitFormat(output); err != nil {
		return 0, err
	}
	q := submit.Question{Namespace: a.namespace, Runs: runs}
	for _, file := range files {
		documents, err := ask.ReadDocuments(ctx, file, os.Stdin)
		if err != nil {
			return 0, err
		}
		q.Objects = append(q.Objects, documents...)
	}
	target, err := a.target(ctx, os.Stderr)
	if err != nil {
		return 0, err
	}
	return kubectl.Submit(ctx, os.Stdout, target, q, output)
}
