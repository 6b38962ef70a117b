package claims

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/fit"
)

// cures are the experiments for the kinds of suggestions. Every suggestion is carried out: the pod then fits on the nodes that are named, and
// the scheduler chooses the one that is named.
var cures = map[fit.Kind]bool{fit.KindPod: true, fit.KindNode: true, fit.KindAddNode: true, fit.KindEvict: true, "wait": true}

// steps are the experiments that try a smaller change than an advice, by the kind of its step. A step whose experiment is nil cannot be smaller.
var steps = map[explain.Kind]func(*lab, fit.Suggestion, explain.Operands) error{
	"lowerRequests": (*lab).smallerCut, "tolerate": (*lab).fewerTolerations, "dropRequirements": (*lab).fewerLabels, "acceptValue": nil, "preferSpread": nil,
	"dropPodTerms": (*lab).fewerTerms, "dropHostPorts": (*lab).fewerPorts, "openGates": nil, "uncordon": nil, "removeTaints": (*lab).fewerTaints, "labelNode": (*lab).fewerNodeLabels,
	"addNode": nil, "evict": (*lab).fewerEvictions, "raiseMaxSkew": (*lab).smallerSkew, "wait": nil, "honorPolicy": nil, "lowerMinDomains": (*lab).moreDomains,
	"preferPodTerms": (*lab).fewerTerms, "raisePriority": nil, "takeBackResize": nil, "scaleDown": nil, "changeStorageClass": nil,
}

// manners and omissions state how a change is made, and what was not looked at.
var manners = map[explain.Kind]string{
	"recreated": "the changes that are carried out are its experiment", "rolledOut": "the changes that are carried out are its experiment",
	"restartedWorkload": "the changes that are carried out are its experiment",
	"changesNotTried":   "it says what was not tried", "combinationsNotTried": "it says what was not tried", "newNodesNotTried": "it says what was not tried",
	"leaves":            "a live scheduler tries it in scheduler/whatif/fit",
	"evictionsNotTried": "it says what was not tried", "rolloutNotTried": "it says what was not tried",
	"noNodesToTry": "it says what was not tried",
}

// examineCures asks what makes a pending pod fit.
func (l *lab) examineCures(name types.NamespacedName) {
	answer, err := fit.Find(l.ctx, l.trial, fit.Question{PodRef: &name})
	l.trial.Rollback(whatif.Mark{})
	if err != nil {
		l.Errorf("%s: asking what makes it fit: %v", name, err)
		return
	}
	if answer.Fits {
		l.claim("fit: fits", answer, func() error {
			if pod := l.asked(name); len(l.feasible(pod)) == 0 {
				return fmt.Errorf("no node is feasible")
			}
			return nil
		})
		return
	}
	l.claim("fit: does not fit", answer, func() error {
		if on := l.feasible(l.asked(name)); len(on) > 0 && len(l.pod.Spec.SchedulingGates) == 0 {
			return fmt.Errorf("%v are feasible", on)
		}
		if len(answer.Suggestions)+len(answer.Incurable)+len(answer.LeftOut) == 0 {
			return fmt.Errorf("nothing is said")
		}
		return nil
	})
	for _, s := range answer.Suggestions {
		if !cures[s.Kind] {
			l.Errorf("the kind of suggestion %s has no experiment", s.Kind)
		}
		l.claim("fit: "+string(s.Kind), s, func() error { return l.carriedOut(name, s) })
		if len(s.Hypothesis) > 1 {
			l.claim("fit: no part is enough", s, func() error { return l.noPartIsEnough(name, s) })
		}
		for _, step := range s.Steps {
			l.note("step " + string(step.Operands.Kind()))
			if smaller := steps[step.Operands.Kind()]; smaller != nil && len(s.Steps) == 1 {
				l.claim("smaller "+string(step.Operands.Kind()), s, func() error { return smaller(l, s, step.Operands) })
			}
		}
		if s.Manner != nil {
			l.note("manner " + string(s.Manner.Operands.Kind()))
		}
	}
	for _, o := range answer.Incurable {
		l.claim("fit: incurable", o, func() error { return l.incurable(name, o) })
	}
}

