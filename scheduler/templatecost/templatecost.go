// Package templatecost bounds what a Go template takes: the text that it makes, the steps of its loops, and the texts that its functions
// make on the way. It ends with a context.
//
// It may import nothing of the simulator.
package templatecost

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"text/template"
	"text/template/parse"
)

const (
	// MaxText bounds the text that a template makes, and each text that a function makes, in bytes.
	MaxText = 1 << 20
	// MaxSteps bounds the rounds of loops, and the calls of templates.
	MaxSteps = 20_000
	// maxWidth bounds the width and the precision of a number.
	maxWidth = 99
)

// LimitError means that a template would take too much.
type LimitError struct{ Message string }

func (e *LimitError) Error() string { return e.Message }

// stepName is the function that counts steps. Templates cannot shadow it, because Parse refuses its name.
const stepName = "templatecost_step"

// Template is a parsed template. It is safe for concurrent use.
type Template struct{ parsed *template.Template }

// Parse parses a template.
func Parse(name, text string, functions template.FuncMap) (*Template, error) {
	if strings.Contains(text, stepName) {
		return nil, fmt.Errorf("there is no function %s", stepName)
	}
	t, err := template.New(name).Funcs(template.FuncMap{
		stepName: func() (string, error) { return "", nil },
		"print":  func(args ...any) (string, error) { return printed("", false, args, fmt.Sprint) },
		"println": func(args ...any) (string, error) {
			return printed("", false, args, fmt.Sprintln)
		},
		"printf": func(format string, args ...any) (string, error) {
			return printed(format, true, args, func(args ...any) string { return fmt.Sprintf(format, args...) })
		},
	}).Funcs(functions).Parse(text)
	if err != nil {
		return nil, err
	}
	step, err := template.New("").Funcs(template.FuncMap{stepName: func() (string, error) { return "", nil }}).Parse("{{" + stepName + "}}")
	if err != nil {
		return nil, err
	}
	for _, one := range t.Templates() {
		if one.Tree != nil && one.Tree.Root != nil {
			count(one.Tree.Root, step.Root.Nodes[0])
			one.Tree.Root.Nodes = append([]parse.Node{step.Root.Nodes[0].Copy()}, one.Tree.Root.Nodes...)
		}
	}
	return &Template{t}, nil
}

// count adds a step to the begin of every loop in n.
func count(n parse.Node, step parse.Node) {
	branch := func(b *parse.BranchNode, loop bool) {
		for _, list := range []*parse.ListNode{b.List, b.ElseList} {
			if list != nil {
				count(list, step)
			}
		}
		if loop && b.List != nil {
			b.List.Nodes = append([]parse.Node{step.Copy()}, b.List.Nodes...)
		}
	}
	switch n := n.(type) {
	case *parse.ListNode:
		for _, inner := range n.Nodes {
			count(inner, step)
		}
	case *parse.RangeNode:
		branch(&n.BranchNode, true)
	case *parse.IfNode:
		branch(&n.BranchNode, false)
	case *parse.WithNode:
		branch(&n.BranchNode, false)
	}
}

// Execute returns what the template makes of the data. The error is a *LimitError, or one of the template, within another error.
func (t *Template) Execute(ctx context.Context, data any) ([]byte, error) {
	run, err := t.parsed.Clone()
	if err != nil {
		return nil, err
	}
	steps := 0
	run.Funcs(template.FuncMap{stepName: func() (string, error) {
		if steps++; steps > MaxSteps {
			return "", &LimitError{fmt.Sprintf("it takes more than %d steps, the limit", MaxSteps)}
		}
		return "", context.Cause(ctx)
	}})
	out := &bounded{ctx: ctx}
	if err := run.Execute(out, data); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// bounded is the text of a template.
type bounded struct {
	bytes.Buffer
	ctx context.Context
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > MaxText {
		return 0, &LimitError{fmt.Sprintf("it makes a text of more than %d kB, the limit", MaxText>>10)}
	}
	if err := b.ctx.Err(); err != nil {
		return 0, context.Cause(b.ctx)
	}
	return b.Buffer.Write(p)
}

// printed checks what a print function is given before it prints it.
func printed(format string, formatted bool, args []any, with func(...any) string) (string, error) {
	if formatted && wide(format, args) {
		return "", &LimitError{fmt.Sprintf("it prints something with more than %d characters of width or precision, the limit", maxWidth)}
	}
	size := len(format)
	for _, arg := range args {
		if s, ok := arg.(string); ok {
			size += len(s) * max(1, strings.Count(format, "%["))
		}
	}
	if size > MaxText {
		return "", &LimitError{fmt.Sprintf("it makes a text of more than %d kB, the limit", MaxText>>10)}
	}
	out := with(args...)
	if len(out) > MaxText {
		return "", &LimitError{fmt.Sprintf("it makes a text of more than %d kB, the limit", MaxText>>10)}
	}
	return out, nil
}

// wide reports whether a format has a width or a precision that is too large, or that an argument says.
func wide(format string, _ []any) bool {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		number := 0
		for i++; i < len(format) && strings.IndexByte("+-# 0123456789.[]*", format[i]) >= 0; i++ {
			switch c := format[i]; {
			case c == '*':
				return true
			case c >= '0' && c <= '9':
				if number = 10*number + int(c-'0'); number > maxWidth {
					return true
				}
			default:
				number = 0
			}
		}
	}
	return false
}
