package admission

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

var load = flag.Duration("load", 0, "how long TestInvariantsUnderLoad draws new loads; 0 for a fixed number of them")

// TestInvariantsUnderLoad plays random loads on random trees of quota and checks after each step
// that nobody takes what is not theirs, and in the end that everything that could run has run.
func TestInvariantsUnderLoad(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 6
	}
	begin := time.Now()
	for seed := uint64(1); seed <= uint64(seeds) || time.Since(begin) < *load; seed++ {
		l := newRandomLoad(t, seed)
		l.play()
		if t.Failed() {
			t.Fatalf("seed %d; the latest steps:\n%s", seed, l.tail())
		}
	}
}

// TestSameCallsGiveTheSameRecords holds that nothing depends on the order of maps or on clocks.
func TestSameCallsGiveTheSameRecords(t *testing.T) {
	for seed := uint64(1); seed <= 4; seed++ {
		first, second := newRandomLoad(t, seed), newRandomLoad(t, seed)
		first.play()
		second.play()
		if diff := cmp.Diff(first.world.records, second.world.records); diff != "" {
			t.Fatalf("seed %d: two runs differ:\n%s", seed, diff)
		}
	}
}

// randomLoad is a world with random queues, on which random things happen.
type randomLoad struct {
	t     *testing.T
	world *world
	r     *rand.Rand
	// nodes are the tree as the test drew it, the root first.
	nodes   []*loadNode
	strict  map[string]bool
	flavors []string
	count   int
	steps   []string
	nodeCPU map[string]int
}

// loadNode is a Cohort or ClusterQueue as the test drew it, with cpu by flavor in cores.
type loadNode struct {
	name               string
	queue              bool
	parent             *loadNode
	nominal            map[string]int
	borrowing, lending map[string]int
}

func newRandomLoad(t *testing.T, seed uint64) *randomLoad {
	l := &randomLoad{t: t, world: newWorld(t), r: rand.New(rand.NewPCG(seed, 17)), strict: make(map[string]bool), nodeCPU: make(map[string]int)}
	if l.r.IntN(3) == 0 {
		l.do("settings fair")
	}
	topology := ""
	if l.r.IntN(4) == 0 {
		topology = "topology t"
		l.do("topology t rack hostname")
		for i := range 6 {
			cpu := 2 + l.r.IntN(6)
			name := fmt.Sprintf("n%d", i)
			l.nodeCPU[name] = cpu
			l.do("node %s %d rack=r%d", name, cpu, i/2)
		}
	}
	for i := range 1 + l.r.IntN(2) {
		flavor := fmt.Sprintf("f%d", i)
		l.flavors = append(l.flavors, flavor)
		l.do("flavor %s %s", flavor, topology)
	}
	root := &loadNode{name: "root"}
	l.nodes = append(l.nodes, root)
	l.drawQuota(root, 4)
	parents := []*loadNode{root}
	for i := range l.r.IntN(3) {
		c := &loadNode{name: fmt.Sprintf("c%d", i), parent: parents[l.r.IntN(len(parents))]}
		parents = append(parents, c)
		l.nodes = append(l.nodes, c)
		l.drawQuota(c, 4)
	}
	for i := range 2 + l.r.IntN(4) {
		q := &loadNode{name: fmt.Sprintf("q%d", i), queue: true, parent: parents[l.r.IntN(len(parents))]}
		l.nodes = append(l.nodes, q)
		l.drawQuota(q, 10)
	}
	return l
}

func (l *randomLoad) do(format string, arguments ...any) {
	line := strings.TrimSpace(fmt.Sprintf(format, arguments...))
	l.steps = append(l.steps, line)
	l.world.do(line)
}

func (l *randomLoad) tail() string {
	return strings.Join(l.steps, "\n") + "\n" + l.world.out.String()
}

func (l *randomLoad) one(options ...string) string { return options[l.r.IntN(len(options))] }

