package submit

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/forward"
)

const (
	// mostElsewhere bounds the other queues, and elsewhereRuns the runs for each. elsewhereTime bounds them all.
	mostElsewhere = 8
	elsewhereRuns = 40
	elsewhereTime = 4 * time.Second
	// later is how long after the others a job is submitted, for Delayed.
	later = time.Hour
)

// elsewhere asks about the jobs under other circumstances.
func (a *asking) elsewhere(ctx context.Context) {
	if a.state == nil {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, elsewhereTime)
	defer cancel()
	for _, j := range a.jobs {
		queues := 0
		for _, local := range a.state.LocalQueues() {
			if local.Namespace != j.namespace || local.Name == j.queue || queues == mostElsewhere {
				continue
			}
			queues++
			a.tryElsewhere(bounded, j, InQueue, local.Name)
		}
		fallback := types.NamespacedName{Namespace: j.namespace, Name: string(controllerconstants.DefaultLocalQueueName)}
		if j.queue != "" && a.state.LocalQueue(fallback) == nil {
			a.tryElsewhere(bounded, j, NoQueue, "")
		}
		if len(j.starts) > 0 && len(j.keys) == 1 {
			a.tryLater(bounded, j)
		}
	}
	if bounded.Err() != nil {
		a.unjudged("elsewhere", fmt.Sprintf("Not every other queue was tried in %s.", elsewhereTime))
	}
}

// beside asks about one job alone, with the cluster as it was when the job came.
func (a *asking) beside(j *job) *asking {
	b := &asking{
		cluster: a.cluster, q: a.q, reading: a.reading, from: a.from, now: a.now, changes: a.changes, placed: j.placed.Clone(), pods: a.pods, nodeLabels: a.nodeLabels,
		answers: &Answers{},
	}
	b.q.NoChanges, b.q.Runs = true, min(a.q.Runs, elsewhereRuns)
	return b
}

// tryElsewhere asks about a job in another queue. What cannot be asked is left out.
func (a *asking) tryElsewhere(ctx context.Context, j *job, kind Circumstance, queue string) {
	if ctx.Err() != nil {
		return
	}
	b := a.beside(j)
	if b.begin(ctx, j.before.Clone()) != nil {
		return
	}
	s := *j.subject
	s.queue, s.work = queue, slices.Clone(j.work)
	if s.gang != nil {
		gang := *s.gang
		s.gang = &gang
	}
	if b.one(ctx, 0, &s) != nil {
		return
	}
	b.forward(ctx)
	other := b.jobs[0]
	b.verdict(other)
	e := elsewhereOf(other)
	e.Kind, e.Queue = kind, queue
	j.answer.Elsewhere = append(j.answer.Elsewhere, e)
}

// elsewhereOf is the short form of an answer.
func elsewhereOf(j *job) Elsewhere {
	a := j.answer
	e := Elsewhere{
		Verdict: a.Verdict, Text: a.Reason.Text, Tier: a.Reason.Tier, Said: a.Reason.Said, Flavors: []string{}, Borrows: []Borrow{}, Preempts: []string{},
		Fit: a.Nodes.Fit, Pods: a.Nodes.Pods, Needs: a.Nodes.Needs, Earliest: a.Start.Earliest, Latest: a.Start.Latest,
	}
	if a.Quota != nil {
		e.ClusterQueue, e.Flavors, e.Borrows, e.Text = a.Quota.ClusterQueue, namesOf(a.Quota.PodSets), a.Quota.Borrows, a.Quota.Text
	}
	for _, v := range a.Preempts {
		e.Preempts = append(e.Preempts, v.Namespace+"/"+v.Name)
	}
	return e
}

