package perf

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	gotemplate "text/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/scheduler/templatecost"
	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/scenarios/decoder"
)

// template is a file with a Go template of an object. The zero value is none.
type template struct {
	path   string
	parsed *templatecost.Template
	params map[string]any
	// text is the file itself, for operations without templating.
	text []byte
}

// template reads a template, and tries to make its first object. It returns nil after a mistake,
// and for no path.
func (w *load) template(field, path string, params map[string]any, plain bool) *template {
	if path == "" {
		return nil
	}
	text := w.ReadFile(decoder.Locate(w.op.place, field), path)
	if text == nil {
		return nil
	}
	t := &template{path: path, params: params, text: text}
	if !plain {
		var err error
		if t.parsed, err = templatecost.Parse(path, string(text), functions, nil); err != nil {
			w.wrong(field, "%s", err)
			return nil
		}
	}
	if _, err := t.make(w.Ctx, 0, 1); err != nil {
		w.wrong(field, "%s", err)
		return nil
	}
	return t
}

// make returns the object of an index.
func (t *template) make(ctx context.Context, index, count int) (*unstructured.Unstructured, error) {
	text := t.text
	if t.parsed != nil {
		values := map[string]any{}
		maps.Copy(values, t.params)
		values["Index"], values["Count"] = index, count
		var err error
		if text, err = t.parsed.Execute(ctx, values); err != nil {
			return nil, err
		}
	}
	data, wrong := yamlsource.ToJSON(ctx, text, yamlsource.Object)
	if wrong != nil {
		return nil, fmt.Errorf("%s: %w", t.path, wrong)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(data); err != nil {
		return nil, fmt.Errorf("%s: %w", t.path, err)
	}
	return o, nil
}

// functions are what templates may call. Numbers may be of any type, and texts.
var functions = gotemplate.FuncMap{
	"AddFloat": func(all ...any) (float64, error) {
		return fold(all, 0, func(a, b float64) float64 { return a + b })
	},
	"AddInt": whole(func(all ...any) (float64, error) {
		return fold(all, 0, func(a, b float64) float64 { return a + b })
	}),
	"MultiplyFloat": func(all ...any) (float64, error) {
		return fold(all, 1, func(a, b float64) float64 { return a * b })
	},
	"MultiplyInt": whole(func(all ...any) (float64, error) {
		return fold(all, 1, func(a, b float64) float64 { return a * b })
	}),
	"SubtractFloat": pair(func(a, b float64) float64 { return a - b }),
	"SubtractInt":   whole(pair(func(a, b float64) float64 { return a - b })),
	"DivideFloat":   pair(func(a, b float64) float64 { return a / b }),
	"DivideInt":     whole(pair(func(a, b float64) float64 { return a / b })),
	"Mod":           whole(pair(math.Mod)),
	"Int": whole(func(all ...any) (float64, error) {
		return fold(all, 0, func(a, b float64) float64 { return a + b })
	}),
	"JSON": func(value any) (string, error) {
		var b strings.Builder
		to := json.NewEncoder(&b)
		to.SetEscapeHTML(false)
		err := to.Encode(value)
		return strings.TrimSpace(b.String()), err
	},
}

func number(value any) (float64, error) {
	f, err := strconv.ParseFloat(fmt.Sprint(value), 64)
	if err != nil {
		return 0, fmt.Errorf("%v is not a number", value)
	}
	return f, nil
}

func fold(all []any, begin float64, with func(a, b float64) float64) (float64, error) {
	for _, value := range all {
		f, err := number(value)
		if err != nil {
			return 0, err
		}
		begin = with(begin, f)
	}
	return begin, nil
}

func pair(with func(a, b float64) float64) func(...any) (float64, error) {
	return func(all ...any) (float64, error) {
		if len(all) != 2 {
			return 0, fmt.Errorf("want two numbers, not %d", len(all))
		}
		a, errA := number(all[0])
		b, errB := number(all[1])
		out := with(a, b)
		switch {
		case errA != nil:
			return 0, errA
		case errB != nil:
			return 0, errB
		case math.IsInf(out, 0) || math.IsNaN(out):
			return 0, fmt.Errorf("%v and %v have no result", all[0], all[1])
		}
		return out, nil
	}
}

func whole(f func(...any) (float64, error)) func(...any) (int, error) {
	return func(all ...any) (int, error) {
		out, err := f(all...)
		return int(out), err
	}
}
