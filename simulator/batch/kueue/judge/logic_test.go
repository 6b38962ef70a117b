package judge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func states(facts ...map[string]string) []state {
	var out []state
	for _, f := range facts {
		out = append(out, state{observation: observation{facts: f}})
	}
	return out
}

// TestExpectations: an entry explains the lines that it matches, and nothing else.
func TestExpectations(t *testing.T) {
	e, err := parseExpectations([]byte(`
- {id: renamed, fact: Workload condition X, kueue: False Pending, simulator: False (Waiting|Never), why: a test}
- {id: added, fact: Workload condition Y, simulator: True New, why: a test}
- {id: unused, fact: Job suspend, kueue: a, simulator: b, why: a test}
- {id: trait, trait: selects a key of others, why: a test}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, fact, kueue, simulator string
		differs                      bool
	}{
		{"another reason", "w0 Workload condition X", "False Pending", "False Waiting", false},
		{"another reason of some", "w0 Workload condition X", "False Pending\nTrue A", "False Waiting\nTrue A", false},
		{"some have quota", "w0 Workload condition X", "False Pending\nTrue A", "False Waiting\nFalse Waiting", true},
		{"another decision", "w0 Workload condition X", "True A", "False Waiting", true},
		{"a reason that nobody expects", "w0 Workload condition X", "False Pending", "False Other", true},
		{"one more condition", "w0 Workload condition Y", "", "True New", false},
		{"one more condition of some", "w0 Workload condition Y", "True A", "True A\nTrue New", false},
		{"one more condition of theirs", "w0 Workload condition Y", "True New", "", true},
		{"another fact", "w0 Job condition X", "False Pending", "False Waiting", true},
	} {
		d := e.compare(&scenario{}, states(map[string]string{c.fact: c.kueue}), states(map[string]string{c.fact: c.simulator}))
		if (d != nil) != c.differs {
			t.Errorf("%s: %v", c.name, d)
		}
	}
	if diff := cmp.Diff([]string{"unused", "trait"}, e.unused()); diff != "" {
		t.Error(diff)
	}
	for _, wrong := range []string{`[{id: a, fact: X}]`, `[{id: a, why: b}]`, `[{id: a, trait: none, why: b}]`, `[{id: a, fact: "(", why: b}]`} {
		if _, err := parseExpectations([]byte(wrong)); err == nil {
			t.Errorf("%s is accepted", wrong)
		}
	}
	if _, err := parseExpectations(expectedFile); err != nil {
		t.Error(err)
	}
}

// TestAgree: a difference says something if both Kueues came to rest in some run.
func TestAgree(t *testing.T) {
	e := &expectations{}
	evicted := func(times ...int) []state {
		out := states(map[string]string{"w0 Job suspend": "true"})
		for i, n := range times {
			s := states(map[string]string{"w0 Job suspend": []string{"false", "true"}[i%2]})[0]
			s.preempted = map[string]int{"w0": n}
			out = append(out, s)
		}
		return out
	}
	still := evicted(2)
	still[1].facts = map[string]string{"w0 Job suspend": "true"}
	for _, c := range []struct {
		name             string
		kueue, simulator []state
		want             bool
	}{
		{"the same", still, still, true},
		{"both rest", evicted(2), still, false},
		{"the original evicts the same workload for ever", evicted(27), still, true},
		{"the simulator does", still, evicted(27), false},
		{"many evictions, in many steps", append(evicted(9), evicted(18)[1]), append(still, evicted(18)[1]), false},
	} {
		if got := e.agree([]*run{{scenario: &scenario{}, kueue: c.kueue, simulator: c.simulator}}); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
	unsettled := evicted(2)
	unsettled[1].unsettled = true
	if !e.agree([]*run{{scenario: &scenario{}, kueue: unsettled, simulator: still}}) {
		t.Error("a run that was cut off says something")
	}
}

// TestShrink: what remains is what the difference needs.
func TestShrink(t *testing.T) {
	s := generate(5)
	needs := func(s *scenario) bool {
		text := s.text()
		return strings.Contains(text, "name: w1\n") && strings.Contains(text, "kind: LocalQueue")
	}
	if !needs(s) {
		t.Fatalf("the scenario lacks what this test needs:\n%s", s.text())
	}
	small, err := shrink(s, func(all []*scenario) ([]bool, error) {
		var out []bool
		for _, s := range all {
			out = append(out, needs(s))
		}
		return out, nil
	})
	if err != nil || len(small.Steps) != 1 || len(small.Objects) != 1 {
		t.Errorf("%v, and this remains:\n%s", err, small.text())
	}
}

// TestGenerate: a seed makes the same scenario again, and the scenarios have all that is to be compared.
func TestGenerate(t *testing.T) {
	if diff := cmp.Diff(generate(7).text(), generate(7).text()); diff != "" {
		t.Error(diff)
	}
	all, fair := "", 0
	for seed := range uint64(100) {
		s := generate(seed)
		all += s.text()
		if s.Fair {
			fair++
		}
	}
	if fair != 34 {
		t.Errorf("%d of 100 scenarios share fairly", fair)
	}
	for _, part := range []string{
		"kind: Job", "kind: Pod", "kind: Deployment", "kind: StatefulSet", "pod-group-name", "job-min-parallelism", "kind: Topology", "podset-required-topology",
		"parentName:", "cohortName:", "borrowingLimit", "lendingLimit", "weight:", "stopPolicy: HoldAndDrain", "finish:", "delete:", "priority-class: high", "StrictFIFO",
		"elastic-job", "nodeTaints", "reclaimWithinCohort: Any", "borrowWithinCohort", "preference:",
	} {
		if !strings.Contains(all, part) {
			t.Errorf("no scenario has %s", part)
		}
	}
}

// TestCycles: the judge counts cycles, and knows who was tried in which.
func TestCycles(t *testing.T) {
	c := &cycles{}
	c.reset()
	for _, line := range []string{
		`{"msg":"Scheduling cycle starts","schedulingCycle":1}`,
		`{"msg":"Attempting to schedule workload","workload":{"name":"w","namespace":"j1"}}`,
		`{"msg":"Scheduling cycle complete","schedulingCycle":1}`,
		`{"msg":"Attempting to schedule workload","workload":{"name":"w","namespace":"j2"}}`,
		`something else`,
	} {
		c.read([]byte(line))
	}
	complete, tried := c.seen()
	if diff := cmp.Diff(map[string]int{"j1": 1, "j2": 2}, tried); complete != 1 || diff != "" {
		t.Errorf("%d complete, tried %s", complete, diff)
	}
}
