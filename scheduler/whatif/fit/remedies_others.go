package fit

import (
	"cmp"
	"context"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
)

// mostClasses is how many priority classes are tried.
const mostClasses = 8

// replaced says of the pods that a candidate evicts where those go that controllers make in their place, once the pod is on its node. The trial has the
// candidate's changes.
func (s *search) replaced(ctx context.Context, c candidate, pod *v1.Pod, node string) (candidate, error) {
	mark := s.trial.Mark()
	defer s.trial.Rollback(mark)
	if whatif.GroupName(pod) == "" {
		if err := s.trial.Place(ctx, pod, s.profile, node); err != nil {
			return c, err
		}
	}
	c.remedies = slices.Clone(c.remedies)
	for i, r := range c.remedies {
		says, ok := r.says.(explain.Evict)
		if !ok {
			continue
		}
		var err error
		says.Pods = slices.Clone(says.Pods)
		if err = s.replacements(ctx, r.victims, says.Pods); err != nil {
			return c, err
		}
		c.remedies[i].says = says
	}
	return c, nil
}

// replacements fills in the replacements of evicted pods.
func (s *search) replacements(ctx context.Context, victims []*v1.Pod, out []explain.EvictedPod) error {
	for i, p := range victims {
		if owner := metav1.GetControllerOfNoCopy(p); owner == nil || !runs(owner) {
			continue
		}
		again := fresh(p)
		again.GenerateName, again.Name = cmp.Or(p.GenerateName, p.Name+"-"), ""
		next, err := s.trial.New(again)
		if err != nil {
			return err
		}
		out[i].Replacement = &explain.Replacement{}
		if s.placements--; s.placements < 0 {
			continue
		}
		node, err := s.trial.Choose(ctx, next, "")
		if _, unknown := err.(*whatif.ProfileError); unknown {
			out[i].Replacement = nil // Another scheduler decides.
			continue
		}
		if err != nil {
			return err
		}
		if node == "" {
			continue
		}
		out[i].Replacement.Node = node
		if err := s.trial.Place(ctx, next, "", node); err != nil {
			return err
		}
	}
	return nil
}

// priorities offers the lowest priority class of the cluster with which the scheduler makes room for the pod.
func (s *search) priorities(ctx context.Context) error {
	if s.target != "" || whatif.GroupName(s.pod) != "" || len(s.pod.Spec.SchedulingGates) > 0 {
		return nil
	}
	objects, err := s.trial.List(schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"))
	if err != nil {
		return nil // The state has none.
	}
	var classes []*schedulingv1.PriorityClass
	for _, o := range objects {
		class := o.(*schedulingv1.PriorityClass)
		never := ptr.Deref(class.PreemptionPolicy, v1.PreemptLowerPriority) == v1.PreemptNever
		reserved := strings.HasPrefix(class.Name, "system-") && s.pod.Namespace != metav1.NamespaceSystem
		if class.Value > corev1.PodPriority(s.pod) && !never && !reserved {
			classes = append(classes, class)
		}
	}
	slices.SortFunc(classes, func(a, b *schedulingv1.PriorityClass) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), strings.Compare(a.Name, b.Name))
	})
	for _, class := range classes[:min(len(classes), mostClasses)] {
		if s.full() || s.checks <= 0 {
			return nil
		}
		o, err := s.prioritized(ctx, class)
		if err != nil || o != nil {
			if o != nil {
				return s.offer(ctx, *o, nil)
			}
			return err
		}
	}
	return nil
}

