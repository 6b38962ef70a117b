package kubectl

import (
	"context"
	"fmt"
	"io"

	"kube-scheduler-simulator/simulator/questions/drain"
	"kube-scheduler-simulator/simulator/questions/why"
)

// Drainer answers what a drain would do.
type Drainer interface {
	Drain(ctx context.Context, q drain.Question) (*drain.Answer, error)
}

// Drain asks what a drain would do, prints the answer as text, JSON or YAML, and returns the exit code: Yes if all nodes become empty and no
// pod stays pending.
func Drain(ctx context.Context, w io.Writer, target Drainer, q drain.Question, format string) (code int, err error) {
	if err := checkAnswerFormat(format); err != nil {
		return 0, err
	}
	answer, err := target.Drain(ctx, q)
	if err != nil {
		return 0, err
	}
	if format == "text" {
		err = drain.Print(w, answer)
	} else {
		err = why.WriteDocument(w, answer, format == "yaml")
	}
	if s := answer.Summary; err == nil && (s.Empty < s.Nodes || s.Pending > 0) {
		code = No
	}
	return code, err
}

// checkAnswerFormat returns an error for a format that answers do not have.
func checkAnswerFormat(format string) error {
	switch format {
	case "text", "json", "yaml":
		return nil
	}
	return fmt.Errorf("--output must be text, json or yaml, not %q", format)
}
