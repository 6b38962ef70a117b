package cel

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// schema declares Go structs to CEL under the names of their JSON fields, so
// that an expression is checked when it is compiled. Nothing is converted before
// an expression asks for it: a field is read where it lies. A schema does not
// change once it has been declared, and is safe for concurrent use.
type schema struct {
	types.Provider
	types.Adapter
	byName map[string]*structType
	byType map[reflect.Type]*structType
}

// structType is one declared struct.
type structType struct {
	name    string
	celType *types.Type
	goType  reflect.Type
	fields  map[string]*structField
}

// structField is one field of a struct, as JSON names it.
type structField struct {
	name    string
	index   []int
	celType *types.Type
	convert converter
	// always: has() is true even for a zero value, as JSON writes the field.
	always bool
}

// converter reads a value that is set, as something that CEL takes.
type converter func(reflect.Value) any

// newSchema declares the types of the samples, and all that they hold.
func newSchema(provider types.Provider, adapter types.Adapter, samples ...reflect.Type) *schema {
	s := &schema{Provider: provider, Adapter: adapter, byName: map[string]*structType{}, byType: map[reflect.Type]*structType{}}
	for _, t := range samples {
		s.declare(t)
	}
	return s
}

func (s *schema) declare(t reflect.Type) *structType {
	if known := s.byType[t]; known != nil {
		return known
	}
	// k8s.io/api/core/v1.Pod is core.v1.Pod to people.
	path := strings.Split(t.PkgPath(), "/")
	name := strings.Join(append(path[max(0, len(path)-2):], t.Name()), ".")
	st := &structType{name: name, celType: types.NewObjectType(name), goType: t, fields: map[string]*structField{}}
	s.byName[name], s.byType[t] = st, st
	s.declareFields(st, t, nil)
	return st
}

func (s *schema) declareFields(st *structType, t reflect.Type, index []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := append(append([]int(nil), index...), i)
		switch {
		case !f.IsExported() || name == "-" || f.Type == reflect.TypeFor[[]metav1.ManagedFieldsEntry]():
			continue
		case f.Anonymous && name == "":
			s.declareFields(st, f.Type, at)
			continue
		}
		field := &structField{name: name, index: at, always: !strings.Contains(options, "omit")}
		field.celType, field.convert = s.convertible(f.Type)
		st.fields[name] = field
	}
}

// convertible returns the type of CEL for a Go type, and how to get there.
// Quantities are strings, as in YAML.
func (s *schema) convertible(t reflect.Type) (*types.Type, converter) {
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		return types.StringType, func(v reflect.Value) any { q := v.Interface().(resource.Quantity); return q.String() }
	case reflect.TypeFor[metav1.Time]():
		return types.TimestampType, func(v reflect.Value) any { return v.Interface().(metav1.Time).Time }
	case reflect.TypeFor[metav1.MicroTime]():
		return types.TimestampType, func(v reflect.Value) any { return v.Interface().(metav1.MicroTime).Time }
	case reflect.TypeFor[metav1.Duration]():
		return types.DurationType, func(v reflect.Value) any { return time.Duration(v.Field(0).Int()) }
	case reflect.TypeFor[intstr.IntOrString]():
		return types.DynType, intOrString
	case reflect.TypeFor[map[string]string]():
		// CEL knows this one.
		return types.NewMapType(types.StringType, types.StringType), func(v reflect.Value) any { return v.Interface() }
	}
	switch t.Kind() {
	case reflect.Pointer:
		celType, convert := s.convertible(t.Elem())
		return celType, func(v reflect.Value) any { return convert(v.Elem()) }
	case reflect.Struct:
		return s.declare(t).celType, pointerTo
	case reflect.Slice:
		return s.list(t)
	case reflect.Map:
		return s.mapping(t)
	case reflect.String:
		return types.StringType, func(v reflect.Value) any { return v.String() }
	case reflect.Bool:
		return types.BoolType, func(v reflect.Value) any { return v.Bool() }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return types.IntType, func(v reflect.Value) any { return v.Int() }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return types.UintType, func(v reflect.Value) any { return v.Uint() }
	case reflect.Float32, reflect.Float64:
		return types.DoubleType, func(v reflect.Value) any { return v.Float() }
	}
	panic(fmt.Sprintf("type %s has no place in an expression", t))
}

// pointerTo leaves a struct where it lies. Only in a map it has no address.
func pointerTo(v reflect.Value) any {
	if !v.CanAddr() {
		held := reflect.New(v.Type())
		held.Elem().Set(v)
		return held.Interface()
	}
	return v.Addr().Interface()
}

func intOrString(v reflect.Value) any {
	i := v.Interface().(intstr.IntOrString)
	if i.Type == intstr.String {
		return i.StrVal
	}
	return int64(i.IntVal)
}

func (s *schema) list(t reflect.Type) (*types.Type, converter) {
	if t.Elem().Kind() == reflect.Uint8 {
		return types.BytesType, func(v reflect.Value) any { return v.Bytes() }
	}
	celType, convert := s.convertible(t.Elem())
	return types.NewListType(celType), func(v reflect.Value) any {
		values := make([]ref.Val, v.Len())
		for i := range values {
			values[i] = s.NativeToValue(convert(v.Index(i)))
		}
		return types.NewRefValList(s, values)
	}
}

// mapping converts a map of few entries, such as resources, at once.
func (s *schema) mapping(t reflect.Type) (*types.Type, converter) {
	celType, convert := s.convertible(t.Elem())
	return types.NewMapType(types.StringType, celType), func(v reflect.Value) any {
		values := make(map[ref.Val]ref.Val, v.Len())
		for entries := v.MapRange(); entries.Next(); {
			values[types.String(entries.Key().String())] = s.NativeToValue(convert(entries.Value()))
		}
		return types.NewRefValMap(s, values)
	}
}

// FindStructType is asked by the compiler.
func (s *schema) FindStructType(name string) (*types.Type, bool) {
	if st := s.byName[name]; st != nil {
		return types.NewTypeTypeWithParam(st.celType), true
	}
	return s.Provider.FindStructType(name)
}

// FindStructFieldNames is asked by the compiler.
func (s *schema) FindStructFieldNames(name string) ([]string, bool) {
	st := s.byName[name]
	if st == nil {
		return s.Provider.FindStructFieldNames(name)
	}
	var names []string
	for field := range st.fields {
		names = append(names, field)
	}
	return names, true
}

// FindStructFieldType is asked by the compiler, and once for each field of a
// program, which then reads the field through the answer.
func (s *schema) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	st := s.byName[name]
	if st == nil {
		return s.Provider.FindStructFieldType(name, field)
	}
	f := st.fields[field]
	if f == nil {
		return nil, false
	}
	return &types.FieldType{
		Type:    f.celType,
		IsSet:   func(object any) bool { return f.isSet(object) },
		GetFrom: func(object any) (any, error) { return f.get(object) },
	}, true
}

// isSet says whether JSON would have the field.
func (f *structField) isSet(object any) bool {
	v := reflect.ValueOf(object).Elem().FieldByIndex(f.index)
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return f.always || v.Len() > 0
	case reflect.Pointer:
		return !v.IsNil()
	}
	return f.always || !v.IsZero()
}

// get reads the field. One that is not set is its zero value, but for those that
// may be absent, the pointers of the API: their absence has a meaning of its own.
func (f *structField) get(object any) (any, error) {
	v := reflect.ValueOf(object).Elem().FieldByIndex(f.index)
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fmt.Errorf("the field %s is not set, and has() asks for that first", f.name)
	}
	return f.convert(v), nil
}
