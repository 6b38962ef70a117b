package why

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif/fit"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// Layout says how Print lays an answer out.
type Layout struct {
	// Columns is the width of the terminal; 0 means 120. A narrow one loses columns before it loses rows.
	Columns int
	// Wide names all nodes, and prints every value that a plugin compared.
	Wide bool
	// Commands also prints the commands that make the changes.
	Commands bool
}

const (
	defaultColumns = 120
	// narrow is where the last columns go.
	narrow = 100
	// mostRows bounds the lines of values below a reason, unless the layout is wide.
	mostRows = 3
)

// Print writes an answer for people. The sentence stands alone on the first lines; colour adds nothing, so there is none.
// Everything that a user of the cluster wrote is printed without control characters.
func Print(w io.Writer, a *Answer, l Layout) error {
	if l.Columns <= 0 {
		l.Columns = defaultColumns
	}
	p := &page{layout: l}
	p.text("", a.Sentence)
	p.subject(a)
	p.reasons(a)
	p.nearest(a)
	p.waits(a)
	p.changes(a)
	p.autoscaler(a)
	p.rest(a)
	if l.Commands {
		p.commands(a)
	}
	p.line("")
	p.text("", footer(a))
	_, err := io.WriteString(w, p.out.String())
	return err
}

type page struct {
	layout Layout
	out    strings.Builder
}

func (p *page) line(s string) { p.out.WriteString(strings.TrimRight(s, " ") + "\n") }

// text wraps a paragraph; its further lines are indented like the first.
func (p *page) text(indent, s string) {
	for _, line := range wrap(Printable(s), p.layout.Columns-len(indent)) {
		p.line(indent + line)
	}
}

