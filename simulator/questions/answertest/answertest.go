// Package answertest is what the tests of questions share: a cluster from text, golden files, and the schema of an answer.
//
// With the flag -update, Golden writes the files. It may import simulator/questions/standalone and scheduler/config.
package answertest

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/questions/standalone"
)

var update = flag.Bool("update", false, "write the golden answers and the schema")

// Open returns the cluster of some documents in YAML, of which none may be left out.
func Open(t *testing.T, state string) *standalone.Cluster {
	t.Helper()
	file := filepath.Join(t.TempDir(), "state.yaml")
	if err := os.WriteFile(file, []byte(state), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := standalone.Open(t.Context(), standalone.Options{File: file, Version: "v1.37.2", Parse: func(document []byte) (*config.Configuration, error) { return config.Parse(document) }})
	if err != nil {
		t.Fatal(err)
	}
	if notes, _ := c.Notes(); len(notes) > 0 {
		t.Fatalf("the state is not read whole: %q", notes)
	}
	return c
}

// Golden compares a text with a file, and writes the file with -update.
func Golden(t *testing.T, path string, got []byte) {
	t.Helper()
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

// Schema describes answers of type A, and allows further fields, because fields are added. name completes its address below the answer's
// apiVersion. types has the schemas of types whose JSON does not follow their fields; times are known.
func Schema[A any](t *testing.T, apiVersion, name, title string, types map[reflect.Type]*jsonschema.Schema) *jsonschema.Schema {
	t.Helper()
	types[reflect.TypeFor[metav1.Time]()] = &jsonschema.Schema{Type: "string", Format: "date-time"}
	schema, err := jsonschema.For[A](&jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		t.Fatal(err)
	}
	loosen(schema)
	schema.ID = "https://" + apiVersion + "/" + name
	schema.Schema = "https://json-schema.org/draft/2020-12/schema"
	schema.Title = title
	schema.Properties["apiVersion"] = OneOf(apiVersion)
	return schema
}

// OneOf is a text that is one of the values.
func OneOf(values ...any) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: values}
}

// Object is an object with required fields, and any others.
func Object(required ...string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Required: required}
}

// Save compares a schema with the file schema.json in a directory, and returns it ready to validate answers.
func Save(t *testing.T, schema *jsonschema.Schema, directory string) *jsonschema.Resolved {
	t.Helper()
	data, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	Golden(t, filepath.Join(directory, "schema.json"), append(data, '\n'))
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
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
