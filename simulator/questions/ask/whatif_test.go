package ask

import (
	"bytes"
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/simulator/questions/autoscale"
	"kube-scheduler-simulator/simulator/questions/deschedule"
	"kube-scheduler-simulator/simulator/questions/drain"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/submit"
	"kube-scheduler-simulator/simulator/questions/why"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares text with a file that -update writes.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (run with -update when you can explain every line):\n%s", name, diff)
	}
}

// file is a target with a name only.
type file string

func (f file) Name() string { return string(f) }

func (file) Node(context.Context, string) ([]byte, error) { panic("not called") }

func (file) WhatIf(context.Context, hypothesis.WhatIf) (*hypothesis.WhatIfAnswer, error) {
	panic("not called")
}

func (file) Fit(context.Context, hypothesis.Fit) (*hypothesis.FitAnswer, error) { panic("not called") }

func (file) Capacity(context.Context, hypothesis.Capacity) (*capacity.Answer, error) {
	panic("not called")
}

func (file) Why(context.Context, why.Question) (*why.Answer, error) { panic("not called") }

func (file) Submit(context.Context, submit.Question) (*submit.Answers, error) { panic("not called") }
func (file) Drain(context.Context, drain.Question) (*drain.Answer, error)     { panic("not called") }
func (file) Deschedule(context.Context, deschedule.Question) (*deschedule.Answer, error) {
	panic("not called")
}
func (file) Autoscale(context.Context, autoscale.Question) (*autoscale.Answer, error) {
	panic("not called")
}

// cycle returns a hypothetical cycle over the nodes a to d, of which nodes fit, with these totals.
func cycle(pod string, totals map[string]int64, rejected ...func(*result.FilterBuilder)) explain.Explained {
	c := &result.Cycle{Summary: result.Summary{
		Pod: result.Pod{Namespace: "shop", Name: pod}, Hypothetical: true, Attempt: 1, Profile: "default-scheduler", Outcome: result.Unschedulable,
		Nodes: result.NodeCounts{Total: len(totals) + len(rejected), Evaluated: len(totals) + len(rejected), Feasible: len(totals)},
	}}
	filter := result.NewFilterBuilder([]string{"TaintToleration", "NodeResourcesFit"}, 4)
	score := &result.Score{Plugins: []result.ScorePlugin{{Name: "NodeResourcesFit", Weight: 1}, {Name: "ImageLocality", Weight: 2}}}
	var scored []string
	var all, fit, locality []int64
	var best int64
	for _, node := range []string{"a", "b", "c", "d"} {
		total, feasible := totals[node]
		if !feasible {
			continue
		}
		filter.Add(node, "PP", "", nil)
		scored = append(scored, node)
		all, fit, locality = append(all, total), append(fit, total-10), append(locality, 10)
		if total > best {
			best, c.SelectedNode, c.Outcome = total, node, result.Scheduled
		}
	}
	for _, r := range rejected {
		r(filter)
	}
	c.Filter = filter.Filter()
	if len(all) > 1 {
		score.Nodes = result.NewNodeList(scored...)
		score.Totals, score.Raw = result.NewColumn(all), []result.Column{result.NewColumn(fit), result.NewColumn(locality)}
		score.Normalized, score.Weighted = score.Raw, score.Raw
		c.Score = score
	}
	return explain.With(c)
}

func full(node string) func(*result.FilterBuilder) {
	return func(b *result.FilterBuilder) {
		b.Add(node, "PR", "NodeResourcesFit", []string{"Insufficient cpu", "Insufficient memory"})
	}
}

func tainted(node string) func(*result.FilterBuilder) {
	return func(b *result.FilterBuilder) {
		b.Add(node, "RR", "TaintToleration", []string{"node(s) had untolerated taint(s)"}, result.PluginReasons{Plugin: "NodeResourcesFit", Reasons: []string{"Insufficient cpu"}})
	}
}

