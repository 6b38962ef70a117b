package scenario

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"kube-scheduler-simulator/simulator/scenarios/decoder"
)

var update = flag.Bool("update", false, "write the published schemas")

// TestPublishedSchemas: the files that editors read are those of the decoder's types.
func TestPublishedSchemas(t *testing.T) {
	for _, kind := range []string{KindScenario, KindSweep} {
		got, err := makeSchema(kind)
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
		kind := header(l.Documents(text)[0])
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
	data, err := makeSchema(kind)
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

type jsonSchema = map[string]any

// described is a custom type that has a schema of its own.
type described interface{ schema() jsonSchema }

// makeSchema makes the JSON Schema of a kind of file from the types that the decoder fills.
func makeSchema(kind string) ([]byte, error) {
	t := reflect.TypeFor[document]()
	required := []string{"apiVersion", "kind", "metadata", "steps"}
	if kind == KindSweep {
		t, required = reflect.TypeFor[sweepDocument](), []string{"apiVersion", "kind", "metadata", "scenario", "parameters"}
	}
	s := schemaOf(t)
	properties := s["properties"].(jsonSchema)
	properties["apiVersion"] = jsonSchema{"const": APIVersion, "description": "The version of this format."}
	properties["kind"] = jsonSchema{"const": kind}
	properties["metadata"].(jsonSchema)["required"] = []string{"name"}
	s["required"] = required
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = kind
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the schema of %s: %w", kind, err)
	}
	return append(data, '\n'), nil
}

func schemaOf(t reflect.Type) jsonSchema {
	if d, ok := reflect.New(t).Interface().(described); ok {
		return d.schema()
	}
	if t == reflect.TypeFor[decoder.Raw]() {
		return jsonSchema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Struct:
		return structSchema(t)
	case reflect.Slice:
		return jsonSchema{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Bool:
		return jsonSchema{"type": "boolean"}
	case reflect.Int:
		return jsonSchema{"type": "integer"}
	case reflect.Float64:
		return jsonSchema{"type": "number", "minimum": 0}
	}
	return jsonSchema{"type": "string"}
}

func structSchema(t reflect.Type) jsonSchema {
	properties := jsonSchema{}
	for _, f := range reflect.VisibleFields(t) {
		name := f.Tag.Get("yaml")
		if name == "" {
			continue
		}
		property := schemaOf(f.Type)
		if doc := f.Tag.Get("doc"); doc != "" {
			property["description"] = doc
		}
		properties[name] = property
	}
	return jsonSchema{"type": "object", "properties": properties, "additionalProperties": false}
}

func expressionSchema() jsonSchema {
	return jsonSchema{"type": []string{"string", "number", "boolean"}}
}

func (*Expression) schema() jsonSchema { return expressionSchema() }

func (*Duration) schema() jsonSchema {
	return jsonSchema{"type": "string", "examples": []string{"30s", "5m"}, "pattern": `^([0-9.]+(ns|us|µs|ms|s|m|h))+$`}
}

func (*durationFor) schema() jsonSchema { return jsonSchema{"type": "string"} }

func (*Rate) schema() jsonSchema { return jsonSchema{"type": "string", "pattern": `^[0-9.]+/[smh]$`} }

func (*letList) schema() jsonSchema {
	return jsonSchema{"type": "object", "additionalProperties": expressionSchema()}
}

func (*GateSet) schema() jsonSchema {
	return jsonSchema{"type": "object", "additionalProperties": jsonSchema{"type": "boolean"}}
}

func (*seeds) schema() jsonSchema {
	one := jsonSchema{"type": []string{"integer", "string"}, "pattern": `^-?[0-9]+(\.\.-?[0-9]+)?$`}
	return jsonSchema{"anyOf": []jsonSchema{one, {"type": "array", "items": one}}}
}

func (*policySource) schema() jsonSchema { return jsonSchema{"type": []string{"string", "object"}} }

func (*configurationSource) schema() jsonSchema {
	return jsonSchema{"anyOf": []jsonSchema{{"type": "string", "examples": []string{DefaultConfiguration}}, {"type": "object"}}}
}

func (*scenarioRef) schema() jsonSchema {
	return jsonSchema{"anyOf": []jsonSchema{{"type": "string"}, structSchema(reflect.TypeFor[scenarioRef]())}}
}

func (s *objectSource) schema() jsonSchema {
	whole := structSchema(reflect.TypeOf(*s))
	whole["properties"].(jsonSchema)["objects"] = jsonSchema{"type": "array", "items": jsonSchema{"type": "object"}, "description": "Objects, written out."}
	return jsonSchema{"anyOf": []jsonSchema{{"type": "string"}, {"type": "array", "items": jsonSchema{"type": "object"}}, whole}}
}

func (s *autoscaleSource) schema() jsonSchema {
	whole := structSchema(reflect.TypeOf(*s))
	whole["properties"].(jsonSchema)["instanceTypes"] = jsonSchema{
		"anyOf": []jsonSchema{{"type": "string"}, {"type": "array", "items": jsonSchema{"type": "object"}}}, "description": "What can be bought: the name of a file in the format of Karpenter's KWOK provider, or a list in it. By default a small set with example prices.",
	}
	return whole
}

func (a *arrive) schema() jsonSchema { return structSchema(reflect.TypeOf(*a)) }

func (w *wait) schema() jsonSchema {
	return jsonSchema{"anyOf": []jsonSchema{{"type": "string", "examples": []string{settled}}, structSchema(reflect.TypeOf(*w))}}
}

func (*expect) schema() jsonSchema {
	one := structSchema(reflect.TypeFor[expectation]())
	one["required"] = []string{"that"}
	return jsonSchema{"type": "array", "items": one}
}

func (*advance) schema() jsonSchema { return (*Duration)(nil).schema() }

func (s *Step) schema() jsonSchema {
	properties := jsonSchema{"name": jsonSchema{"type": "string", "description": "The name in reports."}}
	for _, verb := range Verbs() {
		property := schemaOf(reflect.TypeOf(verbs[verb]()).Elem())
		property["description"] = verbDocs[verb]
		properties[verb] = property
	}
	return jsonSchema{"type": "object", "properties": properties, "additionalProperties": false, "minProperties": 1, "maxProperties": 2}
}

// verbDocs say what the verbs do.
var verbDocs = map[string]string{
	"create":     "Create objects.",
	"apply":      "Create objects, or merge them with those that exist.",
	"patch":      "Change an object.",
	"delete":     "Delete objects.",
	"configure":  "Replace the scheduler's configuration.",
	"deschedule": "Run the descheduler, and evict what it says, within the budgets.",
	"drain":      "Empty nodes as kubectl drain does, within the budgets.",
	"fail":       "Make nodes unreachable.",
	"recover":    "Make failed nodes reachable again.",
	"arrive":     "Create objects over time. The step itself takes no time.",
	"advance":    "Let the cluster's time pass.",
	"wait":       "Let time pass until the cluster has settled or an expression is true.",
	"expect":     "Say what must be true now. A failed expectation does not end the run.",
}
