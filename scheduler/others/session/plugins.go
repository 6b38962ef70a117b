package session

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// vote is an answer of a plugin that may have no opinion.
type vote int

const (
	abstain vote = iota
	permit
	reject
)

// extension is what a plugin does in a session. Functions that it does not have, or that its flags switch off, are nil.
type extension struct {
	name        string
	jobOrder    func(a, b *job) int
	taskOrder   func(a, b *task) int
	queueOrder  func(a, b *queue) int
	ready       func(*job) bool
	pipelined   func(*job) vote
	starving    func(*job) bool
	enqueueable func(*job) (v vote, resource int)
	enqueued    func(*job)
	overused    func(*queue) bool
	// allocatable and preemptive return the resource in which a task would pass its queue's limit, or -1.
	allocatable, preemptive func(*queue, *task) int
	// preemptable and reclaimable choose victims among the candidates for a task.
	preemptable, reclaimable func(preemptor *task, candidates []*task) []*task
}

func (s *session) open(p Plugin) *extension {
	e := &extension{name: p.Name}
	switch p.Name {
	case Priority:
		s.openPriority(e)
	case Gang:
		s.openGang(e)
	case Conformance:
		e.preemptable = func(_ *task, candidates []*task) []*task {
			return slices.DeleteFunc(slices.Clone(candidates), critical)
		}
		e.reclaimable = e.preemptable
	case DRF:
		s.openDRF(e)
	case Proportion:
		s.openProportion(e)
	case Overcommit:
		s.openOvercommit(e, p)
	}
	for flag, unset := range map[string]func(){
		"enableJobOrder": func() { e.jobOrder = nil }, "enableTaskOrder": func() { e.taskOrder = nil }, "enableQueueOrder": func() { e.queueOrder = nil },
		"enableJobReady": func() { e.ready = nil }, "enableJobPipelined": func() { e.pipelined = nil }, "enableJobStarving": func() { e.starving = nil },
		"enableJobEnqueued": func() { e.enqueueable, e.enqueued = nil, nil }, "enabledOverused": func() { e.overused = nil },
		"enabledAllocatable": func() { e.allocatable = nil }, "enablePreemptive": func() { e.preemptive = nil },
		"enablePreemptable": func() { e.preemptable = nil }, "enableReclaimable": func() { e.reclaimable = nil },
	} {
		if p.Disabled[flag] {
			unset()
		}
	}
	return e
}

func (s *session) openPriority(e *extension) {
	e.jobOrder = func(a, b *job) int { return cmp.Compare(b.priority, a.priority) }
	e.taskOrder = func(a, b *task) int { return cmp.Compare(b.priority, a.priority) }
	e.preemptable = func(preemptor *task, candidates []*task) []*task {
		return chosen(candidates, func(t *task) bool {
			if s.rules == Volcano && t.job == preemptor.job {
				return t.priority < preemptor.priority
			}
			return t.job.priority < preemptor.job.priority
		})
	}
	if s.rules == Volcano {
		e.starving = func(j *job) bool { return j.ready()+j.with(pipelined) < len(j.tasks) }
	}
}

func chosen(candidates []*task, victim func(*task) bool) []*task {
	return slices.DeleteFunc(slices.Clone(candidates), func(t *task) bool { return !victim(t) })
}

func (s *session) openGang(e *extension) {
	e.jobOrder = func(a, b *job) int {
		switch ra, rb := s.gangReady(a, 0), s.gangReady(b, 0); {
		case ra == rb:
			return 0
		case ra:
			return 1
		}
		return -1
	}
	e.ready = func(j *job) bool { return s.gangReady(j, 0) }
	e.pipelined = func(j *job) vote {
		if s.gangReady(j, j.with(pipelined)) {
			return permit
		}
		return reject
	}
	e.preemptable = func(_ *task, candidates []*task) []*task {
		taken := map[*job]int{}
		return chosen(candidates, func(t *task) bool {
			ready := t.job.ready()
			if s.rules == KubeBatch {
				return t.job.min <= ready-1 || t.job.min == 1
			}
			if ready-taken[t.job] <= t.job.min {
				return false
			}
			taken[t.job]++
			return true
		})
	}
	e.reclaimable = e.preemptable
	if s.rules == Volcano {
		e.starving = func(j *job) bool { return j.ready()+j.with(pipelined) < j.min }
	}
}

// gangReady reports whether a job has its minimum of tasks with a place, counting some more. Volcano also counts pending tasks that ask for
// nothing, and the minimum of each role.
func (s *session) gangReady(j *job, more int) bool {
	if s.rules == KubeBatch {
		return j.ready()+more >= j.min
	}
	for role, least := range j.minRole {
		n := 0
		for _, t := range j.tasks {
			placed := t.status.holds() || t.status == succeeded || (more > 0 && t.status == pipelined) || (t.status == pending && t.bestEffort)
			if t.role == role && placed {
				n++
			}
		}
		if n < int(least) {
			return false
		}
	}
	return j.ready()+j.pendingBestEffort()+more >= j.min
}