// asked returns the pod as the decision expects it.
func (l *lab) asked(name types.NamespacedName) *v1.Pod {
	l.Helper()
	pod, err := l.trial.Pod(name.Namespace, name.Name)
	l.must(err)
	return pod
}

// carriedOut makes the changes, and asks the scheduler.
func (l *lab) carriedOut(name types.NamespacedName, s fit.Suggestion) error {
	if err := l.trial.Apply(s.Hypothesis...); err != nil {
		return fmt.Errorf("the changes are refused: %w", err)
	}
	nominated := ""
	for _, step := range s.Steps {
		switch step := step.Operands.(type) {
		case explain.Wait:
			if len(step.Nominated) > 0 || step.Group != nil || step.Queue != "" {
				return errUntried // a live scheduler must do that
			}
			for _, p := range step.Terminating {
				l.remove(p.Namespace, p.Name)
			}
		case explain.RaisePriority:
			nominated = step.Node         // which the scheduler tries first
			for _, p := range step.Pods { // which the scheduler then evicts
				l.remove(p.Namespace, p.Name)
			}
		}
	}
	pod, err := l.trial.Pod(name.Namespace, name.Name)
	if err != nil {
		return errUntried // the pod gets another name
	}
	if on := l.feasible(pod); !slices.Equal(on, slices.Sorted(slices.Values(s.Nodes))) {
		return fmt.Errorf("it fits on %v", on)
	}
	if chosen, tied := l.choose(pod); s.SelectedNode != nominated && !slices.Contains(tied, s.SelectedNode) {
		return fmt.Errorf("%s is chosen", chosen)
	}
	return nil
}

// noPartIsEnough leaves out each change that is no deletion or creation of the pod itself.
func (l *lab) noPartIsEnough(name types.NamespacedName, s fit.Suggestion) error {
	mark := l.trial.Mark()
	for i, c := range s.Hypothesis {
		if c.Delete != nil && c.Delete.GVK.Kind == "Pod" && c.Delete.Name == name.Name && c.Delete.Namespace == name.Namespace {
			continue // it makes place for the new one
		}
		if c.Delete != nil && c.Delete.GVK.Kind != "Pod" {
			continue // so does that of a claim
		}
		if o, ok := c.Apply.(*v1.Pod); ok && o.Name != name.Name {
			continue // what comes with a node or a workload
		}
		if c.Apply != nil {
			if _, pod := c.Apply.(*v1.Pod); !pod {
				continue
			}
		}
		l.trial.Rollback(mark)
		without := slices.Delete(slices.Clone(s.Hypothesis), i, i+1)
		if o, ok := c.Apply.(*v1.Pod); ok && o.Name == name.Name {
			without = slices.DeleteFunc(without, func(c whatif.Change) bool {
				return c.Delete != nil && c.Delete.Name == name.Name && c.Delete.Namespace == name.Namespace
			})
		}
		if l.trial.Apply(without...) != nil {
			continue
		}
		pod, err := l.trial.Pod(name.Namespace, name.Name)
		if err != nil {
			continue
		}
		if on := l.feasible(pod); len(on) > 0 {
			return fmt.Errorf("without change %d of %d it fits on %v", i+1, len(s.Hypothesis), on)
		}
	}
	return nil
}

// changed returns the pod after a suggestion, with one difference.
func (l *lab) changed(s fit.Suggestion, difference func(*v1.PodSpec)) *v1.Pod {
	mark := l.trial.Mark()
	l.apply(s.Hypothesis...)
	p := l.asked(types.NamespacedName{Namespace: l.pod.Namespace, Name: l.pod.Name})
	l.trial.Rollback(mark)
	return l.as(func(to *v1.Pod) {
		to.Spec = *p.Spec.DeepCopy()
		difference(&to.Spec)
	})
}

// notWith fails if the pod fits somewhere.
func (l *lab) notWith(pod *v1.Pod, what string, args ...any) error {
	if on := l.feasible(pod); len(on) > 0 {
		return fmt.Errorf("%s it fits on %v", fmt.Sprintf(what, args...), on)
	}
	return nil
}

