package flow

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
)

type Model string

// The cost models. CPUMem is the formula of Poseidon's first versions without the constant 1000 for each placed task; CPUMemV1 has it,
// with preferred node affinity; CPUMemV2 is the last version.
const (
	Trivial  Model = "TRIVIAL"
	Random   Model = "RANDOM"
	Octopus  Model = "OCTOPUS"
	CPUMem   Model = "CPU-MEM"
	CPUMemV1 Model = "CPU-MEM-V1"
	CPUMemV2 Model = "CPU-MEM-V2"
)

var Models = []Model{CPUMem, CPUMemV1, CPUMemV2, Octopus, Trivial, Random}

func (m Model) slotted() bool { return m == CPUMem || m == CPUMemV1 || m == CPUMemV2 }

// Unscheduled is the cost of a task without a machine; for Random each task has its own.
func (m Model) Unscheduled() int64 {
	switch m {
	case Trivial:
		return 5
	case Octopus:
		return 1_000_000
	}
	return 2_560_000
}

// Resources are CPU in milli-CPU and memory in bytes.
type Resources struct {
	CPU    int64 `json:"cpu"`
	Memory int64 `json:"memory"`
}

// atLeast returns the larger one of each resource.
func (r Resources) atLeast(o Resources) Resources {
	return Resources{max(r.CPU, o.CPU), max(r.Memory, o.Memory)}
}

func (r Resources) minus(o Resources, times int64) Resources {
	return Resources{r.CPU - o.CPU*times, r.Memory - o.Memory*times}
}

// Machine is a node of the cluster with one PU.
type Machine struct {
	Name                  string
	Capacity, Allocatable Resources
	// Requested is what all pods of the node ask for, those of other schedulers included.
	Requested Resources
	// Pods counts them, and MaxPods is the node's limit.
	Pods, MaxPods int
	// Running counts the tasks that the flow scheduler has there, and MaxTasks how many it may have.
	Running, MaxTasks int
}

type Class struct {
	Name    string
	Request Resources
	// Arcs are to the machines on which the hard constraints let the class run, in the order of the machines.
	Arcs []ClassArc
}

// ClassArc leads from a class to a machine that its hard constraints allow.
type ClassArc struct {
	// Machine is an index of Problem.Machines.
	Machine int
	// NodeAffinity is the sum of the weights of the preferred terms that match.
	NodeAffinity int64
	// PodAffinity is that of the preferred pod affinity, and Taints the number of PreferNoSchedule taints that are not tolerated.
	PodAffinity, Taints int64
}

type Task struct {
	Name string
	// Job is an index of Problem.Jobs, and Class one of Problem.Classes.
	Job, Class int
	// On is the machine on which the task runs, or -1.
	On int
}

// Job is what tasks share the arc to their unscheduled aggregator with.
type Job struct {
	Name string
	// Least is how many of its tasks must run, or none is placed; 0 for no gang.
	Least int
}

// Problem is a network before it is built.
type Problem struct {
	Model    Model
	Machines []Machine
	Classes  []Class
	Jobs     []Job
	// Tasks are the pending ones and, with Preemption, the running ones.
	Tasks []Task
	// Preemption: running tasks may be rerouted.
	Preemption bool
	// Seed is for the models with random arcs.
	Seed uint64
}

// maxSlots bounds the slots of a machine.
const maxSlots = 50

// slotCost returns the cost of slot k of a machine for a class, and whether the slot exists.
func (p *Problem) slotCost(c *Class, a ClassArc, k int, bounds classBounds) (int64, bool) {
	m := &p.Machines[a.Machine]
	available := m.Allocatable.minus(m.Requested, 1)
	after := available.minus(c.Request, int64(k+1))
	if p.Model == CPUMemV2 {
		if after.CPU <= 0 || after.Memory <= 0 || m.Pods+k >= m.MaxPods {
			return 0, false
		}
	} else if after.CPU < 0 || after.Memory < 0 || k >= maxSlots {
		return 0, false
	}
	return p.priced(c, a, k, bounds), true
}

