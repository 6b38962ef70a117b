package claims

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/fit"
)

// smaller are the experiments that try less than a step of a suggestion.
type smaller struct {
	// parts returns what the step does, one by one. after is the pod with the suggestion.
	parts func(l *lab, o explain.Operands, after *v1.PodSpec) []part
	// also tries what no part shows.
	also func(*lab, fit.Suggestion, explain.Operands) error
}

// part is one of the things that a step does, in the words of what is so without it. One or more of
// the others undo it.
type part struct {
	without string
	// of reports whether a change of the hypothesis belongs to it.
	of    func(whatif.Change) bool
	pod   func(*v1.PodSpec)
	state func()
}

// steps are the experiments by the kind of the step. A step that has none cannot be smaller.
var steps = map[explain.Kind]smaller{
	"lowerRequests": {parts: (*lab).cuts}, "tolerate": {parts: (*lab).tolerations}, "dropRequirements": {parts: (*lab).requirements},
	"dropPodTerms": {(*lab).podTerms, (*lab).fewestTerms}, "preferPodTerms": {(*lab).podTerms, (*lab).fewestTerms}, "dropHostPorts": {parts: (*lab).hostPorts},
	"raiseMaxSkew": {parts: (*lab).skew}, "lowerMinDomains": {parts: (*lab).minDomains}, "raisePriority": {also: (*lab).lowerClass}, "scaleDown": {also: (*lab).smallerScale},
	"removeTaints": {parts: (*lab).taints}, "labelNode": {parts: (*lab).nodeLabels}, "evict": {(*lab).evictions, (*lab).otherVictims}, "addNode": {parts: (*lab).newNodes},
	"wait":        {parts: (*lab).awaited},
	"acceptValue": {}, "preferSpread": {}, "openGates": {}, "uncordon": {}, "honorPolicy": {}, "takeBackResize": {}, "changeStorageClass": {},
}

// examineSmaller tries less than a step.
func (l *lab) examineSmaller(name types.NamespacedName, s fit.Suggestion, o explain.Operands) {
	kind := "smaller " + string(explain.KindOf(o))
	try := steps[explain.KindOf(o)]
	if try.parts != nil {
		if node, ok := o.(explain.AddNode); ok && len(node.More) > 0 {
			kind += " of several"
		}
		mark := l.trial.Mark()
		l.apply(s.Hypothesis...)
		after := l.asked(name).Spec.DeepCopy()
		l.trial.Rollback(mark)
		if parts := try.parts(l, o, after); len(parts) > 0 {
			l.claim(kind, s, func() error { return l.eachPart(name, s, parts) })
		}
	}
	if try.also != nil && len(s.Steps) == 1 {
		l.claim(kind+" otherwise", s, func() error { return try.also(l, s, o) })
	}
}

// eachPart: without any one of the parts, and with all else that the suggestion does, the pod does
// not fit, or more pods of its workload stay without a node than the suggestion says.
func (l *lab) eachPart(name types.NamespacedName, s fit.Suggestion, parts []part) error {
	said := 0
	if s.Manner != nil {
		if leaves, ok := s.Manner.Operands.(explain.Leaves); ok {
			said = leaves.Pods
		}
	}
	mark := l.trial.Mark()
	for _, p := range parts {
		l.trial.Rollback(mark)
		l.apply(slices.DeleteFunc(slices.Clone(s.Hypothesis), func(c whatif.Change) bool { return p.of != nil && p.of(c) })...)
		if p.state != nil {
			p.state()
		}
		pod := l.asked(name).DeepCopy()
		if p.pod != nil {
			p.pod(&pod.Spec)
		}
		on := l.feasible(pod)
		if len(on) == 0 {
			continue
		}
		if left := l.left(pod, s); left > said {
			continue
		}
		return fmt.Errorf("with %s it fits on %v", p.without, on)
	}
	return nil
}

