package noderesourcetopology

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestArguments(t *testing.T) {
	weights := []ResourceWeight{{"cpu", 1}, {"memory", 1}}
	cache := CacheArguments{ForeignPodsDetect: All, ResyncMethod: Autodetect, InformerMode: Dedicated, ResyncScope: All}
	for _, c := range []struct {
		name, args string
		want       *Arguments
		mistake    string
	}{
		{name: "none", want: &Arguments{ScoringStrategy: &ScoringStrategy{Type: LeastAllocated, Resources: weights}, Cache: cache, PreemptionMode: Disabled}},
		{
			name: "all", args: `
apiVersion: kubescheduler.config.k8s.io/v1
kind: NodeResourceTopologyMatchArgs
scoringStrategy: {type: BalancedAllocation, resources: [{name: cpu, weight: 5}, {name: memory}]}
cacheResyncPeriodSeconds: 7
discardReservedNodes: true
cache: {foreignPodsDetect: OnlyExclusiveResources, resyncMethod: All, informerMode: Shared, resyncScope: OnlyResources}
preemptionMode: Enabled
`,
			want: &Arguments{
				ScoringStrategy:          &ScoringStrategy{Type: BalancedAllocation, Resources: []ResourceWeight{{"cpu", 5}, {"memory", 1}}},
				CacheResyncPeriodSeconds: 7, DiscardReservedNodes: true, PreemptionMode: Enabled,
				Cache: CacheArguments{ForeignPodsDetect: OnlyExclusiveResources, ResyncMethod: All, InformerMode: Shared, ResyncScope: OnlyResources},
			},
		},
		{
			name: "cache values that are not known", args: "{cache: {foreignPodsDetect: Some, informerMode: shared}}",
			want: &Arguments{ScoringStrategy: &ScoringStrategy{Type: LeastAllocated, Resources: weights}, Cache: cache, PreemptionMode: Disabled},
		},
		{name: "a strategy without a type", args: "{scoringStrategy: {}}", mistake: "scoringStrategy.type: invalid ScoringStrategyType; it must be one of MostAllocated, BalancedAllocation, LeastAllocated, LeastNUMANodes"},
		{name: "a type that is not known", args: "{scoringStrategy: {type: Least}}", mistake: "scoringStrategy.type: invalid ScoringStrategyType; it must be one of MostAllocated, BalancedAllocation, LeastAllocated, LeastNUMANodes"},
		{name: "a mode that is not known", args: "{preemptionMode: Maybe}", mistake: "preemptionMode: must be Enabled or Disabled"},
		{name: "a field that is not known", args: "{scoringStrategie: {}}", mistake: `scoringStrategie: unknown field "scoringStrategie", did you mean scoringStrategy?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw := &runtime.Unknown{Raw: []byte(c.args), ContentType: runtime.ContentTypeYAML}
			got, err := readArguments(raw)
			mistake := ""
			if err != nil {
				mistake = err.Error()
			}
			if diff := cmp.Diff(c.mistake, mistake); diff != "" {
				t.Error(diff)
			}
			if err != nil {
				got = nil
			} else {
				got.TypeMeta.Kind, got.TypeMeta.APIVersion = "", ""
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
