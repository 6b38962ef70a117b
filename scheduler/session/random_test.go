package session

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// Under random load, whatever the dialect: pods are bound only with enough of their gang, no node is overcommitted, kube-batch reclaims
// no queue below what it deserves, and what queues deserve follows their weights.
func TestInvariantsUnderRandomLoad(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for _, rules := range Dialects {
		for seed := range uint64(rounds) {
			t.Run(fmt.Sprintf("%s/%d", rules, seed), func(t *testing.T) { testRandomly(t, rules, seed) })
		}
	}
}

func testRandomly(t *testing.T, rules Rules, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	actions := map[Rules]string{KubeBatch: "reclaim, allocate, backfill, preempt", Volcano: "enqueue, allocate, preempt, reclaim, backfill"}
	s := newStage(t, rules, fmt.Sprintf(`actions: %q
tiers:
- plugins: [{name: priority}, {name: gang, enableReclaimable: false}, {name: conformance, enableReclaimable: false}]
- plugins: [{name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}]
`, actions[rules]))
	for i := range 4 {
		s.node(fmt.Sprintf("n%d", i), 16)
	}
	queues := []string{"a", "b", "c"}
	for i, q := range queues {
		s.queue(q, int32(i+1))
	}
	for round := range 8 {
		name := fmt.Sprintf("j%d", round)
		count := 1 + random.IntN(6)
		s.group(name, queues[random.IntN(3)], int32(1+random.IntN(count)), []int32{10, 50, 100}[random.IntN(3)])
		s.tasks(name, count, float64(random.IntN(5)), "")
		out := s.run()
		checkInvariants(t, s, out)
		s.apply(out)
	}
}

func checkInvariants(t *testing.T, s *stage, out *Outcome) {
	t.Helper()
	up, least := map[string]int{}, map[string]int{}
	for _, g := range s.objects.Groups {
		least[g.Name] = int(g.Spec.MinMember)
	}
	used := map[string]float64{}
	count := func(p *v1.Pod, node string) {
		up[p.Annotations[GroupAnnotation]]++
		q := p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU]
		used[node] += q.AsApproximateFloat64()
	}
	for _, p := range s.pods {
		if p.Spec.NodeName != "" {
			count(p, p.Spec.NodeName)
		}
	}
	seen := map[string]bool{}
	for _, b := range out.Binds {
		if seen[b.Pod.Name] || b.Pod.Spec.NodeName != "" {
			t.Errorf("%s is bound twice", b.Pod.Name)
		}
		seen[b.Pod.Name] = true
		count(b.Pod, b.Node)
	}
	for _, b := range out.Binds {
		if job := b.Pod.Annotations[GroupAnnotation]; up[job] < least[job] {
			t.Errorf("%s is bound with %d of %d", b.Pod.Name, up[job], least[job])
		}
	}
	for node, cpu := range used {
		if cpu > 16.1 {
			t.Errorf("%s has %v of 16 CPUs", node, cpu)
		}
	}
	sum := 0.0
	for _, q := range out.Record.Queues {
		sum += q.Deserved[v1.ResourceCPU]
		reclaimed := false
		for _, e := range out.Evictions {
			reclaimed = reclaimed || e.Action == Reclaim && e.Group.Spec.Queue == q.Name
		}
		if s.rules == KubeBatch && reclaimed && q.After[v1.ResourceCPU] < q.Deserved[v1.ResourceCPU]-0.01 {
			t.Errorf("queue %s was reclaimed to %v, and deserves %v", q.Name, q.After, q.Deserved)
		}
	}
	if sum > out.Record.Total[v1.ResourceCPU]+0.1 {
		t.Errorf("the queues deserve %v of %v", sum, out.Record.Total)
	}
	// Queues that want more than they deserve share by their weights.
	var each float64
	for _, q := range out.Record.Queues {
		if q.Deserved == nil || q.Request[v1.ResourceCPU] <= q.Deserved[v1.ResourceCPU]+0.1 {
			continue
		}
		part := q.Deserved[v1.ResourceCPU] / float64(q.Weight)
		if each != 0 && math.Abs(each-part) > 0.05 {
			t.Errorf("queue %s deserves %v for each unit of its weight, another one %v", q.Name, part, each)
		}
		each = part
	}
}
