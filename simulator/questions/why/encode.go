package why

import (
	"encoding/json"
	"io"

	"sigs.k8s.io/yaml"
)

// List holds several answers. Its JSON form is public.
type List struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Items      []Answer `json:"items"`
}

// ListKind is List.Kind.
const ListKind = "AnswerList"

// Encode writes one answer, or a List of several, as JSON or YAML.
func Encode(w io.Writer, answers []Answer, asYAML bool) error {
	var document any = List{APIVersion, ListKind, answers}
	if len(answers) == 1 {
		document = answers[0]
	}
	return WriteDocument(w, document, asYAML)
}

// WriteDocument writes the answer to a question as JSON or YAML.
func WriteDocument(w io.Writer, document any, asYAML bool) error {
	data, err := json.MarshalIndent(document, "", "  ")
	if err == nil && asYAML {
		data, err = yaml.JSONToYAML(data)
	} else {
		data = append(data, '\n')
	}
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}
