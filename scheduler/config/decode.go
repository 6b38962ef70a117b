package config

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// decode decodes and defaults as Kubernetes does.
func decode(codecs serializer.CodecFactory, data []byte) (*config.KubeSchedulerConfiguration, error) {
	obj, gvk, err := codecs.UniversalDecoder().Decode(data, nil, nil)
	internal, ok := obj.(*config.KubeSchedulerConfiguration)
	if err != nil || !ok {
		return nil, err
	}
	internal.APIVersion = gvk.GroupVersion().String()
	return internal, nil
}

// strictly decodes d or returns its mistakes. With mistakes it may still return a configuration:
// that of the document without them. The paths lead to values of the wrong type.
func (d *document) strictly() (*config.KubeSchedulerConfiguration, []Mistake, []path) {
	mistakes := d.duplicates()
	internal, err := decode(scheme.Codecs, d.json)
	if err == nil && internal != nil {
		return internal, mistakes, nil
	}
	// Kubernetes' decoder stops at the first wrong type. So if it refuses the document, a walk
	// along the types finds all mistakes.
	c := &checker{document: d}
	sound, _ := c.check(reflect.TypeFor[configv1.KubeSchedulerConfiguration](), d.value, nil)
	mistakes = append(mistakes, c.mistakes...)
	if err != nil && len(mistakes) == 0 && !d.foreign() {
		mistakes = append(mistakes, d.unexplained(err)...)
	}
	fields, _ := sound.(map[string]any)
	if fields == nil {
		fields = map[string]any{}
	}
	fields["apiVersion"], fields["kind"] = apiVersion, kind
	data, err := utiljson.Marshal(fields)
	if err != nil {
		return nil, mistakes, c.wrong
	}
	lenient := serializer.NewCodecFactory(scheme.Scheme, serializer.DisableStrict)
	internal, _ = decode(lenient, data)
	return internal, mistakes, c.wrong
}

// foreign reports whether the header has a mistake already.
func (d *document) foreign() bool {
	return d.value["kind"] != kind || d.value["apiVersion"] != apiVersion
}

// unexplained turns an error of the decoder into mistakes at the fields that it names.
func (d *document) unexplained(err error) []Mistake {
	errs := []error{err}
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		errs = strict.Errors()
	}
	var mistakes []Mistake
	for _, err := range errs {
		m := Mistake{Message: err.Error()}
		if i := strings.IndexByte(m.Message, '"'); i >= 0 {
			if j := strings.IndexByte(m.Message[i+1:], '"'); j >= 0 {
				m = d.mistake(parsePath(m.Message[i+1:i+1+j]), "%s", err)
			}
		}
		mistakes = append(mistakes, m)
	}
	return mistakes
}

// checker compares a JSON value with a Go type as Kubernetes' strict decoder does, and continues
// after a mistake.
type checker struct {
	document *document
	mistakes []Mistake
	wrong    []path // of the values that have the wrong type
}

// check returns v without its wrong parts, and whether anything is left.
func (c *checker) check(t reflect.Type, v any, at path) (any, bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if len(c.mistakes) >= maxFound {
		return nil, false
	}
	if v == nil || t == reflect.TypeFor[runtime.RawExtension]() {
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
		for _, key := range keys(fields) {
			if value, ok := c.check(t.Elem(), fields[key], at.Child(key)); ok {
				sound[key] = value
			}
		}
		return sound, true
	case t.Kind() == reflect.Slice && isList:
		sound := make([]any, 0, len(items))
		for i, item := range items {
			// A wrong item stays, so that later items keep their index.
			item, _ = c.check(t.Elem(), item, at.At(i))
			sound = append(sound, item)
		}
		return sound, true
	}
	data, err := utiljson.Marshal(v)
	if err == nil {
		err = utiljson.Unmarshal(data, reflect.New(t).Interface())
	}
	if err != nil {
		c.wrong = append(c.wrong, at)
		c.mistakes = append(c.mistakes, c.document.mistake(at, "want %s, got %s", wanted(t), quoted(v)))
		return nil, false
	}
	return v, true
}

func (c *checker) object(t reflect.Type, fields map[string]any, at path) map[string]any {
	types := fieldTypes(t)
	sound := map[string]any{}
	for _, key := range keys(fields) {
		value := fields[key]
		fieldType, known := types[key]
		if !known {
			if len(c.mistakes) >= maxFound {
				break
			}
			c.mistakes = append(c.mistakes, because(c.document.keyMistake(at.Child(key), "unknown field %q%s", yamlsource.Cut(key, 60), didYouMean(key, keys(types))), UnknownField))
			continue
		}
		if value, ok := c.check(fieldType, value, at.Child(key)); ok {
			sound[key] = value
		}
	}
	if t == reflect.TypeFor[configv1.PluginConfig]() {
		c.arguments(sound, at)
	}
	return sound
}

// arguments checks the arguments of a plugin whose arguments have a kind.
func (c *checker) arguments(pluginConfig map[string]any, at path) {
	name, _ := pluginConfig["name"].(string)
	t, ok := argumentsType(name)
	if !ok || pluginConfig["args"] == nil {
		return
	}
	at = at.Child("args")
	args, isObject := pluginConfig["args"].(map[string]any)
	if isObject {
		for key, want := range map[string]string{"kind": name + "Args", "apiVersion": apiVersion} {
			if got, set := args[key]; set && got != want && got != "" {
				c.mistakes = append(c.mistakes, c.document.mistake(at.Child(key), "want %s for the arguments of %s, got %s", want, name, quoted(got)))
				delete(pluginConfig, "args")
			}
		}
	}
	if _, set := pluginConfig["args"]; !set {
		return
	}
	if sound, ok := c.check(t, pluginConfig["args"], at); ok {
		pluginConfig["args"] = sound
	} else {
		delete(pluginConfig, "args")
	}
}

// argumentsType returns the type of the arguments of a plugin of Kubernetes
// that takes some.
func argumentsType(plugin string) (reflect.Type, bool) {
	obj, err := scheme.Scheme.New(configv1.SchemeGroupVersion.WithKind(plugin + "Args"))
	if err != nil {
		return nil, false
	}
	return reflect.TypeOf(obj).Elem(), true
}

// fieldTypes returns the types of the fields of t by their JSON names.
func fieldTypes(t reflect.Type) map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case f.Anonymous && name == "":
			for inner, innerType := range fieldTypes(f.Type) {
				types[inner] = innerType
			}
		case name == "":
			types[f.Name] = f.Type
		default:
			types[name] = f.Type
		}
	}
	return types
}

func wanted(t reflect.Type) string {
	if t == reflect.TypeFor[metav1.Duration]() {
		return "a duration such as 10s"
	}
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
	default:
		return "an object"
	}
}

func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
