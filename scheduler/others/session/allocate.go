package session

import (
	"slices"

	"kube-scheduler-simulator/scheduler/result"
)

// enqueue lets jobs in whose minimum of resources may have room: Pending becomes Inqueue.
func (s *session) enqueue() {
	jobs := map[*queue][]*job{}
	var queues []*queue
	for _, j := range s.jobs {
		if j.phase == PhasePending || j.phase == "" {
			if jobs[j.queue] == nil {
				queues = append(queues, j.queue)
			}
			jobs[j.queue] = append(jobs[j.queue], j)
		}
	}
	for len(queues) > 0 {
		var q *queue
		if q, queues = first(queues, s.compareQueues); len(jobs[q]) == 0 {
			continue
		}
		var j *job
		j, jobs[q] = first(jobs[q], s.compareJobs)
		s.letIn(j)
		queues = append(queues, q)
	}
}

// letIn asks the plugins about a job.
func (s *session) letIn(j *job) {
	d := Decision{Kind: Enqueued, Job: j.name, Queue: j.queue.name, Share: j.queue.share(), Reason: ReasonNoMinResources}
	if j.minResources == nil {
		j.phase = PhaseInqueue
		s.note(d)
		return
	}
	yes, by, resource := s.ballot(func(e *extension) (vote, int) {
		if e.enqueueable == nil {
			return abstain, -1
		}
		return e.enqueueable(j)
	})
	if yes {
		d.Reason = ReasonPermitted
		j.phase = PhaseInqueue
		for _, e := range s.plugins() {
			if e.enqueued != nil {
				e.enqueued(j)
			}
		}
		s.note(d)
		return
	}
	d.Kind, d.Plugin, d.Reason = Refused, by, ReasonQueueCapacity
	message := "queue resource quota insufficient: insufficient "
	if by == Overcommit {
		d.Reason, message = ReasonOvercommit, "resource in cluster is overused: overused "
	}
	d.Text = message + string(s.units.names[resource])
	d.Resource, d.Want = s.units.names[resource], natural(s.units.names[resource], j.minResources[resource])
	j.notes.refusedBy, j.notes.refusal = by, d.Text
	s.note(d)
}

// allocate places tasks where there is room.
func (s *session) allocate() error {
	jobs, tasks := map[*queue][]*job{}, map[*job][]*task{}
	var queues []*queue
	for _, j := range s.jobs {
		if s.rules == Volcano && (j.phase == PhasePending || j.phase == "") && !slices.Contains(s.configuration.Actions, Enqueue) {
			j.phase = PhaseInqueue
		}
		if !s.admitted(j) {
			continue
		}
		tasks[j] = s.waiting(j, demanding)
		if s.rules == Volcano && (len(tasks[j]) == 0 || slices.Contains(queues, j.queue)) {
			if len(tasks[j]) > 0 {
				jobs[j.queue] = append(jobs[j.queue], j)
			}
			continue
		}
		// kube-batch puts a queue in once for each of its jobs.
		queues = append(queues, j.queue)
		jobs[j.queue] = append(jobs[j.queue], j)
	}
	said := map[*queue]bool{}
	for len(queues) > 0 {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		var q *queue
		q, queues = first(queues, s.compareQueues)
		if by := s.overused(q); by != "" {
			s.sayOverused(q, by, said, jobs[q])
			continue
		}
		if len(jobs[q]) == 0 {
			continue
		}
		var j *job
		j, jobs[q] = first(jobs[q], s.compareJobs)
		again, err := s.allocateJob(j, tasks)
		if err != nil {
			return err
		}
		if again {
			jobs[q] = append(jobs[q], j)
		}
		queues = append(queues, q)
	}
	return nil
}

func (s *session) sayOverused(q *queue, by string, said map[*queue]bool, jobs []*job) {
	for _, j := range jobs {
		j.notes.overused = true
	}
	if said[q] {
		return
	}
	said[q] = true
	d := Decision{Kind: Skipped, Queue: q.name, Plugin: by, Reason: ReasonOverused, Share: q.share()}
	most := 0
	for i := range q.deserved {
		if share(q.allocated[i], q.deserved[i]) > share(q.allocated[most], q.deserved[most]) {
			most = i
		}
	}
	s.note(s.compared(d, most, q.allocated[most], q.deserved[most]))
}

