package contract

import (
	"fmt"
	"slices"
	"strings"
)

type Kind string

const (
	// Methods are the methods of an interface that we embed: a new one would bypass
	// our decorator.
	Methods Kind = "methods"
	// Fields are the fields of a struct, Options the functions that return a type.
	Fields  Kind = "fields"
	Options Kind = "options"
	// Code is the source of a function, method, type or constant that we repeat or
	// rely on.
	Code Kind = "code"
	// Calls are the functions of a package that a function calls.
	Calls Kind = "calls"
	// Text is part of an error that we match.
	Text Kind = "text"
)

// Watch is one thing that our code depends on.
type Watch struct {
	Kind    Kind
	Package string
	// Name is that of a declaration; methods are named Type.Method.
	Name string
	// Of is the called package of Calls and the text of Text.
	Of string
	// Ours are our files or packages that depend on it, from the root of the module.
	Ours []string
	// Why says how they depend on it.
	Why string
}

func (w Watch) String() string {
	id := fmt.Sprintf("%s %s.%s", w.Kind, w.Package, w.Name)
	if w.Of != "" {
		id += fmt.Sprintf(" %q", w.Of)
	}
	return id
}

// gone is the golden entry of a declaration that Kubernetes no longer has.
const gone = "(gone)"

// look returns the current state and the file that contains it.
func (w Watch) look(s *Source) (lines []string, in string, err error) {
	p, err := s.parse(w.Package)
	if err != nil {
		return nil, "", fmt.Errorf("reading %s: %w", w.Package, err)
	}
	d := p.find(w.Name)
	if d == nil {
		return []string{gone}, w.Package, nil
	}
	switch w.Kind {
	case Methods:
		lines, err = s.methods(p, w.Name)
	case Fields:
		lines, err = p.fields(w.Name)
	case Options:
		lines = p.options(w.Name)
	case Calls:
		lines = d.calls(w.Of)
	case Code:
		lines = []string{d.digest()}
	case Text:
		lines = []string{gone}
		if slices.ContainsFunc(d.literals(), func(l string) bool { return strings.Contains(l, w.Of) }) {
			lines = []string{"found"}
		}
	}
	return lines, d.file.name, err
}

// alarm says what differs and what to read again; it is empty when nothing differs.
func (w Watch) alarm(in string, before, now []string) string {
	var differences []string
	for _, line := range now {
		if !slices.Contains(before, line) {
			differences = append(differences, "+"+line)
		}
	}
	for _, line := range before {
		if !slices.Contains(now, line) {
			differences = append(differences, "-"+line)
		}
	}
	if len(differences) == 0 {
		return ""
	}
	what := fmt.Sprintf("the %s of %s changed (%s)", w.Kind, w.Name, strings.Join(differences, ", "))
	switch {
	case slices.Equal(now, []string{gone}) && w.Kind == Text:
		what = fmt.Sprintf("%s no longer says %q", w.Name, w.Of)
	case slices.Equal(now, []string{gone}):
		what = w.Name + " is gone"
	case w.Kind == Code:
		what = w.Name + " changed"
	}
	return fmt.Sprintf("%s: %s: read it again and compare %s (%s)", in, what, strings.Join(w.Ours, ", "), w.Why)
}

// Golden is the state, as lines by watch, at the time when our code was last
// compared with Kubernetes.
type Golden map[string][]string

func ParseGolden(text string) Golden {
	out := Golden{}
	var current string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "\t"):
			out[current] = append(out[current], line[1:])
		default:
			current = line
			out[current] = nil
		}
	}
	return out
}

// Text returns the golden file for the watches, in their order.
func (g Golden) Text(watches []Watch) string {
	var b strings.Builder
	b.WriteString("# What our code depends on in Kubernetes. See the package's comment for how to regenerate it.\n")
	for _, w := range watches {
		fmt.Fprintf(&b, "\n%s\n", w)
		for _, line := range g[w.String()] {
			fmt.Fprintf(&b, "\t%s\n", line)
		}
	}
	return b.String()
}

func Look(s *Source, watches []Watch) (Golden, error) {
	out := Golden{}
	for _, w := range watches {
		lines, _, err := w.look(s)
		if err != nil {
			return nil, err
		}
		out[w.String()] = lines
	}
	return out, nil
}

// Alarms returns what differs between golden and s, one alarm for each watch.
func Alarms(s *Source, watches []Watch, golden Golden) ([]string, error) {
	var out []string
	watched := map[string]bool{}
	for _, w := range watches {
		watched[w.String()] = true
		now, in, err := w.look(s)
		if err != nil {
			return nil, err
		}
		before, known := golden[w.String()]
		if !known {
			out = append(out, fmt.Sprintf("%s is watched but not in the golden file: run the test with -update", w))
			continue
		}
		if alarm := w.alarm(in, before, now); alarm != "" {
			out = append(out, alarm)
		}
	}
	var stale []string
	for id := range golden {
		if !watched[id] {
			stale = append(stale, fmt.Sprintf("%s is in the golden file but not watched any more: run the test with -update", id))
		}
	}
	slices.Sort(stale)
	return append(out, stale...), nil
}
