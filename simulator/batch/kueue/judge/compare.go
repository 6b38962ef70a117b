package judge

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// state is what one cluster has after a step.
type state struct {
	// refused says whether the API server refused the step.
	refused bool
	observation
}

// fact is what differs in one respect.
type fact struct{ name, kueue, simulator string }

func (f fact) object() string {
	object, _, _ := strings.Cut(f.name, " ")
	return object
}

// kind is the name without the object.
func (f fact) kind() string {
	_, kind, _ := strings.Cut(f.name, " ")
	return kind
}

func (f fact) String() string {
	return fmt.Sprintf("  %s\n    Kueue:     %s\n    simulator: %s\n", f.name, indent(f.kueue), indent(f.simulator))
}

func indent(lines string) string {
	if lines == "" {
		return "(nothing)"
	}
	return strings.ReplaceAll(lines, "\n", "\n               ")
}

// difference is what differs after the first step that has differences. Step -1 is what is there before the first one.
type difference struct {
	step  int
	facts []fact
}

func (d *difference) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "after step %d:\n", d.step)
	for _, f := range d.facts {
		out.WriteString(f.String())
	}
	return out.String()
}

// lead is the kind of what matters most in a difference: a decision more than a reason, and that more than a count.
func (d *difference) lead() string {
	kinds := map[string]bool{}
	for _, f := range d.facts {
		kinds[f.kind()] = true
	}
	for _, first := range []string{"Workload admission", "Workload condition QuotaReserved", "Workload evictions", "Workload condition Admitted"} {
		if kinds[first] {
			return first
		}
	}
	return d.facts[0].kind()
}

//go:embed expected.yaml
var expectedFile []byte

// entry is one expected difference.
type entry struct {
	ID string `json:"id"`
	// Fact matches the kind of the fact. Kueue and Simulator match lines of it that count as the same. If one of them is empty,
	// the lines of the other count for nothing.
	Fact      string `json:"fact,omitempty"`
	Kueue     string `json:"kueue,omitempty"`
	Simulator string `json:"simulator,omitempty"`
	// Trait names, in place of a fact, what makes Kueue decide differently, so that all that follows may differ.
	Trait string `json:"trait,omitempty"`
	Why   string `json:"why"`

	fact, kueue, simulator *regexp.Regexp
}

// traits say whether a scenario has what an entry names, when the simulator is in a state and differs for the first time.
var traits = map[string]func(*scenario, state, *difference) bool{
	"selects a key of others": func(s *scenario, _ state, _ *difference) bool { return s.selectsAKeyOfOthers() },
	// Only an elastic job that is evicted while a workload with more pods waits has one that is out of sync.
	"stops what grows": func(_ *scenario, simulator state, d *difference) bool {
		return slices.ContainsFunc(d.facts, func(f fact) bool {
			return strings.Contains(simulator.facts[f.object()+" Workload condition Finished"], "OutOfSync")
		})
	},
	"restores the template": func(s *scenario, _ state, d *difference) bool {
		return !slices.ContainsFunc(d.facts, func(f fact) bool {
			return f.kind() != "Job nodeSelector" && f.kind() != "Job tolerations" || !s.elastic(f.object())
		})
	},
	"evicts what it replaces": func(s *scenario, _ state, d *difference) bool {
		return slices.ContainsFunc(d.facts, func(f fact) bool {
			return f.kind() == "Workload condition Preempted" && strings.Contains(f.kueue, "True InClusterQueue") && f.simulator == "" && s.elastic(f.object())
		})
	},
	"replaces without more": func(s *scenario, _ state, d *difference) bool {
		return slices.ContainsFunc(d.facts, func(f fact) bool {
			return f.kind() == "Workload condition Finished" && f.kueue == "" && strings.Contains(f.simulator, "WorkloadSliceReplaced") && s.elastic(f.object())
		})
	},
	"keeps an earlier share": func(s *scenario, _ state, d *difference) bool {
		return !slices.ContainsFunc(d.facts, func(f fact) bool {
			return f.kind() != "ClusterQueue share" && f.kind() != "Cohort share" || !s.changesQuota(d.step, f.object())
		})
	},
	"prefers a flavor without candidates": func(s *scenario, simulator state, d *difference) bool {
		return slices.ContainsFunc(d.facts, func(f fact) bool {
			return f.kind() == "Workload condition QuotaReserved" && strings.HasPrefix(f.kueue, "False") && strings.Contains(f.simulator, "True") &&
				s.prefersPreemption(simulator.facts[f.object()+" Workload queue"])
		})
	},
	// Such a group is in no queue, so that those behind it in a StrictFIFO queue differ, too.
	"waits for replacements": func(_ *scenario, simulator state, _ *difference) bool {
		for name, lines := range simulator.facts {
			if strings.HasSuffix(name, " Workload condition WaitingForReplacementPods") && strings.HasPrefix(lines, "True") {
				return true
			}
		}
		return false
	},
}

