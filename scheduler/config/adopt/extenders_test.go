package adopt

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const withTwo = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration # a remark
parallelism: 3
extenders:
- {urlPrefix: "https://one.example.com", filterVerb: filter, weight: 2}
- {urlPrefix: "https://two.example.com", bindVerb: bind}
`

// TestExtendersComeBack: what WithoutExtenders takes, WithExtenders gives back.
func TestExtendersComeBack(t *testing.T) {
	rest, extenders, err := WithoutExtenders([]byte(withTwo))
	if err != nil {
		t.Fatal(err)
	}
	if fields := decoded(t, rest); fields["extenders"] != nil || fields["parallelism"] != 3.0 {
		t.Errorf("without extenders: %v", fields)
	}
	back, err := WithExtenders(rest, extenders)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decoded(t, []byte(withTwo)), decoded(t, back)); diff != "" {
		t.Error(diff)
	}
	twice, err := WithExtenders(back, extenders)
	if err != nil {
		t.Fatal(err)
	}
	if list := decoded(t, twice)["extenders"].([]any); len(list) != 4 {
		t.Errorf("appended to others: %v", list)
	}
}

func TestDocumentsWithoutExtendersStay(t *testing.T) {
	for _, document := range []string{"", "a: b # a remark\n", "extenders: []\n", "extenders: x\n", "[1, 2]", "{", "null"} {
		rest, extenders, err := WithoutExtenders([]byte(document))
		if string(rest) != document || extenders != nil || err != nil {
			t.Errorf("%q: %q, %q, %v", document, rest, extenders, err)
		}
	}
}

func decoded(t *testing.T, document []byte) map[string]any {
	t.Helper()
	var fields map[string]any
	if err := yaml.Unmarshal(document, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}
