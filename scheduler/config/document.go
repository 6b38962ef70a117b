package config

import (
	"context"
	"fmt"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"

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
	// Reading a megabyte is fast, so it cannot be interrupted.
	root, wrong := yamlsource.Parse(context.Background(), text, Bounds)
	if wrong != nil {
		return nil, []Mistake{*wrong}
	}
	if root == nil {
		return nil, []Mistake{{Line: 1, Message: fmt.Sprintf("the document is empty; a configuration begins with %q and %q", "apiVersion: "+apiVersion, "kind: "+kind)}}
	}
	if m := soundScalars(root); m != nil {
		return nil, []Mistake{*m}
	}
	if root.Kind != yaml.MappingNode {
		return nil, []Mistake{{Line: root.Line, Column: root.Column, Message: fmt.Sprintf("want a mapping that begins with %q and %q, got %s",
			"apiVersion: "+apiVersion, "kind: "+kind, yamlsource.Kind(root))}}
	}

	d := &document{}
	if root.Line > 0 {
		d.root = root
	}
	// Scalars mean what kube-scheduler's YAML library reads.
	if d.json, wrong = yamlsource.JSON(text); wrong != nil {
		return nil, []Mistake{*wrong}
	}
	if err := utiljson.Unmarshal(d.json, &d.value); err != nil {
		return nil, []Mistake{{Message: "want a mapping: " + err.Error()}}
	}
	for _, name := range []string{"profiles", "extenders"} {
		if items, _ := d.value[name].([]any); len(items) > maxProfiles {
			return nil, []Mistake{d.keyMistake(path{{Key: name}}, "%d items, more than the limit of %d", len(items), maxProfiles)}
		}
	}
	return d, nil
}

// duplicates returns the fields that occur twice.
func (d *document) duplicates() []Mistake {
	if d.root == nil {
		return nil
	}
	var twice yamlsource.Mistakes
	twice.Duplicates(d.root)
	return twice.List
}

// header checks the kind and the version. readable says whether the rest can be read as a
// configuration.
func (d *document) header() (mistakes []Mistake, readable bool) {
	readable = true
	switch got, set := d.value["kind"]; {
	case !set:
		mistakes = append(mistakes, d.mistake(path{{Key: "kind"}}, "missing; want %q", "kind: "+kind))
	case got != kind:
		mistakes = append(mistakes, d.mistake(path{{Key: "kind"}}, "want %s, got %s", kind, quoted(got)))
		readable = false
	}
	switch got, set := d.value["apiVersion"]; {
	case !set:
		mistakes = append(mistakes, d.mistake(path{{Key: "apiVersion"}}, "missing; want %q", "apiVersion: "+apiVersion))
	case got != apiVersion:
		mistakes = append(mistakes, d.mistake(path{{Key: "apiVersion"}}, "want %s, the only version that this kube-scheduler reads; got %s", apiVersion, quoted(got)))
	}
	return mistakes, readable
}

// quoted shows a JSON value in a message.
func quoted(v any) string {
	data, err := utiljson.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	return yamlsource.Cut(string(data), 60)
}