// wrap breaks a text at spaces into lines of at most so many characters, but no word.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// Printable returns a text without characters that control a terminal, or that hide or reorder what follows.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// table prints rows below a header. The last column wraps; a narrow layout leaves out the columns from the given one on.
func (p *page) table(keep int, header []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	n := len(header)
	if p.layout.Columns < narrow {
		n = keep
	}
	width := make([]int, n)
	for _, row := range append([][]string{header}, rows...) {
		for i := range n {
			row[i] = Printable(row[i])
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	before := 0
	for _, w := range width[:n-1] {
		before += w + 2
	}
	p.line("")
	for _, row := range append([][]string{header}, rows...) {
		var b strings.Builder
		for i := range n - 1 {
			b.WriteString(row[i] + strings.Repeat(" ", width[i]-utf8.RuneCountInString(row[i])+2))
		}
		// A last column without room wraps below itself all the same.
		for i, part := range wrap(row[n-1], max(p.layout.Columns-before, 24)) {
			if i > 0 {
				b.Reset()
				b.WriteString(strings.Repeat(" ", before))
			}
			b.WriteString(part)
			p.line(b.String())
		}
	}
}

func (p *page) subject(a *Answer) {
	s := a.Subject
	var said []string
	for _, name := range slices.Sorted(maps.Keys(s.Requests)) {
		said = append(said, s.Requests[name]+" "+name)
	}
	if len(said) == 0 {
		said = []string{"no requests"}
	}
	text := strings.Join(said, ", ") + ", priority " + strconv.Itoa(int(s.Priority)) + "."
	if s.Pods != nil {
		text = "Each pod: " + text
	}
	if s.Reported != "" {
		text += " The cluster's scheduler last said: " + s.Reported
	}
	p.text("", text)
	if a.Choice != nil {
		if len(a.Choice.Parts) > 0 && s.Node == "" {
			p.text("", strings.TrimSpace("Ahead of "+a.Choice.Over+":"+parts(a.Choice.Parts)))
		}
		for _, changed := range a.Choice.Changed {
			p.text("", changed)
		}
	}
}

func (p *page) reasons(a *Answer) {
	if len(a.Reasons) == 0 || a.Verdict == Runs && !p.layout.Wide {
		return
	}
	var rows [][]string
	for _, r := range a.Reasons {
		why := r.Text
		if why == "" {
			why = "no reason given"
		}
		rows = append(rows, []string{strconv.Itoa(r.Count), r.Plugin, why, p.names(r.Nodes)})
	}
	p.table(3, []string{"NODES", "REJECTED BY", "WHY", "WHICH"}, rows)
	for _, r := range a.Reasons {
		shown := r.Details
		if !p.layout.Wide {
			shown = shown[:min(len(shown), 1)]
		}
		for _, d := range shown {
			p.line("")
			p.text("", r.Plugin+" on "+p.names(d.Nodes)+":")
			lines := d.Lines
			if !p.layout.Wide && len(lines) > mostRows {
				lines = append(slices.Clone(lines[:mostRows]), fmt.Sprintf("%d more (-o wide)", len(lines)-mostRows))
			}
			for _, line := range lines {
				p.text("  ", line)
			}
		}
	}
}

func (p *page) names(nodes []string) string {
	if p.layout.Wide {
		return strings.Join(nodes, " ")
	}
	return explain.Names(nodes)
}

func (p *page) nearest(a *Answer) {
	var rows [][]string
	for _, n := range a.Nearest {
		by := strings.Join(n.Plugins, ", ")
		if len(n.Plugins) == 1 {
			by += " only"
		}
		short := lacks(n.Lacks)
		if short == "" {
			short = strings.Join(n.Texts, "; ")
		}
		rows = append(rows, []string{n.Node, by, short})
	}
	p.table(3, []string{"NEAREST", "STILL IN THE WAY", "SHORT OF, OR WHY"}, rows)
}

// autoscaler says what the autoscaler would do about the pod alone.
func (p *page) autoscaler(a *Answer) {
	s := a.Autoscaler
	if s == nil {
		return
	}
	p.line("")
	text := s.By + ", asked about the pod alone: " + s.Text
	if len(s.Refused) > 0 {
		text = s.By + ", asked about the pod alone: no new node helps."
	}
	if s.Node != nil {
		text += " Prices: " + s.Prices + "."
	}
	p.text("", strings.TrimSpace(text+" "+s.DisagreementText))
	var rows [][]string
	for _, r := range s.Refused {
		rows = append(rows, []string{r.NodePool, r.Reason})
	}
	p.table(2, []string{"NODEPOOL", "DOES NOT HELP, BECAUSE"}, rows)
}

// lacks renders amounts as Kubernetes writes them.
func lacks(all []explain.Lack) string {
	var out []string
	for _, l := range all {
		if l.Amount <= 0 {
			continue
		}
		out = append(out, Amount(l)+" "+l.Resource)
	}
	return strings.Join(out, ", ")
}

// Amount writes what is missing as Kubernetes writes quantities, without the resource.
func Amount(l explain.Lack) string {
	switch {
	case l.Resource == "cpu":
		return resource.NewMilliQuantity(l.Amount, resource.DecimalSI).String()
	case l.Resource == "memory" || strings.HasPrefix(l.Resource, "hugepages-") || strings.HasSuffix(l.Resource, "storage"):
		return resource.NewQuantity(l.Amount, resource.BinarySI).String()
	}
	return strconv.FormatInt(l.Amount, 10)
}

func (p *page) waits(a *Answer) {
	var rows [][]string
	for _, w := range a.Waits {
		text := w.Text
		if w.Until != nil {
			text += " At the latest at " + w.Until.UTC().Format("15:04:05Z") + "."
		}
		rows = append(rows, []string{string(w.For), text})
	}
	p.table(2, []string{"WAITS FOR", "WHAT"}, rows)
}

func (p *page) changes(a *Answer) {
	var rows [][]string
	for i, s := range a.changesToMake() {
		on := s.SelectedNode
		if on == "" {
			on = "-"
		}
		rows = append(rows, []string{strconv.Itoa(i + 1), string(s.Kind), on, s.Text})
	}
	p.table(4, []string{"CHANGE", "OF", "RUNS ON", "WHAT MAKES IT FIT, EACH TRIED WITH THE SCHEDULER"}, rows)
}

func (p *page) rest(a *Answer) {
	var rows [][]string
	for _, l := range a.Lasting {
		what := "no change was found against it"
		if l.Guarded {
			what = "pods that may not be evicted are in the way"
		}
		rows = append(rows, []string{strconv.Itoa(len(l.Nodes)), l.Plugin, l.Text + "; " + what})
	}
	p.table(3, []string{"NODES", "LASTING", "WHY"}, rows)
	if e := a.Evicts; e != nil {
		rows = nil
		for _, v := range e.Pods {
			rows = append(rows, []string{v.Namespace + "/" + v.Name, strconv.Itoa(int(v.Priority)), e.Node})
		}
		p.table(3, []string{"WOULD EVICT", "PRIORITY", "FROM"}, rows)
	}
	rows = nil
	for _, n := range a.NotJudged {
		rows = append(rows, []string{n.What, n.Text})
	}
	p.table(2, []string{"NOT JUDGED", "WHY"}, rows)
}

// changesToMake leaves out waiting, which is among the waits.
func (a *Answer) changesToMake() []hypothesis.Suggestion {
	return slices.DeleteFunc(slices.Clone(a.Changes), func(s hypothesis.Suggestion) bool { return s.Kind == fit.KindWait })
}

// footer says who judged.
func footer(a *Answer) string {
	j := a.Judged
	whose := map[string]string{"default": "Kubernetes' default configuration", "cluster": "the cluster's configuration", "file": "the given configuration"}[j.Configuration]
	out := fmt.Sprintf("kube-scheduler %s, profile %s, %s. %s: %s and %s at %s.", j.Version, j.Scheduler, whose, j.Cluster, Plural(j.Nodes, "node"), Plural(j.Pods, "pod"),
		j.At.UTC().Format("15:04:05Z"))
	if j.ReadSeconds > 0 {
		out += fmt.Sprintf(" Read in %.1f s, judged in %.1f s.", j.ReadSeconds, j.Seconds)
	}
	if len(j.After) > 0 {
		out += " Counted as placed: " + explain.Names(j.After) + "."
	}
	if j.Record {
		out += " The decision is the recorded one."
	}
	return out + " Nothing was changed. All of it: -o json."
}
