// Package adopt turns a scheduler configuration of another version of Kubernetes, or of the
// earlier simulator, into one that this scheduler reads.
//
// It only leaves out what this scheduler does not know, and says what it left out. It never
// guesses values and applies nothing. It may import scheduler/config.
package adopt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/yamlsource"
)

const (
	group      = "kubescheduler.config.k8s.io/"
	apiVersion = group + "v1"
	// wrapperSuffix is the suffix that the earlier simulator added to the names of plugins.
	wrapperSuffix = "Wrapped"
	// maxRounds bounds how often a document is parsed. Each round removes what the
	// previous parse rejected, which may uncover more.
	maxRounds = 20
)

// Removed is a part of a document that was left out or renamed.
type Removed struct {
	// Field is the path of the part in the original document.
	Field   string
	Message string
}

// Document returns a document that parse accepts, with the parts that were removed from the
// original. A document that parse accepts unchanged keeps its author's form. The error
// describes the mistakes that are not unknown parts.
func Document(original []byte, parse func([]byte) (*config.Configuration, error)) ([]byte, []Removed, error) {
	_, err := parse(original)
	if err == nil {
		return original, nil, nil
	}
	var fields map[string]any
	if err := unmarshal(original, &fields); err != nil {
		return nil, nil, fmt.Errorf("the scheduler configuration is neither a YAML mapping nor a JSON object: %w", err)
	}
	if fields == nil {
		return nil, nil, errors.New("the scheduler configuration is neither a YAML mapping nor a JSON object: it is empty")
	}
	a := &adoption{fields: fields}
	a.header()
	a.rename(fields, "")
	for range maxRounds {
		data, err := json.Marshal(a.fields)
		if err != nil {
			return nil, nil, fmt.Errorf("encoding the scheduler configuration: %w", err)
		}
		_, err = parse(data)
		if err == nil {
			return data, a.removed, nil
		}
		invalid, ok := errors.AsType[*config.Error](err)
		if !ok || !a.leaveOut(invalid.Mistakes) {
			return nil, a.removed, err
		}
	}
	return nil, a.removed, errors.New("the scheduler configuration has too many unknown parts")
}

// unmarshal decodes a document, within the bounds of one.
func unmarshal(document []byte, into any) error {
	data, wrong := yamlsource.ToJSON(context.Background(), document, config.Bounds)
	if wrong != nil {
		return wrong
	}
	return json.Unmarshal(data, into)
}

type adoption struct {
	fields  map[string]any
	removed []Removed
}

func (a *adoption) note(field, format string, args ...any) {
	a.removed = append(a.removed, Removed{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (a *adoption) header() {
	version, _ := a.fields["apiVersion"].(string)
	switch {
	case version == apiVersion:
	case version == "":
		a.fields["apiVersion"] = apiVersion
	case strings.HasPrefix(version, group):
		a.note("apiVersion", "Kubernetes no longer has %s; the document is read as %s", version, apiVersion)
		a.fields["apiVersion"] = apiVersion
	}
	if a.fields["kind"] == nil {
		a.fields["kind"] = "KubeSchedulerConfiguration"
	}
}

// rename gives plugins their current names, and their arguments the current version.
func (a *adoption) rename(value any, at string) {
	switch value := value.(type) {
	case map[string]any:
		if name, ok := value["name"].(string); ok && strings.HasSuffix(name, wrapperSuffix) && strings.Contains(at, "plugin") {
			value["name"] = strings.TrimSuffix(name, wrapperSuffix)
			a.note(at+".name", "%s is the earlier simulator's name for %s", name, value["name"])
		}
		if version, ok := value["apiVersion"].(string); ok && at != "" && strings.HasPrefix(version, group) {
			value["apiVersion"] = apiVersion
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			a.rename(value[key], strings.TrimPrefix(at+"."+key, "."))
		}
	case []any:
		for i, item := range value {
			a.rename(item, fmt.Sprintf("%s[%d]", at, i))
		}
	}
}

// leaveOut removes the parts that the mistakes call unknown. It goes backwards so that the
// paths of earlier parts stay valid. It returns false when it removed nothing.
func (a *adoption) leaveOut(mistakes []config.Mistake) bool {
	found := false
	for _, m := range slices.Backward(mistakes) {
		field := m.Field
		switch m.Reason {
		case config.UnknownField, config.RemovedPlugin:
		case config.UnknownPlugin, config.WrongExtensionPoint:
			field = strings.TrimSuffix(field, ".name") // the whole list item goes
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

// remove deletes the value of a field such as profiles[0].plugins.score.
func (a *adoption) remove(field string) bool {
	steps := strings.FieldsFunc(field, func(c rune) bool { return c == '.' || c == '[' || c == ']' })
	if len(steps) == 0 {
		return false
	}
	_, done := without(a.fields, steps)
	return done
}

// without returns value without the part that the steps lead to.
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
