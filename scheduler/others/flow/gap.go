package flow

import "context"

// Comparison is a placement by another scheduler beside the optimum of the same costs.
type Comparison struct {
	Model Model `json:"model"`
	// Cost is that of the given placement, Optimum the least possible one, and Gap the difference.
	Cost    int64 `json:"cost"`
	Optimum int64 `json:"optimum"`
	Gap     int64 `json:"gap"`
	// Unscheduled is the part of Gap that comes from tasks without a machine; the rest is that of the placed ones.
	Unscheduled int64 `json:"unscheduled"`
	// Unpriced counts tasks that the network has no slot for beside the others of their machine. They are priced as the next slot, and
	// the gap may then be negative.
	Unpriced int `json:"unpriced,omitempty"`
	// Tasks are in the order of the problem.
	Tasks []ComparedTask `json:"tasks"`
	// Network is the optimum's.
	Network *Network `json:"network"`
}

// ComparedTask is a task in both placements.
type ComparedTask struct {
	Task string `json:"task"`
	// Class and Job are those of the network.
	Class string `json:"class"`
	Job   string `json:"job"`
	// Machine and Cost are those of the given placement; Machine is empty for none.
	Machine string `json:"machine,omitempty"`
	Cost    int64  `json:"cost"`
	// Optimal and OptimalCost are those of the optimum. Tasks of one class are alike: the flow says how many go to a machine, not which.
	Optimal     string `json:"optimal,omitempty"`
	OptimalCost int64  `json:"optimalCost"`
	Differs     bool   `json:"differs,omitempty"`
}

// Gap compares a placement with the optimum: machines are those of the tasks, -1 for none. If ctx has ended, the answer means nothing.
func (p *Problem) Gap(ctx context.Context, machines []int) *Comparison {
	optimum := p.build()
	optimum.solve(ctx)
	best := optimum.placements()
	p.match(best, machines)
	out := &Comparison{Model: p.Model, Optimum: optimum.out.Cost, Network: optimum.out, Tasks: []ComparedTask{}}
	given := p.price(ctx, machines, optimum, out)
	unscheduled := p.Model.Unscheduled()
	for i, t := range p.Tasks {
		c := ComparedTask{
			Task: t.Name, Class: p.Classes[t.Class].Name, Job: p.Jobs[t.Job].Name, Cost: given[i], Optimal: best[i].Machine, OptimalCost: best[i].Cost, Differs: best[i].machine != machines[i],
		}
		if machines[i] >= 0 {
			c.Machine = p.Machines[machines[i]].Name
		}
		if machines[i] < 0 {
			out.Unscheduled += unscheduled
		}
		if best[i].machine < 0 {
			out.Unscheduled -= unscheduled
		}
		out.Cost += given[i]
		out.Tasks = append(out.Tasks, c)
	}
	out.Gap = out.Cost - out.Optimum
	return out
}

// match hands the optimum's places to the tasks of a class so that as many as possible stay where they are.
func (p *Problem) match(best []Placement, machines []int) {
	if p.Model == Random || p.Model == Trivial {
		return // their tasks are not alike
	}
	type alike struct{ class, job int }
	free := map[alike]map[int][]Placement{}
	for _, place := range best {
		of := alike{p.Tasks[place.task].Class, p.Tasks[place.task].Job}
		if free[of] == nil {
			free[of] = map[int][]Placement{}
		}
		free[of][place.machine] = append(free[of][place.machine], place)
	}
	take := func(task, machine int) bool {
		places := free[alike{p.Tasks[task].Class, p.Tasks[task].Job}]
		if len(places[machine]) == 0 {
			return false
		}
		place := places[machine][0]
		places[machine] = places[machine][1:]
		place.task, place.Task = task, p.Tasks[task].Name
		best[task] = place
		return true
	}
	var moved []int
	for task := range best {
		if !take(task, machines[task]) {
			moved = append(moved, task)
		}
	}
	for _, task := range moved {
		for machine := -1; machine < len(p.Machines) && !take(task, machine); machine++ {
		}
	}
}

