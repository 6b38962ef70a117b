package scheduler_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

// checkCycles compares the recorded cycles with what the observer saw from outside.
func checkCycles(t *testing.T, seen []*schedulertest.Attempt, recorded *sink) {
	t.Helper()
	numbers := map[types.UID]int{}
	var want, got []account
	for _, a := range seen {
		if !a.Ended {
			continue // the scheduler was stopped
		}
		numbers[a.UID]++
		want = append(want, expected(a, numbers[a.UID]))
		if n := numbers[a.UID]; n <= len(recorded.attempts[a.UID]) {
			c := recorded.attempts[a.UID][n-1]
			got = append(got, recordedAccount(t, c))
			checkSearch(t, a, c)
			checkRule(t, c)
			checkScoreFacts(t, c)
		} else {
			got = append(got, account{Pod: "not recorded", UID: a.UID, Attempt: n})
		}
	}
	for uid, cycles := range recorded.attempts {
		for _, c := range cycles[min(numbers[uid], len(cycles)):] {
			if c.Outcome != result.Waiting {
				got = append(got, recordedAccount(t, c))
			}
		}
	}
	for i := range got {
		if i == len(want) {
			t.Fatalf("recorded, but not seen: %+v", got[i])
		}
		if diff := cmp.Diff(want[i], got[i], cmp.Comparer(sameInstant)); diff != "" {
			t.Errorf("attempt %d of %s: recorded (+) differs from what was seen (-):\n%s", want[i].Attempt, want[i].UID, diff)
		}
	}
}

// account holds the part of an attempt that both sides know.
type account struct {
	Pod, Profile                     string
	UID                              types.UID
	Attempt                          int
	Outcome                          result.Outcome
	Message, Selected, NominatedNode string
	Feasible                         int
	Points                           []string
	// Nomination and Hint are nodes that were tried before all others.
	Nomination, Hint tried
	// Nominated are the passes with nominated pods, of the profiles with a Witness.
	Nominated map[string]pass
	// PreScore, PreFlight and PreBind have the plugins with their statuses. PreBind is
	// compared after a success.
	PreScore, PreFlight, PreBind []string
	Unreserved                   []string
	Wait                         *permitWait
	Backoff                      time.Time
	// Filter has the letters, the plugin and its reasons, by node.
	Filter map[string]verdict
	// Scores has the raw, normalized and weighted values and the total, by node.
	Scores map[string]map[string][3]int64
	Totals map[string]int64
}

// tried is a node that the scheduler tried before all others.
type tried struct {
	Node string
	Used bool
}

type pass struct {
	Pods     []string
	Rejected bool
}

type permitWait struct {
	Plugins        []string
	Seconds        float64
	Status, Plugin string
	TimedOut       bool
	Reasons        []string
}

type verdict struct {
	States, Plugin string
	Reasons        []string
}

func expected(a *schedulertest.Attempt, number int) account {
	out := account{
		Pod: a.Pod, Profile: a.Profile, UID: a.UID, Attempt: number,
		Message: a.Message, Selected: a.Selected, NominatedNode: a.Nominated, Feasible: a.Feasible,
		Points: a.Points, Filter: map[string]verdict{}, Scores: map[string]map[string][3]int64{}, Totals: map[string]int64{},
	}
	switch {
	case a.Bound:
		out.Outcome = result.Scheduled
	case a.Status.IsRejected():
		out.Outcome = result.Unschedulable
	default:
		out.Outcome = result.Error
	}
	expectMore(&out, a)
	// Once the scheduler has found enough nodes, it drops further nodes that pass.
	considered := map[string]bool{a.Selected: true}
	for _, s := range a.Scores {
		considered[s.Name] = true
	}
	for node, status := range a.Verdicts {
		if status.IsSuccess() && a.Selected != "" && !considered[node] {
			continue
		}
		out.Filter[node] = letters(a, status)
	}
	for _, s := range a.Scores {
		out.Totals[s.Name] = s.TotalScore
		values := map[string][3]int64{}
		for i, p := range s.Scores {
			values[p.Name] = [3]int64{s.RawScores[i].Score, p.Score / a.Weights[p.Name], p.Score}
		}
		out.Scores[s.Name] = values
	}
	return out
}

// letters follows the plugins in their order until one rejects the node.
func letters(a *schedulertest.Attempt, status *fwk.Status) verdict {
	var states []byte
	over := false
	for _, plugin := range a.FilterPlugins {
		switch {
		case a.Skipped.Has(plugin):
			states = append(states, result.Skipped)
		case over:
			states = append(states, result.NotRun)
		case status.IsSuccess() || plugin != status.Plugin():
			states = append(states, result.Passed)
		case status.IsError():
			states, over = append(states, result.Failed), true
		default:
			states, over = append(states, result.Rejected), true
		}
	}
	v := verdict{States: string(states)}
	if !status.IsSuccess() {
		v.Plugin, v.Reasons = status.Plugin(), status.Reasons()
	}
	return v
}

func recordedAccount(t *testing.T, c *result.Cycle) account {
	t.Helper()
	out := account{
		Pod: c.Pod.Namespace + "/" + c.Pod.Name, Profile: c.Profile, UID: c.Pod.UID, Attempt: c.Attempt,
		Outcome: c.Outcome, Message: c.Message, Selected: c.SelectedNode, NominatedNode: c.NominatedNode, Feasible: c.Nodes.Feasible,
		Filter: map[string]verdict{}, Scores: map[string]map[string][3]int64{}, Totals: map[string]int64{},
	}
	for _, p := range c.ExtensionPoints {
		out.Points = append(out.Points, p.Name)
	}
	recordedMore(&out, c)
	if c.Filter != nil {
		for i, node := range c.Filter.Nodes.All() {
			v := c.Filter.Verdict(i)
			out.Filter[node] = verdict{States: v.States, Plugin: v.Plugin, Reasons: v.Reasons}
		}
	}
	if c.Score != nil {
		for i, node := range c.Score.Nodes.All() {
			out.Totals[node] = c.Score.Totals.At(i)
			out.Scores[node] = map[string][3]int64{}
			for p, plugin := range c.Score.Plugins {
				out.Scores[node][plugin.Name] = [3]int64{c.Score.Raw[p].At(i), c.Score.Normalized[p].At(i), c.Score.Weighted[p].At(i)}
			}
		}
	}
	if n := len(out.Filter); n != c.Nodes.Evaluated {
		t.Errorf("attempt %d of %s: %d nodes evaluated, %d in the filter matrix", c.Attempt, c.Pod.UID, c.Nodes.Evaluated, n)
	}
	return out
}
