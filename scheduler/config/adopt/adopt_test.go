package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/transfer"
)

// TestAdopting: what Kubernetes has removed since is named and left out, and the
// rest is kept.
func TestAdopting(t *testing.T) {
	const earlier = `{
  "apiVersion": "kubescheduler.config.k8s.io/v1beta2", "kind": "KubeSchedulerConfiguration",
  "healthzBindAddress": "0.0.0.0:10251",
  "profiles": [{
    "schedulerName": "mine",
    "plugins": {
      "filter": {"enabled": [{"name": "NodeNameWrapped"}, {"name": "NodeLabel"}, {"name": "EBSLimits"}]},
      "score": {"enabled": [{"name": "SelectorSpread", "weight": 2}, {"name": "NodeResourcesLeastAllocated"}, {"name": "ImageLocality", "weight": 3}]},
      "postEverything": {"enabled": [{"name": "X"}]}
    },
    "pluginConfig": [
      {"name": "ServiceAffinity", "args": {"affinityLabels": ["zone"]}},
      {"name": "InterPodAffinity", "args": {"apiVersion": "kubescheduler.config.k8s.io/v1beta2", "kind": "InterPodAffinityArgs", "hardPodAffinityWeight": 7, "gone": 1}}
    ]
  }]
}`
	parse := func(document []byte) (*config.Configuration, error) { return parseConfiguration(document, nil) }
	data, removed, err := adopt([]byte(earlier), parse)
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	for _, r := range removed {
		fields = append(fields, r.Field)
	}
	want := []string{
		"apiVersion",
		"profiles[0].plugins.filter.enabled[0].name",
		"profiles[0].pluginConfig[1].args.gone",
		"profiles[0].plugins.postEverything",
		"healthzBindAddress",
		"profiles[0].pluginConfig[0].name",
		"profiles[0].plugins.score.enabled[1].name",
		"profiles[0].plugins.score.enabled[0].name",
		"profiles[0].plugins.filter.enabled[2]",
		"profiles[0].plugins.filter.enabled[1].name",
	}
	if diff := cmp.Diff(want, fields, cmp.Transformer("set", func(in []string) map[string]bool {
		out := map[string]bool{}
		for _, s := range in {
			out[s] = true
		}
		return out
	})); diff != "" {
		t.Error(diff, removed)
	}
	c, err := parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Internal.Profiles[0].Plugins.Score.Enabled; len(got) != 1 || got[0].Name != "ImageLocality" || got[0].Weight != 3 {
		t.Errorf("score plugins: %v", got)
	}

	t.Run("what is wrong otherwise is an error", func(t *testing.T) {
		_, _, err := adopt([]byte(`{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","parallelism":"many"}`), parse)
		if err == nil {
			t.Error("no error")
		}
	})
	t.Run("what is right stays as it was written", func(t *testing.T) {
		const right = "# mine\napiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
		data, removed, err := adopt([]byte(right), parse)
		if diff := cmp.Diff([]any{right, []transfer.RemovedField(nil), nil}, []any{string(data), removed, err}); diff != "" {
			t.Error(diff)
		}
	})
}
