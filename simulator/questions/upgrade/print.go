package upgrade

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"kube-scheduler-simulator/scheduler/versions/wire"
	"kube-scheduler-simulator/simulator/cireport"
)

// words are the classes for people.
var words = map[Class]string{
	Same: "same decision", Tie: "other node of an equal total", Moved: "other node", Lost: "fits no longer", Gained: "fits now", Reason: "fits in neither, for other reasons",
}

// Words says what a class means.
func (c Class) Words() string { return words[c] }

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// sentence is the answer in short.
func (a *Answer) sentence() string {
	if a.Pods == 0 {
		return fmt.Sprintf("From %s to %s: there is no decision to compare.", a.From.Minor, a.To.Minor)
	}
	verbs := []struct {
		n         int
		one, many string
	}{
		{a.Moved, "goes to another node", "go to another node"},
		{a.Lost, "fits no longer", "fit no longer"},
		{a.Gained, "fits now", "fit now"},
		{a.Tie, "has other best nodes beside a common one", "have other best nodes beside a common one"},
		{a.Reason, "is rejected for other reasons", "are rejected for other reasons"},
	}
	var parts []string
	for _, v := range verbs {
		switch v.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+v.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", v.n, v.many))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("From %s to %s, none of %s changes.", a.From.Minor, a.To.Minor, count(a.Pods, "decision"))
	}
	return fmt.Sprintf("From %s to %s, of %s %s.", a.From.Minor, a.To.Minor, count(a.Pods, "decision"), list(parts))
}

// section is a part of a report: a title, paragraphs, and a table.
type section struct {
	title string
	lines []string
	table cireport.Table
}

// sections are the parts of a report in their order.
func (a *Answer) sections() []section {
	out := []section{a.classes()}
	if len(a.Causes) > 0 {
		out = append(out, a.causes())
	}
	for i := range a.Causes {
		out = append(out, a.Causes[i].example(a))
	}
	out = append(out, a.configuration()...)
	for _, v := range []Version{a.From, a.To} {
		if len(v.Ignored) > 0 {
			out = append(out, v.ignored())
		}
	}
	if len(a.NotJudged) > 0 {
		out = append(out, section{title: "Not judged", lines: a.NotJudged})
	}
	return out
}

func (a *Answer) classes() section {
	t := cireport.Table{Columns: []string{"Class", "Decisions", "Share"}}
	for _, class := range Classes() {
		n := *a.Of(class)
		t.Rows = append(t.Rows, []string{class.Words(), fmt.Sprint(n), share(n, a.Pods)})
	}
	lines := []string{a.Sentence, fmt.Sprintf("Each decision of %s was made by kube-scheduler %s and by %s, in the same state.", a.Judged.Cluster, a.From.Version, a.To.Version)}
	return section{title: fmt.Sprintf("Upgrade from %s to %s", a.From.Minor, a.To.Minor), lines: lines, table: t}
}

func share(n, of int) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

func (a *Answer) causes() section {
	t := cireport.Table{Columns: []string{"Pods", "Decision", "Cause", "Proven", "Example"}}
	for i := range a.Causes {
		c := &a.Causes[i]
		proven := "no"
		if c.Proven {
			proven = "yes"
		}
		t.Rows = append(t.Rows, []string{fmt.Sprint(c.Pods), c.Class.Words(), c.Text(), proven, c.Example.Pod.Namespace + "/" + c.Example.Pod.Name})
	}
	return section{title: "Causes", lines: []string{
		"A cause is proven if the newer version, with the older one's answers of that plugin, decides as the older one. A feature gate is named if the decision becomes the older one's with that gate as the older version has it.",
	}, table: t}
}

