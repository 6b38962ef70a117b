package ask

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/others/session"
)

// turn prints what a scheduler that decides about all of its pods at once has judged, and what it
// has not.
func (p *printer) turn(t *session.Turn) {
	if t == nil {
		return
	}
	p.line("")
	if t.Kind == session.RoundTurn {
		p.line("Judged: one round of %s over all of its waiting pods, with the cost model %s, on a copy of the state. The costs are a model.", t.Scheduler, t.Model)
	} else {
		p.line("Judged: one session of %s over all of its jobs (%s), on a copy of the state.", t.Scheduler, strings.Join(t.Actions, ", "))
	}
	if j := t.Job; j != nil {
		p.line("Job %s/%s in queue %s: %d of at least %d tasks are ready%s", j.Namespace, j.Name, j.Queue, j.Ready, j.MinMember, cause(j.Why))
	}
	if len(t.Evictions) > 0 {
		p.line("It would evict %s.", strings.Join(t.Evictions, ", "))
	}
	p.line("Not judged: later turns, which may decide otherwise, and other schedulers, which may take the room first.")
}

// cause completes a sentence about a job that does not run.
func cause(w *session.Why) string {
	if w == nil {
		return "."
	}
	missing := amount(w.Resource, w.Missing)
	switch w.Code {
	case session.WhyNoQueue:
		return fmt.Sprintf("; there is no queue %s.", w.Queue)
	case session.WhyNotInqueue:
		return fmt.Sprintf("; %s keeps it out of the session: %s.", w.Plugin, w.Reason)
	case session.WhyTooFewPods:
		if w.Role != "" {
			return fmt.Sprintf("; it needs %d pods of the role %s, and %d exist.", w.Needed, w.Role, w.Placed)
		}
		return fmt.Sprintf("; it needs %d pods, and %d exist.", w.Needed, w.Placed)
	case session.WhyOverused, session.WhyQueueLimit:
		return fmt.Sprintf("; with it, queue %s would hold %s more than it deserves%s.", w.Queue, missing, givers(w))
	case session.WhyWaiting:
		return "; it waits until evicted pods have left."
	case session.WhyRoom:
		return fmt.Sprintf("; the nodes lack %s, and %d of %d tasks find room%s.", missing, w.Placed, w.Needed, givers(w))
	case session.WhyPieces:
		return fmt.Sprintf("; the idle room is in pieces: %d of %d tasks find room%s.", w.Placed, w.Needed, givers(w))
	case session.WhyPredicates:
		return fmt.Sprintf("; %s rejects the nodes that have room: %s.", w.Plugin, w.Reason)
	}
	return "; its tasks hold room, but the gang is not complete."
}

// givers names those who could give what is missing.
func givers(w *session.Why) string {
	var out []string
	for _, g := range w.Givers {
		of := "queue " + g.Queue
		if g.Job != "" {
			of = "job " + g.Job
		}
		out = append(out, of+" could give "+amount(w.Resource, g.Amount))
	}
	if out == nil {
		return ""
	}
	return "; " + strings.Join(out, ", ")
}

// amount writes an amount of a resource in natural units.
func amount(name v1.ResourceName, n float64) string {
	if name == v1.ResourceMemory {
		return fmt.Sprintf("%.4g Gi of memory", n/(1<<30))
	}
	return fmt.Sprintf("%.4g %s", n, name)
}
