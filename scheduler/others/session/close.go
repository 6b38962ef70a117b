package session

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/result"
)

// close writes conditions, phases and the records of the pods.
func (s *session) close() error {
	for _, t := range s.binds {
		s.out.Binds = append(s.out.Binds, Bind{Pod: t.pod, Node: t.node.name})
	}
	jobs := slices.Clone(s.jobs)
	slices.SortStableFunc(jobs, func(a, b *job) int {
		if c := s.compareQueues(a.queue, b.queue); c != 0 {
			return c
		}
		return s.compareJobs(a, b)
	})
	for _, j := range jobs {
		s.closeJob(j)
	}
	for _, g := range s.orphans {
		s.record.Jobs = append(s.record.Jobs, JobRecord{
			Namespace: g.Namespace, Name: g.Name, Queue: cmp.Or(g.Spec.Queue, DefaultQueue), MinMember: g.Spec.MinMember, Phase: g.Status.Phase,
			Why: &Why{Code: WhyNoQueue, Queue: cmp.Or(g.Spec.Queue, DefaultQueue), Needed: int(g.Spec.MinMember)},
		})
	}
	for i, q := range s.queues {
		r := &s.record.Queues[i]
		r.After, r.ShareAfter = s.units.public(q.allocated), q.share()
	}
	for _, n := range s.nodes {
		s.record.Nodes = append(s.record.Nodes, NodeRecord{
			Name: n.name, Allocatable: s.units.public(n.allocatable), Used: s.units.public(n.used), Releasing: s.units.public(n.releasing),
			Pipelined: s.units.public(n.pipelined), OutOfSync: n.outOfSync,
		})
	}
	s.record.Bound, s.record.Evicted = len(s.out.Binds), len(s.out.Evictions)
	return nil
}

func (s *session) gangPlugged() bool { return s.configuration.plugin(Gang) != nil }

func (s *session) closeJob(j *job) {
	unready := s.gangPlugged() && !s.gangReady(j, 0)
	fit := s.fitText(j)
	status := PodGroupStatus{Running: int32(j.with(running)), Succeeded: int32(j.with(succeeded)), Failed: int32(j.with(failed))}
	var message string
	if unready {
		message = fmt.Sprintf("%d/%d tasks in gang unschedulable: %s", j.min-j.ready(), len(j.tasks), fit)
	}
	status.Phase = s.phaseOf(j, unready)
	if j.group != nil {
		s.updateGroup(j, status, unready, message, fit)
	}
	j.phase = status.Phase
	r := JobRecord{
		Namespace: j.namespace, Name: strings.TrimPrefix(j.name, j.namespace+"/"), Queue: j.queue.name, MinMember: int32(j.min), Priority: j.priority,
		Shadow: j.group == nil, Tasks: len(j.tasks), Running: j.with(running), Ready: j.ready(), Pipelined: j.with(pipelined),
		Share: s.jobShare(j), Message: message,
	}
	if j.group != nil {
		r.Phase = status.Phase
	}
	s.record.Pipelined += r.Pipelined
	if !s.gangReady(j, 0) || j.with(pending) > 0 && j.with(running) == 0 {
		r.Why = s.why(j)
	}
	s.record.Jobs = append(s.record.Jobs, r)
	for _, t := range j.tasks {
		s.closeTask(t, r, fit)
	}
}

func (s *session) phaseOf(j *job, unready bool) PodGroupPhase {
	if unready && j.with(running) > 0 {
		return PhaseUnknown
	}
	if s.rules == KubeBatch {
		if j.count(status.holds) >= j.min {
			return PhaseRunning
		}
		return PhasePending
	}
	up, over := 0, 0
	for _, t := range j.tasks {
		switch {
		case t.status == succeeded || t.status == failed:
			over++
			up++
		case t.status == running || t.status == bound || t.status == binding || t.status == releasing && t.node != nil:
			up++
		}
	}
	switch {
	case up >= j.min && up > 0 && over == up:
		return PhaseCompleted
	case up >= j.min && up > 0:
		return PhaseRunning
	case j.phase == PhaseInqueue:
		return PhaseInqueue
	}
	return PhasePending
}

