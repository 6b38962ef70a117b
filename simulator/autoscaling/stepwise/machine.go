package stepwise

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/scheduling"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"

	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

// idPrefix begins the provider's ID of an instance.
const idPrefix = "simulated://"

// stuckAfter is how long after its deletion a pod counts as one that will never go, in Karpenter a minute.
const stuckAfter = time.Minute + time.Second

// machine is an instance with its NodeClaim, and its node once it has joined.
type machine struct {
	name  string
	claim *karpenter.NodeClaim
	// node is the node that it becomes.
	node                *v1.Node
	launched, joins     time.Time
	joined, initialized bool
	initializedAt       time.Time
	// look says that its node has changed, and may be initialized.
	look bool
	// podEvent is when a pod last came or went; zero for never.
	podEvent       time.Time
	nominatedUntil time.Time
	// leaving says that a command is about it.
	leaving bool
	ending  *ending
}

// ending is a node that is being drained.
type ending struct {
	reason string
	// look says that something may have become possible; again is when to look in any case.
	look  bool
	again time.Time
	// deadline is when its pods are deleted without leave; zero for never.
	deadline time.Time
	refused  map[types.UID]time.Time
	told     map[string]bool
}

// nodePool is the name of its NodePool.
func (m *machine) nodePool() string { return m.claim.Labels[karpenter.NodePoolLabelKey] }

// due returns when there is something to do about the machine.
func (m *machine) due(now time.Time) (at time.Time, awaited bool) {
	switch {
	case !m.joined:
		return m.joins, true
	case m.ending != nil && m.ending.look:
		return now, true
	case m.ending != nil:
		at = m.ending.again
		if d := m.ending.deadline; !d.IsZero() && (at.IsZero() || d.Before(at)) {
			at = d
		}
		return at, false
	case m.look:
		return now, true
	case m.claim.Spec.ExpireAfter.Duration != nil:
		return m.launched.Add(*m.claim.Spec.ExpireAfter.Duration), false
	}
	return time.Time{}, false
}

// step does one thing that is due about a machine.
func (a *Autoscaler) step(ctx context.Context, w World, m *machine) error {
	switch {
	case !m.joined:
		return a.join(w, m)
	case m.ending != nil:
		return a.drain(ctx, w, m)
	case m.look:
		return a.initialize(w, m)
	}
	return a.end(w, m, ForExpired)
}

// launch buys an instance.
func (a *Autoscaler) launch(w World, n dryrun.NewNode, reason string, replaces []string) (*machine, error) {
	np := a.pools[n.NodePool]
	a.numbers[np.Name]++
	name := fmt.Sprintf("%s-%d", np.Name, a.numbers[np.Name])
	for a.machines[name] != nil || slices.ContainsFunc(w.List(nodeKind), func(o runtime.Object) bool { return o.(*v1.Node).Name == name }) {
		a.numbers[np.Name]++
		name = fmt.Sprintf("%s-%d", np.Name, a.numbers[np.Name])
	}
	node := n.Node.DeepCopy()
	node.Name, node.Labels[v1.LabelHostname], node.Spec.ProviderID = name, name, idPrefix+name
	startup := np.Spec.Template.Spec.StartupTaints
	node.Spec.Taints = append(node.Spec.Taints, startup...)
	if len(startup) > 0 {
		delete(node.Labels, karpenter.NodeInitializedLabelKey)
	}
	node.Annotations = maps.Clone(np.Spec.Template.Annotations)
	claim := a.newClaim(np, node, np.Spec.Template.Annotations)
	m := &machine{name: name, claim: claim, node: node, launched: a.now(), joins: a.now().Add(a.settings.Registration), nominatedUntil: a.now().Add(a.settings.Registration + nomination)}
	m.condition(a.now(), karpenter.ConditionTypeLaunched)
	a.machines[name] = m
	a.report.Bought++
	e := Event{Kind: Bought, Node: name, NodePool: np.Name, Reason: reason, Offer: &provider.Offer{InstanceType: n.InstanceType, Zone: n.Zone, CapacityType: n.CapacityType, PricePerHour: n.PricePerHour}, Replaces: replaces}
	e.about(n.Pods)
	a.note(e)
	w.Launched(name, n.PricePerHour)
	a.stale = true
	return m, a.show(w, m)
}

