// Package decoder decodes YAML files strictly into Go structs, and says what is wrong at which line.
//
// It knows no format. It may import scheduler/yamlsource.
package decoder

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// Decoder decodes the values of one file into Go structs. It is strict: a field that the struct
// does not have, and one that is there twice, are mistakes. After a mistake it goes on.
type Decoder struct {
	yamlsource.Mistakes
	Ctx context.Context
	// Left bounds what this file and others may still hold.
	Left *yamlsource.Budget
}

// Custom is a type that decodes itself. at is the path of the value, for mistakes.
type Custom interface {
	Decode(d *Decoder, n *yaml.Node, at string)
}

// Documents parses a text with any number of YAML or JSON documents, without empty ones.
func (d *Decoder) Documents(text []byte) []*yaml.Node {
	out, wrong := d.Left.Documents(d.Ctx, text)
	if wrong != nil {
		wrong.File = d.File
		d.List = append(d.List, *wrong)
	}
	return out
}

// Decode decodes n into what a pointer points to.
func (d *Decoder) Decode(n *yaml.Node, into any, at string) {
	d.value(n, reflect.ValueOf(into).Elem(), at)
}

func (d *Decoder) value(n *yaml.Node, v reflect.Value, at string) {
	n = yamlsource.Target(n)
	if v.CanAddr() {
		if c, ok := v.Addr().Interface().(Custom); ok {
			c.Decode(d, n, at)
			return
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), at)
	case reflect.Struct:
		d.mapping(n, v, at)
	case reflect.Slice:
		d.list(n, v, at)
	case reflect.String:
		if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
			d.WrongType(n, at, v.Type())
			return
		}
		v.SetString(n.Value)
	case reflect.Bool:
		if n.ShortTag() != "!!bool" {
			d.WrongType(n, at, v.Type())
			return
		}
		v.SetBool(n.Value == "true" || n.Value == "True" || n.Value == "TRUE")
	case reflect.Int:
		i, err := strconv.Atoi(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil {
			d.WrongType(n, at, v.Type())
			return
		}
		v.SetInt(int64(i))
	default:
		panic(fmt.Sprintf("files have no values of type %s", v.Type()))
	}
}

// Mapping decodes the fields of a struct, which have the tag yaml.
func (d *Decoder) Mapping(n *yaml.Node, into any, at string) {
	d.mapping(n, reflect.ValueOf(into).Elem(), at)
}

func (d *Decoder) mapping(n *yaml.Node, v reflect.Value, at string) {
	d.Fields(n, at, fieldNames(v.Type()), func(key, value *yaml.Node) {
		d.value(value, v.FieldByIndex(fieldIndex(v.Type(), key.Value)), yamlsource.Child(at, key.Value))
	})
}

func (d *Decoder) list(n *yaml.Node, v reflect.Value, at string) {
	if n.Kind == yaml.SequenceNode {
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	}
	i := 0
	d.Items(n, at, func(item *yaml.Node, at string) {
		d.value(item, v.Index(i), at)
		i++
	})
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

// Value returns the value of a node in the form of JSON: numbers are int64 or float64.
func (d *Decoder) Value(n *yaml.Node, at string) any {
	n = yamlsource.Target(n)
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		d.Fields(n, at, nil, func(key, value *yaml.Node) {
			inner := d.Value(value, yamlsource.Child(at, key.Value))
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
			out[i] = d.Value(item, fmt.Sprintf("%s[%d]", at, i))
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

// Locate returns the node at a path such as spec.containers[0].image, or the nearest one around it.
func Locate(n *yaml.Node, path string) *yaml.Node {
	_, at := yamlsource.Locate(n, yamlsource.ParsePath(path), true)
	return at
}

// Raw is a part of a file that is decoded later.
type Raw struct{ *yaml.Node }

// Decode implements Custom.
func (r *Raw) Decode(_ *Decoder, n *yaml.Node, _ string) { r.Node = n }
