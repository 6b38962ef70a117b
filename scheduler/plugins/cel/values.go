package cel

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// NativeToValue converts a pointer to a declared struct to a CEL value, and leaves
// other values to CEL.
func (s *schema) NativeToValue(value any) ref.Val {
	if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer {
		if st := s.byType[v.Type().Elem()]; st != nil {
			if v.IsNil() {
				return types.NullValue
			}
			return &object{schema: s, of: st, pointer: value}
		}
	}
	return s.Adapter.NativeToValue(value)
}

// object is a struct as a CEL value. It caches nothing, so any number of
// evaluations may share it.
type object struct {
	schema  *schema
	of      *structType
	pointer any
}

var (
	_ ref.Val            = (*object)(nil)
	_ traits.Indexer     = (*object)(nil)
	_ traits.FieldTester = (*object)(nil)
)

// ConvertToNative supports only the type of the pointer itself.
func (o *object) ConvertToNative(t reflect.Type) (any, error) {
	if reflect.TypeOf(o.pointer).AssignableTo(t) {
		return o.pointer, nil
	}
	return nil, fmt.Errorf("%s cannot become %v", o.of.name, t)
}

// ConvertToType supports only the object's own type.
func (o *object) ConvertToType(t ref.Type) ref.Val {
	switch t.TypeName() {
	case o.of.name:
		return o
	case types.TypeType.TypeName():
		return o.of.celType
	}
	return types.NewErr("%s cannot become %s", o.of.name, t.TypeName())
}

// Equal compares objects as the API server does.
func (o *object) Equal(other ref.Val) ref.Val {
	p, ok := other.(*object)
	return types.Bool(ok && o.of == p.of && apiequality.Semantic.DeepEqual(o.pointer, p.pointer))
}

func (o *object) Type() ref.Type { return o.of.celType }

func (o *object) Value() any { return o.pointer }

func (o *object) Get(name ref.Val) ref.Val {
	f := o.of.fields[fieldName(name)]
	if f == nil {
		return types.NewErr("no such field: %v", name)
	}
	value, err := f.get(o.pointer)
	if err != nil {
		return types.WrapErr(err)
	}
	return o.schema.NativeToValue(value)
}

func (o *object) IsSet(name ref.Val) ref.Val {
	f := o.of.fields[fieldName(name)]
	if f == nil {
		return types.NewErr("no such field: %v", name)
	}
	return types.Bool(f.isSet(o.pointer))
}

func fieldName(v ref.Val) string {
	name, _ := v.(types.String)
	return string(name)
}
