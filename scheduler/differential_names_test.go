package scheduler_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"

	"kube-scheduler-simulator/scheduler/schedulertest"
)

// ours matches names that are internal to the recorder, and the ways in which Go
// prints its types.
var ours = regexp.MustCompile(`(?i)RecordedProfile|placeholder|recorder|wrapp|decorat|\*?struct ?\{|\*[a-z]+\.[A-Z]|0x[0-9a-f]{6}`)

// checkNames looks for our internal names in everything that a recorded scheduler
// exposes: messages, events, conditions, its writes, its results and annotations.
func checkNames(t *testing.T, known map[string]bool, sim *schedulertest.Simulation, cycles *sink) {
	t.Helper()
	for _, line := range sim.Transcript.Lines() {
		check(t, "the transcript", line)
	}
	for _, all := range cycles.attempts {
		for _, c := range all {
			data, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			check(t, "a result", string(data))
			if c.Filter == nil {
				continue
			}
			for _, p := range c.Filter.Plugins {
				if !known[p] {
					t.Errorf("a result has the plugin %q", p)
				}
			}
		}
	}
	for _, text := range sim.Annotations() {
		check(t, "an annotation", text)
	}
}

// checkMetrics looks for our internal names in the metrics of all schedulers so
// far.
func checkMetrics(t *testing.T, known map[string]bool) {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "scheduler_") {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				check(t, "metric "+family.GetName(), label.GetValue())
				if label.GetName() == "plugin" && label.GetValue() != "" {
					found++
					if !known[label.GetValue()] {
						t.Errorf("metric %s has the plugin %q", family.GetName(), label.GetValue())
					}
				}
			}
		}
	}
	if found == 0 {
		t.Error("no metric names a plugin")
	}
}

func check(t *testing.T, where, text string) {
	t.Helper()
	if found := ours.FindString(text); found != "" {
		t.Errorf("%s names %q: %s", where, found, text)
	}
}

// pluginNames returns the names that users know plugins by.
func pluginNames() map[string]bool {
	out := map[string]bool{}
	for name := range plugins.NewInTreeRegistry() {
		out[name] = true
	}
	for name := range schedulertest.NewObserver(nil).OutOfTree() {
		out[name] = true
	}
	return out
}
