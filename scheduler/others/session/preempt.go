package session

import (
	"cmp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/result"
)

// The two ways to make room.
var (
	preempting = func(e *extension) func(*task, []*task) []*task { return e.preemptable }
	reclaiming = func(e *extension) func(*task, []*task) []*task { return e.reclaimable }
)

func (s *session) served(j *job) bool {
	if s.rules == KubeBatch {
		return true
	}
	return s.admitted(j) && s.starving(j)
}

// preempt makes room within each queue.
func (s *session) preempt() error {
	tasks := map[*job][]*task{}
	jobs := map[*queue][]*job{}
	var under []*job
	for _, j := range s.jobs {
		if tasks[j] = s.waiting(j, anyTask); len(tasks[j]) > 0 && s.served(j) {
			jobs[j.queue] = append(jobs[j.queue], j)
			under = append(under, j)
		}
	}
	for _, q := range s.queues {
		for len(jobs[q]) > 0 {
			if err := s.ctx.Err(); err != nil {
				return err
			}
			var j *job
			j, jobs[q] = first(jobs[q], s.compareJobs)
			again, err := s.preemptFor(j, tasks)
			if err != nil {
				return err
			}
			if again {
				jobs[q] = append(jobs[q], j)
			}
		}
	}
	return s.preemptWithin(under, tasks)
}

// preemptFor is the statement of one job. It reports whether the job gets another one.
func (s *session) preemptFor(j *job, tasks map[*job][]*task) (again bool, err error) {
	st := s.begins()
	others := func(t *task) bool { return t.job != nil && t.job != j && t.job.queue == j.queue }
	for len(tasks[j]) > 0 && (s.rules == KubeBatch || s.starving(j)) {
		t := tasks[j][0]
		tasks[j] = tasks[j][1:]
		made, err := s.makeRoom(st, t, others, preempting)
		if err != nil {
			return false, err
		}
		again = again || made
		if s.rules == KubeBatch && s.pipelined(j) {
			break
		}
	}
	return again && s.settle(st, j), nil
}

// settle commits the statement of a job that has its minimum, and else discards it.
func (s *session) settle(st *statement, j *job) bool {
	d := Decision{Job: j.name, Queue: j.queue.name, Plugin: Gang, Share: j.queue.share(), Count: j.ready() + j.with(pipelined), Of: j.min}
	for _, step := range st.steps {
		if step.node == nil {
			d.Victims = append(d.Victims, victimOf(step.task, nil))
		}
	}
	if s.pipelined(j) {
		d.Kind, d.Reason = Committed, ReasonGangPipelined
		s.commit(st)
		s.note(d)
		return true
	}
	d.Kind, d.Reason = Discarded, ReasonGangNotReady
	j.notes.undone += len(d.Victims)
	j.notes.placed = max(j.notes.placed, d.Count)
	s.note(d)
	st.discard()
	return false
}

func (s *session) commit(st *statement) {
	for i, step := range st.steps {
		if step.node != nil {
			continue
		}
		e := Eviction{Pod: step.task.pod, Action: s.action.Name, Group: step.task.job.group}
		for _, later := range st.steps[i:] {
			if later.node != nil {
				e.For.Namespace, e.For.Name = later.task.pod.Namespace, later.task.pod.Name
				break
			}
		}
		s.out.Evictions = append(s.out.Evictions, e)
	}
}

// preemptWithin lets the tasks of one job take the place of lower ones of the same job.
func (s *session) preemptWithin(jobs []*job, tasks map[*job][]*task) error {
	for _, j := range jobs {
		same := func(t *task) bool { return t.job == j }
		for len(tasks[j]) > 0 {
			t := tasks[j][0]
			tasks[j] = tasks[j][1:]
			if t.status != pending {
				continue
			}
			st := s.begins()
			made, err := s.makeRoom(st, t, same, preempting)
			if err != nil {
				return err
			}
			if !made {
				break
			}
			s.commit(st)
		}
	}
	return nil
}