// smallerCut: with a little more of a request, the pod does not fit.
func (l *lab) smallerCut(s fit.Suggestion, o explain.Operands) error {
	cuts := o.(explain.LowerRequests).Requests
	if len(cuts) != 1 || cuts[0].Container == "" {
		return errUntried // the others share what is left
	}
	if s.Manner != nil && s.Manner.Operands.Kind() != (explain.Recreated{}).Kind() {
		return errUntried // it is enough for all pods of the workload
	}
	if qos.GetPodQOS(l.pod) == v1.PodQOSGuaranteed {
		return errUntried // any cut ends that, and with it the alignment to NUMA nodes
	}
	cut := cuts[0]
	unit := int64(1)
	if cut.To >= 1<<20 && (cut.Resource == "memory" || cut.Resource == "ephemeral-storage") {
		unit = 1 << 20
	}
	if cut.To+unit >= cut.From {
		return errUntried
	}
	more := resource.NewQuantity(cut.To+unit, resource.BinarySI)
	if cut.Resource == "cpu" {
		more = resource.NewMilliQuantity(cut.To+unit, resource.DecimalSI)
	}
	return l.notWith(l.changed(s, func(spec *v1.PodSpec) {
		for _, containers := range [][]v1.Container{spec.InitContainers, spec.Containers} {
			for i := range containers {
				if c := &containers[i]; c.Name == cut.Container {
					if c.Resources.Requests == nil {
						c.Resources.Requests = v1.ResourceList{}
					}
					c.Resources.Requests[v1.ResourceName(cut.Resource)] = *more
				}
			}
		}
	}), "with %s", more)
}

// fewerTolerations: each of them is needed.
func (l *lab) fewerTolerations(s fit.Suggestion, o explain.Operands) error {
	for i := range o.(explain.Tolerate).Taints {
		err := l.notWith(l.changed(s, func(spec *v1.PodSpec) {
			at := len(l.pod.Spec.Tolerations) + i
			spec.Tolerations = slices.Delete(slices.Clone(spec.Tolerations), at, at+1)
		}), "without toleration %d", i)
		if err != nil {
			return err
		}
	}
	return nil
}

// fewerLabels: each label that the pod no longer selects must go.
func (l *lab) fewerLabels(s fit.Suggestion, _ explain.Operands) error {
	for key, value := range l.pod.Spec.NodeSelector {
		kept := false
		pod := l.changed(s, func(spec *v1.PodSpec) {
			if _, kept = spec.NodeSelector[key]; kept {
				return
			}
			if spec.NodeSelector == nil {
				spec.NodeSelector = map[string]string{}
			}
			spec.NodeSelector[key] = value
		})
		if kept {
			continue
		}
		if err := l.notWith(pod, "with the selector %s", key); err != nil {
			return err
		}
	}
	return nil
}

// fewerPorts: each port that the pod gives up must go.
func (l *lab) fewerPorts(s fit.Suggestion, _ explain.Operands) error {
	for i, c := range l.pod.Spec.Containers {
		for _, port := range c.Ports {
			kept := false
			pod := l.changed(s, func(spec *v1.PodSpec) {
				at := slices.IndexFunc(spec.Containers[i].Ports, func(p v1.ContainerPort) bool {
					return p.ContainerPort == port.ContainerPort && p.Protocol == port.Protocol && p.HostIP == port.HostIP
				})
				if kept = at >= 0 && spec.Containers[i].Ports[at].HostPort == port.HostPort; kept {
					return
				}
				if at >= 0 {
					spec.Containers[i].Ports = slices.Delete(spec.Containers[i].Ports, at, at+1)
				}
				spec.Containers[i].Ports = append(spec.Containers[i].Ports, port)
			})
			if kept {
				continue
			}
			if err := l.notWith(pod, "with the port %d", port.HostPort); err != nil {
				return err
			}
		}
	}
	return nil
}

// fewerTaints: each of them keeps the pod off, wherever it may go.
func (l *lab) fewerTaints(_ fit.Suggestion, o explain.Operands) error {
	step := o.(explain.RemoveTaints)
	mark := l.trial.Mark()
	for i := range step.Taints {
		l.trial.Rollback(mark)
		l.changeNode(step.Node, func(n *v1.Node) {
			n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t v1.Taint) bool {
				at := slices.Index(step.Taints, t.ToString())
				return at >= 0 && at != i
			})
		})
		if err := l.notWith(l.pod, "with the taint %s", step.Taints[i]); err != nil {
			return err
		}
	}
	return nil
}

