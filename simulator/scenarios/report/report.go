// Package report renders the results of runs: as a table for a terminal, as JUnit and Markdown for CI, and as JSON for
// tools.
//
// It may import simulator/scenarios/scenario, simulator/cireport and the events of simulator/autoscaling/stepwise, and nothing else of
// ours.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"kube-scheduler-simulator/simulator/cireport"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Suite is the results of one scenario file.
type Suite struct {
	// File is the name of the file as it was given.
	File    string             `json:"file"`
	Name    string             `json:"name"`
	Results []*scenario.Result `json:"results"`
}

// Passed reports whether all runs passed.
func (s Suite) Passed() bool {
	for _, r := range s.Results {
		if r.Outcome != scenario.Passed {
			return false
		}
	}
	return true
}

// marks of outcomes.
func mark(passed bool) string {
	if passed {
		return "✓"
	}
	return "✗"
}

// Table writes what people read: one line for each run, and what failed in it.
func Table(w io.Writer, suites []Suite) error {
	var b bytes.Buffer
	for _, s := range suites {
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "%s\t\texpectations\tplaced\tpending\tpreempted\tcluster time\n", s.Name)
		for _, r := range s.Results {
			fmt.Fprintf(t, "%s\t%s\t%d of %d\t%d\t%d\t%d\t%s\n", mark(r.Outcome == scenario.Passed), titleIn(s, r), r.Held, r.Expectations,
				r.Metrics.Placed, r.Metrics.Pending, r.Metrics.Preemptions, clock(r.ClusterSeconds))
		}
		if err := t.Flush(); err != nil {
			return err
		}
		for _, r := range s.Results {
			for _, name := range slices.Sorted(maps.Keys(r.Values)) {
				fmt.Fprintf(&b, "  %s: %v (%s)\n", name, r.Values[name], r.Title())
			}
			writeMeasurements(&b, r)
			writeAutoscaling(&b, r)
		}
		for _, r := range s.Results {
			writeFailures(&b, s.File, r)
		}
	}
	passed, failed, broken, canceled := Count(suites)
	fmt.Fprintf(&b, "%d of %d runs passed", passed, passed+failed+broken+canceled)
	for _, other := range []struct {
		n    int
		what string
	}{{failed, "failed"}, {broken, "could not be done"}, {canceled, "canceled"}} {
		if other.n > 0 {
			fmt.Fprintf(&b, ", %d %s", other.n, other.what)
		}
	}
	b.WriteString("\n")
	_, err := w.Write(b.Bytes())
	return err
}

// titleIn names a run in its suite, which may hold several scenarios.
func titleIn(s Suite, r *scenario.Result) string {
	if r.Scenario != s.Name {
		return r.Scenario + " (" + r.Title() + ")"
	}
	return r.Title()
}

