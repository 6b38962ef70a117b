package scenario

import (
	"strings"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// Mistake is one mistake in a scenario, or in a file that it names. File is the name as the
// scenario or the command line has it.
type Mistake = yamlsource.Mistake

// Error holds the mistakes of a scenario, at least one and at most a hundred. It says that
// the file is wrong, and not that a run failed.
type Error struct{ Mistakes []Mistake }

func (e *Error) Error() string {
	texts := make([]string, len(e.Mistakes))
	for i, m := range e.Mistakes {
		texts[i] = m.String()
	}
	return strings.Join(texts, "\n")
}

func newError(mistakes []Mistake) *Error { return &Error{yamlsource.Sorted(mistakes)} }
