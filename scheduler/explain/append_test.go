package explain

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/result"
)

// large returns a decision with n nodes, one of which is rejected for two reasons.
func large(n int) *result.Cycle {
	filter := result.NewFilterBuilder([]string{"NodeResourcesFit", "TaintToleration"}, n)
	var scored []string
	var raw, totals []int64
	for i := range n {
		node := fmt.Sprintf("node-%04d", i)
		if i == 0 {
			filter.Add(`<"ノード"&\>`, "RR", "NodeResourcesFit", []string{"Insufficient cpu", `"memory" < 1`}, result.PluginReasons{Plugin: "TaintToleration"})
			continue
		}
		filter.Add(node, "PP", "", nil)
		scored, raw, totals = append(scored, node), append(raw, int64(i%100)), append(totals, int64(3*(i%100)-1))
	}
	column := result.NewColumn(raw)
	return &result.Cycle{
		Summary: result.Summary{Pod: result.Pod{Namespace: "default", Name: "web"}, Outcome: result.Scheduled, SelectedNode: "node-0001", Hypothetical: true},
		Filter:  filter.Filter(),
		Score: &result.Score{
			Plugins: []result.ScorePlugin{{Name: "NodeResourcesFit", Weight: 3}}, Nodes: result.NewNodeList(scored...),
			Raw: []result.Column{column}, Normalized: []result.Column{column}, Weighted: []result.Column{column}, Totals: result.NewColumn(totals),
		},
	}
}

func TestAppendedJSONIsThatOfMarshal(t *testing.T) {
	rejected := large(1)
	rejected.Score = nil
	for name, c := range map[string]*result.Cycle{"scored": large(4), "without scores": rejected, "without tables": {}, "without nodes": {Filter: &result.Filter{}, Score: &result.Score{}}} {
		t.Run(name, func(t *testing.T) {
			want, err := json.Marshal(With(c))
			if err != nil {
				t.Fatal(err)
			}
			got, err := With(c).AppendJSON([]byte(" "))
			if err != nil {
				t.Fatal(err)
			}
			var before, after any
			if err := json.Unmarshal(want, &before); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(got, &after); err != nil {
				t.Fatalf("%v: %s", err, got)
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("-marshalled +appended:\n%s", diff)
			}
			var read result.Cycle
			if err := json.Unmarshal(got, &read); err != nil {
				t.Error(err)
			}
		})
	}
}

func BenchmarkJSON(b *testing.B) {
	e := With(large(5000))
	b.Run("marshal", func(b *testing.B) {
		for b.Loop() {
			if _, err := json.Marshal(e); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			if _, err := e.AppendJSON(nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
