package hypothesis

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/yamlsource"
)

// maxValues bounds the values of a document, each of which takes some hundred bytes when it is
// decoded. An object that etcd accepts has fewer.
const maxValues = 300_000

// writtenByServer are fields of metadata that the API server refuses in a new object, or takes as
// conditions on the object that exists.
var writtenByServer = []string{"uid", "resourceVersion", "managedFields"}

// decode reads an object. Without a kind it is of the default one, if there is any. The error is a
// *Refused for the field.
func (d Document) decode(field string, standard schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	if !yamlsource.AtMost(maxValues, d) {
		return nil, refuse(field, "it may have at most %d values", maxValues)
	}
	data := []byte(d)
	if !json.Valid(d) {
		var err error
		if data, err = yaml.YAMLToJSONStrict(d); err != nil {
			problem := yamlsource.Explain(d, err)
			return nil, &Refused{
				Message:  fmt.Sprintf("%s: line %d: %s", field, problem.Line, problem.Message),
				Mistakes: []config.Mistake{{Field: field, Line: problem.Line, Column: problem.Column, Message: problem.Message}},
			}
		}
	}
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(data, &u.Object); err != nil || u.Object == nil {
		return nil, refuse(field, "want an object, with its fields")
	}
	if metadata, set := u.Object["metadata"]; set {
		if _, isObject := metadata.(map[string]any); !isObject {
			return nil, refuse(field+".metadata", "want an object, with its fields")
		}
	}
	if u.GetAPIVersion() == "" && u.GetKind() == "" {
		u.SetGroupVersionKind(standard)
	}
	if u.GetAPIVersion() == "" || u.GetKind() == "" {
		return nil, refuse(field, "apiVersion and kind are required")
	}
	for _, written := range writtenByServer {
		unstructured.RemoveNestedField(u.Object, "metadata", written)
	}
	return u, nil
}
