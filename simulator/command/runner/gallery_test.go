package runner

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// TestGallery: the scenarios that the web application offers end as their cards say.
func TestGallery(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "web", "src", "features", "runs", "model", "gallery")
	type card struct {
		Name    string
		Steps   int
		Outcome scenario.Outcome
	}
	text, err := os.ReadFile(filepath.Join(dir, "gallery.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cards []card
	if err := json.Unmarshal(text, &cards); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) != len(cards) {
		t.Errorf("%d files for %d cards, %v", len(files), len(cards), err)
	}
	for _, want := range cards {
		t.Run(want.Name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, want.Name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			s, err := scenario.Load(t.Context(), text, scenario.Options{File: want.Name, Parse: config.Parse, Read: func(string) ([]byte, error) { return nil, os.ErrNotExist }})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(text), "# ") {
				t.Error("it does not begin with what to look for")
			}
			got := card{s.Name, len(s.Steps), scenario.Passed}
			results, err := scenario.Batch{Workers: 1, Gates: func(map[string]bool) (func(), error) { return func() {}, nil }}.Run(t.Context(), s.Jobs(scenario.RunOptions{Engine: inmemory.Engine(nil)}))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				if r.Outcome != scenario.Passed {
					got.Outcome = r.Outcome
					for _, step := range r.Steps {
						for _, e := range step.Expectations {
							t.Logf("%v %s: found %v", e.Passed, e.Say, e.Findings)
						}
					}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-card +run):\n%s", diff)
			}
		})
	}
}
