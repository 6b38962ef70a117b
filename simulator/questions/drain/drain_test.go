package drain_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/questions/answertest"
	"kube-scheduler-simulator/simulator/questions/drain"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

func node(name, zone, cpu string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Node
metadata: {name: %s, labels: {kubernetes.io/hostname: %[1]s, topology.kubernetes.io/zone: %s}}
status: {capacity: {cpu: %[3]q, pods: "20"}, allocatable: {cpu: %[3]q, pods: "20"}, conditions: [{type: Ready, status: "True"}]}
---`, name, zone, cpu)
}

// pod writes a pod on a node. owner is "ReplicaSet web", or empty; spec are further lines of its spec.
func pod(name, on, app, owner, cpu string, spec ...string) string {
	references := ""
	if kind, of, owned := strings.Cut(owner, " "); owned {
		references = fmt.Sprintf("ownerReferences: [{apiVersion: apps/v1, kind: %s, name: %s, uid: u-%s, controller: true}]", kind, of, of)
	}
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata:
  name: %s
  labels: {app: %s}
  %s
spec:
  nodeName: %q
  containers: [{name: c, image: i, resources: {requests: {cpu: %q}}}]
  %s
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
---`, name, app, references, on, cpu, strings.Join(spec, "\n  "))
}

func budget(app, rule string) string {
	return fmt.Sprintf(`
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: %s}
spec: {selector: {matchLabels: {app: %[1]s}}, %s}
---`, app, rule)
}

func ask(t *testing.T, state string, q drain.Question) (*drain.Answer, error) {
	t.Helper()
	return answertest.Open(t, state).Drain(t.Context(), q)
}

// transcript is an answer in a few words.
func transcript(a *drain.Answer) string {
	var b strings.Builder
	at := func(n *int) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	for _, n := range a.Nodes {
		fmt.Fprintf(&b, "%s %s %s..%s stay %d\n", n.Name, n.Outcome, at(n.Begins), at(n.Ends), n.Stay)
	}
	for _, e := range a.Evictions {
		fmt.Fprintf(&b, "%s asked %d evicted %s %s %s ready %s", e.Name, e.Asked, at(e.Evicted), e.Fate, e.To, at(e.Ready))
		if e.Budget != "" {
			fmt.Fprintf(&b, " budget %s", e.Budget)
		}
		if e.Preempted {
			b.WriteString(" preempted")
		}
		b.WriteString("\n")
	}
	for _, budget := range a.Budgets {
		fmt.Fprintf(&b, "%s %d of %d %v\n", budget.Name, budget.Desired, budget.Expected, budget.Steps)
	}
	return b.String()
}

