package scheduler_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

// expectMore adds the facts that no plugin and no call of the scheduler states alone.
func expectMore(out *account, a *schedulertest.Attempt) {
	// The node that is tried first is taken if the scheduler filters no other
	// afterwards.
	alone := a.Selected != "" && len(a.Visits) <= 1
	if a.Nomination != "" {
		out.Nomination = tried{a.Nomination, alone && a.Selected == a.Nomination}
	}
	if a.Hint != "" {
		out.Hint = tried{a.Hint, alone && a.Selected == a.Hint}
	}
	if len(a.Passes) > 0 {
		out.Nominated = map[string]pass{}
		for node, p := range a.Passes {
			out.Nominated[node] = pass{p.Pods, !p.Repeated}
		}
	}
	out.PreScore, out.PreFlight, out.PreBind, out.Unreserved = a.PreScore, a.PreFlight, a.Prepared, a.Unreserved
	out.Backoff = a.Backoff
	if w := a.Wait; w != nil {
		out.Wait = &permitWait{Plugins: w.Plugins, Seconds: w.Seconds, Status: w.Status.Code().String()}
		if !w.Status.IsSuccess() {
			out.Wait.Plugin, out.Wait.Reasons = w.Status.Plugin(), w.Status.Reasons()
			out.Wait.TimedOut = strings.HasPrefix(w.Status.Message(), "rejected due to timeout")
		}
	}
}

func recordedMore(out *account, c *result.Cycle) {
	if n := c.Nomination; n != nil {
		out.Nomination = tried{n.Node, n.Used}
	}
	if h := c.Hint; h != nil {
		out.Hint = tried{h.Node, h.Used}
	}
	if f := c.Filter; f != nil && len(f.Nominated) > 0 && slices.Contains(f.Plugins, "Witness") {
		out.Nominated = map[string]pass{}
		for _, p := range f.Nominated {
			var names []string
			for _, pod := range p.Pods {
				names = append(names, pod.Name)
			}
			slices.Sort(names)
			out.Nominated[p.Node] = pass{names, p.Rejected}
		}
	}
	out.PreScore, out.PreFlight = statuses(c.PreScore), statuses(c.PreBindPreFlight)
	if !slices.ContainsFunc(c.PreBind, func(r result.PluginResult) bool { return r.Status != "Success" && r.Status != "Skip" }) && len(c.Bind) > 0 {
		out.PreBind = statuses(c.PreBind)
	}
	for _, r := range c.Unreserve {
		out.Unreserved = append(out.Unreserved, r.Plugin)
	}
	if c.Queue.BackoffUntil != nil {
		out.Backoff = *c.Queue.BackoffUntil
	}
	if w := c.PermitWait; w != nil {
		out.Wait = &permitWait{Plugins: w.Plugins, Status: w.Status, Plugin: w.Plugin, TimedOut: w.TimedOut, Reasons: w.Reasons}
		if w.DurationSeconds != nil {
			out.Wait.Seconds = *w.DurationSeconds
		}
	}
}

// checkSearch checks how far the search went, without the scheduler's formula: it leaves
// out nodes that it may visit only if it has found as many as it wants.
func checkSearch(t *testing.T, a *schedulertest.Attempt, c *result.Cycle) {
	t.Helper()
	restricted := slices.ContainsFunc(c.PreFilter, func(p result.PluginResult) bool { return p.Nodes != nil })
	switch {
	case c.Outcome == result.Error || c.Nodes.Wanted == 0 || c.PodGroup != nil && c.PodGroup.TopologyKey != "":
	case c.Nodes.Feasible > c.Nodes.Wanted:
		t.Errorf("%s: %d feasible nodes, %d wanted", a.Pod, c.Nodes.Feasible, c.Nodes.Wanted)
	case !restricted && c.Nodes.Evaluated < c.Nodes.Total && c.Nodes.Feasible != c.Nodes.Wanted:
		t.Errorf("%s: the search stopped with %d of %d nodes evaluated and %d of %d feasible nodes", a.Pod, c.Nodes.Evaluated, c.Nodes.Total, c.Nodes.Feasible, c.Nodes.Wanted)
	}
}

// checkRule checks that the recorded rule leaves the chosen candidate alone and that the
// rules before it do not.
func checkRule(t *testing.T, c *result.Cycle) {
	t.Helper()
	p := c.Preemption
	if p == nil || p.Chosen == "" {
		return
	}
	values := func(c result.Candidate) []int64 {
		highest, sum, start := c.Victims[0].Priority, int64(0), int64(math.MaxInt64)
		for _, v := range c.Victims {
			sum += int64(v.Priority) + 1<<31
			if v.Priority == highest && v.StartTime != nil {
				start = min(start, v.StartTime.UnixNano())
			}
		}
		return []int64{int64(c.PDBViolations), int64(highest), sum, int64(len(c.Victims)), -start}
	}
	at := slices.IndexFunc(p.Candidates, func(c result.Candidate) bool { return c.Node == p.Chosen })
	if at < 0 {
		t.Errorf("%s: the chosen candidate %s is not among %+v", c.Pod.Name, p.Chosen, p.Candidates)
		return
	}
	best := values(p.Candidates[at])
	rules := []result.PreemptionRule{
		"", result.FewestPDBViolations, result.LowestHighestPriority, result.LowestSumOfPriorities, result.FewestVictims, result.LatestEarliestStartTime, result.FirstFound,
	}
	last := 0
	for i, other := range p.Candidates {
		if i == at || other.Surplus || other.RemovedBy != "" {
			continue
		}
		theirs := values(other)
		if slices.Compare(theirs, best) < 0 {
			t.Errorf("%s: %s would have been better than %s: %v, %v", c.Pod.Name, other.Node, p.Chosen, theirs, best)
		}
		// The candidate falls behind at the first rule by which it is worse.
		worse := 0
		for worse < len(best) && theirs[worse] == best[worse] {
			worse++
		}
		last = max(last, worse+1)
	}
	if p.Rule != rules[last] {
		t.Errorf("%s: %q is said to have decided, not %q, among %+v", c.Pod.Name, p.Rule, rules[last], p.Candidates)
	}
}

// checkEvictions compares the recorded evictions with the scheduler's events, which it
// sends for each victim that it evicted, unless the victim was already gone.
func checkEvictions(t *testing.T, seen *schedulertest.Observer, recorded *sink) {
	t.Helper()
	for uid, cycles := range recorded.attempts {
		evicted, unknown := 0, false
		for _, c := range cycles {
			if c.Preemption == nil || c.Preemption.Evictions == nil {
				continue
			}
			e := c.Preemption.Evictions
			evicted += e.Deleted + e.Released
			unknown = unknown || !e.Done
			if e.Failed == 0 && e.Done && e.Deleted+e.Released+e.Terminating != e.Victims {
				t.Errorf("%s: evictions do not add up: %+v", c.Pod.Name, e)
			}
		}
		if events := seen.Evicted(uid); !unknown && events > evicted {
			t.Errorf("%s: %d evictions are recorded, %d were reported", cycles[0].Pod.Name, evicted, events)
		}
	}
}

// sameInstant compares times by the instant.
func sameInstant(a, b time.Time) bool { return a.Equal(b) }
