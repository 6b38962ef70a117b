package upstream

import (
	"reflect"

	fwk "k8s.io/kube-scheduler/framework"
)

// The types of the states that plugins write in PreFilter are not exported, so we read
// them through reflection. A field that is gone or has another type reads as absent,
// and the contract test names the types to read again.

// stateOf returns what a plugin wrote into state in PreFilter, or the zero Value.
func stateOf(state fwk.CycleState, plugin string) reflect.Value {
	data, err := state.Read(fwk.StateKey("PreFilter" + plugin))
	if err != nil {
		return reflect.Value{}
	}
	return reflect.ValueOf(data)
}

// field returns the named field of a struct or of a pointer to one, or the zero Value.
func field(v reflect.Value, name string) reflect.Value {
	v = reflect.Indirect(v)
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v.FieldByName(name)
}

// valueOf returns the value of v, an addressable field that need not be exported. It
// reports false unless v has exactly the type T.
func valueOf[T any](v reflect.Value) (T, bool) {
	var zero T
	switch {
	case !v.IsValid() || v.Type() != reflect.TypeFor[T]():
		return zero, false
	case v.CanInterface():
		return v.Interface().(T), true
	case v.CanAddr():
		return *(*T)(v.Addr().UnsafePointer()), true
	}
	return zero, false
}
