package session

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// Options are the inputs of a session besides the state.
type Options struct {
	Configuration *Configuration
	// Board is that whose Registry the engine of the trial has.
	Board *Board
	// UID identifies the session in conditions.
	UID string
	// Annotations returns the annotations of a pod's controller, from which Volcano reads the minimum of a group that it makes itself; nil
	// if the controller is unknown. The function may be nil.
	Annotations func(namespace string, owner *metav1.OwnerReference) map[string]string
	// Clock is time.Now by default.
	Clock func() time.Time
}

type session struct {
	*cluster
	ctx           context.Context
	trial         *whatif.Trial
	configuration *Configuration
	options       Options
	tiers         [][]*extension
	flat          []*extension

	// anyRoom: nodes are judged without their room, as preempt and reclaim do.
	anyRoom bool
	record  *Record
	action  *ActionRecord
	out     *Outcome
	// binds are in the order in which the tasks became bound.
	binds []*task
}

// Run runs one session on a trial whose engine has the configuration's Judge, the board's Registry, and EndSearch. Everything that it
// places on the copy is undone with the trial. The error is ctx's, or that of a predicate that failed.
func Run(ctx context.Context, trial *whatif.Trial, objects Objects, options Options) (*Outcome, error) {
	s, err := run(ctx, trial, objects, options)
	if err != nil {
		return nil, err
	}
	return s.out, nil
}

func run(ctx context.Context, trial *whatif.Trial, objects Objects, options Options) (*session, error) {
	if options.Clock == nil {
		options.Clock = time.Now
	}
	start := options.Clock()
	s := &session{ctx: ctx, trial: trial, configuration: options.Configuration, options: options, out: &Outcome{}}
	pods := trial.Pods()
	s.cluster = newCluster(options.Configuration.Rules, trial.Nodes(), pods, objects)
	if s.rules == Volcano {
		s.out.OwnGroups = ownGroups(pods, options.Annotations)
	}
	options.Board.running = s
	defer func() { options.Board.running = nil }()
	for _, configured := range s.configuration.Tiers {
		var tier []*extension
		for _, p := range configured {
			tier = append(tier, s.open(p))
		}
		s.tiers, s.flat = append(s.tiers, tier), append(s.flat, tier...)
	}
	s.begin(start)
	for _, name := range s.configuration.Actions {
		s.action = &ActionRecord{Name: name, Decisions: []Decision{}}
		s.record.Actions = append(s.record.Actions, s.action)
		if err := s.act(name); err != nil {
			return nil, err
		}
		s.action.After = map[string]Amounts{}
		for _, q := range s.queues {
			s.action.After[q.name] = s.units.public(q.allocated)
		}
	}
	if err := s.close(); err != nil {
		return nil, err
	}
	s.record.DurationSeconds = options.Clock().Sub(start).Seconds()
	s.out.Record = s.record
	return s, nil
}

func (s *session) act(name string) error {
	switch name {
	case Enqueue:
		s.enqueue()
		return nil
	case Allocate:
		return s.allocate()
	case Backfill:
		return s.backfill()
	case Preempt:
		return s.preempt()
	}
	return s.reclaim()
}

// plugins are those of all tiers, in order.
func (s *session) plugins() []*extension { return s.flat }

// begin notes the state before the first action.
func (s *session) begin(start time.Time) {
	s.record = &Record{UID: s.options.UID, Rules: s.rules, StartTime: start, Total: s.units.public(s.total), Queues: []QueueRecord{}, Jobs: []JobRecord{}, Nodes: []NodeRecord{}}
	for _, tier := range s.tiers {
		var names []string
		for _, e := range tier {
			names = append(names, e.name)
		}
		s.record.Tiers = append(s.record.Tiers, names)
	}
	for _, q := range s.queues {
		q.before = q.allocated.clone()
		r := QueueRecord{Name: q.name, Weight: int32(q.weight), Before: s.units.public(q.allocated), Request: s.units.public(q.request), Share: q.share(), Overused: s.overused(q) != ""}
		if q.deserved != nil {
			r.Deserved = s.units.public(q.deserved)
			for _, round := range q.rounds {
				r.Rounds = append(r.Rounds, s.units.public(round))
			}
		}
		s.record.Queues = append(s.record.Queues, r)
	}
}

func (s *session) note(d Decision) {
	if len(s.action.Decisions) == MaxDecisions {
		s.action.Dropped++
		return
	}
	s.action.Decisions = append(s.action.Decisions, d)
}

func (s *session) about(t *task, kind DecisionKind, reason Reason) Decision {
	return Decision{Kind: kind, Job: t.job.name, Task: t.name, Queue: t.job.queue.name, Reason: reason, Share: t.job.queue.share()}
}

// compared adds what was compared: a resource, what there is, and what is wanted.
func (s *session) compared(d Decision, i int, have, want float64) Decision {
	d.Resource = s.units.names[i]
	d.Have, d.Want = natural(d.Resource, have), natural(d.Resource, want)
	return d
}

// natural turns milli-CPUs and thousandths into their units.
func natural(name v1.ResourceName, v float64) float64 {
	if name == v1.ResourceMemory {
		return v
	}
	return v / 1000
}

type step struct {
	task *task
	// node is that of a placement, and nil for an eviction.
	node *node
	// from is the status before.
	from status
}