// workload returns the pods of the pod's workload that run, the last one first, and those that do
// not, the pod among them. replicas is how many there are to be, 0 if the state does not have the
// workload.
func (l *lab) workload() (running, waiting []*v1.Pod, replicas int) {
	owner := metav1.GetControllerOf(l.pod)
	if owner == nil {
		return nil, nil, 0
	}
	o, err := l.trial.Get(appsv1.SchemeGroupVersion.WithKind(owner.Kind), l.pod.Namespace, owner.Name)
	if err != nil {
		return nil, nil, 0
	}
	switch o := o.(type) {
	case *appsv1.ReplicaSet:
		replicas = int(*o.Spec.Replicas)
	case *appsv1.StatefulSet:
		replicas = int(*o.Spec.Replicas)
	}
	for _, p := range l.trial.Pods() {
		of := metav1.GetControllerOf(p)
		switch {
		case p.Namespace != l.pod.Namespace || of == nil || of.UID != owner.UID:
		case p.Spec.NodeName == "":
			waiting = append(waiting, p)
		default:
			running = append(running, p)
		}
	}
	slices.SortFunc(waiting, byName)
	slices.SortFunc(running, func(a, b *v1.Pod) int { return byName(b, a) })
	return running, waiting, replicas
}

func byName(a, b *v1.Pod) int {
	return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
}

// left returns how many pods of the pod's workload have no node when its controller has done what
// follows from the suggestion. With a new template, a ReplicaSet replaces the pods that wait, and a
// StatefulSet all of them, one after the other.
func (l *lab) left(pod *v1.Pod, s fit.Suggestion) int {
	running, waiting, replicas := l.workload()
	if replicas == 0 {
		return 0
	}
	next := func(like *v1.Pod) bool {
		p, err := l.trial.Another(like)
		l.must(err)
		node, err := l.trial.Choose(l.ctx, p, "")
		l.must(err)
		if node != "" {
			l.must(l.trial.Place(l.ctx, p, "", node))
		}
		return node != ""
	}
	rolledOut := s.Manner != nil && explain.KindOf(s.Manner.Operands) == explain.KindOf(explain.RolledOut{})
	if rolledOut && metav1.GetControllerOf(pod).Kind == "StatefulSet" {
		for _, p := range append(waiting, running...) {
			l.remove(p.Namespace, p.Name)
			if !next(pod) {
				return 1
			}
		}
		return 0
	}
	left := 0
	for _, p := range waiting {
		like := p
		if rolledOut || p.Name == pod.Name {
			like = pod
		}
		l.remove(p.Namespace, p.Name)
		if !next(like) {
			left++
		}
	}
	if !rolledOut {
		for range replicas - len(waiting) - len(running) {
			if !next(pod) {
				left++
			}
		}
	}
	return left
}

// cuts: a little more of a request.
func (l *lab) cuts(o explain.Operands, _ *v1.PodSpec) (out []part) {
	if qos.GetPodQOS(l.pod) == v1.PodQOSGuaranteed {
		return nil // any cut ends that, and with it the alignment to NUMA nodes
	}
	all := o.(explain.LowerRequests).Requests
	for _, cut := range all {
		ofPod := slices.ContainsFunc(all, func(c explain.RequestCut) bool { return c.Container == "" && c.Resource == cut.Resource })
		if ofPod && cut.Container != "" {
			continue // the request of the pod counts
		}
		unit := int64(1)
		if cut.From >= 1<<20 && (cut.Resource == "memory" || cut.Resource == "ephemeral-storage") {
			unit = 1 << 20
		}
		to := min(cut.To+unit, cut.From)
		more := resource.NewQuantity(to, resource.BinarySI)
		if cut.Resource == "cpu" {
			more = resource.NewMilliQuantity(to, resource.DecimalSI)
		}
		set := func(r *v1.ResourceRequirements) {
			if r.Requests == nil {
				r.Requests = v1.ResourceList{}
			}
			r.Requests[v1.ResourceName(cut.Resource)] = *more
		}
		out = append(out, part{without: fmt.Sprint(more, " of ", cut.Resource), pod: func(spec *v1.PodSpec) {
			if ofPod {
				set(spec.Resources)
			}
			for _, containers := range [][]v1.Container{spec.InitContainers, spec.Containers} {
				for i := range containers {
					if containers[i].Name == cut.Container {
						set(&containers[i].Resources)
					}
				}
			}
		}})
	}
	return out
}

