package result

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// No score of an extender for a node is different from a score of 0.
func TestExtendersHaveTheirOwnColumns(t *testing.T) {
	want := &Score{
		Plugins: []ScorePlugin{{Name: "NodeResourcesFit", Weight: 1}},
		Nodes:   NewNodeList("b", "a"),
		Raw:     []Column{NewColumn([]int64{42, 65})}, Normalized: []Column{NewColumn([]int64{42, 65})}, Weighted: []Column{NewColumn([]int64{42, 65})},
		Extenders: []ScoreExtender{
			{Name: "http://one", Weight: 20, Answered: NewColumn([]int64{0, 7}), Counted: NewColumn([]int64{0, 140})},
			{Name: "http://two", Weight: 10, Answered: NewColumn([]int64{0, 3}), Counted: NewColumn([]int64{0, 30}), Unscored: []string{"b"}},
		},
		Totals: NewColumn([]int64{42, 235}),
	}
	document, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	const wantJSON = `{"plugins":[{"name":"NodeResourcesFit","weight":1}],"nodes":["a","b"],"raw":[[65],[42]],"normalized":[[65],[42]],"weighted":[[65],[42]],` +
		`"extenders":[{"name":"http://one","weight":20},{"name":"http://two","weight":10}],"answered":[[7,3],[0,null]],"counted":[[140,30],[0,0]],"totals":[235,42]}`
	if diff := cmp.Diff(wantJSON, string(document)); diff != "" {
		t.Error(diff)
	}
	got := &Score{}
	if err := json.Unmarshal(document, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b"}, got.Extenders[1].Unscored); diff != "" {
		t.Error(diff)
	}
	back, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantJSON, string(back)); diff != "" {
		t.Error(diff)
	}
	for _, damaged := range []string{
		strings.Replace(wantJSON, "[0,null]", "[0]", 1), strings.Replace(wantJSON, `"answered":[[7,3],[0,null]],`, "", 1), strings.Replace(wantJSON, "[140,30]", "[140]", 1),
	} {
		if err := new(Score).UnmarshalJSON([]byte(damaged)); err == nil {
			t.Errorf("%s: no error", damaged)
		}
	}
}

func TestRejectionsAreAListByNode(t *testing.T) {
	var b ExtenderRejectionsBuilder
	b.Add("n2", ExtenderReason{Reason: "full"})
	b.Add("n3", ExtenderReason{Reason: "full", Unresolvable: true})
	b.Add("n1", ExtenderReason{Reason: "full"})
	b.Add("n0", ExtenderReason{})
	r, cut := b.Rejections()
	if cut || len(r.Reasons) != 3 {
		t.Errorf("cut %t, %d reasons; three are distinct", cut, len(r.Reasons))
	}
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"node":"n0","reason":""},{"node":"n1","reason":"full"},{"node":"n2","reason":"full"},{"node":"n3","reason":"full","unresolvable":true}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	back := &ExtenderRejections{}
	if err := json.Unmarshal(got, back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(again)); diff != "" {
		t.Error(diff)
	}
}

// Every node is kept, and a bounded part of the reasons, however long they are.
func TestReasonsAreBounded(t *testing.T) {
	var b ExtenderRejectionsBuilder
	for i := range 50_000 {
		b.Add(fmt.Sprint("n", i), ExtenderReason{Reason: fmt.Sprint(i, strings.Repeat("é", i%2000))})
	}
	r, cut := b.Rejections()
	size := 0
	for _, reason := range r.Reasons {
		size += len(reason.Reason)
	}
	if !cut || len(r.Nodes) != 50_000 || size > maxExtenderReasonsBytes+maxExtenderReasonBytes {
		t.Errorf("cut %t, %d nodes, %d bytes", cut, len(r.Nodes), size)
	}
	if got := r.Reason(49_999).Reason; got != ExtenderReasonNotKept {
		t.Errorf("the last reason is %q", got)
	}
	var long ExtenderRejectionsBuilder
	long.Add("n", ExtenderReason{Reason: "a" + strings.Repeat("é", 5000)})
	if r, cut = long.Rejections(); !cut || !utf8.ValidString(r.Reasons[0].Reason) || !strings.HasSuffix(r.Reasons[0].Reason, "é…") {
		t.Errorf("cut %t, a long reason is kept as %q", cut, r.Reasons[0].Reason)
	}
	if none, cut := new(ExtenderRejectionsBuilder).Rejections(); none != nil || cut {
		t.Error("no rejections are not nil")
	}
}

