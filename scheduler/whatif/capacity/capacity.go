// Package capacity answers "how many more of this pod fit?". It places copies of the pod in the what-if
// engine, one after the other, each where the scheduler would put it, until one fits no node. Then it
// says what stops the next one, and what is left of each resource. It also answers how many nodes
// would be enough for a number of pods.
//
// It may import scheduler/whatif and its packages, scheduler/result, the types of the objects that plugins
// read, and Kubernetes' scheduling framework.
package capacity

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
)

// Question asks how many more pods fit. Exactly one of Pod and PodRef is set.
type Question struct {
	// Pod need not exist. The package does not change it.
	Pod *v1.Pod
	// PodRef names a pod of the state, which stays as it is: the question is about further ones.
	PodRef *types.NamespacedName
	// Changes, Configuration and Profile are as in whatif.Question.
	Changes       []whatif.Change
	Configuration *config.KubeSchedulerConfiguration
	Profile       string
	// Limit is at how many pods the count ends: DefaultLimit for 0, and at most MaxLimit.
	Limit int
	// Price says what a node with these labels costs an hour, if that is known; nil asks for no costs.
	Price func(labels map[string]string) (perHour float64, known bool)
	// NodesNeeded also asks for how many nodes would be enough; nil does not.
	NodesNeeded *NodesNeeded
}

// Bounds of Question.Limit and of NodesNeeded.For.
const (
	DefaultLimit = 1_000
	MaxLimit     = 10_000
)

// NodesNeeded asks how many nodes like Like make room for For pods, beside the nodes that
// exist.
type NodesNeeded struct {
	Like string `json:"like"`
	For  int    `json:"for"`
}

type Answer struct {
	// State is the one before all changes.
	State whatif.State `json:"state"`
	// Fits is how many more pods fit.
	Fits int `json:"fits"`
	// Group is nil for a pod that the scheduler takes for itself.
	Group *Group `json:"group,omitempty"`
	// Nodes are those that take pods, by name.
	Nodes []Node `json:"nodes"`
	// Stopped says what stops the next pod: every plugin that rejects it, and why. Those of the
	// most nodes come first. It is empty when the limit ended the count.
	Stopped []Stop `json:"stopped"`
	// Complete is false when the limit ended the count: more pods may fit.
	Complete bool `json:"complete"`
	// Resources is what is left when all pods are placed, by name.
	Resources []Resource `json:"resources"`
	// Cost is nil if no node has a price.
	Cost *Cost `json:"cost,omitempty"`
	// NodesNeeded is nil unless the question asks for it.
	NodesNeeded *Needed `json:"nodesNeeded,omitempty"`
	// NotAsked may still keep pods away.
	whatif.NotAsked
}

// Node is a node that takes Count more pods.
type Node struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Stop is a reason for which a plugin rejects the next pod.
type Stop struct {
	Plugin string `json:"plugin"`
	Reason string `json:"reason"`
	// Nodes are sorted by name.
	Nodes []string `json:"nodes"`
}

// Resource sums up a resource over all nodes, with the pods that were placed: of CPU in
// thousandths of a core, of others in their own unit.
type Resource struct {
	Name        string `json:"name"`
	Allocatable int64  `json:"allocatable"`
	// Requested includes the pods that were placed.
	Requested int64 `json:"requested"`
	// Free is Allocatable minus Requested, summed over the nodes that have some: one that has promised more than it
	// has, as after a resize, takes nothing from the others.
	Free int64 `json:"free"`
	// Stranded is the part of Free on nodes that reject the next pod for another reason than
	// a lack of this resource.
	Stranded int64 `json:"stranded"`
}

// Needed answers NodesNeeded. The nodes come with everything that the state says of Like: devices, attach limits, storage, NUMA
// nodes and the pods of DaemonSets.
type Needed struct {
	NodesNeeded
	// Nodes is how many nodes like Like are enough, while one less is not. If Enough is false, Fits pods is all that they make
	// room for, and further ones would not help unless Unknown is true.
	Nodes  int  `json:"nodes"`
	Enough bool `json:"enough"`
	Fits   int  `json:"fits"`
	// Stopped says what keeps the next pod off one more node if Enough is false. The node that it names is the one that was
	// tried. It is empty if one pod would fit there, and its group does not.
	Stopped []Stop `json:"stopped"`
	// PricePerHour is what one of these nodes costs; nil if that is not known.
	PricePerHour *float64 `json:"pricePerHour,omitempty"`
	// Unknown: something that new nodes may bring, and the state does not tell, may be all that keeps the next pod off.
	Unknown bool `json:"unknown,omitempty"`
	// NotCounted says what that is. Each is of a kind that explain.Unknowns lists.
	NotCounted []explain.Statement `json:"notCounted,omitempty"`
}

