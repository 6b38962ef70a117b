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

// Under random load with preemption, no job falls below its minimum. kube-batch judges each victim alone, so one task that needs the room of
// several may take a job below it, and a job of minimum 1 always gives way.
func TestPreemptionLeavesTheMinimum(t *testing.T) {
	below, seeds := 0, uint64(20)
	if testing.Short() {
		seeds = 3
	}
	for _, rules := range Dialects {
		for seed := range seeds {
			random := rand.New(rand.NewPCG(seed, 2))
			s := newStage(t, rules, `{actions: "allocate, preempt", tiers: [{plugins: [{name: priority}, {name: gang}]}, {plugins: [{name: predicates}, {name: nodeorder}]}]}`)
			for i := range 2 {
				s.node(fmt.Sprintf("n%d", i), 8)
			}
			for round := range 6 {
				name, count := fmt.Sprintf("j%d", round), 1+random.IntN(5)
				s.group(name, "", int32(1+random.IntN(count)), []int32{10, 20, 50, 100}[min(3, round)])
				s.tasks(name, count, float64(1+random.IntN(4)), "")
				before := upOf(s)
				out := s.run()
				// taken are the victims of a job, by the pod that gets their room.
				taken := map[string]map[string]int{}
				for _, e := range out.Evictions {
					if taken[e.Group.Name] == nil {
						taken[e.Group.Name] = map[string]int{}
					}
					taken[e.Group.Name][e.For.Name]++
				}
				s.apply(out)
				after := upOf(s)
				for _, g := range s.objects.Groups {
					least := int(g.Spec.MinMember)
					if before[g.Name] < least || after[g.Name] >= least || taken[g.Name] == nil {
						continue
					}
					below++
					together := 0
					for _, n := range taken[g.Name] {
						together = max(together, n)
					}
					if rules == Volcano || least > 1 && together < 2 {
						t.Errorf("%s, seed %d: %s needs %d and is left with %d of %d\n%s", rules, seed, g.Name, least, after[g.Name], before[g.Name], transcript(out))
					}
				}
			}
		}
	}
	if below == 0 {
		t.Error("no load shows kube-batch's exceptions: it is too light")
	}
}

// upOf counts the pods of each group that have a node.
func upOf(s *stage) map[string]int {
	up := map[string]int{}
	for _, p := range s.pods {
		if p.Spec.NodeName != "" {
			up[p.Annotations[GroupAnnotation]]++
		}
	}
	return up
}

// However the queues begin, they come to hold what their weights give them. Volcano reclaims for jobs below their minimum only, so each task is
// a job.
func TestSharesConvergeToWeights(t *testing.T) {
	for _, rules := range Dialects {
		holders := []string{"a", "b", "c"}
		if testing.Short() {
			holders = holders[:1]
		}
		for _, holder := range holders {
			s := newStage(t, rules, `{actions: "allocate, reclaim", tiers: [{plugins: [{name: gang, enableReclaimable: false}]}, {plugins: [{name: predicates}, {name: proportion}, {name: nodeorder}]}]}`)
			for i := range 4 {
				s.node(fmt.Sprintf("n%d", i), 6)
			}
			for i, q := range []string{"a", "b", "c"} {
				s.queue(q, int32(i+1))
				for j := range 24 {
					name, on := fmt.Sprintf("%s%d", q, j), ""
					if q == holder {
						on = fmt.Sprintf("n%d", j%4)
					}
					s.group(name, q, 1, 0)
					s.tasks(name, 1, 1, on)
				}
			}
			var shares map[string]float64
			for range 20 {
				out := s.run()
				shares = map[string]float64{}
				for _, q := range out.Record.Queues {
					shares[q.Name] = q.Before[v1.ResourceCPU]
				}
				s.apply(out)
				for _, e := range out.Evictions { // their controllers create new pods
					s.tasks(e.Group.Name, 1, 1, "")
					again := s.pods[len(s.pods)-1]
					again.Name = fmt.Sprintf("%s-%d", e.Group.Name, s.number)
				}
			}
			for i, q := range []string{"a", "b", "c"} {
				if want := float64(4 * (i + 1)); math.Abs(shares[q]-want) > 1 {
					t.Errorf("%s, all held by %s at first: queue %s holds %v CPUs, want %v", rules, holder, q, shares[q], want)
				}
			}
		}
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
