// Package argument reads the arguments that a plugin is given in the scheduler's
// configuration, and says what is wrong with them.
//
// It may import apimachinery only.
package argument

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Error is one mistake in a plugin's arguments. A factory returns it, wrapped or
// joined with others; All finds it again.
type Error struct {
	// Field is the path within the arguments; empty when they are wrong as a
	// whole.
	Field string
	// Line and Column, from 1, are the place within the text that the field
	// holds, such as an expression. 0 means that it has none.
	Line, Column int
	Message      string
}

// Error returns the mistake in a line.
func (e *Error) Error() string {
	at := e.Field
	if e.Line > 0 {
		at += fmt.Sprintf(", line %d, column %d", e.Line, e.Column)
	}
	return strings.TrimPrefix(at+": "+e.Message, ": ")
}

// All returns every Error in the tree of err, in order.
func All(err error) []*Error {
	if e, ok := err.(*Error); ok {
		return []*Error{e}
	}
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		return All(err.Unwrap())
	case interface{ Unwrap() []error }:
		var out []*Error
		for _, part := range err.Unwrap() {
			out = append(out, All(part)...)
		}
		return out
	}
	return nil
}

// Decode reads a plugin's arguments, as its factory gets them, into a struct.
// Fields that into does not have, and repeated ones, are Errors. No arguments
// leave into as it is.
func Decode(args runtime.Object, into any) error {
	if args == nil {
		return nil
	}
	unknown, ok := args.(*runtime.Unknown)
	if !ok {
		return fmt.Errorf("reading the arguments: want them as they are written, got %T", args)
	}
	raw := unknown.Raw
	if unknown.ContentType == runtime.ContentTypeYAML {
		converted, err := yaml.YAMLToJSONStrict(raw)
		if err != nil {
			return &Error{Message: err.Error()}
		}
		raw = converted
	}
	if len(raw) == 0 {
		return nil
	}
	strict, err := json.UnmarshalStrict(raw, into)
	if err != nil {
		return decodingError(err)
	}
	var errs []error
	for _, err := range strict {
		var field json.FieldError
		if errors.As(err, &field) {
			errs = append(errs, &Error{Field: field.FieldPath(), Message: strings.TrimSuffix(err.Error(), fmt.Sprintf(" %q", field.FieldPath()))})
			continue
		}
		errs = append(errs, &Error{Message: err.Error()})
	}
	return errors.Join(errs...)
}

// decodingError words the decoder's complaint for people who write YAML.
func decodingError(err error) error {
	var mismatch *stdjson.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return &Error{Field: mismatch.Field, Message: fmt.Sprintf("must be %s, not %s", kindOf(mismatch.Type), mismatch.Value)}
	}
	return &Error{Message: err.Error()}
}

func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float64, reflect.Float32:
		return "a number"
	}
	return "a whole number"
}