// fewerNodeLabels: each of them is needed.
func (l *lab) fewerNodeLabels(_ fit.Suggestion, o explain.Operands) error {
	step := o.(explain.LabelNode)
	mark := l.trial.Mark()
	for i := range step.Labels {
		l.trial.Rollback(mark)
		l.changeNode(step.Node, func(n *v1.Node) {
			for j, c := range step.Labels {
				switch {
				case i == j:
				case c.To == nil:
					delete(n.Labels, c.Key)
				default:
					n.Labels[c.Key] = *c.To
				}
			}
		})
		if err := l.notWith(l.pod, "without the label %s", step.Labels[i].Key); err != nil {
			return err
		}
	}
	return nil
}

// moreDomains: with one domain more that must be there, the pod does not fit.
func (l *lab) moreDomains(s fit.Suggestion, o explain.Operands) error {
	lower := o.(explain.LowerMinDomains)
	to := max(lower.To, 1) + 1
	if to >= lower.From {
		return errUntried
	}
	return l.notWith(l.changed(s, func(spec *v1.PodSpec) {
		for i := range spec.TopologySpreadConstraints {
			own := &l.pod.Spec.TopologySpreadConstraints[i]
			if own.TopologyKey == lower.TopologyKey && own.MinDomains != nil && int(*own.MinDomains) == lower.From {
				spec.TopologySpreadConstraints[i].MinDomains = ptr.To(int32(to))
			}
		}
	}), "with minDomains %d", to)
}

