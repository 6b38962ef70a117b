// Package templatecost bounds what a Go template takes: the text that it makes, the steps of its loops, and the values that its
// functions take and return. It ends with a context.
//
// It may import nothing of the simulator.
package templatecost

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

const (
	// MaxText bounds the text that a template makes, and each value that a function takes or returns, in bytes.
	MaxText = 1 << 20
	// MaxSteps bounds what a template evaluates: words, with those of a loop in each round, and of a template at each call.
	MaxSteps = 200_000
	// maxTemplate bounds the text of a template, in bytes: to read and to execute it takes a stack that is as deep as it nests.
	maxTemplate = 64 << 10
	// maxMoved bounds what all calls of functions take and return together, in bytes.
	maxMoved = 8 << 20
	// maxWidth bounds the width and the precision of a number.
	maxWidth = 99
)

// LimitError means that a template would take too much.
type LimitError struct{ Message string }

func (e *LimitError) Error() string { return e.Message }

func tooLong() error {
	return &LimitError{fmt.Sprintf("it makes a text of more than %d kB, the limit", MaxText>>10)}
}

// Templates cannot shadow the functions that count steps and charge values, because Parse refuses their prefix.
const (
	ownPrefix  = "templatecost_"
	stepName   = ownPrefix + "step"
	chargeName = ownPrefix + "charge"
)

// reading are the functions of text/template that read texts as long as they are, by the first argument that they read so.
var reading = map[string]int{"eq": 1, "ne": 1, "lt": 1, "le": 1, "gt": 1, "ge": 1, "index": 2}

// Prices say of functions what a call makes, or compares, besides what it takes and returns: a number of bytes that is never
// too low. It is charged before the call.
type Prices map[string]func(args []any) int

// builtin replace the functions of text/template that make texts.
var builtin = template.FuncMap{
	"print": fmt.Sprint, "println": fmt.Sprintln, "html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper,
	"printf": func(format string, args ...any) (string, error) {
		if wide(format) {
			return "", &LimitError{fmt.Sprintf("it prints something with more than %d characters of width or precision, the limit", maxWidth)}
		}
		return fmt.Sprintf(format, args...), nil
	},
}

// printfPrice is for a format that prints one argument often.
func printfPrice(args []any) int {
	longest := 0
	for _, arg := range args[1:] {
		longest = max(longest, Size(arg))
	}
	return longest * strings.Count(args[0].(string), "%[")
}

// Template is a parsed template. It is safe for concurrent use.
type Template struct {
	parsed *template.Template
	// called are the functions that it calls, but for those of text/template that make nothing.
	called template.FuncMap
	prices Prices
}

// Parse parses a template. A function makes at most a few times what it takes, or has a price. None may change what it takes.
func Parse(name, text string, functions template.FuncMap, prices Prices) (*Template, error) {
	if strings.Contains(text, ownPrefix) {
		return nil, fmt.Errorf("there is no function %s", ownPrefix)
	}
	if len(text) > maxTemplate {
		return nil, &LimitError{fmt.Sprintf("it has %d bytes; the limit for a template is %d kB", len(text), maxTemplate>>10)}
	}
	all := maps.Clone(builtin)
	maps.Copy(all, functions)
	own := template.FuncMap{stepName: func(int) (string, error) { return "", nil }, chargeName: func(v any) (any, error) { return v, nil }}
	t, err := template.New(name).Funcs(own).Funcs(all).Parse(text)
	if err != nil {
		return nil, err
	}
	action := func(format string, args ...any) *parse.ActionNode {
		return template.Must(template.New("").Funcs(own).Parse("{{" + fmt.Sprintf(format, args...) + "}}")).Root.Nodes[0].(*parse.ActionNode)
	}
	count := func(list *parse.ListNode) {
		steps := 0
		visit(list, func(parse.Node) { steps++ })
		list.Nodes = slices.Insert(list.Nodes, 0, parse.Node(action("%s %d", stepName, steps)))
	}
	parsed := &Template{parsed: t, called: template.FuncMap{}, prices: Prices{"printf": printfPrice}}
	maps.Copy(parsed.prices, prices)
	for _, one := range t.Templates() {
		if one.Tree == nil || one.Tree.Root == nil {
			continue
		}
		visit(one.Tree.Root, func(n parse.Node) {
			switch n := n.(type) {
			case *parse.IdentifierNode:
				if f, ok := all[n.Ident]; ok {
					parsed.called[n.Ident] = f
				}
			case *parse.RangeNode:
				count(n.List)
			case *parse.PipeNode:
				var commands []*parse.CommandNode
				for i, c := range n.Cmds {
					called, _ := c.Args[0].(*parse.IdentifierNode)
					if called == nil || reading[called.Ident] == 0 || all[called.Ident] != nil {
						commands = append(commands, c)
						continue
					}
					for at := reading[called.Ident]; at < len(c.Args); at++ {
						if c.Args[at].Type() != parse.NodeNil {
							pipe := action("%s 0", chargeName).Pipe
							pipe.Cmds[0].Args[1], c.Args[at] = c.Args[at], pipe
						}
					}
					if i > 0 { // what comes through the pipe is an argument as well
						commands = append(commands, action("0 | %s", chargeName).Pipe.Cmds[1])
					}
					commands = append(commands, c)
				}
				n.Cmds = commands
			}
		})
		count(one.Tree.Root)
	}
	return parsed, nil
}

// Calls returns the names of the functions that the template calls, sorted.
func (t *Template) Calls() []string { return slices.Sorted(maps.Keys(t.called)) }

