package yamlsource

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Bounds limit a text, and the document that it becomes. A zero field sets no limit.
type Bounds struct {
	// Written is the size of the text, in bytes.
	Written int
	// Values are the values of the document, with aliases expanded: each takes some hundred bytes in memory. The text is
	// refused before it is parsed if it may have more.
	Values int
	// Size is the approximate size as JSON, in bytes, with aliases expanded.
	Size int
	// Depth is the depth of the nesting, with aliases expanded.
	Depth int
	// Items bounds each list and each mapping. It applies to YAML only, which Parse reads.
	Items int
	// Path is the length of the path of a field: of its key and those around it, in bytes. Code that makes the paths of all
	// fields would otherwise take the product of both.
	Path int
}

// Object are the bounds of one Kubernetes object, and of any other text that a request holds. An object that etcd
// accepts has 1.5 MiB and fewer values.
var Object = Bounds{Written: 16 << 20, Values: 150_000, Size: 16 << 20, Depth: 250, Path: 64 << 10}

// Settings are the bounds of what people write by hand: annotations, devices, Stages, and the settings of a scheduler.
var Settings = Bounds{Written: 1 << 20, Values: 50_000, Size: 2 << 20, Depth: 100, Path: 4 << 10}

func mistake(reason Reason, format string, args ...any) *Mistake {
	return &Mistake{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func mistakeAt(n *yaml.Node, reason Reason, format string, args ...any) *Mistake {
	m := mistake(reason, format, args...)
	m.Line, m.Column = n.Line, n.Column
	return m
}

// written returns what is wrong with a text that has not been parsed.
func (b Bounds) written(text []byte) *Mistake {
	switch {
	case b.Written > 0 && len(text) > b.Written:
		return mistake(TooLong, "it has %d bytes; the limit is %d", len(text), b.Written)
	case !utf8.Valid(text):
		m := mistake(Syntax, "it is not in UTF-8")
		for at := 0; ; {
			if r, size := utf8.DecodeRune(text[at:]); r == utf8.RuneError && size <= 1 {
				m.Line = 1 + bytes.Count(text[:at], []byte("\n"))
				return m
			} else {
				at += size
			}
		}
	case b.Values > 0 && !AtMost(b.Values, text):
		return b.manyValues()
	}
	return nil
}

func (b Bounds) manyValues() *Mistake {
	return mistake(TooManyValues, "it may have more than %d values, the limit", b.Values)
}

func (b Bounds) deep() *Mistake {
	return mistake(TooDeep, "nested deeper than %d levels", b.Depth)
}

func (b Bounds) longKey(key string) *Mistake {
	return mistake(LongKey, "the key %q and those around it have more than %d bytes, the limit", Cut(key, maxQuoted), b.Path)
}

// JSON returns what is wrong with a text in JSON before it is decoded.
func (b Bounds) JSON(text []byte) *Mistake {
	if !json.Valid(text) {
		return mistake(Syntax, "it is not JSON")
	}
	return b.validJSON(text)
}

func (b Bounds) validJSON(text []byte) *Mistake {
	if m := b.written(text); m != nil {
		return m
	}
	return b.checkJSON(text)
}

// checkJSON returns what exceeds the bounds in text, which is JSON.
func (b Bounds) checkJSON(text []byte) *Mistake {
	values, begin := 1, -1
	// open holds, for each open list and object, the length of the keys up to it; path is that up to the latest key.
	var open []int
	path := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case begin >= 0 && c == '\\':
			i++
		case begin >= 0 && c == '"':
			if b.Path > 0 && len(open) > 0 && isKey(text[i+1:]) {
				if path = open[len(open)-1] + i - begin; path > b.Path {
					return at(text, begin, b.longKey(string(text[begin:i])))
				}
			}
			begin = -1
		case begin >= 0:
		case c == '"':
			begin = i + 1
		case c == ',' || c == ':':
			values++
		case c == '{' || c == '[':
			values++
			if open = append(open, path); b.Depth > 0 && len(open) > b.Depth {
				return at(text, i, b.deep())
			}
		case c == '}' || c == ']':
			path, open = open[len(open)-1], open[:len(open)-1]
		}
		if b.Values > 0 && values > b.Values {
			return b.manyValues()
		}
	}
	return nil
}

