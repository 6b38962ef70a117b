// Package report renders answers of the packages why and submit for CI: as JUnit, and as a summary in Markdown. It decides nothing: the
// verdicts are the answers' own.
//
// It may import the answers and cireport.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kube-scheduler-simulator/simulator/cireport"
	"kube-scheduler-simulator/simulator/questions/why"
)

// words are the verdicts for people.
var words = map[why.Verdict]string{
	why.Runs: "runs", why.Fits: "fits", why.Waits: "waits", why.DoesNotFit: "does not fit", why.Unknown: "could not be told",
}

// good reports whether a workload needs nothing.
func good(v why.Verdict) bool { return v == why.Runs || v == why.Fits }

// name names what an answer is about, and the node if it is about one.
func name(s why.Subject) string {
	out := s.Kind + " " + s.Namespace + "/" + s.Name
	if s.Node != "" {
		out += " on " + s.Node
	}
	return out
}

// least is the gentlest change that makes a workload fit; empty if there is none.
func least(a why.Answer) string {
	if len(a.Changes) == 0 {
		return ""
	}
	return a.Changes[0].Text
}

// JUnit writes a file with a case for each answer. A workload that does not fit, or waits, is a failure with the least
// change that helps. One that could not be told is an error.
func JUnit(w io.Writer, answers []why.Answer) error {
	suite := cireport.Suite{Name: "why"}
	for _, a := range answers {
		c := cireport.Case{Name: name(a.Subject), ClassName: a.Subject.Namespace + "." + a.Subject.Kind}
		switch {
		case good(a.Verdict):
		case a.Verdict == why.Unknown:
			c.Error = &cireport.Problem{Message: a.Sentence, Text: details(a)}
		default:
			c.Failure = &cireport.Problem{Message: a.Sentence, Text: details(a)}
		}
		suite.Cases = append(suite.Cases, c)
	}
	return cireport.JUnit(w, []cireport.Suite{suite})
}

// details are the lines below the sentence.
func details(a why.Answer) string {
	lines := []string{a.Sentence}
	for _, r := range a.Reasons {
		lines = append(lines, fmt.Sprintf("%s rejects %s: %s", r.Plugin, why.Plural(r.Count, "node"), r.Text))
	}
	for _, wait := range a.Waits {
		lines = append(lines, "waits: "+wait.Text)
	}
	if change := least(a); change != "" {
		lines = append(lines, "least change: "+change)
	}
	for _, n := range a.NotJudged {
		lines = append(lines, "not judged: "+n.Text)
	}
	return strings.Join(lines, "\n")
}

// maxNotes is how many notes on what was not judged a summary has.
const maxNotes = 20

// Markdown writes a table with a row for each answer, those that need something first, and below it what was not judged.
func Markdown(w io.Writer, answers []why.Answer) error {
	table := cireport.Table{Columns: []string{"", "Workload", "Verdict", "Node, or why not", "Least change"}}
	var fine [][]string
	var notes []string
	for _, a := range answers {
		mark, where := "✗", strings.TrimPrefix(a.Sentence, name(a.Subject)+": ")
		if good(a.Verdict) {
			mark = "✓"
			if a.SelectedNode != "" {
				where = a.SelectedNode
			}
		}
		row := []string{mark, name(a.Subject), words[a.Verdict], where, least(a)}
		if good(a.Verdict) {
			fine = append(fine, row)
		} else {
			table.Rows = append(table.Rows, row)
		}
		for _, n := range a.NotJudged {
			if !slices.Contains(notes, n.Text) {
				notes = append(notes, n.Text)
			}
		}
	}
	table.Rows = append(table.Rows, fine...)
	if _, err := fmt.Fprintf(w, "### Placement: %d of %d workloads run or fit\n\n", len(fine), len(answers)); err != nil {
		return err
	}
	if err := table.Markdown(w); err != nil {
		return err
	}
	if len(notes) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("\nNot judged:\n\n")
	for i, note := range notes {
		if i == maxNotes {
			fmt.Fprintf(&b, "- and %d more\n", len(notes)-i)
			break
		}
		b.WriteString("- " + cireport.Text(note) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
