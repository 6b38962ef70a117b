package process

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// Gate is a feature gate of Kubernetes, as set in this process. Its JSON form is public.
type Gate struct {
	Name string `json:"name"`
	// Stage is ALPHA, BETA, GA or DEPRECATED.
	Stage   string `json:"stage"`
	Default bool   `json:"default"`
	Enabled bool   `json:"enabled"`
	// Locked gates cannot be set.
	Locked bool `json:"locked"`
}

// Gates lists Kubernetes' feature gates, sorted by name.
func Gates() []Gate {
	gates := utilfeature.DefaultMutableFeatureGate
	var out []Gate
	for name, spec := range gates.GetAll() {
		gate := Gate{Name: string(name), Stage: string(spec.PreRelease), Default: spec.Default, Enabled: gates.Enabled(name), Locked: spec.LockToDefault}
		if spec.PreRelease == featuregate.GA {
			gate.Stage = "GA" // upstream's string is empty
		}
		out = append(out, gate)
	}
	slices.SortFunc(out, func(a, b Gate) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// SetGates sets Kubernetes' feature gates from a list in the syntax of Kubernetes' own flags:
// "A=true,B=false". Call it before any component runs.
//
// DetectCacheInconsistency is off unless the list contains it: every few minutes it compares the
// API server's cache with all objects in etcd, which is meant for clusters with several API servers
// and an external etcd.
func SetGates(list string) error {
	err := utilfeature.DefaultMutableFeatureGate.OverrideDefault(features.DetectCacheInconsistency, false)
	if err == nil && list != "" {
		err = utilfeature.DefaultMutableFeatureGate.Set(list)
	}
	if err != nil {
		return fmt.Errorf("feature gates: %w", err)
	}
	return nil
}

// WithGates sets feature gates until restore is called.
func WithGates(gates map[string]bool) (restore func(), err error) {
	all := utilfeature.DefaultMutableFeatureGate
	before := map[string]bool{}
	for name := range gates {
		if before[name], err = enabled(name); err != nil {
			return nil, err
		}
	}
	restore = func() { _ = all.SetFromMap(before) } // these values were set before
	if err := all.SetFromMap(gates); err != nil {
		restore()
		return nil, err
	}
	return restore, nil
}

// HasGates fails unless this process has set the gates so. Others in the process rely on them.
func HasGates(gates map[string]bool) error {
	for name, want := range gates {
		is, err := enabled(name)
		if err != nil {
			return err
		}
		if is != want {
			return fmt.Errorf("the feature gate %s is %t in this server, and gates belong to the whole program: use the command run for other ones", name, is)
		}
	}
	return nil
}

func enabled(name string) (bool, error) {
	all := utilfeature.DefaultMutableFeatureGate
	if _, known := all.GetAll()[featuregate.Feature(name)]; !known {
		return false, fmt.Errorf("there is no feature gate %s", name)
	}
	return all.Enabled(featuregate.Feature(name)), nil
}
