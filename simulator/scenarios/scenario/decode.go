package scenario

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// Files are the bounds of the files of a scenario together, far above what people write.
var Files = yamlsource.Bounds{Written: 64 << 20, Values: 4_000_000, Size: 64 << 20, Depth: 250, Path: 4 << 10}

// decoder decodes the values of one file into Go structs. It is strict: a field that the struct
// does not have, and one that is there twice, are mistakes. After a mistake it goes on.
type decoder struct {
	yamlsource.Mistakes
	ctx context.Context
	// left bounds what this file and others may still hold.
	left *yamlsource.Budget
}

// custom is a type that decodes itself. at is the path of the value, for mistakes.
type custom interface {
	decode(d *decoder, n *yaml.Node, at string)
}

// documents parses a text with any number of YAML or JSON documents, without empty ones.
func (d *decoder) documents(text []byte) []*yaml.Node {
	out, wrong := d.left.Documents(d.ctx, text)
	if wrong != nil {
		wrong.File = d.File
		d.List = append(d.List, *wrong)
	}
	return out
}

// decode decodes n into v.
func (d *decoder) decode(n *yaml.Node, v reflect.Value, at string) {
	n = yamlsource.Target(n)
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
		panic(fmt.Sprintf("scenario files have no values of type %s", v.Type()))
	}
}

// mapping decodes the fields of a struct, which have the tag yaml.
func (d *decoder) mapping(n *yaml.Node, v reflect.Value, at string) {
	d.Fields(n, at, fieldNames(v.Type()), func(key, value *yaml.Node) {
		d.decode(value, v.FieldByIndex(fieldIndex(v.Type(), key.Value)), yamlsource.Child(at, key.Value))
	})
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, at string) {
	if n.Kind == yaml.SequenceNode {
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	}
	i := 0
	d.Items(n, at, func(item *yaml.Node, at string) {
		d.decode(item, v.Index(i), at)
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

// valueOf returns the value of a node in the form of JSON: numbers are int64 or float64.
func (d *decoder) valueOf(n *yaml.Node, at string) any {
	n = yamlsource.Target(n)
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		d.Fields(n, at, nil, func(key, value *yaml.Node) {
			inner := d.valueOf(value, yamlsource.Child(at, key.Value))
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
	_, at := yamlsource.Locate(n, yamlsource.ParsePath(path), true)
	return at
}

// Duration is a length of time, such as 90s, 5m or 1h30m.
type Duration struct{ time.Duration }

func (v *Duration) decode(d *decoder, n *yaml.Node, at string) {
	parsed, err := time.ParseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil:
		d.WrongType(n, at, reflect.TypeFor[Duration]())
	case parsed <= 0:
		d.Add(n, at, "want a duration of more than 0, not %s", n.Value)
	case parsed > maxDuration:
		d.Add(n, at, "want at most %s, not %s", maxDuration, n.Value)
	}
	v.Duration = parsed
}

// maxDuration bounds durations. openb's trace spans half of it.
const maxDuration = 365 * 24 * time.Hour
