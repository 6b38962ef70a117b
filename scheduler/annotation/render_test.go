package annotation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/result"
)

// scheduled returns a cycle over n nodes in which the last node is rejected for
// its taint and the first is selected.
func scheduled(n int) *result.Cycle {
	b := result.NewFilterBuilder([]string{"TaintToleration", "NodePorts", "NodeResourcesFit"}, n)
	nodes, raw, totals := []string{}, []int64{}, []int64{}
	for i := range n {
		name := fmt.Sprintf("node-%04d", i)
		if i == n-1 {
			b.Add(name, "RSN", "TaintToleration", []string{"node(s) had untolerated taint(s)"})
			continue
		}
		b.Add(name, "PSP", "", nil)
		nodes, raw, totals = append(nodes, name), append(raw, int64(n-i)), append(totals, int64(n-i)+300)
	}
	return &result.Cycle{
		Summary: result.Summary{
			Pod: result.Pod{Namespace: "default", Name: "web", UID: "uid"}, Attempt: 2,
			Outcome: result.Scheduled, SelectedNode: "node-0000",
		},
		PreFilter: []result.PluginResult{
			{Plugin: "NodeAffinity", Status: "Success", Nodes: []string{"node-0000", "node-0001"}},
			{Plugin: "NodePorts", Status: "Skip"},
		},
		Filter:   b.Filter(),
		PreScore: []result.PluginResult{{Plugin: "NodeResourcesFit", Status: "Success"}},
		Score: &result.Score{
			Plugins: []result.ScorePlugin{{Name: "TaintToleration", Weight: 3}, {Name: "NodeResourcesFit", Weight: 1}},
			Nodes:   result.NewNodeList(nodes...), Totals: result.NewColumn(totals),
			Raw:        []result.Column{constant(len(nodes), 0), result.NewColumn(raw)},
			Normalized: []result.Column{constant(len(nodes), 100), result.NewColumn(raw)},
			Weighted:   []result.Column{constant(len(nodes), 300), result.NewColumn(raw)},
		},
		Reserve: []result.PluginResult{{Plugin: "VolumeBinding", Status: "Success"}},
		Permit:  []result.PluginResult{{Plugin: "Hold", Status: "Wait", TimeoutSeconds: 10}},
		PreBind: []result.PluginResult{{Plugin: "VolumeBinding", Status: "Skip"}},
		Bind:    []result.PluginResult{{Plugin: "DefaultBinder", Status: "Error", Reasons: []string{"no"}}},
	}
}

// constant returns a column that repeats value n times.
func constant(n int, value int64) result.Column {
	values := make([]int64, n)
	for i := range values {
		values[i] = value
	}
	return result.NewColumn(values)
}

func none(int) *result.Cycle { return nil }

func TestRender(t *testing.T) {
	got := Render(scheduled(3), none, DefaultBudget)
	want := map[string]string{
		"selected-node":           "node-0000",
		"prefilter-result-status": `{"NodeAffinity":"success","NodePorts":"skip"}`,
		"prefilter-result":        `{"NodeAffinity":["node-0000","node-0001"]}`,
		"filter-result": `{"node-0000":{"TaintToleration":"passed","NodeResourcesFit":"passed"},` +
			`"node-0002":{"TaintToleration":"node(s) had untolerated taint(s)"},` +
			`"node-0001":{"TaintToleration":"passed","NodeResourcesFit":"passed"}}`,
		"postfilter-result":     `{}`,
		"prescore-result":       `{"NodeResourcesFit":"success"}`,
		"score-result":          `{"node-0000":{"TaintToleration":"0","NodeResourcesFit":"3"},"node-0001":{"TaintToleration":"0","NodeResourcesFit":"2"}}`,
		"finalscore-result":     `{"node-0000":{"TaintToleration":"300","NodeResourcesFit":"3"},"node-0001":{"TaintToleration":"300","NodeResourcesFit":"2"}}`,
		"reserve-result":        `{"VolumeBinding":"success"}`,
		"permit-result":         `{"Hold":"wait"}`,
		"permit-result-timeout": `{"Hold":"10s"}`,
		"prebind-result":        `{"VolumeBinding":"skip"}`,
		"bind-result":           `{"DefaultBinder":"no"}`,
		"result-history":        `[]`,
	}
	if diff := cmp.Diff(prefixed(want), got); diff != "" {
		t.Error(diff)
	}
}

