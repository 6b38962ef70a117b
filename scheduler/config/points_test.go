package config

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

func TestInTreeIsTheRegistry(t *testing.T) {
	if diff := cmp.Diff(slices.Sorted(maps.Keys(plugins.NewInTreeRegistry())), slices.Sorted(maps.Keys(inTree()))); diff != "" {
		t.Error(diff)
	}
}

// expand returns the same plugins as the framework for the same profile.
func TestExpandIsTheFrameworks(t *testing.T) {
	metrics.Register()
	for _, name := range []string{
		"least-settings.yaml", "most-allocated.yaml", "no-preemption.yaml", "only-node-resources-fit.yaml", "per-point.yaml",
		"several-profiles.yaml", "all-points.yaml",
	} {
		t.Run(name, func(t *testing.T) {
			c := mustParse(t, readTestdata(t, name))
			for i := range c.Internal.Profiles {
				profile := &c.Internal.Profiles[i]
				if diff := cmp.Diff(listPlugins(t, profile.DeepCopy()), expand(profile.Plugins)); diff != "" {
					t.Errorf("profile %s:\n%s", profile.SchedulerName, diff)
				}
			}
		})
	}
}

func listPlugins(t *testing.T, profile *config.KubeSchedulerProfile) *config.Plugins {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	client := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	f, err := frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), profile,
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSnapshotSharedLister(internalcache.NewEmptySnapshot()),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())),
	)
	if err != nil {
		t.Fatal(err)
	}
	return f.ListPlugins()
}
