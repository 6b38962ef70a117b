package config

import (
	"fmt"
	"sync"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
)

// lastDefault caches the default configuration, because every document is compared with it.
// A program sets its feature gates once, before anything else; tests may change them.
var lastDefault struct {
	sync.Mutex
	gates         string
	configuration *Configuration
}

// Default returns Kubernetes' default configuration, written out. It depends on the feature
// gates. All callers share it.
func Default() (*Configuration, error) {
	lastDefault.Lock()
	defer lastDefault.Unlock()
	gates := fmt.Sprint(utilfeature.DefaultMutableFeatureGate)
	if lastDefault.configuration != nil && lastDefault.gates == gates {
		return lastDefault.configuration, nil
	}
	c, err := newDefault()
	if err != nil {
		return nil, err
	}
	lastDefault.configuration, lastDefault.gates = c, gates
	return c, nil
}

func newDefault() (*Configuration, error) {
	internal, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("making the default scheduler configuration: %w", err)
	}
	text, err := Encode(internal)
	if err != nil {
		return nil, err
	}
	v, err := newView(internal)
	if err != nil {
		return nil, err
	}
	// written is empty: no author set anything.
	return &Configuration{YAML: text, Internal: internal, written: map[string]any{}, view: v, standard: v}, nil
}
