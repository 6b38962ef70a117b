// Package config reads KubeSchedulerConfiguration documents: strict decoding,
// Kubernetes' own defaulting and Kubernetes' own validation, every mistake at
// its line; and it says what a configuration means: which plugins run at which
// extension point, with which arguments, and in what two configurations differ.
//
// It knows the types of Kubernetes' plugins but never makes one, and knows
// nothing of a running scheduler. It may import the scheduler's configuration
// API and its plugins.
package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/plugins/argument"
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
	// Arguments checks the arguments of an out-of-tree plugin; they are nil for a plugin
	// that is enabled without any. The fields of the errors are within the arguments, and
	// lines and columns within the text that the field holds. Without Arguments, mistakes
	// show when the plugin is created.
	Arguments func(plugin string, args runtime.Object) []*argument.Error
}

// ParseWith is Parse, and a plugin that is neither of Kubernetes nor among the
// options is a mistake.
func ParseWith(document []byte, options Options) (*Configuration, error) {
	return parse(document, registered(options.OutOfTree), options.Arguments)
}

// building finds in the error of building a scheduler which plugin of which profile
// could not be made.
var building = regexp.MustCompile(`(?:profile "([^"]+)": )?initializing plugin "([^"]+)": `)

// Refuse turns an error of building a scheduler with c into what Parse would say:
// where it names a plugin, the place is that of its arguments.
func (c *Configuration) Refuse(err error) *Error {
	m := Mistake{Message: err.Error()}
	found := building.FindStringSubmatchIndex(m.Message)
	if found == nil || c.document == nil {
		return newError([]Mistake{m})
	}
	part := func(i int) string {
		if found[i] < 0 {
			return ""
		}
		return m.Message[found[i]:found[i+1]]
	}
	name, plugin := part(2), part(4)
	for i, profile := range c.Internal.Profiles {
		at := slices.IndexFunc(profile.PluginConfig, func(c config.PluginConfig) bool { return c.Name == plugin })
		if at >= 0 && (name == "" || name == profile.SchedulerName) {
			p := path{{key: "profiles"}}.at(i).child("pluginConfig").at(at).child("args")
			return newError([]Mistake{c.document.mistake(p, "%s: %s", plugin, m.Message[found[1]:])})
		}
	}
	return newError([]Mistake{m})
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
