package session

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/config"
)

func TestMistakesAtTheirLines(t *testing.T) {
	for _, test := range []struct {
		name     string
		rules    Rules
		document string
		want     []config.Mistake
	}{
		{"an empty document", KubeBatch, "", []config.Mistake{{Line: 1, Message: "the document is empty; it needs actions and tiers"}}},
		{"an action of the other family", KubeBatch, "actions: \"enqueue, allocate\"\ntiers: []\n", []config.Mistake{
			{Field: "actions", Line: 1, Column: 10, Message: `kube-batch has no action "enqueue" here; it has allocate, backfill, preempt, reclaim`},
		}},
		{"an unknown plugin", KubeBatch, "actions: allocate\ntiers:\n- plugins:\n  - name: gnag\n", []config.Mistake{
			{Field: "tiers[0].plugins[0].name", Line: 4, Column: 11, Message: `kube-batch has no plugin "gnag" here; it has conformance, drf, gang, nodeorder, predicates, priority, proportion`},
		}},
		{"a plugin that only the real Volcano has", Volcano, "actions: allocate\ntiers:\n- plugins:\n  - name: sla\n", []config.Mistake{
			{Field: "tiers[0].plugins[0].name", Line: 4, Column: 11, Message: "volcano has a plugin sla, but it is not available here"},
		}},
		{"several", KubeBatch, "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n    enableJobOrder: maybe\n  - name: gang\n  - name: nodeorder\n    arguments: {leastrequested.weight: many, x: 1}\ntear: 1\n", []config.Mistake{
			{Field: "tiers[0].plugins[0].enableJobOrder", Line: 5, Column: 21, Message: "want true or false"},
			{Field: "tiers[0].plugins[1]", Line: 6, Column: 5, Message: "plugin gang appears twice"},
			{Field: "tiers[0].plugins[2].arguments.leastrequested.weight", Line: 8, Column: 40, Message: "want a whole number from 0 to 1000"},
			{Field: "tiers[0].plugins[2].arguments.x", Line: 8, Column: 46, Message: "plugin nodeorder has no such argument; it has balancedresource.weight, leastrequested.weight, mostrequested.weight, nodeaffinity.weight, podaffinity.weight"},
			{Field: "tear", Line: 9, Column: 1, Message: `unknown field "tear"; the fields are actions, tiers`, Reason: config.UnknownField},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse([]byte(test.document), test.rules)
			var mistakes *config.Error
			if !errors.As(err, &mistakes) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, mistakes.Mistakes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The built-in configurations are those of the real schedulers, and their predicates and scores make a valid profile.
func TestDefaults(t *testing.T) {
	tiers := map[Rules][][]string{
		KubeBatch: {{Priority, Gang}, {DRF, Predicates, Proportion, NodeOrder}},
		Volcano:   {{Priority, Gang, Conformance}, {Overcommit, DRF, Predicates, Proportion, NodeOrder}},
	}
	for rules, want := range tiers {
		c := Default(rules)
		var got [][]string
		for _, tier := range c.Tiers {
			var names []string
			for _, p := range tier {
				names = append(names, p.Name)
			}
			got = append(got, names)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(rules, diff)
		}
		if _, err := c.Judge(); err != nil {
			t.Error(err)
		}
	}
}
