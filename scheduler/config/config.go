// Package config reads KubeSchedulerConfiguration documents with strict decoding and with
// Kubernetes' own defaulting and validation, and reports every mistake with its line. It also
// says what a configuration means: which plugins run at which extension point with which
// arguments, and how two configurations differ.
//
// It knows the types of Kubernetes' plugins but never creates one, and knows nothing of a running
// scheduler. It may import the scheduler's configuration API, Kubernetes' plugins,
// scheduler/internal/upstream, scheduler/plugins/argument and scheduler/yamlsource.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/plugins/argument"
	"kube-scheduler-simulator/scheduler/yamlsource"
)

// Configuration is a document and its meaning. It is immutable; its methods may be called from any
// goroutine.
type Configuration struct {
	// YAML is the document as its author wrote it; it may be JSON.
	YAML []byte
	// Internal is the defaulted and validated form. It is shared: copy it
	// before changing it.
	Internal *config.KubeSchedulerConfiguration

	// document is nil for the default configuration, which has no author.
	document *document
	// written is the document as a JSON value: the fields that the author set, without
	// defaults.
	written map[string]any
	// view is the meaning of the document, and standard that of Kubernetes' default.
	view, standard *view
}

func newConfiguration(text []byte, internal *config.KubeSchedulerConfiguration, written map[string]any) (*Configuration, error) {
	c := &Configuration{YAML: text, Internal: internal, written: written}
	standard, err := Default()
	if err != nil {
		return nil, err
	}
	c.standard = standard.view
	if c.view, err = newView(internal); err != nil {
		return nil, err
	}
	return c, nil
}

// Parse reads a document in YAML or JSON. It does not know which out-of-tree plugins exist, so it
// accepts a plugin of any name. The error is an *Error with every mistake in the document.
func Parse(document []byte) (*Configuration, error) {
	return parse(document, nil, Options{})
}

// Options describe the scheduler that will run the configuration.
type Options struct {
	// OutOfTree are the names of the plugins in addition to Kubernetes'.
	OutOfTree []string
	// Arguments checks the arguments of an out-of-tree plugin; they are nil for a plugin
	// that is enabled without any. The fields of the errors are within the arguments, and
	// lines and columns within the text that the field holds. Without Arguments, mistakes
	// show when the plugin is created.
	Arguments func(plugin string, args runtime.Object) []*argument.Error
	// Extender says why the scheduler may not call an extender; nil if it may. Without
	// Extender, every extender is allowed.
	Extender func(urlPrefix string) error
}

// ParseWith is like Parse, but reports a plugin as a mistake if it is neither Kubernetes' nor one
// of the options.
func ParseWith(document []byte, options Options) (*Configuration, error) {
	return parse(document, registered(options.OutOfTree), options)
}

// Refuse turns an error of building a scheduler with c into the error that Parse
// would return: where a plugin could not be made, the place is that of its arguments.
func (c *Configuration) Refuse(err error) *Error {
	failed, ok := errors.AsType[*upstream.PluginError](err)
	if !ok || c.document == nil {
		return newError([]Mistake{{Message: err.Error()}})
	}
	for i, profile := range c.Internal.Profiles {
		at := slices.IndexFunc(profile.PluginConfig, func(c config.PluginConfig) bool { return c.Name == failed.Plugin })
		if at >= 0 && failed.Profile == profile.SchedulerName {
			p := path{{Key: "profiles"}}.At(i).Child("pluginConfig").At(at).Child("args")
			return newError([]Mistake{c.document.Mistake(p, "%s: %s", failed.Plugin, failed.Err)})
		}
	}
	return newError([]Mistake{{Message: err.Error()}})
}

// Plugins returns the sorted names of the plugins that run in any profile.
func (c *Configuration) Plugins() []string {
	var all []string
	for _, p := range c.view.profiles {
		all = append(all, p.names()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// JSON returns the document as JSON.
func (c *Configuration) JSON() ([]byte, error) {
	data, wrong := yamlsource.JSON(c.YAML)
	if wrong != nil {
		return nil, fmt.Errorf("converting the scheduler configuration to JSON: %w", wrong)
	}
	return bytes.Clone(data), nil
}

// Encode writes c in the current version of the API.
func Encode(c *config.KubeSchedulerConfiguration) ([]byte, error) {
	external := &configv1.KubeSchedulerConfiguration{}
	if err := scheme.Scheme.Convert(c, external, nil); err != nil {
		return nil, fmt.Errorf("converting the scheduler configuration: %w", err)
	}
	external.SetGroupVersionKind(configv1.SchemeGroupVersion.WithKind(kind))
	// Only the scheme's encoder can nest the typed arguments with their kinds.
	encoder := scheme.Codecs.EncoderForVersion(jsonSerializer(), configv1.SchemeGroupVersion)
	data, err := runtime.Encode(encoder, external)
	if err != nil {
		return nil, fmt.Errorf("encoding the scheduler configuration: %w", err)
	}
	text, err := yaml.JSONToYAML(data)
	if err != nil {
		return nil, fmt.Errorf("encoding the scheduler configuration: %w", err)
	}
	return text, nil
}

const (
	kind       = "KubeSchedulerConfiguration"
	apiVersion = "kubescheduler.config.k8s.io/v1"
)

func jsonSerializer() runtime.Serializer {
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	return info.Serializer
}