func TestDrain(t *testing.T) {
	two := node("a", "za", "4") + node("b", "zb", "4")
	const rs, ss = "ReplicaSet web", "StatefulSet db"
	for name, tc := range map[string]struct {
		state string
		q     drain.Question
		want  string
	}{
		"all fit": {two + pod("w1", "a", "web", rs, "1") + pod("w2", "a", "web", rs, "1"), drain.Question{Nodes: []string{"a"}},
			"a emptied 0..1 stay 0\nw1 asked 0 evicted 0 moves b ready 10\nw2 asked 0 evicted 0 moves b ready 10\n"},
		"a budget of one at a time": {two + pod("w1", "a", "web", rs, "1") + pod("w2", "a", "web", rs, "1") + budget("web", "maxUnavailable: 1"), drain.Question{Nodes: []string{"a"}},
			// kubectl asks again every 5 s; the first replacement is ready after 10 s.
			"a emptied 0..11 stay 0\nw1 asked 0 evicted 0 moves b ready 10\nw2 asked 0 evicted 10 moves b ready 20 budget default/web\nweb 1 of 2 [{0 0} {20 1}]\n"},
		"a budget that allows none": {two + pod("w1", "a", "web", rs, "1") + budget("web", "minAvailable: 1"), drain.Question{Nodes: []string{"a", "b"}},
			"a stuck 0..- stay 0\nb notReached -..- stay 0\nw1 asked 0 evicted - blocked  ready - budget default/web\nweb 1 of 1 [{0 0}]\n"},
		"given up": {two + pod("w1", "a", "web", rs, "1") + pod("x", "b", "x", "ReplicaSet x", "1") + budget("web", "minAvailable: 1"), drain.Question{Nodes: []string{"a", "b"}, TimeoutSeconds: 12},
			"a givenUp 0..12 stay 0\nb emptied 12..13 stay 0\nw1 asked 0 evicted - blocked  ready - budget default/web\nx asked 12 evicted 12 pending  ready -\nweb 1 of 1 [{0 0}]\n"},
		"two budgets": {two + pod("w1", "a", "web", rs, "1") + budget("web", "maxUnavailable: 1") + strings.Replace(budget("web", "maxUnavailable: 1"), "name: web", "name: more", 1), drain.Question{Nodes: []string{"a"}},
			"a givenUp 0..0 stay 0\nw1 asked 0 evicted - blocked  ready -\n"},
		"a StatefulSet waits until the pod has gone": {two + pod("db-0", "a", "db", ss, "1"), drain.Question{Nodes: []string{"a"}, StopSeconds: 30},
			"a emptied 0..30 stay 0\ndb-0 asked 0 evicted 0 moves b ready 40\n"},
		"nobody creates a bare pod again": {two + pod("bare", "a", "x", "", "1"), drain.Question{Nodes: []string{"a"}, Force: true},
			"a emptied 0..1 stay 0\nbare asked 0 evicted 0 gone  ready -\n"},
		"kubectl refuses a bare pod":    {two + pod("bare", "a", "x", "", "1") + pod("w1", "a", "web", rs, "1"), drain.Question{Nodes: []string{"a"}}, "a refused 0..0 stay 2\n"},
		"kubectl refuses an emptyDir":   {two + pod("w1", "a", "web", rs, "1", "volumes: [{name: v, emptyDir: {}}]"), drain.Question{Nodes: []string{"a"}}, "a refused 0..0 stay 1\n"},
		"kubectl refuses a DaemonSet's": {two + daemonSet + pod("d", "a", "d", "DaemonSet agent", "1"), drain.Question{Nodes: []string{"a"}}, "a refused 0..0 stay 1\n"},
		"a DaemonSet's pod stays": {two + daemonSet + pod("d", "a", "d", "DaemonSet agent", "1") + pod("w1", "a", "web", rs, "1"), drain.Question{Nodes: []string{"a"}, IgnoreDaemonSets: true},
			"a emptied 0..1 stay 1\nw1 asked 0 evicted 0 moves b ready 10\n"},
		"pods that are not selected stay": {two + pod("w1", "a", "web", rs, "1") + pod("x", "a", "x", "ReplicaSet x", "1"), drain.Question{Nodes: []string{"a"}, PodSelector: "app=x"},
			"a emptied 0..1 stay 1\nx asked 0 evicted 0 moves b ready 10\n"},
		"no room": {two + pod("w1", "a", "web", rs, "3") + pod("x", "b", "x", "ReplicaSet x", "2"), drain.Question{Nodes: []string{"a"}},
			"a emptied 0..1 stay 0\nw1 asked 0 evicted 0 pending  ready -\n"},
		"a zone": {two + node("c", "za", "4") + pod("w1", "a", "web", rs, "1") + pod("w2", "c", "web", rs, "1"), drain.Question{Selector: "topology.kubernetes.io/zone=za"},
			// All are cordoned at first, so nothing lands on c.
			"a emptied 0..1 stay 0\nc emptied 1..2 stay 0\nw1 asked 0 evicted 0 moves b ready 10\nw2 asked 1 evicted 1 moves b ready 11\n"},
		"both at once": {two + node("c", "za", "4") + pod("w1", "a", "web", rs, "1") + pod("w2", "b", "web", rs, "1"), drain.Question{Nodes: []string{"a", "b"}, AtOnce: 2},
			"a emptied 0..1 stay 0\nb emptied 0..1 stay 0\nw1 asked 0 evicted 0 moves c ready 10\nw2 asked 0 evicted 0 moves c ready 10\n"},
		"a replacement preempts": {high + two + pod("w1", "a", "web", rs, "3", "priorityClassName: high") + pod("x", "b", "x", "ReplicaSet x", "2"), drain.Question{Nodes: []string{"a"}},
			"a emptied 0..1 stay 0\nw1 asked 0 evicted 0 moves b ready 11\nx asked 0 evicted 0 pending  ready - preempted\n"},
		"an unready pod that a healthy budget lets go": {two + pod("w1", "b", "web", rs, "1") + strings.Replace(pod("w2", "a", "web", rs, "1"), `status: "True"`, `status: "False"`, 1) + budget("web", "minAvailable: 1"), drain.Question{Nodes: []string{"a"}},
			"a emptied 0..1 stay 0\nw2 asked 0 evicted 0 moves b ready 10\nweb 1 of 2 [{0 0} {10 1}]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ask(t, tc.state, tc.q)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, transcript(got)); diff != "" {
				t.Errorf("%s\n%s", diff, got.Sentence)
			}
		})
	}
}

