package explain

import (
	"testing"

	"kube-scheduler-simulator/scheduler/result"
)

func TestWhatDecidesAmongEqualNodes(t *testing.T) {
	for want, facts := range map[string][]result.Fact{
		"chance":   {{Plugin: "NodeQuota", Key: "rule", Value: "all"}},
		"the seed": {{Plugin: tieSeed, Key: "tie broken by seed", Value: "n1 among 2 nodes with the same total, by seed 1"}},
	} {
		if got := lot(&result.Cycle{Facts: facts}); got != want {
			t.Errorf("%v: %q, want %q", facts, got, want)
		}
	}
}
