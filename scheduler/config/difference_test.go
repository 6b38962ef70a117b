package config

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestCompare(t *testing.T) {
	const profiles = head + "profiles:\n- schedulerName: a\n"
	for _, tc := range []struct {
		name, before, after string
		want                []Difference
		summary             string
	}{
		{"comments and order of fields", head + "# one\nparallelism: 3\npodMaxBackoffSeconds: 20\n", head + "podMaxBackoffSeconds: 20\nparallelism: 3\n", []Difference{}, "no change"},
		{"an explicit default", head, profiles[:len(profiles)-2] + "default-scheduler\n  plugins: {filter: {}}\n", []Difference{}, "no change"},
		{"a setting", head + "parallelism: 3\n", head, []Difference{{"parallelism", int64(3), int64(16)}}, "parallelism 3 → 16"},
		{"a field that the simulator ignores", head, head + "leaderElection: {leaderElect: false}\n", []Difference{{"leaderElection.leaderElect", true, false}}, "leaderElection.leaderElect true → false"},
		{"a weight by multiPoint and by score", profiles + "  plugins: {multiPoint: {enabled: [{name: NodeAffinity, weight: 7}]}}\n", profiles + "  plugins: {score: {enabled: [{name: NodeAffinity, weight: 7}]}}\n", []Difference{}, "no change"},
		{"a weight", profiles, profiles + "  plugins: {score: {enabled: [{name: NodeAffinity, weight: 7}]}}\n",
			[]Difference{{"profiles[a].plugins.score[NodeAffinity].weight", int64(2), int64(7)}}, "a: NodeAffinity: score weight 2 → 7"},
		{"a disabled plugin", profiles, profiles + "  plugins: {multiPoint: {disabled: [{name: NodePorts}]}}\n",
			[]Difference{{"profiles[a].plugins[NodePorts]", []any{"preFilter", "filter"}, nil}}, "a: NodePorts disabled"},
		{"a plugin that is enabled again", profiles + "  plugins: {filter: {disabled: [{name: NodePorts}]}}\n", profiles,
			[]Difference{{"profiles[a].plugins.filter[NodePorts]", nil, "enabled"}}, "a: NodePorts enabled at filter"},
		{"another order", profiles, profiles + "  plugins: {bind: {}, postFilter: {enabled: [{name: DefaultPreemption}]}}\n",
			[]Difference{{"profiles[a].plugins.postFilter.order", []any{"DynamicResources", "DefaultPreemption"}, []any{"DefaultPreemption", "DynamicResources"}}}, "a: different order at postFilter"},
		{"the profiles", profiles + "- schedulerName: b\n", profiles + "- schedulerName: c\n", []Difference{
			{"profiles[c]", nil, map[string]any{"schedulerName": "c"}}, {"profiles[b]", map[string]any{"schedulerName": "b"}, nil},
		}, "+profile c; -profile b"},
		{"the order of profiles", profiles + "- schedulerName: b\n", head + "profiles:\n- schedulerName: b\n- schedulerName: a\n", []Difference{}, "no change"},
		{"extenders", head + "extenders: [{urlPrefix: 'http://a', filterVerb: f}, {urlPrefix: 'http://b'}]\n", head + "extenders: [{urlPrefix: 'http://a', filterVerb: g}]\n", []Difference{
			{"extenders[http://a].filterVerb", "f", "g"}, {"extenders[http://b]", map[string]any{"urlPrefix": "http://b", "httpTimeout": "0s"}, nil},
		}, "extenders[http://a].filterVerb f → g; -extender http://b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Compare(mustParse(t, []byte(tc.before)), mustParse(t, []byte(tc.after)))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.summary, Summarize(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSummarizeFitsALine(t *testing.T) {
	long := strings.Repeat("ä", 500)
	for _, found := range [][]Difference{
		{{"profiles[" + long + "]", nil, "x"}},
		{{"extenders[" + long + "]", nil, "x"}, {"parallelism", long, long}},
		{{long, nil, long}, {long, long, nil}, {"%d %s", "%d", "%s"}},
	} {
		got := Summarize(found)
		if n := utf8.RuneCountInString(got); n > maxSummary || strings.Contains(got, "\n") {
			t.Errorf("%d characters: %s", n, got)
		}
	}
}
