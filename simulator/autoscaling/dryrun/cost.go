package dryrun

import (
	v1 "k8s.io/api/core/v1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/utils/resources"

	"kube-scheduler-simulator/simulator/autoscaling/instances"
)

// Pool is a NodePool, as it is and with the new nodes.
type Pool struct {
	Name   string `json:"name"`
	Weight int32  `json:"weight"`
	// Untried says why Karpenter buys no node of it for any pod; nil if it may.
	Untried *Refusal `json:"untried,omitempty"`
	// Limits bound Uses, which is what the nodes that are to stay have, as Karpenter counts: by capacity. They have the resources that the
	// NodePool limits.
	Limits v1.ResourceList `json:"limits,omitempty"`
	Uses   v1.ResourceList `json:"uses,omitempty"`
	// Policy is the NodePool's consolidationPolicy.
	Policy string `json:"policy"`
	Cost
}

// Cost is what nodes cost, now and with new ones, in US dollars per hour. Nodes without a known price count as nothing.
type Cost struct {
	Nodes        int     `json:"nodes"`
	PricePerHour float64 `json:"pricePerHour"`
	// Unpriced counts those of the Nodes whose price is not known.
	Unpriced        int     `json:"unpriced"`
	NewNodes        int     `json:"newNodes"`
	NewPricePerHour float64 `json:"newPricePerHour"`
}

func (c *Cost) add(node *v1.Node, of *instances.Catalog) {
	c.Nodes++
	if price, known := of.Price(node.Labels); known {
		c.PricePerHour += price
	} else {
		c.Unpriced++
	}
}

// cost fills in what nodes cost, of each NodePool and in all.
func (r *run) cost() {
	catalog := r.provider.Catalog()
	byName := map[string]*Pool{}
	r.answer.Pools = make([]Pool, len(r.pools))
	for i, p := range r.pools {
		out := &r.answer.Pools[i]
		byName[p.Name] = out
		out.Name, out.Untried, out.Policy = p.Name, p.never, string(defaulted([]*karpenter.NodePool{p.NodePool})[0].Spec.Disruption.ConsolidationPolicy)
		if p.Spec.Weight != nil {
			out.Weight = *p.Spec.Weight
		}
		if out.Limits = v1.ResourceList(p.Spec.Limits); out.Limits != nil {
			out.Uses = resources.Subtract(out.Limits, r.leftBy(p.NodePool))
		}
	}
	for _, node := range r.nodes.all {
		r.answer.Cost.add(node, catalog)
		if of := byName[node.Labels[karpenter.NodePoolLabelKey]]; of != nil {
			of.add(node, catalog)
		}
	}
	for _, node := range r.answer.NewNodes {
		for _, c := range []*Cost{&r.answer.Cost, &byName[node.NodePool].Cost} {
			c.NewNodes++
			c.NewPricePerHour += node.PricePerHour
		}
	}
}
