// Package yamlsource is the one reader of YAML and JSON that come from outside: from requests, messages, files, archives,
// and the annotations of objects. It bounds what a text is and what it becomes before anything else is done with it, and
// it says what is wrong with a text, and where, in the same words for everybody.
//
// YAML libraries limit how often they follow an alias, but not the size of the result: a megabyte with aliases of a
// long text becomes gigabytes. Parsers also need some hundred bytes for a value of two.
//
// It may import only YAML libraries.
package yamlsource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// Parse parses a text with at most one document in YAML or JSON. Without any it returns nil. It stops when ctx ends.
func Parse(ctx context.Context, text []byte, b Bounds) (*yaml.Node, *Mistake) {
	all, m := Documents(ctx, text, b)
	switch {
	case m != nil:
		return nil, m
	case len(all) == 0:
		return nil, nil
	case len(all) > 1:
		return nil, mistakeAt(all[1], SecondDocument, "a second document begins here; want one")
	}
	return all[0], nil
}

// Documents parses a text with any number of documents in YAML or JSON, and leaves out empty ones. The bounds are those of all
// together, but for the depth. It stops when ctx ends.
func Documents(ctx context.Context, text []byte, b Bounds) ([]*yaml.Node, *Mistake) {
	if m := b.written(text); m != nil {
		return nil, m
	}
	all, m := documents(ctx, text, b)
	if m == nil || m.Reason != Syntax {
		return all, m
	}
	// YAML does not have all of JSON's escapes, and no byte order mark within a text.
	if json.Valid(text) {
		if excess := b.checkJSON(text); excess != nil {
			return nil, excess
		}
		if all, again := documents(ctx, plain(text), b); again == nil {
			move(all[0], 0, 0) // its positions are those of another text
			return all, nil
		}
	}
	if syntax := jsonSyntax(text); syntax != nil {
		message := m.Message
		m = at(text, int(syntax.Offset)-1, m)
		m.Message = message + "; not JSON: " + syntax.Error()
	}
	return nil, m
}

func documents(ctx context.Context, text []byte, b Bounds) ([]*yaml.Node, *Mistake) {
	in := yaml.NewDecoder(&reader{ctx, bytes.NewReader(text)})
	var out []*yaml.Node
	for {
		n := &yaml.Node{}
		err := in.Decode(n)
		switch {
		case ctx.Err() != nil:
			return nil, mistake(Ended, "the reading was canceled")
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, b.syntax(text, err)
		case len(n.Content) == 0 || n.Content[0].Kind == yaml.ScalarNode && n.Content[0].ShortTag() == "!!null":
			continue
		}
		root := n.Content[0]
		e, m := b.check(root)
		if m != nil {
			return nil, m
		}
		b.Size, b.Values = less(b.Size, e.size), less(b.Values, e.values)
		out = append(out, root)
	}
}

// less returns what is left of a bound, at least 1, because 0 is no bound.
func less(bound, used int) int {
	if bound == 0 {
		return 0
	}
	return max(1, bound-used)
}

// plain returns JSON with as few escapes as possible.
func plain(text []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return text
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return text
	}
	return out.Bytes()
}

// move multiplies the positions of a node and adds to its lines.
func move(n *yaml.Node, by, lines int) {
	n.Line, n.Column = n.Line*by+lines, n.Column*by
	for _, child := range n.Content {
		move(child, by, lines)
	}
}

