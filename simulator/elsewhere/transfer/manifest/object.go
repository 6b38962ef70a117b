package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Object is an object that was read, without its managed fields and the annotation of kubectl
// apply, which may be as large as all the rest. Nothing else has changed.
type Object struct {
	GVK             schema.GroupVersionKind
	Namespace, Name string
	// Source is where it was read, for messages.
	Source string
	// JSON is the encoded object. It must not be changed.
	JSON []byte

	// Created is its creationTimestamp; zero when it has none.
	Created time.Time
	// Generated: it has only a generateName, which Name holds.
	Generated bool
	// Deleting: it has a deletionTimestamp.
	Deleting bool
	// Virtual: a virtual node published it.
	Virtual bool
	// Local: it is the APIService of an API that API servers serve themselves.
	Local bool
	// Order is its place in the source, from 1.
	Order int
}

// Unstructured returns a copy of the object, which the caller may change.
func (o *Object) Unstructured() (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(o.JSON, &u.Object); err != nil {
		return nil, fmt.Errorf("decoding %s %s: %w", o.GVK.Kind, o.Name, err)
	}
	return u, nil
}

// newObject makes an Object of a decoded value, which it changes.
func newObject(value map[string]any, source string) (*Object, error) {
	u := &unstructured.Unstructured{Object: value}
	if err := checkHeader(value); err != nil {
		return nil, err
	}
	unstructured.RemoveNestedField(value, "metadata", "managedFields")
	unstructured.RemoveNestedField(value, "metadata", "annotations", objects.LastApplied)
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	_, deleting, _ := unstructured.NestedFieldNoCopy(value, "metadata", "deletionTimestamp")
	name := u.GetName()
	if name == "" {
		name = u.GetGenerateName()
	}
	return &Object{
		GVK: u.GroupVersionKind(), Namespace: u.GetNamespace(), Name: name, Source: source, JSON: data,
		Created: u.GetCreationTimestamp().Time, Generated: u.GetName() == "",
		Deleting: deleting, Virtual: u.GetLabels()[objects.LabelVirtualDriver] != "", Local: isLocal(u),
	}, nil
}

func isLocal(u *unstructured.Unstructured) bool {
	return u.GroupVersionKind().GroupKind() == objects.APIService && len(objects.Calls(u))+len(objects.InactiveCalls(u)) == 0
}

// checkHeader returns why a value is not an object.
func checkHeader(value map[string]any) error {
	apiVersion, isString := value["apiVersion"].(string)
	if kind, ok := value["kind"].(string); !ok || kind == "" || !isString || apiVersion == "" {
		return errors.New("it is not a Kubernetes object: apiVersion or kind is missing")
	}
	if _, err := schema.ParseGroupVersion(apiVersion); err != nil {
		return fmt.Errorf("apiVersion: %w", err)
	}
	metadata, ok := value["metadata"].(map[string]any)
	if !ok {
		return fmt.Errorf("the %v has no metadata", value["kind"])
	}
	for _, field := range []string{"name", "generateName", "namespace", "uid", "creationTimestamp"} {
		if v, set := metadata[field]; set && v != nil {
			if _, isString := v.(string); !isString {
				return fmt.Errorf("metadata.%s is not a string", field)
			}
		}
	}
	if metadata["name"] == nil && metadata["generateName"] == nil {
		return fmt.Errorf("the %v has no metadata.name", value["kind"])
	}
	for _, field := range []string{"labels", "annotations"} {
		if v, set := metadata[field]; set && v != nil {
			m, isMap := v.(map[string]any)
			if !isMap {
				return fmt.Errorf("metadata.%s is not a mapping", field)
			}
			for key, inner := range m {
				if _, isString := inner.(string); !isString {
					return fmt.Errorf("metadata.%s[%s] is not a string; put it in quotes", field, key)
				}
			}
		}
	}
	for field, v := range metadata {
		if v == nil {
			delete(metadata, field)
		}
	}
	return nil
}

func isList(kind string) bool { return strings.HasSuffix(kind, "List") }

// A scheduler configuration may be of any version.
func isConfiguration(value map[string]any) bool {
	apiVersion, _ := value["apiVersion"].(string)
	return value["kind"] == "KubeSchedulerConfiguration" && strings.HasPrefix(apiVersion, "kubescheduler.config.k8s.io/")
}
