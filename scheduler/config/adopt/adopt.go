package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/transfer"
)

const (
	configurationGroup   = "kubescheduler.config.k8s.io/"
	configurationVersion = configurationGroup + "v1"
	// wrapped is what the earlier simulator appended to the names of plugins.
	wrapped = "Wrapped"
	// adoptions bounds how often a document is read: each time some of what is
	// gone has been left out, and with it more shows.
	adoptions = 20
)

// adopt returns a scheduler configuration of another version of Kubernetes, or of
// the earlier simulator, as one for this scheduler, with what it left out. It only
// leaves out what nobody here knows: an error is what else is wrong.
func adopt(document []byte, parse func([]byte) (*config.Configuration, error)) ([]byte, []transfer.RemovedField, error) {
	// As it is, it keeps the form that its author gave it.
	_, err := parse(document)
	if err == nil {
		return document, nil, nil
	}
	var fields map[string]any
	if err := yaml.Unmarshal(document, &fields); err != nil || fields == nil {
		return nil, nil, fmt.Errorf("the scheduler configuration is neither YAML nor JSON of an object: %w", errors.Join(err))
	}
	a := &adoption{fields: fields}
	a.header()
	a.rename(fields, "")
	for range adoptions {
		data, err := json.Marshal(a.fields)
		if err != nil {
			return nil, nil, fmt.Errorf("encoding the scheduler configuration: %w", err)
		}
		_, err = parse(data)
		if err == nil {
			return data, a.removed, nil
		}
		wrong, ok := errors.AsType[*config.Error](err)
		if !ok || !a.leaveOut(wrong.Mistakes) {
			return nil, a.removed, err
		}
	}
	return nil, a.removed, errors.New("the scheduler configuration has too much that is unknown here")
}

// adoption is a configuration from which things are left out.
type adoption struct {
	fields  map[string]any
	removed []transfer.RemovedField
}

func (a *adoption) note(field, format string, args ...any) {
	a.removed = append(a.removed, transfer.RemovedField{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (a *adoption) header() {
	version, _ := a.fields["apiVersion"].(string)
	switch {
	case version == configurationVersion:
	case version == "":
		a.fields["apiVersion"] = configurationVersion
	case strings.HasPrefix(version, configurationGroup):
		a.note("apiVersion", "%s is gone; it is read as %s", version, configurationVersion)
		a.fields["apiVersion"] = configurationVersion
	}
	if a.fields["kind"] == nil {
		a.fields["kind"] = "KubeSchedulerConfiguration"
	}
}

// rename gives plugins the names that they have, and their arguments the version
// that there is.
func (a *adoption) rename(value any, at string) {
	switch value := value.(type) {
	case map[string]any:
		if name, ok := value["name"].(string); ok && strings.HasSuffix(name, wrapped) && strings.Contains(at, "plugin") {
			value["name"] = strings.TrimSuffix(name, wrapped)
			a.note(at+".name", "%s is the earlier simulator's name of %s", name, value["name"])
		}
		if version, ok := value["apiVersion"].(string); ok && at != "" && strings.HasPrefix(version, configurationGroup) {
			value["apiVersion"] = configurationVersion
		}
		for _, key := range sortedKeys(value) {
			a.rename(value[key], strings.TrimPrefix(at+"."+key, "."))
		}
	case []any:
		for i, item := range value {
			a.rename(item, fmt.Sprintf("%s[%d]", at, i))
		}
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// leaveOut takes out what the mistakes say is unknown, from the end, so that the
// places of those before stay; false when there is no such.
func (a *adoption) leaveOut(mistakes []config.Mistake) bool {
	found := false
	for _, m := range slices.Backward(mistakes) {
		field := m.Field
		switch {
		case strings.Contains(m.Message, "unknown field"), strings.Contains(m.Message, "was invalid in version"):
		case strings.Contains(m.Message, "no plugin is named"), strings.Contains(m.Message, "does not run at the extension point"):
			field = strings.TrimSuffix(field, ".name")
		default:
			continue
		}
		if !a.remove(field) {
			continue
		}
		found = true
		a.note(m.Field, "%s", m.Message)
	}
	return found
}

// remove takes out the value of a field such as profiles[0].plugins.score.
func (a *adoption) remove(field string) bool {
	steps := strings.FieldsFunc(field, func(c rune) bool { return c == '.' || c == '[' || c == ']' })
	if len(steps) == 0 {
		return false
	}
	_, done := without(a.fields, steps)
	return done
}

// without returns value less what is at the steps.
func without(value any, steps []string) (any, bool) {
	switch value := value.(type) {
	case map[string]any:
		inner, there := value[steps[0]]
		if !there {
			return value, false
		}
		if len(steps) == 1 {
			delete(value, steps[0])
			return value, true
		}
		changed, done := without(inner, steps[1:])
		value[steps[0]] = changed
		return value, done
	case []any:
		i, err := strconv.Atoi(steps[0])
		if err != nil || i < 0 || i >= len(value) {
			return value, false
		}
		if len(steps) == 1 {
			return slices.Delete(value, i, i+1), true
		}
		changed, done := without(value[i], steps[1:])
		value[i] = changed
		return value, done
	}
	return value, false
}

// adopted makes configurations of imports the scheduler's.
type adopted struct {
	configuration
	// parse reads a document as the scheduler would.
	parse func(document []byte) (*config.Configuration, error)
}

var _ transfer.Configuration = adopted{}

// Adopt applies the document, without what is gone since.
func (a adopted) Adopt(ctx context.Context, document []byte) (int, []transfer.RemovedField, error) {
	data, removed, err := adopt(document, a.parse)
	if err != nil {
		return 0, removed, err
	}
	applied, err := a.Apply(ctx, data)
	if err != nil {
		return 0, removed, err
	}
	return applied.Revision.Number, removed, nil
}
