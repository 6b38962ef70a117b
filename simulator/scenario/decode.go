package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// Bounds of a file. They are far above what people write.
const (
	maxFile   = 64 << 20
	maxValues = 4_000_000
	maxDepth  = 250
)

// decoder decodes the values of one file into Go structs. It is strict: a field that the struct
// does not have, and one that is there twice, are mistakes. After a mistake it goes on.
type decoder struct {
	file     string
	mistakes []Mistake
}

func (d *decoder) fail(n *yaml.Node, at, format string, args ...any) {
	d.mistakes = append(d.mistakes, Mistake{File: d.file, Line: n.Line, Column: n.Column, Field: at, Message: fmt.Sprintf(format, args...)})
}

// custom is a type that decodes itself. at is the path of the value, for mistakes.
type custom interface {
	decode(d *decoder, n *yaml.Node, at string)
}

// documents parses a text with any number of YAML or JSON documents, without empty ones.
func (d *decoder) documents(text []byte) []*yaml.Node {
	if len(text) > maxFile {
		d.mistakes = append(d.mistakes, Mistake{File: d.file, Message: fmt.Sprintf("it has %d bytes; the limit is %d", len(text), maxFile)})
		return nil
	}
	if !yamlsource.AtMost(maxValues, text) {
		d.mistakes = append(d.mistakes, Mistake{File: d.file, Message: fmt.Sprintf("it has more than %d values, the limit", maxValues)})
		return nil
	}
	var out []*yaml.Node
	in := yaml.NewDecoder(bytes.NewReader(text))
	for {
		n := &yaml.Node{}
		err := in.Decode(n)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			p := yamlsource.Explain(text, err)
			if p.Tab {
				p.Message += " (a tab cannot indent YAML; use spaces)"
			}
			d.mistakes = append(d.mistakes, Mistake{File: d.file, Line: p.Line, Column: p.Column, Message: "not YAML: " + p.Message})
			return nil
		}
		if len(n.Content) == 0 || n.Content[0].ShortTag() == "!!null" {
			continue
		}
		if at, excess := (yamlsource.Bounds{Size: maxFile, Depth: maxDepth}).Check(n.Content[0]); at != nil {
			d.fail(at, "", "%s", excess)
			return nil
		}
		out = append(out, n.Content[0])
	}
}

// decode decodes n into v.
func (d *decoder) decode(n *yaml.Node, v reflect.Value, at string) {
	n = target(n)
	if v.CanAddr() {
		if c, ok := v.Addr().Interface().(custom); ok {
			c.decode(d, n, at)
			return
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.decode(n, v.Elem(), at)
	case reflect.Struct:
		d.mapping(n, v, at)
	case reflect.Slice:
		d.list(n, v, at)
	case reflect.String:
		if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
			d.fail(n, at, "want a text, not %s", describe(n))
			return
		}
		v.SetString(n.Value)
	case reflect.Bool:
		if n.ShortTag() != "!!bool" {
			d.fail(n, at, "want true or false, not %s", describe(n))
			return
		}
		v.SetBool(n.Value == "true" || n.Value == "True" || n.Value == "TRUE")
	case reflect.Int:
		i, err := strconv.Atoi(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil {
			d.fail(n, at, "want a whole number, not %s", describe(n))
			return
		}
		v.SetInt(int64(i))
	default:
		panic(fmt.Sprintf("scenario files have no values of type %s", v.Type()))
	}
}

// mapping decodes the fields of a struct, which have the tag yaml.
func (d *decoder) mapping(n *yaml.Node, v reflect.Value, at string) {
	d.fields(n, at, fieldNames(v.Type()), func(key, value *yaml.Node) {
		d.decode(value, v.FieldByIndex(fieldIndex(v.Type(), key.Value)), child(at, key.Value))
	})
}

// fields calls each for every field of a mapping, and reports those that are not in known or there twice. A nil known permits all.
func (d *decoder) fields(n *yaml.Node, at string, known []string, each func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, at, "want a mapping, not %s", describe(n))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode:
			d.fail(key, at, "want the name of a field")
		case seen[key.Value]:
			d.fail(key, child(at, key.Value), "the field is set twice")
		case known != nil && !slices.Contains(known, key.Value):
			d.fail(key, child(at, key.Value), "there is no such field here; the fields are %s", strings.Join(known, ", "))
		default:
			each(key, target(n.Content[i+1]))
		}
		seen[key.Value] = true
	}
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, at string) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, at, "want a list, not %s", describe(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.decode(item, v.Index(i), fmt.Sprintf("%s[%d]", at, i))
	}
}

// fieldNames returns the names of a struct's fields, in their order.
func fieldNames(t reflect.Type) []string {
	var out []string
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("yaml"); name != "" {
			out = append(out, name)
		}
	}
	return out
}

func fieldIndex(t reflect.Type, name string) []int {
	for _, f := range reflect.VisibleFields(t) {
		if f.Tag.Get("yaml") == name {
			return f.Index
		}
	}
	panic("the field " + name + " was listed")
}

func child(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

func target(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.ShortTag() == "!!null":
		return "nothing"
	}
	return strconv.Quote(n.Value)
}

// valueOf returns the value of a node in the form of JSON: numbers are int64 or float64.
func (d *decoder) valueOf(n *yaml.Node, at string) any {
	n = target(n)
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		d.fields(n, at, nil, func(key, value *yaml.Node) {
			inner := d.valueOf(value, child(at, key.Value))
			if merged, isMapping := inner.(map[string]any); isMapping && key.ShortTag() == "!!merge" {
				for k, v := range merged {
					if _, set := out[k]; !set {
						out[k] = v
					}
				}
				return
			}
			out[key.Value] = inner
		})
		return out
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			out[i] = d.valueOf(item, fmt.Sprintf("%s[%d]", at, i))
		}
		return out
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int":
		var i int64
		if err := n.Decode(&i); err == nil {
			return i
		}
	case "!!float":
		var f float64
		if err := n.Decode(&f); err == nil {
			return f
		}
	}
	return n.Value
}

// locate returns the node at a path such as spec.containers[0].image, or the nearest one around it.
func locate(n *yaml.Node, path string) *yaml.Node {
	n = target(n)
	at := n
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		var next *yaml.Node
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == part {
					at, next = n.Content[i], n.Content[i+1]
				}
			}
		case yaml.SequenceNode:
			if i, err := strconv.Atoi(part); err == nil && i < len(n.Content) {
				next = n.Content[i]
				at = next
			}
		}
		if next == nil {
			break
		}
		n = target(next)
	}
	return at
}

// valueNode returns the value of a field that a mapping has.
func valueNode(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return target(n.Content[i+1])
		}
	}
	panic("the field " + key + " was found before")
}

// Duration is a length of time, such as 90s, 5m or 1h30m.
type Duration struct{ time.Duration }

func (v *Duration) decode(d *decoder, n *yaml.Node, at string) {
	parsed, err := time.ParseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil:
		d.fail(n, at, "want a duration such as 90s or 5m, not %s", describe(n))
	case parsed <= 0:
		d.fail(n, at, "want a duration of more than 0, not %s", n.Value)
	case parsed > maxDuration:
		d.fail(n, at, "want at most %s, not %s", maxDuration, n.Value)
	}
	v.Duration = parsed
}

// maxDuration bounds durations. openb's trace spans half of it.
const maxDuration = 365 * 24 * time.Hour
