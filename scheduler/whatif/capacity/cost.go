package capacity

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/whatif"
)

// Cost is what the nodes cost an hour, in the currency of Question.Price. Nodes without a price are left out.
type Cost struct {
	PerHour float64 `json:"perHour"`
	// UnusedPerHour is how much of it is for what no pod requests: a node is in use as much as its most requested resource. ThenUnusedPerHour
	// is what it is when all pods are placed.
	UnusedPerHour     float64 `json:"unusedPerHour"`
	ThenUnusedPerHour float64 `json:"thenUnusedPerHour"`
	// PerPodHour is what one of the placed pods takes of the price of its node, on average: as much as of the resource of which it takes the
	// largest part. It is nil if no node with a price takes one.
	PerPodHour *float64 `json:"perPodHour,omitempty"`
	// Unpriced counts the nodes that are left out.
	Unpriced int `json:"unpriced"`
}

// costs counts what is unused of nodes that have a price.
type costs struct {
	price func(labels map[string]string) (float64, bool)
	// unused is what is unused before pods are placed, and requested what is requested then, by node.
	unused    float64
	requested map[string][]amount
}

// amount is of one resource of a node. Pods are none.
type amount struct{ requested, allocatable int64 }

func amounts(n fwk.NodeInfo) []amount {
	can, used := n.GetAllocatable(), n.GetRequested()
	out := []amount{{used.GetMilliCPU(), can.GetMilliCPU()}, {used.GetMemory(), can.GetMemory()}, {used.GetEphemeralStorage(), can.GetEphemeralStorage()}}
	names := make([]v1.ResourceName, 0, len(can.GetScalarResources()))
	for name := range can.GetScalarResources() {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out = append(out, amount{used.GetScalarResources()[name], can.GetScalarResources()[name]})
	}
	return out
}

// share returns the largest part of a resource.
func share(of []amount) (most float64) {
	for _, a := range of {
		if a.allocatable > 0 {
			most = max(most, float64(a.requested)/float64(a.allocatable))
		}
	}
	return min(most, 1)
}

// newCosts notes what is unused before pods are placed. It returns nil if the question has no prices.
func newCosts(t *whatif.Trial, q Question) *costs {
	if q.Price == nil {
		return nil
	}
	c := &costs{price: q.Price, requested: map[string][]amount{}}
	for _, n := range t.Nodes() {
		if price, known := c.price(n.Node().Labels); known {
			of := amounts(n)
			c.requested[n.Node().Name] = of
			c.unused += price * (1 - share(of))
		}
	}
	return c
}

// of returns the cost when pods are placed; nil if no node has a price. c may be nil.
func (c *costs) of(t *whatif.Trial, placed []string) *Cost {
	if c == nil || len(c.requested) == 0 {
		return nil
	}
	out := &Cost{UnusedPerHour: c.unused}
	places := map[string]int{}
	for _, node := range placed {
		places[node]++
	}
	pods, taken := 0, 0.0
	for _, n := range t.Nodes() {
		before, known := c.requested[n.Node().Name]
		if !known {
			out.Unpriced++
			continue
		}
		price, _ := c.price(n.Node().Labels)
		after := amounts(n)
		out.PerHour += price
		out.ThenUnusedPerHour += price * (1 - share(after))
		if here := places[n.Node().Name]; here > 0 {
			for i := range after {
				after[i].requested -= before[i].requested
			}
			pods, taken = pods+here, taken+price*share(after)
		}
	}
	if pods > 0 {
		perPod := taken / float64(pods)
		out.PerPodHour = &perPod
	}
	return out
}
