package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Mistake is one thing that is wrong with a document.
type Mistake struct {
	// Field is the path of what is wrong, such as
	// profiles[0].plugins.score.enabled[1].weight; empty for the document.
	Field string `json:"field,omitempty"`
	// Line and Column count from 1; 0 where they are not known. When the field
	// is not in the document they are those of the nearest field around it.
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

// Error says what is wrong with a document.
type Error struct {
	// Mistakes are in the order of the document, at least one and no more than
	// a hundred; when there are more, the last one says how many were found.
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
	// maxFound is where a search for mistakes ends.
	maxFound = 1000
)

// newError puts the mistakes, at least one, in order.
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

// cut bounds a text that quotes the document.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
