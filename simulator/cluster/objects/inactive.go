package objects

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Objects make an API server call other programs by callingFields.
var callingFields = map[schema.GroupKind][]string{
	ValidatingWebhooks: {"webhooks"},
	MutatingWebhooks:   {"webhooks"},
	APIService:         {"spec.service", "spec.caBundle", "spec.insecureSkipTLSVerify"},
	Definition:         {"spec.conversion"},
}

// CallingKinds are the kinds whose objects can call other programs.
func CallingKinds() []schema.GroupKind {
	return []schema.GroupKind{ValidatingWebhooks, MutatingWebhooks, APIService, Definition}
}

// Deactivate changes an object so that the API server calls no other program because of it, and
// returns false if it would call none anyway. It moves the fields into AnnotationInactive, from
// which Activate restores them.
//
// An object without these fields is valid: webhook configurations have no webhooks, the API server
// does not convert custom resources, and it does not serve the API of an APIService.
func Deactivate(u *unstructured.Unstructured) bool {
	if len(Calls(u)) == 0 {
		return false
	}
	gk := u.GroupVersionKind().GroupKind()
	removed := map[string]any{}
	for _, field := range callingFields[gk] {
		path := strings.Split(field, ".")
		if value, found, _ := unstructured.NestedFieldNoCopy(u.Object, path...); found {
			removed[field] = value
			unstructured.RemoveNestedField(u.Object, path...)
		}
	}
	switch gk {
	case Definition:
		// spec is a map, as it had a conversion.
		_ = unstructured.SetNestedMap(u.Object, map[string]any{"strategy": "None"}, "spec", "conversion")
	case ValidatingWebhooks, MutatingWebhooks:
		u.Object["webhooks"] = []any{}
	}
	data, err := json.Marshal(removed)
	if err != nil {
		panic(fmt.Sprintf("encoding what was decoded: %v", err))
	}
	u.SetAnnotations(with(u.GetAnnotations(), AnnotationInactive, string(data)))
	u.SetLabels(with(u.GetLabels(), LabelInactive, "true"))
	return true
}

func with(all map[string]string, key, value string) map[string]string {
	if all == nil {
		all = map[string]string{}
	}
	all[key] = value
	return all
}

// without returns nil instead of an empty map.
func without(all map[string]string, key string) map[string]string {
	delete(all, key)
	if len(all) == 0 {
		return nil
	}
	return all
}

// Activate restores what Deactivate removed.
func Activate(u *unstructured.Unstructured) error {
	removed, err := removedFields(u)
	if err != nil {
		return err
	}
	for field, value := range removed {
		if err := unstructured.SetNestedField(u.Object, value, strings.Split(field, ".")...); err != nil {
			return fmt.Errorf("restoring %s: %w", field, err)
		}
	}
	u.SetAnnotations(without(u.GetAnnotations(), AnnotationInactive))
	u.SetLabels(without(u.GetLabels(), LabelInactive))
	return nil
}

// IsInactive reports whether Activate could activate an object.
func IsInactive(u *unstructured.Unstructured) bool {
	_, err := removedFields(u)
	return err == nil
}

// Anybody may have forged the annotation.
func removedFields(u *unstructured.Unstructured) (map[string]any, error) {
	text := u.GetAnnotations()[AnnotationInactive]
	if text == "" {
		return nil, errors.New("it is not inactive")
	}
	var removed map[string]any
	if err := json.Unmarshal([]byte(text), &removed); err != nil {
		return nil, fmt.Errorf("the annotation %s is not a JSON object", AnnotationInactive)
	}
	for field, value := range removed {
		if !slices.Contains(callingFields[u.GroupVersionKind().GroupKind()], field) {
			return nil, fmt.Errorf("the annotation %s has a field %q", AnnotationInactive, field)
		}
		removed[field] = integers(value)
	}
	return removed, nil
}

// integers returns value with whole numbers as int64, as in every decoded object.
func integers(value any) any {
	switch value := value.(type) {
	case float64:
		return int64(value) // the calling fields have no fractions
	case map[string]any:
		for key, inner := range value {
			value[key] = integers(inner)
		}
	case []any:
		for i, inner := range value {
			value[i] = integers(inner)
		}
	}
	return value
}

// Call is a program that an object makes an API server call: either at URL, or behind Service, as
// NAMESPACE/NAME.
type Call struct{ URL, Service string }

func (c Call) String() string {
	if c.URL != "" {
		return c.URL
	}
	return "service " + c.Service
}

// Calls returns what the API server calls because of an object, without repetitions.
func Calls(u *unstructured.Unstructured) []Call {
	return calls(u.GroupVersionKind().GroupKind(), u.Object)
}

// InactiveCalls returns what the API server would call because of an inactive object.
func InactiveCalls(u *unstructured.Unstructured) []Call {
	removed, err := removedFields(u)
	if err != nil {
		return nil
	}
	object := map[string]any{}
	for field, value := range removed {
		_ = unstructured.SetNestedField(object, value, strings.Split(field, ".")...) // all maps are new
	}
	return calls(u.GroupVersionKind().GroupKind(), object)
}

func calls(gk schema.GroupKind, object map[string]any) []Call {
	var found []Call
	add := func(client map[string]any) {
		url, _, _ := unstructured.NestedString(client, "url")
		namespace, _, _ := unstructured.NestedString(client, "service", "namespace")
		name, hasService, _ := unstructured.NestedString(client, "service", "name")
		c := Call{URL: url}
		if hasService {
			c.Service = namespace + "/" + name
		}
		if !slices.Contains(found, c) {
			found = append(found, c)
		}
	}
	switch gk {
	case ValidatingWebhooks, MutatingWebhooks:
		hooks, _ := object["webhooks"].([]any)
		for _, h := range hooks {
			hook, _ := h.(map[string]any)
			client, _, _ := unstructured.NestedMap(hook, "clientConfig")
			add(client)
		}
	case APIService:
		if spec, _, _ := unstructured.NestedMap(object, "spec"); spec["service"] != nil {
			add(spec)
		}
	case Definition:
		if strategy, _, _ := unstructured.NestedString(object, "spec", "conversion", "strategy"); strategy == "Webhook" {
			client, _, _ := unstructured.NestedMap(object, "spec", "conversion", "webhook", "clientConfig")
			add(client)
		}
	}
	return found
}
