package app

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"

	"kube-scheduler-simulator/simulator/server"
)

// SetFeatureGates sets Kubernetes' feature gates for the whole process from a list
// in the syntax of Kubernetes' own flags: "A=true,B=false". It must be called
// before any component runs.
//
// DetectCacheInconsistency is off unless the list contains it: every few minutes it compares the
// API server's cache with all objects in etcd, which is meant for clusters with several API
// servers and an external etcd.
func SetFeatureGates(gates string) error {
	if err := utilfeature.DefaultMutableFeatureGate.OverrideDefault(features.DetectCacheInconsistency, false); err != nil {
		return fmt.Errorf("feature gates: %w", err)
	}
	if gates == "" {
		return nil
	}
	if err := utilfeature.DefaultMutableFeatureGate.Set(gates); err != nil {
		return fmt.Errorf("feature gates: %w", err)
	}
	return nil
}

// featureGates lists Kubernetes' feature gates with their current settings.
func featureGates() []server.FeatureGate {
	gates := utilfeature.DefaultMutableFeatureGate
	var out []server.FeatureGate
	for name, spec := range gates.GetAll() {
		gate := server.FeatureGate{
			Name: string(name), Stage: string(spec.PreRelease),
			Default: spec.Default, Enabled: gates.Enabled(name), Locked: spec.LockToDefault,
		}
		if spec.PreRelease == featuregate.GA {
			gate.Stage = "GA" // upstream's string is empty
		}
		out = append(out, gate)
	}
	slices.SortFunc(out, func(a, b server.FeatureGate) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
