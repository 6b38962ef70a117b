package hypothesis

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/yamlsource"
)

// The API server refuses these fields of metadata in a new object, or takes them as conditions on
// the object that exists.
var writtenByServer = []string{"uid", "resourceVersion", "managedFields"}

// decode gives an object without a kind the standard one, if there is any. The error is a *Refused
// for the field.
func (d Document) decode(ctx context.Context, field string, standard schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	data, wrong := yamlsource.ToJSON(ctx, d, yamlsource.Object)
	if wrong != nil {
		if wrong.Reason == yamlsource.Ended {
			return nil, context.Cause(ctx)
		}
		message := fmt.Sprintf("%s: %s", field, wrong)
		wrong.Field = field
		return nil, &Refused{Message: message, Mistakes: []config.Mistake{*wrong}}
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
