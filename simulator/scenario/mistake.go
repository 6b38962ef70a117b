package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Mistake is one mistake in a scenario, or in a file that it names.
type Mistake struct {
	// File is the name of the file as the scenario or the command line has it.
	File string `json:"file,omitempty"`
	// Line and Column count from 1; 0 means unknown.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Field is the path of the wrong part, such as steps[2].create.count.
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

func (m Mistake) String() string {
	var b strings.Builder
	if m.File != "" {
		b.WriteString(m.File)
		if m.Line > 0 {
			fmt.Fprintf(&b, ":%d", m.Line)
		}
		b.WriteString(": ")
	} else if m.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", m.Line)
	}
	if m.Field != "" {
		b.WriteString(m.Field + ": ")
	}
	return b.String() + m.Message
}

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
