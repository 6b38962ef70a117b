// Package argument decodes the arguments that the scheduler's configuration gives
// to a plugin, and reports mistakes in them.
//
// A plugin whose arguments have a kind registers them with Register. The package may import
// apimachinery, and the scheduler's configuration API.
package argument

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// Error is one mistake in a plugin's arguments. A factory returns it, possibly
// wrapped or joined with others; package config finds it with All.
type Error struct {
	// Field is the path within the arguments; empty when they are wrong as a
	// whole.
	Field string
	// Line and Column, from 1, are the place within the field's text, such as an expression; 0 for
	// none.
	Line, Column int
	Message      string
}

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

// Decode reads a factory's arguments into a struct. Unknown and repeated fields are Errors. Without
// arguments, into stays as it is.
func Decode(args runtime.Object, into any) error {
	if args == nil {
		return nil
	}
	unknown, ok := args.(*runtime.Unknown)
	if !ok {
		return fmt.Errorf("reading the arguments: want the raw arguments, got %T", args)
	}
	if len(unknown.Raw) == 0 {
		return nil
	}
	var errs []error
	for _, m := range yamlsource.Decode(context.Background(), unknown.Raw, yamlsource.Settings, into) {
		errs = append(errs, &Error{Field: m.Field, Message: m.Message})
	}
	return errors.Join(errs...)
}