const (
	daemonSet = "\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: default}\nspec: {selector: {matchLabels: {app: d}}, template: {metadata: {labels: {app: d}}, spec: {containers: [{name: c, image: i}]}}}\n---"
	high      = "\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 100\n---"
)

func TestBadQuestions(t *testing.T) {
	state := node("a", "za", "4")
	for want, q := range map[string]drain.Question{
		"want one of nodes, a selector and a number of the dearest": {},
		"there is no node b": {Nodes: []string{"b"}},
		"a is named twice":   {Nodes: []string{"a", "a"}},
		"no node has x=y":    {Selector: "x=y"},
		"selector:":          {Selector: "=="},
		"podSelector:":       {Nodes: []string{"a"}, PodSelector: "=="},
		"timeoutSeconds:":    {Nodes: []string{"a"}, TimeoutSeconds: -1},
		"atOnce:":            {Nodes: []string{"a"}, AtOnce: -1},
	} {
		_, err := ask(t, state, q)
		if _, refused := err.(*hypothesis.Refused); !refused || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestBudgetsHold: in random drains no budget is ever exceeded, every pod has one fate, replacements fit, and the same question has the same
// answer.
func TestBudgetsHold(t *testing.T) {
	seeds := uint64(100)
	if testing.Short() {
		seeds = 25
	}
	fates, outcomes := map[drain.Fate]int{}, map[drain.NodeOutcome]int{}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 3))
		state, nodes := "", 3+random.IntN(3)
		for i := range nodes {
			state += node(fmt.Sprintf("n%d", i), fmt.Sprintf("z%d", i%2), "4")
		}
		on := map[string]string{}
		for i := range 4 + random.IntN(8) {
			app := []string{"a", "b", "c"}[random.IntN(3)]
			name, at := fmt.Sprintf("%s-%d", app, i), fmt.Sprintf("n%d", random.IntN(nodes))
			on[name] = at
			state += pod(name, at, app, []string{"ReplicaSet " + app, "StatefulSet " + app}[len(app+name)%2], []string{"500m", "1"}[random.IntN(2)])
		}
		for _, app := range []string{"a", "b"} {
			state += budget(app, []string{"maxUnavailable: 1", "minAvailable: 1", "minAvailable: 50%", "maxUnavailable: 0"}[random.IntN(4)])
		}
		q := drain.Question{AtOnce: 1 + random.IntN(2), TimeoutSeconds: random.IntN(2) * 60}
		for i := range 1 + random.IntN(nodes-1) {
			q.Nodes = append(q.Nodes, fmt.Sprintf("n%d", i))
		}
		got, err := ask(t, state, q)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		again, _ := ask(t, state, q)
		if diff := cmp.Diff(transcript(got), transcript(again)); diff != "" {
			t.Fatalf("seed %d: the same question has another answer:\n%s", seed, diff)
		}
		asked := map[string]bool{}
		for _, e := range got.Evictions {
			fates[e.Fate]++
			if asked[e.Name] {
				t.Errorf("seed %d: %s is evicted twice", seed, e.Name)
			}
			asked[e.Name] = true
			if e.Node != on[e.Name] {
				t.Errorf("seed %d: %s was on %s, not %s", seed, e.Name, on[e.Name], e.Node)
			}
			for _, n := range q.Nodes {
				if e.To == n {
					t.Errorf("seed %d: the replacement of %s lands on %s, which is drained", seed, e.Name, n)
				}
			}
			if (e.Fate == drain.Moves) != (e.To != "") || (e.Fate == drain.Blocked) != (e.Evicted == nil) {
				t.Errorf("seed %d: %s %s to %q evicted %v", seed, e.Name, e.Fate, e.To, e.Evicted)
			}
		}
		for _, n := range got.Nodes {
			outcomes[n.Outcome]++
			for name, at := range on {
				if at == n.Name && n.Outcome == drain.Emptied && !asked[name] {
					t.Errorf("seed %d: %s is empty, and %s was never evicted", seed, n.Name, name)
				}
			}
		}
		healthyAt(t, seed, state, got)
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, transcript(got))
		}
	}
	t.Log(fates, outcomes)
	for _, o := range []drain.NodeOutcome{drain.Emptied, drain.GivenUp, drain.Stuck, drain.NotReached} {
		if outcomes[o] == 0 {
			t.Errorf("no node was %s", o)
		}
	}
}

