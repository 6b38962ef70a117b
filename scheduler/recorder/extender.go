package recorder

import (
	"errors"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/guard"
	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/result"
)

// The extenders' stand-ins call the exported methods below. place is an extender's index in the
// scheduler's list, from 0.

// offered tracks the feasible nodes that the scheduler offered to extenders. It belongs to the
// scheduling goroutine.
type offered struct {
	any bool
	// last is the last extender that was offered nodes. again: this is the second round, after one
	// for the nominated node.
	last      int
	again     bool
	nominated bool
}

type extenderCall struct {
	result.ExtenderCall
	place int
	err   error
}

// Repeated scores for a node add up, as in the scheduler.
type extenderScores struct {
	name    string
	place   int
	weight  int64
	answers map[string]int64
}

// Now returns the time on the recorder's clock.
func (r *Recorder) Now() time.Time { return r.now() }

// OfferedToExtender notes the nodes that passed the plugins and the earlier extenders. Call it on
// the scheduling goroutine, which owns the nodes, for every extender that is interested in pod,
// whether or not it filters.
func (r *Recorder) OfferedToExtender(place int, pod *v1.Pod, nodes []fwk.NodeInfo) {
	c := r.scheduling(pod)
	if c == nil {
		return
	}
	c.consider(nodes)
	o := &c.offered
	o.again = o.again || o.any && place <= o.last
	o.any, o.last = true, place
	o.nominated = !o.again && len(nodes) == 1 && nodes[0].Node().Name == pod.Status.NominatedNodeName
}

// ExtenderCalled notes a call that has returned, with its error. It keeps call. Call it on the
// goroutine on which the scheduler called the extender.
func (r *Recorder) ExtenderCalled(place int, pod *v1.Pod, call result.ExtenderCall, err error) {
	c := r.calling(pod, call.Verb)
	if c == nil {
		return
	}
	if call.Verb == result.ExtenderFilter {
		call.Nominated = c.offered.nominated
		// The duration of the extension point excludes extenders.
		c.filterStart = c.filterStart.Add(time.Duration(call.DurationSeconds * float64(time.Second)))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.extenders = append(c.extenders, extenderCall{call, place, err})
}

// ExtenderPanicked notes the panic of a call. Any goroutine may call it.
func (r *Recorder) ExtenderPanicked(caught *guard.Panic, pod *v1.Pod) { r.panicked(caught, pod) }

func (r *Recorder) calling(pod *v1.Pod, verb result.ExtenderVerb) *cycle {
	if verb == result.ExtenderBind {
		return r.binding(pod)
	}
	return r.scheduling(pod)
}

// ExtenderSkipped notes that an extender is not interested in pod. The scheduler
// asks for each verb; ExtenderSkipped notes it once.
func (r *Recorder) ExtenderSkipped(place int, pod *v1.Pod, call result.ExtenderCall) {
	c := r.scheduling(pod)
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.extenders {
		if c.extenders[i].place == place {
			return
		}
	}
	c.extenders = append(c.extenders, extenderCall{ExtenderCall: call, place: place})
}

// ExtenderScored notes the scores of an extender with its configured weight. Several goroutines may
// call it at once.
func (r *Recorder) ExtenderScored(place int, name string, pod *v1.Pod, answer extenderv1.HostPriorityList, weight int64) {
	c := r.scheduling(pod)
	if c == nil || c.scores == nil {
		return
	}
	scores := extenderScores{name: name, place: place, weight: weight * upstream.ExtenderScale, answers: make(map[string]int64, len(answer))}
	for _, host := range answer {
		scores.answers[host.Host] += host.Score
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scores.extenders = append(c.scores.extenders, scores)
}

// ExtenderPreempted notes how an extender changed the candidates. It does not keep the maps.
func (r *Recorder) ExtenderPreempted(name string, ignorable bool, pod *v1.Pod, sent, answer map[string]*extenderv1.Victims) {
	if c := r.scheduling(pod); c != nil {
		c.preemption.noteExtender(name, ignorable, sent, answer)
	}
}

// buildExtenders completes the calls. c.mu is held.
func (c *cycle) buildExtenders() []result.ExtenderCall {
	// Prioritize calls are adjacent, in the order in which they returned.
	calls := slices.Clone(c.extenders)
	prioritizes := func(call extenderCall) bool { return call.Verb == result.ExtenderPrioritize }
	if from := slices.IndexFunc(calls, prioritizes); from >= 0 {
		to := from
		for to < len(calls) && prioritizes(calls[to]) {
			to++
		}
		slices.SortStableFunc(calls[from:to], func(a, b extenderCall) int { return a.place - b.place })
	}
	var out []result.ExtenderCall
	for _, call := range calls {
		if call.Verb == result.ExtenderFilter && call.err != nil {
			// The scheduler ignored every error but the one with which the cycle failed.
			call.Ignored = !errors.Is(c.err, call.err)
		}
		out = append(out, call.ExtenderCall)
	}
	return out
}

func (s *scores) addExtenders(to *result.Score, totals []int64) {
	extenders := slices.Clone(s.extenders)
	slices.SortFunc(extenders, func(a, b extenderScores) int { return a.place - b.place })
	for _, e := range extenders {
		answered, counted := make([]int64, to.Nodes.Len()), make([]int64, to.Nodes.Len())
		column := result.ScoreExtender{Name: e.name, Weight: e.weight}
		for i, node := range to.Nodes.All() {
			answer, ok := e.answers[node]
			if !ok {
				column.Unscored = append(column.Unscored, node)
				continue
			}
			answered[i], counted[i] = answer, answer*e.weight
			totals[i] += counted[i]
		}
		column.Answered, column.Counted = result.NewColumn(answered), result.NewColumn(counted)
		to.Extenders = append(to.Extenders, column)
	}
}

// noteExtender changes the candidates as callExtenders in
// k8s.io/kubernetes/pkg/scheduler/framework/preemption does.
func (r *preemptionRecord) noteExtender(name string, ignorable bool, sent, answer map[string]*extenderv1.Victims) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.considered = true // extenders get only candidates that are considered
	if !ignorable && upstream.VictimlessNode(answer) != nil {
		return // preemption fails with an error
	}
	known := map[string]bool{}
	for i := range r.candidates {
		candidate := &r.candidates[i]
		known[candidate.node] = true
		victims := answer[candidate.node]
		switch {
		case upstream.HasVictims(victims):
			candidate.change(name, victims)
		case sent[candidate.node] != nil && candidate.removedBy == "":
			candidate.removedBy = name
		}
	}
	for node, victims := range answer {
		if !known[node] && upstream.HasVictims(victims) {
			added := dryRun{node: node}
			added.change(name, victims)
			r.candidates = append(r.candidates, added)
		}
	}
}

func (d *dryRun) change(extender string, victims *extenderv1.Victims) {
	same := func(a, b *v1.Pod) bool { return a.UID == b.UID }
	d.removedBy, d.surplus = "", false
	if slices.EqualFunc(d.victims, victims.Pods, same) && d.violations == int(victims.NumPDBViolations) {
		return
	}
	if d.changedBy == "" {
		d.replaced = d.victims
	}
	d.victims, d.violations, d.changedBy = slices.Clone(victims.Pods), int(victims.NumPDBViolations), extender
}
