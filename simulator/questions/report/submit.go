package report

import (
	"fmt"
	"io"
	"strings"

	"kube-scheduler-simulator/simulator/cireport"
	"kube-scheduler-simulator/simulator/questions/submit"
	"kube-scheduler-simulator/simulator/questions/why"
)

// SubmitJUnit writes a file with a case for each job. One that would not start at once is a failure with the least change
// that helps.
func SubmitJUnit(w io.Writer, answers *submit.Answers) error {
	suite := cireport.Suite{Name: "submit", Seconds: answers.Judged.Seconds}
	for i := range answers.Items {
		a := &answers.Items[i]
		s := a.Subject
		c := cireport.Case{Name: s.Kind + " " + s.Namespace + "/" + s.Name, ClassName: s.Namespace + "." + s.Kind}
		if !a.Starts() {
			c.Failure = &cireport.Problem{Message: a.Sentence, Text: submitDetails(a, answers)}
		}
		suite.Cases = append(suite.Cases, c)
	}
	return cireport.JUnit(w, []cireport.Suite{suite})
}

// submitDetails are the lines below the sentence.
func submitDetails(a *submit.Answer, all *submit.Answers) string {
	lines := []string{a.Sentence}
	if a.Quota != nil {
		lines = append(lines, "quota: "+a.Quota.Text)
	}
	lines = append(lines, "nodes: "+a.Nodes.Text)
	for _, r := range a.Nodes.Reasons {
		lines = append(lines, fmt.Sprintf("%s rejects %s: %s", r.Plugin, why.Plural(r.Count, "node"), r.Text))
	}
	if len(a.Changes) > 0 {
		lines = append(lines, "least change: "+a.Changes[0].Text)
	}
	for _, n := range all.NotJudged {
		lines = append(lines, "not judged: "+n.Text)
	}
	return strings.Join(lines, "\n")
}
