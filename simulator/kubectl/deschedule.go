package kubectl

import (
	"context"
	"io"

	"kube-scheduler-simulator/simulator/questions/deschedule"
	"kube-scheduler-simulator/simulator/questions/why"
)

// Descheduler answers what the descheduler would do.
type Descheduler interface {
	Deschedule(ctx context.Context, q deschedule.Question) (*deschedule.Answer, error)
}

// Deschedule asks what the descheduler would do, prints the answer as text, JSON or YAML, and returns the exit code: Yes if every pod that is
// evicted finds a node again.
func Deschedule(ctx context.Context, w io.Writer, target Descheduler, q deschedule.Question, format string) (code int, err error) {
	if err := checkAnswerFormat(format); err != nil {
		return 0, err
	}
	answer, err := target.Deschedule(ctx, q)
	if err != nil {
		return 0, err
	}
	if format == "text" {
		err = deschedule.Print(w, answer)
	} else {
		err = why.WriteDocument(w, answer, format == "yaml")
	}
	if s := answer.Summary; err == nil && (s.Pending > 0 || s.Gone > 0) {
		code = No
	}
	return code, err
}
