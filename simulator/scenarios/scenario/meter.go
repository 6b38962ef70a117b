package scenario

import (
	"maps"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/resource"

	"kube-scheduler-simulator/scheduler/podrequest"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Metered is a Cluster that knows what its nodes have cost since it began.
type Metered interface {
	Costs() Costs
}

// Costs are what the nodes of a cluster have cost so far.
type Costs struct {
	// Cost is in US dollars, by the prices of the nodes' labels, and Unused how much of it was for what no pod requested: at each time a
	// node is in use as much as its most requested resource. Priced says that a node had a price; the others count as nothing.
	Cost, Unused float64
	Priced       bool
	// NodeHours are the hours of all nodes together, and MostNodes how many there were at most at a time.
	NodeHours float64
	MostNodes int
}

// Meter adds up what nodes cost while they come and go. An engine tells it of each change at its time, which never goes back. Any
// goroutine may call it.
type Meter struct {
	mu sync.Mutex
	// nodes are those that there are; gone is what those that have gone came to.
	nodes map[string]*meteredNode
	gone  Costs
	most  int
	// there are how many of the nodes are in the cluster, and not only launched.
	there int
	pods  map[apitypes.UID]meteredPod
}

type meteredNode struct {
	price       float64
	at          time.Time // up to which it is added up
	joined      bool
	allocatable map[string]float64
	requested   map[string]float64
	Costs
}

type meteredPod struct {
	node     string
	requests map[string]float64
}

// NewMeter returns the meter of a cluster without nodes.
func NewMeter() *Meter {
	return &Meter{nodes: map[string]*meteredNode{}, pods: map[apitypes.UID]meteredPod{}}
}

// add adds up a node until a time.
func (n *meteredNode) add(at time.Time) {
	hours := at.Sub(n.at).Hours()
	n.at = at
	if n.joined {
		n.NodeHours += hours
	}
	n.Cost += hours * n.price
	n.Unused += hours * n.price * (1 - min(1, n.fullest()))
}

// fullest is the share of the resource that pods request most of.
func (n *meteredNode) fullest() (share float64) {
	for name, amount := range n.allocatable {
		if amount > 0 && name != string(v1.ResourcePods) {
			share = max(share, n.requested[name]/amount)
		}
	}
	return share
}

// Launched says that an instance costs its price from now on. Its node comes later, under the same name.
func (m *Meter) Launched(name string, pricePerHour float64, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.nodes[name] = &meteredNode{price: pricePerHour, at: at, requested: map[string]float64{}}
}

// Ended says that an instance costs nothing from now on.
func (m *Meter) Ended(name string, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.end(name, at)
}

func (m *Meter) end(name string, at time.Time) {
	n := m.nodes[name]
	if n == nil {
		return
	}
	n.add(at)
	if n.joined {
		m.there--
	}
	m.gone.plus(n.Costs, n.price)
	delete(m.nodes, name)
}

func (c *Costs) plus(other Costs, price float64) {
	c.Cost, c.Unused, c.NodeHours = c.Cost+other.Cost, c.Unused+other.Unused, c.NodeHours+other.NodeHours
	c.Priced = c.Priced || price > 0
}

// Node says that a node has changed; nil for one that there was not, or is not any more.
func (m *Meter) Node(before, after *v1.Node, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if after == nil {
		m.end(before.Name, at)
		return
	}
	n := m.nodes[after.Name]
	if n == nil {
		n = &meteredNode{at: at, requested: map[string]float64{}}
		m.nodes[after.Name] = n
		// Pods may have been told of before their node.
		for _, p := range m.pods {
			if p.node == after.Name {
				n.change(p.requests, 1)
			}
		}
	}
	n.add(at)
	if !n.joined {
		n.joined = true
		m.there++
		m.most = max(m.most, m.there)
	}
	if price, known := objects.Price(after.Labels); known {
		n.price = price
	}
	if before == nil || !equality.Semantic.DeepEqual(before.Status.Allocatable, after.Status.Allocatable) {
		n.allocatable = podrequest.Amounts(after.Status.Allocatable)
	}
}

// Pod says that a pod has changed, likewise.
func (m *Meter) Pod(before, after *v1.Pod, at time.Time) {
	if before != nil && after != nil && before.Spec.NodeName == after.Spec.NodeName && before.Status.Phase == after.Status.Phase {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var uid apitypes.UID
	if after != nil {
		uid = after.UID
	} else {
		uid = before.UID
	}
	if was, known := m.pods[uid]; known {
		m.change(was, -1, at)
		delete(m.pods, uid)
	}
	if after == nil || after.Spec.NodeName == "" || after.Status.Phase == v1.PodSucceeded || after.Status.Phase == v1.PodFailed {
		return
	}
	p := meteredPod{after.Spec.NodeName, podrequest.Amounts(resource.PodRequests(after, resource.PodResourcesOptions{}))}
	m.pods[uid] = p
	m.change(p, 1, at)
}

func (m *Meter) change(p meteredPod, sign float64, at time.Time) {
	if n := m.nodes[p.node]; n != nil {
		n.add(at)
		n.change(p.requests, sign)
	}
}

func (n *meteredNode) change(requests map[string]float64, sign float64) {
	for name, amount := range requests {
		n.requested[name] += sign * amount
	}
}

// Read returns the costs until a time.
func (m *Meter) Read(at time.Time) Costs {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.gone
	for _, name := range slices.Sorted(maps.Keys(m.nodes)) {
		n := m.nodes[name]
		n.add(at)
		out.plus(n.Costs, n.price)
	}
	out.MostNodes = m.most
	return out
}
