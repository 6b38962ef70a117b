// Package clusterdiff compares the clusters of two simulators: which pods they placed on different
// nodes, how full they are, and how their scheduler configurations differ.
//
// It may import scheduler/config, client-go and simulator/past/branch.
package clusterdiff

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"kube-scheduler-simulator/scheduler/config"
)

// State is the state of a simulator.
type State struct {
	// Name is empty for the trunk.
	Name  string
	Nodes []v1.Node
	Pods  []v1.Pod
	// Configuration is nil when it is unknown.
	Configuration *config.Configuration
}

// Comparison is how two states differ.
type Comparison struct {
	A Side `json:"a"`
	B Side `json:"b"`
	// Pods are those that the sides placed differently, or that only one side has, by namespace and
	// name.
	Pods []Pod `json:"pods"`
	// Nodes are those of both sides, by name.
	Nodes []Node `json:"nodes"`
	// Configuration has the fields that differ.
	Configuration []Field `json:"configuration"`
	// Truncated: more pods or nodes exist than the lists hold.
	Truncated bool `json:"truncated,omitempty"`
}

// Bounds of the lists.
const (
	MaxPods  = 2000
	MaxNodes = 5000
)

// Side sums a state up, without the pods that have ended.
type Side struct {
	Name    string `json:"name"`
	Nodes   int    `json:"nodes"`
	Pods    int    `json:"pods"`
	Pending int    `json:"pending"`
	// CPUShare and MemoryShare are the requests of the placed pods, as parts of what is
	// allocatable, from 0 to 1.
	CPUShare    float64 `json:"cpuShare"`
	MemoryShare float64 `json:"memoryShare"`
}

// Pod is a pod that differs. A node is empty where the pod is pending, and where it does not exist;
// OnlyIn tells those apart.
type Pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	A         string `json:"a,omitempty"`
	B         string `json:"b,omitempty"`
	// OnlyIn is "a" or "b" for a pod that the other side lacks.
	OnlyIn string `json:"onlyIn,omitempty"`
}

// Node is a node of at least one side.
type Node struct {
	Name string `json:"name"`
	A    *Use   `json:"a,omitempty"`
	B    *Use   `json:"b,omitempty"`
}

// Use is how full a node is: what its pods request, and what is allocatable.
type Use struct {
	Pods              int   `json:"pods"`
	CPUMillis         int64 `json:"cpuMillis"`
	CPUAllocatable    int64 `json:"cpuAllocatableMillis"`
	MemoryBytes       int64 `json:"memoryBytes"`
	MemoryAllocatable int64 `json:"memoryAllocatableBytes"`
}

// Field is a field of the scheduler configuration that differs. A and B are JSON values; nil means
// no value.
type Field struct {
	Path string `json:"path"`
	A    any    `json:"a,omitempty"`
	B    any    `json:"b,omitempty"`
}

// Compare only reads the states.
func Compare(a, b State) Comparison {
	usesA, usesB := a.uses(), b.uses()
	c := Comparison{A: a.side(usesA), B: b.side(usesB), Pods: []Pod{}, Nodes: []Node{}, Configuration: []Field{}}
	c.comparePods(a.living(), b.living())
	names := slices.Concat(slices.Collect(maps.Keys(usesA)), slices.Collect(maps.Keys(usesB)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if len(c.Nodes) == MaxNodes {
			c.Truncated = true
			break
		}
		c.Nodes = append(c.Nodes, Node{Name: name, A: usesA[name], B: usesB[name]})
	}
	if a.Configuration != nil && b.Configuration != nil {
		for _, d := range config.Compare(a.Configuration, b.Configuration) {
			c.Configuration = append(c.Configuration, Field{Path: d.Field, A: d.Default, B: d.Current})
		}
	}
	return c
}

type podName struct{ namespace, name string }

// living returns the nodes of the pods that have not ended.
func (s State) living() map[podName]string {
	out := make(map[podName]string, len(s.Pods))
	for i := range s.Pods {
		if p := &s.Pods[i]; !ended(p) {
			out[podName{p.Namespace, p.Name}] = p.Spec.NodeName
		}
	}
	return out
}

func ended(p *v1.Pod) bool {
	return p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
}

func (c *Comparison) comparePods(a, b map[podName]string) {
	for name, nodeA := range a {
		nodeB, both := b[name]
		switch {
		case !both:
			c.Pods = append(c.Pods, Pod{Namespace: name.namespace, Name: name.name, A: nodeA, OnlyIn: "a"})
		case nodeA != nodeB:
			c.Pods = append(c.Pods, Pod{Namespace: name.namespace, Name: name.name, A: nodeA, B: nodeB})
		}
	}
	for name, nodeB := range b {
		if _, both := a[name]; !both {
			c.Pods = append(c.Pods, Pod{Namespace: name.namespace, Name: name.name, B: nodeB, OnlyIn: "b"})
		}
	}
	slices.SortFunc(c.Pods, func(x, y Pod) int {
		return cmp.Or(strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
	})
	if len(c.Pods) > MaxPods {
		c.Pods, c.Truncated = c.Pods[:MaxPods], true
	}
}

func (s State) uses() map[string]*Use {
	uses := make(map[string]*Use, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		uses[n.Name] = &Use{CPUAllocatable: n.Status.Allocatable.Cpu().MilliValue(), MemoryAllocatable: n.Status.Allocatable.Memory().Value()}
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		use := uses[p.Spec.NodeName]
		if use == nil || ended(p) {
			continue
		}
		requests := resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{})
		use.Pods++
		use.CPUMillis += requests.Cpu().MilliValue()
		use.MemoryBytes += requests.Memory().Value()
	}
	return uses
}

func (s State) side(uses map[string]*Use) Side {
	side := Side{Name: s.Name, Nodes: len(s.Nodes)}
	for i := range s.Pods {
		if p := &s.Pods[i]; !ended(p) {
			side.Pods++
			if p.Spec.NodeName == "" {
				side.Pending++
			}
		}
	}
	var total Use
	for _, use := range uses {
		total.CPUMillis += use.CPUMillis
		total.CPUAllocatable += use.CPUAllocatable
		total.MemoryBytes += use.MemoryBytes
		total.MemoryAllocatable += use.MemoryAllocatable
	}
	side.CPUShare, side.MemoryShare = share(total.CPUMillis, total.CPUAllocatable), share(total.MemoryBytes, total.MemoryAllocatable)
	return side
}

// share is 0 when nothing is allocatable.
func share(used, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(used) / float64(of)
}
