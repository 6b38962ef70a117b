package annotation

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/result"
)

// withExtenders returns a cycle with calls to two extenders.
func withExtenders(nodes int) *result.Cycle {
	c := scheduled(nodes)
	c.Extenders = []result.ExtenderCall{
		{Plugin: "http://one", Verb: "filter", Status: "Success", Nominated: true, Response: `{"NodeNames":[]}`},
		{Plugin: "http://one", Verb: "filter", Status: "Success", Response: `{"FailedNodes":{"node-0002":"no"},"NodeNames":["node-0000"]}`},
		{Plugin: "http://two", Status: "Skip", Reasons: []string{"not interested"}},
		{Plugin: "http://one", Verb: "prioritize", Status: "Success", Response: `[{"Host":"node-0000","Score":7}]`},
		{Plugin: "http://three", Verb: "prioritize", Status: "Error", Ignored: true, Reasons: []string{`Post "http://three": EOF`}},
		{Plugin: "http://one", Verb: "bind", Status: "Success", Response: `{"Error":""}`},
	}
	return c
}

func TestExtendersAnswersByURL(t *testing.T) {
	got := map[string]string{}
	for name, value := range Render(withExtenders(3), none, DefaultBudget) {
		if name, found := strings.CutPrefix(name, Prefix+"extender-"); found {
			got[name] = value
		}
	}
	want := map[string]string{
		"filter-result":     `{"http://one":{"FailedNodes":{"node-0002":"no"},"NodeNames":["node-0000"]}}`,
		"prioritize-result": `{"http://one":[{"Host":"node-0000","Score":7}],"http://three":{"Error":"Post \"http://three\": EOF"}}`,
		"bind-result":       `{"http://one":{"Error":""}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Extenders' answers leave room for more important results. Answers that are cut or
// left out are marked.
func TestExtendersAnswersKeepToTheBudget(t *testing.T) {
	for _, tc := range []struct {
		bytes, budget int
		cut, there    bool
	}{{10_000, DefaultBudget, false, true}, {10_000, DefaultBudget, true, true}, {10_000, 20_000, false, false}, {16 << 10, 1_000, false, false}} {
		c := withExtenders(5)
		c.Extenders[1].Response, c.Extenders[1].Cut = string(mustJSON(strings.Repeat("x", tc.bytes))), tc.cut
		got := Render(c, none, tc.budget)
		size := 0
		for name, value := range got {
			size += len(name) + len(value)
		}
		if size > tc.budget {
			t.Errorf("%+v: %d bytes", tc, size)
		}
		if _, there := got[Prefix+"extender-filter-result"]; there != tc.there {
			t.Errorf("%+v: there %t", tc, there)
		}
		var mark cut
		_ = json.Unmarshal([]byte(got[Prefix+truncated]), &mark)
		if marked := strings.Contains(strings.Join(mark.Results, " "), "extender-filter-result"); marked != (tc.cut || !tc.there) {
			t.Errorf("%+v: marked as %v", tc, mark.Results)
		}
	}
}

// An attempt without extenders removes the annotations that an earlier attempt with
// extenders wrote.
func TestExtendersAnswersDoNotOutliveTheirAttempt(t *testing.T) {
	patch, err := patchOf(pod(), Render(scheduled(3), none, DefaultBudget))
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range result.ExtenderVerbs {
		if want := `"` + Prefix + extenderName(verb) + `":null`; !strings.Contains(string(patch), want) {
			t.Errorf("the patch has no %s", want)
		}
	}
}