// newClaim returns the NodeClaim of an instance that is, or becomes, a node.
func (a *Autoscaler) newClaim(np *karpenter.NodePool, node *v1.Node, annotations map[string]string) *karpenter.NodeClaim {
	claim := &karpenter.NodeClaim{Spec: *np.Spec.Template.ToNodeClaim().Spec.DeepCopy()}
	claim.Name, claim.Labels, claim.CreationTimestamp = node.Name, maps.Clone(node.Labels), metav1.NewTime(a.now())
	claim.Annotations = maps.Clone(annotations)
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, karpenter.NodePoolHashAnnotationKey, np.Hash())
	claim.Status = karpenter.NodeClaimStatus{
		ProviderID: cmp.Or(node.Spec.ProviderID, idPrefix+node.Name), Capacity: node.Status.Capacity, Allocatable: node.Status.Allocatable,
	}
	return claim
}

// condition sets a condition of a NodeClaim. Karpenter's own way would stamp it with the real time.
func (m *machine) condition(at time.Time, of string) {
	m.claim = m.claim.DeepCopy()
	m.claim.StatusConditions().SetTrue(of)
	conditions := m.claim.GetConditions()
	for i := range conditions {
		if conditions[i].LastTransitionTime.After(at) || conditions[i].Type == of {
			conditions[i].LastTransitionTime = metav1.NewTime(at)
		}
	}
	m.claim.SetConditions(conditions)
}

// show writes the NodeClaim of a machine to the cluster.
func (a *Autoscaler) show(w World, m *machine) error {
	claim := m.claim.DeepCopy()
	claim.SetGroupVersionKind(dryrun.NodeClaimKind)
	claim.UID = ""
	// The converter does not know how Karpenter's durations are written.
	text, err := json.Marshal(claim)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(text); err != nil {
		return err
	}
	return w.Store(object)
}

// join makes a node of an instance.
func (a *Autoscaler) join(w World, m *machine) error {
	m.joined = true
	m.claim = m.claim.DeepCopy()
	m.claim.Status.NodeName = m.name
	m.condition(a.now(), karpenter.ConditionTypeRegistered)
	if err := w.Create(m.node); err != nil {
		return fmt.Errorf("creating node %s: %w", m.name, err)
	}
	m.nominatedUntil = later(m.nominatedUntil, a.now().Add(nomination))
	a.note(Event{Kind: Joined, Node: m.name, NodePool: m.nodePool()})
	a.touch()
	m.look = true
	return nil
}