// tolerations: one of them fewer.
func (l *lab) tolerations(o explain.Operands, _ *v1.PodSpec) (out []part) {
	for i, taint := range o.(explain.Tolerate).Taints {
		at := len(l.pod.Spec.Tolerations) + i
		out = append(out, part{without: "no toleration of " + taint, pod: func(spec *v1.PodSpec) { spec.Tolerations = slices.Delete(spec.Tolerations, at, at+1) }})
	}
	return out
}

// requirements: one of them still holds.
func (l *lab) requirements(o explain.Operands, _ *v1.PodSpec) (out []part) {
	for _, r := range o.(explain.DropRequirements).Requirements {
		if r.Key == "" {
			continue // no node meets the term
		}
		requirement := v1.NodeSelectorRequirement{Key: r.Key, Operator: v1.NodeSelectorOperator(r.Operator), Values: r.Values}
		out = append(out, part{without: "the requirement of " + r.Key, pod: func(spec *v1.PodSpec) {
			a := ptr.To(ptr.Deref(spec.Affinity, v1.Affinity{}))
			spec.Affinity, a.NodeAffinity = a, ptr.To(ptr.Deref(a.NodeAffinity, v1.NodeAffinity{}))
			required := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			if required == nil {
				required = &v1.NodeSelector{NodeSelectorTerms: make([]v1.NodeSelectorTerm, 1)}
				a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
			}
			for i := range required.NodeSelectorTerms {
				of := &required.NodeSelectorTerms[i].MatchExpressions
				if r.Key == metav1.ObjectNameField {
					of = &required.NodeSelectorTerms[i].MatchFields
				}
				*of = append(*of, requirement)
			}
		}})
	}
	return out
}

// hostPorts: one of them is still asked for.
func (l *lab) hostPorts(o explain.Operands, _ *v1.PodSpec) (out []part) {
	for i, c := range l.pod.Spec.Containers {
		for _, port := range c.Ports {
			text := fmt.Sprintf("%d/%s", port.HostPort, port.Protocol)
			if port.HostIP != "" {
				text = port.HostIP + ":" + text
			}
			if slices.Contains(o.(explain.DropHostPorts).Ports, text) {
				out = append(out, part{without: "the port " + text, pod: func(spec *v1.PodSpec) {
					spec.Containers[i].Ports = append(slices.DeleteFunc(spec.Containers[i].Ports, func(p v1.ContainerPort) bool {
						return p.ContainerPort == port.ContainerPort && p.Protocol == port.Protocol && p.HostPort == 0
					}), port)
				}})
			}
		}
	}
	return out
}

// skew: one less is allowed.
func (l *lab) skew(o explain.Operands, _ *v1.PodSpec) []part {
	raise := o.(explain.RaiseMaxSkew)
	return []part{{without: fmt.Sprint("maxSkew ", raise.To-1), pod: func(spec *v1.PodSpec) {
		for i := range spec.TopologySpreadConstraints {
			if c, own := &spec.TopologySpreadConstraints[i], l.pod.Spec.TopologySpreadConstraints[i]; own.TopologyKey == raise.TopologyKey && c.MaxSkew > own.MaxSkew {
				c.MaxSkew--
			}
		}
	}}}
}

// minDomains: one more must be there.
func (l *lab) minDomains(o explain.Operands, _ *v1.PodSpec) []part {
	lower := o.(explain.LowerMinDomains)
	more := int32(max(lower.To, 1) + 1)
	return []part{{without: fmt.Sprint("minDomains ", more), pod: func(spec *v1.PodSpec) {
		for i := range spec.TopologySpreadConstraints {
			c, own := &spec.TopologySpreadConstraints[i], l.pod.Spec.TopologySpreadConstraints[i]
			if own.TopologyKey == lower.TopologyKey && ptr.Deref(own.MinDomains, 1) > ptr.Deref(c.MinDomains, 1) {
				c.MinDomains = &more
			}
		}
	}}}
}

