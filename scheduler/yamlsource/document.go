package yamlsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"
)

// Document is a text that has been read: as JSON, and with the places of its fields.
type Document struct {
	Root *yaml.Node
	JSON []byte
	// Value is JSON, decoded as Kubernetes does.
	Value any
}

// NewDocument returns the document of a text that Parse has read.
func NewDocument(root *yaml.Node, text []byte) (*Document, *Mistake) {
	data, wrong := JSON(text)
	if wrong != nil {
		return nil, wrong
	}
	d := &Document{Root: root, JSON: data}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &d.Value); err != nil {
		return nil, mistake(Syntax, "%s", err)
	}
	return d, nil
}

// Mistake returns a mistake at the value of p.
func (d *Document) Mistake(p Path, format string, args ...any) Mistake {
	return d.mistake(p, false, format, args...)
}

// KeyMistake returns a mistake at the key of p.
func (d *Document) KeyMistake(p Path, format string, args ...any) Mistake {
	return d.mistake(p, true, format, args...)
}

func (d *Document) mistake(p Path, key bool, format string, args ...any) Mistake {
	_, place := Locate(d.Root, p, key)
	return Mistake{Field: p.String(), Line: place.Line, Column: place.Column, Message: fmt.Sprintf(format, args...)}
}

// At returns the value at p; nil when there is none.
func (d *Document) At(p Path) any {
	v := d.Value
	for _, s := range p {
		switch inside := v.(type) {
		case map[string]any:
			v = inside[s.Key]
		case []any:
			if s.Key != "" || s.Index >= len(inside) {
				return nil
			}
			v = inside[s.Index]
		default:
			return nil
		}
	}
	return v
}

// Decode decodes the only document of a text into a Go value with tags of JSON, and returns every
// mistake. Fields that the value does not have are mistakes, and so are those that are there twice.
// It stops when ctx ends.
func Decode(ctx context.Context, text []byte, b Bounds, into any) Errors {
	data, wrong := ToJSON(ctx, text, b)
	if wrong != nil {
		return Errors{*wrong}
	}
	return DecodeJSON(ctx, text, data, b, into)
}

// DecodeJSON is Decode for a text of which ToJSON made data.
func DecodeJSON(ctx context.Context, text, data []byte, b Bounds, into any) Errors {
	return decode(data, into, func() *yaml.Node {
		root, _ := Parse(ctx, text, b)
		return root
	})
}

// DecodeNode is Decode for a node, or a part of one, and the same as JSON.
func DecodeNode(root *yaml.Node, data []byte, into any) Errors {
	return decode(data, into, func() *yaml.Node { return root })
}

// decode calls root for the places of mistakes only. It returns nil for JSON that no parser of YAML
// reads.
func decode(data []byte, into any, root func() *yaml.Node) Errors {
	strict, err := kjson.UnmarshalStrict(data, into)
	if err = errors.Join(append(strict, err)...); err == nil {
		return nil
	}
	// The library stops at the first value of a wrong type, and knows no places.
	place := root()
	if place == nil {
		place = &yaml.Node{}
	}
	c := Checker{}
	c.Duplicates(place)
	var wrong *Mistake
	if c.Document, wrong = NewDocument(place, data); wrong == nil {
		c.Check(reflect.TypeOf(into).Elem(), c.Document.Value, nil)
	}
	if len(c.List) == 0 {
		c.List = []Mistake{*mistake("", "%s", strings.TrimPrefix(err.Error(), "json: "))}
	}
	return Sorted(c.List)
}

// Checker compares the values of a document with Go types as a strict decoder of JSON does, and
// goes on after a mistake.
type Checker struct {
	Mistakes
	*Document
	// Struct looks at the sound fields of a struct, too. It may be nil.
	Struct func(t reflect.Type, fields map[string]any, at Path)
	// Wrong are the paths of the values that have the wrong type.
	Wrong []Path
}

// Check returns v without its wrong parts, and whether anything is left.
func (c *Checker) Check(t reflect.Type, v any, at Path) (any, bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if c.Full() {
		return nil, false
	}
	if v == nil {
		return v, true
	}
	_, decodesItself := reflect.New(t).Interface().(json.Unmarshaler)
	fields, isObject := v.(map[string]any)
	items, isList := v.([]any)
	switch {
	case decodesItself:
	case t.Kind() == reflect.Struct && isObject:
		return c.object(t, fields, at), true
	case t.Kind() == reflect.Map && isObject:
		sound := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			if value, ok := c.Check(t.Elem(), fields[key], at.Child(key)); ok {
				sound[key] = value
			}
		}
		return sound, true
	case t.Kind() == reflect.Slice && isList:
		sound := make([]any, 0, len(items))
		for i, item := range items {
			// A wrong item stays, so that later items keep their index.
			item, _ = c.Check(t.Elem(), item, at.At(i))
			sound = append(sound, item)
		}
		return sound, true
	}
	data, err := json.Marshal(v)
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(data, reflect.New(t).Interface())
	}
	if err == nil {
		return v, true
	}
	c.Wrong = append(c.Wrong, at)
	switch want := Wanted(t); {
	case decodesItself && want != aDuration:
		c.Note(c.Mistake(at, "%s", strings.TrimPrefix(err.Error(), "json: ")))
	case t.Kind() == reflect.Struct && len(at) == 0:
		c.Note(c.Mistake(at, "want %s with the fields %s, not %s", want, strings.Join(slices.Sorted(maps.Keys(fieldTypes(t))), ", "), Quoted(v)))
	default:
		c.Note(c.Mistake(at, "want %s, not %s", want, Quoted(v)))
	}
	return nil, false
}

func (c *Checker) object(t reflect.Type, fields map[string]any, at Path) map[string]any {
	types := fieldTypes(t)
	known := slices.Sorted(maps.Keys(types))
	sound := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if types[key] == nil {
			m := c.KeyMistake(at.Child(key), "%s", unknownField(key, known))
			m.Reason = UnknownField
			c.Note(m)
		} else if value, ok := c.Check(types[key], fields[key], at.Child(key)); ok {
			sound[key] = value
		}
	}
	if c.Struct != nil {
		c.Struct(t, sound, at)
	}
	return sound
}

// fieldTypes returns the types of the fields of t by their JSON names.
func fieldTypes(t reflect.Type) map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			maps.Copy(types, fieldTypes(inner))
		case name == "-" || !f.IsExported():
		case name == "":
			types[f.Name] = f.Type
		default:
			types[name] = f.Type
		}
	}
	return types
}

const (
	anObject  = "a mapping"
	aDuration = "a duration such as 90s"
)

// Wanted says what a value of a type is, to people who write YAML.
func Wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int32:
		return "a whole number of 32 bits"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a string in base64"
		}
		return "a list"
	case reflect.Struct:
		if t.NumField() == 1 && t.Field(0).Type == reflect.TypeFor[time.Duration]() {
			return aDuration
		}
	}
	return anObject
}

// Quoted shows a value of JSON in a message.
func Quoted(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return anObject
	case []any:
		return "a list"
	case string:
		return fmt.Sprintf("%q", Cut(v, maxQuoted))
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}