// priced is the cost of slot k, whether it exists or not.
func (p *Problem) priced(c *Class, a ClassArc, k int, bounds classBounds) int64 {
	m := &p.Machines[a.Machine]
	used := m.Capacity.minus(m.Allocatable.minus(m.Requested, 1).minus(c.Request, int64(k)), 1)
	cpu, memory := fraction(used.CPU, m.Capacity.CPU), fraction(used.Memory, m.Capacity.Memory)
	switch p.Model {
	case CPUMem:
		return int64(cpu*1000) + int64(memory*1000)
	case CPUMemV1:
		return int64(cpu*1000) + int64(memory*1000) + 1000 - min(1000, a.NodeAffinity)
	}
	mean := (cpu + memory) / 2
	variance := ((cpu-mean)*(cpu-mean) + (memory-mean)*(memory-mean)) / 2
	cost := int64(float64(int64(cpu*1000)+int64(memory*1000))/2) + int64(variance*1000)
	cost += 1000 - scaled(a.NodeAffinity, 0, bounds.nodeAffinity)
	cost += 1000 - scaled(a.PodAffinity-bounds.leastPodAffinity, 0, bounds.podAffinity-bounds.leastPodAffinity)/1000*1000
	return cost + scaled(a.Taints, 0, bounds.taints)
}

func fraction(used, capacity int64) float64 {
	if capacity <= 0 {
		return 0
	}
	return float64(used) / float64(capacity)
}

// scaled maps x from least..most to 0..1000; 0 if there is no range.
func scaled(x, least, most int64) int64 {
	if most <= least {
		return 0
	}
	return 1000 * (x - least) / (most - least)
}

// classBounds are the extremes over the machines of a class.
type classBounds struct{ nodeAffinity, podAffinity, leastPodAffinity, taints int64 }

func (c *Class) bounds() classBounds {
	var b classBounds
	for i, a := range c.Arcs {
		b.nodeAffinity, b.podAffinity, b.taints = max(b.nodeAffinity, a.NodeAffinity), max(b.podAffinity, a.PodAffinity), max(b.taints, a.Taints)
		if i == 0 || a.PodAffinity < b.leastPodAffinity {
			b.leastPodAffinity = a.PodAffinity
		}
	}
	return b
}

type NodeKind string

// The kinds of nodes.
const (
	TaskNode        NodeKind = "task"
	ClassNode       NodeKind = "class"
	SlotNode        NodeKind = "slot"
	MachineNode     NodeKind = "machine"
	UnscheduledNode NodeKind = "unscheduled"
	SinkNode        NodeKind = "sink"
)

// Node is a node of the network. Tasks of one job and one class are one node, because they are alike.
type Node struct {
	Kind NodeKind `json:"kind"`
	Name string   `json:"name"`
	// Tasks counts those of a task node. Index is the slot's number on its machine.
	Tasks int `json:"tasks,omitempty"`
	Index int `json:"index,omitempty"`
}

// Arc is an arc of the network with its flow.
type Arc struct {
	// From and To are indexes of the nodes.
	From     int   `json:"from"`
	To       int   `json:"to"`
	Capacity int64 `json:"capacity"`
	Cost     int64 `json:"cost"`
	Flow     int64 `json:"flow"`

	number int
}

// Network is a problem's network with its solution.
type Network struct {
	Nodes []Node `json:"nodes"`
	Arcs  []Arc  `json:"arcs"`
	Cost  int64  `json:"cost"`
}

type group struct{ job, class, on, task int }

// building is a network that is being built.
type building struct {
	*Problem
	out    *Network
	random *rand.Rand
	// groups are in the order of their first task; members are the tasks of each.
	groups  []group
	members [][]int
	// classNodes, machineNodes and jobNodes are node numbers, by index; -1 while there is none.
	classNodes, machineNodes, jobNodes []int
	// slots are the slot nodes of each machine.
	slots [][]int
	sink  int
	paths []path
}