// updateGroup notes the new status of a PodGroup if it differs.
func (s *session) updateGroup(j *job, status PodGroupStatus, unready bool, message, fit string) {
	before := j.group.Status
	status.Conditions = slices.Clone(before.Conditions)
	now := metav1.NewTime(s.record.StartTime.Truncate(1e9))
	condition := Condition{Status: metav1.ConditionTrue, TransitionID: s.options.UID, LastTransitionTime: now}
	var event *Event
	switch {
	case unready:
		condition.Type, condition.Reason, condition.Message = ConditionUnschedulable, ReasonNotEnoughResources, message
		if p := status.Phase; p == PhasePending || p == PhaseUnknown || p == PhaseInqueue {
			event = &Event{"Warning", "Unschedulable", fmt.Sprintf("%d/%d tasks in gang unschedulable: %s", j.with(pending), len(j.tasks), fit)}
		}
	case s.rules == Volcano && s.gangPlugged() && s.gangReady(j, 0) && len(j.tasks) > 0:
		condition.Type, condition.Reason = ConditionScheduled, ReasonReady
		event = &Event{"Normal", "Scheduled", "pod group is ready"}
	}
	if j.notes.refusal != "" {
		event = &Event{"Normal", "Unschedulable", j.notes.refusal}
	}
	changed := before.Phase != status.Phase || before.Running != status.Running || before.Succeeded != status.Succeeded || before.Failed != status.Failed
	if condition.Type != "" {
		at := slices.IndexFunc(status.Conditions, func(c Condition) bool { return c.Type == condition.Type })
		switch {
		case at < 0:
			status.Conditions = append(status.Conditions, condition)
			changed = true
		case status.Conditions[at].Reason != condition.Reason || status.Conditions[at].Message != condition.Message || before.Phase != status.Phase:
			status.Conditions[at] = condition
			changed = true
		}
	}
	if changed {
		s.out.Groups = append(s.out.Groups, GroupUpdate{Group: j.group, Status: status, Event: event})
	}
}

// fitText is what events say about the room that a job found.
func (s *session) fitText(j *job) string {
	if s.rules == Volcano {
		return s.volcanoFitText(j)
	}
	if len(j.notes.short) == 0 {
		return "0 nodes are available"
	}
	counts := map[string]int{}
	for _, delta := range j.notes.short {
		for i, name := range s.units.names {
			if delta[i] < 0 {
				counts[string(name)]++
			}
		}
	}
	var parts []string
	for name, n := range counts {
		parts = append(parts, fmt.Sprintf("%d insufficient %s", n, name))
	}
	slices.Sort(parts)
	return fmt.Sprintf("0/%d nodes are available, %s.", len(j.notes.short), strings.Join(parts, ", "))
}

// volcanoFitText counts the tasks that fitted before a discard as Schedulable.
func (s *session) volcanoFitText(j *job) string {
	waiting, schedulable, unschedulable := 0, 0, 0
	origin := ""
	for _, t := range j.tasks {
		if t.status != pending {
			continue
		}
		waiting++
		switch {
		case t.fitted != "":
			schedulable++
		case t.cycle != nil:
			unschedulable++
			if origin == "" {
				origin = fmt.Sprintf(" Origin reason is %s: %s", t.pod.Name, s.taskText(t))
			}
		}
	}
	var parts []string
	if unschedulable > 0 {
		parts = append(parts, fmt.Sprintf("%d Unschedulable", unschedulable))
	}
	if schedulable > 0 {
		parts = append(parts, fmt.Sprintf("%d Schedulable", schedulable))
	}
	out := fmt.Sprintf("pod group is not ready, %d Pending, %d minAvailable", waiting, j.min)
	if len(parts) > 0 {
		out += "; Pending: " + strings.Join(parts, ", ")
	}
	if origin != "" {
		out += "." + origin
	}
	return out
}

// taskText counts why the nodes rejected a task, as Volcano writes it.
func (s *session) taskText(t *task) string {
	counts := map[string]int{}
	if f := t.cycle.Filter; f != nil {
		for i := range f.Nodes.Len() {
			for _, reason := range f.Verdict(i).Reasons {
				counts[reason]++
			}
		}
	}
	var parts []string
	for reason, n := range counts {
		parts = append(parts, fmt.Sprintf("%d %s", n, reason))
	}
	slices.Sort(parts)
	return fmt.Sprintf("0/%d nodes are unavailable: %s.", len(s.nodes), strings.Join(parts, ", "))
}

func (s *session) closeTask(t *task, j JobRecord, fit string) {
	if t.status != pending && t.status != allocated && t.status != pipelined && t.status != binding || t.pod.Spec.NodeName != "" {
		return
	}
	s.out.Cycles = append(s.out.Cycles, s.cycleOf(t, j))
	if t.status == binding || t.gated {
		return
	}
	u := PodUpdate{Pod: t.pod, Reason: "Unschedulable"}
	switch {
	case s.rules == KubeBatch && t.status == pipelined:
		return
	case s.rules == KubeBatch:
		u.Message = fit
	case t.status == pipelined:
		u.Message = fmt.Sprintf("Pod %s can possibly be assigned to %s, once resource is released and minAvailable is satisfied", t.name, t.node.name)
		if len(t.victims) > 0 {
			u.NominatedNode = t.node.name
		}
	case t.status == allocated || t.fitted != "":
		on := t.fitted
		if t.node != nil {
			on = t.node.name
		}
		u.Reason, u.Message = "Schedulable", fmt.Sprintf("Pod %s can possibly be assigned to %s, once minAvailable is satisfied", t.name, on)
	case t.cycle != nil:
		u.Message = s.taskText(t)
	case j.Message != "":
		u.Message = j.Message
	default:
		return
	}
	s.out.Pods = append(s.out.Pods, u)
}