// fewerEvictions: each of the victims must go, no fewer pods that may go make room, and if there is one, no less important one does.
func (l *lab) fewerEvictions(s fit.Suggestion, o explain.Operands) error {
	all := o.(explain.Evict).Pods
	mark := l.trial.Mark()
	for i := range all {
		l.trial.Rollback(mark)
		for j, v := range all {
			if i != j {
				l.remove(v.Namespace, v.Name)
			}
		}
		if on := l.feasible(l.pod); len(on) > 0 {
			return fmt.Errorf("%s may stay: it fits on %v", all[i].Name, on)
		}
	}
	l.trial.Rollback(mark)
	// Several that all land again disturb less than one whose replacement waits.
	if len(all) > 1 && !slices.ContainsFunc(all, func(v explain.EvictedPod) bool { return v.Replacement == nil || v.Replacement.Node == "" }) {
		return nil
	}
	// A plugin that rejects the pod before it looks at nodes does not say for which pods. Those of its namespace are tried first.
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
		if err := l.notWith(l.pod, "without %v", gone); err != nil || more == 0 {
			return err
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

// smallerSkew: one less is not enough.
func (l *lab) smallerSkew(s fit.Suggestion, o explain.Operands) error {
	raise := o.(explain.RaiseMaxSkew)
	with := func(skew int) []string {
		return l.feasible(l.as(func(p *v1.Pod) {
			for i := range p.Spec.TopologySpreadConstraints {
				c := &p.Spec.TopologySpreadConstraints[i]
				if c.TopologyKey == raise.TopologyKey && c.WhenUnsatisfiable == v1.DoNotSchedule && int(c.MaxSkew) == raise.From {
					c.MaxSkew = int32(skew)
				}
			}
		}))
	}
	if len(with(raise.To)) == 0 {
		return fmt.Errorf("with %d it does not fit", raise.To)
	}
	if raise.To-1 > raise.From && len(with(raise.To-1)) > 0 {
		return fmt.Errorf("with %d it fits", raise.To-1)
	}
	return nil
}

// fewerTerms: every term of the pod that differs from all that go stays, and each that goes must go.
func (l *lab) fewerTerms(s fit.Suggestion, o explain.Operands) error {
	drop, ok := o.(explain.DropPodTerms)
	if prefer, preferred := o.(explain.PreferPodTerms); preferred && !ok {
		drop = explain.DropPodTerms(prefer)
	}
	listOf := func(p *v1.Pod) *[]v1.PodAffinityTerm {
		if drop.Anti {
			return &p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		}
		return &p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	// One that is listed twice is one.
	unique := func(p *v1.Pod) (out []v1.PodAffinityTerm) {
		for _, t := range *listOf(p) {
			if !slices.ContainsFunc(out, func(o v1.PodAffinityTerm) bool { return equality.Semantic.DeepEqual(o, t) }) {
				out = append(out, t)
			}
		}
		return out
	}
	total := len(unique(l.pod))
	// The smallest number of terms without which the pod fits.
	fewest := total + 1
	for set := range 1 << total {
		kept := []v1.PodAffinityTerm{}
		for i, term := range unique(l.pod) {
			if set&(1<<i) == 0 {
				kept = append(kept, term)
			}
		}
		if gone := total - len(kept); gone < fewest && len(l.feasible(l.as(func(p *v1.Pod) { *listOf(p) = kept }))) > 0 {
			fewest = gone
		}
	}
	if len(drop.Terms) != fewest {
		return fmt.Errorf("it fits without %d", fewest)
	}
	for _, c := range s.Hypothesis {
		p, ok := c.Apply.(*v1.Pod)
		if !ok || p.Name != l.pod.Name || p.Spec.Affinity == nil {
			continue
		}
		left := 0
		if drop.Anti && p.Spec.Affinity.PodAntiAffinity != nil || !drop.Anti && p.Spec.Affinity.PodAffinity != nil {
			left = len(unique(p))
		}
		if left != total-fewest {
			return fmt.Errorf("%d terms stay", left)
		}
	}
	return nil
}

// incurable: the plugin rejects the nodes even when all pods are gone; if pods are to blame which may not be evicted, it does not, and does when only
// those are gone that may be.
func (l *lab) incurable(name types.NamespacedName, o fit.Incurable) error {
	pod := l.asked(name)
	rejected := func() (on []string) {
		for _, node := range o.Nodes {
			if r := l.rejects(pod, o.Plugin, node); r != nil && (o.Plugin != names.NodeResourcesFit || slices.Contains(r.Reasons, o.Reason)) {
				on = append(on, node)
			}
		}
		return on
	}
	if on := rejected(); len(on) < len(o.Nodes) {
		return fmt.Errorf("only %v are rejected", on)
	}
	for _, p := range l.trial.Pods() {
		if p.UID != pod.UID && p.Spec.NodeName != "" && (!o.Guarded || l.mayGo(p, pod)) {
			l.remove(p.Namespace, p.Name)
		}
	}
	if on := rejected(); len(on) < len(o.Nodes) {
		return fmt.Errorf("when pods are gone only %v are rejected", on)
	}
	if !o.Guarded {
		return nil
	}
	for _, p := range l.trial.Pods() {
		if p.UID != pod.UID && p.Spec.NodeName != "" {
			l.remove(p.Namespace, p.Name)
		}
	}
	if on := rejected(); len(on) > 0 {
		return fmt.Errorf("when all pods are gone %v are rejected", on)
	}
	return nil
}

// mayGo reports whether a pod may be evicted for another one, whatever else is.
func (l *lab) mayGo(p, pod *v1.Pod) bool {
	owner, own := metav1.GetControllerOf(p), metav1.GetControllerOf(pod)
	sibling := owner != nil && own != nil && p.Namespace == pod.Namespace && owner.UID == own.UID
	if p.DeletionTimestamp != nil || priority(p) > priority(pod) || sibling || owner != nil && owner.Kind == "DaemonSet" {
		return false
	}
	budgets, err := l.trial.List(policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"))
	l.must(err)
	return !slices.ContainsFunc(budgets, func(o runtime.Object) bool {
		b := o.(*policyv1.PodDisruptionBudget)
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		return err == nil && b.Namespace == p.Namespace && selector.Matches(labels.Set(p.Labels))
	})
}

// kindsOf returns the constants of a type in a package's source.
func kindsOf(dir, typeName string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if id, ok := spec.Type.(*ast.Ident); ok && id.Name == typeName {
				for _, v := range spec.Values {
					if lit, ok := v.(*ast.BasicLit); ok {
						out = append(out, strings.Trim(lit.Value, `"`))
					}
				}
			}
			return true
		})
	}
	return out, nil
}
