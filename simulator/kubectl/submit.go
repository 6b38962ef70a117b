package kubectl

import (
	"context"
	"fmt"
	"io"

	"kube-scheduler-simulator/simulator/questions/ask"
	"kube-scheduler-simulator/simulator/questions/report"
	"kube-scheduler-simulator/simulator/questions/submit"
)

// Submitter answers what would become of jobs.
type Submitter interface {
	Submit(ctx context.Context, q submit.Question) (*submit.Answers, error)
}

// CheckSubmitFormat returns an error for a format that Submit does not have.
func CheckSubmitFormat(format string) error {
	switch format {
	case "text", "json", "yaml", "junit":
		return nil
	}
	return fmt.Errorf("--output must be text, json, yaml or junit, not %q", format)
}

// Submit asks what would become of jobs, prints the answer, and returns the exit code: Yes if every job would start at once.
func Submit(ctx context.Context, w io.Writer, target Submitter, q submit.Question, format string) (code int, err error) {
	answers, err := target.Submit(ctx, q)
	if err != nil {
		return 0, err
	}
	switch format {
	case "text":
		err = submit.Print(w, answers)
	case "junit":
		err = report.SubmitJUnit(w, answers)
	default:
		err = submit.Encode(w, answers, format == "yaml")
	}
	if err == nil && !answers.Starts() {
		code = No
	}
	return code, err
}

// runSubmit asks about the files before their jobs are submitted.
func (c *command) runSubmit(ctx context.Context, args []string, namespace string) error {
	if len(args) > 0 || len(c.files) == 0 {
		return fmt.Errorf("--submit asks about files: name them with -f")
	}
	format, err := c.outputs.stdout()
	if err == nil {
		err = CheckSubmitFormat(format)
	}
	if err != nil {
		return err
	}
	q := submit.Question{Namespace: namespace}
	for _, file := range c.files {
		documents, err := ask.ReadDocuments(ctx, file, c.in)
		if err != nil {
			return err
		}
		q.Objects = append(q.Objects, documents...)
	}
	cluster, err := c.open(ctx)
	if err != nil {
		return err
	}
	code, err := Submit(ctx, c.out, cluster, q, format)
	if err != nil {
		return err
	}
	return exit(code)
}
