package ask

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/questions/why"
)

type Format string

// The formats of kubectl get that make sense here.
const (
	Table Format = ""
	Wide  Format = "wide"
	JSON  Format = "json"
	YAML  Format = "yaml"
)

func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case Table, Wide, JSON, YAML:
		return f, nil
	}
	return "", fmt.Errorf("--output must be wide, json or yaml, not %q", name)
}

// none stands for a value that a row does not have, as in kubectl.
const none = "<none>"

type table struct{ *tabwriter.Writer }

func newTable(w io.Writer, headers ...string) table {
	t := table{tabwriter.NewWriter(w, 6, 4, 3, ' ', 0)}
	t.row(headers...)
	return t
}

func (t table) row(cells ...string) {
	fmt.Fprintln(t, strings.Join(cells, "\t")) // Flush returns the error
}

// printer prints an answer, and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// table prints the rows that fill adds, after an empty line.
func (p *printer) table(headers []string, fill func(table)) {
	p.line("")
	if p.err != nil {
		return
	}
	t := newTable(p.w, headers...)
	fill(t)
	p.err = t.Flush()
}

// asked says what an answer is about, so that nobody takes it for what happened.
func (p *printer) asked(target Target, s whatif.State) {
	decided := ""
	if s.KubernetesVersion != "" {
		decided = " The scheduler of Kubernetes " + s.KubernetesVersion + " decided."
	}
	p.line("Asked of %s: %s, %s.%s Nothing was changed.", target.Name(), why.Plural(s.Nodes, "node"), why.Plural(s.Pods, "pod"), decided)
}

func encode(w io.Writer, answer any, format Format) error {
	data, err := json.MarshalIndent(answer, "", "  ")
	if err == nil && format == YAML {
		data, err = yaml.JSONToYAML(data)
	}
	if err != nil {
		return fmt.Errorf("encoding the answer: %w", err)
	}
	_, err = fmt.Fprintln(w, strings.TrimSuffix(string(data), "\n"))
	return err
}