// allocateJob serves a job for one turn. It reports whether the job gets another one.
func (s *session) allocateJob(j *job, tasks map[*job][]*task) (again bool, err error) {
	if s.rules == Volcano {
		return s.allocateStatement(j, tasks)
	}
	st := s.begins()
	for len(tasks[j]) > 0 {
		t := tasks[j][0]
		tasks[j] = tasks[j][1:]
		n, err := s.find(t)
		if err != nil {
			return false, err
		}
		if n == nil {
			s.sayNoNode(t)
			return false, nil
		}
		if _, err := s.allocateTask(st, t, n); err != nil {
			return false, err
		}
		if s.ready(j) && len(tasks[j]) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// allocateTask places a task on the node that was found: Allocated if there is room now, else Pipelined.
func (s *session) allocateTask(st *statement, t *task, n *node) (bool, error) {
	as, kind, reason := allocated, Allocated, ReasonIdle
	if !s.units.fits(t.initial, n.idle) {
		as, kind, reason = pipelined, Pipelined, ReasonReleasing
		t.job.notes.short = append(t.job.notes.short, n.idle.minus(t.request))
	}
	have := n.idle[0]
	placed, err := st.place(t, n, as)
	if err != nil || !placed {
		return false, err
	}
	if s.rules == KubeBatch && as == allocated {
		s.bind(t.job)
	}
	d := s.compared(s.about(t, kind, reason), 0, have, t.initial[0])
	d.Node, d.Bound = n.name, t.status == binding
	d.Count, d.Of = t.job.ready(), t.job.min
	s.note(d)
	return true, nil
}

// sayNoNode records that no node fits a task, and why.
func (s *session) sayNoNode(t *task) {
	d := s.about(t, Refused, ReasonNoRoom)
	refusal := t.cycle.Refusal
	if refusal == nil {
		refusal = result.FindRefusal(t.cycle)
	}
	if refusal != nil {
		d.Plugin, d.Text = refusal.Plugin, refusal.Reason
		if refusal.Plugin != RoomPlugin {
			d.Reason = ReasonPredicates
		} else {
			d.Plugin = ""
		}
		t.job.notes.plugin, t.job.notes.reason = refusal.Plugin, refusal.Reason
	}
	best, at := 0.0, 0
	for i := range t.initial {
		most := 0.0
		for _, n := range s.nodes {
			most = max(most, n.idle[i])
		}
		if over := t.initial[i] - most; share(over, s.total[i]) > best {
			best, at = share(over, s.total[i]), i
		}
	}
	most := 0.0
	for _, n := range s.nodes {
		most = max(most, n.idle[at])
	}
	s.note(s.compared(d, at, most, t.initial[at]))
}

// allocateStatement is Volcano's turn of a job: all that it needs, or nothing.
func (s *session) allocateStatement(j *job, tasks map[*job][]*task) (again bool, err error) {
	st := s.begins()
	var hopeless []string
	for len(tasks[j]) > 0 {
		t := tasks[j][0]
		tasks[j] = tasks[j][1:]
		if slices.Contains(hopeless, t.role) {
			continue
		}
		if by, i := s.forbids(func(e *extension) func(*queue, *task) int { return e.allocatable }, t); by != "" {
			j.notes.limited = i
			s.note(s.overLimit(t, by, i))
			continue
		}
		n, err := s.find(t)
		if err != nil {
			return false, err
		}
		if n == nil {
			s.sayNoNode(t)
			if j.min == len(j.tasks) {
				break
			}
			hopeless = append(hopeless, t.role)
			continue
		}
		if _, err := s.allocateTask(st, t, n); err != nil {
			return false, err
		}
		if s.ready(j) {
			break
		}
	}
	j.notes.placed = max(j.notes.placed, j.with(allocated)+j.with(pipelined))
	if len(st.steps) == 0 {
		s.bind(j)
		return false, nil
	}
	switch d := (Decision{Job: j.name, Queue: j.queue.name, Plugin: Gang, Share: j.queue.share(), Count: j.ready(), Of: j.min}); {
	case s.ready(j):
		s.bind(j)
		d.Kind, d.Reason, d.Bound = Committed, ReasonGangReady, true
		s.note(d)
		return len(tasks[j]) > 0, nil
	case s.pipelined(j):
		d.Kind, d.Reason, d.Count = Kept, ReasonGangPipelined, j.ready()+j.with(pipelined)
		s.note(d)
		return false, nil
	default:
		d.Kind, d.Reason = Discarded, ReasonGangNotReady
		s.note(d)
		st.discard()
		return false, nil
	}
}

// overLimit is the decision that a task would pass what its queue may have.
func (s *session) overLimit(t *task, by string, i int) Decision {
	d := s.about(t, Refused, ReasonQueueLimit)
	d.Plugin = by
	if !t.job.queue.open {
		d.Text = "the queue is " + t.job.queue.object.Status.State
		return d
	}
	return s.compared(d, i, t.job.queue.deserved[i], t.job.queue.allocated[i]+t.request[i])
}

// backfill places tasks that ask for nothing.
func (s *session) backfill() error {
	empty := func(t *task) bool { return t.bestEffort }
	if s.rules == KubeBatch {
		empty = func(t *task) bool { return s.units.empty(t.initial) }
	}
	jobs := slices.DeleteFunc(slices.Clone(s.jobs), func(j *job) bool { return !s.admitted(j) })
	if s.rules == Volcano {
		slices.SortStableFunc(jobs, func(a, b *job) int {
			if c := s.compareQueues(a.queue, b.queue); c != 0 {
				return c
			}
			return s.compareJobs(a, b)
		})
	}
	for _, j := range jobs {
		for _, t := range s.waiting(j, empty) {
			if err := s.fill(t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *session) fill(t *task) error {
	n, err := s.find(t)
	if err != nil {
		return err
	}
	if n == nil {
		s.sayNoNode(t)
		return nil
	}
	if s.rules == KubeBatch {
		// kube-batch takes any node that passes.
		nodes, err := s.trial.Feasible(s.ctx, t.pod, profile)
		if err != nil {
			return err
		}
		n = s.byNode[slices.Min(nodes)]
		t.cycle.SelectedNode = n.name
	}
	st := s.begins()
	placed, err := st.place(t, n, allocated)
	if err != nil || !placed {
		return err
	}
	s.bind(t.job)
	d := s.about(t, Allocated, ReasonBestEffort)
	d.Node, d.Bound = n.name, t.status == binding
	s.note(d)
	return nil
}
