package disruption

import (
	"cmp"
	"context"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// World is the state of a cluster as far as evictions depend on it. It does not change once it is played.
type World struct {
	// Nodes are by name, Pods by namespace and name.
	Nodes   []*v1.Node
	Pods    []*v1.Pod
	budgets []*policyv1.PodDisruptionBudget
	// DaemonSets are known if the cluster lists them: namespace/name.
	DaemonSets map[string]bool
	// parallel has the StatefulSets that do not wait for one pod before they create the next: namespace/name.
	parallel map[string]bool
}

// Lister lists the objects of a kind; none for a kind that the cluster does not serve.
type Lister interface {
	List(ctx context.Context, gvk schema.GroupVersionKind, namespace string) ([]runtime.Object, error)
}

// Read reads the state of a cluster.
func Read(ctx context.Context, c Lister) (*World, error) {
	w := &World{DaemonSets: map[string]bool{}, parallel: map[string]bool{}}
	for _, kind := range []string{"Node", "Pod"} {
		all, err := c.List(ctx, v1.SchemeGroupVersion.WithKind(kind), metav1.NamespaceAll)
		if err != nil {
			return nil, err
		}
		for _, o := range all {
			switch o := o.(type) {
			case *v1.Node:
				w.Nodes = append(w.Nodes, o)
			case *v1.Pod:
				w.Pods = append(w.Pods, o)
			}
		}
	}
	budgets, err := c.List(ctx, policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), metav1.NamespaceAll)
	if err != nil {
		return nil, err
	}
	for _, o := range budgets {
		if b, ok := o.(*policyv1.PodDisruptionBudget); ok {
			w.budgets = append(w.budgets, b)
		}
	}
	sets, err := c.List(ctx, appsv1.SchemeGroupVersion.WithKind("DaemonSet"), metav1.NamespaceAll)
	if err != nil {
		return nil, err
	}
	for _, o := range sets {
		if m, ok := o.(metav1.Object); ok {
			w.DaemonSets[m.GetNamespace()+"/"+m.GetName()] = true
		}
	}
	stateful, err := c.List(ctx, appsv1.SchemeGroupVersion.WithKind("StatefulSet"), metav1.NamespaceAll)
	if err != nil {
		return nil, err
	}
	for _, o := range stateful {
		if set, is := o.(*appsv1.StatefulSet); is && set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement {
			w.parallel[set.Namespace+"/"+set.Name] = true
		}
	}
	slices.SortFunc(w.Nodes, func(a, b *v1.Node) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(w.Pods, ComparePods)
	slices.SortFunc(w.budgets, func(a, b *policyv1.PodDisruptionBudget) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return w, nil
}

// Add adds pods that the cluster does not list, because they no longer run.
func (w *World) Add(pods ...*v1.Pod) {
	w.Pods = append(w.Pods, pods...)
	slices.SortFunc(w.Pods, ComparePods)
}

// ComparePods orders pods by namespace and name.
func ComparePods(a, b *v1.Pod) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// Cost is what all nodes cost in US dollars per hour, as their labels say: before the evictions, and without the nodes that they empty.
type Cost struct {
	BeforePerHour float64 `json:"beforePerHour"`
	AfterPerHour  float64 `json:"afterPerHour"`
	// Unpriced counts the nodes without a price, which are left out.
	Unpriced int `json:"unpriced"`
}

// Cost is what the nodes cost with and without those that are emptied; nil if none has a price.
func (w *World) Cost(emptied func(node string) bool) *Cost {
	c := &Cost{}
	for _, n := range w.Nodes {
		price, known := objects.Price(n.Labels)
		if !known {
			c.Unpriced++
			continue
		}
		c.BeforePerHour += price
		if !emptied(n.Name) {
			c.AfterPerHour += price
		}
	}
	if c.Unpriced == len(w.Nodes) {
		return nil
	}
	return c
}
