package flow

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const gi = 1 << 30

func size(cpu float64) Resources { return Resources{int64(cpu * 1000), int64(cpu * 4 * gi)} }

func machine(name string, cpu, used float64) Machine {
	return Machine{Name: name, Capacity: size(cpu), Allocatable: size(cpu), Requested: size(used), MaxPods: 110, MaxTasks: 50}
}

func everywhere(machines int) []ClassArc {
	var out []ClassArc
	for m := range machines {
		out = append(out, ClassArc{Machine: m})
	}
	return out
}

// drawn is the problem of the worked example 3.
func drawn(model Model) *Problem {
	p := &Problem{Model: model, Machines: []Machine{machine("node-1", 16, 8), machine("node-2", 16, 6), machine("node-3", 16, 12), machine("node-4", 16, 7)}}
	p.Classes = []Class{{Name: "map", Request: size(4), Arcs: everywhere(4)}, {Name: "index", Request: size(4), Arcs: []ClassArc{{Machine: 0}}}}
	p.Jobs = []Job{{Name: "map"}, {Name: "index"}}
	for i := range 4 {
		p.Tasks = append(p.Tasks, Task{Name: fmt.Sprintf("map-%d", i), On: -1})
	}
	for i := range 2 {
		p.Tasks = append(p.Tasks, Task{Name: fmt.Sprintf("index-%d", i), Job: 1, Class: 1, On: -1})
	}
	return p
}

// costs returns what the tasks cost, sorted within a job.
func costs(s *Solution) map[string][]int64 {
	out := map[string][]int64{}
	for _, p := range s.Placements {
		out[p.Job] = append(out[p.Job], p.Cost)
	}
	for _, c := range out {
		slices.Sort(c)
	}
	return out
}

func TestExamples(t *testing.T) {
	octopus := func() *Problem {
		p := &Problem{Model: Octopus, Classes: []Class{{Name: "c", Arcs: everywhere(3)}}, Jobs: []Job{{Name: "j"}}}
		for i, running := range []int{2, 0, 1} {
			p.Machines = append(p.Machines, Machine{Name: fmt.Sprintf("m%d", i+1), Running: running, MaxTasks: 10 + running})
		}
		p.Tasks = []Task{{Name: "a", On: -1}, {Name: "b", On: -1}}
		return p
	}
	one := func(model Model, preemption bool) *Problem {
		return &Problem{
			Model: model, Preemption: preemption, Machines: []Machine{{Name: "m", Running: 1, MaxTasks: 1}},
			Classes: []Class{{Name: "c", Arcs: everywhere(1)}}, Jobs: []Job{{Name: "L"}, {Name: "N"}},
			Tasks: []Task{{Name: "L", On: 0}, {Name: "N", Job: 1, On: -1}},
		}
	}
	gang := func(least int) *Problem {
		p := &Problem{Model: CPUMem, Classes: []Class{{Name: "c", Request: size(1.2), Arcs: everywhere(3)}}, Jobs: []Job{{Name: "j", Least: least}}}
		for i := range 3 {
			p.Machines = append(p.Machines, machine(fmt.Sprintf("m%d", i), 1.2, 0))
		}
		for i := range 4 {
			p.Tasks = append(p.Tasks, Task{Name: fmt.Sprintf("t%d", i), On: -1})
		}
		return p
	}
	type want struct {
		Cost   int64
		Deltas []Delta
	}
	trivial := one(Trivial, false)
	trivial.Machines[0].Running, trivial.Tasks[0].On = 0, -1
	pinned := one(Trivial, false)
	pinned.Tasks = pinned.Tasks[1:]
	for _, test := range []struct {
		name    string
		problem *Problem
		want    want
	}{
		{"1: OCTOPUS sends all of a round to the least loaded machine", octopus(), want{2, []Delta{Place, Place}}},
		{"2: TRIVIAL, one slot and two tasks", trivial, want{5, []Delta{Place, Wait}}},
		{"3: CPU-MEM", drawn(CPUMem), want{6748, []Delta{Place, Place, Place, Place, Place, Place}}},
		{"3: with the constant", drawn(CPUMemV1), want{12748, []Delta{Place, Place, Place, Place, Place, Place}}},
		{"4: version 2", drawn(CPUMemV2), want{2_572_624, []Delta{Place, Place, Place, Place, Place, Wait}}},
		{"5: TRIVIAL reroutes the running task", one(Trivial, true), want{0, []Delta{Preempt, Place}}},
		{"5: without preemption it is pinned", pinned, want{5, []Delta{Wait}}},
		{"5: OCTOPUS does not", one(Octopus, true), want{1_000_100, []Delta{Keep, Wait}}},
		{"6: three of four are enough", gang(3), want{2_560_000, []Delta{Place, Place, Place, Wait}}},
		{"6: four are needed", gang(4), want{2_560_000, []Delta{NoOp, NoOp, NoOp, Wait}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := test.problem.Solve(t.Context())
			got := want{Cost: s.Cost}
			sum := int64(0)
			for _, p := range s.Placements {
				got.Deltas = append(got.Deltas, p.Delta)
				sum += p.Cost
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if sum != s.Cost {
				t.Errorf("the tasks cost %d, the flow %d", sum, s.Cost)
			}
		})
	}
	if diff := cmp.Diff(map[string][]int64{"map": {750, 874, 1250, 1374}, "index": {1000, 1500}}, costs(drawn(CPUMem).Solve(t.Context()))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string][]int64{"map": {2375, 2437, 2625, 2687}, "index": {2500, 2_560_000}}, costs(drawn(CPUMemV2).Solve(t.Context()))); diff != "" {
		t.Error(diff)
	}
}