func prefixed(m map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range m {
		out[Prefix+name] = value
	}
	return out
}

func TestRenderKeepsToTheBudget(t *testing.T) {
	for _, budget := range []int{1, 600, 2_000, 10_000, DefaultBudget, 1 << 20} {
		for _, nodes := range []int{1, 3, 100, 5_000} {
			got := Render(scheduled(nodes), func(back int) *result.Cycle {
				if back > 3 {
					return nil
				}
				return scheduled(nodes)
			}, budget)
			size := 0
			for name, value := range got {
				size += len(name) + len(value)
				if name != Prefix+selectedNode && !json.Valid([]byte(value)) {
					t.Errorf("%d nodes in %d bytes: %s is not JSON: %.80s", nodes, budget, name, value)
				}
			}
			if size > max(budget, markReserve) {
				t.Errorf("%d nodes take %d bytes of %d", nodes, size, budget)
			}
		}
	}
}

func TestRenderCutsWhatMattersLeast(t *testing.T) {
	got := Render(scheduled(5_000), none, 8_000)
	if got[Prefix+selectedNode] != "node-0000" {
		t.Error("the selected node is missing")
	}
	var filter map[string]map[string]string
	if err := json.Unmarshal([]byte(got[Prefix+filterResult]), &filter); err != nil {
		t.Fatal(err)
	}
	for _, node := range []string{"node-0000", "node-4999", "node-0001"} {
		if filter[node] == nil {
			t.Errorf("%s is missing: the selected node, one per rejection and the best totals stay", node)
		}
	}
	if filter["node-4000"] != nil {
		t.Error("a node with a poor total displaced better ones")
	}
	var mark struct {
		Nodes int
		Full  string
	}
	if err := json.Unmarshal([]byte(got[Prefix+truncated]), &mark); err != nil {
		t.Fatalf("the cut is not marked: %v", err)
	}
	if mark.Nodes != 5_000-len(filter) || mark.Full != "/api/v1/results/uid/2" {
		t.Errorf("mark = %+v for %d nodes kept", mark, len(filter))
	}
}

func TestRenderDropsTheOldestHistoryFirst(t *testing.T) {
	earlier := func(back int) *result.Cycle {
		if back > 9 {
			return nil
		}
		c := scheduled(20)
		c.SelectedNode, c.Attempt = fmt.Sprintf("attempt-%d", 10-back), 10-back
		return c
	}
	c := scheduled(20)
	c.Attempt = 11
	got := Render(c, earlier, 20_000)
	var attempts []map[string]string
	if err := json.Unmarshal([]byte(got[Prefix+history]), &attempts); err != nil {
		t.Fatal(err)
	}
	if len(attempts) == 0 || len(attempts) == 10 {
		t.Fatalf("%d attempts are kept", len(attempts))
	}
	if last := attempts[len(attempts)-1][Prefix+selectedNode]; last != "attempt-10" {
		t.Errorf("the latest earlier attempt is %s", last)
	}
	if !strings.Contains(got[Prefix+truncated], fmt.Sprintf(`"attempts":%d`, 10-len(attempts))) {
		t.Errorf("mark = %s for %d attempts kept", got[Prefix+truncated], len(attempts))
	}
}

// BenchmarkRender renders a cycle on 1,500 nodes into the share of a pod among many, so that nodes
// are left out.
func BenchmarkRender(b *testing.B) {
	c := scheduled(1500)
	for b.Loop() {
		Render(c, none, leastBudget)
	}
}