// prioritized returns the suggestion of a class, or nil if the scheduler would not make room for the pod.
func (s *search) prioritized(ctx context.Context, class *schedulingv1.PriorityClass) (*offer, error) {
	s.checks--
	r := remedy{shape: "raisePriority", detail: class.Name, disturbance: ofOthers, cost: costOfPriority, pod: func(spec *v1.PodSpec) {
		spec.PriorityClassName, spec.PreemptionPolicy = class.Name, nil
		if spec.Priority != nil {
			spec.Priority, spec.PreemptionPolicy = ptr.To(class.Value), class.PreemptionPolicy
		}
	}}
	if newnode.OfDaemonSet(s.pod) {
		r.disturbance = ofPod // What they are for must run on each node.
	}
	c := candidate{remedies: []remedy{r}}
	mark := s.trial.Mark()
	defer s.trial.Rollback(mark)
	w, pod, err := s.apply(c)
	if err != nil {
		return nil, err
	}
	victims, at, err := s.preempts(ctx, pod)
	if err != nil || len(victims) == 0 || slices.ContainsFunc(victims, s.sibling) || !s.evictor(s.all).within(victims) {
		return nil, err
	}
	says := explain.RaisePriority{Class: class.Name, From: corev1.PodPriority(s.pod), To: class.Value, Node: at.chosen, Pods: evictedPods(victims)}
	if err := s.trial.Place(ctx, pod, s.profile, at.chosen); err != nil {
		return nil, err
	}
	if err := s.replacements(ctx, victims, says.Pods); err != nil {
		return nil, err
	}
	c.remedies[0].says = says
	evicted := w
	evicted.hypothetical = slices.Clone(w.hypothetical[:w.others])
	for _, p := range victims {
		evicted.hypothetical = append(evicted.hypothetical, whatif.Change{Delete: podRef(p)})
	}
	evicted.others = len(evicted.hypothetical)
	if whole, err := s.whole(ctx, c, mark, &evicted); err != nil || !whole {
		return nil, err
	}
	advice := explain.Advice{Steps: c.steps()}
	if w.manner != nil {
		advice.Manner = &explain.Statement{Operands: w.manner}
	}
	return &offer{candidate: c, Suggestion: Suggestion{Kind: KindEvict, Advice: advice, Changes: w.real, Hypothesis: w.hypothetical, Nodes: at.nodes, SelectedNode: at.chosen}}, nil
}

// preempted returns the victims of a decision, or nil if not all of them are known.
func (s *search) preempted(cycle *result.Cycle) []*v1.Pod {
	at := slices.IndexFunc(cycle.Preemption.Candidates, func(c result.Candidate) bool { return c.Node == cycle.NominatedNode })
	if at < 0 || cycle.Preemption.Candidates[at].VictimsDropped > 0 {
		return nil
	}
	var out []*v1.Pod
	for _, v := range cycle.Preemption.Candidates[at].Victims {
		object, err := s.trial.Get(podKind, v.Pod.Namespace, v.Pod.Name)
		if err != nil {
			return nil
		}
		out = append(out, object.(*v1.Pod))
	}
	slices.SortFunc(out, byPriority)
	return out
}

// resizes returns cures that take back resizes of pods on a node which it has not granted.
func (s *search) resizes(node string) []cure {
	var out []cure
	for _, n := range s.nodes {
		if n.Node().Name != node {
			continue
		}
		for _, on := range n.GetPods() {
			if r := takeBack(on.GetPod()); r != nil {
				out = append(out, cure{*r})
			}
		}
	}
	return out
}

// takeBack returns the remedy that takes back the pending resize of a pod; nil if it has none. The scheduler counts the larger one of what the
// pod asks for and what it has.
func takeBack(p *v1.Pod) *remedy {
	pending := slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.PodResizePending && c.Status == v1.ConditionTrue })
	if !pending || p.DeletionTimestamp != nil {
		return nil
	}
	changed := p.DeepCopy()
	back := func(containers []v1.Container, statuses []v1.ContainerStatus) {
		for i := range containers {
			c := &containers[i]
			at := slices.IndexFunc(statuses, func(s v1.ContainerStatus) bool { return s.Name == c.Name })
			if at < 0 {
				continue
			}
			granted := statuses[at].AllocatedResources
			var limits v1.ResourceList
			if actual := statuses[at].Resources; actual != nil {
				limits = actual.Limits
				if len(granted) == 0 {
					granted = actual.Requests
				}
			}
			lowerTo(c.Resources.Requests, granted)
			lowerTo(c.Resources.Limits, limits)
		}
	}
	back(changed.Spec.Containers, changed.Status.ContainerStatuses)
	back(changed.Spec.InitContainers, changed.Status.InitContainerStatuses)
	cuts := requestCuts(&p.Spec, &changed.Spec)
	if len(cuts) == 0 {
		return nil
	}
	patch, err := patchOf(p, changed, v1.Pod{})
	if err != nil {
		return nil // Pods can be encoded.
	}
	return &remedy{
		says:  explain.TakeBackResize{Namespace: p.Namespace, Name: p.Name, Node: p.Spec.NodeName, Requests: cuts},
		shape: "takeBackResize", detail: p.Namespace + "/" + p.Name, disturbance: ofPod, cost: costOfResize,
		others: &whatif.Patch{ObjectRef: *podRef(p), Patch: patch, Subresource: "resize"},
	}
}

// lowerTo lowers amounts to those that are granted.
func lowerTo(amounts, granted v1.ResourceList) {
	for name, had := range granted {
		if asks, ok := amounts[name]; ok && asks.Cmp(had) > 0 {
			amounts[name] = had
		}
	}
}
