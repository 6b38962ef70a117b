package manifest

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// earlier are the fields of the earlier simulator's JSON. Their objects lack a kind.
var earlier = map[string]schema.GroupVersionKind{
	"pods":            {Version: "v1", Kind: "Pod"},
	"nodes":           {Version: "v1", Kind: "Node"},
	"pvs":             {Version: "v1", Kind: "PersistentVolume"},
	"pvcs":            {Version: "v1", Kind: "PersistentVolumeClaim"},
	"storageClasses":  {Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"},
	"priorityClasses": {Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"},
	"namespaces":      {Version: "v1", Kind: "Namespace"},
}

const (
	// ConfigurationField is the field of an export that holds the scheduler's configuration,
	// ResultsField that of the results.
	ConfigurationField = "schedulerConfiguration"
	ResultsField       = "results"
	ignoredResults     = "results of scheduling cycles are not imported: they belong to pods of another cluster"
)

// configurationFields hold a scheduler configuration: in our exports, and in the JSON of the
// earlier simulator.
var configurationFields = []string{ConfigurationField, "schedulerConfig"}

// listField reports whether a field of a document holds objects, and of which kind they are when
// they do not say so. apiVersion and kind are what the reader knows of the document's so far: they
// may follow its items.
func listField(field, apiVersion, kind string) (schema.GroupVersionKind, bool) {
	if kind != "" && !isList(kind) {
		return schema.GroupVersionKind{}, false
	}
	switch field {
	case "items":
		gvk := schema.FromAPIVersionAndKind(apiVersion, strings.TrimSuffix(kind, "List"))
		if gvk.Kind == "" || kind == "List" {
			gvk = schema.GroupVersionKind{}
		}
		return gvk, true
	case ResultsField:
		return schema.GroupVersionKind{}, true
	}
	gvk, ok := earlier[field]
	return gvk, ok && kind == ""
}

// top reads a document that was decoded as a whole.
func (r *reader) top(value map[string]any, source string) error {
	kind, _ := value["kind"].(string)
	apiVersion, _ := value["apiVersion"].(string)
	lists := false
	for _, field := range append([]string{"items", ResultsField}, earlierFields()...) {
		itemKind, isItems := listField(field, apiVersion, kind)
		inner, set := value[field]
		if !isItems || !set {
			continue
		}
		lists = true
		if err := r.listIn(field, inner, itemKind, source); err != nil {
			return err
		}
	}
	for _, field := range configurationFields {
		if inner, isMap := value[field].(map[string]any); isMap && (lists || kind == "") {
			lists = true
			if err := r.configuration(inner, source); err != nil {
				return err
			}
		}
	}
	if lists {
		return nil
	}
	return r.object(value, source)
}

func (r *reader) listIn(field string, inner any, kind schema.GroupVersionKind, source string) error {
	items, isItems := inner.([]any)
	switch {
	case inner == nil:
	case !isItems:
		r.content.Unreadable(source, field+" is not a list")
	case field == ResultsField:
		r.content.Ignored(source, ignoredResults)
	default:
		for i, item := range items {
			at := fmt.Sprintf("%s, %s[%d]", source, field, i)
			object, isMap := item.(map[string]any)
			if !isMap {
				r.content.Unreadable(at, notObject)
				continue
			}
			if err := r.listed(object, kind, at); err != nil {
				return err
			}
		}
	}
	return nil
}

func earlierFields() []string {
	return []string{"namespaces", "priorityClasses", "storageClasses", "pvs", "pvcs", "nodes", "pods"}
}

const notObject = "want an object"

// listed reads an item of a list, which may itself be a list.
func (r *reader) listed(value map[string]any, kind schema.GroupVersionKind, source string) error {
	if value == nil {
		r.content.Unreadable(source, notObject+", got nothing")
		return nil
	}
	if value["kind"] == nil && kind.Kind != "" {
		value["kind"] = kind.Kind
	}
	if value["apiVersion"] == nil && kind.Version != "" {
		value["apiVersion"] = kind.GroupVersion().String()
	}
	if own, _ := value["kind"].(string); isList(own) && value["items"] != nil {
		return r.top(value, source)
	}
	return r.object(value, source)
}

func (r *reader) configuration(value map[string]any, source string) error {
	data, err := json.Marshal(value)
	if err != nil {
		return r.report(source, fmt.Errorf("encoding the scheduler configuration: %w", err))
	}
	r.content.Configuration(source, data)
	return nil
}