// healthyAt counts the healthy pods of each budget from the evictions alone: one is lost when a pod is evicted, and comes back when its
// replacement is ready. An eviction never takes the number below what the budget demands.
func healthyAt(t *testing.T, seed uint64, state string, a *drain.Answer) {
	for _, b := range a.Budgets {
		there := strings.Count(state, "labels: {app: "+b.Name+"}")
		for _, e := range a.Evictions {
			if !strings.HasPrefix(e.Name, b.Name+"-") || e.Evicted == nil {
				continue
			}
			healthy := there
			for _, o := range a.Evictions {
				if strings.HasPrefix(o.Name, b.Name+"-") && o.Evicted != nil && *o.Evicted <= *e.Evicted && (o.Ready == nil || *o.Ready > *e.Evicted) {
					healthy--
				}
			}
			if healthy < b.Desired {
				t.Errorf("seed %d: when %s is evicted, %d pods of %s are healthy, and %d are to be", seed, e.Name, healthy, b.Name, b.Desired)
			}
		}
	}
}

// priced is a node with a price in dollars per hour.
func priced(name, cpu, price string) string {
	return strings.Replace(node(name, "zone-a", cpu), "labels: {", fmt.Sprintf("labels: {eks-node-viewer/instance-price: %q, ", price), 1)
}

// TestCost: what the nodes cost before and after, and nothing without a price.
func TestCost(t *testing.T) {
	state := priced("dear", "2", "1.5") + priced("cheap", "2", "0.25") + node("own", "zone-a", "2") + pod("web-1", "dear", "web", "ReplicaSet web", "1")
	a, err := ask(t, state, drain.Question{Nodes: []string{"dear"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := (drain.Cost{BeforePerHour: 1.75, AfterPerHour: 0.25, Unpriced: 1}); a.Cost == nil || *a.Cost != want {
		t.Errorf("%+v, want %+v", a.Cost, want)
	}
	if !strings.HasSuffix(a.Sentence, "It saves $1.5 an hour.") {
		t.Error(a.Sentence)
	}
	if a, err = ask(t, node("own", "zone-a", "2"), drain.Question{Nodes: []string{"own"}}); err != nil || a.Cost != nil {
		t.Errorf("without a price: %+v %v", a.Cost, err)
	}
}

// TestDearest: the dearest nodes that can be emptied together, and why not the others.
func TestDearest(t *testing.T) {
	// bare's pod would be lost; of the two that cost a dollar, the emptier one goes, and then there is no room for the other's pods.
	state := priced("bare", "4", "9") + pod("lone", "bare", "lone", "", "4") +
		priced("full", "2", "1") + pod("web-1", "full", "web", "ReplicaSet web", "1") + pod("web-2", "full", "web", "ReplicaSet web", "1") +
		priced("half", "2", "1") + pod("web-3", "half", "web", "ReplicaSet web", "2") +
		priced("cheap", "2", "0.5") + node("own", "zone-a", "1")
	a, err := ask(t, state, drain.Question{Dearest: 3, Force: true})
	if err != nil {
		t.Fatal(err)
	}
	var nodes, passed []string
	for _, n := range a.Nodes {
		nodes = append(nodes, n.Name+" "+string(n.Outcome))
	}
	for _, p := range a.Passed {
		passed = append(passed, p.Node)
	}
	if diff := cmp.Diff([]string{"half emptied"}, nodes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"bare", "full", "cheap"}, passed); diff != "" {
		t.Error(diff)
	}
	if a.Summary.Pending+a.Summary.Gone > 0 || a.Cost.BeforePerHour-a.Cost.AfterPerHour != 1 {
		t.Errorf("%+v %+v", a.Summary, a.Cost)
	}
	if _, err := ask(t, node("own", "zone-a", "2"), drain.Question{Dearest: 1}); err == nil || !strings.Contains(err.Error(), "no node has a price") {
		t.Errorf("without a price: %v", err)
	}
	if _, err := ask(t, state, drain.Question{Dearest: 1, Nodes: []string{"own"}}); err == nil {
		t.Error("both nodes and a number of the dearest are accepted")
	}
}
