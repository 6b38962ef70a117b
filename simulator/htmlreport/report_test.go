package htmlreport

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/elsewhere/redact"
	"kube-scheduler-simulator/simulator/lesson"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

func built(script string) fs.FS {
	return fstest.MapFS{"report/report.js": {Data: []byte(script)}, "report/report.css": {Data: []byte("b{}")}}
}

func decision(name string, attempt int) *result.Cycle {
	c := &result.Cycle{}
	c.Pod = result.Pod{Namespace: "shop", Name: name, UID: "u"}
	c.Attempt, c.Outcome = attempt, result.Unschedulable
	return c
}

// unpack returns the content of a file as a browser reads it.
func unpack(t *testing.T, file []byte) content {
	t.Helper()
	_, rest, found := strings.Cut(string(file), `<script type="text/plain" id="report"`)
	_, rest, _ = strings.Cut(rest, ">")
	packed, _, ended := strings.Cut(rest, "</script>")
	if !found || !ended {
		t.Fatalf("the file holds no content:\n%s", file)
	}
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	var c content
	if err := json.NewDecoder(r).Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAFileHoldsItsDecisions(t *testing.T) {
	exported := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	file, _, err := HTML(built("run()"), Report{Decision: &Decision{Cycle: decision("web", 2), Other: decision("web", 1), Attempts: []result.Summary{decision("web", 1).Summary}}, Exported: exported})
	if err != nil {
		t.Fatal(err)
	}
	got := unpack(t, file)
	if got.Decision.Attempt != 2 || got.Other.Attempt != 1 || len(got.Attempts) != 1 || got.Decision.Explanation.Sentence == "" || !got.Provenance.Exported.Equal(exported) || got.Provenance.Kubernetes == "" {
		t.Errorf("the file holds %+v", got)
	}
}

// TestARedactedFileHoldsNoNames, and says that it is redacted.
func TestARedactedFileHoldsNoNames(t *testing.T) {
	whole := Decision{Cycle: decision("acme-web", 2), Other: decision("acme-db", 1), Attempts: []result.Summary{decision("acme-web", 1).Summary}}
	redacted, err := whole.Redact(redact.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	file, _, err := HTML(built("run()"), Report{Decision: redacted})
	if err != nil {
		t.Fatal(err)
	}
	got := unpack(t, file)
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Provenance.Redacted || strings.Contains(string(text)+string(file), "acme") || strings.Contains(string(text), "shop") {
		t.Errorf("redacted: %t, the file holds %s", got.Provenance.Redacted, text)
	}
	if got.Decision.Pod.Name != got.Attempts[0].Pod.Name || got.Decision.Pod.Name == got.Other.Pod.Name {
		t.Errorf("%s and its earlier attempt %s, compared with %s", got.Decision.Pod.Name, got.Attempts[0].Pod.Name, got.Other.Pod.Name)
	}
	if file, _, err = HTML(built("run()"), Report{Decision: &whole}); err != nil || unpack(t, file).Provenance.Redacted {
		t.Errorf("%v: a file with names says that it has none", err)
	}
}

func TestAFileHoldsItsRuns(t *testing.T) {
	run := Run{Name: "peak", File: "peak.yaml", Results: []*scenario.Result{
		{Scenario: "peak", Outcome: scenario.Passed, Pods: []scenario.PlacedPod{{Name: "web"}}, Steps: []scenario.StepResult{{Number: 1, Verb: "create"}}}, nil,
	}}
	file, _, err := HTML(built("run()"), Report{Runs: []Run{run}})
	if err != nil {
		t.Fatal(err)
	}
	want := run.Results[0]
	want.Pods = nil
	if diff := cmp.Diff([]Run{{Name: "peak", File: "peak.yaml", Results: []*scenario.Result{want, nil}}}, unpack(t, file).Runs); diff != "" {
		t.Error(diff)
	}
}

func TestAFileHoldsALesson(t *testing.T) {
	answered := lesson.AnsweredCheck{
		CheckView: lesson.CheckView{ID: "where", Kind: lesson.Predict, Prompt: "Which node?"}, Answer: map[string]any{"picked": "a"},
		Grade: &lesson.Grade{Passed: true, Misconceptions: []string{}, Nodes: []lesson.NodeGrade{{Node: "a", Picked: true, Right: true}}, Verdict: decision("web", 1)},
	}
	file, _, err := HTML(built("run()"), Report{Lesson: &lesson.Result{Summary: lesson.Summary{ID: "filters", Title: "Filters"}, Answers: []lesson.AnsweredCheck{answered, {CheckView: lesson.CheckView{ID: "open"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	got := unpack(t, file).Lesson
	if len(got.Answers) != 2 || !got.Answers[0].Grade.Passed || got.Answers[0].Verdict == nil || got.Answers[0].Verdict.Explanation.Sentence == "" || got.Answers[1].Grade != nil {
		t.Errorf("the file holds %+v", got)
	}
	if !strings.Contains(string(file), "<title>Filters</title>") {
		t.Errorf("the file is not called as the lesson: %s", file)
	}
}

// TestNothingInAFileRuns: whatever a pod is called and says, it cannot end the element that it stands in.
func TestNothingInAFileRuns(t *testing.T) {
	hostile := decision(`"><script>alert(1)</script>`, 1)
	hostile.Message = "</script><script>alert(2)</script>"
	const script = `a="</script><SCRIPT>x</SCRIPT><!--"; b=/</g`
	for name, r := range map[string]Report{
		"a decision": {Decision: &Decision{Cycle: hostile}},
		"a run":      {Runs: []Run{{Name: hostile.Pod.Name, Results: []*scenario.Result{{Error: hostile.Message}}}}},
		"a lesson":   {Lesson: &lesson.Result{Summary: lesson.Summary{Title: hostile.Pod.Name, Goal: hostile.Message}}},
	} {
		t.Run(name, func(t *testing.T) {
			file, policy, err := HTML(built(script), r)
			if err != nil {
				t.Fatal(err)
			}
			text := string(file)
			if strings.Contains(text, "<script>alert") {
				t.Errorf("the file holds text of the cluster as it is:\n%s", text)
			}
			if got := strings.Count(strings.ToLower(text), "</script>"); got != 2 {
				t.Errorf("%d elements end, want the content and the script:\n%s", got, text)
			}
			if want := `a="<\/script><SCRIPT>x<\/SCRIPT><\!--"; b=/</g`; !strings.Contains(text, want) {
				t.Errorf("the script is not %s:\n%s", want, text)
			}
			if !strings.Contains(text, `content="`+policy+`"`) || !strings.HasPrefix(policy, "default-src 'none'; script-src 'sha256-") || strings.Contains(policy, "script-src 'unsafe") {
				t.Errorf("the policy is %s", policy)
			}
		})
	}
}

// TestAFileOfALargeClusterIsSmall: 5,000 nodes with the reasons and scores of each fit into 2 MB beside
// the application's script, which takes 1.2 MB.
func TestAFileOfALargeClusterIsSmall(t *testing.T) {
	const nodes, most = 5000, 2<<20 - 1200<<10
	type reasons struct {
		Node, Plugin string
		Reasons      []string
	}
	var filter struct {
		Plugins, Nodes, States []string
		Reasons                []reasons
	}
	var score struct {
		Plugins                   []result.ScorePlugin
		Nodes                     []string
		Raw, Normalized, Weighted [][]int64
		Totals                    []int64
	}
	filter.Plugins = []string{"NodeName", "TaintToleration", "NodeResourcesFit", "PodTopologySpread"}
	for _, name := range []string{"TaintToleration", "NodeResourcesFit", "ImageLocality"} {
		score.Plugins = append(score.Plugins, result.ScorePlugin{Name: name, Weight: 2})
	}
	for i := range nodes {
		name := fmt.Sprintf("node-%x.example.com", i*2654435761)
		filter.Nodes = append(filter.Nodes, name)
		if i%2 == 0 {
			filter.States = append(filter.States, "PPRN")
			filter.Reasons = append(filter.Reasons, reasons{name, "NodeResourcesFit", []string{"Insufficient cpu", "Insufficient memory"}})
			continue
		}
		filter.States = append(filter.States, "PPPP")
		row := []int64{int64(i * 7919 % 101), int64(i * 104729 % 101), int64(i * 1299709 % 101)}
		score.Nodes = append(score.Nodes, name)
		score.Raw = append(score.Raw, row)
		score.Normalized = append(score.Normalized, row)
		score.Weighted = append(score.Weighted, []int64{2 * row[0], 2 * row[1], 2 * row[2]})
		score.Totals = append(score.Totals, 2*(row[0]+row[1]+row[2]))
	}
	text, err := json.Marshal(map[string]any{"filter": filter, "score": score})
	if err != nil {
		t.Fatal(err)
	}
	c := decision("web", 1)
	if err := json.Unmarshal(text, c); err != nil {
		t.Fatal(err)
	}
	if got := c.Filter.Nodes.Len() + c.Score.Nodes.Len(); got != nodes*3/2 {
		t.Fatalf("the cycle has %d rows", got)
	}
	grade := &lesson.Grade{Verdict: c}
	for i, node := range filter.Nodes {
		grade.Nodes = append(grade.Nodes, lesson.NodeGrade{Node: node, Verdict: []string{"passed", "rejected"}[i%2], CrossedOut: i%3 == 0, Right: i%3 == i%2})
	}
	predicted := lesson.AnsweredCheck{CheckView: lesson.CheckView{ID: "where", Kind: lesson.Predict}, Grade: grade}
	for name, r := range map[string]Report{
		"a decision": {Decision: &Decision{Cycle: c}},
		"a lesson":   {Lesson: &lesson.Result{Answers: []lesson.AnsweredCheck{predicted}}},
	} {
		file, _, err := HTML(built("run()"), r)
		if err != nil {
			t.Fatal(err)
		}
		if len(file) > most {
			t.Errorf("%s has %d bytes without the script, want at most %d", name, len(file), most)
		}
	}
}

func TestAProgramWithoutTheApplicationMakesNoFile(t *testing.T) {
	_, _, err := HTML(fstest.MapFS{}, Report{Decision: &Decision{Cycle: decision("web", 1)}})
	if diff := cmp.Diff(true, errors.Is(err, ErrNotBuilt)); diff != "" {
		t.Errorf("%v", err)
	}
}
