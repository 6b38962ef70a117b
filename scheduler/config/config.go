// Package config reads KubeSchedulerConfiguration documents: strict decoding,
// Kubernetes' own defaulting and Kubernetes' own validation.
//
// It may import the scheduler's configuration API; it knows nothing of a
// running scheduler.
package config

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"sigs.k8s.io/yaml"
)

// Configuration is a document with what it means.
type Configuration struct {
	// YAML is the document as its author wrote it.
	YAML []byte
	// Internal is the defaulted and validated form. It is shared: copy it
	// before changing it.
	Internal *config.KubeSchedulerConfiguration
}

// Default returns Kubernetes' default configuration, written out.
func Default() (*Configuration, error) {
	internal, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("making the default scheduler configuration: %w", err)
	}
	text, err := Encode(internal)
	if err != nil {
		return nil, err
	}
	return &Configuration{YAML: text, Internal: internal}, nil
}

// Parse decodes a document in YAML or JSON. Unknown and repeated fields are
// errors. The error joins everything that is wrong with it, with field paths.
func Parse(document []byte) (*Configuration, error) {
	codecs := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict)
	obj, gvk, err := codecs.UniversalDecoder().Decode(document, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("decoding the scheduler configuration: %w", err)
	}
	internal, ok := obj.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("decoding the scheduler configuration: want a KubeSchedulerConfiguration, got %s", gvk)
	}
	internal.APIVersion = gvk.GroupVersion().String()
	if err := validation.ValidateKubeSchedulerConfiguration(internal); err != nil {
		return nil, fmt.Errorf("validating the scheduler configuration: %w", err)
	}
	return &Configuration{YAML: document, Internal: internal}, nil
}

// Encode writes c in the current version of the API.
func Encode(c *config.KubeSchedulerConfiguration) ([]byte, error) {
	external := &configv1.KubeSchedulerConfiguration{}
	if err := scheme.Scheme.Convert(c, external, nil); err != nil {
		return nil, fmt.Errorf("converting the scheduler configuration: %w", err)
	}
	external.SetGroupVersionKind(configv1.SchemeGroupVersion.WithKind("KubeSchedulerConfiguration"))
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

func jsonSerializer() runtime.Serializer {
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	return info.Serializer
}
