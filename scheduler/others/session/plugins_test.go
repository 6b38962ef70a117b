package session

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bare returns a session of a stage without an engine, for the rules that need no node judged.
func bare(s *stage) *session {
	x := &session{configuration: s.config, out: &Outcome{}}
	x.cluster = newCluster(s.rules, nil, nil, Objects{})
	c := &cluster{rules: s.rules, byNode: map[string]*node{}, byName: map[string]*queue{}, tasks: x.tasks, units: newResources(s.rules, nil)}
	c.total = c.units.zero()
	for _, n := range s.nodes {
		c.addNode(n)
	}
	for _, q := range s.objects.Queues {
		c.addQueue(q)
	}
	c.addJobs(s.pods, s.objects)
	x.cluster = c
	for _, configured := range s.config.Tiers {
		var tier []*extension
		for _, p := range configured {
			tier = append(tier, x.open(p))
		}
		x.tiers, x.flat = append(x.tiers, tier), append(x.flat, tier...)
	}
	return x
}

// The queues of the worked examples 3, 4, 11 and 12: 6 nodes of 16 CPUs.
func threeQueues(s *stage) {
	for i := range 6 {
		s.node(fmt.Sprintf("n%d", i+1), 16)
	}
	s.queue("prod", 3)
	s.queue("research", 2)
	s.queue("adhoc", 1)
	s.group("api-1", "prod", 5, 100)
	s.group("etl-2", "prod", 3, 10)
	s.group("train-8", "research", 4, 50)
	s.group("lab-1", "adhoc", 1, 10)
	s.tasks("train-8", 2, 8, "n1")
	s.tasks("train-8", 1, 8, "n2")
	s.tasks("train-8", 1, 8, "n3")
	s.tasks("train-8", 1, 8, "n4")
	s.tasks("train-8", 1, 8, "n5")
	s.tasks("api-1", 2, 4, "n2")
	s.tasks("api-1", 2, 4, "n3")
	s.tasks("api-1", 1, 4, "n4")
	s.tasks("etl-2", 1, 4, "n4")
	s.tasks("etl-2", 2, 4, "n5")
	s.tasks("etl-2", 2, 4, "n6")
	s.tasks("lab-1", 1, 4, "n6")
	s.group("serve-4", "prod", 3, 100)
	s.tasks("serve-4", 3, 4, "")
	s.group("train-9", "research", 4, 50)
	s.tasks("train-9", 4, 4, "")
	s.group("lint-3", "adhoc", 1, 10)
	s.tasks("lint-3", 1, 2, "")
	s.group("probe-1", "adhoc", 1, 10)
	s.tasks("probe-1", 1, 0, "")
}

