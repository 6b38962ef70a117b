package yamlsource

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
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

// Reason is the kind of a mistake. Packages that read documents have reasons of their own.
type Reason string

// The reasons of this package.
const (
	// Syntax: the text is neither YAML nor JSON, or not in UTF-8.
	Syntax Reason = "syntax"
	// Duplicate: a mapping has a field twice.
	Duplicate Reason = "duplicate"
	// UnknownField: there is no such field.
	UnknownField Reason = "unknownField"
	// SecondDocument: a document follows where a reader wants one.
	SecondDocument Reason = "secondDocument"
	// TooLong: the text is longer than Bounds.Written.
	TooLong Reason = "tooLong"
	// TooManyValues: there may be more than Bounds.Values.
	TooManyValues Reason = "tooManyValues"
	// TooLarge: with its aliases written out it is larger than Bounds.Size, or has more values than Bounds.Values.
	TooLarge Reason = "tooLarge"
	// TooDeep: it is nested deeper than Bounds.Depth.
	TooDeep Reason = "tooDeep"
	// TooManyItems: a list or a mapping has more than Bounds.Items.
	TooManyItems Reason = "tooManyItems"
	// LongKey: a key, with those around it, is longer than Bounds.Path.
	LongKey Reason = "longKey"
	// Recursive: an anchor contains an alias of itself.
	Recursive Reason = "recursive"
	// Ended: the context has ended; nothing is wrong with the text.
	Ended Reason = "ended"
)

// Exceeds reports whether the document exceeds one of the Bounds.
func (r Reason) Exceeds() bool {
	switch r {
	case TooLong, TooManyValues, TooLarge, TooDeep, TooManyItems, LongKey, Recursive:
		return true
	}
	return false
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

// Error implements error for a *Mistake that ends the reading.
func (m *Mistake) Error() string { return m.String() }

// Unwrap returns context.Canceled if the reading ended because its context did.
func (m *Mistake) Unwrap() error {
	if m.Reason == Ended {
		return context.Canceled
	}
	return nil
}

// Errors are several mistakes.
type Errors []Mistake

func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i, m := range e {
		texts[i] = m.String()
	}
	return strings.Join(texts, "; ")
}

// Err returns e as an error, which is nil for none.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// maxMistakes is how many mistakes a reader tells.
const maxMistakes = 100

