package explain

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// comparedCases is read by the web's test, too: it renders the same sentence from each reason.
const comparedCases = "testdata/comparisons.json"

type comparedCase struct {
	Reason   Statement `json:"reason"`
	Sentence string    `json:"sentence"`
}

// TestComparisons: each kind of reason has its words, and survives JSON.
func TestComparisons(t *testing.T) {
	chosen, none := Instead{Selected: "n1", Node: "n2"}, Instead{Node: "n2"}
	left := func(of Instead, n NodeNotEvaluated) NodeNotEvaluated {
		n.Instead = of
		if n.Plugins == nil {
			n.Plugins = []string{}
		}
		return n
	}
	var got []comparedCase
	for _, o := range []Operands{
		SameNode{Node: "n1"},
		NotRecorded{Selected: "n1"}, NotRecorded{Message: "0/3 nodes are available"},
		NotAttempted{Node: "n2"},
		LeftOut{Cause: OthersPod}, LeftOut{Cause: CreatedBound}, LeftOut{Cause: NotCreated, Message: "the namespace a does not exist"},
		NodeMissing{chosen}, NodeMissing{none},
		NodeRejected{chosen, "NodeResourcesFit", []string{"Insufficient cpu", "Insufficient memory"}}, NodeRejected{none, "Gate", []string{}},
		CycleNotKept{chosen}, CycleNotKept{none},
		SameTotal{chosen, 90},
		OtherTotal{Instead: chosen, SelectedTotal: 90, Total: 40}, OtherTotal{chosen, 90, 40, "NodeAffinity", 60, 30},
		left(chosen, NodeNotEvaluated{}), left(chosen, NodeNotEvaluated{Why: HintUsed}), left(chosen, NodeNotEvaluated{Why: NominatedUsed}),
		left(none, NodeNotEvaluated{Why: Failed, Message: "no answer"}), left(chosen, NodeNotEvaluated{Why: PreFiltered, Plugins: []string{"NodeAffinity", "VolumeBinding"}}),
		left(none, NodeNotEvaluated{Why: OutsidePlacement}), left(chosen, NodeNotEvaluated{Why: EnoughFound, Wanted: 1, Evaluated: 4, Total: 10}),
		left(chosen, NodeNotEvaluated{Why: EnoughFound, Wanted: 3, Evaluated: 4, Total: 10}), left(chosen, NodeNotEvaluated{Why: EnoughFound, Wanted: 3, Evaluated: 4, Total: 10, Outside: 2}),
		NodeNotScored{chosen},
		NodeFits{Node: "n2"}, NodeFits{Node: "n2", Message: "the group has too few members"},
	} {
		s := Statement{o}
		got = append(got, comparedCase{s, s.String()})
	}
	said := map[Kind]bool{}
	for _, c := range got {
		said[KindOf(c.Reason.Operands)] = true
	}
	for _, o := range Comparisons() {
		if !said[KindOf(o)] {
			t.Errorf("there is no case of %s", KindOf(o))
		}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(got); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(comparedCases, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(comparedCases)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Errorf("(-want +got), -update writes it:\n%s", diff)
	}
	var read []comparedCase
	if err := json.Unmarshal(want, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, read); diff != "" {
		t.Errorf("it does not survive JSON:\n%s", diff)
	}
}