// Ask answers a question. The errors are those of whatif.Engine.Ask, and a *whatif.NotFoundError for a node
// in NodesNeeded that does not exist.
func Ask(ctx context.Context, engine *whatif.Engine, q Question) (*Answer, error) {
	var answer *Answer
	err := engine.Try(ctx, q.Configuration, func(ctx context.Context, t *whatif.Trial) (err error) {
		answer, err = Count(ctx, t, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// Count answers a question about the state of a trial, whose configuration decides. It leaves the trial
// with the question's changes.
func Count(ctx context.Context, t *whatif.Trial, q Question) (*Answer, error) {
	if err := t.Apply(q.Changes...); err != nil {
		return nil, err
	}
	pod, err := template(t, q)
	if err != nil {
		return nil, err
	}
	answer, err := count(ctx, t, pod, q)
	if err != nil {
		return nil, err
	}
	if answer.NotAsked, err = t.NotAsked(pod, q.Profile); err != nil {
		return nil, err
	}
	if q.NodesNeeded != nil {
		answer.NodesNeeded, err = needed(ctx, t, pod, q)
	}
	return answer, err
}

// count places the pods, and removes them again.
func count(ctx context.Context, t *whatif.Trial, pod *v1.Pod, q Question) (*Answer, error) {
	mark := t.Mark()
	defer t.Rollback(mark)
	limit := atMost(q.Limit)
	group, err := gangOf(t, pod)
	if err != nil {
		return nil, err
	}
	costs := newCosts(t, q)
	placed, err := group.place(ctx, t, pod, q.Profile, limit)
	if err != nil {
		return nil, err
	}
	rejections := map[string][]whatif.Obstacle{}
	if len(placed) < limit {
		next, err := t.Another(pod) // a pod of the name stays where it is
		if err != nil {
			return nil, err
		}
		if rejections, err = obstacles(ctx, t, next, q.Profile); err != nil {
			return nil, err
		}
	}
	complete := len(placed) < limit
	cost := costs.of(t, placed)
	if group != nil {
		if group.Places = len(placed); !group.startsWith(len(placed)) {
			placed = nil
		}
	}
	return &Answer{
		State: t.State(), Fits: len(placed), Group: group.counted(), Nodes: byNode(placed), Complete: complete,
		Stopped: stops(rejections), Resources: left(t, rejections), Cost: cost,
	}, nil
}

func atMost(limit int) int {
	if limit <= 0 {
		return DefaultLimit
	}
	return min(limit, MaxLimit)
}

func template(t *whatif.Trial, q Question) (*v1.Pod, error) {
	pod := q.Pod
	if q.PodRef != nil {
		object, err := t.Get(v1.SchemeGroupVersion.WithKind("Pod"), q.PodRef.Namespace, q.PodRef.Name)
		if err != nil {
			return nil, err
		}
		pod = object.(*v1.Pod)
	}
	next := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, GenerateName: pod.GenerateName,
			Labels: pod.Labels, Annotations: pod.Annotations, OwnerReferences: pod.OwnerReferences,
		},
		Spec: *pod.Spec.DeepCopy(),
	}
	next.Spec.NodeName, next.Spec.SchedulingGates = "", nil
	return t.New(next)
}

func byNode(placed []string) []Node {
	counts := map[string]int{}
	for _, node := range placed {
		counts[node]++
	}
	out := []Node{}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, Node{name, counts[name]})
	}
	return out
}

// obstacles returns what rejects the pod on each node.
func obstacles(ctx context.Context, t *whatif.Trial, pod *v1.Pod, profile string) (map[string][]whatif.Obstacle, error) {
	all, err := t.Obstacles(ctx, pod, profile)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]whatif.Obstacle, len(all))
	for i, n := range t.Nodes() {
		out[n.Node().Name] = all[i]
	}
	return out, nil
}

func stops(rejections map[string][]whatif.Obstacle) []Stop {
	type reason struct{ plugin, reason string }
	nodes := map[reason][]string{}
	for node, all := range rejections {
		for _, o := range all {
			reasons := o.Reasons
			if len(reasons) == 0 {
				reasons = []string{""}
			}
			for _, r := range reasons {
				nodes[reason{o.Plugin, r}] = append(nodes[reason{o.Plugin, r}], node)
			}
		}
	}
	out := []Stop{}
	for r, names := range nodes {
		slices.Sort(names)
		out = append(out, Stop{r.plugin, r.reason, names})
	}
	slices.SortFunc(out, func(a, b Stop) int {
		return cmp.Or(cmp.Compare(len(b.Nodes), len(a.Nodes)), strings.Compare(a.Plugin, b.Plugin), strings.Compare(a.Reason, b.Reason))
	})
	return out
}

// left sums up the resources of all nodes.
func left(t *whatif.Trial, rejections map[string][]whatif.Obstacle) []Resource {
	sums := map[string]*Resource{}
	for _, n := range t.Nodes() {
		short := shortOf(rejections[n.Node().Name])
		add := func(name v1.ResourceName, allocatable, requested int64) {
			sum := sums[string(name)]
			if sum == nil {
				sum = &Resource{Name: string(name)}
				sums[string(name)] = sum
			}
			sum.Allocatable += allocatable
			sum.Requested += requested
			sum.Free += max(allocatable-requested, 0)
			if len(rejections[n.Node().Name]) > 0 && !slices.Contains(short, string(name)) {
				sum.Stranded += max(allocatable-requested, 0)
			}
		}
		can, used := n.GetAllocatable(), n.GetRequested()
		add(v1.ResourceCPU, can.GetMilliCPU(), used.GetMilliCPU())
		add(v1.ResourceMemory, can.GetMemory(), used.GetMemory())
		add(v1.ResourceEphemeralStorage, can.GetEphemeralStorage(), used.GetEphemeralStorage())
		add(v1.ResourcePods, int64(can.GetAllowedPodNumber()), int64(len(n.GetPods())))
		for name, amount := range can.GetScalarResources() {
			add(name, amount, used.GetScalarResources()[name])
		}
	}
	out := []Resource{}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if r := *sums[name]; r.Allocatable > 0 || r.Requested > 0 {
			out = append(out, r)
		}
	}
	return out
}

func shortOf(obstacles []whatif.Obstacle) []string {
	var out []string
	for _, o := range obstacles {
		if o.Plugin == names.NodeResourcesFit && o.Comparison != nil {
			for _, r := range o.Comparison.Resources {
				out = append(out, r.Name)
			}
		}
	}
	return out
}
