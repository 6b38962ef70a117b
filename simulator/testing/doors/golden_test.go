package doors

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/why"
)

var update = flag.Bool("update", false, "write the golden answers and the schema")

const answers = "../../questions/why"

// schemaOf describes an answer. It allows further fields, because fields are added.
func schemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	object := func(required ...string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "object", Required: required}
	}
	document := &jsonschema.Schema{Types: []string{"object", "array", "string"}}
	schema, err := jsonschema.For[why.Answer](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[metav1.Time]():           {Type: "string", Format: "date-time"},
		reflect.TypeFor[explain.Statement]():     object("kind"),
		reflect.TypeFor[hypothesis.Document]():   document,
		reflect.TypeFor[json.RawMessage]():       document,
		reflect.TypeFor[hypothesis.Suggestion](): object("kind", "text", "changes", "nodes", "selectedNode", "steps"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	loosen(schema)
	schema.ID = "https://" + why.APIVersion + "/answer.json"
	schema.Schema = "https://json-schema.org/draft/2020-12/schema"
	schema.Title = "Why a pod is there, pending, or would fit"
	one := func(values ...any) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Enum: values} }
	schema.Properties["apiVersion"], schema.Properties["kind"] = one(why.APIVersion), one(why.Kind)
	schema.Properties["verdict"] = one(why.Runs, why.Fits, why.Waits, why.DoesNotFit, why.Unknown)
	return schema
}

func loosen(s *jsonschema.Schema) {
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		loosen(p)
	}
	if s.Items != nil {
		loosen(s.Items)
	}
}

// TestGoldenAnswers: one answer of each verdict, as JSON and as text of 120 and of 80 columns. A difference is a change
// of what scripts, agents and people read: fields are added, and never change.
func TestGoldenAnswers(t *testing.T) {
	schema := schemaOf(t)
	data, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "schema.json", append(data, '\n'))
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
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
	path := filepath.Join(answers, name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-golden +got); -update writes it:\n%s", path, diff)
	}
}
