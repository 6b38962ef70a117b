package noderesourcetopology

import (
	"maps"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	v1qos "k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"

	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
)

// overReserving subtracts the pods on their way from every zone of their node, because the kubelet
// chooses the zone. Agents' reports replace that only when they know the same pods as the
// scheduler.
type overReserving struct {
	args   CacheArguments
	period time.Duration
	now    func() time.Time
	latest *latest
	// foreign reports whether a pod of that scheduler is a stranger to the cache.
	foreign func(scheduler string) bool

	mu    sync.Mutex
	nodes map[string]*reservedNode
	// next is when the topologies may be compared again.
	next time.Time
	// pods are each node's pods that count in a comparison.
	pods map[string]map[types.UID]*v1.Pod
}

type reservedNode struct {
	// copied is the topology that counts; nil if the node had none at the start.
	copied *known
	// assumed are the requests of pods on their way, by namespace and name. They outlive the pod's
	// arrival and its end, so those of a recreated pod replace them.
	assumed map[types.NamespacedName]map[v1.ResourceName]int64
	// reserved is copied without assumed; nil if it has to be made.
	reserved *layout
	// foreign: a pod of another scheduler came, changed or went, which matters only on nodes with a
	// copied topology. refused: Filter has rejected the node. Both hold until the next successful
	// comparison.
	foreign, refused bool
}

func newOverReserving(l *latest, a *Arguments, foreign func(string) bool, now func() time.Time) *overReserving {
	period := time.Duration(a.CacheResyncPeriodSeconds) * time.Second
	return &overReserving{
		args: a.Cache, period: period, now: now, latest: l, foreign: foreign,
		nodes: map[string]*reservedNode{}, pods: map[string]map[types.UID]*v1.Pod{}, next: now().Add(period),
	}
}

func (o *overReserving) node(name string) *reservedNode {
	n := o.nodes[name]
	if n == nil {
		n = &reservedNode{assumed: map[types.NamespacedName]map[v1.ResourceName]int64{}}
		o.nodes[name] = n
	}
	return n
}

// start copies a topology that existed when the scheduler started. Later ones do not count.
func (o *overReserving) start(t *v1alpha2.NodeResourceTopology) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.node(t.Name)
	n.copied, n.reserved = &known{t, layoutOf(t)}, nil
}

func (o *overReserving) layout(node string) (*layout, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.nodes[node]
	switch {
	case n == nil, n.copied == nil:
		return nil, true
	case n.foreign:
		return nil, false
	case n.reserved == nil:
		taken := map[v1.ResourceName]int64{}
		for _, request := range n.assumed {
			for name, amount := range request {
				taken[name] += amount
			}
		}
		n.reserved = n.copied.without(taken)
	}
	return n.reserved, true
}

func (o *overReserving) reserve(node string, pod *v1.Pod) {
	whole := map[v1.ResourceName]int64{}
	for _, w := range requestOf(pod).whole.wants {
		whole[w.name] = w.amount
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.node(node)
	n.assumed[nameOf(pod)], n.reserved = whole, nil
}

func (o *overReserving) release(node string, pod *v1.Pod) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.node(node)
	delete(n.assumed, nameOf(pod))
	n.reserved = nil
}

func nameOf(pod *v1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

func (*overReserving) bound(string, *v1.Pod) {}

func (o *overReserving) refused(node string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.node(node).refused = true
}

// podChanged notes a pod with a node. gone: it is deleted.
func (o *overReserving) podChanged(pod *v1.Pod, gone bool) {
	node := pod.Spec.NodeName
	if node == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pods[node] == nil {
		o.pods[node] = map[types.UID]*v1.Pod{}
	}
	delete(o.pods[node], pod.UID)
	if !gone && o.counts(pod) {
		o.pods[node][pod.UID] = pod
	}
	if o.foreign(pod.Spec.SchedulerName) && o.detects(pod) {
		o.node(node).foreign = true
	}
}

func (o *overReserving) counts(pod *v1.Pod) bool {
	if o.args.InformerMode == Shared {
		return pod.Status.Phase == v1.PodRunning
	}
	return pod.Status.Phase != v1.PodPending && pod.Status.Phase != ""
}

func (o *overReserving) detects(pod *v1.Pod) bool {
	switch o.args.ForeignPodsDetect {
	case None:
		return false
	case OnlyExclusiveResources:
		return isExclusive(pod)
	}
	return true
}

// resync compares the topologies of doubtful nodes, if it is time to.
func (o *overReserving) resync() {
	now := o.now()
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Before(o.next) {
		return
	}
	o.next = now.Add(o.period)
	for name, n := range o.nodes {
		current := o.latest.get(name)
		if current == nil || n.copied == nil {
			continue
		}
		changed := o.args.ResyncScope == All && current.settings != n.copied.settings
		if changed || (n.foreign || n.refused) && o.agrees(name, current) {
			*n = reservedNode{copied: current, assumed: map[types.NamespacedName]map[v1.ResourceName]int64{}}
		}
	}
}

// agrees reports whether the agent knows the same pods as the scheduler. It is false on a node
// without pods, and for an agent that does not say. If only pods with exclusive resources count, a
// node with other pods agrees with the report of none.
func (o *overReserving) agrees(node string, current *known) bool {
	reported, method := current.object.Fingerprint()
	switch o.args.ResyncMethod {
	case All:
		method = v1alpha2.MethodAll
	case OnlyExclusiveResources:
		method = v1alpha2.MethodExclusive
	}
	if reported == "" || len(o.pods[node]) == 0 {
		return false
	}
	var counted []*v1.Pod
	for _, uid := range slices.Sorted(maps.Keys(o.pods[node])) {
		pod := o.pods[node][uid]
		if method == v1alpha2.MethodAll || isExclusive(pod) {
			counted = append(counted, pod)
		}
	}
	return reported == v1alpha2.FingerprintOf(counted)
}

// isExclusive is, as in the original, coarser than what containers hold exclusively: any device
// counts, listed by zones or not, in an init container, or zero.
func isExclusive(pod *v1.Pod) bool {
	guaranteed := v1qos.GetPodQOS(pod) == v1.PodQOSGuaranteed
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for name, quantity := range c.Resources.Requests {
			whole := name != v1.ResourceCPU || quantity.MilliValue()%1000 == 0
			if v1alpha2.IsDevice(name) || guaranteed && v1alpha2.IsShared(name) && quantity.Sign() > 0 && whole {
				return true
			}
		}
	}
	return false
}

// placed returns the copied topology, and the zone of each container that holds anything
// exclusively, if the agent reports it and knows the same containers.
func (o *overReserving) placed(node string) (*v1alpha2.NodeResourceTopology, map[v1alpha2.ContainerID]int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.nodes[node]
	if n == nil || n.copied == nil {
		return nil, nil
	}
	t := n.copied.object
	var containers []v1alpha2.ContainerID
	for _, pod := range o.pods[node] {
		containers = append(containers, t.ExclusiveContainers(pod)...)
	}
	return t, t.Placement(containers)
}