// visit calls do for a node and each node in it.
func visit(node parse.Node, do func(parse.Node)) {
	if v := reflect.ValueOf(node); !v.IsValid() || v.IsNil() {
		return
	}
	branch := func(b *parse.BranchNode) {
		visit(b.Pipe, do)
		visit(b.List, do)
		visit(b.ElseList, do)
	}
	all := func(nodes []parse.Node) {
		for _, n := range nodes {
			visit(n, do)
		}
	}
	switch n := node.(type) {
	case *parse.ListNode:
		all(n.Nodes)
	case *parse.ActionNode:
		visit(n.Pipe, do)
	case *parse.TemplateNode:
		visit(n.Pipe, do)
	case *parse.PipeNode:
		for _, command := range n.Cmds {
			all(command.Args)
		}
	case *parse.ChainNode:
		visit(n.Node, do)
	case *parse.RangeNode:
		branch(&n.BranchNode)
	case *parse.IfNode:
		branch(&n.BranchNode)
	case *parse.WithNode:
		branch(&n.BranchNode)
	}
	do(node)
}

// Execute returns what the template makes of the data. The error is a *LimitError, or one of the template, within another error.
func (t *Template) Execute(ctx context.Context, data any) ([]byte, error) {
	run, err := t.parsed.Clone()
	if err != nil {
		return nil, err
	}
	steps, left := 0, maxMoved
	functions := template.FuncMap{stepName: func(n int) (string, error) {
		if steps += n; steps > MaxSteps {
			return "", &LimitError{fmt.Sprintf("it takes more than %d steps, the limit", MaxSteps)}
		}
		return "", context.Cause(ctx)
	}}
	charge := func(n int) error {
		if left -= n; n > MaxText {
			return tooLong()
		} else if left < 0 {
			return &LimitError{fmt.Sprintf("its functions take and return more than %d MB, the limit", maxMoved>>20)}
		}
		return context.Cause(ctx)
	}
	functions[chargeName] = func(v any) (any, error) { return v, charge(Size(v)) }
	for name, f := range t.called {
		functions[name] = charged(reflect.ValueOf(f), t.prices[name], charge)
	}
	out := &bounded{ctx: ctx}
	if err := run.Funcs(functions).Execute(out, data); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// charged returns a function that calls f, and charges what it takes, its price, if it has one, and what it returns. Its second
// result is an error.
func charged(f reflect.Value, price func([]any) int, charge func(int) error) any {
	of := f.Type()
	in := make([]reflect.Type, of.NumIn())
	for i := range in {
		in[i] = of.In(i)
	}
	out := []reflect.Type{of.Out(0), reflect.TypeFor[error]()}
	failed := func(err error) []reflect.Value {
		return []reflect.Value{reflect.Zero(out[0]), reflect.ValueOf(&err).Elem()}
	}
	return reflect.MakeFunc(reflect.FuncOf(in, out, of.IsVariadic()), func(args []reflect.Value) []reflect.Value {
		for _, arg := range args {
			if err := charge(sizeWithin(arg, 0, MaxText)); err != nil {
				return failed(err)
			}
		}
		if price != nil {
			if err := charge(price(flat(args, of.IsVariadic()))); err != nil {
				return failed(err)
			}
		}
		call := f.Call
		if of.IsVariadic() {
			call = f.CallSlice
		}
		results := call(args)
		if len(results) == 2 && !results[1].IsNil() {
			return results
		}
		if err := charge(sizeWithin(results[0], 0, MaxText)); err != nil {
			return failed(err)
		}
		return []reflect.Value{results[0], reflect.Zero(out[1])}
	}).Interface()
}

// flat returns the arguments of a call, the variadic ones each.
func flat(args []reflect.Value, variadic bool) (out []any) {
	for i, arg := range args {
		if variadic && i == len(args)-1 {
			for j := range arg.Len() {
				out = append(out, arg.Index(j).Interface())
			}
			break
		}
		out = append(out, arg.Interface())
	}
	return out
}

// Size returns about how many bytes a value takes when it is printed as indented JSON, and a number above MaxText as soon
// as it is more. A value in two places counts twice, and one within itself ends at the limit.
func Size(value any) int { return sizeWithin(reflect.ValueOf(value), 0, MaxText) }

// sizeWithin returns the size of a value at a depth, and more than left if it is more.
func sizeWithin(v reflect.Value, depth, left int) int {
	n := 8 + 2*depth // punctuation, and how far the line is indented
	add := func(inner reflect.Value) bool {
		n += sizeWithin(inner, depth+1, left-n)
		return n <= left
	}
	switch v.Kind() {
	case reflect.String:
		return n + v.Len()
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() && n <= left {
			return n + sizeWithin(v.Elem(), depth+1, left-n)
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return n + v.Len()
		}
		for i := range v.Len() {
			if !add(v.Index(i)) {
				break
			}
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			if !add(entries.Key()) || !add(entries.Value()) {
				break
			}
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if !add(field) {
				break
			}
		}
	}
	return n
}

// bounded is the text of a template.
type bounded struct {
	bytes.Buffer
	ctx context.Context
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > MaxText {
		return 0, tooLong()
	}
	if err := b.ctx.Err(); err != nil {
		return 0, context.Cause(b.ctx)
	}
	return b.Buffer.Write(p)
}

// wide reports whether a format has a width or a precision that is too large, or that an argument says.
func wide(format string) bool {
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