// reader ends with a context.
type reader struct {
	ctx  context.Context
	from io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// ToJSON returns the only document of a text as JSON, with scalars as Kubernetes reads them, or null if there is none. It
// refuses fields that are there twice in YAML. It stops when ctx ends.
func ToJSON(ctx context.Context, text []byte, b Bounds) ([]byte, *Mistake) {
	return toJSON(ctx, text, 0, b)
}

// ToJSONFrom is ToJSON for a text whose first line has that number in its file.
func ToJSONFrom(ctx context.Context, text []byte, line int, b Bounds) ([]byte, *Mistake) {
	data, m := toJSON(ctx, text, line-1, b)
	if m != nil && m.Reason != Duplicate {
		m.Line = max(1, m.Line) + line - 1
	}
	return data, m
}

// toJSON adds lines to the positions of all fields.
func toJSON(ctx context.Context, text []byte, lines int, b Bounds) ([]byte, *Mistake) {
	if json.Valid(text) {
		return bytes.TrimSpace(text), b.validJSON(text)
	}
	root, m := Parse(ctx, text, b)
	if m != nil {
		return nil, m
	}
	if root == nil {
		return []byte("null"), nil
	}
	move(root, 1, lines)
	var twice Mistakes
	twice.Duplicates(root)
	if len(twice.List) > 0 {
		return nil, &twice.List[0]
	}
	if ctx.Err() != nil {
		return nil, mistake(Ended, "the reading was canceled")
	}
	return JSON(text)
}

// JSON returns a text that Parse has read as JSON, with scalars as Kubernetes reads them.
func JSON(text []byte) ([]byte, *Mistake) {
	if json.Valid(text) {
		return bytes.TrimSpace(text), nil
	}
	data, err := sigsyaml.YAMLToJSON(text)
	if err != nil {
		return nil, Bounds{}.syntax(text, err)
	}
	return data, nil
}

var (
	errorLine     = regexp.MustCompile(`line (\d+): `)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// tooDeep is in the errors of YAML libraries about nesting that exceeds their own bounds.
const tooDeep = "exceeded max depth"

// syntax finds the position in text of a YAML library's error.
func (b Bounds) syntax(text []byte, err error) *Mistake {
	message := err.Error()
	if strings.Contains(message, tooDeep) {
		return b.deep()
	}
	for _, noise := range []string{"error converting YAML to JSON: ", "yaml: ", "unmarshal errors:\n  "} {
		message = strings.Replace(message, noise, "", 1)
	}
	m := &Mistake{Line: 1, Reason: Syntax}
	if at := errorLine.FindStringSubmatchIndex(message); at != nil {
		m.Line, _ = strconv.Atoi(message[at[2]:at[3]]) // the pattern matches only digits
		message = message[:at[0]] + message[at[1]:]
	}
	lines := bytes.Split(text, []byte("\n"))
	if anchor := unknownAnchor.FindStringSubmatch(message); anchor != nil {
		for i, line := range lines {
			if bytes.Contains(line, []byte("*"+anchor[1])) {
				m.Line = i + 1
				break
			}
		}
	}
	m.Line = max(1, min(m.Line, len(lines)))
	// Libraries name the line before a tab, the line of the tab or the one after it.
	for _, line := range []int{m.Line, m.Line + 1, m.Line - 1} {
		if column := tabIn(lines, line); column > 0 {
			m.Line, m.Column = line, column
			message = "a tab cannot indent; use spaces"
			break
		}
	}
	m.Message = "not YAML: " + Cut(message, maxField)
	return m
}

// tabIn returns the column of a tab in the indentation of a line, or 0 if there is
// none.
func tabIn(lines [][]byte, line int) int {
	if line < 1 || line > len(lines) {
		return 0
	}
	text := lines[line-1]
	indentation := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
	return bytes.IndexByte(indentation, '\t') + 1
}

// Budget bounds several texts together, such as the files of a request. It is not safe for concurrent use.
type Budget struct{ Left Bounds }

// Documents is the function of that name within what is left.
func (b *Budget) Documents(ctx context.Context, text []byte) ([]*yaml.Node, *Mistake) {
	out, m := Documents(ctx, text, b.Left)
	if m != nil {
		return nil, m
	}
	b.Left.Written = less(b.Left.Written, len(text))
	for _, n := range out {
		e, _ := Bounds{}.check(n)
		b.Left.Size, b.Left.Values = less(b.Left.Size, e.size), less(b.Left.Values, e.values)
	}
	return out, nil
}
