// Package htmlreport makes an HTML file of a decision, or of two to compare, of the runs of
// scenarios, or of what a learner did in a lesson. The file opens in a browser without a server or
// a network: it holds the result, and the script and the style sheet of the web application's
// report. It is not a way to store results.
//
// The text of a result comes from the cluster, so every user and program that may write to the
// cluster can choose it. The file therefore holds it as data that no browser runs, and its
// Content-Security-Policy allows the one script by its hash and no connection.
//
// It may import the results, their explanations and their redaction, scenarios, lessons and the
// versions.
package htmlreport

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/elsewhere/redact"
	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/host/version"
	"kube-scheduler-simulator/simulator/lesson"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// contentVersion counts incompatible changes of content. The web application refuses later ones,
// and reads earlier ones: version 1 had decisions only.
const contentVersion = 2

// ErrNotBuilt says that this program was compiled without the web application.
var ErrNotBuilt = errors.New("this program was built without the web application, which draws reports")

// Report is what a file shows: exactly one of Decision, Runs and Lesson.
type Report struct {
	Decision *Decision
	Runs     []Run
	Lesson   *lesson.Result
	// Exported is when the file is made.
	Exported time.Time
}

// Decision is a decision with those of the same pod.
type Decision struct {
	Cycle *result.Cycle
	// Other is the decision to compare it with; nil for none.
	Other *result.Cycle
	// Attempts are those of the decision's pod, oldest first.
	Attempts []result.Summary
	// Redacted: Redact has replaced names.
	Redacted bool
}

// Run is the results of a scenario or of a sweep.
type Run struct {
	Name string `json:"name"`
	// File is the name of the scenario's file; empty if it came without one.
	File string `json:"file,omitempty"`
	// Results are in the order of the matrix, or of the points and seeds of the sweep; nil for
	// those that have not ended.
	Results []*scenario.Result `json:"results"`
	// Comparison is that of two configurations; nil when there is none.
	Comparison *scenario.Comparison `json:"comparison,omitempty"`
	// Sweep sums up the results of a sweep; nil when the scenario ran by itself.
	Sweep *scenario.SweepResult `json:"sweep,omitempty"`
	// Decisions are the whole ones that explain failures, by DecisionKey. The file has those that
	// the results keep.
	Decisions map[string]*explain.Explained `json:"decisions,omitempty"`
}

// DecisionKey names a decision of the result at an index.
func DecisionKey(index int, d *scenario.Decision) string {
	return fmt.Sprintf("%d/%s/%d", index, d.Pod.UID, d.Attempt)
}

