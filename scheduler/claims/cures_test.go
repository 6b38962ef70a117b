package claims

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/fit"
)

// cures are the experiments for the kinds of suggestions. Every suggestion is carried out: the pod then fits on the nodes that are named, and
// the scheduler chooses the one that is named.
var cures = map[fit.Kind]bool{fit.KindPod: true, fit.KindNode: true, fit.KindAddNode: true, fit.KindEvict: true, "wait": true}

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
	l.claim("fit: the nearest first", answer, func() error { return l.nearestFirst(answer) })
	for _, s := range answer.Suggestions {
		if !cures[s.Kind] {
			l.Errorf("the kind of suggestion %s has no experiment", s.Kind)
		}
		l.claim("fit: "+string(s.Kind), s, func() error { return l.carriedOut(name, s) })
		if len(s.Hypothesis) > 1 {
			l.claim("fit: no part is enough", s, func() error { return l.noPartIsEnough(name, s) })
		}
		for _, step := range s.Steps {
			l.note("step " + string(explain.KindOf(step.Operands)))
			l.examineSmaller(name, s, step.Operands)
		}
		if s.Manner != nil {
			l.note("manner " + string(explain.KindOf(s.Manner.Operands)))
		}
	}
	for _, o := range answer.Incurable {
		l.claim("fit: incurable", o, func() error { return l.incurable(name, o) })
	}
}

// nearestFirst: of the suggestions to lower requests, the first one is about the node that the explanation calls the closest fit, if only its
// resources keep the pod off it.
func (l *lab) nearestFirst(answer *fit.Answer) error {
	for _, remark := range l.said.Remarks {
		near, is := remark.Operands.(explain.Nearest)
		if !is || metav1.GetControllerOfNoCopy(l.pod) != nil || whatif.GroupName(l.pod) != "" || len(l.pod.Spec.SchedulingGates) > 0 ||
			slices.ContainsFunc(near.Lacks, func(lack explain.Lack) bool { return lack.Resource == string(v1.ResourcePods) }) {
			continue
		}
		if obstacles, err := l.trial.Obstacles(l.ctx, l.pod, "", near.Node); err != nil || len(obstacles[0]) != 1 {
			return cmp.Or(err, errUntried)
		}
		least := l.as(func(p *v1.Pod) {
			p.Spec.Resources = nil
			for _, containers := range [][]v1.Container{p.Spec.InitContainers, p.Spec.Containers} {
				for i := range containers {
					containers[i].Resources = v1.ResourceRequirements{}
				}
			}
		})
		if !slices.Contains(l.feasible(least), near.Node) {
			return errUntried // its overhead alone is too much
		}
		for _, s := range answer.Suggestions {
			if lower, lowers := s.Steps[0].Operands.(explain.LowerRequests); lowers && len(s.Steps) == 1 {
				if !slices.Contains(s.Nodes, near.Node) && !givesUpLess(lower, near) {
					return fmt.Errorf("%s is the closest fit, and the first suggestion is for %v", near.Node, s.Nodes)
				}
				return nil
			}
		}
	}
	return errUntried
}

// givesUpLess reports whether nothing is lowered by more than the node lacks.
func givesUpLess(lower explain.LowerRequests, near explain.Nearest) bool {
	given := map[string]int64{}
	for _, c := range lower.Requests {
		given[c.Resource] += c.From - c.To
	}
	for _, lack := range near.Lacks {
		if given[lack.Resource] <= lack.Amount {
			delete(given, lack.Resource)
		}
	}
	return len(given) == 0
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
			l.leave(step, -1)
			if step.Preempts {
				if c := l.decide(l.asked(name)); c.NominatedNode == "" {
					return fmt.Errorf("the scheduler makes no room")
				}
				return nil
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
