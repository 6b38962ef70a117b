package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// Mistake is one mistake in a scenario, or in a file that it names. File is the name as the scenario or the command line has it.
type Mistake = yamlsource.Mistake

// Error holds the mistakes of a scenario, at least one and at most maxMistakes. It says that
// the file is wrong, and not that a run failed.
type Error struct{ Mistakes []Mistake }

func (e *Error) Error() string {
	texts := make([]string, len(e.Mistakes))
	for i, m := range e.Mistakes {
		texts[i] = m.String()
	}
	return strings.Join(texts, "\n")
}

const maxMistakes = 100

// newError sorts the mistakes, of which there is at least one. Those of the first file stay first.
func newError(mistakes []Mistake) *Error {
	order := map[string]int{}
	for _, m := range mistakes {
		if _, known := order[m.File]; !known {
			order[m.File] = len(order)
		}
	}
	slices.SortStableFunc(mistakes, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	mistakes = slices.Compact(mistakes)
	if more := len(mistakes) - (maxMistakes - 1); more > 1 {
		mistakes = append(mistakes[:maxMistakes-1:maxMistakes-1], Mistake{Message: fmt.Sprintf("and %d more mistakes", more)})
	}
	return &Error{mistakes}
}
