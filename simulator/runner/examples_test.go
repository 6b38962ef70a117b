package runner

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/scenario/inmemory"
)

func options(out *bytes.Buffer) Options {
	return Options{Engine: inmemory.Engine(nil), Parse: config.Parse, Workers: 2, Out: out}
}

func example(name string) string { return filepath.Join("..", "examples", "scenarios", name) }

// TestExamples: the scenarios that people begin with hold.
func TestExamples(t *testing.T) {
	for _, file := range []string{"web-peak.yaml", "arrivals.yaml", "matrix.yaml"} {
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