type path struct{ arc, group, class, machine, slot int }

func (b *building) node(n Node) int {
	b.out.Nodes = append(b.out.Nodes, n)
	return len(b.out.Nodes) - 1
}

func (b *building) arc(from, to int, capacity, cost int64) int {
	b.out.Arcs = append(b.out.Arcs, Arc{From: from, To: to, Capacity: capacity, Cost: cost})
	return len(b.out.Arcs) - 1
}

func (p *Problem) build() *building {
	b := &building{Problem: p, out: &Network{Nodes: []Node{}, Arcs: []Arc{}}, random: rand.New(rand.NewPCG(p.Seed, 0)), slots: make([][]int, len(p.Machines))}
	b.group()
	b.sink = b.node(Node{Kind: SinkNode, Name: "sink"})
	for _, m := range p.Machines {
		b.machineNodes = append(b.machineNodes, b.node(Node{Kind: MachineNode, Name: m.Name}))
		free := m.MaxTasks - m.Running
		if p.Preemption {
			free = m.MaxTasks
		}
		b.arc(b.machineNodes[len(b.machineNodes)-1], b.sink, int64(max(0, free)), b.machineCost(&m))
	}
	for range p.Jobs {
		b.jobNodes = append(b.jobNodes, -1)
	}
	for range p.Classes {
		b.classNodes = append(b.classNodes, -1)
	}
	for i := range b.groups {
		b.addGroup(i)
	}
	return b
}

// group puts alike tasks together.
func (b *building) group() {
	numbers := map[group]int{}
	for i, t := range b.Tasks {
		g := group{t.Job, t.Class, t.On, -1}
		if b.Model == Random {
			g.task = i
		}
		n, known := numbers[g]
		if !known {
			n = len(b.groups)
			numbers[g] = n
			b.groups, b.members = append(b.groups, g), append(b.members, nil)
		}
		b.members[n] = append(b.members[n], i)
	}
}

func (b *building) machineCost(m *Machine) int64 {
	switch b.Model {
	case Octopus:
		return 100 * int64(m.Running)
	case Random:
		return 1 + b.random.Int64N(maxRandom/4)
	}
	return 0
}

const maxRandom = 100_000_000

func (b *building) addGroup(i int) {
	g, members := b.groups[i], b.members[i]
	tasks := int64(len(members))
	name := b.Classes[g.class].Name
	if len(members) == 1 {
		name = b.Tasks[members[0]].Name
	}
	from := b.node(Node{Kind: TaskNode, Name: name, Tasks: len(members)})
	unscheduled, toClass := b.Model.Unscheduled(), int64(0)
	switch b.Model {
	case Trivial:
		toClass = 2
	case Octopus:
		toClass = 1
	case Random:
		unscheduled = maxRandom/2 + b.random.Int64N(maxRandom/2) + 1
		toClass = max(0, b.random.Int64N(maxRandom/2+b.random.Int64N(maxRandom/2)+1)-1)
	}
	if g.on >= 0 {
		b.paths = append(b.paths, path{b.arc(from, b.machineNodes[g.on], tasks, 0), i, -1, g.on, 0})
		if b.Model != Octopus {
			unscheduled = 0 // preempting costs nothing
		}
	}
	if b.jobNodes[g.job] < 0 {
		b.jobNodes[g.job] = b.node(Node{Kind: UnscheduledNode, Name: b.Jobs[g.job].Name})
		b.arc(b.jobNodes[g.job], b.sink, int64(len(b.Tasks)), 0)
	}
	b.arc(from, b.jobNodes[g.job], tasks, unscheduled)
	b.arc(from, b.class(g.class), tasks, toClass)
	if b.Model == Trivial {
		b.prefer(i, from)
	}
}

