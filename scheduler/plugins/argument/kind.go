package argument

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	configv1 "k8s.io/kubernetes/pkg/scheduler/apis/config/v1"
)

// Kind is a pointer to the Go type of the arguments of a plugin.
type Kind[T any] interface {
	*T
	runtime.Object
}

// Register makes T the kind of a plugin's arguments: the plugin's name with Args behind it, in
// kubescheduler.config.k8s.io/v1. Kubernetes then decodes them strictly, calls setDefaults, even
// for a plugin without arguments, and gives the factory a P. Call it when the plugin's package is
// initialized: it changes the process's schemes.
func Register[T any, P Kind[T]](plugin string, setDefaults func(P)) {
	kind := plugin + "Args"
	for _, s := range []*runtime.Scheme{scheme.Scheme, configv1.GetPluginArgConversionScheme()} {
		// One type serves as both versions, so nothing is converted.
		s.AddKnownTypeWithName(config.SchemeGroupVersion.WithKind(kind), P(new(T)))
		s.AddKnownTypeWithName(configv1.SchemeGroupVersion.WithKind(kind), P(new(T)))
		s.AddTypeDefaultingFunc(P(new(T)), func(o any) { setDefaults(o.(P)) })
	}
}

// Typed returns a factory's arguments. It decodes and defaults missing and raw ones, which only
// callers without a configuration have.
func Typed[T any, P Kind[T]](args runtime.Object, setDefaults func(P)) (P, error) {
	switch args := args.(type) {
	case P:
		return args, nil
	case nil, *runtime.Unknown:
		typed := P(new(T))
		if err := Decode(args, typed); err != nil {
			return nil, err
		}
		setDefaults(typed)
		return typed, nil
	}
	return nil, fmt.Errorf("reading the arguments: want %T, got %T", P(nil), args)
}