// price returns the cost of each task where it is: the tasks of a machine take its slots as cheaply as they can.
func (p *Problem) price(ctx context.Context, machines []int, optimum *building, out *Comparison) []int64 {
	costs := make([]int64, len(p.Tasks))
	on := make([][]int, len(p.Machines))
	for i := range p.Tasks {
		if machines[i] < 0 {
			costs[i] = p.unscheduledCost(i, optimum)
			continue
		}
		on[machines[i]] = append(on[machines[i]], i)
	}
	for m, tasks := range on {
		if ctx.Err() != nil {
			break
		}
		if p.Model.slotted() {
			p.priceSlots(ctx, m, tasks, costs, out)
			continue
		}
		for _, i := range tasks {
			cost, exists := p.cheapest(i, m, optimum)
			if !exists {
				out.Unpriced++
			}
			costs[i] = cost
		}
	}
	return costs
}

// priceSlots prices the tasks of one machine by the cheapest assignment to distinct slots.
func (p *Problem) priceSlots(ctx context.Context, m int, tasks []int, costs []int64, out *Comparison) {
	if len(tasks) == 0 {
		return
	}
	// Nodes: the tasks, the slots, the source and the sink.
	n := newNetwork(2*len(tasks) + 2)
	source, sink := 2*len(tasks), 2*len(tasks)+1
	type choice struct{ arc, task, slot int }
	var choices []choice
	prices := make([]func(k int) int64, len(tasks))
	for at, i := range tasks {
		c := &p.Classes[p.Tasks[i].Class]
		n.arc(source, at, 1, 0)
		n.arc(len(tasks)+at, sink, 1, 0)
		bounds, arc := c.bounds(), ClassArc{Machine: m}
		for _, a := range c.Arcs {
			if a.Machine == m {
				arc = a
			}
		}
		prices[at] = func(k int) int64 { return p.priced(c, arc, k, bounds) }
		for k := range tasks {
			if cost, exists := p.slotCost(c, arc, k, bounds); exists {
				choices = append(choices, choice{n.arc(at, len(tasks)+k, 1, cost), at, k})
			}
		}
	}
	n.solve(ctx, source, sink)
	placed := make([]bool, len(tasks))
	for _, c := range choices {
		if n.flowOn(c.arc) > 0 {
			placed[c.task] = true
			costs[tasks[c.task]] = prices[c.task](c.slot)
		}
	}
	for at, i := range tasks {
		if !placed[at] {
			out.Unpriced++
			costs[i] = prices[at](len(tasks))
		}
	}
}

func (b *building) groupOf(task int) (group, node int) {
	for g, members := range b.members {
		for b.out.Nodes[node].Kind != TaskNode {
			node++
		}
		for _, member := range members {
			if member == task {
				return g, node
			}
		}
		node++
	}
	return -1, -1
}

func (p *Problem) unscheduledCost(task int, b *building) int64 {
	_, node := b.groupOf(task)
	for _, a := range b.out.Arcs {
		if a.From == node && a.To == b.jobNodes[p.Tasks[task].Job] {
			return a.Cost
		}
	}
	return p.Model.Unscheduled()
}

// cheapest returns the cost of the cheapest path of a task to a machine, in a model without slots.
func (p *Problem) cheapest(task, machine int, b *building) (cost int64, exists bool) {
	group, node := b.groupOf(task)
	class := p.Tasks[task].Class
	toClass := int64(0)
	for _, a := range b.out.Arcs {
		if a.From == node && a.To == b.classNodes[class] {
			toClass = a.Cost
		}
	}
	toSink := int64(0)
	for _, a := range b.out.Arcs {
		if a.From == b.machineNodes[machine] && a.To == b.sink {
			toSink = a.Cost
		}
	}
	for _, x := range b.paths {
		if x.machine != machine {
			continue
		}
		var c int64
		switch {
		case x.group == group:
			c = b.out.Arcs[x.arc].Cost
		case x.class == class:
			c = toClass + b.out.Arcs[x.arc].Cost
		default:
			continue
		}
		if !exists || c+toSink < cost {
			cost, exists = c+toSink, true
		}
	}
	return cost, exists
}
