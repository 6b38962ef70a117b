package runner

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/host/quiet"
	"kube-scheduler-simulator/simulator/scenarios/inmemory"
)

func TestMain(m *testing.M) {
	if err := quiet.Klog(); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func options(out *bytes.Buffer) Options {
	application := fstest.MapFS{"report/report.js": {}, "report/report.css": {}}
	return Options{Engine: inmemory.Engine(nil), Parse: config.Parse, Workers: 2, Out: out, Application: application, Now: time.Now}
}

func example(name string) string { return filepath.Join("..", "..", "examples", "scenarios", name) }

// TestExamples: the scenarios that people begin with hold.
func TestExamples(t *testing.T) {
	for _, file := range []string{"web-peak.yaml", "arrivals.yaml", "matrix.yaml", "kep-140.yaml"} {
		t.Run(file, func(t *testing.T) {
			var out bytes.Buffer
			passed, err := Run(t.Context(), []string{example(file)}, nil, options(&out))
			if err != nil || !passed {
				t.Errorf("%v\n%s", err, out.String())
			}
		})
	}
}

func TestCompare(t *testing.T) {
	var out bytes.Buffer
	o := options(&out)
	o.Seeds = []int64{1, 2}
	if err := Compare(t.Context(), "default", example("packing.yaml"), example("web-peak.yaml"), "", o); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"A default, B packing, 2 seeds", "nodesUsed", "moved (seed 1)", "NodeResourcesFit (score)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

// TestSweep: what an interrupted sweep has run is not run again, half-written lines are cut off, and other files are refused.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	state, outcomes := filepath.Join(dir, "runs"), filepath.Join(dir, "out.json")
	sweep := func(seeds []int64) (string, error) {
		var out bytes.Buffer
		o := SweepOptions{Options: options(&out), State: state, File: outcomes}
		o.Seeds = seeds
		err := Sweep(t.Context(), example("weights.yaml"), o)
		return out.String(), err
	}
	first, err := sweep(nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(first, "4 combinations × 2 seeds") {
		t.Error(first)
	}
	// 2 is the default weight of PodTopologySpread.
	if !regexp.MustCompile(`(?m)LeastAllocated +2 .* unchanged$`).MatchString(first) || strings.Count(first, "unchanged") != 1 {
		t.Error(first)
	}
	if report, err := os.ReadFile(outcomes); err != nil || bytes.Count(report, []byte(`"unchanged": true`)) != 1 {
		t.Errorf("%v\n%s", err, report)
	}
	whole, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	torn := slices.Concat(bytes.Join(lines[:4], nil), []byte(`{"point": 3, "se`))
	if err := os.WriteFile(state, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := sweep(nil)
	if err != nil || again != first {
		t.Errorf("%v\n%s", err, again)
	}
	resumed, err := os.ReadFile(state)
	if err != nil || !bytes.HasPrefix(resumed, bytes.Join(lines[:4], nil)) || bytes.Count(resumed, []byte("\n")) != 9 {
		t.Errorf("%v\n%s", err, resumed)
	}
	if _, err := sweep([]int64{7}); err == nil || !strings.Contains(err.Error(), "belongs to other files or seeds") {
		t.Errorf("error %v", err)
	}
}

// TestReports: the reports are written whole, and a directory that is not there is a clear error.
func TestReports(t *testing.T) {
	dir := t.TempDir()
	var outputs []Output
	for _, format := range []string{"junit", "json", "html"} {
		outputs = append(outputs, Output{format, filepath.Join(dir, format)})
	}
	var out bytes.Buffer
	if _, err := Run(t.Context(), []string{example("web-peak.yaml")}, outputs, options(&out)); err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{"junit": `tests="5" failures="0"`, "json": `"outcome": "passed"`, "html": `<title>web-peak</title>`} {
		if got, err := os.ReadFile(filepath.Join(dir, format)); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: %v, without %q", format, err, want)
		}
	}
	_, err := Run(t.Context(), []string{example("web-peak.yaml")}, []Output{{"json", filepath.Join(dir, "none", "a.json")}}, options(&out))
	if err == nil || !strings.Contains(err.Error(), "writing") {
		t.Errorf("error %v", err)
	}
}
