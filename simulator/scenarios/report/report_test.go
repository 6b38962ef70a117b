package report_test

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/scenarios/report"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// suites have a run that passed, one with an expectation that does not hold and a wait that did not end, and one that broke.
func suites() []report.Suite {
	held, not := scenario.ExpectationResult{Line: 7, That: "a == 1", Passed: true}, scenario.ExpectationResult{
		Line: 8, Say: "no node | is full", That: "n <= 1", Findings: []scenario.Finding{{Expected: "<= 1", Value: "2"}},
		Decision: &scenario.Decision{Sentence: "node-1 won by 3."},
	}
	return []report.Suite{{File: "s.yaml", Name: "s", Results: []*scenario.Result{
		{Scenario: "s", Configuration: "default", Seed: 1, Outcome: scenario.Passed, Expectations: 1, Held: 1, Steps: []scenario.StepResult{{Expectations: []scenario.ExpectationResult{held}}}},
		{Scenario: "s", Configuration: "packing", Seed: 1, Outcome: scenario.Failed, Expectations: 2, Held: 1, Metrics: scenario.Metrics{Placed: 3, Pending: 1}, Steps: []scenario.StepResult{
			{Line: 5, Verb: "wait", What: "settled", Failed: true, Error: "1 pod is pending"},
			{Expectations: []scenario.ExpectationResult{held, not}},
		}},
		{Scenario: "s", Configuration: "default", Seed: 2, Outcome: scenario.Broken, Error: "step 1: no such node"},
	}}}
}

func TestMarkdown(t *testing.T) {
	got, err := report.Markdown(suites())
	if err != nil {
		t.Fatal(err)
	}
	want := `### Scenarios: 1 of 3 runs passed

|  | Scenario | Expectations | Placed | Pending | Preempted |
| --- | --- | --- | --- | --- | --- |
| ✗ | s (packing, seed 1) | 1 of 2 | 3 | 1 | 0 |
| ✗ | s (default, seed 2) | 0 of 0 | 0 | 0 | 0 |
| ✓ | s (default, seed 1) | 1 of 1 | 0 | 0 | 0 |

| Where | What failed | Expected and found | Why |
| --- | --- | --- | --- |
| s.yaml:5 (packing, seed 1) | wait settled | 1 pod is pending |  |
| s.yaml:8 (packing, seed 1) | no node \| is full | expected \<= 1, found 2 | node-1 won by 3. |
| s.yaml (default, seed 2) | the run | step 1: no such node |  |
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestJUnit(t *testing.T) {
	got, err := report.JUnit(suites())
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Suites []struct {
			Name     string `xml:"name,attr"`
			Failures int    `xml:"failures,attr"`
			Errors   int    `xml:"errors,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Line    int    `xml:"line,attr"`
				Failure string `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(got, &file); err != nil {
		t.Fatal(err)
	}
	var counts [][3]int
	for _, s := range file.Suites {
		counts = append(counts, [3]int{len(s.Cases), s.Failures, s.Errors})
	}
	if diff := cmp.Diff([][3]int{{1, 0, 0}, {3, 2, 0}, {1, 0, 1}}, counts); diff != "" {
		t.Errorf("cases, failures and errors (-want +got):\n%s", diff)
	}
	failed := file.Suites[1].Cases[2]
	if failed.Name != "no node | is full" || failed.Line != 8 || !strings.Contains(failed.Failure, "node-1 won by 3.") {
		t.Errorf("got %+v", failed)
	}
}