// Sorted returns mistakes in the order of the document, those of one place as they were found,
// without what is there twice; those of the first file stay first. If there are more than a
// hundred, the last one says how many.
func Sorted(all []Mistake) Errors {
	files := map[string]int{}
	for i, m := range all {
		all[i] = m.cut()
		if _, known := files[m.File]; !known {
			files[m.File] = len(files)
		}
	}
	slices.SortStableFunc(all, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(files[a.File], files[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	all = slices.Compact(all)
	if more := len(all) - (maxMistakes - 1); more > 1 {
		all = append(all[:maxMistakes-1:maxMistakes-1], Mistake{Message: fmt.Sprintf("and %d more mistakes", more)})
	}
	return all
}

// Mistakes collects the mistakes of a document: after one, its reader goes on.
type Mistakes struct {
	// File is that of the mistakes; it may be empty.
	File string
	List []Mistake
}

// maxFound is the number of mistakes after which no more are collected.
const maxFound = 1000

// Add adds a mistake at a node.
func (m *Mistakes) Add(n *yaml.Node, field, format string, args ...any) {
	m.add(n, field, "", format, args...)
}

func (m *Mistakes) add(n *yaml.Node, field string, reason Reason, format string, args ...any) {
	m.Note(Mistake{Line: n.Line, Column: n.Column, Field: field, Message: fmt.Sprintf(format, args...), Reason: reason})
}

// Note adds a mistake in the file.
func (m *Mistakes) Note(one Mistake) {
	if !m.Full() {
		one.File = m.File
		m.List = append(m.List, one.cut())
	}
}

// Full reports whether no more mistakes are collected.
func (m *Mistakes) Full() bool { return len(m.List) >= maxFound }

const (
	// maxField bounds the path in a mistake, in bytes.
	maxField = 500
	// maxMessage bounds a message, in bytes.
	maxMessage = 2000
	// maxQuoted bounds what a mistake quotes, in bytes.
	maxQuoted = 40
)

// Fields calls each for every field of a mapping, with the target of an alias, and notes those that are not in known or
// there twice. A nil known permits all.
func (m *Mistakes) Fields(n *yaml.Node, at string, known []string, each func(key, value *yaml.Node)) {
	n = Target(n)
	if n.Kind != yaml.MappingNode {
		m.Add(n, at, "want %s, not %s", anObject, Describe(n))
		return
	}
	first := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		line, twice := first[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			m.Add(key, at, "want the name of a field")
		case twice:
			m.duplicate(key, Child(at, key.Value), line)
		case known != nil && !slices.Contains(known, key.Value):
			m.add(key, Child(at, key.Value), UnknownField, "%s", unknownField(key.Value, known))
			first[key.Value] = key.Line
		default:
			first[key.Value] = key.Line
			each(key, Target(n.Content[i+1]))
		}
	}
}

// unknownField is the mistake of a field that is none of those.
func unknownField(key string, known []string) string {
	better := DidYouMean(key, known)
	if better == "" {
		better = "; the fields are " + strings.Join(known, ", ")
	}
	return fmt.Sprintf("unknown field %q%s", Cut(key, maxQuoted), better)
}

func (m *Mistakes) duplicate(key *yaml.Node, field string, line int) {
	m.add(key, field, Duplicate, "duplicate field %q; the first is on line %d", Cut(key.Value, maxQuoted), line)
}

// Items calls each for every item of a list, with the target of an alias and the item's path.
func (m *Mistakes) Items(n *yaml.Node, at string, each func(item *yaml.Node, at string)) {
	n = Target(n)
	if n.Kind != yaml.SequenceNode {
		m.Add(n, at, "want a list, not %s", Describe(n))
		return
	}
	for i, item := range n.Content {
		each(Target(item), fmt.Sprintf("%s[%d]", at, i))
	}
}

// Duplicates notes every field that a document has twice. Its aliases are not followed: what they name is looked at where
// it is.
func (m *Mistakes) Duplicates(n *yaml.Node) { m.duplicates(n, nil) }

func (m *Mistakes) duplicates(n *yaml.Node, at Path) {
	if m.Full() {
		return
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for i, item := range n.Content {
			m.duplicates(item, append(at, Step{Index: i}))
		}
	case yaml.MappingNode:
		first := make(map[string]int, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			inner := append(at, Step{Key: key.Value})
			if line, twice := first[key.Value]; twice && key.Kind == yaml.ScalarNode {
				m.duplicate(key, inner.String(), line)
			} else if key.Kind == yaml.ScalarNode {
				first[key.Value] = key.Line
			}
			m.duplicates(n.Content[i+1], inner)
		}
	}
}

func (m Mistake) cut() Mistake {
	m.Field, m.Message = Cut(m.Field, maxField), Cut(m.Message, maxMessage)
	return m
}

// WrongType notes that a node is no value of a type.
func (m *Mistakes) WrongType(n *yaml.Node, at string, t reflect.Type) {
	m.Add(n, at, "want %s, not %s", Wanted(t), Describe(n))
}

// Describe says what a node is, for messages. It quotes a text.
func Describe(n *yaml.Node) string {
	switch {
	case n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null":
		return Kind(n)
	case n.ShortTag() == "!!str":
		return fmt.Sprintf("%q", Cut(n.Value, maxQuoted))
	}
	return Cut(n.Value, maxQuoted)
}

// Kind says what a node is without quoting anything: a whole file that is but a text may be a file that is none of the reader's
// business.
func Kind(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return anObject
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.ShortTag() == "!!null":
		return "nothing"
	}
	return "a string"
}

// Cut shortens a text that a message quotes to so many bytes.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// Err returns m as an error, which is nil for nil.
func (m *Mistake) Err() error {
	if m == nil {
		return nil
	}
	return m
}