// podTermsOf returns the required terms that a step is about.
func podTermsOf(spec *v1.PodSpec, o explain.Operands) *[]v1.PodAffinityTerm {
	anti := false
	switch o := o.(type) {
	case explain.DropPodTerms:
		anti = o.Anti
	case explain.PreferPodTerms:
		anti = o.Anti
	}
	a := ptr.To(ptr.Deref(spec.Affinity, v1.Affinity{}))
	spec.Affinity = a
	if anti {
		a.PodAntiAffinity = ptr.To(ptr.Deref(a.PodAntiAffinity, v1.PodAntiAffinity{}))
		return &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	a.PodAffinity = ptr.To(ptr.Deref(a.PodAffinity, v1.PodAffinity{}))
	return &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// unique returns the terms without those that are listed twice.
func unique(terms []v1.PodAffinityTerm) (out []v1.PodAffinityTerm) {
	for _, t := range terms {
		if !containsTerm(out, t) {
			out = append(out, t)
		}
	}
	return out
}

func containsTerm(terms []v1.PodAffinityTerm, t v1.PodAffinityTerm) bool {
	return slices.ContainsFunc(terms, func(o v1.PodAffinityTerm) bool { return equality.Semantic.DeepEqual(o, t) })
}

// podTerms: one that goes is still required.
func (l *lab) podTerms(o explain.Operands, after *v1.PodSpec) (out []part) {
	for i, t := range unique(*podTermsOf(l.pod.Spec.DeepCopy(), o)) {
		if !containsTerm(*podTermsOf(after, o), t) {
			out = append(out, part{without: fmt.Sprint("term ", i), pod: func(spec *v1.PodSpec) {
				kept := podTermsOf(spec, o)
				*kept = append(*kept, t)
			}})
		}
	}
	return out
}

// fewestTerms: the pod fits without fewer of its terms only if those are as many as go.
func (l *lab) fewestTerms(_ fit.Suggestion, o explain.Operands) error {
	all := unique(*podTermsOf(l.pod.Spec.DeepCopy(), o))
	fewest := len(all) + 1
	for set := range 1 << len(all) {
		kept := []v1.PodAffinityTerm{}
		for i, term := range all {
			if set&(1<<i) == 0 {
				kept = append(kept, term)
			}
		}
		if gone := len(all) - len(kept); gone < fewest && len(l.feasible(l.as(func(p *v1.Pod) { *podTermsOf(&p.Spec, o) = kept }))) > 0 {
			fewest = gone
		}
	}
	says := 0
	switch o := o.(type) {
	case explain.DropPodTerms:
		says = len(o.Terms)
	case explain.PreferPodTerms:
		says = len(o.Terms)
	}
	if says != fewest {
		return fmt.Errorf("it fits without %d", fewest)
	}
	return nil
}

// taints: the node keeps one of them.
func (l *lab) taints(o explain.Operands, _ *v1.PodSpec) (out []part) {
	step := o.(explain.RemoveTaints)
	for _, taint := range l.nodeNamed(step.Node).Spec.Taints {
		if slices.Contains(step.Taints, taint.ToString()) {
			out = append(out, part{without: "the taint " + taint.ToString(), state: func() {
				l.changeNode(step.Node, func(n *v1.Node) { n.Spec.Taints = append(slices.Clone(n.Spec.Taints), taint) })
			}})
		}
	}
	return out
}

// nodeLabels: one of them stays as it is.
func (l *lab) nodeLabels(o explain.Operands, _ *v1.PodSpec) (out []part) {
	step := o.(explain.LabelNode)
	for _, label := range step.Labels {
		out = append(out, part{without: "the label " + label.Key + " unchanged", state: func() {
			l.changeNode(step.Node, func(n *v1.Node) {
				if delete(n.Labels, label.Key); label.From != nil {
					n.Labels[label.Key] = *label.From
				}
			})
		}})
	}
	return out
}

// evictions: one of the pods stays.
func (l *lab) evictions(o explain.Operands, _ *v1.PodSpec) (out []part) {
	for _, v := range o.(explain.Evict).Pods {
		out = append(out, part{without: v.Name, of: func(c whatif.Change) bool {
			return c.Delete != nil && c.Delete.GVK.Kind == "Pod" && c.Delete.Namespace == v.Namespace && c.Delete.Name == v.Name
		}})
	}
	return out
}

// otherVictims: no fewer pods that may go make room, and if one goes, no less important one does.
func (l *lab) otherVictims(_ fit.Suggestion, o explain.Operands) error {
	all := o.(explain.Evict).Pods
	// Several that all land again disturb less than one whose replacement waits.
	if len(all) > 1 && !slices.ContainsFunc(all, func(v explain.EvictedPod) bool { return v.Replacement == nil || v.Replacement.Node == "" }) {
		return nil
	}
	// A plugin that rejects the pod before it looks at nodes does not say for which pods. Those of
	// its namespace are tried first.
	quotas := strings.Contains(l.cluster.configuration, "CapacityScheduling")
	var able []*v1.Pod
	for _, p := range l.trial.Pods() {
		if p.UID != l.pod.UID && p.Spec.NodeName != "" && l.mayGo(p, l.pod) && (len(all) > 1 || priority(p) < all[0].Priority) && (p.Namespace == l.pod.Namespace || !quotas) {
			able = append(able, p)
		}
	}
	slices.SortFunc(able, func(a, b *v1.Pod) int { return strings.Compare(string(a.UID), string(b.UID)) })
	var fewer func(from, more int, gone []string) error
	fewer = func(from, more int, gone []string) error {
		if on := l.feasible(l.pod); len(on) > 0 {
			return fmt.Errorf("without %v it fits on %v", gone, on)
		}
		if more == 0 {
			return nil
		}
		for i := from; i < len(able); i++ {
			at := l.trial.Mark()
			l.remove(able[i].Namespace, able[i].Name)
			if err := fewer(i+1, more-1, append(slices.Clone(gone), able[i].Name)); err != nil {
				return err
			}
			l.trial.Rollback(at)
		}
		return nil
	}
	return fewer(0, min(max(len(all)-1, 1), 2), nil)
}

// newNodes: one fewer.
func (l *lab) newNodes(o explain.Operands, _ *v1.PodSpec) []part {
	step := o.(explain.AddNode)
	last := append([]string{step.Name}, step.More...)[len(step.More)]
	return []part{{without: fmt.Sprint(len(step.More), " nodes"), of: func(c whatif.Change) bool {
		switch o := c.Apply.(type) {
		case *v1.Node:
			return o.Name == last
		case *v1.Pod:
			return o.Spec.NodeName == last
		}
		return false
	}}}
}

// awaited: one of the pods does not leave, or one of the volumes stays attached.
func (l *lab) awaited(o explain.Operands, _ *v1.PodSpec) (out []part) {
	wait := o.(explain.Wait)
	if len(wait.Nominated) > 0 || wait.Group != nil || wait.Queue != "" || wait.Preempts {
		return nil // a scheduler must do that
	}
	for i := range len(wait.Terminating) + len(wait.Detaching) {
		out = append(out, part{without: fmt.Sprintf("number %d of what it waits for", i), state: func() { l.leave(wait, i) }})
	}
	return out
}

// leave lets go what a pod waits for, all but one.
func (l *lab) leave(wait explain.Wait, but int) {
	for i, p := range wait.Terminating {
		if i != but {
			l.remove(p.Namespace, p.Name)
		}
	}
	for i, v := range wait.Detaching {
		if len(wait.Terminating)+i != but {
			l.detach(func(a storagev1.VolumeAttachmentSpec) bool {
				return a.NodeName == v.Node && ptr.Deref(a.Source.PersistentVolumeName, "") == v.Volume
			})
		}
	}
}

// detach deletes attachments.
func (l *lab) detach(is func(storagev1.VolumeAttachmentSpec) bool) {
	gvk := storagev1.SchemeGroupVersion.WithKind("VolumeAttachment")
	all, err := l.trial.List(gvk)
	l.must(err)
	for _, o := range all {
		if a := o.(*storagev1.VolumeAttachment); is(a.Spec) {
			l.apply(whatif.Change{Delete: &whatif.ObjectRef{GVK: gvk, Name: a.Name}})
		}
	}
}

// lowerClass: with no lower class does the scheduler make room by evicting pods that may go.
func (l *lab) lowerClass(s fit.Suggestion, o explain.Operands) error {
	raise := o.(explain.RaisePriority)
	if s.Manner == nil || explain.KindOf(s.Manner.Operands) != explain.KindOf(explain.Recreated{}) {
		return errUntried // the others of the workload get the class, too
	}
	all, err := l.trial.List(schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"))
	l.must(err)
	for _, o := range all {
		class := o.(*schedulingv1.PriorityClass)
		if class.Value <= raise.From || class.Value >= raise.To || ptr.Deref(class.PreemptionPolicy, v1.PreemptLowerPriority) == v1.PreemptNever || strings.HasPrefix(class.Name, "system-") {
			continue
		}
		pod := l.as(func(p *v1.Pod) {
			p.Spec.PriorityClassName, p.Spec.Priority, p.Spec.PreemptionPolicy = class.Name, &class.Value, nil
		})
		mark := l.trial.Mark()
		cycle := l.decide(pod)
		l.trial.Rollback(mark)
		if cycle.NominatedNode == "" || cycle.Preemption == nil {
			continue
		}
		spares := false
		for _, c := range cycle.Preemption.Candidates {
			for _, v := range c.Victims {
				if o, err := l.trial.Get(v1.SchemeGroupVersion.WithKind("Pod"), v.Pod.Namespace, v.Pod.Name); c.Node == cycle.NominatedNode && (err != nil || !l.mayGo(o.(*v1.Pod), pod)) {
					spares = true
				}
			}
		}
		if !spares {
			return fmt.Errorf("with %s pods on %s give way", class.Name, cycle.NominatedNode)
		}
	}
	return nil
}

// smallerScale: with so many replicas, all that are left have a node. With one more, one of them
// has none, and gets none.
func (l *lab) smallerScale(_ fit.Suggestion, o explain.Operands) error {
	running, waiting, replicas := l.workload()
	down := o.(explain.ScaleDown)
	if down.From != replicas {
		return fmt.Errorf("it wants %d", replicas)
	}
	kept := func(replicas int) (out []*v1.Pod) {
		if down.WorkloadKind != "StatefulSet" { // the pods without a node go first
			return append(slices.Clone(running), waiting...)[:min(replicas, len(running)+len(waiting))]
		}
		return slices.SortedFunc(slices.Values(append(slices.Clone(running), waiting...)), byName)[:min(replicas, len(running)+len(waiting))]
	}
	for _, p := range kept(down.To) {
		if p.Spec.NodeName == "" {
			return fmt.Errorf("%s stays, and has no node", p.Name)
		}
	}
	more := kept(down.To + 1)
	for _, p := range waiting {
		if !slices.Contains(more, p) {
			l.remove(p.Namespace, p.Name)
		}
	}
	for _, p := range more {
		if p.Spec.NodeName != "" {
			continue
		}
		pod, err := l.trial.Pod(p.Namespace, p.Name)
		l.must(err)
		if on := l.feasible(pod); len(on) > 0 {
			return fmt.Errorf("with %d replicas %s fits on %v", down.To+1, p.Name, on)
		}
		return nil
	}
	return fmt.Errorf("with %d replicas no pod is without a node", down.To+1)
}
