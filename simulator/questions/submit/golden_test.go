package submit_test

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

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/suggest"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/submit"
)

var update = flag.Bool("update", false, "write the golden answers and the schema")

// schemaOf describes answers. It allows further fields, because fields are added.
func schemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	object := func(required ...string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "object", Required: required}
	}
	schema, err := jsonschema.For[submit.Answers](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[metav1.Time]():           {Type: "string", Format: "date-time"},
		reflect.TypeFor[admission.Reason]():      object("kind"),
		reflect.TypeFor[suggest.Suggestion]():    object("kind"),
		reflect.TypeFor[hypothesis.Suggestion](): object("kind", "text", "changes", "nodes", "selectedNode", "steps"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	loosen(schema)
	schema.ID = "https://" + submit.APIVersion + "/answers.json"
	schema.Schema = "https://json-schema.org/draft/2020-12/schema"
	schema.Title = "What would become of jobs that are submitted"
	one := func(values ...any) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Enum: values} }
	schema.Properties["apiVersion"], schema.Properties["kind"] = one(submit.APIVersion), one(submit.ListKind)
	item := schema.Properties["items"].Items
	item.Properties["apiVersion"], item.Properties["kind"] = one(submit.APIVersion), one(submit.Kind)
	item.Properties["verdict"] = one(submit.Admitted, submit.Waits, submit.Never)
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

var (
	times  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	clocks = regexp.MustCompile(`\b\d\d:\d\d:\d\dZ`)
)

// TestGoldenAnswers: one answer of each verdict, as JSON and as text. A difference is a change of what scripts, agents and
// people read: fields are added, and never change. Times are left out; no finished workload says when one starts.
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
	state := queues + node("n1", "small", "3")
	for file, tc := range map[string]struct{ state, job string }{
		"admitted": {state, job("w", "a", 2, "1")},
		"nonode":   {state, job("w", "a", 4, "1")},
		"waits":    {state + holds("v", "a", "4", 5) + holds("u", "b", "3", 5), job("w", "a", 2, "1")},
		"never":    {state, job("w", "b", 3, "3")},
		"several":  {state, job("w1", "b", 1, "3") + job("w2", "none", 1, "1")},
	} {
		answers := ask(t, tc.state, tc.job)
		answers.Judged.Seconds = 0
		var text bytes.Buffer
		if err := json.NewEncoder(&text).Encode(answers); err != nil {
			t.Fatal(err)
		}
		var instance any
		if err := json.Unmarshal(text.Bytes(), &instance); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(instance); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for i := range answers.Items {
			if out := answers.Items[i].Outlook; out != nil && out.Reach != nil {
				out.Reach.Points = out.Reach.Points[:1] // nothing happens, so all are the same
			}
		}
		text.Reset()
		if err := submit.Encode(&text, answers, false); err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("testdata", file+".json"), times.ReplaceAll(text.Bytes(), []byte("TIME")))
		text.Reset()
		if err := submit.Print(&text, answers); err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("testdata", file+".txt"), clocks.ReplaceAll(text.Bytes(), []byte("CLOCK")))
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-golden +got); -update writes it:\n%s", name, diff)
	}
}