func critical(t *task) bool {
	class := t.pod.Spec.PriorityClassName
	return t.pod.Namespace == "kube-system" || class == "system-cluster-critical" || class == "system-node-critical"
}

func (s *session) openDRF(e *extension) {
	e.jobOrder = func(a, b *job) int { return cmp.Compare(s.jobShare(a), s.jobShare(b)) }
	e.preemptable = func(preemptor *task, candidates []*task) []*task {
		ls := dominant(preemptor.job.allocated.plus(preemptor.request), s.total)
		left := map[*job]amounts{}
		return chosen(candidates, func(t *task) bool {
			if left[t.job] == nil {
				left[t.job] = t.job.allocated.clone()
			}
			left[t.job].sub(t.request)
			rs := dominant(left[t.job], s.total)
			return ls < rs || math.Abs(ls-rs) <= shareDelta
		})
	}
}

// shareDelta is the difference below which drf calls shares equal.
const shareDelta = 1e-6

func (s *session) jobShare(j *job) float64 { return dominant(j.allocated, s.total) }

func (s *session) openProportion(e *extension) {
	s.deserve()
	e.queueOrder = func(a, b *queue) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.share(), b.share()))
	}
	e.overused = func(q *queue) bool { return q.deserved != nil && s.units.fits(q.deserved, q.allocated) }
	e.reclaimable = func(_ *task, candidates []*task) []*task {
		left := map[*queue]amounts{}
		return chosen(candidates, func(t *task) bool {
			q := t.job.queue
			if left[q] == nil {
				left[q] = q.allocated.clone()
			}
			after := left[q].minus(t.request)
			victim := s.units.fits(q.deserved, after)
			if s.rules == Volcano {
				victim = s.units.short(left[q], q.deserved) >= 0
			}
			if victim || s.rules == KubeBatch {
				left[q] = after // kube-batch also counts the refused ones
			}
			return victim
		})
	}
	if s.rules == KubeBatch {
		return
	}
	within := func(q *queue, t *task) int {
		if !q.open {
			return 0
		}
		for i := range t.request {
			if t.request[i] > 0 && q.allocated[i]+t.request[i] >= q.deserved[i]+s.units.slack[i] {
				return i
			}
		}
		return -1
	}
	e.allocatable, e.preemptive = within, within
	e.enqueueable = func(j *job) (vote, int) {
		q := j.queue
		for i := range j.minResources {
			if j.minResources[i] > 0 && j.minResources[i]+q.allocated[i]+q.inqueue[i]-q.elastic[i] >= q.real[i]+s.units.slack[i] {
				return reject, i
			}
		}
		return permit, -1
	}
	e.enqueued = func(j *job) { j.queue.inqueue.add(j.minResources) }
}

// deserve hands the cluster out to the queues that have jobs, by their weights.
func (s *session) deserve() {
	var taking []*queue
	guarantees := s.units.zero()
	for _, q := range s.queues {
		guarantees.add(q.guarantee)
		if q.jobs > 0 {
			q.deserved, q.met = s.units.zero(), false
			taking = append(taking, q)
		}
	}
	for _, q := range taking {
		q.real = minimum(s.total.minus(guarantees).plus(q.guarantee), q.capability)
	}
	remaining := s.total.clone()
	for !s.units.empty(remaining) {
		weights := 0.0
		for _, q := range taking {
			if !q.met {
				weights += q.weight
			}
		}
		if weights == 0 {
			return
		}
		given := s.units.zero()
		for _, q := range taking {
			if q.met {
				continue
			}
			before := q.deserved.clone()
			for i := range q.deserved {
				q.deserved[i] += remaining[i] * q.weight / weights
			}
			s.limit(q, before)
			round := q.deserved.minus(before)
			q.rounds = append(q.rounds, round)
			given.add(round)
		}
		remaining.sub(given)
	}
}

// limit caps what a queue has just been given, and says whether it has all that it may have.
func (s *session) limit(q *queue, before amounts) {
	if s.rules == KubeBatch {
		if s.units.less(q.request, q.deserved) {
			q.deserved, q.met = minimum(q.deserved, q.request), true
		}
		return
	}
	q.deserved = minimum(minimum(q.deserved, q.real), q.request)
	for i := range q.deserved {
		q.deserved[i] = math.Max(q.deserved[i], q.guarantee[i])
	}
	q.met = s.units.fits(q.request, q.deserved) || slices.Equal(q.deserved, before)
}