// statement is a group of operations that is committed or discarded.
type statement struct {
	s     *session
	mark  whatif.Mark
	steps []step
}

func (s *session) begins() *statement { return &statement{s: s, mark: s.trial.Mark()} }

// place puts a task on a node: Allocated or Pipelined. It reports false if the plugins that reserve refuse.
func (st *statement) place(t *task, n *node, as status) (bool, error) {
	s := st.s
	err := s.trial.Place(s.ctx, t.pod, profile, n.name)
	var unfit *whatif.UnfitError
	switch {
	case errors.As(err, &unfit):
		t.job.notes.plugin, t.job.notes.reason = unfit.Plugin, strings.Join(unfit.Reasons, ", ")
		return false, nil
	case err != nil:
		return false, err
	}
	st.steps = append(st.steps, step{t, n, t.status})
	t.status = as
	s.put(t, n)
	s.charge(t, 1)
	return true, nil
}

func (st *statement) evict(t *task) {
	st.steps = append(st.steps, step{task: t, from: t.status})
	st.s.move(t, releasing)
	st.s.charge(t, -1)
}

func (c *cluster) move(t *task, to status) {
	n := t.node
	c.take(t)
	t.status = to
	c.put(t, n)
}

// charge counts a task for its job and its queue, or no longer. Others' pods are in no job.
func (s *session) charge(t *task, times int) {
	if times > 0 {
		t.job.allocated.add(t.request)
		t.job.queue.allocated.add(t.request)
		return
	}
	t.job.allocated.sub(t.request)
	t.job.queue.allocated.sub(t.request)
}

// discard undoes the statement, the latest step first.
func (st *statement) discard() {
	for _, step := range slices.Backward(st.steps) {
		t := step.task
		if step.node == nil {
			st.s.move(t, step.from)
			st.s.charge(t, 1)
			continue
		}
		t.fitted = t.node.name
		st.s.charge(t, -1)
		st.s.take(t)
		t.status, t.victims = step.from, nil
	}
	st.steps = nil
	st.s.trial.Rollback(st.mark)
}

// bind makes the Allocated tasks of a job Binding, if the job is ready.
func (s *session) bind(j *job) bool {
	if !s.ready(j) {
		return false
	}
	for _, t := range j.tasks {
		if t.status == allocated {
			t.status = binding
			s.binds = append(s.binds, t)
		}
	}
	return true
}

// decide asks kube-scheduler for the best node for a task. It returns nil if none fits.
func (s *session) decide(t *task, among func(string) bool) (*node, *result.Cycle, error) {
	s.trial.Among(among)
	cycle, err := s.trial.Decide(s.ctx, t.pod, profile)
	if err != nil {
		return nil, nil, err
	}
	if cycle.Outcome == result.Error {
		return nil, nil, errors.New("judging nodes for " + t.name + ": " + cycle.Message)
	}
	return s.byNode[cycle.SelectedNode], cycle, nil
}

// find is decide with the record kept as that of the task.
func (s *session) find(t *task) (*node, error) {
	var among func(string) bool
	if s.rules == Volcano {
		// Nodes with room in Idle come before those that others must leave first.
		among = func(name string) bool { return s.units.fits(t.initial, s.byNode[name].idle) }
	}
	n, cycle, err := s.decide(t, among)
	t.cycle = cycle
	return n, err
}

// first returns the least of the items, and the others.
func first[T any](items []T, compare func(a, b T) int) (T, []T) {
	at := 0
	for i := range items {
		if compare(items[i], items[at]) < 0 {
			at = i
		}
	}
	least := items[at]
	return least, slices.Delete(items, at, at+1)
}

// waiting returns a job's tasks that an action may place, in task order.
func (s *session) waiting(j *job, of func(*task) bool) []*task {
	var out []*task
	for _, t := range j.tasks {
		if t.status == pending && !t.gated && of(t) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, s.compareTasks)
	return out
}

func demanding(t *task) bool { return !t.bestEffort }

func anyTask(*task) bool { return true }

// admitted reports whether Volcano's actions look at a job: enqueue let it in, and it has enough tasks.
func (s *session) admitted(j *job) bool {
	if s.rules == KubeBatch {
		return true
	}
	return (j.phase == PhaseInqueue || j.phase == PhaseRunning || j.phase == PhaseUnknown) && s.valid(j)
}

// valid reports whether a job has enough tasks that are not over.
func (s *session) valid(j *job) bool {
	if s.rules == KubeBatch {
		return true // kube-batch asks before its plugins exist
	}
	_, _, _, enough := j.usable()
	return enough
}

// usable reports whether a job has enough tasks that are not over: its minimum in all, and that of every role. If not,
// have and need are the numbers of what is short, and role is the first such role in alphabetical order; it is empty if
// there are too few in all.
func (j *job) usable() (have, need int, role string, enough bool) {
	n, roles := 0, map[string]int{}
	for _, t := range j.tasks {
		if t.status.holds() || t.status == succeeded || t.status == pipelined || t.status == pending {
			n++
			roles[t.role]++
		}
	}
	if n < j.min {
		return n, j.min, "", false
	}
	for _, role := range slices.Sorted(maps.Keys(j.minRole)) {
		if least := int(j.minRole[role]); roles[role] < least {
			return roles[role], least, role, false
		}
	}
	return n, j.min, "", true
}
