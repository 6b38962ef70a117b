package doors

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/simulator/questions/answertest"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/why"
)

const answers = "../../questions/why"

// schemaOf describes an answer. It allows further fields, because fields are added.
func schemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document := &jsonschema.Schema{Types: []string{"object", "array", "string"}}
	schema := answertest.Schema[why.Answer](t, why.APIVersion, "answer.json", "Why a pod is there, pending, or would fit", map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[explain.Statement]():     answertest.Object("kind"),
		reflect.TypeFor[hypothesis.Document]():   document,
		reflect.TypeFor[json.RawMessage]():       document,
		reflect.TypeFor[hypothesis.Suggestion](): answertest.Object("kind", "text", "changes", "nodes", "selectedNode", "steps"),
	})
	schema.Properties["kind"] = answertest.OneOf(why.Kind)
	schema.Properties["verdict"] = answertest.OneOf(why.Runs, why.Fits, why.Waits, why.DoesNotFit, why.Unknown)
	return schema
}

// TestGoldenAnswers: one answer of each verdict, as JSON and as text of 120 and of 80 columns. A difference is a change
// of what scripts, agents and people read: fields are added, and never change.
func TestGoldenAnswers(t *testing.T) {
	resolved := answertest.Save(t, schemaOf(t), answers)
	seen := map[why.Verdict]bool{}
	for file, name := range map[string]string{
		"runs": "runs where it would not fit now", "fits": "first of its group", "waits": "waits for a pod that terminates", "doesnotfit": "a tainted domain",
		"unknown": "a scheduler that nobody knows", "workload": "a Deployment with pending pods",
	} {
		for _, g := range cases {
			if g.name != name {
				continue
			}
			a := askDirectly(t, g, open(t, g.state))
			seen[a.Verdict] = true
			a.Judged.At, a.Judged.Seconds, a.Judged.ReadSeconds, a.Judged.ResourceVersion = metav1.Time{}, 0, 0, ""
			var text bytes.Buffer
			if err := why.Encode(&text, []why.Answer{*a}, false); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", file+".json"), text.Bytes())
			a.Judged.At = metav1.Unix(1767323045, 0)
			var instance any
			if text.Reset(); json.NewEncoder(&text).Encode(a) != nil || json.Unmarshal(text.Bytes(), &instance) != nil {
				t.Fatal(text.String())
			}
			if err := resolved.Validate(instance); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			text.Reset()
			for _, columns := range []int{120, 80} {
				if err := why.Print(&text, a, why.Layout{Columns: columns, Commands: columns == 120}); err != nil {
					t.Fatal(err)
				}
				for line := range bytes.Lines(text.Bytes()) {
					if n := len([]rune(string(bytes.TrimRight(line, "\n")))); n > columns && !command.Match(line) {
						t.Errorf("%s: a line has %d of %d columns: %s", file, n, columns, line)
					}
				}
				golden(t, filepath.Join("testdata", file+"."+map[int]string{120: "wide", 80: "narrow"}[columns]+".txt"), text.Bytes())
				text.Reset()
			}
		}
	}
	if len(seen) != 5 {
		t.Errorf("the verdicts are %v", seen)
	}
}

// command matches what is pasted into a shell, which does not wrap.
var command = regexp.MustCompile(`^(kubectl|  |[a-z]|END|- )`)

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	answertest.Golden(t, filepath.Join(answers, name), got)
}
