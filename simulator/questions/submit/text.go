package submit

import (
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/questions/why"
)

// Print writes answers for people: a table of several, and of each the parts that say something. What users of the cluster
// wrote is printed without control characters.
func Print(w io.Writer, answers *Answers) error {
	p := &page{}
	p.Line("%s", answers.Sentence)
	if len(answers.Items) > 1 {
		p.list(answers)
	} else {
		p.one(&answers.Items[0])
	}
	p.NotJudged(answers.NotJudged)
	j := answers.Judged
	judges := "kube-scheduler " + j.Scheduler
	if j.Kueue != "" {
		judges = "the simulator's queues, as Kueue after " + j.Kueue + " with " + j.Configuration.Text + ", and " + judges
	}
	p.Line("")
	p.Line("%s Judged by %s: %s, %s and %s at %s. All of it: -o json.", j.Note, judges, j.Cluster, why.Plural(j.Nodes, "node"), why.Plural(j.Pods, "pod"), clock(j.At.Time))
	_, err := io.WriteString(w, p.String())
	return err
}

type page struct{ why.Sheet }

// list prints a row for each job.
func (p *page) list(answers *Answers) {
	var rows [][]string
	for i := range answers.Items {
		a := &answers.Items[i]
		quota, order, change := "no queue", "", ""
		if a.Quota != nil {
			quota = a.Quota.Text
		}
		if a.Order != nil {
			order = fmt.Sprintf("%d of %d", a.Order.Position, a.Order.Of)
		}
		if len(a.Changes) > 0 {
			change = a.Changes[0].Text
		}
		rows = append(rows, []string{a.Subject.Kind + " " + a.Subject.Namespace + "/" + a.Subject.Name, string(a.Verdict), why.OrNone(a.Subject.Queue), quota, a.Nodes.Text, why.OrNone(order), a.when(), why.OrNone(change)})
	}
	p.Table([]string{"JOB", "VERDICT", "QUEUE", "QUOTA", "NODES", "ORDER", "START", "LEAST CHANGE"}, rows)
	for i := range answers.Items {
		p.Line("")
		p.Line("%s", answers.Items[i].Sentence)
	}
}

// when says the start in a few words.
func (a *Answer) when() string {
	switch s := a.Start; {
	case s.Now:
		return "now"
	case a.Verdict == Never:
		return "never"
	default:
		return between(s.Earliest, s.Latest)
	}
}

// one prints the parts of an answer.
func (p *page) one(a *Answer) {
	quota := "no queue"
	if a.Quota != nil {
		quota = a.Quota.Text
	}
	p.Table([]string{"QUOTA", "NODES", "START"}, [][]string{{quota, a.Nodes.Text, a.when()}})
	var rows [][]string
	if a.Quota != nil {
		for _, r := range a.Quota.Resources {
			rows = append(rows, []string{r.Resource, r.Flavor, r.Asks, r.Unused, r.MayBorrow, r.Short, r.Capacity})
		}
		p.Table([]string{"RESOURCE", "FLAVOR", "ASKS", "UNUSED", "MAY BORROW", "SHORT", "CAPACITY"}, rows)
	}
	rows = nil
	for _, t := range a.Tiers {
		rows = append(rows, []string{t.Name, string(t.State), t.Text})
	}
	p.Table([]string{"TIER", "STATE", "WHAT WAS FOUND"}, rows)
	rows = nil
	for _, v := range a.Preempts {
		rows = append(rows, []string{v.Namespace + "/" + v.Name, fmt.Sprint(v.Priority), why.OrNone(v.Reason), fmt.Sprintf("%d of %d runs", v.Runs, a.Start.Runs)})
	}
	p.Table([]string{"PREEMPTS", "PRIORITY", "WHY", "IN"}, rows)
	rows = nil
	if t := a.Topology; t != nil {
		for _, d := range t.Domains {
			var free []string
			for name, much := range d.Free {
				free = append(free, much+" "+name)
			}
			rows = append(rows, []string{d.Name, fmt.Sprint(d.Nodes), d.fit(t.Wants), fmt.Sprint(d.Given), strings.Join(sorted(free), ", ")})
		}
		p.Table([]string{"DOMAIN", "NODES", "PODS THAT FIT", "WOULD GO", "FREE"}, rows)
	}
	rows = nil
	for _, d := range a.Start.RestsOn {
		rows = append(rows, []string{d.Of, fmt.Sprint(d.Count), fmt.Sprintf("%.0f to %.0f s", d.Shortest, d.Longest)})
	}
	p.Table([]string{"START RESTS ON", "FINISHED", "TOOK"}, rows)
	rows = nil
	for _, e := range a.Elsewhere {
		rows = append(rows, []string{e.where(), string(e.Verdict), why.OrNone(e.Text), fmt.Sprintf("%d of %d pods find nodes", e.Fit, e.Pods), e.when()})
	}
	p.Table([]string{"ELSEWHERE", "VERDICT", "QUOTA", "NODES", "START"}, rows)
	rows = nil
	for _, c := range a.Changes {
		rows = append(rows, []string{c.Kind, c.Text, fmt.Sprintf("%d of %d pods find nodes", c.Fit, c.Pods), why.OrNone(strings.Join(c.Preempts, ", "))})
	}
	p.Table([]string{"CHANGE", "WHAT LETS IT START", "NODES", "PREEMPTS"}, rows)
	rows = nil
	for _, c := range a.Influences {
		start := "now"
		if !c.Admitted {
			start = between(c.Earliest, c.Latest)
		}
		rows = append(rows, []string{c.Kind, c.Text, start})
	}
	p.Table([]string{"INFLUENCE", "WHAT OTHERS COULD DO", "IT WOULD START"}, rows)
}

func (e *Elsewhere) where() string {
	switch e.Kind {
	case NoQueue:
		return "without a queue"
	case Delayed:
		return "submitted at " + clock(e.At.Time)
	}
	return "in the queue " + e.Queue
}

func (e *Elsewhere) when() string {
	switch e.Verdict {
	case Admitted:
		return "now"
	case Never:
		return "never"
	}
	return between(e.Earliest, e.Latest)
}

// between says a start that is not at once.
func between(earliest, latest *metav1.Time) string {
	switch {
	case earliest == nil:
		return "cannot say"
	case latest == nil:
		return "after " + clock(earliest.Time)
	}
	return clock(earliest.Time) + " to " + clock(latest.Time)
}

// Starts reports whether the job is admitted, and enough of its pods find nodes.
func (a *Answer) Starts() bool { return a.Verdict == Admitted && a.Nodes.Fit >= a.Nodes.Needs }

// Starts reports whether every job starts.
func (a *Answers) Starts() bool { return a.Summary.Starts == a.Summary.Jobs }

// fit says how many of the pods fit in a domain.
func (d Domain) fit(wants int) string {
	text := fmt.Sprintf("%d of %d", d.Fit, wants)
	if d.FitThen != nil && *d.FitThen != d.Fit {
		text += fmt.Sprintf(", then %d", *d.FitThen)
	}
	return text
}
