package descheduler

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/descheduler/pkg/api"
	upstream "sigs.k8s.io/descheduler/pkg/descheduler"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"
)

// TestRegistry: a new version of the descheduler may have more plugins, or other functions for them. Then re-read its setupplugins.go.
func TestRegistry(t *testing.T) {
	theirs := pluginregistry.NewRegistry()
	upstream.RegisterDefaultPlugins(theirs)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(theirs)), slices.Sorted(maps.Keys(registry()))); diff != "" {
		t.Fatalf("plugins (-the descheduler's +ours):\n%s", diff)
	}
	for name, of := range theirs {
		if diff := cmp.Diff(of.PluginArgInstance, registry()[name].PluginArgInstance); diff != "" {
			t.Errorf("%s has other arguments:\n%s", name, diff)
		}
		for _, point := range []extensionPoint{atDeschedule, atBalance, atFilter} {
			if point.fits(of.PluginType) != point.fits(registry()[name].PluginType) {
				t.Errorf("%s is a plugin of %s in one of them", name, point.field)
			}
		}
	}
}

// TestPolicy: a policy that is read here is the one that the descheduler loads, with its defaults.
func TestPolicy(t *testing.T) {
	for name, text := range map[string]string{
		"defaults": `
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: p
  pluginConfig: [{name: RemoveDuplicates}, {name: PodLifeTime, args: {maxPodLifeTimeSeconds: 60}}, {name: RemoveFailedPods}]
  plugins: {balance: {enabled: [RemoveDuplicates]}, deschedule: {enabled: [PodLifeTime, RemoveFailedPods]}}
`,
		"two profiles": `
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
nodeSelector: pool=a
maxNoOfPodsToEvictPerNode: 2
gracePeriodSeconds: 5
profiles:
- name: low
  pluginConfig:
  - {name: DefaultEvictor, args: {nodeFit: true, minReplicas: 2, priorityThreshold: {value: 1000}}}
  - {name: LowNodeUtilization, args: {thresholds: {cpu: 20, memory: 20}, targetThresholds: {cpu: 50, memory: 50}}}
  plugins: {balance: {enabled: [LowNodeUtilization]}}
- name: spread
  pluginConfig: [{name: RemovePodsViolatingTopologySpreadConstraint, args: {constraints: [DoNotSchedule, ScheduleAnyway]}}]
  plugins: {balance: {enabled: [RemovePodsViolatingTopologySpreadConstraint]}, filter: {enabled: [DefaultEvictor]}}
`,
	} {
		t.Run(name, func(t *testing.T) {
			ours, err := Read(t.Context(), []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			policy, err := ours.forCluster(t.Context(), client{view: &view{}})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "policy.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			theirs, err := upstream.LoadPolicyConfig(file, fake.NewClientset(), registry())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(theirs, policy, cmp.AllowUnexported(api.DeschedulerPolicy{})); diff != "" {
				t.Errorf("(-the descheduler's +ours):\n%s", diff)
			}
		})
	}
}
