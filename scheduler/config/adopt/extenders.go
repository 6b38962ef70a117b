package adopt

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"
)

const extendersField = "extenders"

// WithoutExtenders returns the document without its extenders, and the extenders as a JSON list.
// A document without extenders, or that is not a mapping, is returned as it is, with nil.
func WithoutExtenders(document []byte) (rest, extenders []byte, err error) {
	var fields map[string]any
	if unmarshal(document, &fields) != nil {
		return document, nil, nil // Document says what is wrong
	}
	list, ok := fields[extendersField].([]any)
	if !ok || len(list) == 0 {
		return document, nil, nil
	}
	delete(fields, extendersField)
	if rest, err = yaml.Marshal(fields); err != nil {
		return nil, nil, fmt.Errorf("encoding the scheduler configuration: %w", err)
	}
	if extenders, err = json.Marshal(list); err != nil {
		return nil, nil, fmt.Errorf("encoding extenders: %w", err)
	}
	return rest, extenders, nil
}

// WithExtenders appends extenders, a JSON list, to those of a document. It returns YAML without
// the comments of the document.
func WithExtenders(document, extenders []byte) ([]byte, error) {
	var fields map[string]any
	if err := unmarshal(document, &fields); err != nil {
		return nil, fmt.Errorf("reading the scheduler configuration: %w", err)
	}
	var more []any
	if err := json.Unmarshal(extenders, &more); err != nil {
		return nil, fmt.Errorf("reading extenders: %w", err)
	}
	list, _ := fields[extendersField].([]any)
	if fields == nil {
		fields = map[string]any{}
	}
	fields[extendersField] = append(list, more...)
	data, err := yaml.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encoding the scheduler configuration: %w", err)
	}
	return data, nil
}