// The rules compare only the candidates that extenders did not remove.
func TestDecidingRuleLeavesOutRemovedCandidates(t *testing.T) {
	one, two := []Victim{{Priority: 1}}, []Victim{{Priority: 1}, {Priority: 1}}
	for _, tc := range []struct {
		candidates []Candidate
		want       PreemptionRule
	}{
		{[]Candidate{{Node: "a", Victims: one, RemovedBy: "http://x"}, {Node: "b", Victims: two}}, ""},
		{[]Candidate{{Node: "a", Victims: one, RemovedBy: "http://x"}, {Node: "b", Victims: one}, {Node: "c", Victims: two}}, LowestSumOfPriorities},
	} {
		if got := DecidingRule(tc.candidates, "b"); got != tc.want {
			t.Errorf("%+v: %q", tc.candidates, got)
		}
	}
}

// As in the scheduler, a victim without a start time starts now.
func TestDecidingRuleTakesAMissingStartTimeAsNow(t *testing.T) {
	early, late := time.Unix(1, 0), time.Unix(2, 0)
	node := func(name string, starts ...*time.Time) Candidate {
		c := Candidate{Node: name}
		for _, start := range starts {
			c.Victims = append(c.Victims, Victim{Priority: 1, StartTime: start})
		}
		return c
	}
	for _, tc := range []struct {
		name       string
		candidates []Candidate
		want       PreemptionRule
	}{
		{"latest wins", []Candidate{node("a", &early), node("b", &late)}, LatestEarliestStartTime},
		{"none is later than any", []Candidate{node("a", &late), node("b", nil)}, LatestEarliestStartTime},
		{"none counts beside an early one", []Candidate{node("a", &early, nil), node("b", &early, &late)}, FirstFound},
		{"two without", []Candidate{node("a", nil), node("b", nil), node("c", &late)}, FirstFound},
		{"one without", []Candidate{node("a", &late), node("b", nil), node("c", &late)}, LatestEarliestStartTime},
	} {
		if got := DecidingRule(tc.candidates, "b"); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// For the start times, the scheduler looks for the highest priority itself. Only for the
// priorities it takes the first victim for the most important one.
func TestDecidingRuleReadsVictimsInTheExtendersOrder(t *testing.T) {
	early, late := time.Unix(1, 0), time.Unix(2, 0)
	node := func(name string, first, second *time.Time) Candidate {
		return Candidate{Node: name, Victims: []Victim{{Priority: 1, StartTime: first}, {Priority: 5, StartTime: second}}}
	}
	if got := DecidingRule([]Candidate{node("a", &early, &late), node("b", &late, &late)}, "b"); got != FirstFound {
		t.Errorf("%q decided although the most important victims started together", got)
	}
	if got := DecidingRule([]Candidate{node("a", &late, &early), node("b", &early, &late)}, "b"); got != LatestEarliestStartTime {
		t.Errorf("%q decided", got)
	}
}

// The scheduler stops looking when it has enough candidates, and drops those that other
// workers found meanwhile.
func TestDecidingRuleLeavesOutSurplusCandidates(t *testing.T) {
	one, two := []Victim{{Priority: 1}}, []Victim{{Priority: 1}, {Priority: 1}}
	candidates := []Candidate{{Node: "a", Victims: one, Surplus: true}, {Node: "b", Victims: two}}
	if got := DecidingRule(candidates, "b"); got != "" {
		t.Errorf("%q decided, without a choice", got)
	}
}
