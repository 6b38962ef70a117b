package fit

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/storage/ephemeral"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// mostSpared is how many pods are tried one by one for whether the pod must wait for them.
const mostSpared = 24

// Awaited is an object that a pod waits for.
type Awaited struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// wait finds out whether the pod fits when time passes and nothing is changed: when pods that are
// terminating are gone and volumes are detached, when pods that are nominated have been placed,
// when its group is complete, or when the scheduler preempts for it. It makes that happen in the
// trial, and asks.
func (s *search) wait(ctx context.Context) error {
	if len(s.pod.Spec.SchedulingGates) > 0 {
		return nil
	}
	w := &waiting{search: s, leaving: append(s.leaving(), s.detaching()...), nominated: s.nominated()}
	for _, find := range []func(context.Context) (*offer, error){w.forLeaving, w.forNominated, s.waitForMembers, s.waitForPreemption} {
		found, err := find(ctx)
		if err != nil || found != nil {
			s.waits = found
			return err
		}
	}
	return nil
}

// knownEnd reports whether there is a wait whose end is known.
func (s *search) knownEnd() bool { return s.waits != nil && s.waits.Until != nil }

// makesRoom reports whether the scheduler evicts pods on its own.
func (s *search) makesRoom() bool {
	return s.waits != nil && s.waits.Steps[0].Operands.(explain.Wait).Preempts
}

// waiting looks for what the pod waits for.
type waiting struct {
	*search
	// leaving holds first what goes first. What gives no time comes last.
	leaving []leaver
	// nominated are other pods that are nominated to a node, the most important first.
	nominated []*v1.Pod
}

// leaver is what goes without anybody's doing: a pod that is terminating, or the attachment of a
// volume that no pod uses any more.
type leaver struct {
	whatif.ObjectRef
	node string
	// by is when it is gone at the latest; nil if nobody can tell.
	by *time.Time
	// volume is set for an attachment.
	volume string
}

func (l leaver) on() string { return l.node }

func (s *search) leaving() []leaver {
	var pods []*v1.Pod
	for _, p := range s.trial.Pods() {
		if p.DeletionTimestamp != nil && p.Spec.NodeName != "" && p.UID != s.pod.UID {
			pods = append(pods, p)
		}
	}
	slices.SortFunc(pods, byPriority)
	out := make([]leaver, len(pods))
	for i, p := range pods {
		out[i] = leaver{*podRef(p), p.Spec.NodeName, s.goneBy(p), ""}
	}
	slices.SortStableFunc(out, func(a, b leaver) int {
		switch {
		case a.by != nil && b.by != nil:
			return a.by.Compare(*b.by)
		case a.by == nil && b.by == nil:
			return 0
		case a.by == nil:
			return 1
		}
		return -1
	})
	return out
}

