package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Mistake is one mistake in a document.
type Mistake struct {
	// File is the name of the document if there are several.
	File string `json:"file,omitempty"`
	// Field is the path of the wrong part, such as
	// profiles[0].plugins.score.enabled[1].weight; empty for the whole document.
	Field string `json:"field,omitempty"`
	// Line and Column count from 1; 0 means unknown. For a field that is missing in the
	// document they are those of the nearest field around it.
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	// Reason says which kind of mistake it is, for code that acts on it.
	Reason Reason `json:"-"`
}

// Reason is the kind of a mistake.
type Reason string

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

func (m Mistake) because(r Reason) Mistake {
	m.Reason = r
	return m
}

func (m Mistake) String() string {
	var b strings.Builder
	if m.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", m.Line)
	}
	if m.Field != "" {
		b.WriteString(m.Field + ": ")
	}
	return b.String() + m.Message
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
		mistakes[i].Message = cut(mistakes[i].Message, maxMessage)
		mistakes[i].Field = cut(mistakes[i].Field, maxMessage)
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

// cut shortens a text that quotes the document.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
