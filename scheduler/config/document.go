package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// document is a well-formed text: one mapping, within the bounds.
type document struct {
	root  *yaml.Node     // for positions; nil for JSON that only a JSON parser can read
	json  []byte         // the input of kube-scheduler's decoder
	value map[string]any // json, decoded
}

// read returns the document, or the mistakes that prevent the text from being one.
func read(text []byte) (*document, []Mistake) {
	if len(text) > MaxSize {
		return nil, []Mistake{{Message: fmt.Sprintf("the document has %d bytes, more than the limit of %d", len(text), MaxSize)}}
	}
	if !utf8.Valid(text) {
		// YAML may be UTF-16, but the document is stored and shown as JSON.
		return nil, []Mistake{{Line: 1, Message: "the document is not encoded in UTF-8"}}
	}
	if !yamlsource.AtMost(maxValues, text) {
		return nil, []Mistake{{Message: fmt.Sprintf("the document may have more than %d values, the limit", maxValues)}}
	}
	isJSON := json.Valid(text)
	root, mistake := parseYAML(text)
	located := mistake == nil
	if !located && isJSON {
		// YAML does not have all of JSON's escapes.
		root, mistake = parseYAML(plain(text))
	}
	if mistake != nil {
		explainJSON(mistake, text)
		return nil, []Mistake{*mistake}
	}
	if m := bounded(root); m != nil {
		return nil, []Mistake{*m}
	}
	if root.Kind != yaml.MappingNode {
		return nil, []Mistake{{Line: root.Line, Column: root.Column, Message: fmt.Sprintf("want a mapping that begins with %q and %q, got %s",
			"apiVersion: "+apiVersion, "kind: "+kind, nodeKind(root))}}
	}

	d := &document{json: text}
	if located {
		d.root = root
	}
	if !isJSON {
		// Scalars mean what kube-scheduler's YAML library reads.
		converted, err := sigsyaml.YAMLToJSON(text)
		if err != nil {
			return nil, []Mistake{syntaxMistake(text, err)}
		}
		d.json = converted
	}
	if err := utiljson.Unmarshal(d.json, &d.value); err != nil {
		return nil, []Mistake{{Message: "want a mapping: " + err.Error()}}
	}
	for _, name := range []string{"profiles", "extenders"} {
		if items, _ := d.value[name].([]any); len(items) > maxProfiles {
			return nil, []Mistake{d.keyMistake(path{{key: name}}, "%d items, more than the limit of %d", len(items), maxProfiles)}
		}
	}
	return d, nil
}

// plain returns JSON with as few escapes as possible.
func plain(text []byte) []byte {
	var v any
	if err := utiljson.Unmarshal(text, &v); err != nil {
		return text
	}
	if data, err := utiljson.Marshal(v); err == nil {
		return data
	}
	return text
}

// parseYAML returns the only document of text.
func parseYAML(text []byte) (*yaml.Node, *Mistake) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	if err := decoder.Decode(&first); errors.Is(err, io.EOF) || err == nil && blank(&first) {
		return nil, &Mistake{Line: 1, Message: fmt.Sprintf("the document is empty; a configuration begins with %q and %q", "apiVersion: "+apiVersion, "kind: "+kind)}
	} else if err != nil {
		m := syntaxMistake(text, err)
		return nil, &m
	}
	err := decoder.Decode(&second)
	switch {
	case errors.Is(err, io.EOF) || err == nil && blank(&second):
		return first.Content[0], nil
	case err != nil:
		m := syntaxMistake(text, err)
		return nil, &m
	default:
		return nil, &Mistake{Line: second.Content[0].Line, Column: second.Content[0].Column, Message: "a second document begins here; want one configuration"}
	}
}

// explainJSON adds the JSON parser's error for a text that looks like JSON.
func explainJSON(m *Mistake, text []byte) {
	var syntax *json.SyntaxError
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) || !errors.As(json.Unmarshal(text, new(any)), &syntax) {
		return
	}
	before := text[:min(int(syntax.Offset), len(text))]
	m.Line = 1 + bytes.Count(before, []byte("\n"))
	m.Column = max(1, len(before)-1-bytes.LastIndexByte(before, '\n'))
	m.Message += "; not JSON: " + syntax.Error()
}

func blank(n *yaml.Node) bool {
	return len(n.Content) == 0 || n.Content[0].Kind == yaml.ScalarNode && n.Content[0].ShortTag() == "!!null"
}

// syntaxMistake places the error of a YAML library.
func syntaxMistake(text []byte, err error) Mistake {
	p := yamlsource.Explain(text, err)
	m := Mistake{Line: p.Line, Column: p.Column, Message: "not YAML: " + p.Message}
	if p.Tab {
		m.Message += " (a tab cannot indent YAML; use spaces)"
	}
	return m
}

func nodeKind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	default:
		return strconv.Quote(cut(n.Value, 40))
	}
}

// duplicates returns the fields that occur twice.
func (d *document) duplicates() []Mistake {
	if d.root == nil {
		return nil
	}
	var mistakes []Mistake
	var walk func(n *yaml.Node, at path)
	walk = func(n *yaml.Node, at path) {
		if len(mistakes) >= maxFound {
			return
		}
		switch n.Kind {
		case yaml.SequenceNode:
			for i, item := range n.Content {
				walk(item, at.at(i))
			}
		case yaml.MappingNode:
			first := map[string]int{}
			for i := 0; i+1 < len(n.Content); i += 2 {
				key := n.Content[i]
				if line, twice := first[key.Value]; twice && key.Kind == yaml.ScalarNode {
					mistakes = append(mistakes, Mistake{Field: at.child(key.Value).String(), Line: key.Line, Column: key.Column,
						Message: fmt.Sprintf("duplicate field %q; the first is on line %d", cut(key.Value, 40), line)})
				} else if key.Kind == yaml.ScalarNode {
					first[key.Value] = key.Line
				}
				walk(n.Content[i+1], at.child(key.Value))
			}
		}
	}
	walk(d.root, nil)
	return mistakes
}

// header checks the kind and the version. readable says whether the rest can be read as a
// configuration.
func (d *document) header() (mistakes []Mistake, readable bool) {
	readable = true
	switch got, set := d.value["kind"]; {
	case !set:
		mistakes = append(mistakes, d.mistake(path{{key: "kind"}}, "missing; want %q", "kind: "+kind))
	case got != kind:
		mistakes = append(mistakes, d.mistake(path{{key: "kind"}}, "want %s, got %s", kind, quoted(got)))
		readable = false
	}
	switch got, set := d.value["apiVersion"]; {
	case !set:
		mistakes = append(mistakes, d.mistake(path{{key: "apiVersion"}}, "missing; want %q", "apiVersion: "+apiVersion))
	case got != apiVersion:
		mistakes = append(mistakes, d.mistake(path{{key: "apiVersion"}}, "want %s, the only version that this kube-scheduler reads; got %s", apiVersion, quoted(got)))
	}
	return mistakes, readable
}

// quoted shows a JSON value in a message.
func quoted(v any) string {
	data, err := utiljson.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	return cut(string(data), 60)
}