// reclaim takes room back from other queues.
func (s *session) reclaim() error {
	tasks := map[*job][]*task{}
	jobs := map[*queue][]*job{}
	var queues []*queue
	for _, j := range s.jobs {
		if s.rules == Volcano && !s.served(j) {
			continue
		}
		if !slices.Contains(queues, j.queue) {
			queues = append(queues, j.queue)
		}
		if tasks[j] = s.waiting(j, anyTask); len(tasks[j]) > 0 {
			jobs[j.queue] = append(jobs[j.queue], j)
		}
	}
	said := map[*queue]bool{}
	for len(queues) > 0 {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		var q *queue
		q, queues = first(queues, s.compareQueues)
		if by := s.overused(q); by != "" {
			s.sayOverused(q, by, said, nil)
			continue
		}
		if len(jobs[q]) == 0 {
			continue
		}
		var j *job
		j, jobs[q] = first(jobs[q], s.compareJobs)
		again, err := s.reclaimFor(j, tasks[j])
		if err != nil {
			return err
		}
		if again {
			queues = append(queues, q)
		}
	}
	return nil
}

// reclaimFor serves one job: one of its tasks in kube-batch, which evicts at once, and all of them or none in Volcano. It
// reports whether the queue gets another turn.
func (s *session) reclaimFor(j *job, tasks []*task) (bool, error) {
	others := func(t *task) bool { return t.job != nil && t.job.queue != j.queue && t.job.queue.reclaimable }
	st := s.begins()
	if s.rules == KubeBatch {
		made, err := s.makeRoom(st, tasks[0], others, reclaiming)
		if err != nil {
			return false, err
		}
		s.commit(st)
		for _, t := range tasks[1:] {
			s.note(s.about(t, Skipped, ReasonOneTask))
		}
		return made, nil
	}
	made := false
	for _, t := range tasks {
		if !s.starving(j) {
			break
		}
		if by, i := s.forbids(func(e *extension) func(*queue, *task) int { return e.preemptive }, t); by != "" {
			j.notes.limited = i
			s.note(s.overLimit(t, by, i))
			continue
		}
		one, err := s.makeRoom(st, t, others, reclaiming)
		if err != nil {
			return false, err
		}
		made = made || one
	}
	if made {
		s.settle(st, j)
	}
	return true, nil
}

// makeRoom evicts tasks on one node and pipelines t there. of says whose tasks may be victims.
func (s *session) makeRoom(st *statement, t *task, of func(*task) bool, choose func(*extension) func(*task, []*task) []*task) (bool, error) {
	if reason := s.mayNot(t); reason != "" {
		s.note(s.about(t, Skipped, reason))
		return false, nil
	}
	candidates := s.candidates(t, of)
	if len(candidates) == 0 && s.rules == KubeBatch {
		s.note(s.about(t, Refused, ReasonNoVictims))
		return false, nil
	}
	s.anyRoom = true
	defer func() { s.anyRoom = false }()
	nodes, err := s.passing(t)
	if err != nil {
		return false, err
	}
	var short *Decision
	for _, n := range nodes {
		if s.rules == KubeBatch && len(candidates[n]) == 0 {
			continue
		}
		victims, plugins := s.victims(choose, t, candidates[n])
		evicted, enough := s.enough(t, n, victims)
		if !enough {
			d := s.about(t, Refused, ReasonTooFewVictims)
			if len(victims) == 0 {
				d.Reason, d.Plugin = ReasonNoVictims, strings.Join(plugins, ", ")
			}
			d.Node, d.Count, d.Of = n.name, len(victims), len(candidates[n])
			if short == nil || len(victims) > short.Count {
				short = &d
			}
			continue
		}
		for _, v := range evicted {
			st.evict(v)
		}
		placed, err := st.place(t, n, pipelined)
		if err != nil || !placed {
			return false, err
		}
		t.victims = evicted
		d := s.about(t, Pipelined, ReasonEvicts)
		d.Node = n.name
		for _, v := range evicted {
			d.Victims = append(d.Victims, victimOf(v, plugins))
		}
		if len(evicted) > 0 {
			d.Plugin = strings.Join(plugins, ", ")
			last := evicted[len(evicted)-1].job
			d.Count, d.Of = last.ready(), last.min
		} else {
			d.Reason = ReasonReleasing
		}
		s.note(d)
		return true, nil
	}
	if short == nil {
		d := s.about(t, Refused, ReasonNoVictims)
		short = &d
	}
	s.note(*short)
	return false, nil
}

func victimOf(t *task, plugins []string) Victim {
	return Victim{Task: t.name, Job: t.job.name, Queue: t.job.queue.name, Node: t.node.name, Plugins: plugins}
}

// mayNot returns why Volcano does not let a task evict pods.
func (s *session) mayNot(t *task) Reason {
	if s.rules == KubeBatch {
		return ""
	}
	if policy := t.pod.Spec.PreemptionPolicy; policy != nil && *policy == v1.PreemptNever {
		return ReasonPreemptionNever
	}
	if n := s.byNode[t.pod.Status.NominatedNodeName]; n != nil {
		for _, other := range n.tasks {
			if other.status == releasing && other.priority < t.priority {
				return ReasonVictimsLeave
			}
		}
	}
	return ""
}

