// Package yamlsource helps with YAML that people write: it finds the position of a
// syntax error, and it bounds the size of a document with its aliases expanded.
// YAML libraries limit how often they follow an alias, but not the size of the
// result.
//
// It may import only the YAML library.
package yamlsource

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Problem says why a text is not YAML.
type Problem struct {
	// Line and Column count from 1. Column is 0 if it is unknown.
	Line, Column int
	// Message is the YAML library's message, without the line.
	Message string
	// Tab: the text is indented with a tab at Line and Column. YAML forbids that,
	// and libraries explain it badly.
	Tab bool
}

var (
	errorLine     = regexp.MustCompile(`line (\d+): `)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// Explain finds the position in text of a YAML library's error.
func Explain(text []byte, err error) Problem {
	message := err.Error()
	for _, noise := range []string{"error converting YAML to JSON: ", "yaml: ", "unmarshal errors:\n  "} {
		message = strings.Replace(message, noise, "", 1)
	}
	p := Problem{Line: 1, Message: message}
	if at := errorLine.FindStringSubmatchIndex(message); at != nil {
		p.Line, _ = strconv.Atoi(message[at[2]:at[3]]) // the pattern matches only digits
		p.Message = message[:at[0]] + message[at[1]:]
	}
	lines := bytes.Split(text, []byte("\n"))
	if anchor := unknownAnchor.FindStringSubmatch(p.Message); anchor != nil {
		for i, line := range lines {
			if bytes.Contains(line, []byte("*"+anchor[1])) {
				p.Line = i + 1
				break
			}
		}
	}
	p.Line = max(1, min(p.Line, len(lines)))
	// Libraries name the line before a tab, the line of the tab or the one after it.
	for _, line := range []int{p.Line, p.Line + 1, p.Line - 1} {
		if column := tabIn(lines, line); column > 0 {
			p.Line, p.Column, p.Tab = line, column, true
			break
		}
	}
	return p
}

// Rest finds what follows the first document of text, where a reader expects only one: YAML libraries
// stop at its end without a word. Comments and empty documents are nothing.
func Rest(text []byte) (Problem, bool) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var n yaml.Node
	for first := true; ; first = false {
		switch err := decoder.Decode(&n); {
		case errors.Is(err, io.EOF):
			return Problem{}, false
		case err != nil:
			return Explain(text, err), true
		case !first && len(n.Content) > 0 && n.Content[0].ShortTag() != "!!null":
			return Problem{Line: n.Content[0].Line, Column: n.Content[0].Column, Message: "a second document begins here; want one"}, true
		}
	}
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

// Bounds limit a document. A zero field sets no limit.
type Bounds struct {
	// Size is the approximate size as JSON, in bytes, with aliases expanded.
	Size int
	// Depth is the depth of the nesting, with aliases expanded.
	Depth int
	// Items bounds each list and each mapping.
	Items int
}

// Excess says how a document exceeds its Bounds.
type Excess string

const (
	TooLarge     Excess = "too large when its aliases are written out"
	TooDeep      Excess = "nested too deeply"
	TooManyItems Excess = "too many items"
	// Recursive: an anchor contains an alias of itself.
	Recursive Excess = "an anchor contains itself"
)

// Check returns the first node that exceeds the bounds, and how it does. It returns
// nil when none does.
func (b Bounds) Check(root *yaml.Node) (*yaml.Node, Excess) {
	m := meter{Bounds: b, known: map[*yaml.Node]extent{}}
	m.measure(root, 1)
	return m.at, m.excess
}

// extent is the size and depth of a node with its aliases expanded.
type extent struct{ size, depth int }

// unfinished marks a node whose content is being measured.
const unfinished = -1

// perNode is the minimum size of a value in JSON, without its text.
const perNode = len(`"",`)

// meter measures each node with an anchor only once, not for every alias.
type meter struct {
	Bounds
	known map[*yaml.Node]extent
	// at is the first node that exceeds the bounds.
	at     *yaml.Node
	excess Excess
}

// fail notes an excess and returns the results of measure for it.
func (m *meter) fail(n *yaml.Node, excess Excess) (extent, bool) {
	m.at, m.excess = n, excess
	return extent{}, false
}

// measure returns false when a node exceeds the bounds.
func (m *meter) measure(n *yaml.Node, depth int) (extent, bool) {
	if m.Depth > 0 && depth > m.Depth {
		return m.fail(n, TooDeep)
	}
	if m.Items > 0 && Items(n) > m.Items {
		return m.fail(n, TooManyItems)
	}
	children := n.Content
	if n.Kind == yaml.AliasNode {
		e, seen := m.known[n.Alias]
		if seen && e.size == unfinished {
			return m.fail(n, Recursive)
		}
		if seen && (m.Depth == 0 || depth+e.depth <= m.Depth) {
			return e, true
		}
		children = []*yaml.Node{n.Alias}
	}
	if n.Anchor != "" {
		m.known[n] = extent{size: unfinished}
	}
	e := extent{size: len(n.Value) + perNode}
	for _, child := range children {
		inner, ok := m.measure(child, depth+1)
		if !ok {
			return extent{}, false
		}
		e.size += inner.size
		e.depth = max(e.depth, inner.depth+1)
		if m.Size > 0 && e.size > m.Size {
			return m.fail(n, TooLarge)
		}
	}
	if n.Anchor != "" {
		m.known[n] = e
	}
	return e, true
}

// Items returns the number of items of a list, or of fields of a mapping.
func Items(n *yaml.Node) int {
	if n.Kind == yaml.MappingNode {
		return len(n.Content) / 2
	}
	return len(n.Content)
}