// example shows the two decisions about a cause's example side by side.
func (c *Cause) example(a *Answer) section {
	e := c.Example
	s := section{title: fmt.Sprintf("%s: %s/%s", upper(c.Class.Words()), e.Pod.Namespace, e.Pod.Name), lines: []string{
		fmt.Sprintf("%s: %s", a.From.Version, outcome(e.Before)), fmt.Sprintf("%s: %s", a.To.Version, outcome(e.After)), c.Text() + ".",
	}}
	before, after := nodeOf(e.Before), differs(e.Before, e.After)
	if e.Before.Scores == nil || e.After.Scores == nil || before == "" || after == "" || before == after {
		return s
	}
	s.table.Columns = []string{"Score × weight", before + ", " + a.From.Minor, after + ", " + a.From.Minor, before + ", " + a.To.Minor, after + ", " + a.To.Minor}
	var names []string
	for _, of := range []*wire.Scores{e.Before.Scores, e.After.Scores} {
		for _, p := range of.Plugins {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	for _, name := range names {
		row := []string{name}
		for _, of := range []*wire.Scores{e.Before.Scores, e.After.Scores} {
			row = append(row, weighted(of, before, name), weighted(of, after, name))
		}
		s.table.Rows = append(s.table.Rows, row)
	}
	row := []string{"total"}
	for _, of := range []*wire.Scores{e.Before.Scores, e.After.Scores} {
		row = append(row, total(of, before), total(of, after))
	}
	s.table.Rows = append(s.table.Rows, row)
	return s
}

// differs is the first best node of the newer decision that is not one of the older one's; its first one if all are.
func differs(before, after *wire.Decision) string {
	for _, node := range after.Best {
		if !slices.Contains(before.Best, node) {
			return node
		}
	}
	for _, node := range before.Best { // fewer are best
		if !slices.Contains(after.Best, node) {
			return node
		}
	}
	return nodeOf(after)
}

// outcome is a decision in a few words.
func outcome(d *wire.Decision) string {
	switch {
	case len(d.Best) == 1:
		return "chooses " + d.Best[0]
	case len(d.Best) > 1:
		return fmt.Sprintf("chooses among %s, such as %s", count(d.BestCount, "node"), d.Best[0])
	}
	out := "finds no node"
	if d.Status != nil && len(d.Status.Reasons) > 0 {
		out += ": " + reasons(d.Status)
	}
	if p := d.Preemption; p != nil && p.Node != "" {
		out += fmt.Sprintf("; preemption evicts %s from %s", count(len(p.Victims), "pod"), p.Node)
	}
	return out
}

func weighted(s *wire.Scores, node, plugin string) string {
	at, column := slices.Index(s.Nodes, node), slices.IndexFunc(s.Plugins, func(p wire.Plugin) bool { return p.Name == plugin })
	if at < 0 || column < 0 {
		return "-"
	}
	return fmt.Sprint(s.Normalized[at][column] * int64(cmp.Or(s.Plugins[column].Weight, 1)))
}

func total(s *wire.Scores, node string) string {
	if at := slices.Index(s.Nodes, node); at >= 0 {
		return fmt.Sprint(s.Totals[at])
	}
	return "-"
}

// configuration is the second half of a report: what is in effect in the two versions.
func (a *Answer) configuration() []section {
	plugins := cireport.Table{Columns: []string{"Profile", "Extension point", a.From.Minor, a.To.Minor}}
	for _, p := range a.Changes.Plugins {
		gone, added := without(p.Before, p.After), without(p.After, p.Before)
		if gone == "" && added == "" {
			gone, added = names(p.Before), names(p.After) // their order
		}
		plugins.Rows = append(plugins.Rows, []string{p.Profile, p.Point, cmp.Or(gone, "-"), cmp.Or(added, "-")})
	}
	for _, p := range a.Changes.Args {
		before, after := changedArgs(p.Before, p.After)
		plugins.Rows = append(plugins.Rows, []string{p.Profile, "arguments of " + p.Plugin, before, after})
	}
	further := 0
	gates := cireport.Table{Columns: []string{"Feature gate", a.From.Minor, a.To.Minor, "Pods"}}
	// Those behind a difference come first.
	for _, g := range slices.SortedStableFunc(slices.Values(a.Changes.Gates), func(x, y GateChange) int { return a.behind(y.Name) - a.behind(x.Name) }) {
		if len(gates.Rows) == gatesShown && a.behind(g.Name) == 0 {
			further++
			continue
		}
		gates.Rows = append(gates.Rows, []string{g.Name, gate(g.Before), gate(g.After), fmt.Sprint(a.behind(g.Name))})
	}
	out := []section{{title: "Configuration in effect", table: plugins}, {title: "Feature gates that differ", table: gates}}
	if further > 0 {
		out[1].lines = []string{fmt.Sprintf("Further gates that changed no decision here: %d. The JSON lists them.", further)}
	}
	for i, nothing := range []string{"The same plugins run with the same weights and arguments.", "The same feature gates are on."} {
		if len(out[i].table.Rows) == 0 {
			out[i] = section{title: out[i].title, lines: []string{nothing}}
		}
	}
	return out
}

// gatesShown bounds the gates that are shown although no decision differs because of them.
const gatesShown = 10

// behind counts the pods whose decisions differ because of a gate.
func (a *Answer) behind(gate string) (pods int) {
	for i := range a.Causes {
		if slices.Contains(a.Causes[i].Gates, gate) {
			pods += a.Causes[i].Pods
		}
	}
	return pods
}

func gate(g *wire.Gate) string {
	switch {
	case g == nil:
		return "unknown"
	case g.On:
		return strings.ToLower(cmp.Or(g.Stage, "GA")) + ", on"
	}
	return strings.ToLower(cmp.Or(g.Stage, "GA")) + ", off"
}

// without names the plugins of some that others lack or weigh otherwise.
func without(some, others []wire.Plugin) string {
	return names(slices.DeleteFunc(slices.Clone(some), func(p wire.Plugin) bool { return slices.Contains(others, p) }))
}

func names(plugins []wire.Plugin) string {
	out := make([]string, len(plugins))
	for i, p := range plugins {
		if out[i] = p.Name; p.Weight != 0 {
			out[i] += fmt.Sprintf(" (weight %d)", p.Weight)
		}
	}
	return strings.Join(out, ", ")
}

// changedArgs returns the fields of a plugin's arguments that differ, as JSON.
func changedArgs(before, after json.RawMessage) (string, string) {
	var a, b map[string]json.RawMessage
	if before == nil || after == nil || json.Unmarshal(before, &a) != nil || json.Unmarshal(after, &b) != nil {
		return cmp.Or(string(before), "-"), cmp.Or(string(after), "-")
	}
	for name, value := range a {
		if other, both := b[name]; both && bytes.Equal(value, other) {
			delete(a, name)
			delete(b, name)
		}
	}
	show := func(fields map[string]json.RawMessage) string {
		if len(fields) == 0 {
			return "-"
		}
		text, _ := json.Marshal(fields) // they were JSON before
		return string(text)
	}
	return show(a), show(b)
}

func (v *Version) ignored() section {
	s := section{title: fmt.Sprintf("What %s does not know of the objects", v.Minor), table: cireport.Table{Columns: []string{"Kind", "Field", "Times", "Example"}}}
	for _, i := range v.Ignored {
		field := i.Path
		if i.ReadAs != "" {
			field = "it reads " + i.ReadAs
		}
		example := i.Example.Name
		if i.Example.Namespace != "" {
			example = i.Example.Namespace + "/" + example
		}
		s.table.Rows = append(s.table.Rows, []string{i.APIVersion + " " + i.Kind, cmp.Or(field, "the whole object"), fmt.Sprint(i.Times), example})
	}
	if v.IgnoredFurther > 0 {
		s.lines = []string{fmt.Sprintf("Further ones are not listed: %d.", v.IgnoredFurther)}
	}
	return s
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Print writes an answer as text for people.
func Print(w io.Writer, a *Answer) error {
	var b strings.Builder
	for i, s := range a.sections() {
		if i > 0 {
			b.WriteString("\n" + strings.ToUpper(s.title) + "\n")
		}
		for _, line := range s.lines {
			b.WriteString(line + "\n")
		}
		if len(s.table.Rows) == 0 {
			continue
		}
		t := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
		for i, row := range append([][]string{s.table.Columns}, s.table.Rows...) {
			if i == 0 {
				row = strings.Split(strings.ToUpper(strings.Join(row, "\x00")), "\x00")
			}
			fmt.Fprintln(t, strings.Join(row, "\t"))
		}
		_ = t.Flush() // to a builder
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes an answer as Markdown.
func Markdown(w io.Writer, a *Answer) error {
	var b strings.Builder
	for i, s := range a.sections() {
		level := "##"
		if i > 0 {
			b.WriteString("\n")
			level = "###"
		}
		fmt.Fprintf(&b, "%s %s\n\n", level, cireport.Text(s.title))
		for _, line := range s.lines {
			b.WriteString(cireport.Text(line) + "\n\n")
		}
		if len(s.table.Rows) > 0 {
			if err := s.table.Markdown(&b); err != nil {
				return err
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