// isKey reports whether the string before rest is the key of an object.
func isKey(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// at gives a mistake the position of a byte of text.
func at(text []byte, offset int, m *Mistake) *Mistake {
	before := text[:min(offset, len(text))]
	m.Line = 1 + bytes.Count(before, []byte("\n"))
	m.Column = max(1, len(before)-bytes.LastIndexByte(before, '\n'))
	return m
}

// check measures a document, and returns what is wrong with the first node that exceeds the bounds.
func (b Bounds) check(root *yaml.Node) (extent, *Mistake) {
	m := meter{Bounds: b, known: map[*yaml.Node]extent{}}
	e, _ := m.measure(root, 1, 0)
	return e, m.mistake
}

// extent is the size, the depth, the number of values and the longest path of a node with its aliases expanded.
type extent struct{ size, depth, values, path int }

// unfinished marks a node whose content is being measured.
const unfinished = -1

// perNode is the minimum size of a value in JSON, without its text.
const perNode = len(`"",`)

// meter measures each node with an anchor only once, not for every alias.
type meter struct {
	Bounds
	known map[*yaml.Node]extent
	// mistake is about the first node that exceeds the bounds.
	mistake *Mistake
}

// fail notes an excess and returns the results of measure for it.
func (m *meter) fail(n *yaml.Node, excess *Mistake) (extent, bool) {
	excess.Line, excess.Column = n.Line, n.Column
	m.mistake = excess
	return extent{}, false
}

// measure returns false when a node exceeds the bounds.
func (m *meter) measure(n *yaml.Node, depth, path int) (extent, bool) {
	if m.Depth > 0 && depth > m.Depth {
		return m.fail(n, m.deep())
	}
	if items := Items(n); m.Items > 0 && items > m.Items {
		return m.fail(n, mistake(TooManyItems, "%d items, more than the limit of %d", items, m.Items))
	}
	children := n.Content
	if n.Kind == yaml.AliasNode {
		e, seen := m.known[n.Alias]
		if seen && e.size == unfinished {
			return m.fail(n, mistake(Recursive, "the anchor %q contains itself", Cut(n.Value, maxQuoted)))
		}
		if seen && (m.Depth == 0 || depth+e.depth <= m.Depth) && (m.Path == 0 || path+e.path <= m.Path) {
			return e, true
		}
		children = []*yaml.Node{n.Alias}
	}
	if n.Anchor != "" {
		m.known[n] = extent{size: unfinished}
	}
	e := extent{size: len(n.Value) + perNode, values: 1}
	for i, child := range children {
		key := 0
		if n.Kind == yaml.MappingNode {
			key = len(Target(children[i&^1]).Value)
		}
		if m.Path > 0 && path+key > m.Path {
			return m.fail(child, m.longKey(Target(children[i&^1]).Value))
		}
		inner, ok := m.measure(child, depth+1, path+key)
		if !ok {
			return extent{}, false
		}
		e.size += inner.size
		e.values += inner.values
		e.depth = max(e.depth, inner.depth+1)
		e.path = max(e.path, inner.path+key)
		if m.Size > 0 && e.size > m.Size {
			return m.fail(n, mistake(TooLarge, "too large when its aliases are written out: more than %d bytes", m.Size))
		}
		if m.Values > 0 && e.values > m.Values {
			return m.fail(n, mistake(TooLarge, "too large when its aliases are written out: more than %d values", m.Values))
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

// Values returns how many values a document has, with its aliases expanded.
func Values(n *yaml.Node) int {
	e, _ := Bounds{}.check(n)
	return e.values
}

// jsonSyntax returns the JSON parser's error for a text that looks like JSON, and nil for others.
func jsonSyntax(text []byte) *json.SyntaxError {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return nil
	}
	syntax, _ := json.Unmarshal(text, new(json.RawMessage)).(*json.SyntaxError)
	return syntax
}