// writeMeasurements writes what scheduler_perf defines, a line for each.
func writeMeasurements(b *bytes.Buffer, r *scenario.Result) {
	if len(r.Measurements) == 0 {
		return
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	phase := ""
	for _, m := range r.Measurements {
		if m.Labels["Name"] != phase {
			phase = m.Labels["Name"]
			fmt.Fprintf(t, "\n%s\tunit\tAverage\tPerc50\tPerc90\tPerc95\tPerc99\n", phase)
		}
		name := m.Labels["Metric"]
		var labels []string
		for _, key := range slices.Sorted(maps.Keys(m.Labels)) {
			if key != "Name" && key != "Metric" {
				labels = append(labels, m.Labels[key])
			}
		}
		if len(labels) > 0 {
			name += "{" + strings.Join(labels, ", ") + "}"
		}
		fmt.Fprintf(t, "%s\t%s", name, m.Unit)
		if d, ok := m.Data["Duration"]; ok {
			fmt.Fprintf(t, "\t%s\n", decimals(d))
			continue
		}
		for _, bucket := range []string{"Average", "Perc50", "Perc90", "Perc95", "Perc99"} {
			fmt.Fprintf(t, "\t%s", decimals(m.Data[bucket]))
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // to memory
	b.WriteString("\n")
}

// decimals writes a number with about four digits that count.
func decimals(f float64) string {
	digits := 3
	for limit := 1.0; limit <= 100 && f >= limit; limit *= 10 {
		digits--
	}
	return strconv.FormatFloat(f, 'f', digits, 64)
}

// Perf writes the measurements in the format that scheduler_perf writes for perf-dash.
func Perf(suites []Suite) ([]byte, error) {
	out := struct {
		Version   string                 `json:"version"`
		DataItems []scenario.Measurement `json:"dataItems"`
	}{Version: "v1", DataItems: []scenario.Measurement{}}
	for _, s := range suites {
		for _, r := range s.Results {
			out.DataItems = append(out.DataItems, r.Measurements...)
		}
	}
	return json.MarshalIndent(out, "", "  ")
}

// Count counts runs by their outcome.
func Count(suites []Suite) (passed, failed, broken, canceled int) {
	for _, s := range suites {
		for _, r := range s.Results {
			switch r.Outcome {
			case scenario.Passed:
				passed++
			case scenario.Failed:
				failed++
			case scenario.Broken:
				broken++
			case scenario.Canceled:
				canceled++
			}
		}
	}
	return passed, failed, broken, canceled
}

func writeFailures(b *bytes.Buffer, file string, r *scenario.Result) {
	for _, f := range Failures(r) {
		fmt.Fprintf(b, "\n%s:%d: %s (%s)\n", file, f.Line, f.Title, r.Title())
		for _, line := range f.Lines {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
	if r.Error != "" {
		fmt.Fprintf(b, "\n%s (%s)\n", r.Error, r.Title())
	}
}

// Failure is an expectation that did not hold or a wait that did not end, in words.
type Failure struct {
	Line  int
	Title string
	Lines []string
}

// Failures returns what failed in a run.
func Failures(r *scenario.Result) []Failure {
	var out []Failure
	for _, step := range r.Steps {
		if step.Failed && step.Error != "" {
			out = append(out, Failure{Line: step.Line, Title: strings.TrimSpace(step.Verb + " " + step.What), Lines: []string{step.Error}})
		}
		for _, e := range step.Expectations {
			if !e.Passed {
				out = append(out, Failure{Line: e.Line, Title: title(e), Lines: why(e)})
			}
		}
	}
	return out
}

func title(e scenario.ExpectationResult) string {
	if e.Say != "" {
		return e.Say
	}
	return e.That
}

// why says what was expected, what was found, and which decision explains it.
func why(e scenario.ExpectationResult) []string {
	if e.Error != "" {
		return []string{"expected  " + e.That, "found     " + e.Error}
	}
	var out []string
	for _, f := range e.Findings {
		out = append(out, "expected  "+f.Expected, "found     "+f.String())
	}
	if d := e.Decision; d != nil {
		out = append(out, "decision  "+strings.ReplaceAll(d.Sentence, "\n", " "))
	}
	return out
}

// clock says seconds as minutes and seconds.
func clock(seconds float64) string {
	tenths := int(math.Round(10 * seconds))
	return fmt.Sprintf("%d:%02d.%d", tenths/600, tenths/10%60, tenths%10)
}

// JSON renders the results for tools. Equal runs give equal bytes: durations of real time are left out.
func JSON(suites []Suite) ([]byte, error) {
	timeless := make([]Suite, len(suites))
	for i, s := range suites {
		timeless[i] = s
		timeless[i].Results = nil
		for _, r := range s.Results {
			copied := *r
			copied.DurationSeconds = 0
			copied.Steps = append([]scenario.StepResult(nil), r.Steps...)
			for j := range copied.Steps {
				copied.Steps[j].DurationSeconds = 0
			}
			timeless[i].Results = append(timeless[i].Results, &copied)
		}
	}
	data, err := json.MarshalIndent(struct {
		Suites []Suite `json:"suites"`
	}{timeless}, "", "  ")
	return append(data, '\n'), err
}

// JUnit renders the results for CI: a suite for each run, and a case for each expectation and each wait that did not end.
func JUnit(suites []Suite) ([]byte, error) {
	var out []cireport.Suite
	for _, s := range suites {
		for _, r := range s.Results {
			out = append(out, junit(s, r))
		}
	}
	var b bytes.Buffer
	err := cireport.JUnit(&b, out)
	return b.Bytes(), err
}

func junit(s Suite, r *scenario.Result) cireport.Suite {
	suite := cireport.Suite{Name: s.Name + " (" + r.Title() + ")", Seconds: r.DurationSeconds}
	add := func(line int, name string, seconds float64) *cireport.Case {
		suite.Cases = append(suite.Cases, cireport.Case{Name: name, ClassName: s.Name + "." + r.Title(), File: s.File, Line: line, Seconds: seconds})
		return &suite.Cases[len(suite.Cases)-1]
	}
	for _, step := range r.Steps {
		if step.Failed && step.Error != "" {
			add(step.Line, strings.TrimSpace(step.Verb+" "+step.What), step.DurationSeconds).Failure = &cireport.Problem{Message: step.Error}
		}
		for _, e := range step.Expectations {
			c := add(e.Line, title(e), step.DurationSeconds/float64(len(step.Expectations)))
			if !e.Passed {
				lines := why(e)
				c.Failure = &cireport.Problem{Message: message(e), Text: fmt.Sprintf("%s:%d\n%s", s.File, e.Line, strings.Join(lines, "\n"))}
			}
		}
	}
	if r.Error != "" {
		add(0, "the run", r.DurationSeconds).Error = &cireport.Problem{Message: r.Error}
	}
	return suite
}

// Markdown renders the results for the summary of a CI job: a row for each run, those that did not pass first, and what
// failed in it.
func Markdown(suites []Suite) ([]byte, error) {
	runs := cireport.Table{Columns: []string{"", "Scenario", "Expectations", "Placed", "Pending", "Preempted"}}
	failures := cireport.Table{Columns: []string{"Where", "What failed", "Expected and found", "Why"}}
	var passed [][]string
	for _, s := range suites {
		for _, r := range s.Results {
			ok := r.Outcome == scenario.Passed
			row := []string{mark(ok), s.Name + " (" + r.Title() + ")", fmt.Sprintf("%d of %d", r.Held, r.Expectations),
				strconv.Itoa(r.Metrics.Placed), strconv.Itoa(r.Metrics.Pending), strconv.Itoa(r.Metrics.Preemptions)}
			if ok {
				passed = append(passed, row)
				continue
			}
			runs.Rows = append(runs.Rows, row)
			for _, step := range r.Steps {
				if step.Failed && step.Error != "" {
					failures.Rows = append(failures.Rows, []string{place(s, r, step.Line), strings.TrimSpace(step.Verb + " " + step.What), step.Error, ""})
				}
				for _, e := range step.Expectations {
					if !e.Passed {
						failures.Rows = append(failures.Rows, []string{place(s, r, e.Line), title(e), message(e), decided(e)})
					}
				}
			}
			if r.Error != "" {
				failures.Rows = append(failures.Rows, []string{s.File + " (" + r.Title() + ")", "the run", r.Error, ""})
			}
		}
	}
	runs.Rows = append(runs.Rows, passed...)
	var b bytes.Buffer
	fmt.Fprintf(&b, "### Scenarios: %d of %d runs passed\n\n", len(passed), len(runs.Rows))
	if err := runs.Markdown(&b); err != nil {
		return nil, err
	}
	if len(failures.Rows) > 0 {
		b.WriteString("\n")
		if err := failures.Markdown(&b); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func place(s Suite, r *scenario.Result, line int) string {
	return fmt.Sprintf("%s:%d (%s)", s.File, line, r.Title())
}

// decided is the decision that explains a failure, in words.
func decided(e scenario.ExpectationResult) string {
	if e.Decision == nil {
		return ""
	}
	return e.Decision.Sentence
}

// message says a failure in one line.
func message(e scenario.ExpectationResult) string {
	if e.Error != "" {
		return e.Error
	}
	var parts []string
	for _, f := range e.Findings {
		parts = append(parts, fmt.Sprintf("expected %s, found %s", f.Expected, f))
	}
	return strings.Join(parts, "; ")
}