// drawQuota gives a node quota, limits and policies, and tells the world.
func (l *randomLoad) drawQuota(n *loadNode, most int) {
	n.nominal, n.borrowing, n.lending = make(map[string]int), make(map[string]int), make(map[string]int)
	var groups []string
	for _, flavor := range l.flavors {
		n.nominal[flavor] = l.r.IntN(most)
		text := fmt.Sprintf("%s:%d", flavor, n.nominal[flavor])
		if n.parent != nil && l.r.IntN(3) == 0 {
			n.borrowing[flavor] = l.r.IntN(6)
			text += fmt.Sprintf("/+%d", n.borrowing[flavor])
		}
		if n.parent != nil && l.r.IntN(3) == 0 {
			n.lending[flavor] = l.r.IntN(n.nominal[flavor] + 1)
			text += fmt.Sprintf("/-%d", n.lending[flavor])
		}
		groups = append(groups, text)
	}
	quotas := strings.Join(groups, " ")
	if !n.queue {
		parent := ""
		if n.parent != nil {
			parent = "parent=" + n.parent.name
		}
		l.do("cohort %s %s weight=%s %s", n.name, parent, l.one("1", "2", "0"), quotas)
		return
	}
	options := []string{
		"within=" + l.one("Never", "LowerPriority", "LowerOrNewerEqualPriority"),
		"whenCanBorrow=" + l.one("MayStopSearch", "TryNextFlavor"),
		"whenCanPreempt=" + l.one("MayStopSearch", "TryNextFlavor"),
		"weight=" + l.one("1", "3", "0"),
	}
	reclaim := l.one("Never", "LowerPriority", "Any")
	options = append(options, "reclaim="+reclaim)
	if reclaim != "Never" && l.r.IntN(2) == 0 {
		options = append(options, "bwc=LowerPriority")
	}
	if l.r.IntN(3) == 0 {
		l.strict[n.name] = true
		options = append(options, "StrictFIFO")
	}
	l.do("cq %s co=%s %s %s", n.name, n.parent.name, strings.Join(options, " "), quotas)
}

func (l *randomLoad) play() {
	for range 120 {
		l.step()
		if l.t.Failed() {
			return
		}
	}
	l.drain()
}

func (l *randomLoad) step() {
	switch l.r.IntN(6) {
	case 0, 1:
		l.count++
		var queues []string
		for _, n := range l.nodes {
			if n.queue {
				queues = append(queues, n.name)
			}
		}
		shape := fmt.Sprintf("%dx%d", 1+l.r.IntN(4), 1+l.r.IntN(4))
		if l.r.IntN(4) == 0 {
			shape += ">=1"
		}
		level := ""
		if len(l.nodeCPU) > 0 && l.r.IntN(2) == 0 {
			level = l.one("required=rack", "preferred=hostname", "unconstrained")
		}
		l.do("wl w%d %s %s @%d %s", l.count, l.one(queues...), shape, l.r.IntN(4), level)
	case 2:
		if held := l.names(l.runs); len(held) > 0 {
			l.do("finish %s", held[l.r.IntN(len(held))])
		}
	case 3:
		if waiting := l.names(l.waits); len(waiting) > 0 && l.r.IntN(4) == 0 {
			l.do("delete %s", waiting[l.r.IntN(len(waiting))])
		}
	case 4:
		if l.r.IntN(2) == 0 {
			l.do("settle")
		}
	}
	l.cycle()
	l.check()
}

