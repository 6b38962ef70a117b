package hypothesis

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kube-scheduler-simulator/scheduler/config"
)

type Refused struct {
	Message string
	// Mistakes name the wrong fields by their paths in the question, such as
	// changes[1].apply.spec.taints[0].effect. There is at least one.
	Mistakes []config.Mistake
}

func (e *Refused) Error() string { return e.Message }

func refuse(field, format string, args ...any) *Refused {
	message := fmt.Sprintf(format, args...)
	return &Refused{Message: field + ": " + message, Mistakes: []config.Mistake{{Field: field, Message: message}}}
}

// RefusedConfiguration moves the mistakes of a configuration, in a *config.Error, into the question
// that has it as its field configuration. It returns other errors as they are.
func RefusedConfiguration(err error) error {
	bad, ok := errors.AsType[*config.Error](err)
	if !ok {
		return err
	}
	refused := &Refused{Message: bad.Error()}
	for _, m := range bad.Mistakes {
		m.Field = within("configuration", m.Field)
		refused.Mistakes = append(refused.Mistakes, m)
	}
	return refused
}

// refusedBy turns an answer of the API server into a refusal. The errors of a server that cannot
// answer now, and of no server, stay as they are. shown replaces the stand-in's name in messages;
// see standIn.
func refusedBy(err error, field string, shown standIn) error {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return err
	}
	answer := status.Status()
	if answer.Code < http.StatusBadRequest || answer.Code >= http.StatusInternalServerError || apierrors.IsTooManyRequests(err) || apierrors.IsConflict(err) {
		return err
	}
	message := shown.undo(answer.Message)
	refused := &Refused{Message: field + ": " + message}
	if answer.Details != nil {
		for _, cause := range answer.Details.Causes {
			refused.Mistakes = append(refused.Mistakes, config.Mistake{Field: within(field, cause.Field), Message: shown.undo(cause.Message)})
		}
	}
	if len(refused.Mistakes) == 0 {
		refused.Mistakes = []config.Mistake{{Field: field, Message: message}}
	}
	return refused
}

// within joins two paths.
func within(outer, inner string) string {
	switch {
	case inner == "" || inner == "<nil>": // a field error about the whole object
		return outer
	case strings.HasPrefix(inner, "["):
		return outer + inner
	}
	return outer + "." + inner
}

// A dry run judges an object whose own name is taken under the name of a standIn.
type standIn struct{ name, inPlaceOf string }

func (s standIn) undo(message string) string {
	if s.name == "" {
		return message
	}
	return strings.ReplaceAll(message, s.name, s.inPlaceOf)
}
