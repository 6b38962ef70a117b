package report_test

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/whatif/fit"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/report"
	"kube-scheduler-simulator/simulator/questions/why"
)

func change(text string) hypothesis.Suggestion {
	return hypothesis.Suggestion{Suggestion: fit.Suggestion{Text: text}}
}

func answers() []why.Answer {
	return []why.Answer{
		{Verdict: why.Fits, Subject: why.Subject{Kind: "Pod", Namespace: "default", Name: "small"}, Sentence: "default/small fits.", SelectedNode: "node-1"},
		{
			Verdict: why.DoesNotFit, Subject: why.Subject{Kind: "Deployment", Namespace: "web", Name: "api"}, Sentence: "No node takes it.",
			Reasons:   []why.Reason{{Plugin: "NodeResourcesFit", Text: "Insufficient cpu", Count: 1}, {Plugin: "TaintToleration", Text: "a taint", Count: 2}},
			Changes:   []hypothesis.Suggestion{change("Request 1 cpu."), change("Add a node.")},
			NotJudged: []why.NotJudged{{What: "PodDisruptionBudgets", Text: "PodDisruptionBudgets could not be listed."}},
		},
		{Verdict: why.Runs, Subject: why.Subject{Kind: "Job", Namespace: "default", Name: "done"}, Sentence: "Job default/done: 3 of 3 pods run."},
		{Verdict: why.Waits, Subject: why.Subject{Kind: "Job", Namespace: "default", Name: "soon", Node: "node-2"}, Sentence: "It waits.", Waits: []why.Wait{{For: why.ForGate, Text: "the gate g"}}},
		{
			Verdict: why.Unknown, Subject: why.Subject{Kind: "Pod", Namespace: "default", Name: "x"}, Sentence: "No profile has its name.",
			NotJudged: []why.NotJudged{{Text: "PodDisruptionBudgets could not be listed."}},
		},
	}
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := report.Markdown(&b, answers()); err != nil {
		t.Fatal(err)
	}
	want := `### Placement: 2 of 5 workloads run or fit

|  | Workload | Verdict | Node, or why not | Least change |
| --- | --- | --- | --- | --- |
| ✗ | Deployment web/api | does not fit | No node takes it. | Request 1 cpu. |
| ✗ | Job default/soon on node-2 | waits | It waits. |  |
| ✗ | Pod default/x | could not be told | No profile has its name. |  |
| ✓ | Pod default/small | fits | node-1 |  |
| ✓ | Job default/done | runs | 3 of 3 pods run. |  |

Not judged:

- PodDisruptionBudgets could not be listed.
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestAHostileNameIsData: a name that ends a cell, a row or an element stays in its cell.
func TestAHostileNameIsData(t *testing.T) {
	hostile := "a` | ✓ | fits |\n| <img src=x> | [x](javascript:y) @all"
	a := why.Answer{
		Verdict: why.DoesNotFit, Sentence: hostile, Subject: why.Subject{Kind: "Pod", Namespace: hostile, Name: hostile, Node: hostile},
		Changes: []hypothesis.Suggestion{change(hostile)}, NotJudged: []why.NotJudged{{Text: hostile + "\n\n# x"}},
	}
	var b bytes.Buffer
	if err := report.Markdown(&b, []why.Answer{a}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), "\n"); got != 9 {
		t.Errorf("%d lines, not 9:\n%s", got, b.String())
	}
	for _, bad := range []string{"a` ", "<img", "[x]", "@all", " | ✓"} {
		if strings.Contains(strings.ReplaceAll(b.String(), `\`+bad, ""), bad) {
			t.Errorf("%q is in\n%s", bad, b.String())
		}
	}
	b.Reset()
	if err := report.JUnit(&b, []why.Answer{a}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, b.Bytes()); len(got.Cases) != 1 || got.Cases[0].Failure.Message != hostile {
		t.Errorf("got %+v", got)
	}
}

type suite struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Cases    []struct {
		Name      string   `xml:"name,attr"`
		ClassName string   `xml:"classname,attr"`
		Failure   *problem `xml:"failure"`
		Error     *problem `xml:"error"`
	} `xml:"testcase"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func read(t *testing.T, file []byte) suite {
	t.Helper()
	var out struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []suite  `xml:"testsuite"`
	}
	if err := xml.Unmarshal(file, &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Suites) != 1 {
		t.Fatalf("%d suites", len(out.Suites))
	}
	return out.Suites[0]
}

func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	if err := report.JUnit(&b, answers()); err != nil {
		t.Fatal(err)
	}
	got := read(t, b.Bytes())
	if got.Tests != 5 || got.Failures != 2 || got.Errors != 1 || len(got.Cases) != 5 {
		t.Errorf("%d tests, %d failures, %d errors", got.Tests, got.Failures, got.Errors)
	}
	var problems []string
	for _, c := range got.Cases {
		switch {
		case c.Failure != nil:
			problems = append(problems, c.ClassName+": "+c.Name+": "+c.Failure.Text)
		case c.Error != nil:
			problems = append(problems, c.ClassName+": "+c.Name+": "+c.Error.Message)
		}
	}
	want := []string{
		"web.Deployment: Deployment web/api: No node takes it.\nNodeResourcesFit rejects 1 node: Insufficient cpu\nTaintToleration rejects 2 nodes: a taint\n" +
			"least change: Request 1 cpu.\nnot judged: PodDisruptionBudgets could not be listed.",
		"default.Job: Job default/soon on node-2: It waits.\nwaits: the gate g",
		"default.Pod: Pod default/x: No profile has its name.",
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
