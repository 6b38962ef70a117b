package virtualnode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"

	"kube-scheduler-simulator/scheduler/templatecost"
	"kube-scheduler-simulator/scheduler/yamlsource"
)

// renderer renders the templates of stages as kwok's renderer does, within bounds. It is safe for
// concurrent use.
type renderer struct {
	functions gotpl.FuncMap
	prices    templatecost.Prices
	parsed    sync.Map // from a text to its *templatecost.Template
}

func newRenderer(functions gotpl.FuncMap) *renderer {
	all := sprig.TxtFuncMap()
	maps.Copy(all, genericFunctions())
	maps.Copy(all, functions)
	own := maps.Clone(prices)
	for name := range functions {
		// They read whole objects, or write a whole status.
		own[name] = func([]any) int { return 32 << 10 }
	}
	return &renderer{functions: all, prices: own}
}

func (r *renderer) parse(text string) (*templatecost.Template, error) {
	text = strings.TrimSpace(text)
	if known, ok := r.parsed.Load(text); ok {
		return known.(*templatecost.Template), nil
	}
	t, err := templatecost.Parse("_", text, r.functions, r.prices)
	if err != nil {
		return nil, err
	}
	for _, name := range t.Calls() {
		for _, refused := range refusedFunctions {
			if slices.Contains(refused.names, name) {
				return nil, fmt.Errorf("it calls %s, which %s", name, refused.reason)
			}
		}
	}
	r.parsed.Store(text, t)
	return t, nil
}

func (r *renderer) ToText(text string, original any) ([]byte, error) {
	t, err := r.parse(text)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(original)
	if err != nil {
		return nil, err
	}
	var data any
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	if err := decoder.Decode(&data); err != nil {
		return nil, err
	}
	return t.Execute(context.Background(), data)
}

// ToJSON implements gotpl.Renderer. It leaves JSON as it is: our own stages render JSON, for every
// pod.
func (r *renderer) ToJSON(text string, original any) ([]byte, error) {
	rendered, err := r.ToText(text, original)
	if err != nil || json.Valid(rendered) {
		return rendered, err
	}
	converted, wrong := yamlsource.ToJSON(context.Background(), rendered, yamlsource.Settings)
	return converted, wrong.Err()
}

// checkTemplates finds templates that are malformed, or call functions that there are not or that
// are refused, and those that make too much of no object.
func checkTemplates(stage *internalversion.Stage, functions gotpl.FuncMap) error {
	r := newRenderer(functions)
	for i, step := range stage.Spec.Steps {
		if step.Patch == nil {
			continue
		}
		t, err := r.parse(step.Patch.Template)
		if err == nil {
			_, err = t.Execute(context.Background(), struct{}{})
			if limit, ok := errors.AsType[*templatecost.LimitError](err); ok {
				err = limit
			} else {
				err = nil // what fails without an object may work with one
			}
		}
		if err != nil {
			return fmt.Errorf("the template of steps[%d]: %w", i, err)
		}
	}
	return nil
}