func (l *randomLoad) names(pick func(*kueue.Workload) bool) []string {
	var names []string
	for name, o := range l.world.objects {
		if pick(o) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (l *randomLoad) finished(o *kueue.Workload) bool {
	return meta.IsStatusConditionTrue(o.Status.Conditions, kueue.WorkloadFinished)
}

func (l *randomLoad) holds(o *kueue.Workload) bool {
	return meta.IsStatusConditionTrue(o.Status.Conditions, kueue.WorkloadQuotaReserved) && !l.finished(o)
}

// runs are the workloads that hold quota and are not being evicted.
func (l *randomLoad) runs(o *kueue.Workload) bool {
	return l.holds(o) && !meta.IsStatusConditionTrue(o.Status.Conditions, kueue.WorkloadEvicted)
}

func (l *randomLoad) waits(o *kueue.Workload) bool { return !l.holds(o) && !l.finished(o) }

// cycle runs one and checks that nobody overtakes in a StrictFIFO queue.
func (l *randomLoad) cycle() {
	first := make(map[string]*kueue.Workload)
	for _, name := range l.names(l.waits) {
		o := l.world.objects[name]
		if best := first[string(o.Spec.QueueName)]; best == nil || *o.Spec.Priority > *best.Spec.Priority ||
			*o.Spec.Priority == *best.Spec.Priority && o.CreationTimestamp.Before(&best.CreationTimestamp) {
			first[string(o.Spec.QueueName)] = o
		}
	}
	before := len(l.world.records)
	l.do("cycle")
	if len(l.world.records) == before {
		return
	}
	for _, h := range l.world.records[before].Heads {
		if l.strict[h.ClusterQueue] && h.Workload.Name != first[h.ClusterQueue].Name {
			l.t.Errorf("%s overtakes %s in the StrictFIFO queue %s", h.Workload.Name, first[h.ClusterQueue].Name, h.ClusterQueue)
		}
	}
}

// check recomputes the usage from the objects and holds it against the tree that the test drew.
func (l *randomLoad) check() {
	l.t.Helper()
	used := make(map[string]map[string]int)
	onNode := make(map[string]int)
	for _, name := range l.names(l.holds) {
		admission := l.world.objects[name].Status.Admission
		at := used[string(admission.ClusterQueue)]
		if at == nil {
			at = make(map[string]int)
			used[string(admission.ClusterQueue)] = at
		}
		for _, assigned := range admission.PodSetAssignments {
			cpu := assigned.ResourceUsage["cpu"]
			at[string(assigned.Flavors["cpu"])] += int(cpu.Value())
			if assigned.TopologyAssignment != nil {
				for _, d := range Domains(assigned.TopologyAssignment) {
					onNode[d.Values[0]] += int(cpu.Value()) / int(*assigned.Count) * int(d.Pods)
				}
			}
		}
	}
	for name, cpu := range onNode {
		if cpu > l.nodeCPU[name] {
			l.t.Errorf("node %s has %d and %d are taken", name, l.nodeCPU[name], cpu)
		}
	}
	for _, flavor := range l.flavors {
		l.checkTree(l.nodes[0], flavor, used)
	}
	for _, n := range l.world.state.Quotas() {
		for _, r := range n.Resources {
			if n.ClusterQueue != "" && r.Used != int64(1000*used[n.ClusterQueue][r.Flavor]) {
				l.t.Errorf("%s uses %d of %s, the State says %d", n.ClusterQueue, 1000*used[n.ClusterQueue][r.Flavor], r.Flavor, r.Used)
			}
		}
	}
}

// checkTree returns what a node takes of its parent's quota, and what it offers its parent.
func (l *randomLoad) checkTree(n *loadNode, flavor string, used map[string]map[string]int) (takes, offers int) {
	l.t.Helper()
	taken, quota := used[n.name][flavor], n.nominal[flavor]
	for _, child := range l.nodes {
		if child.parent != n {
			continue
		}
		t, o := l.checkTree(child, flavor, used)
		taken, quota = taken+t, quota+o
	}
	if limit, limited := n.borrowing[flavor]; limited && taken > quota+limit {
		l.t.Errorf("%s takes %d of %s, more than %d and the borrowing limit %d", n.name, taken, flavor, quota, limit)
	}
	if n.parent == nil && taken > quota {
		l.t.Errorf("the cohort takes %d of %s, more than the %d that its members lend", taken, flavor, quota)
	}
	kept := 0
	if limit, limited := n.lending[flavor]; limited {
		kept = max(0, quota-limit)
	}
	return max(0, taken-kept), quota - kept
}

// drain lets everything finish, and holds that nothing that could run is left and that all quota
// is back.
func (l *randomLoad) drain() {
	for range 20 * (l.count + 1) {
		l.cycle()
		l.check()
		if l.t.Failed() {
			return
		}
		l.do("settle")
		// One workload finishes per cycle. If none did, workloads that reclaim from each other
		// could go on evicting for ever, in Kueue as well.
		if held := l.names(l.runs); len(held) > 0 {
			l.do("finish %s", held[l.r.IntN(len(held))])
			continue
		}
		if l.quiet() {
			break
		}
	}
	for _, name := range l.names(l.waits) {
		o := l.world.objects[name]
		c := meta.FindStatusCondition(o.Status.Conditions, kueue.WorkloadQuotaReserved)
		behind := l.strict[string(o.Spec.QueueName)]
		if c == nil && !behind && !l.parkedAlong(name) || c != nil && c.Reason != reasonExceedsMaxQuota && c.Reason != reasonTopologyPlacementFailed && !behind {
			l.t.Errorf("%s starves in %s: %+v", name, o.Spec.QueueName, c)
		}
	}
	if held := l.names(l.holds); len(held) > 0 {
		l.t.Errorf("%v still hold quota", held)
	}
	for _, n := range l.world.state.Quotas() {
		for _, r := range n.Resources {
			if r.Used != 0 {
				l.t.Errorf("%s%s still uses %d of %s", n.ClusterQueue, n.Cohort, r.Used, r.Flavor)
			}
		}
	}
}

// quiet reports whether no workload is left to try, apart from the heads of StrictFIFO queues.
func (l *randomLoad) quiet() bool {
	l.world.state.flushed(l.world.now)
	for name, q := range l.world.state.queues {
		if len(q.active) > 0 && !l.strict[name] {
			return false
		}
	}
	record := l.world.state.Clone().Cycle(l.world.now)
	return record == nil || len(record.Decisions) == 0
}

// parkedAlong reports whether an equal workload was refused for good.
func (l *randomLoad) parkedAlong(name string) bool {
	p, _ := l.world.pending(name)
	return p.Parked && (p.Condition == reasonExceedsMaxQuota || p.Condition == reasonTopologyPlacementFailed)
}
