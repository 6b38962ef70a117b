package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// Mistake is one mistake in a document.
type Mistake = yamlsource.Mistake

// Reason is the kind of a mistake.
type Reason = yamlsource.Reason

const (
	// OtherMistake is every mistake that no other reason names.
	OtherMistake Reason = ""
	// UnknownField: the configuration API has no such field.
	UnknownField Reason = "unknownField"
	// UnknownPlugin: there is no plugin of that name.
	UnknownPlugin Reason = "unknownPlugin"
	// RemovedPlugin: Kubernetes had a plugin of that name and has removed it.
	RemovedPlugin Reason = "removedPlugin"
	// WrongExtensionPoint: the plugin does not run at that extension point.
	WrongExtensionPoint Reason = "wrongExtensionPoint"
)

func because(m Mistake, r Reason) Mistake {
	m.Reason = r
	return m
}

// Error holds the mistakes in a document.
type Error struct {
	// Mistakes are in the order of the document, at least one and at most a hundred. If there
	// are more, the last one says how many.
	Mistakes []Mistake
}

func (e *Error) Error() string {
	texts := make([]string, len(e.Mistakes))
	for i, m := range e.Mistakes {
		texts[i] = m.String()
	}
	return "the scheduler configuration is not valid: " + strings.Join(texts, "; ")
}

const (
	maxMistakes = 100
	maxMessage  = 500
	// maxFound is the number of mistakes after which the search ends.
	maxFound = 1000
)

// newError sorts the mistakes, of which there is at least one.
func newError(mistakes []Mistake) *Error {
	for i := range mistakes {
		mistakes[i].Message = yamlsource.Cut(mistakes[i].Message, maxMessage)
		mistakes[i].Field = yamlsource.Cut(mistakes[i].Field, maxMessage)
	}
	slices.SortStableFunc(mistakes, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			strings.Compare(a.Field, b.Field), strings.Compare(a.Message, b.Message))
	})
	mistakes = slices.Compact(mistakes)
	if more := len(mistakes) - (maxMistakes - 1); more > 1 {
		mistakes = append(mistakes[:maxMistakes-1:maxMistakes-1], Mistake{Message: fmt.Sprintf("and %d more mistakes", more)})
	}
	return &Error{Mistakes: mistakes}
}