// prefer adds TRIVIAL's arc from each task to a random machine.
func (b *building) prefer(i, from int) {
	arcs := b.Classes[b.groups[i].class].Arcs
	if len(arcs) == 0 {
		return
	}
	drawn := map[int]int64{}
	var order []int
	for range b.members[i] {
		m := arcs[b.random.IntN(len(arcs))].Machine
		if drawn[m] == 0 {
			order = append(order, m)
		}
		drawn[m]++
	}
	for _, m := range order {
		b.paths = append(b.paths, path{b.arc(from, b.machineNodes[m], drawn[m], 0), i, -1, m, 0})
	}
}

func (b *building) class(i int) int {
	if b.classNodes[i] >= 0 {
		return b.classNodes[i]
	}
	c := &b.Classes[i]
	at := b.node(Node{Kind: ClassNode, Name: c.Name})
	b.classNodes[i] = at
	if b.Model.slotted() {
		b.slotArcs(i, at)
		return at
	}
	for _, a := range c.Arcs {
		m := &b.Machines[a.Machine]
		cost := int64(0)
		switch b.Model {
		case Octopus:
			cost = 100 * int64(m.Running)
		case Random:
			cost = 1 + b.random.Int64N(maxRandom/2)
		}
		if free := m.MaxTasks - m.Running; free > 0 {
			b.paths = append(b.paths, path{b.arc(at, b.machineNodes[a.Machine], int64(free), cost), -1, i, a.Machine, 0})
		}
	}
	return at
}

type slotArc struct {
	machine, slot int
	cost          int64
}

// slotArcs adds the arcs of a class to the slots of its machines. There are as many tasks as other tasks can take slots away, so a class never
// needs more than that many of its cheapest slots, unless a machine has more slots than it may have tasks.
func (b *building) slotArcs(class, at int) {
	c := &b.Classes[class]
	bounds, tasks, cut := c.bounds(), len(b.Tasks), true
	var all []slotArc
	for _, a := range c.Arcs {
		free := max(0, b.Machines[a.Machine].MaxTasks-b.Machines[a.Machine].Running)
		for k := range tasks {
			cost, exists := b.slotCost(c, a, k, bounds)
			if !exists {
				break
			}
			cut = cut && k < free
			all = append(all, slotArc{a.Machine, k, cost})
		}
	}
	if cut && len(all) > tasks {
		slices.SortStableFunc(all, func(x, y slotArc) int { return cmp.Compare(x.cost, y.cost) })
		all = all[:tasks]
	}
	for _, a := range all {
		for k := len(b.slots[a.machine]); k <= a.slot; k++ {
			slot := b.node(Node{Kind: SlotNode, Name: fmt.Sprintf("%s/%d", b.Machines[a.machine].Name, k), Index: k})
			b.slots[a.machine] = append(b.slots[a.machine], slot)
			b.arc(slot, b.machineNodes[a.machine], 1, 0)
		}
		b.paths = append(b.paths, path{b.arc(at, b.slots[a.machine][a.slot], 1, a.cost), -1, class, a.machine, a.slot})
	}
}

// Placement is where a task goes, and what that costs.
type Placement struct {
	Task  string `json:"task"`
	Job   string `json:"job"`
	Class string `json:"class"`
	// Machine is empty for a task without one.
	Machine string `json:"machine,omitempty"`
	Slot    int    `json:"slot,omitempty"`
	Cost    int64  `json:"cost"`
	// Delta says what becomes of the task.
	Delta Delta `json:"delta"`

	task, machine int
}

// Delta is what a round does to a task.
type Delta string

// The deltas. NoOp is a placement that its gang refused.
const (
	Place   Delta = "PLACE"
	Migrate Delta = "MIGRATE"
	Preempt Delta = "PREEMPT"
	Keep    Delta = "KEEP"
	Wait    Delta = "WAIT"
	NoOp    Delta = "NOOP"
)

type Solution struct {
	Network    *Network    `json:"network"`
	Placements []Placement `json:"placements"`
	Cost       int64       `json:"cost"`
}

