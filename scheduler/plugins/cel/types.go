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

// schema declares Go structs to CEL under the names of their JSON fields, so that compiling an
// expression checks it. An expression reads fields in place; nothing is converted before. A schema
// does not change after its declaration and is safe for concurrent use.
type schema struct {
	types.Provider
	types.Adapter
	byName map[string]*structType
	byType map[reflect.Type]*structType
}

type structType struct {
	name    string
	celType *types.Type
	goType  reflect.Type
	fields  map[string]*structField
}

// structField is one field of a struct, under its JSON name.
type structField struct {
	name    string
	index   []int
	celType *types.Type
	convert converter
	// always: has() is true even for a zero value, because JSON always contains the
	// field.
	always bool
}

type converter func(reflect.Value) any

// newSchema declares the types of the samples and all types that they contain.
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
	// Messages call k8s.io/api/core/v1.Pod core.v1.Pod.
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

// convertible returns the CEL type for a Go type, and the converter to it.
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
		// CEL converts this type itself.
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
	panic(fmt.Sprintf("expressions cannot use the type %s", t))
}

// pointerTo returns a pointer to a struct in place. Only a struct in a map has no
// address.
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

// mapping converts a small map, such as resources, all at once.
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

func (s *schema) FindStructType(name string) (*types.Type, bool) {
	if st := s.byName[name]; st != nil {
		return types.NewTypeTypeWithParam(st.celType), true
	}
	return s.Provider.FindStructType(name)
}

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

// FindStructFieldType is called by the compiler, and once for each field of a
// program, which then reads the field through the returned type.
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

// isSet reports whether the object's JSON would contain the field.
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

// get reads the field. An unset field reads as its zero value, except for the API's pointers, whose
// absence has a meaning: reading those is an error.
func (f *structField) get(object any) (any, error) {
	v := reflect.ValueOf(object).Elem().FieldByIndex(f.index)
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fmt.Errorf("the field %s is not set; check it first with has()", f.name)
	}
	return f.convert(v), nil
}