// candidates returns the tasks that could be victims, by node, in task order of their names.
func (s *session) candidates(t *task, of func(*task) bool) map[*node][]*task {
	out := map[*node][]*task{}
	for _, n := range s.nodes {
		if n.outOfSync {
			continue
		}
		for _, other := range n.tasks {
			up := other.status == running || s.rules == Volcano && other.status == bound
			switch {
			case !up || !of(other):
			case s.rules == Volcano && (!other.preemptable || t.bestEffort && !other.bestEffort):
			default:
				out[n] = append(out[n], other)
			}
		}
		slices.SortFunc(out[n], func(a, b *task) int { return strings.Compare(a.name, b.name) })
	}
	return out
}

// passing returns the nodes that pass the predicates, room not counted, in the order in which they are tried: best score first for
// preempt, by name for reclaim.
func (s *session) passing(t *task) ([]*node, error) {
	if s.action.Name == Reclaim {
		names, err := s.trial.Feasible(s.ctx, t.pod, profile)
		if err != nil {
			return nil, err
		}
		slices.Sort(names)
		return s.named(names), nil
	}
	_, cycle, err := s.decide(t, nil)
	if err != nil {
		return nil, err
	}
	names, totals := ranked(cycle)
	slices.SortFunc(names, func(a, b string) int {
		byName := strings.Compare(a, b)
		if s.rules == KubeBatch {
			byName = -byName
		}
		return cmp.Or(cmp.Compare(totals[b], totals[a]), byName)
	})
	return s.named(names), nil
}

func (s *session) named(names []string) []*node {
	var out []*node
	for _, name := range names {
		out = append(out, s.byNode[name])
	}
	return out
}

func ranked(cycle *result.Cycle) (names []string, totals map[string]int64) {
	totals = map[string]int64{}
	if cycle.Score != nil {
		for i, name := range cycle.Score.Nodes.All() {
			names = append(names, name)
			totals[name] = cycle.Score.Totals.At(i)
		}
		return names, totals
	}
	if cycle.SelectedNode != "" {
		names = append(names, cycle.SelectedNode)
	}
	return names, totals
}

// enough returns those of the victims that must leave a node for t, in the order in which they are evicted.
func (s *session) enough(t *task, n *node, victims []*task) ([]*task, bool) {
	sum := s.units.zero()
	for _, v := range victims {
		sum.add(v.request)
	}
	if s.rules == KubeBatch {
		if len(victims) == 0 || !s.units.fits(t.request, sum) {
			return nil, false
		}
		if s.action.Name == Preempt {
			slices.SortFunc(victims, func(a, b *task) int { return -s.compareTasks(a, b) })
		}
		// At least one leaves, even for a task that asks for nothing.
		return s.until(1, victims, func(freed amounts) bool { return s.units.fits(t.request, freed) && s.units.fits(t.initial, freed) })
	}
	future := n.future()
	if !s.units.fits(t.initial, future.plus(sum)) {
		return nil, false
	}
	slices.SortFunc(victims, func(a, b *task) int {
		if a.job.queue != b.job.queue {
			return -s.compareQueues(a.job.queue, b.job.queue)
		}
		if a.job != b.job {
			return -s.compareJobs(a.job, b.job)
		}
		return -s.compareTasks(a, b)
	})
	return s.until(0, victims, func(freed amounts) bool {
		if !s.units.fits(t.initial, future.plus(freed)) {
			return false
		}
		return s.action.Name == Reclaim || s.wouldBeAllowed(t, freed)
	})
}

// wouldBeAllowed reports whether a queue may take a task once its own victims have given up what they hold.
func (s *session) wouldBeAllowed(t *task, freed amounts) bool {
	q := t.job.queue
	q.allocated.sub(freed)
	defer q.allocated.add(freed)
	by, _ := s.forbids(func(e *extension) func(*queue, *task) int { return e.allocatable }, t)
	return by == ""
}

// until returns the shortest beginning of the victims that is enough, with at least some of them.
func (s *session) until(least int, victims []*task, enough func(freed amounts) bool) ([]*task, bool) {
	freed := s.units.zero()
	for i := 0; ; i++ {
		if i >= least && enough(freed) {
			return victims[:i], true
		}
		if i == len(victims) {
			return nil, false
		}
		freed.add(victims[i].request)
	}
}
