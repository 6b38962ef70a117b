package scenario

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

var update = flag.Bool("update", false, "write the published schemas")

// TestPublishedSchemas: the files that editors read are those of the decoder's types.
func TestPublishedSchemas(t *testing.T) {
	for _, kind := range []string{KindScenario, KindSweep} {
		got, err := Schema(kind)
		if err != nil {
			t.Fatal(err)
		}
		file := strings.ToLower(kind) + ".schema.json"
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (go test -update writes it): %s", file, diff)
		}
	}
}

// TestSchemaAndDecoderAgree: what the decoder takes is valid, and a field that it does not know is not.
func TestSchemaAndDecoderAgree(t *testing.T) {
	texts, err := filepath.Glob("../../examples/scenarios/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, file := range texts {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		l := newLoader(t.Context(), Options{})
		kind := l.header(l.documents(text)[0])
		if kind != KindScenario && kind != KindSweep {
			continue
		}
		seen[kind] = true
		if err := valid(t, kind, string(text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if len(seen) != 2 {
		t.Error("there is no example of each kind")
	}
	for name, text := range map[string]string{
		"an unknown field":                   head + "stepz: []\nsteps: [{wait: settled}]",
		"an unknown verb":                    head + "steps: [{crate: {}}]",
		"a wrong type":                       head + "steps: [{create: {file: a, count: many}}]",
		"no steps":                           head,
		"a wrong duration":                   head + "steps: [{advance: soon}]",
		"an unknown field of an expectation": head + "steps: [{expect: [{that: \"true\", sai: a}]}]",
	} {
		if err := valid(t, KindScenario, text); err == nil {
			t.Errorf("%s is valid", name)
		}
		if _, err := load(t, text, files); err == nil {
			t.Errorf("the decoder takes %s", name)
		}
	}
}

func valid(t *testing.T, kind, text string) error {
	t.Helper()
	data, err := Schema(kind)
	if err != nil {
		t.Fatal(err)
	}
	// The validator knows const not, and types only one at a time in places; enum says the same.
	data = []byte(strings.ReplaceAll(string(data), `"const": "`+APIVersion+`"`, `"enum": ["`+APIVersion+`"]`))
	var s spec.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(encoded, &value); err != nil {
		t.Fatal(err)
	}
	return validate.NewSchemaValidator(&s, nil, "", strfmt.Default).Validate(value).AsError()
}