// tryLater runs the queues forward with the job submitted later.
func (a *asking) tryLater(ctx context.Context, j *job) {
	fresh := freshOf(a.state.Workload(j.stops))
	at := metav1.NewTime(a.now.Add(later).Truncate(time.Second))
	fresh.CreationTimestamp = at
	b := a.beside(j)
	b.state, b.late = j.before.Clone(), fresh
	found := b.runAlone(ctx, j)
	if found.Runs == 0 {
		return
	}
	j.answer.Elsewhere = append(j.answer.Elsewhere, Elsewhere{
		Kind: Delayed, Queue: j.queue, ClusterQueue: j.answer.Quota.ClusterQueue, At: &at, Verdict: Waits, Text: found.Text, Said: []admission.Reason{}, Flavors: []string{}, Borrows: []Borrow{}, Preempts: []string{},
		Fit: j.answer.Nodes.Fit, Pods: j.answer.Nodes.Pods, Needs: j.answer.Nodes.Needs, Earliest: found.Earliest, Latest: found.Latest,
	})
}

// runAlone says when a job starts from the state of b.
func (b *asking) runAlone(ctx context.Context, j *job) Start {
	twin := &job{subject: j.subject, keys: j.keys, stops: j.stops, runVictims: map[types.NamespacedName]int{}}
	twin.answer = &Answer{Verdict: Waits, Quota: j.answer.Quota, Nodes: j.answer.Nodes, Start: Start{RestsOn: []Durations{}}}
	b.jobs = []*job{twin}
	waiting := *j.answer.Quota
	waiting.Admitted = false
	twin.answer.Quota = &waiting
	b.forward(ctx)
	twin.answer.Start.Text = startText(twin.answer)
	return twin.answer.Start
}

// freshOf returns a copy of a workload, as its owner submits it.
func freshOf(w *kueue.Workload) *kueue.Workload {
	fresh := w.DeepCopy()
	fresh.Status = kueue.WorkloadStatus{}
	return fresh
}

const (
	changeWithdraw = "withdraw"
	changeRival    = "rival"
)

// influences tries what others could do about a job that waits.
func (a *asking) influences(ctx context.Context, j *job) {
	n := j.answer.Nodes
	for _, s := range j.others {
		j.answer.Influences = append(j.answer.Influences, Change{Kind: string(s.Kind), Text: "if " + s.String(), Suggestion: &s, Admitted: true, Preempts: []string{}, Fit: n.Fit, Pods: n.Pods})
	}
	fresh := freshOf(a.state.Workload(j.stops))
	for _, p := range a.state.Pending(j.answer.Quota.ClusterQueue, a.now) {
		if p.Workload.Key() == j.stops || ctx.Err() != nil {
			break
		}
		state := j.before.Clone()
		state.DeleteWorkload(p.Workload.Key())
		state.SetWorkload(fresh, a.now)
		how, evicted := forward.Admits(ctx, state, j.stops, a.now)
		if how == nil {
			continue
		}
		name := p.Workload.Key().String()
		c := Change{Kind: changeWithdraw, Text: "if " + name + " were withdrawn", Workload: name, Admitted: true, Preempts: []string{}, Fit: n.Fit, Pods: n.Pods}
		for _, ref := range evicted {
			c.Preempts = append(c.Preempts, ref.Key().String())
		}
		j.answer.Influences = append(j.answer.Influences, c)
	}
	if len(j.starts) == 0 || ctx.Err() != nil {
		return
	}
	rival := fresh.DeepCopy()
	rival.Name, rival.UID = fresh.Name+"-rival", fresh.UID+"-rival"
	priority := j.answer.Subject.Priority + 1
	rival.Spec.Priority = &priority
	b := a.beside(j)
	b.state = j.before.Clone()
	b.state.SetWorkload(rival, a.now)
	b.state.SetWorkload(fresh, a.now)
	found := b.runAlone(ctx, j)
	if found.Runs > 0 {
		j.answer.Influences = append(j.answer.Influences, Change{
			Kind: changeRival, Text: fmt.Sprintf("if one more job like it came with the priority %d", priority), Preempts: []string{}, Fit: n.Fit, Pods: n.Pods, Earliest: found.Earliest, Latest: found.Latest,
		})
	}
}
