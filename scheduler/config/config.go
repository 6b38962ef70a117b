// Package config reads KubeSchedulerConfiguration documents: strict decoding,
// Kubernetes' own defaulting and Kubernetes' own validation, every mistake at
// its line; and it says what a configuration means: which plugins run at which
// extension point, with which arguments, and in what two configurations differ.
//
// It knows the types of Kubernetes' plugins but never makes one, and knows
// nothing of a running scheduler. It may import the scheduler's configuration
// API and its plugins, and internal/upstream for what it repeats of Kubernetes.
package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/internal/upstream"
)

// Configuration is a document with what it means. It does not change after it
// was made; its methods may be called from any goroutine.
type Configuration struct {
	// YAML is the document as its author wrote it; it may be JSON.
	YAML []byte
	// Internal is the defaulted and validated form. It is shared: copy it
	// before changing it.
	Internal *config.KubeSchedulerConfiguration

	// document is nil for a configuration that nobody wrote.
	document *document
	// written is the document as a JSON value: what the author set, and
	// nothing by default.
	written map[string]any
	// view is what the document means, standard what Kubernetes' default means.
	view, standard *view
}

func newConfiguration(text []byte, internal *config.KubeSchedulerConfiguration, written map[string]any) (*Configuration, error) {
	c := &Configuration{YAML: text, Internal: internal, written: written}
	def, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("making the default scheduler configuration: %w", err)
	}
	if c.standard, err = newView(def); err != nil {
		return nil, err
	}
	if c.view, err = newView(internal); err != nil {
		return nil, err
	}
	return c, nil
}

// Default returns Kubernetes' default configuration, written out. It depends
// on the feature gates.
func Default() (*Configuration, error) {
	internal, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("making the default scheduler configuration: %w", err)
	}
	text, err := Encode(internal)
	if err != nil {
		return nil, err
	}
	// Nobody set anything.
	return newConfiguration(text, internal, map[string]any{})
}

// Parse reads a document in YAML or JSON. It does not know which plugins there
// are beside those of Kubernetes, so a plugin of any name passes. A failure is
// an *Error with every mistake of the document.
func Parse(document []byte) (*Configuration, error) {
	return parse(document, nil, nil)
}

// Options are what ParseWith knows of the scheduler that is to run.
type Options struct {
	// OutOfTree are the names of the plugins beside those of Kubernetes.
	OutOfTree []string
	// Arguments checks the arguments of a plugin that is not of Kubernetes, which
	// are nil for one that is enabled without. The mistakes' fields are within
	// the arguments, their lines and columns within the text that the field holds.
	// Without it, what is wrong shows when the plugin is made.
	Arguments func(plugin string, args runtime.Object) []Mistake
}

// ParseWith is Parse, and a plugin that is neither of Kubernetes nor among the
// options is a mistake.
func ParseWith(document []byte, options Options) (*Configuration, error) {
	return parse(document, registered(options.OutOfTree), options.Arguments)
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
			p := path{{key: "profiles"}}.at(i).child("pluginConfig").at(at).child("args")
			return newError([]Mistake{c.document.mistake(p, "%s: %s", failed.Plugin, failed.Err)})
		}
	}
	return newError([]Mistake{{Message: err.Error()}})
}

// JSON returns the document as JSON.
func (c *Configuration) JSON() ([]byte, error) {
	if json.Valid(c.YAML) {
		return bytes.Clone(c.YAML), nil
	}
	data, err := yaml.YAMLToJSON(c.YAML)
	if err != nil {
		return nil, fmt.Errorf("converting the scheduler configuration to JSON: %w", err)
	}
	return data, nil
}

// Encode writes c in the current version of the API.
func Encode(c *config.KubeSchedulerConfiguration) ([]byte, error) {
	external := &configv1.KubeSchedulerConfiguration{}
	if err := scheme.Scheme.Convert(c, external, nil); err != nil {
		return nil, fmt.Errorf("converting the scheduler configuration: %w", err)
	}
	external.SetGroupVersionKind(configv1.SchemeGroupVersion.WithKind(kind))
	// The arguments are typed objects that only the scheme's encoder knows how
	// to nest with their kind.
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