// expectations are the differences that we have reviewed, and how often each explained one.
type expectations struct {
	entries []*entry
	hits    map[string]int
}

func parseExpectations(text []byte) (*expectations, error) {
	e := &expectations{hits: map[string]int{}}
	if err := yaml.UnmarshalStrict(text, &e.entries); err != nil {
		return nil, err
	}
	for _, x := range e.entries {
		if x.ID == "" || x.Why == "" || (x.Fact == "") == (x.Trait == "") || x.Trait != "" && traits[x.Trait] == nil {
			return nil, fmt.Errorf("the expected difference %q needs a reason, and either a fact or a trait that exists", x.ID)
		}
		for _, p := range []struct {
			text string
			to   **regexp.Regexp
		}{{x.Fact, &x.fact}, {x.Kueue, &x.kueue}, {x.Simulator, &x.simulator}} {
			r, err := regexp.Compile("^(?:" + p.text + ")$")
			if err != nil {
				return nil, err
			}
			*p.to = r
		}
	}
	return e, nil
}

// unused are the entries that have explained nothing.
func (e *expectations) unused() []string {
	var out []string
	for _, x := range e.entries {
		if e.hits[x.ID] == 0 {
			out = append(out, x.ID)
		}
	}
	return out
}

// explains reports whether entries make a fact the same on both sides: each replaces the lines that it matches by its name.
func (e *expectations) explains(f fact) bool {
	var used []string
	for _, x := range e.entries {
		if x.fact == nil || x.Fact == "" || !x.fact.MatchString(f.kind()) {
			continue
		}
		kueue, simulator := x.replace(x.kueue, f.kueue), x.replace(x.simulator, f.simulator)
		if kueue != f.kueue || simulator != f.simulator {
			used = append(used, x.ID)
		}
		if f.kueue, f.simulator = kueue, simulator; kueue == simulator {
			for _, id := range used {
				e.hits[id]++
			}
			return true
		}
	}
	return false
}

func (x *entry) replace(matching *regexp.Regexp, lines string) string {
	var out []string
	for line := range strings.SplitSeq(lines, "\n") {
		switch {
		case line == "" || !matching.MatchString(line):
			out = append(out, line)
		case x.Kueue != "" && x.Simulator != "":
			out = append(out, "expected: "+x.ID)
		}
	}
	slices.Sort(out)
	// How many pods of a Deployment are refused, and how many are not even tried because they are equal to one that was, is a
	// matter of time.
	out = slices.CompactFunc(out, func(a, b string) bool { return a == b && strings.HasPrefix(a, "expected: ") })
	return strings.Join(out, "\n")
}

// compare returns the first difference that is not expected, or nil. What follows an expected difference of decisions counts for nothing.
func (e *expectations) compare(s *scenario, kueue, simulator []state) *difference {
	for i := range min(len(kueue), len(simulator)) {
		a, b := kueue[i], simulator[i]
		d := &difference{step: i - 1}
		if a.refused != b.refused {
			d.facts = append(d.facts, fact{"the write", refusal(a.refused), refusal(b.refused)})
		}
		for _, name := range changed(a.facts, b.facts) {
			if f := (fact{name, a.facts[name], b.facts[name]}); !e.explains(f) {
				d.facts = append(d.facts, f)
			}
		}
		if len(d.facts) == 0 {
			continue
		}
		for _, x := range e.entries {
			if x.Trait != "" && traits[x.Trait](s, b, d) {
				e.hits[x.ID]++
				return nil
			}
		}
		return d
	}
	return nil
}

func refusal(refused bool) string {
	if refused {
		return "refused"
	}
	return "accepted"
}