// cycleOf turns what happened to a task into the record of an attempt: predicates are its Filter, the node order its Score, gang its
// Permit, and preempt and reclaim its PostFilter.
func (s *session) cycleOf(t *task, j JobRecord) *result.Cycle {
	c := t.cycle
	if c == nil {
		c = &result.Cycle{Summary: result.Summary{StartTime: s.record.StartTime, Nodes: result.NodeCounts{Total: len(s.nodes)}}}
	}
	c.Pod = result.Pod{Namespace: t.pod.Namespace, Name: t.pod.Name, UID: t.pod.UID}
	c.Hypothetical, c.Profile, c.Refusal, c.Message = false, string(s.rules), nil, ""
	if owner := metav1.GetControllerOf(t.pod); owner != nil && c.Owner == nil {
		c.Owner = &result.Owner{Kind: owner.Kind, Name: owner.Name}
	}
	c.Outcome = result.Unschedulable
	switch t.status {
	case binding:
		c.Outcome, c.SelectedNode = result.Scheduled, t.node.name
		c.Permit = []result.PluginResult{{Plugin: Gang, Status: "Success"}}
		return c
	case pipelined:
		c.SelectedNode, c.NominatedNode = "", t.node.name
		c.PostFilter = []result.PluginResult{{Plugin: s.madeRoom(t), Status: "Success", NominatedNode: t.node.name}}
		c.Message = fmt.Sprintf("waits for room on %s", t.node.name)
	case allocated:
		c.SelectedNode = t.node.name
		c.Permit = []result.PluginResult{{Plugin: Gang, Status: "Unschedulable", Reasons: []string{j.Message}}}
		c.Message = j.Message
	default:
		s.refused(c, t, j)
	}
	c.Refusal = result.FindRefusal(c)
	return c
}

// madeRoom returns the action that pipelined a task.
func (s *session) madeRoom(t *task) string {
	for _, a := range s.record.Actions {
		for _, d := range a.Decisions {
			if d.Task == t.name && d.Kind == Pipelined {
				return a.Name
			}
		}
	}
	return Allocate
}

// refused completes the record of a task that stays pending.
func (s *session) refused(c *result.Cycle, t *task, j JobRecord) {
	if t.fitted != "" && c.SelectedNode != "" {
		c.Permit = []result.PluginResult{{Plugin: Gang, Status: "Unschedulable", Reasons: []string{j.Message}}}
		c.Message = j.Message
		return
	}
	c.SelectedNode = ""
	if t.cycle != nil {
		c.Message = cmp.Or(j.Message, s.taskText(t))
		return
	}
	plugin, reason := Gang, cmp.Or(j.Message, "the session did not come to the pod")
	notes := t.job.notes
	_, _, _, enough := t.job.usable()
	switch {
	case t.gated:
		plugin, reason = "SchedulingGates", "the pod has scheduling gates"
	case notes.refusedBy != "":
		plugin, reason = notes.refusedBy, notes.refusal
	case !enough:
		reason = t.job.tooFew()
	case notes.overused:
		plugin, reason = Proportion, fmt.Sprintf("queue %s is overused", t.job.queue.name)
	case notes.limited >= 0:
		plugin, reason = Proportion, fmt.Sprintf("queue %s would exceed the %s that it deserves", t.job.queue.name, s.units.names[notes.limited])
	case slices.ContainsFunc(t.job.tasks, func(other *task) bool {
		return other != t && other.status == pending && other.cycle != nil && other.fitted == ""
	}):
		reason = "another task of the job found no node"
	}
	c.PreFilter = []result.PluginResult{{Plugin: plugin, Status: "Unschedulable", Reasons: []string{reason}}}
	c.Message = reason
}

// tooFew says of which pods there are too few for a job to start.
func (j *job) tooFew() string {
	have, need, role, _ := j.usable()
	if role != "" {
		return fmt.Sprintf("its group has %d of the %d pods of the role %s that it needs", have, need, role)
	}
	return fmt.Sprintf("its group has %d of the %d pods that it needs", have, need)
}