// Solve returns a flow of minimum cost, with the gangs applied to it afterwards. It does not change p. If ctx has ended, the answer means
// nothing.
func (p *Problem) Solve(ctx context.Context) *Solution {
	b := p.build()
	b.solve(ctx)
	s := &Solution{Network: b.out, Cost: b.out.Cost, Placements: b.placements()}
	p.applyGangs(s.Placements)
	return s
}

func (b *building) solve(ctx context.Context) {
	nodes := len(b.out.Nodes)
	n := newNetwork(nodes + 1)
	for i := range b.out.Arcs {
		a := &b.out.Arcs[i]
		a.number = n.arc(a.From, a.To, a.Capacity, a.Cost)
	}
	for i, node := range b.out.Nodes {
		if node.Kind == TaskNode {
			n.arc(nodes, i, int64(node.Tasks), 0)
		}
	}
	_, b.out.Cost = n.solve(ctx, nodes, b.sink)
	for i := range b.out.Arcs {
		b.out.Arcs[i].Flow = n.flowOn(b.out.Arcs[i].number)
	}
}

// placements hands the flow of each class to its tasks, the cheapest path to the first task: only the counts mean something.
func (b *building) placements() []Placement {
	out := make([]Placement, len(b.Tasks))
	ofClass := make([][]path, len(b.Classes))
	ofGroup := make([][]path, len(b.groups))
	for _, p := range b.paths {
		for range b.out.Arcs[p.arc].Flow {
			if p.group >= 0 {
				ofGroup[p.group] = append(ofGroup[p.group], p)
			} else {
				ofClass[p.class] = append(ofClass[p.class], p)
			}
		}
	}
	arcTo := map[[2]int]*Arc{}
	for i := range b.out.Arcs {
		arcTo[[2]int{b.out.Arcs[i].From, b.out.Arcs[i].To}] = &b.out.Arcs[i]
	}
	node := 0
	for i, g := range b.groups {
		for b.out.Nodes[node].Kind != TaskNode {
			node++
		}
		left := arcTo[[2]int{node, b.classNodes[g.class]}].Flow
		toClass, unscheduled := arcTo[[2]int{node, b.classNodes[g.class]}].Cost, arcTo[[2]int{node, b.jobNodes[g.job]}].Cost
		node++
		for n, t := range b.members[i] {
			p := Placement{Task: b.Tasks[t].Name, Job: b.Jobs[g.job].Name, Class: b.Classes[g.class].Name, task: t, machine: -1, Cost: unscheduled}
			var by *path
			switch {
			case n < len(ofGroup[i]):
				by = &ofGroup[i][n]
				p.Cost = b.out.Arcs[by.arc].Cost
			case left > 0:
				left--
				by = &ofClass[g.class][0]
				ofClass[g.class] = ofClass[g.class][1:]
				p.Cost = toClass + b.out.Arcs[by.arc].Cost
			}
			if by != nil {
				p.machine, p.Machine, p.Slot = by.machine, b.Machines[by.machine].Name, by.slot
				p.Cost += arcTo[[2]int{b.machineNodes[by.machine], b.sink}].Cost
			}
			p.Delta = delta(b.Tasks[t].On, p.machine)
			out[t] = p
		}
	}
	return out
}

func delta(before, after int) Delta {
	switch {
	case before < 0 && after < 0:
		return Wait
	case before < 0:
		return Place
	case after < 0:
		return Preempt
	case before == after:
		return Keep
	}
	return Migrate
}

// applyGangs refuses the placements of jobs that have fewer than they need. The room is lost for the round.
func (p *Problem) applyGangs(placements []Placement) {
	placed := make([]int, len(p.Jobs))
	for _, x := range placements {
		if x.machine >= 0 {
			placed[p.Tasks[x.task].Job]++
		}
	}
	for i := range placements {
		x := &placements[i]
		if job := p.Tasks[x.task].Job; x.Delta == Place && placed[job] < p.Jobs[job].Least {
			x.Delta = NoOp
		}
	}
}