// The worked examples of the optimality gap.
func TestGap(t *testing.T) {
	small := &Problem{
		Model: CPUMem, Machines: []Machine{machine("A", 4, 0), machine("B", 4, 1)},
		Classes: []Class{{Name: "any", Request: size(2), Arcs: everywhere(2)}, {Name: "ssd", Request: size(4), Arcs: []ClassArc{{Machine: 0}}}},
		Jobs:    []Job{{Name: "t1"}, {Name: "t2"}},
		Tasks:   []Task{{Name: "t1", On: -1}, {Name: "t2", Job: 1, Class: 1, On: -1}},
	}
	for _, test := range []struct {
		name                      string
		problem                   *Problem
		given                     []int
		optimum, gap, unscheduled int64
		differs                   int
	}{
		{"two machines", small, []int{0, -1}, 500, 2_559_500, 2_560_000, 2},
		{"the drawing", drawn(CPUMem), []int{1, 3, 0, 1, 0, -1}, 6748, 2_558_626, 2_560_000, 2},
		{"with the constant", drawn(CPUMemV1), []int{1, 3, 0, 1, 0, -1}, 12748, 2_557_626, 2_560_000, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := test.problem.Gap(t.Context(), test.given)
			differs := 0
			for _, task := range c.Tasks {
				if task.Differs {
					differs++
				}
			}
			got := []int64{c.Optimum, c.Gap, c.Unscheduled, int64(differs), int64(c.Unpriced)}
			if diff := cmp.Diff([]int64{test.optimum, test.gap, test.unscheduled, int64(test.differs), 0}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The solver finds the optimum of thousands of small networks, which brute force finds too.
func TestSolverAgainstBruteForce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 5000 {
		model := Models[random.IntN(len(Models)-1)] // RANDOM has arcs for each task
		if model == Trivial {
			model = Octopus
		}
		p := &Problem{Model: model, Jobs: []Job{{Name: "x"}, {Name: "y"}}}
		for m := range 1 + random.IntN(3) {
			x := machine(fmt.Sprintf("m%d", m), 8, float64(random.IntN(7)))
			x.Running = random.IntN(3)
			x.MaxTasks = x.Running + random.IntN(3)
			p.Machines = append(p.Machines, x)
		}
		for c := range 1 + random.IntN(3) {
			class := Class{Name: fmt.Sprint(c), Request: size(float64(1 + random.IntN(4)))}
			for m := range p.Machines {
				if random.IntN(3) > 0 {
					class.Arcs = append(class.Arcs, ClassArc{Machine: m, NodeAffinity: int64(random.IntN(100)), Taints: int64(random.IntN(2))})
				}
			}
			p.Classes = append(p.Classes, class)
		}
		for i := range 1 + random.IntN(5) {
			p.Tasks = append(p.Tasks, Task{Name: fmt.Sprint(i), Job: random.IntN(2), Class: random.IntN(len(p.Classes)), On: -1})
		}
		got, want := p.Solve(t.Context()).Cost, bruteForce(p)
		if got != want {
			t.Fatalf("network %d: cost %d, want %d: %+v", n, got, want, p)
		}
	}
}

// bruteForce tries every slot for every task.
func bruteForce(p *Problem) int64 {
	free := make([]int, len(p.Machines))
	for m := range p.Machines {
		free[m] = p.Machines[m].MaxTasks - p.Machines[m].Running
	}
	taken := map[[2]int]bool{}
	var try func(i int) int64
	try = func(i int) int64 {
		if i == len(p.Tasks) {
			return 0
		}
		best := p.Model.Unscheduled() + try(i+1)
		c := &p.Classes[p.Tasks[i].Class]
		for _, a := range c.Arcs {
			if free[a.Machine] == 0 {
				continue
			}
			free[a.Machine]--
			if !p.Model.slotted() {
				best = min(best, 1+200*int64(p.Machines[a.Machine].Running)+try(i+1))
			} else {
				for k := range len(p.Tasks) {
					cost, exists := p.slotCost(c, a, k, c.bounds())
					if slot := [2]int{a.Machine, k}; exists && !taken[slot] {
						taken[slot] = true
						best = min(best, cost+try(i+1))
						delete(taken, slot)
					}
				}
			}
			free[a.Machine]++
		}
		return best
	}
	return try(0)
}

// large is a cluster of 1,000 machines in use.
func large(tasks int) *Problem {
	random := rand.New(rand.NewPCG(3, 4))
	p := &Problem{Model: CPUMem}
	for m := range 1000 {
		x := machine(fmt.Sprintf("m%04d", m), 16, float64(random.IntN(80))/10)
		p.Machines = append(p.Machines, x)
	}
	for c := range 8 {
		class := Class{Name: fmt.Sprint(c), Request: Resources{int64(500 + 250*c), int64(1+random.IntN(6)) * gi}}
		for m := range p.Machines {
			if c%2 == 0 || random.IntN(2) == 0 {
				class.Arcs = append(class.Arcs, ClassArc{Machine: m})
			}
		}
		p.Classes = append(p.Classes, class)
	}
	for j := range max(1, tasks/50) {
		p.Jobs = append(p.Jobs, Job{Name: fmt.Sprint(j)})
	}
	for i := range tasks {
		p.Tasks = append(p.Tasks, Task{Name: fmt.Sprint(i), Job: i % len(p.Jobs), Class: i % 8, On: -1})
	}
	return p
}

// A whole round of 1,000 machines and 5,000 tasks takes at most 2 s, and a round for 100 new tasks at most 200 ms.
func BenchmarkSolve(b *testing.B) {
	for _, tasks := range []int{5000, 100} {
		b.Run(fmt.Sprintf("1000x%d", tasks), func(b *testing.B) {
			p := large(tasks)
			var longest time.Duration
			for b.Loop() {
				start := time.Now()
				s := p.Solve(b.Context())
				longest = max(longest, time.Since(start))
				if s.Cost == 0 {
					b.Fatal("nothing was solved")
				}
			}
			b.ReportMetric(longest.Seconds(), "s/longest")
		})
	}
}
