package simulation

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/standin"
)

// nodes does the work of the node lifecycle controller, the taint eviction controller, and the
// virtual nodes.
type nodes struct {
	*control
	// zones are those with a node whose taint NoExecute is due.
	zones map[string]*zone
	// evictions are the pods that are to be evicted, by the pod's key.
	evictions map[string]eviction
	devices   func(*v1.Node) ([]*resourcev1.ResourceSlice, error)
}

type zone struct {
	failed []string
	// next is when the next of them is tainted; nil if nothing is planned.
	next *timer
	last time.Time
}

// eviction is the pending deletion of a pod that tolerates a taint for some time.
type eviction struct {
	*timer
	pod *v1.Pod
	at  time.Time
}

// These are kube-controller-manager's.
const (
	// monitorPeriod is how often the node lifecycle controller looks at the nodes.
	monitorPeriod = 5 * time.Second
	// evictEvery is how long a zone waits between two nodes: 1/--node-eviction-rate.
	evictEvery = 10 * time.Second
	// evictSlowly is the same in a large zone most of which has failed:
	// 1/--secondary-node-eviction-rate.
	evictSlowly = 100 * time.Second
	// unhealthyZone is the share of failed nodes at which most of a zone has failed.
	unhealthyZone = 0.55
	// largeCluster is the number of nodes above which such a zone is still evicted, slowly.
	largeCluster = 50
)

func newNodes(c *control) nodes {
	return nodes{control: c, zones: map[string]*zone{}, evictions: map[string]eviction{}}
}

// admit completes a new node as its kubelet would: it is Ready at once unless its author says
// otherwise.
func (n *nodes) admit(node *v1.Node) {
	standin.Complete(node)
	status := standin.StatusOf(node, n.timeline.stamp().Time)
	node.Status.NodeInfo, node.Status.Addresses = status.NodeInfo, status.Addresses
	node.Status.Conditions = append(node.Status.Conditions, status.Conditions...)
	node.Spec.Taints = taintsOf(node)
}

func isUnreachable(node *v1.Node) bool {
	ready := standin.ConditionOf(node, v1.NodeReady)
	return ready != nil && ready.Status == v1.ConditionUnknown
}

func nodeIsReady(node *v1.Node) bool {
	ready := standin.ConditionOf(node, v1.NodeReady)
	return ready == nil || ready.Status == v1.ConditionTrue
}

// conditionTaints are the taints NoSchedule of conditions, as in the node lifecycle controller.
var conditionTaints = []struct {
	kind   v1.NodeConditionType
	status v1.ConditionStatus
	key    string
}{
	{v1.NodeReady, v1.ConditionFalse, v1.TaintNodeNotReady},
	{v1.NodeReady, v1.ConditionUnknown, v1.TaintNodeUnreachable},
	{v1.NodeMemoryPressure, v1.ConditionTrue, v1.TaintNodeMemoryPressure},
	{v1.NodeDiskPressure, v1.ConditionTrue, v1.TaintNodeDiskPressure},
	{v1.NodeNetworkUnavailable, v1.ConditionTrue, v1.TaintNodeNetworkUnavailable},
	{v1.NodePIDPressure, v1.ConditionTrue, v1.TaintNodePIDPressure},
}

