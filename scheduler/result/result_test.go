package result

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFilterJSONIsInCanonicalOrder(t *testing.T) {
	b := NewFilterBuilder([]string{"NodeName", "TaintToleration", "NodeResourcesFit"}, 3)
	b.Add("node-2", "PRN", "TaintToleration", []string{"untolerated"})
	b.Add("node-1", "PPP", "", nil)
	b.Add("node-3", "PRN", "TaintToleration", []string{"untolerated"})
	f := b.Filter()
	if len(f.Verdicts) != 2 {
		t.Errorf("%d verdicts are kept; two are distinct", len(f.Verdicts))
	}
	got, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"plugins":["NodeName","TaintToleration","NodeResourcesFit"],` +
		`"nodes":["node-1","node-2","node-3"],"states":["PPP","PRN","PRN"],` +
		`"reasons":[{"node":"node-2","plugin":"TaintToleration","reasons":["untolerated"]},` +
		`{"node":"node-3","plugin":"TaintToleration","reasons":["untolerated"]}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestScoreJSONHasARowPerNode(t *testing.T) {
	s := &Score{
		Plugins:    []ScorePlugin{{Name: "NodeResourcesFit", Weight: 1}, {Name: "TaintToleration", Weight: 3}},
		Skipped:    []string{"NodeAffinity"},
		Nodes:      NewNodeList("b", "a"),
		Raw:        []Column{NewColumn([]int64{42, 65}), NewColumn([]int64{0, 0})},
		Normalized: []Column{NewColumn([]int64{42, 65}), NewColumn([]int64{100, 100})},
		Weighted:   []Column{NewColumn([]int64{42, 65}), NewColumn([]int64{300, 300})},
		Totals:     NewColumn([]int64{342, 365}),
	}
	got, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"plugins":[{"name":"NodeResourcesFit","weight":1},{"name":"TaintToleration","weight":3}],"skipped":["NodeAffinity"],` +
		`"nodes":["a","b"],"raw":[[65,0],[42,0]],"normalized":[[65,100],[42,100]],"weighted":[[65,300],[42,300]],"totals":[365,342]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestCycleReadsBack(t *testing.T) {
	for _, document := range []string{
		`{"pod":{"namespace":"default","name":"a","uid":"u"},"attempt":1,"profile":"default-scheduler","startTime":"2026-01-02T03:04:05Z",` +
			`"durationSeconds":0.5,"outcome":"scheduled","selectedNode":"b","nodes":{"total":3,"evaluated":2,"feasible":2},` +
			`"filter":{"plugins":["NodeName"],"nodes":["a","b","c"],"states":["P","P","R"],"reasons":[{"node":"c","plugin":"NodeName","reasons":["no"]}]},` +
			`"score":{"plugins":[{"name":"ImageLocality","weight":1}],"nodes":["a","b"],"raw":[[1],[2]],"normalized":[[1],[2]],"weighted":[[1],[2]],"totals":[1,2]}}`,
		`{"pod":{"namespace":"default","name":"a","uid":"u"},"attempt":2,"profile":"default-scheduler","startTime":"2026-01-02T03:04:05Z",` +
			`"durationSeconds":0,"outcome":"unschedulable","message":"0/0 nodes","nodes":{"total":0,"evaluated":0,"feasible":0}}`,
	} {
		var c Cycle
		if err := json.Unmarshal([]byte(document), &c); err != nil {
			t.Fatal(err)
		}
		back, err := json.Marshal(&c)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(document, string(back)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestUnmarshalRefusesTablesThatDoNotFit(t *testing.T) {
	for _, document := range []string{
		`{"plugins":["A"],"nodes":["a"],"states":[],"reasons":[]}`,
		`{"plugins":["A"],"nodes":["a"],"states":["PP"],"reasons":[]}`,
	} {
		if err := new(Filter).UnmarshalJSON([]byte(document)); err == nil {
			t.Errorf("%s: no error", document)
		}
	}
	for _, document := range []string{
		`{"plugins":[{"name":"A","weight":1}],"nodes":["a"],"raw":[[1]],"normalized":[[1]],"weighted":[[1]],"totals":[]}`,
		`{"plugins":[{"name":"A","weight":1}],"nodes":["a"],"raw":[[1,2]],"normalized":[[1]],"weighted":[[1]],"totals":[1]}`,
		`{"plugins":[{"name":"A","weight":1}],"nodes":["a"],"raw":[],"normalized":[[1]],"weighted":[[1]],"totals":[1]}`,
	} {
		if err := new(Score).UnmarshalJSON([]byte(document)); err == nil {
			t.Errorf("%s: no error", document)
		}
	}
}

func TestColumnKeepsEveryValue(t *testing.T) {
	for _, values := range [][]int64{
		nil, {7}, {7, 7, 7}, {0, 127, -128}, {0, 128}, {-32768, 32767}, {0, 40_000}, {-1 << 31, 1<<31 - 1}, {0, 1 << 40}, {-1 << 63, 1<<63 - 1},
	} {
		c := NewColumn(values)
		if c.Len() != len(values) {
			t.Errorf("%v: length %d", values, c.Len())
		}
		for i, want := range values {
			if got := c.At(i); got != want {
				t.Errorf("%v: value %d is %d", values, i, got)
			}
		}
	}
}

// In a hypothetical cycle every plugin that rejects a node is noted.
func TestFilterKeepsEveryRejection(t *testing.T) {
	b := NewFilterBuilder([]string{"TaintToleration", "NodeAffinity", "NodeResourcesFit"}, 3)
	also := []PluginReasons{{Plugin: "NodeResourcesFit", Reasons: []string{"Insufficient cpu"}}}
	b.Add("a", "RPR", "TaintToleration", []string{"untolerated"}, also...)
	b.Add("b", "RPP", "TaintToleration", []string{"untolerated"})
	b.Add("c", "PPE", "NodeResourcesFit", []string{"broken"})
	b.Add("d", "RPR", "TaintToleration", []string{"untolerated"}, also...)
	filter := b.Filter()
	if got := len(filter.Verdicts); got != 3 {
		t.Errorf("%d verdicts are distinct", got)
	}

	encoded, err := json.Marshal(filter)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"plugins":["TaintToleration","NodeAffinity","NodeResourcesFit"],"nodes":["a","b","c","d"],"states":["RPR","RPP","PPE","RPR"],"reasons":[` +
		`{"node":"a","plugin":"TaintToleration","reasons":["untolerated"]},{"node":"a","plugin":"NodeResourcesFit","reasons":["Insufficient cpu"]},` +
		`{"node":"b","plugin":"TaintToleration","reasons":["untolerated"]},{"node":"c","plugin":"NodeResourcesFit","reasons":["broken"]},` +
		`{"node":"d","plugin":"TaintToleration","reasons":["untolerated"]},{"node":"d","plugin":"NodeResourcesFit","reasons":["Insufficient cpu"]}]}`
	if diff := cmp.Diff(want, string(encoded)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var decoded Filter
	if err := json.Unmarshal(encoded, &decoded); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(filter, &decoded); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	rejections := Rejections(&Cycle{Filter: filter})
	if diff := cmp.Diff([]Rejection{
		{Plugin: "NodeResourcesFit", Nodes: 3, Reasons: []ReasonCount{{"Insufficient cpu", 2}, {"broken", 1}}},
		{Plugin: "TaintToleration", Nodes: 3, Reasons: []ReasonCount{{"untolerated", 3}}},
	}, rejections); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
