package scenario

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
)

// The JSON Schemas of both kinds of files, as Schema makes them. Editors read them.
var (
	//go:embed scenario.schema.json
	ScenarioSchema []byte
	//go:embed sweep.schema.json
	SweepSchema []byte
)

type jsonSchema = map[string]any

// described is a custom type that has a schema of its own.
type described interface{ schema() jsonSchema }

// Schema makes the JSON Schema of a kind of file from the types that the decoder fills.
func Schema(kind string) ([]byte, error) {
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

func (*rawValue) schema() jsonSchema { return jsonSchema{} }

func (*letList) schema() jsonSchema {
	return jsonSchema{"type": "object", "additionalProperties": expressionSchema()}
}

func (*gates) schema() jsonSchema {
	return jsonSchema{"type": "object", "additionalProperties": jsonSchema{"type": "boolean"}}
}

func (*seeds) schema() jsonSchema {
	one := jsonSchema{"type": []string{"integer", "string"}, "pattern": `^-?[0-9]+(\.\.-?[0-9]+)?$`}
	return jsonSchema{"anyOf": []jsonSchema{one, {"type": "array", "items": one}}}
}

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
	"create":    "Create objects.",
	"apply":     "Create objects, or merge them with those that exist.",
	"patch":     "Change an object.",
	"delete":    "Delete objects.",
	"configure": "Replace the scheduler's configuration.",
	"fail":      "Make nodes unreachable.",
	"recover":   "Make failed nodes reachable again.",
	"arrive":    "Create objects over time. The step itself takes no time.",
	"advance":   "Let the cluster's time pass.",
	"wait":      "Let time pass until the cluster has settled or an expression is true.",
	"expect":    "Say what must be true now. A failed expectation does not end the run.",
}
