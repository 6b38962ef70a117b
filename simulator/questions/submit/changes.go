package submit

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/forward"
	"kube-scheduler-simulator/simulator/batch/kueue/suggest"
	"kube-scheduler-simulator/simulator/questions/why"
)

// The kinds of changes beside those of package suggest.
const (
	changeNode = "node"
	changeWait = "wait"
)

// suggest looks for the least changes of the jobs that would not start now.
func (a *asking) suggest(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, changesTime)
	defer cancel()
	for _, j := range a.jobs {
		if j.queue != "" && !j.answer.Quota.Admitted {
			if len(j.keys) == 1 {
				a.ownChanges(bounded, j)
				a.influences(bounded, j)
			}
			if s := j.answer.Start; s.Earliest != nil {
				text := "wait: it would start at " + clock(s.Earliest.Time) + " or later"
				if s.Latest != nil {
					text = fmt.Sprintf("wait: it would start between %s and %s", clock(s.Earliest.Time), clock(s.Latest.Time))
				}
				j.answer.Changes = append(j.answer.Changes, Change{Kind: changeWait, Text: text, Preempts: []string{}, Fit: j.answer.Nodes.Fit, Pods: j.answer.Nodes.Pods, Earliest: s.Earliest, Latest: s.Latest})
			}
		}
		n := j.answer.Nodes
		if n.Fit >= n.Needs {
			continue
		}
		admitted := j.queue == "" || j.answer.Quota.Admitted
		if n.Fit > 0 && j.subject.gang == nil {
			j.answer.Changes = append(j.answer.Changes, Change{Kind: string(suggest.Pods), Text: fmt.Sprintf("want %s instead of %d: so many find nodes now", why.Plural(n.Fit, "pod"), n.Pods), Suggestion: &suggest.Suggestion{Kind: suggest.Pods, Count: int32(n.Fit)}, Admitted: admitted, Preempts: []string{}, Fit: n.Fit, Pods: n.Fit})
		}
		for _, s := range n.Changes {
			j.answer.Changes = append(j.answer.Changes, Change{Kind: changeNode, Text: s.Text, Admitted: admitted, Preempts: []string{}, Fit: n.Fit + 1, Pods: n.Pods})
		}
	}
	if bounded.Err() != nil {
		a.unjudged("changes", fmt.Sprintf("Not everything was tried in %s.", changesTime))
	}
}

// ownChanges tries changes of the job itself, and asks for each where its pods would go.
func (a *asking) ownChanges(ctx context.Context, j *job) {
	// The job is asked as it came: beside those before it, and before those after it.
	state := j.before.Clone()
	fresh := freshOf(a.state.Workload(j.stops))
	state.SetWorkload(fresh, a.now)
	found, ok := suggest.Ask(ctx, suggest.Question{State: state, Workload: j.stops, Now: a.now})
	if !ok {
		return
	}
	for _, s := range found.Suggestions {
		if ctx.Err() != nil {
			return
		}
		if !s.Kind.Own() && s.Kind != suggest.Resume {
			j.others = append(j.others, s)
			continue
		}
		c := Change{Kind: string(s.Kind), Text: changeText(s), Suggestion: &s, Preempts: []string{}}
		if s.Kind == suggest.Resume {
			c.Admitted, c.Fit, c.Pods = true, j.answer.Nodes.Fit, j.answer.Nodes.Pods
			j.answer.Changes = append(j.answer.Changes, c)
			continue
		}
		changed := s.Changed(fresh)
		given, gone := a.admittedAs(ctx, state, changed)
		if given == nil {
			continue
		}
		for _, key := range gone {
			c.Preempts = append(c.Preempts, key.String())
		}
		c.Admitted = true
		other := *j
		copied := *j.subject
		copied.work = append(copied.work[:0:0], j.work...)
		copied.work[0].PodSets = changed.Spec.PodSets
		other.subject = &copied
		p, err := a.place(ctx, &other, given, gone)
		if err != nil {
			continue // the scheduler refuses what the queue would take
		}
		c.Fit, c.Pods, c.Flavors, c.On = p.out.Fit, p.out.Pods, namesOf(flavorsOf(given)), p.out.On
		j.answer.Changes = append(j.answer.Changes, c)
	}
}

// admittedAs runs a changed workload through the queues, and returns it with its quota, and those that stop for it.
func (a *asking) admittedAs(ctx context.Context, state *admission.State, changed *kueue.Workload) (given *kueue.Workload, gone []types.NamespacedName) {
	copied := state.Clone()
	copied.SetWorkload(changed, a.now)
	r := forward.New(forward.Options{State: copied, Begin: a.now, Told: func(e forward.Event) bool {
		switch {
		case e.What == forward.Evicted:
			gone = append(gone, keyOf(e.Workload))
		case e.What == forward.Reserved && keyOf(e.Workload) == keyOf(changed):
			given = e.Workload
		}
		return given == nil
	}})
	_ = r.Settle(ctx) // a run that ends early admits nothing
	return given, gone
}

// changeText says a change of a job as an instruction.
func changeText(s suggest.Suggestion) string {
	switch s.Kind {
	case suggest.Pods:
		if s.PodSet == string(kueue.DefaultPodSetName) {
			return fmt.Sprintf("want %s, as parallelism: %d", why.Plural(int(s.Count), "pod"), s.Count)
		}
		return fmt.Sprintf("want %s in the pod set %s", why.Plural(int(s.Count), "pod"), s.PodSet)
	case suggest.Request:
		return fmt.Sprintf("request %s %s in each pod", s.Amount, s.Resource)
	case suggest.Queue:
		return "submit it to the queue " + s.LocalQueue
	case suggest.Priority:
		return fmt.Sprintf("give it the priority %d", *s.Priority)
	case suggest.Flavor:
		var how []string
		for _, t := range s.Tolerations {
			how = append(how, fmt.Sprintf("tolerate %s=%s:%s", t.Key, t.Value, t.Effect))
		}
		if len(s.Selectors) > 0 {
			how = append(how, "do not select nodes by "+strings.Join(s.Selectors, ", "))
		}
		return strings.Join(how, " and ") + ", for the flavor " + s.Flavor
	}
	return "resume " + cmp.Or(s.LocalQueue, s.ClusterQueue)
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05Z") }
