package config

import "kube-scheduler-simulator/scheduler/yamlsource"

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