// taintsOf returns the node's taints with those NoSchedule that its conditions and
// spec.unschedulable cause.
func taintsOf(node *v1.Node) []v1.Taint {
	var wanted []v1.Taint
	managed := []string{v1.TaintNodeUnschedulable}
	for _, c := range conditionTaints {
		managed = append(managed, c.key)
		if condition := standin.ConditionOf(node, c.kind); condition != nil && condition.Status == c.status {
			wanted = append(wanted, v1.Taint{Key: c.key, Effect: v1.TaintEffectNoSchedule})
		}
	}
	if node.Spec.Unschedulable {
		wanted = append(wanted, v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule})
	}
	kept := slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t v1.Taint) bool {
		is := func(other v1.Taint) bool { return other.Key == t.Key && other.Effect == t.Effect }
		return t.Effect == v1.TaintEffectNoSchedule && slices.Contains(managed, t.Key) && !slices.ContainsFunc(wanted, is)
	})
	for _, t := range wanted {
		if !slices.ContainsFunc(kept, func(other v1.Taint) bool { return other.Key == t.Key && other.Effect == t.Effect }) {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

func (n *nodes) note(r ref, before, after object) {
	was, is := node(before), node(after)
	if was == nil || is == nil || isUnreachable(was) != isUnreachable(is) {
		n.lookAtPodsOn(r.key)
	}
	if was == nil || is == nil || !slices.EqualFunc(was.Spec.Taints, is.Spec.Taints, sameTaint) || was.Spec.Unschedulable != is.Spec.Unschedulable || !sameLabels(was, is) {
		for _, set := range n.list(daemonSetKind) {
			n.look(refOf(daemonSetKind, set))
		}
	}
}

func node(o object) *v1.Node {
	n, _ := o.(*v1.Node)
	return n
}

func sameTaint(a, b v1.Taint) bool {
	return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect
}

func (n *nodes) lookAtPodsOn(name string) {
	for _, pod := range n.podsOn(name) {
		n.look(refOf(podKind, pod))
	}
}

func (c *cluster) podsOn(name string) []*v1.Pod {
	return slices.DeleteFunc(all[*v1.Pod](c, podKind), func(pod *v1.Pod) bool { return pod.Spec.NodeName != name })
}

// reconcile makes a node fail or recover as its annotation says, and taints it.
func (n *nodes) reconcile(r ref, o object) error {
	before := node(o)
	if before == nil {
		n.forget(r.key)
		return nil
	}
	if err := n.publish(before); err != nil {
		return err
	}
	after := before.DeepCopy()
	n.applyFailure(after)
	after.Spec.Taints = taintsOf(after)
	ready := nodeIsReady(after)
	if ready {
		after.Spec.Taints = slices.DeleteFunc(after.Spec.Taints, isEvicting)
		n.forget(r.key)
	} else {
		n.plan(after)
	}
	if !slices.EqualFunc(before.Spec.Taints, after.Spec.Taints, sameTaint) || !slices.Equal(conditionStatuses(before), conditionStatuses(after)) {
		return n.put(nodeKind, after)
	}
	n.evict(before)
	return nil
}

// publish makes the ResourceSlices of a node match its annotation. They go with their owner, the
// node.
func (n *nodes) publish(node *v1.Node) error {
	_, annotated := node.Annotations[standin.AnnotationDevices]
	published := map[string]*resourcev1.ResourceSlice{}
	for r := range n.owned[node.UID] {
		if slice, exists := find[*resourcev1.ResourceSlice](n.cluster, sliceKind, "", r.key); r.gvk == sliceKind && exists {
			published[slice.Name] = slice
		}
	}
	if !annotated && len(published) == 0 {
		return nil
	}
	if n.devices == nil {
		return &UnsupportedError{GVK: nodeKind, Name: node.Name, What: "the annotation " + standin.AnnotationDevices}
	}
	wanted, err := n.devices(node)
	if err != nil {
		return err
	}
	// The scheduler uses a pool only if all its slices have one generation.
	generation, changed := int64(1), len(wanted) != len(published)
	for _, slice := range wanted {
		is := published[slice.Name]
		changed = changed || is == nil || !equality.Semantic.DeepEqual(is.Spec.Devices, slice.Spec.Devices)
	}
	if !changed {
		return nil
	}
	for _, slice := range published {
		generation = max(generation, slice.Spec.Pool.Generation+1)
	}
	for _, slice := range wanted {
		slice.Spec.Pool.Generation = generation
		is := published[slice.Name]
		delete(published, slice.Name)
		if is == nil {
			if _, err := n.create(slice); err != nil {
				return err
			}
			continue
		}
		next := is.DeepCopy()
		next.Spec = slice.Spec
		if err := n.put(sliceKind, next); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(published) {
		if err := n.remove(n.ref(sliceKind, "", name), metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func conditionStatuses(node *v1.Node) []string {
	var out []string
	for _, c := range node.Status.Conditions {
		out = append(out, string(c.Type)+string(c.Status)+c.Reason)
	}
	return out
}

func (n *nodes) applyFailure(node *v1.Node) {
	for _, condition := range standin.ConditionsOf(node.Annotations[standin.AnnotationFailure]) {
		current := standin.ConditionOf(node, condition.Type)
		hasFailed := current != nil && current.Reason == standin.ReasonFailure
		if hasFailed && current.Status == condition.Status || !hasFailed && condition.Reason != standin.ReasonFailure {
			continue
		}
		condition.LastHeartbeatTime, condition.LastTransitionTime = n.timeline.stamp(), n.timeline.stamp()
		if current == nil {
			node.Status.Conditions = append(node.Status.Conditions, condition)
		} else {
			*current = condition
		}
	}
}

// isEvicting reports whether a taint is one that the node lifecycle controller evicts pods with.
func isEvicting(t v1.Taint) bool {
	return t.Effect == v1.TaintEffectNoExecute && (t.Key == v1.TaintNodeNotReady || t.Key == v1.TaintNodeUnreachable)
}

func zoneOf(node *v1.Node) string {
	return node.Labels[v1.LabelTopologyRegion] + ":\x00:" + node.Labels[v1.LabelTopologyZone]
}

func (n *nodes) forget(name string) {
	for _, z := range n.zones {
		z.failed = slices.DeleteFunc(z.failed, func(other string) bool { return other == name })
	}
}

func (n *nodes) plan(node *v1.Node) {
	name := zoneOf(node)
	z := n.zones[name]
	if z == nil {
		z = &zone{}
		n.zones[name] = z
	}
	key := evictingKey(node)
	done := slices.ContainsFunc(node.Spec.Taints, func(t v1.Taint) bool { return isEvicting(t) && t.Key == key })
	if done || slices.Contains(z.failed, node.Name) {
		return
	}
	z.failed = append(z.failed, node.Name)
	if z.next == nil {
		n.next(name, z)
	}
}

func evictingKey(node *v1.Node) string {
	if isUnreachable(node) {
		return v1.TaintNodeUnreachable
	}
	return v1.TaintNodeNotReady
}

func (n *nodes) next(name string, z *zone) {
	now := n.timeline.Now()
	at := now.Add(monitorPeriod - now.Sub(n.timeline.start)%monitorPeriod)
	if pause, evicts := n.pause(name); !z.last.IsZero() || !evicts {
		at = later(at, z.last.Add(pause))
	}
	z.next = n.timeline.after(at.Sub(now), false, func() {
		z.next = nil
		if len(z.failed) == 0 {
			return
		}
		if _, evicts := n.pause(name); evicts {
			first := z.failed[0]
			z.failed = z.failed[1:]
			z.last = n.timeline.Now()
			n.taint(first)
		}
		if len(z.failed) > 0 {
			n.next(name, z)
		}
	})
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// pause returns how long a zone waits between two nodes, and whether it taints nodes at all: not if
// all nodes of the cluster have failed, nor if most of a zone has failed in a small cluster.
func (n *nodes) pause(name string) (time.Duration, bool) {
	total, failed, healthy, cluster := 0, 0, 0, 0
	for _, o := range n.objects[nodeKind] {
		node := o.(*v1.Node)
		cluster++
		if nodeIsReady(node) {
			healthy++
		}
		if zoneOf(node) == name {
			total++
			if !nodeIsReady(node) {
				failed++
			}
		}
	}
	switch {
	case healthy == 0:
		return evictEvery, false
	case failed == total:
		return evictEvery, true
	case failed > 2 && float64(failed)/float64(total) >= unhealthyZone:
		return evictSlowly, cluster > largeCluster
	}
	return evictEvery, true
}

func (n *nodes) taint(name string) {
	before, exists := find[*v1.Node](n.cluster, nodeKind, "", name)
	if !exists || nodeIsReady(before) {
		return
	}
	node := before.DeepCopy()
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, isEvicting)
	now := n.timeline.stamp()
	node.Spec.Taints = append(node.Spec.Taints, v1.Taint{Key: evictingKey(node), Effect: v1.TaintEffectNoExecute, TimeAdded: &now})
	if err := n.put(nodeKind, node); err != nil {
		n.fail(err)
	}
}

// evict deletes the pods that do not tolerate the node's taints, now or when their toleration ends.
func (n *nodes) evict(node *v1.Node) {
	var taints []v1.Taint
	for _, t := range node.Spec.Taints {
		if t.Effect == v1.TaintEffectNoExecute {
			taints = append(taints, t)
		}
	}
	for _, pod := range n.podsOn(node.Name) {
		n.evictPod(pod, taints)
	}
}

func (n *nodes) evictPod(pod *v1.Pod, taints []v1.Taint) {
	key := keyOf(pod)
	planned, isPlanned := n.evictions[key]
	if isPlanned && (len(taints) == 0 || planned.pod.UID != pod.UID) {
		planned.stop()
		delete(n.evictions, key)
		isPlanned = false
	}
	if len(taints) == 0 || pod.DeletionTimestamp != nil || ended(pod) {
		return
	}
	stay, tolerates := toleratedFor(pod, taints)
	switch {
	case !tolerates:
		n.delete(pod)
	case stay < 0 || isPlanned:
	default:
		n.evictions[key] = eviction{n.timeline.after(stay, false, func() {
			delete(n.evictions, key)
			if now, exists := n.get(podKind, key).(*v1.Pod); exists && now.UID == pod.UID {
				n.delete(now)
			}
		}), pod, n.timeline.Now().Add(stay)}
	}
}

// toleratedFor returns how long a pod tolerates the taints, less than 0 for forever.
func toleratedFor(pod *v1.Pod, taints []v1.Taint) (stay time.Duration, tolerates bool) {
	stay = -1
	for _, taint := range taints {
		i := slices.IndexFunc(pod.Spec.Tolerations, func(t v1.Toleration) bool { return t.ToleratesTaint(noLogger, &taint, false) })
		if i < 0 {
			return 0, false
		}
		if seconds := pod.Spec.Tolerations[i].TolerationSeconds; seconds != nil {
			d := time.Duration(max(*seconds, 0)) * time.Second
			if stay < 0 || d < stay {
				stay = d
			}
		}
	}
	return stay, stay != 0
}

// delete evicts a pod as the taint eviction controller does.
func (n *nodes) delete(pod *v1.Pod) {
	after := *pod
	after.Status.Conditions = slices.Clone(pod.Status.Conditions)
	setCondition(&after.Status, v1.PodCondition{
		Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: "DeletionByTaintManager",
		Message: "Taint manager: deleting due to NoExecute taint", LastTransitionTime: n.timeline.stamp(),
	})
	err := n.put(podKind, &after)
	if err == nil {
		err = n.remove(refOf(podKind, pod), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: ptr.To(pod.UID)}})
	}
	if err != nil {
		n.fail(err)
	}
}

func sameLabels(a, b *v1.Node) bool {
	if len(a.Labels) != len(b.Labels) {
		return false
	}
	for name, value := range a.Labels {
		if other, has := b.Labels[name]; !has || other != value {
			return false
		}
	}
	return true
}