// Example 3: what remains goes round by weight among those that still want more.
func TestDeserved(t *testing.T) {
	type row struct {
		Deserved float64
		Rounds   []float64
	}
	s := newStage(t, KubeBatch, "")
	threeQueues(s)
	x := bare(s)
	got := map[string]row{}
	for _, q := range x.queues {
		r := row{}
		if q.deserved != nil {
			r.Deserved = q.deserved[0] / 1000
		}
		for _, round := range q.rounds {
			r.Rounds = append(r.Rounds, round[0]/1000)
		}
		got[q.name] = r
	}
	want := map[string]row{
		"prod": {52, []float64{48, 4}}, "research": {38, []float64{32, 4, 2}}, "adhoc": {6, []float64{6}}, "default": {},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Example 5: kube-batch keeps what a queue cannot use, Volcano hands it out again.
func TestDeservedBeyondTheRequest(t *testing.T) {
	for rules, want := range map[Rules]amounts{KubeBatch: {16000, 32 << 30}, Volcano: {6000, 32 << 30}} {
		s := newStage(t, rules, "")
		n := s.node("n1", 16)
		n.Status.Allocatable["memory"] = quantity("32Gi")
		s.group("j", "", 1, 0)
		s.tasks("j", 1, 6, "")[0].Spec.Containers[0].Resources.Requests["memory"] = quantity("60Gi")
		if diff := cmp.Diff(want, bare(s).byName["default"].deserved); diff != "" {
			t.Error(rules, diff)
		}
	}
}

// Example 4: overused means in every resource, and Volcano's allocatable looks at each resource that a task asks for.
func TestOverused(t *testing.T) {
	for rules, mayTake := range map[Rules]bool{KubeBatch: true, Volcano: false} {
		x := bare(newStage(t, rules, ""))
		q := x.byName["default"]
		q.deserved, q.allocated = amounts{6000, 24 << 30}, amounts{8000, 20 << 30}
		if by := x.overused(q); by != "" {
			t.Errorf("%s: overused by %s", rules, by)
		}
		if got := q.share(); got < 1.33 || got > 1.34 {
			t.Errorf("%s: share %v", rules, got)
		}
		one := &task{request: amounts{1000, 0}, job: &job{queue: q}}
		if by, _ := x.forbids(func(e *extension) func(*queue, *task) int { return e.allocatable }, one); (by == "") != mayTake {
			t.Errorf("%s: forbidden by %q", rules, by)
		}
	}
}

// Example 6: priority, then gang, drf last.
func TestJobOrder(t *testing.T) {
	s := newStage(t, KubeBatch, "")
	s.node("n1", 100)
	s.group("j1", "", 9, 10)
	s.tasks("j1", 5, 10, "n1")
	s.group("j2", "", 1, 10)
	s.tasks("j2", 1, 10, "n1")
	s.group("j3", "", 1, 20)
	s.tasks("j3", 9, 10, "n1")
	x := bare(s)
	jobs, got := x.jobs, ""
	for len(jobs) > 0 {
		var j *job
		j, jobs = first(jobs, x.compareJobs)
		got += " " + short(j.name)
	}
	if got != " j3 j1 j2" {
		t.Error(got)
	}
}

// Example 10: drf compares the preemptor's share with the task to the victim's without it.
func TestDRFVictims(t *testing.T) {
	s := newStage(t, KubeBatch, `{actions: preempt, tiers: [{plugins: [{name: drf}]}]}`)
	s.node("n1", 100)
	s.group("p", "", 1, 0)
	s.tasks("p", 1, 10, "n1")
	asking := s.tasks("p", 1, 10, "")[0]
	s.group("v", "", 1, 0)
	victims := s.tasks("v", 3, 10, "n1")
	x := bare(s)
	chosen, by := x.victims(preempting, x.tasks[asking], []*task{x.tasks[victims[0]], x.tasks[victims[1]]})
	if len(chosen) != 1 || chosen[0].pod != victims[0] || fmt.Sprint(by) != "[drf]" {
		t.Error(chosen, by)
	}
}

// A victim of conformance is never a part of the system.
func TestConformance(t *testing.T) {
	s := newStage(t, KubeBatch, `{actions: preempt, tiers: [{plugins: [{name: conformance}]}]}`)
	s.node("n1", 100)
	s.group("v", "", 1, 0)
	pods := s.tasks("v", 4, 1, "n1")
	pods[0].Spec.PriorityClassName = "system-node-critical"
	pods[1].Spec.PriorityClassName = "system-cluster-critical"
	pods[2].Namespace = "kube-system"
	x := bare(s)
	var all []*task
	for _, p := range pods {
		all = append(all, x.tasks[p])
	}
	for _, of := range []func(*extension) func(*task, []*task) []*task{preempting, reclaiming} {
		if chosen, _ := x.victims(of, all[0], all); len(chosen) != 1 || chosen[0].pod != pods[3] {
			t.Error(chosen)
		}
	}
}

// How the victims of several plugins and tiers combine.
func TestVictims(t *testing.T) {
	a, b, c := &task{name: "a"}, &task{name: "b"}, &task{name: "c"}
	offer := func(name string, victims ...*task) *extension {
		return &extension{name: name, preemptable: func(*task, []*task) []*task { return victims }}
	}
	none := &extension{name: "none"}
	for _, test := range []struct {
		name  string
		rules Rules
		tiers [][]*extension
		want  []string
	}{
		{"an intersection within a tier", KubeBatch, [][]*extension{{offer("x", a, b), offer("y", b, c)}}, []string{"b"}},
		{"a tier with victims ends it", KubeBatch, [][]*extension{{offer("x", a)}, {offer("y", b)}}, []string{"a"}},
		{"empty stays empty", KubeBatch, [][]*extension{{offer("x")}, {offer("y", b)}}, nil},
		{"a tier without a function does not count", KubeBatch, [][]*extension{{none}, {offer("y", b)}}, []string{"b"}},
		{"Volcano's next tier starts afresh", Volcano, [][]*extension{{offer("x")}, {offer("y", b)}}, []string{"b"}},
		{"Volcano replaces an intersection that became empty", Volcano, [][]*extension{{offer("x", a), offer("y", b), offer("z", c)}}, []string{"c"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := &session{cluster: &cluster{rules: test.rules}, tiers: test.tiers}
			victims, _ := x.victims(preempting, a, []*task{a, b, c})
			var got []string
			for _, v := range victims {
				got = append(got, v.name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
