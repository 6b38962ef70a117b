package ask

import (
	"bytes"
	"strings"
	"testing"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/scheduler/whatif/fit"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

func suggestion(kind fit.Kind, text, node string, nodes ...string) hypothesis.Suggestion {
	return hypothesis.Suggestion{
		Suggestion: fit.Suggestion{Kind: kind, Text: text, Nodes: nodes, SelectedNode: node},
		Changes:    []hypothesis.Change{{Delete: &hypothesis.Target{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "etl"}}},
	}
}

func TestPrintFit(t *testing.T) {
	state := whatif.State{Nodes: 4, Pods: 12, ResourceVersion: "42"}
	two := []hypothesis.Suggestion{
		suggestion(fit.KindPod, "Lower the request for cpu from 4 to 1.5.", "b", "a", "b"),
		suggestion(fit.KindEvict, "Evict etl from a.", "a", "a"),
	}
	incurable := []fit.Incurable{{Plugin: "NodeResourcesFit", Reason: "Insufficient cpu", Nodes: []string{"c", "d"}}, {Plugin: "ZoneQuota", Nodes: []string{"d"}}, {Plugin: "NodeResourcesFit", Reason: "Too many pods", Guarded: true, Nodes: []string{"a"}}}
	var b strings.Builder
	for _, tc := range []struct {
		name        string
		format      Format
		answer      fit.Answer
		suggestions []hypothesis.Suggestion
	}{
		{"it fits", Table, fit.Answer{Fits: true, Complete: true}, nil},
		{"one suggestion", Table, fit.Answer{Complete: true}, two[:1]},
		{"suggestions", Table, fit.Answer{Complete: true, Incurable: incurable}, two},
		{"wide", Wide, fit.Answer{Complete: true, Incurable: incurable}, two},
		{"nothing helps", Table, fit.Answer{Incurable: incurable, LeftOut: []explain.Statement{{Operands: explain.EvictionsNotTried{}}}}, nil},
		{"YAML", YAML, fit.Answer{Complete: true}, two[1:]},
	} {
		tc.answer.State = state
		var out bytes.Buffer
		if err := PrintFit(&out, file("cluster.yaml"), "shop/web", &hypothesis.FitAnswer{Answer: &tc.answer, Suggestions: tc.suggestions}, tc.format); err != nil {
			t.Fatal(err)
		}
		b.WriteString("# " + tc.name + "\n" + out.String() + "\n")
	}
	golden(t, "fit.golden", b.String())
}

func TestPrintCapacity(t *testing.T) {
	full := capacity.Answer{
		State: whatif.State{Nodes: 4, Pods: 12}, Fits: 7, Complete: true,
		Nodes:   []capacity.Node{{Name: "a", Count: 4}, {Name: "b", Count: 3}},
		Stopped: []capacity.Stop{{Plugin: "NodeResourcesFit", Reason: "Insufficient cpu", Nodes: []string{"a", "b", "c"}}, {Plugin: "TaintToleration", Reason: "node(s) had untolerated taint(s)", Nodes: []string{"d"}}},
		Resources: []capacity.Resource{
			{Name: "cpu", Allocatable: 16000, Requested: 15750, Free: 250}, {Name: "memory", Allocatable: 64 << 30, Requested: 20 << 30, Free: 44 << 30, Stranded: 40 << 30},
			{Name: "example.com/gpu", Allocatable: 8, Free: 8, Stranded: 8},
		},
	}
	perPod, price := 0.125, 1.5
	priced := capacity.Answer{
		State: full.State, Fits: 7, Complete: true, Cost: &capacity.Cost{PerHour: 4.5, UnusedPerHour: 1.25, ThenUnusedPerHour: 0.375, PerPodHour: &perPod, Unpriced: 1},
		NodesNeeded: &capacity.Needed{NodesNeeded: capacity.NodesNeeded{Like: "a", For: 20}, Nodes: 3, Enough: true, Fits: 21, PricePerHour: &price},
	}
	with := func(n capacity.Needed) capacity.Answer {
		return capacity.Answer{State: full.State, Fits: 7, Complete: true, NodesNeeded: &n}
	}
	var b strings.Builder
	for _, tc := range []struct {
		name   string
		format Format
		answer capacity.Answer
	}{
		{"until no more fit", Table, full},
		{"wide", Wide, full},
		{"until the limit", Table, capacity.Answer{State: full.State, Fits: 1000, Nodes: []capacity.Node{{Name: "a", Count: 1000}}}},
		{"none", Table, capacity.Answer{State: full.State, Complete: true, Stopped: full.Stopped}},
		{"nodes that are needed", Table, with(capacity.Needed{NodesNeeded: capacity.NodesNeeded{Like: "a", For: 20}, Nodes: 3, Enough: true, Fits: 21})},
		{"one node is needed", Table, with(capacity.Needed{NodesNeeded: capacity.NodesNeeded{Like: "a", For: 8}, Nodes: 1, Enough: true, Fits: 8})},
		{"no node is needed", Table, with(capacity.Needed{NodesNeeded: capacity.NodesNeeded{Like: "a", For: 5}, Enough: true, Fits: 7})},
		{"no number of nodes is enough", Table, with(capacity.Needed{NodesNeeded: capacity.NodesNeeded{Like: "d", For: 20}, Nodes: 1, Fits: 8})},
		{"room for two groups", Table, capacity.Answer{State: full.State, Fits: 7, Complete: true, Group: &capacity.Group{Name: "train", Minimum: 3, Places: 7}}},
		{"a group that runs", Table, capacity.Answer{State: full.State, Fits: 1, Complete: true, Group: &capacity.Group{Name: "train", Minimum: 3, Bound: 3, Places: 1}}},
		{"too little room for a group", Table, capacity.Answer{State: full.State, Complete: true, Group: &capacity.Group{Name: "train", Minimum: 9, Bound: 1, Places: 7}}},
		{"with prices", Table, priced},
		{"JSON", JSON, full},
	} {
		var out bytes.Buffer
		if err := PrintCapacity(&out, file("cluster.yaml"), "shop/web", &tc.answer, tc.format); err != nil {
			t.Fatal(err)
		}
		b.WriteString("# " + tc.name + "\n" + out.String() + "\n")
	}
	golden(t, "capacity.golden", b.String())
}
