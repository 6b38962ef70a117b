package config

import (
	"reflect"
	"strings"

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
	c := &yamlsource.Checker{Document: d.Document}
	c.Duplicates(d.Root)
	internal, err := decode(scheme.Codecs, d.JSON)
	if err == nil && internal != nil {
		return internal, c.List, nil
	}
	// Kubernetes' decoder stops at the first wrong type. So if it refuses the document, a walk
	// along the types finds all mistakes.
	c.Struct = func(t reflect.Type, fields map[string]any, at path) {
		if t == reflect.TypeFor[configv1.PluginConfig]() {
			arguments(c, fields, at)
		}
	}
	sound, _ := c.Check(reflect.TypeFor[configv1.KubeSchedulerConfiguration](), d.value, nil)
	mistakes := c.List
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
		return nil, mistakes, c.Wrong
	}
	lenient := serializer.NewCodecFactory(scheme.Scheme, serializer.DisableStrict)
	internal, _ = decode(lenient, data)
	return internal, mistakes, c.Wrong
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
				m = d.Mistake(parsePath(m.Message[i+1:i+1+j]), "%s", err)
			}
		}
		mistakes = append(mistakes, m)
	}
	return mistakes
}

func arguments(c *yamlsource.Checker, pluginConfig map[string]any, at path) {
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
				c.Note(c.Mistake(at.Child(key), "want %s for the arguments of %s, not %s", want, name, yamlsource.Quoted(got)))
				delete(pluginConfig, "args")
			}
		}
	}
	if _, set := pluginConfig["args"]; !set {
		return
	}
	if sound, ok := c.Check(t, pluginConfig["args"], at); ok {
		pluginConfig["args"] = sound
	} else {
		delete(pluginConfig, "args")
	}
}

func argumentsType(plugin string) (reflect.Type, bool) {
	obj, err := scheme.Scheme.New(configv1.SchemeGroupVersion.WithKind(plugin + "Args"))
	if err != nil {
		return nil, false
	}
	return reflect.TypeOf(obj).Elem(), true
}
