package session

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Example 11: reclaim in kube-batch serves one task of a job and evicts at once; Volcano serves all that the queue deserves. The
// third card of the drawing, that proportion lets train-8 lose a task, needs reclaim switched off in the plugins of tier 1.
func TestReclaim(t *testing.T) {
	for _, test := range []struct {
		rules          Rules
		want           string
		before, after  float64
		reclaimedUnder bool
	}{
		{KubeBatch, `reclaim
  pipelined serve-4-0 on n1: evicts (proportion) -train-8-0
  skipped serve-4-1: oneTask
  skipped serve-4-2: oneTask
`, 48, 40, false},
		{Volcano, `reclaim
  pipelined serve-4-0 on n1: evicts (proportion) -train-8-1
  pipelined serve-4-1 on n1: releasing
  pipelined serve-4-2 on n1: evicts (proportion) -train-8-0
  committed serve-4: gangPipelined (gang) -train-8-1 -train-8-0
`, 48, 32, true},
	} {
		t.Run(string(test.rules), func(t *testing.T) {
			s := newStage(t, test.rules, `actions: "allocate, reclaim"
tiers:
- plugins: [{name: priority}, {name: gang, enableReclaimable: false}, {name: conformance, enableReclaimable: false}]
- plugins: [{name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}]
`)
			threeQueues(s)
			out := s.run()
			for _, q := range out.Record.Queues {
				if q.Name == "research" {
					if diff := cmp.Diff([]float64{test.before, test.after}, []float64{q.Before["cpu"], q.After["cpu"]}); diff != "" {
						t.Error(diff)
					}
					if under := q.After["cpu"] < q.Deserved["cpu"]; under != test.reclaimedUnder {
						t.Errorf("after %v, deserved %v", q.After, q.Deserved)
					}
				}
			}
			out.Binds, out.Evictions, out.Groups = nil, nil, nil
			a := out.Record.Actions[1]
			out.Record.Actions = []*ActionRecord{a}
			a.Decisions = slices.DeleteFunc(a.Decisions, func(d Decision) bool { return d.Job != "default/serve-4" })
			if diff := cmp.Diff(test.want, transcript(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Example 12: overcommit lets jobs in up to 1.2 times the cluster.
func TestEnqueue(t *testing.T) {
	s := newStage(t, Volcano, "actions: enqueue\ntiers:\n- plugins: [{name: priority}, {name: gang}]\n- plugins: [{name: overcommit}, {name: drf}]\n")
	threeQueues(s)
	for _, g := range s.objects.Groups {
		g.Status.Phase = PhasePending
		switch g.Name {
		case "lint-3":
			g.Spec.MinResources = sized(2)
		case "serve-4":
			g.Spec.MinResources = sized(12)
		case "train-9":
			g.Spec.MinResources = sized(16)
		case "api-1", "etl-2", "train-8", "lab-1":
			g.Status.Phase = PhaseRunning
		}
	}
	out := s.run()
	got := map[string]string{}
	for _, d := range out.Record.Actions[0].Decisions {
		got[short(d.Job)] = string(d.Kind) + " " + string(d.Reason) + " " + d.Text
	}
	want := map[string]string{
		"lint-3": "enqueued permitted ", "probe-1": "enqueued noMinResources ", "serve-4": "enqueued permitted ",
		"train-9": "refused overcommit resource in cluster is overused: overused cpu",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, j := range out.Record.Jobs {
		if j.Name == "train-9" && (j.Phase != PhasePending || j.Why == nil || j.Why.Code != WhyNotInqueue) {
			t.Errorf("%+v", j)
		}
	}
}

// The drawing: kube-batch's rules, where gang and conformance leave reclaim to proportion.
func TestDrawnSession(t *testing.T) {
	s := newStage(t, KubeBatch, `actions: "allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enableReclaimable: false}, {name: conformance, enableReclaimable: false}]
- plugins: [{name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}]
`)
	threeQueues(s)
	out := s.run()
	why := map[string]Why{}
	for _, j := range out.Record.Jobs {
		if j.Why != nil {
			why[j.Name] = *j.Why
		}
	}
	if diff := cmp.Diff(drawn, transcript(out)); diff != "" {
		t.Error(diff)
	}
	want := Why{Code: WhyRoom, Queue: "prod", Resource: "cpu", Missing: 6, Needed: 3, Placed: 1, Undone: 2, Givers: []Giver{
		{Queue: "prod", Job: "default/etl-2", Amount: 8}, {Queue: "research", Amount: 2},
	}}
	if diff := cmp.Diff(want, why["serve-4"]); diff != "" {
		t.Error(diff)
	}
}

const drawn = `allocate
  allocated lint-3-0 on n6 bound: idle
  refused serve-4-0: noRoom
  skipped queue adhoc: overused (proportion)
  skipped queue research: overused (proportion)
preempt
  refused probe-1-0: noVictims (priority)
  pipelined serve-4-0 on n6: evicts (priority, gang, conformance) -etl-2-4
  pipelined serve-4-1 on n6: evicts (priority, gang, conformance) -etl-2-3
  refused serve-4-2: noVictims (gang)
  discarded serve-4: gangNotReady (gang) -etl-2-4 -etl-2-3
  refused train-9-0: noVictims (priority)
  refused train-9-1: noVictims (priority)
  refused train-9-2: noVictims (priority)
  refused train-9-3: noVictims (priority)
reclaim
  pipelined serve-4-0 on n1: evicts (proportion) -train-8-0
  skipped serve-4-1: oneTask
  skipped serve-4-2: oneTask
  skipped queue adhoc: overused (proportion)
  skipped queue research: overused (proportion)
backfill
  allocated probe-1-0 on n1 bound: bestEffort
bind lint-3-0 to n6
bind probe-1-0 to n1
evict train-8-0 (reclaim)
serve-4 Pending Unschedulable NotEnoughResources "3/3 tasks in gang unschedulable: 0 nodes are available"
api-1 Running
etl-2 Running
probe-1 Running
lint-3 Running
lab-1 Running
train-9 Pending Unschedulable NotEnoughResources "4/4 tasks in gang unschedulable: 0 nodes are available"
train-8 Running
`

// The sessions after the drawn one: allocate and preempt complete serve-4's gang, which is bound as soon as its room is idle.
func TestSessionsAfterTheDrawnOne(t *testing.T) {
	s := newStage(t, KubeBatch, `actions: "allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enableReclaimable: false}, {name: conformance, enableReclaimable: false}]
- plugins: [{name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}]
`)
	threeQueues(s)
	s.apply(s.run())
	second := s.run()
	for _, j := range second.Record.Jobs {
		if j.Name == "serve-4" && (j.Ready != 2 || j.Pipelined != 1) {
			t.Errorf("%+v", j)
		}
	}
	s.apply(second)
	var bound []string
	for _, b := range s.run().Binds {
		bound = append(bound, b.Pod.Name)
	}
	if diff := cmp.Diff([]string{"serve-4-0", "serve-4-1", "serve-4-2"}, bound); diff != "" {
		t.Error(diff)
	}
}