// detaching returns the attachments that the attach/detach controller takes back: those of volumes
// that no pod uses on the node, except pods that leave. NodeVolumeLimits counts an attachment until
// it is deleted.
func (s *search) detaching() []leaver {
	attachments, err := s.trial.List(attachmentKind)
	if err != nil || len(attachments) == 0 {
		return nil
	}
	type attached struct{ node, volume string }
	used := map[attached]bool{}
	for _, p := range s.trial.Pods() {
		for i := range p.Spec.Volumes {
			v := &p.Spec.Volumes[i]
			name := ""
			switch {
			case v.PersistentVolumeClaim != nil:
				name = v.PersistentVolumeClaim.ClaimName
			case v.Ephemeral != nil:
				name = ephemeral.VolumeClaimName(p, v)
			}
			object, _ := s.trial.Get(claimKind, p.Namespace, name)
			if claim, ok := object.(*v1.PersistentVolumeClaim); ok && p.DeletionTimestamp == nil {
				used[attached{p.Spec.NodeName, claim.Spec.VolumeName}] = true
			}
		}
	}
	var out []leaver
	for _, o := range attachments {
		a := o.(*storagev1.VolumeAttachment)
		if volume := a.Spec.Source.PersistentVolumeName; volume != nil && !used[attached{a.Spec.NodeName, *volume}] {
			out = append(out, leaver{whatif.ObjectRef{GVK: attachmentKind, Name: a.Name}, a.Spec.NodeName, nil, *volume})
		}
	}
	slices.SortFunc(out, func(a, b leaver) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// goneBy returns when a pod that is terminating is gone at the latest: at the end of its grace period. It returns nil if nobody can tell, because
// the end has passed already, a finalizer keeps the pod, or no kubelet is there to end it.
func (s *search) goneBy(p *v1.Pod) *time.Time {
	node, _ := s.trial.Get(nodeKind, "", p.Spec.NodeName)
	if on, ok := node.(*v1.Node); !ok || !answers(on) || len(p.Finalizers) > 0 || !p.DeletionTimestamp.After(s.trial.Now()) {
		return nil
	}
	end := p.DeletionTimestamp.UTC()
	return &end
}

// answers reports whether the kubelet of a node does not lack.
func answers(n *v1.Node) bool {
	return !slices.ContainsFunc(n.Status.Conditions, func(c v1.NodeCondition) bool { return c.Type == v1.NodeReady && c.Status != v1.ConditionTrue })
}

func (s *search) nominated() []*v1.Pod {
	var out []*v1.Pod
	for _, p := range s.trial.Pods() {
		if p.Spec.NodeName == "" && p.DeletionTimestamp == nil && p.Status.NominatedNodeName != "" && p.UID != s.pod.UID {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *v1.Pod) int {
		return cmp.Or(cmp.Compare(corev1.PodPriority(b), corev1.PodPriority(a)), byPriority(a, b))
	})
	return out
}

// place is where the pod fits after a wait.
type place struct {
	nodes  []string
	chosen string
}

// after returns where the pod fits when something is gone, and when the scheduler has placed
// others; no node if it does not fit.
func (s *search) after(ctx context.Context, gone []leaver, placed []*v1.Pod) (place, error) {
	mark := s.trial.Mark()
	defer s.trial.Rollback(mark)
	for _, l := range gone {
		if err := s.trial.Apply(whatif.Change{Delete: &l.ObjectRef}); err != nil {
			return place{}, err
		}
	}
	for _, p := range placed {
		node, err := s.trial.Choose(ctx, p, "")
		if err != nil {
			return place{}, err
		}
		if node == "" {
			continue
		}
		if err := s.trial.Place(ctx, p, "", node); err != nil {
			return place{}, err
		}
	}
	return s.where(ctx, s.pod)
}

// where returns where a pod fits, on the target if there is one, with the others of its group.
func (s *search) where(ctx context.Context, pod *v1.Pod) (place, error) {
	s.checks--
	nodes, chosen, err := s.trial.Where(ctx, pod, s.profile)
	if err != nil || chosen == "" {
		return place{}, err
	}
	if whatif.GroupName(pod) != "" {
		if chosen, _, err = s.withGroup(ctx, pod); err != nil || chosen == "" {
			return place{}, err
		}
		if !slices.Contains(nodes, chosen) {
			nodes = append(nodes, chosen) // beside another member
		}
	}
	if s.target != "" && !slices.Contains(nodes, s.target) {
		return place{}, nil
	}
	if nominated := pod.Status.NominatedNodeName; slices.Contains(nodes, nominated) {
		chosen = nominated
	}
	slices.Sort(nodes)
	return place{nodes, chosen}, nil
}

// forLeaving waits for what is gone first, and of that for as little as it can.
func (w *waiting) forLeaving(ctx context.Context) (*offer, error) {
	if len(w.leaving) == 0 {
		return nil, nil
	}
	all, err := w.after(ctx, w.leaving, nil)
	if err != nil || all.chosen == "" {
		return nil, err
	}
	enough, few := 0, len(w.leaving)
	for enough+1 < few {
		half := (enough + few) / 2
		found, err := w.after(ctx, w.leaving[:half], nil)
		if err != nil {
			return nil, err
		}
		if found.chosen == "" {
			enough = half
		} else {
			few, all = half, found
		}
	}
	needed, at, err := spare(w.leaving[:few], leaver.on, all, func(left []leaver) (place, error) { return w.after(ctx, left, nil) })
	if err != nil {
		return nil, err
	}
	return w.offer(needed, nil, at), nil
}

// forNominated waits for pods that leave, and for nominated pods that the scheduler then places elsewhere than where they hold room.
func (w *waiting) forNominated(ctx context.Context) (*offer, error) {
	if len(w.nominated) == 0 {
		return nil, nil
	}
	at, err := w.after(ctx, w.leaving, w.nominated)
	if err != nil || at.chosen == "" {
		return nil, err
	}
	gone, at, err := spare(w.leaving, leaver.on, at, func(left []leaver) (place, error) { return w.after(ctx, left, w.nominated) })
	if err != nil {
		return nil, err
	}
	nominatedTo := func(p *v1.Pod) string { return p.Status.NominatedNodeName }
	placed, at, err := spare(w.nominated, nominatedTo, at, func(left []*v1.Pod) (place, error) { return w.after(ctx, gone, left) })
	if err != nil {
		return nil, err
	}
	return w.offer(gone, placed, at), nil
}

// spare leaves out that for which the pod need not wait. First it tries to wait only for what is on
// the node that it would go to.
func spare[T any](all []T, on func(T) string, at place, try func([]T) (place, error)) ([]T, place, error) {
	here := slices.DeleteFunc(slices.Clone(all), func(item T) bool { return on(item) != at.chosen })
	if len(here) < len(all) {
		found, err := try(here)
		if err != nil {
			return nil, at, err
		}
		if found.chosen != "" {
			all, at = here, found
		}
	}
	for i := len(all) - 1; i >= max(len(all)-mostSpared, 0); i-- {
		fewer := slices.Delete(slices.Clone(all), i, i+1)
		found, err := try(fewer)
		if err != nil {
			return nil, at, err
		}
		if found.chosen != "" {
			all, at = fewer, found
		}
	}
	return all, at, nil
}

func (w *waiting) offer(gone []leaver, placed []*v1.Pod, at place) *offer {
	says := explain.Wait{Terminating: []explain.PodName{}, Nominated: []explain.NominatedPod{}}
	var awaited []Awaited
	var until *time.Time
	known := len(placed) == 0
	for _, l := range gone {
		apiVersion, kind := l.GVK.ToAPIVersionAndKind()
		awaited = append(awaited, Awaited{apiVersion, kind, l.Namespace, l.Name})
		if l.volume == "" {
			says.Terminating = append(says.Terminating, explain.PodName{Namespace: l.Namespace, Name: l.Name})
		} else {
			says.Detaching = append(says.Detaching, explain.AttachedVolume{Volume: l.volume, Node: l.node})
		}
		if known = known && l.by != nil; known && (until == nil || l.by.After(*until)) {
			until = l.by
		}
	}
	for _, p := range placed {
		says.Nominated = append(says.Nominated, explain.NominatedPod{PodName: explain.PodName{Namespace: p.Namespace, Name: p.Name}, Node: p.Status.NominatedNodeName})
		awaited = append(awaited, awaitedPod(p))
	}
	if known {
		says.Until = until
	}
	return waitOffer(says, awaited, at)
}

func awaitedPod(p *v1.Pod) Awaited {
	return Awaited{APIVersion: "v1", Kind: "Pod", Namespace: p.Namespace, Name: p.Name}
}

func waitOffer(says explain.Wait, awaited []Awaited, at place) *offer {
	advice := explain.Advice{Steps: []explain.Statement{{Operands: says}}}
	out := &offer{Suggestion: Suggestion{
		Kind: KindWait, Advice: advice, Text: advice.String(), For: awaited, Nodes: at.nodes, SelectedNode: at.chosen,
		Changes: []whatif.Change{}, Hypothesis: []whatif.Change{},
	}}
	if says.Until != nil {
		out.Until = &metav1.Time{Time: *says.Until}
	}
	return out
}

// waitForAttempt returns the wait of a pod that fits, and that the scheduler has yet to try again.
func (s *search) waitForAttempt(ctx context.Context, q Question) ([]Suggestion, error) {
	if q.Waiting == nil || !s.writer.exists || s.writer.pod.Spec.NodeName != "" || len(q.Changes) > 0 {
		return nil, nil
	}
	pod := s.writer.pod
	wait := q.Waiting(result.Pod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID})
	if wait == nil {
		return nil, nil
	}
	at, err := s.where(ctx, s.pod)
	if err != nil || at.chosen == "" {
		return nil, err
	}
	says := explain.Wait{Terminating: []explain.PodName{}, Nominated: []explain.NominatedPod{}, Queue: wait.Queue, Until: wait.Until}
	return []Suggestion{waitOffer(says, []Awaited{awaitedPod(pod)}, at).Suggestion}, nil
}

// group is a pod group with the least number of pods that it needs.
type group struct {
	gvk  schema.GroupVersionKind
	name string
	// of reports whether a pod belongs to the group.
	of    func(*v1.Pod) bool
	least int
}

// Coscheduling's groups.
const coschedulingLabel = "scheduling.x-k8s.io/pod-group"

var (
	podGroupKind     = schedulingv1beta1.SchemeGroupVersion.WithKind("PodGroup")
	coschedulingKind = schema.GroupVersionKind{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "PodGroup"}
)

// groupOf returns the pod's group, or nil if it has none, or its group may have any number of pods.
func (s *search) groupOf(pod *v1.Pod) *group {
	if name := whatif.GroupName(pod); name != "" {
		object, _ := s.trial.Get(podGroupKind, pod.Namespace, name)
		g, ok := object.(*schedulingv1beta1.PodGroup)
		if !ok || g.Spec.SchedulingPolicy.Gang == nil {
			return nil
		}
		return &group{podGroupKind, name, func(p *v1.Pod) bool { return whatif.GroupName(p) == name }, int(g.Spec.SchedulingPolicy.Gang.MinCount)}
	}
	name := pod.Labels[coschedulingLabel]
	if name == "" {
		return nil
	}
	object, _ := s.trial.Get(coschedulingKind, pod.Namespace, name)
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	least, _, _ := unstructured.NestedInt64(u.Object, "spec", "minMember")
	return &group{coschedulingKind, name, func(p *v1.Pod) bool { return p.Labels[coschedulingLabel] == name }, int(least)}
}

// waitForMembers makes the members that the pod's group lacks.
func (s *search) waitForMembers(ctx context.Context) (*offer, error) {
	g := s.groupOf(s.pod)
	if g == nil {
		return nil, nil
	}
	missing := g.least
	for _, p := range s.trial.Pods() {
		if p.Namespace == s.pod.Namespace && p.DeletionTimestamp == nil && (p.UID == s.pod.UID || g.of(p)) {
			missing--
		}
	}
	if missing <= 0 || missing > mostPods {
		return nil, nil
	}
	mark := s.trial.Mark()
	defer s.trial.Rollback(mark)
	next, err := s.trial.Another(s.pod)
	if err != nil {
		return nil, err
	}
	if _, err := s.trial.Await(ctx, next, missing); err != nil {
		return nil, err
	}
	at, err := s.where(ctx, s.pod)
	if err != nil || at.chosen == "" {
		return nil, err
	}
	says := explain.Wait{Terminating: []explain.PodName{}, Nominated: []explain.NominatedPod{}, Group: &explain.ShortGroup{Namespace: s.pod.Namespace, Name: g.name, Missing: missing}}
	apiVersion, kind := g.gvk.ToAPIVersionAndKind()
	return waitOffer(says, []Awaited{{apiVersion, kind, s.pod.Namespace, g.name}}, at), nil
}

// waitForPreemption is for a pod that the scheduler has yet to try: it makes room for the pod then,
// in a quota too.
func (s *search) waitForPreemption(ctx context.Context) (*offer, error) {
	mark := s.trial.Mark()
	defer s.trial.Rollback(mark)
	victims, at, err := s.preempts(ctx, s.pod)
	if err != nil || len(victims) == 0 || s.target != "" && at.chosen != s.target {
		return nil, err
	}
	says := explain.Wait{Terminating: []explain.PodName{}, Nominated: []explain.NominatedPod{}, Preempts: true}
	return waitOffer(says, []Awaited{awaitedPod(s.writer.pod)}, place{nodes: []string{}}), nil
}

// preempts returns the pods that the scheduler evicts for a pod, and where the pod then fits. It
// leaves them deleted. There are none if the scheduler makes no room, or not all of them are known.
func (s *search) preempts(ctx context.Context, pod *v1.Pod) ([]*v1.Pod, place, error) {
	if whatif.GroupName(pod) != "" {
		return nil, place{}, nil
	}
	cycle, err := s.trial.Decide(ctx, pod, s.profile)
	if err != nil || cycle.NominatedNode == "" || cycle.Preemption == nil {
		return nil, place{}, err
	}
	victims := s.preempted(cycle)
	for _, p := range victims {
		if err := s.trial.Apply(whatif.Change{Delete: podRef(p)}); err != nil {
			return nil, place{}, err
		}
	}
	at, err := s.where(ctx, pod)
	if err != nil || at.chosen == "" {
		return nil, place{}, err
	}
	if slices.Contains(at.nodes, cycle.NominatedNode) {
		at.chosen = cycle.NominatedNode
	}
	return victims, at, nil
}
