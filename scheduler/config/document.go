package config

import (
	"context"
	"fmt"

	"go.yaml.in/yaml/v3"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// document is a well-formed text: one mapping, within the bounds.
type document struct {
	*yamlsource.Document
	value map[string]any
}

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
		return nil, []Mistake{{Line: root.Line, Column: root.Column, Message: fmt.Sprintf("want a mapping that begins with %q and %q, not %s",
			"apiVersion: "+apiVersion, "kind: "+kind, yamlsource.Kind(root))}}
	}

	// Scalars mean what kube-scheduler's YAML library reads.
	whole, wrong := yamlsource.NewDocument(root, text)
	if wrong != nil {
		return nil, []Mistake{*wrong}
	}
	value, _ := whole.Value.(map[string]any)
	d := &document{whole, value}
	for _, name := range []string{"profiles", "extenders"} {
		if items, _ := d.value[name].([]any); len(items) > maxProfiles {
			return nil, []Mistake{d.KeyMistake(path{{Key: name}}, "%d items, more than the limit of %d", len(items), maxProfiles)}
		}
	}
	return d, nil
}

// header checks the kind and the version. readable says whether the rest can be read as a
// configuration.
func (d *document) header() (mistakes []Mistake, readable bool) {
	readable = true
	switch got, set := d.value["kind"]; {
	case !set:
		mistakes = append(mistakes, d.Mistake(path{{Key: "kind"}}, "missing; want %q", "kind: "+kind))
	case got != kind:
		mistakes = append(mistakes, d.Mistake(path{{Key: "kind"}}, "want %s, not %s", kind, yamlsource.Quoted(got)))
		readable = false
	}
	switch got, set := d.value["apiVersion"]; {
	case !set:
		mistakes = append(mistakes, d.Mistake(path{{Key: "apiVersion"}}, "missing; want %q", "apiVersion: "+apiVersion))
	case got != apiVersion:
		mistakes = append(mistakes, d.Mistake(path{{Key: "apiVersion"}}, "want %s, the only version that this kube-scheduler reads, not %s", apiVersion, yamlsource.Quoted(got)))
	}
	return mistakes, readable
}