// Redact returns the decision with other names.
func (d Decision) Redact(r *redact.Redactor) (*Decision, error) {
	out := Decision{Redacted: true, Attempts: make([]result.Summary, len(d.Attempts))}
	var err error
	if out.Cycle, err = r.Cycle(d.Cycle); err != nil {
		return nil, err
	}
	if d.Other != nil {
		if out.Other, err = r.Cycle(d.Other); err != nil {
			return nil, err
		}
	}
	for i, attempt := range d.Attempts {
		if out.Attempts[i], err = r.Summary(attempt); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// content is the JSON in a file. The fields after Kind depend on it.
type content struct {
	Version    int        `json:"version"`
	Provenance provenance `json:"provenance"`
	Kind       kind       `json:"kind"`

	Attempts []result.Summary   `json:"attempts,omitempty"`
	Decision *explain.Explained `json:"decision,omitempty"`
	Other    *explain.Explained `json:"other,omitempty"`

	Runs []Run `json:"runs,omitempty"`

	Lesson *lessonResult `json:"lesson,omitempty"`
}

type kind string

const (
	ofDecision kind = "decision"
	ofRuns     kind = "runs"
	ofLesson   kind = "lesson"
)

type provenance struct {
	Simulator  string    `json:"simulator"`
	Kubernetes string    `json:"kubernetes"`
	Exported   time.Time `json:"exported"`
	Redacted   bool      `json:"redacted"`
}

// lessonResult is a lesson.Result with the decisions of its predictions.
type lessonResult struct {
	*lesson.Result
	Answers []answeredCheck `json:"answers"`
}

type answeredCheck struct {
	lesson.AnsweredCheck
	Verdict *explain.Explained `json:"verdict,omitempty"`
}

// content also returns the title.
func (r Report) content() (content, string) {
	versions := version.Get()
	c := content{Version: contentVersion, Provenance: provenance{Simulator: versions.Simulator, Kubernetes: process.Kubernetes(), Exported: r.Exported.UTC()}}
	switch {
	case r.Lesson != nil:
		c.Kind, c.Lesson = ofLesson, &lessonResult{Result: r.Lesson, Answers: []answeredCheck{}}
		for _, check := range r.Lesson.Answers {
			c.Lesson.Answers = append(c.Lesson.Answers, answeredCheck{check, explained(check.Verdict())})
		}
		return c, r.Lesson.Title
	case r.Runs != nil:
		c.Kind, c.Runs = ofRuns, make([]Run, len(r.Runs))
		names := make([]string, len(r.Runs))
		for i, run := range r.Runs {
			c.Runs[i], names[i] = run.shown(), run.Name
		}
		return c, strings.Join(names, ", ")
	}
	d := r.Decision
	c.Kind, c.Attempts, c.Decision, c.Other = ofDecision, d.Attempts, explained(d.Cycle), explained(d.Other)
	c.Provenance.Redacted = d.Redacted
	return c, fmt.Sprintf("%s/%s, attempt %d", d.Cycle.Pod.Namespace, d.Cycle.Pod.Name, d.Cycle.Attempt)
}

func explained(c *result.Cycle) *explain.Explained {
	if c == nil {
		return nil
	}
	return new(explain.With(c))
}

// shown leaves out what no page shows, such as the final place of each pod.
func (r Run) shown() Run {
	results := make([]*scenario.Result, len(r.Results))
	decisions := map[string]*explain.Explained{}
	for i, result := range r.Results {
		if result != nil {
			copied := *result
			copied.Pods = nil
			results[i] = &copied
			for d := range result.Decisions() {
				if d.Cycle != nil {
					decisions[DecisionKey(i, d)] = explained(d.Cycle)
				}
			}
		}
	}
	r.Results, r.Decisions = results, decisions
	return r
}

// The Content-Security-Policy allows what the file holds itself, and no connection.
func policyOf(script []byte) string {
	sum := sha256.Sum256(script)
	return "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; " +
		"style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
}

// Content returns what a file of the report would hold, for JSON.
func Content(r Report) any {
	held, _ := r.content()
	return held
}

// HTML returns the file and its Content-Security-Policy, which the file also states. application is
// the built web application; without its report the error is ErrNotBuilt.
func HTML(application fs.FS, r Report) (file []byte, policy string, err error) {
	script, err := read(application, "report/report.js")
	if err != nil {
		return nil, "", err
	}
	style, err := read(application, "report/report.css")
	if err != nil {
		return nil, "", err
	}
	held, title := r.content()
	packed, err := pack(held)
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256([]byte(packed))
	policy = policyOf(script)
	return fmt.Appendf(nil, page, policy, html.EscapeString(title), style, hex.EncodeToString(sum[:]), packed, script), policy, nil
}

// page is the file: its policy, title, style sheet, the sum of the content, the content and the
// script. The script must follow the content, which it reads.
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>%s</style>
</head>
<body>
<div id="app"></div>
<script type="text/plain" id="report" data-sha256="%s">%s</script>
<script type="module">%s</script>
</body>
</html>
`

func pack(c content) (string, error) {
	var out bytes.Buffer
	encoder := base64.NewEncoder(base64.StdEncoding, &out)
	compressor := gzip.NewWriter(encoder)
	if err := json.NewEncoder(compressor).Encode(c); err != nil {
		return "", fmt.Errorf("encoding the report: %w", err)
	}
	if err := errors.Join(compressor.Close(), encoder.Close()); err != nil {
		return "", fmt.Errorf("packing the report: %w", err)
	}
	return out.String(), nil
}

// read returns a file of the application in a form that cannot end the element around it.
func read(application fs.FS, name string) ([]byte, error) {
	text, err := fs.ReadFile(application, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotBuilt
	}
	if err != nil {
		return nil, fmt.Errorf("reading the web application: %w", err)
	}
	return ending.ReplaceAll(text, []byte(`<\$1`)), nil
}

// ending matches what ends a script or a style sheet in HTML, or hides its end, also within a
// string or a comment. A backslash after < means nothing there, so it does no harm.
var ending = regexp.MustCompile(`(?i)<(/script|/style|!--)`)
