package config

import (
	"fmt"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// path leads from the root of a document to one of its values.
type path = yamlsource.Path

// parsePath parses a path of upstream's messages, such as a.b[0][key].c.
func parsePath(s string) path {
	p := yamlsource.ParsePath(s)
	for i := range p {
		if p[i].Key == "Enabled" { // some of upstream's paths name the Go field
			p[i].Key = "enabled"
		}
	}
	return p
}

// mistake returns a mistake at the value of p.
func (d *document) mistake(p path, format string, args ...any) Mistake {
	line, column := d.locate(p, false)
	return Mistake{Field: p.String(), Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
}

// keyMistake returns a mistake at the key of p.
func (d *document) keyMistake(p path, format string, args ...any) Mistake {
	line, column := d.locate(p, true)
	return Mistake{Field: p.String(), Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
}

// locate returns the position of p or of the nearest field around it: that of a scalar, and
// otherwise that of the key or the list item.
func (d *document) locate(p path, key bool) (line, column int) {
	if d.root == nil {
		return 0, 0
	}
	_, place := yamlsource.Locate(d.root, p, key)
	return place.Line, place.Column
}

// at returns the document's value at p; nil when there is none.
func (d *document) at(p path) any {
	var v any = d.value
	for _, s := range p {
		switch inside := v.(type) {
		case map[string]any:
			v = inside[s.Key]
		case []any:
			if s.Key != "" || s.Index >= len(inside) {
				return nil
			}
			v = inside[s.Index]
		default:
			return nil
		}
	}
	return v
}