// initialize looks whether a node has all that pods need.
func (a *Autoscaler) initialize(w World, m *machine) error {
	m.look = false
	node := nodeOf(w, m.name)
	if node == nil || !ready(node) {
		return nil
	}
	for _, taint := range m.claim.Spec.StartupTaints {
		if slices.ContainsFunc(node.Spec.Taints, func(t v1.Taint) bool { return t.MatchTaint(&taint) }) {
			return nil
		}
	}
	m.initialized, m.initializedAt = true, a.now()
	m.condition(a.now(), karpenter.ConditionTypeInitialized)
	a.touch()
	if err := a.show(w, m); err != nil || node.Labels[karpenter.NodeInitializedLabelKey] == "true" {
		return err
	}
	return w.Patch(nodeKind, "", m.name, types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{%q:"true"}}}`, karpenter.NodeInitializedLabelKey))
}

func nodeOf(w World, name string) *v1.Node {
	for _, o := range w.List(nodeKind) {
		if n := o.(*v1.Node); n.Name == name {
			return n
		}
	}
	return nil
}

// adopt makes the nodes of NodePools the autoscaler's, as if it had bought them.
func (a *Autoscaler) adopt(w World) error {
	for _, o := range w.List(nodeKind) {
		node := o.(*v1.Node)
		np := a.pools[node.Labels[karpenter.NodePoolLabelKey]]
		if !a.strangers[node.Name] || np == nil {
			continue
		}
		claim := a.newClaim(np, node, nil)
		claim.Status.NodeName = node.Name
		m := &machine{name: node.Name, claim: claim, launched: a.now(), joined: true, look: true}
		m.condition(a.now(), karpenter.ConditionTypeLaunched)
		m.condition(a.now(), karpenter.ConditionTypeRegistered)
		a.machines[m.name] = m
		if err := a.show(w, m); err != nil {
			return err
		}
	}
	clear(a.strangers)
	a.touch()
	return nil
}

// claimOf returns the NodeClaim of a machine as it is now.
func (a *Autoscaler) claimOf(m *machine) *karpenter.NodeClaim {
	claim := m.claim.DeepCopy()
	provider.UseClassOfClaim(claim)
	if m.leaving || m.ending != nil {
		at := metav1.NewTime(a.now())
		claim.DeletionTimestamp = &at
	}
	if at := a.consolidatable(m); !at.IsZero() && !at.After(a.now()) {
		claim.StatusConditions().SetTrue(karpenter.ConditionTypeConsolidatable)
	}
	if a.drifted(m) {
		claim.StatusConditions().SetTrue(karpenter.ConditionTypeDrifted)
	}
	return claim
}

// consolidatable returns when consolidateAfter has passed since a pod came or went; zero for never.
func (a *Autoscaler) consolidatable(m *machine) time.Time {
	np := a.pools[m.nodePool()]
	if np == nil || !m.initialized || m.leaving || m.ending != nil {
		return time.Time{}
	}
	var after time.Duration // without defaults it is 0 s
	if c := np.Spec.Disruption.ConsolidateAfter; c.Duration != nil {
		after = *c.Duration
	} else if c.Raw != nil {
		return time.Time{}
	}
	return later(m.initializedAt, m.podEvent).Add(after)
}

// drifted reports whether a machine does not match its NodePool any more.
func (a *Autoscaler) drifted(m *machine) bool {
	np := a.pools[m.nodePool()]
	if np == nil {
		return false
	}
	wants := scheduling.NewNodeSelectorRequirementsWithMinValues(np.Spec.Template.Spec.Requirements...)
	return m.claim.Annotations[karpenter.NodePoolHashAnnotationKey] != np.Hash() || scheduling.NewLabelRequirements(m.claim.Labels).Compatible(wants) != nil
}

// taint keeps pods off a node that is to go, or ends that.
func (a *Autoscaler) taint(w World, name string, on bool) error {
	node := nodeOf(w, name)
	if node == nil {
		return nil
	}
	disrupted := karpenter.DisruptedNoScheduleTaint
	taints := slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t v1.Taint) bool { return t.MatchTaint(&disrupted) })
	if on {
		taints = append(taints, disrupted)
	}
	if len(taints) == len(node.Spec.Taints) && on {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"taints": taints}})
	if err != nil {
		return err
	}
	return w.Patch(nodeKind, "", name, types.MergePatchType, patch)
}

// end begins to drain a node.
func (a *Autoscaler) end(w World, m *machine, reason string) error {
	m.ending = &ending{reason: reason, look: true, refused: map[types.UID]time.Time{}, told: map[string]bool{}}
	if d := m.claim.Spec.TerminationGracePeriod; d != nil {
		m.ending.deadline = a.now().Add(d.Duration)
	}
	if !m.leaving {
		a.note(Event{Kind: Removing, Node: m.name, NodePool: m.nodePool(), Reason: reason, SavesPerHour: a.price(m)})
	}
	a.touch()
	a.trigger() // for the pods that it has
	return a.taint(w, m.name, true)
}

func (a *Autoscaler) price(m *machine) float64 {
	if a.provider == nil {
		return 0
	}
	price, _ := a.provider.Catalog().Price(m.claim.Labels)
	return price
}

// drain evicts one pod, or ends the instance if there is none left.
func (a *Autoscaler) drain(ctx context.Context, w World, m *machine) error {
	e, now := m.ending, a.now()
	e.look, e.again = false, time.Time{}
	overdue := !e.deadline.IsZero() && !now.Before(e.deadline)
	clk := dryrun.At(now)
	var groups [4][]*v1.Pod
	for _, o := range w.List(podKind) {
		if pod := o.(*v1.Pod); pod.Spec.NodeName == m.name && podutils.IsWaitingEviction(pod, clk) {
			groups[groupOf(pod)] = append(groups[groupOf(pod)], pod)
		}
	}
	i := slices.IndexFunc(groups[:], func(g []*v1.Pod) bool { return len(g) > 0 })
	if i < 0 || nodeOf(w, m.name) == nil {
		return a.ended(w, m)
	}
	for _, pod := range groups[i] {
		if pod.DeletionTimestamp != nil || e.refused[pod.UID].After(now) {
			continue
		}
		refusal := ""
		var err error
		switch {
		case overdue:
			err = w.Delete(podKind, pod.Namespace, pod.Name)
		case podutils.IsDoNotDisruptActive(pod, clk, dryrun.Silent{}):
			refusal = fmt.Sprintf("%s/%s has the annotation %s", pod.Namespace, pod.Name, karpenter.DoNotDisruptAnnotationKey)
		default:
			refusal, err = w.Evict(ctx, pod)
		}
		if err != nil {
			return fmt.Errorf("draining node %s: %w", m.name, err)
		}
		if refusal == "" {
			a.report.Evicted++
			if metav1.GetControllerOf(pod) == nil {
				a.report.Lost++
			}
			e.look = true
			return nil
		}
		e.refused[pod.UID] = now.Add(lookAgain)
		if !e.told[refusal] {
			e.told[refusal] = true
			a.note(Event{Kind: Blocked, Node: m.name, NodePool: m.nodePool(), Reason: refusal})
		}
	}
	for _, pod := range groups[i] {
		until := e.refused[pod.UID]
		if pod.DeletionTimestamp != nil {
			until = pod.DeletionTimestamp.Add(stuckAfter)
		}
		if until.After(now) && (e.again.IsZero() || until.Before(e.again)) {
			e.again = until
		}
	}
	if overdue {
		e.deadline = time.Time{} // all its pods terminate
	}
	return nil
}

// groupOf is the order in which Karpenter's terminator takes pods.
func groupOf(pod *v1.Pod) int {
	i := 0
	if podutils.IsOwnedByDaemonSet(pod) {
		i = 1
	}
	if name := pod.Spec.PriorityClassName; name == "system-cluster-critical" || name == "system-node-critical" {
		i += 2
	}
	return i
}

// ended removes a node that is empty.
func (a *Autoscaler) ended(w World, m *machine) error {
	a.ours[m.name] = true
	defer delete(a.ours, m.name)
	w.Ended(m.name)
	for _, of := range []kind{nodeKind, dryrun.NodeClaimKind} {
		if err := w.Delete(of, "", m.name); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting %s %s: %w", of.Kind, m.name, err)
		}
	}
	a.forget(m, m.ending.reason)
	return nil
}

// forget is called when a machine is gone.
func (a *Autoscaler) forget(m *machine, reason string) {
	delete(a.machines, m.name)
	for _, c := range a.commands {
		delete(c.machines, m.name)
	}
	a.report.Removed++
	a.note(Event{Kind: Removed, Node: m.name, NodePool: m.nodePool(), Reason: reason})
	a.touch()
}
