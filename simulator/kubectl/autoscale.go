package kubectl

import (
	"context"
	"io"

	"kube-scheduler-simulator/simulator/questions/autoscale"
	"kube-scheduler-simulator/simulator/questions/why"
)

// Autoscaler answers what an autoscaler would do.
type Autoscaler interface {
	Autoscale(ctx context.Context, q autoscale.Question) (*autoscale.Answer, error)
}

// Autoscale asks what an autoscaler would do, prints the answer as text, JSON or YAML, and returns the exit code: Yes if every pod that waits would have a node.
func Autoscale(ctx context.Context, w io.Writer, target Autoscaler, q autoscale.Question, format string) (code int, err error) {
	if err := checkAnswerFormat(format); err != nil {
		return 0, err
	}
	answer, err := target.Autoscale(ctx, q)
	if err != nil {
		return 0, err
	}
	if format == "text" {
		err = autoscale.Print(w, answer)
	} else {
		err = why.WriteDocument(w, answer, format == "yaml")
	}
	if err == nil && !answer.Helped() {
		code = No
	}
	return code, err
}