func (s *session) openOvercommit(e *extension, p Plugin) {
	times, err := strconv.ParseFloat(p.Arguments["overcommit-factor"], 64)
	if err != nil {
		times = 1.2
	}
	idle, reserved := s.units.zero(), s.units.zero()
	for i := range idle {
		idle[i] = s.total[i] * times
	}
	for _, n := range s.nodes {
		if !n.outOfSync {
			idle.sub(n.used)
		}
	}
	for _, q := range s.queues {
		reserved.add(q.inqueue)
	}
	e.enqueueable = func(j *job) (vote, int) {
		for i := range j.minResources {
			if j.minResources[i] > 0 && reserved[i]+j.minResources[i] >= idle[i]+s.units.slack[i] {
				return reject, i
			}
		}
		return permit, -1
	}
	e.enqueued = func(j *job) { reserved.add(j.minResources) }
}

// compareQueues orders queues: first the one that is served first.
func (s *session) compareQueues(a, b *queue) int {
	for _, e := range s.plugins() {
		if e.queueOrder != nil {
			if c := e.queueOrder(a, b); c != 0 {
				return c
			}
		}
	}
	return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.object.UID, b.object.UID), cmp.Compare(a.name, b.name))
}

func (s *session) compareJobs(a, b *job) int {
	for _, e := range s.plugins() {
		if e.jobOrder != nil {
			if c := e.jobOrder(a, b); c != 0 {
				return c
			}
		}
	}
	return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.uid, b.uid), cmp.Compare(a.name, b.name))
}

func (s *session) compareTasks(a, b *task) int {
	for _, e := range s.plugins() {
		if e.taskOrder != nil {
			if c := e.taskOrder(a, b); c != 0 {
				return c
			}
		}
	}
	return cmp.Or(a.pod.CreationTimestamp.Compare(b.pod.CreationTimestamp.Time), cmp.Compare(a.pod.UID, b.pod.UID), cmp.Compare(a.name, b.name))
}

// overused returns the plugin that says so, or an empty name.
func (s *session) overused(q *queue) string {
	for _, e := range s.plugins() {
		if e.overused != nil && e.overused(q) {
			return e.name
		}
	}
	return ""
}

func (s *session) ready(j *job) bool {
	for _, e := range s.plugins() {
		if e.ready != nil && !e.ready(j) {
			return false
		}
	}
	return true
}

func (s *session) pipelined(j *job) bool {
	if s.rules == KubeBatch {
		for _, e := range s.plugins() {
			if e.pipelined != nil && e.pipelined(j) == reject {
				return false
			}
		}
		return true
	}
	v, _, _ := s.ballot(func(e *extension) (vote, int) {
		if e.pipelined == nil {
			return abstain, -1
		}
		return e.pipelined(j), -1
	})
	return v
}

// ballot asks for votes: a reject ends with no, a tier with a permit ends with yes, and no votes mean yes. It returns who rejected,
// and for which resource.
func (s *session) ballot(ask func(*extension) (vote, int)) (yes bool, by string, resource int) {
	for _, tier := range s.tiers {
		permitted := false
		for _, e := range tier {
			switch v, resource := ask(e); v {
			case reject:
				return false, e.name, resource
			case permit:
				permitted = true
			}
		}
		if permitted {
			return true, "", -1
		}
	}
	return true, "", -1
}

// starving reports whether Volcano's preempt and reclaim serve a job: all plugins of the first tier that has an opinion agree.
func (s *session) starving(j *job) bool {
	for _, tier := range s.tiers {
		asked := false
		for _, e := range tier {
			if e.starving != nil {
				asked = true
				if !e.starving(j) {
					return false
				}
			}
		}
		if asked {
			return true
		}
	}
	return false
}

func (s *session) forbids(of func(*extension) func(*queue, *task) int, t *task) (by string, resource int) {
	for _, e := range s.plugins() {
		if forbid := of(e); forbid != nil {
			if i := forbid(t.job.queue, t); i >= 0 {
				return e.name, i
			}
		}
	}
	return "", -1
}

// victims combines what the plugins choose, tier by tier. It returns the plugins that agreed, or those that left nothing.
func (s *session) victims(of func(*extension) func(*task, []*task) []*task, preemptor *task, candidates []*task) (victims []*task, agreed []string) {
	asked := false
	var blocked []string
	for _, tier := range s.tiers {
		var refusing []string
		if s.rules == Volcano {
			victims, asked = nil, false
		}
		agreed = nil
		for _, e := range tier {
			choose := of(e)
			if choose == nil {
				continue
			}
			offer := choose(preemptor, candidates)
			if len(offer) == 0 {
				refusing = append(refusing, e.name)
				if s.rules == Volcano {
					victims = nil
					break
				}
			}
			agreed = append(agreed, e.name)
			if !asked || s.rules == Volcano && len(victims) == 0 {
				victims, asked = offer, true
			} else {
				victims = chosen(victims, func(t *task) bool { return slices.Contains(offer, t) })
			}
		}
		if len(victims) > 0 {
			return victims, agreed
		}
		if blocked == nil {
			blocked = refusing
		}
	}
	return nil, blocked
}