func preempting(d explain.Explained) explain.Explained {
	d.NominatedNode = "d"
	d.Preemption = &result.Preemption{Chosen: "d", Candidates: []result.Candidate{{Node: "d", Victims: []result.Victim{
		{Pod: result.Pod{Namespace: "batch", Name: "etl-1"}, Priority: 5}, {Pod: result.Pod{Namespace: "batch", Name: "etl-2"}},
	}}}}
	d.Explanation = explain.Cycle(d.Cycle)
	return d
}

// compared adds what NodeResourcesFit compared on the nodes, with these amounts of CPU in use.
func compared(d explain.Explained, inUse map[string]int64) explain.Explained {
	for _, node := range slices.Sorted(maps.Keys(inUse)) {
		d.Filter.Comparisons = append(d.Filter.Comparisons, result.Comparison{
			Node: node, Plugin: "NodeResourcesFit", WithoutPods: result.PassesWithoutPods,
			Resources: []result.ResourceComparison{{Name: "cpu", Requested: 1000, InUse: inUse[node], Allocatable: 2000}},
		})
	}
	return d
}

func TestPrintWhatIf(t *testing.T) {
	state := whatif.State{Nodes: 4, Pods: 12, ResourceVersion: "42"}
	scored := cycle("web", map[string]int64{"a": 90, "b": 110}, full("c"), tainted("d"))
	var b strings.Builder
	for _, tc := range []struct {
		name      string
		format    Format
		decisions []explain.Explained
		permit    []string
	}{
		{"a node of several", Table, []explain.Explained{scored}, nil},
		{"wide", Wide, []explain.Explained{scored}, nil},
		{"equal totals", Table, []explain.Explained{cycle("web", map[string]int64{"a": 90, "b": 90})}, nil},
		{"the only node", Table, []explain.Explained{cycle("web", map[string]int64{"a": 90}, full("b"))}, nil},
		{"no node", Table, []explain.Explained{cycle("web", nil, tainted("a"), full("b"), full("c"))}, nil},
		{"no node, but room", Table, []explain.Explained{preempting(cycle("web", nil, full("c"), full("d")))}, nil},
		{"what was compared", Table, []explain.Explained{compared(cycle("web", nil, full("a"), full("b"), full("c"), full("d"), full("e")), map[string]int64{"a": 1500, "b": 2000, "c": 2000, "d": 1750, "e": 1800})}, nil},
		{"what was compared, wide", Wide, []explain.Explained{compared(cycle("web", nil, full("a"), full("b"), full("c"), full("d"), full("e")), map[string]int64{"a": 1500, "b": 2000, "c": 2000, "d": 1750, "e": 1800})}, nil},
		{"copies", Table, []explain.Explained{scored, cycle("web-2", map[string]int64{"a": 80}, full("b"))}, nil},
		{"copies that do not all fit", Table, []explain.Explained{scored, cycle("web-2", nil, full("a"), full("b")), cycle("web-2", nil, full("a"), full("b"))}, nil},
		{"JSON", JSON, []explain.Explained{cycle("web", map[string]int64{"a": 90})}, nil},
		{"YAML", YAML, []explain.Explained{cycle("web", map[string]int64{"a": 90})}, nil},
		{"Extenders", Table, []explain.Explained{cycle("web", map[string]int64{"a": 90}, full("b"))}, nil},
		{"Permit plugins", Table, []explain.Explained{cycle("web", map[string]int64{"a": 90}, full("b"))}, []string{"Coscheduling"}},
	} {
		var out bytes.Buffer
		answer := &hypothesis.WhatIfAnswer{Grounds: hypothesis.Grounds{State: state, NotAsked: whatif.NotAsked{PermitNotAsked: tc.permit}}, Decisions: tc.decisions}
		if tc.name == "Extenders" {
			answer.ExtendersNotAsked, answer.AutoscalersNotAsked = []string{"http://127.0.0.1:8888"}, []string{"Karpenter"}
			answer.ControllersNotAsked, answer.GatesNotAsked = []string{"Kueue", "Rollout.argoproj.io"}, []string{"example.com/wait"}
		}
		if err := PrintWhatIf(&out, file("cluster.yaml"), answer, tc.format); err != nil {
			t.Fatal(err)
		}
		b.WriteString("# " + tc.name + "\n" + out.String() + "\n")
	}
	golden(t, "whatif.golden", b.String())
}
