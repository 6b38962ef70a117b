package controllers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDefaultsOfFlagsApply: only the flags of kube-controller-manager have some of its defaults, and
// we parse no flags.
func TestDefaultsOfFlagsApply(t *testing.T) {
	component, err := componentConfig()
	if err != nil {
		t.Fatal(err)
	}
	type rates struct {
		Eviction, Secondary, Unhealthy float32
		Large                          int32
	}
	c := component.NodeLifecycleController
	got := rates{c.NodeEvictionRate, c.SecondaryNodeEvictionRate, c.UnhealthyZoneThreshold, c.LargeClusterSizeThreshold}
	if diff := cmp.Diff(rates{0.1, 0.01, 0.55, 50}, got); diff != "" {
		t.Error(diff)
	}
}