// why finds the first cause that a job does not run.
func (s *session) why(j *job) *Why {
	w := &Why{Queue: j.queue.name, Needed: max(1, j.min-j.ready()), Placed: j.with(pipelined), Undone: j.notes.undone}
	if w.Placed == 0 {
		w.Placed = j.notes.placed - j.ready()
	}
	waiting := s.waiting(j, anyTask)
	tasks := waiting[:min(len(waiting), max(0, w.Needed-j.with(pipelined)))]
	need, free := s.units.zero(), s.units.zero()
	for _, t := range tasks {
		need.add(t.initial)
	}
	for _, n := range s.nodes {
		if !n.outOfSync {
			free.add(n.idle)
		}
	}
	w.Placed = min(max(0, w.Placed), w.Needed)
	missing := func(i int, amount float64) {
		w.Resource, w.Missing = s.units.names[i], natural(s.units.names[i], amount)
		w.Givers = s.givers(j, i)
	}
	lacking, most := -1, 0.0
	for i := range need {
		if short := need[i] - free[i]; short >= s.units.slack[i] && share(short, s.total[i]) > most {
			lacking, most = i, share(short, s.total[i])
		}
	}
	have, least, role, enough := j.usable()
	switch {
	case j.notes.refusedBy != "" && (j.phase == PhasePending || j.phase == ""):
		w.Code, w.Plugin, w.Reason = WhyNotInqueue, j.notes.refusedBy, j.notes.refusal
		if lacking >= 0 {
			missing(lacking, need[lacking]-free[lacking])
		}
	case !enough:
		w.Code, w.Placed, w.Needed, w.Role = WhyTooFewPods, have, least, role
	case j.notes.overused && j.queue.deserved != nil:
		w.Code = WhyOverused
		i := s.overIn(j.queue)
		missing(i, j.queue.allocated[i]+need[i]-j.queue.deserved[i])
	case j.notes.limited >= 0:
		w.Code = WhyQueueLimit
		i := j.notes.limited
		missing(i, j.queue.allocated[i]+need[i]-j.queue.deserved[i])
	case len(tasks) == 0 && j.with(pipelined) > 0:
		w.Code = WhyWaiting
	case len(tasks) == 0:
		w.Code = WhyHeld
	case lacking >= 0:
		w.Code = WhyRoom
		missing(lacking, need[lacking]-free[lacking])
	case j.notes.plugin != "" && j.notes.plugin != RoomPlugin:
		w.Code, w.Plugin, w.Reason = WhyPredicates, j.notes.plugin, j.notes.reason
	default:
		w.Code = WhyPieces
		i := 0
		for k := range need {
			if share(need[k], s.total[k]) > share(need[i], s.total[i]) {
				i = k
			}
		}
		best := 0.0
		for _, n := range s.nodes {
			best = math.Max(best, n.idle[i])
		}
		missing(i, math.Max(0, tasks[0].initial[i]-best))
	}
	return w
}

// overIn returns the resource of which a queue holds the largest part of what it deserves.
func (s *session) overIn(q *queue) int {
	at := 0
	for i := range q.deserved {
		if share(q.allocated[i], q.deserved[i]) > share(q.allocated[at], q.deserved[at]) {
			at = i
		}
	}
	return at
}

// givers returns who could give a resource to a job: queues that hold more than they deserve, and jobs of the same queue with a lower priority
// that run more tasks than they need.
func (s *session) givers(j *job, i int) []Giver {
	var out []Giver
	name := s.units.names[i]
	for _, q := range s.queues {
		if q != j.queue && q.deserved != nil && q.reclaimable && q.allocated[i]-q.deserved[i] >= s.units.slack[i] {
			out = append(out, Giver{Queue: q.name, Amount: natural(name, q.allocated[i]-q.deserved[i])})
		}
	}
	for _, other := range s.jobs {
		if other == j || other.queue != j.queue || other.priority >= j.priority {
			continue
		}
		tasks := slices.DeleteFunc(slices.Clone(other.tasks), func(t *task) bool { return t.status != running && t.status != bound })
		slices.SortFunc(tasks, func(a, b *task) int { return -s.compareTasks(a, b) })
		spare := min(len(tasks), max(0, other.ready()-other.min))
		if other.min == 1 && s.rules == KubeBatch {
			spare = len(tasks)
		}
		amount := 0.0
		for _, t := range tasks[:spare] {
			amount += t.request[i]
		}
		if amount > 0 {
			out = append(out, Giver{Queue: j.queue.name, Job: other.name, Amount: natural(name, amount)})
		}
	}
	slices.SortStableFunc(out, func(a, b Giver) int { return cmp.Compare(b.Amount, a.Amount) })
	return out[:min(len(out), maxGivers)]
}

// maxGivers bounds the givers of an explanation.
const maxGivers = 5
