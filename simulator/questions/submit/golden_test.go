package submit_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/suggest"
	"kube-scheduler-simulator/simulator/questions/answertest"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/submit"
)

// schemaOf describes answers. It allows further fields, because fields are added.
func schemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	schema := answertest.Schema[submit.Answers](t, submit.APIVersion, "answers.json", "What would become of jobs that are submitted", map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[admission.Reason]():      answertest.Object("kind"),
		reflect.TypeFor[suggest.Suggestion]():    answertest.Object("kind"),
		reflect.TypeFor[hypothesis.Suggestion](): answertest.Object("kind", "text", "changes", "nodes", "selectedNode", "steps"),
	})
	schema.Properties["kind"] = answertest.OneOf(submit.ListKind)
	item := schema.Properties["items"].Items
	item.Properties["apiVersion"], item.Properties["kind"] = answertest.OneOf(submit.APIVersion), answertest.OneOf(submit.Kind)
	item.Properties["verdict"] = answertest.OneOf(submit.Admitted, submit.Waits, submit.Never)
	return schema
}

var (
	times  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	clocks = regexp.MustCompile(`\b\d\d:\d\d:\d\dZ`)
)

// TestGoldenAnswers: one answer of each verdict, as JSON and as text. A difference is a change of what scripts, agents and
// people read: fields are added, and never change. Times are left out; no finished workload says when one starts.
func TestGoldenAnswers(t *testing.T) {
	resolved := answertest.Save(t, schemaOf(t), ".")
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
		answertest.Golden(t, filepath.Join("testdata", file+".json"), times.ReplaceAll(text.Bytes(), []byte("TIME")))
		text.Reset()
		if err := submit.Print(&text, answers); err != nil {
			t.Fatal(err)
		}
		answertest.Golden(t, filepath.Join("testdata", file+".txt"), clocks.ReplaceAll(text.Bytes(), []byte("CLOCK")))
	}
}
