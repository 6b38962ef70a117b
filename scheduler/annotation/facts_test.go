package annotation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/result"
)

func TestFactsAreRenderedByPluginAndByNode(t *testing.T) {
	c := scheduled(3)
	c.Facts = []result.Fact{
		{Plugin: "A", Key: "rule", Value: `say "no"`},
		{Plugin: "A", Key: "tried", Value: "2"},
		{Plugin: "A", Node: "node-0001", Key: "cost", Value: "0.5"},
		{Plugin: "B", Key: "rule", Value: "x"},
		{Plugin: "B", Node: "node-0000", Key: "cost", Value: "1"},
		{Plugin: "B", Node: "node-0001", Key: "cost", Value: "2"},
	}
	got := Render(c, none, DefaultBudget)
	want := map[string]string{
		"facts-result":      `{"A":{"rule":"say \"no\"","tried":"2"},"B":{"rule":"x"}}`,
		"node-facts-result": `{"node-0000":{"B":{"cost":"1"}},"node-0001":{"A":{"cost":"0.5"},"B":{"cost":"2"}}}`,
	}
	for name, value := range want {
		if diff := cmp.Diff(value, got[Prefix+name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestACycleWithoutFactsHasNoFactAnnotations(t *testing.T) {
	for name := range Render(scheduled(3), none, DefaultBudget) {
		if strings.Contains(name, "facts") {
			t.Errorf("there is %s", name)
		}
	}
}

func TestFactsAreTheFirstToBeLeftOut(t *testing.T) {
	whole := Render(scheduled(3), none, DefaultBudget)
	c := scheduled(3)
	c.Facts = []result.Fact{
		{Plugin: "A", Key: "k", Value: "v"},
		{Plugin: "A", Node: "node-0000", Key: "k", Value: strings.Repeat("x", DefaultBudget)},
	}
	got := Render(c, none, DefaultBudget)
	whole[Prefix+facts] = `{"A":{"k":"v"}}`
	whole[Prefix+truncated] = `{"results":["node-facts-result"],"full":"/api/v1/results/uid/2"}`
	if diff := cmp.Diff(whole, got); diff != "" {
		t.Error(diff)
	}
}
