package adopt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/config"
)

// TestDocument leaves out, and names, the parts that Kubernetes has removed since. The rest
// stays.
func TestDocument(t *testing.T) {
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
	parse := func(document []byte) (*config.Configuration, error) {
		return config.ParseWith(document, config.Options{})
	}
	data, removed, err := Document([]byte(earlier), parse)
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

	t.Run("a document without content is an error that says so", func(t *testing.T) {
		for _, empty := range []string{"null", "", "# nothing\n"} {
			_, _, err := Document([]byte(empty), parse)
			if err == nil || strings.Contains(err.Error(), "%!") || !strings.Contains(err.Error(), "it is empty") {
				t.Errorf("%q: %v", empty, err)
			}
		}
	})
	t.Run("any other mistake is an error", func(t *testing.T) {
		_, _, err := Document([]byte(`{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","parallelism":"many"}`), parse)
		if err == nil {
			t.Error("no error")
		}
	})
	t.Run("a valid document stays as its author wrote it", func(t *testing.T) {
		const right = "# mine\napiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
		data, removed, err := Document([]byte(right), parse)
		if diff := cmp.Diff([]any{right, []Removed(nil), nil}, []any{string(data), removed, err}); diff != "" {
			t.Error(diff)
		}
	})
}
