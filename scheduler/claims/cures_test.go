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
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/fit"
)

// cures are the experiments for the kinds of suggestions. Every suggestion is carried out: the pod then fits on the nodes that are named, and
// the scheduler chooses the one that is named.
var cures = map[fit.Kind]bool{fit.KindPod: true, fit.KindNode: true, fit.KindAddNode: true, fit.KindEvict: true, "wait": true}

// steps are the experiments that try a smaller change than an advice, by the kind of its step. A step whose experiment is nil cannot be smaller.
var steps = map[explain.Kind]func(*lab, fit.Suggestion, explain.Operands) error{
	"lowerRequests": nil, "tolerate": nil, "dropRequirements": nil, "acceptValue": nil, "preferSpread": nil, "dropPodTerms": (*lab).fewerTerms, "dropHostPorts": nil,
	"openGates": nil, "uncordon": nil, "removeTaints": nil, "labelNode": nil, "addNode": nil, "evict": (*lab).fewerEvictions, "raiseMaxSkew": (*lab).smallerSkew,
	"wait": nil, "honorPolicy": nil, "lowerMinDomains": nil, "preferPodTerms": nil, "raisePriority": nil, "takeBackResize": nil, "scaleDown": nil, "changeStorageClass": nil,
}

// manners and omissions state how a change is made, and what was not looked at.
var manners = map[explain.Kind]string{
	"recreated": "the changes that are carried out are its experiment", "rolledOut": "the changes that are carried out are its experiment",
	"restartedWorkload": "the changes that are carried out are its experiment",
	"changesNotTried":   "it says what was not tried", "combinationsNotTried": "it says what was not tried", "newNodesNotTried": "it says what was not tried",
	"evictionsNotTried": "it says what was not tried", "rolloutNotTried": "it says what was not tried",
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
		if on := l.feasible(l.asked(name)); len(on) > 0 {
			return fmt.Errorf("%v are feasible", on)
		}
		if len(answer.Suggestions)+len(answer.Incurable) == 0 {
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
	if chosen, tied := l.choose(pod); !slices.Contains(tied, s.SelectedNode) {
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

// fewerEvictions: each of the victims must go.
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
	return nil
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
	drop := o.(explain.DropPodTerms)
	listOf := func(p *v1.Pod) *[]v1.PodAffinityTerm {
		if drop.Anti {
			return &p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		}
		return &p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	total := len(*listOf(l.pod))
	// The smallest number of terms without which the pod fits.
	fewest := total + 1
	for set := range 1 << total {
		kept := []v1.PodAffinityTerm{}
		for i, term := range *listOf(l.pod) {
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
			left = len(*listOf(p))
		}
		if left != total-fewest {
			return fmt.Errorf("%d terms stay", left)
		}
	}
	return nil
}

// incurable: no pod that goes, no label, taint or size of the node takes the plugin's rejection away.
func (l *lab) incurable(name types.NamespacedName, o fit.Incurable) error {
	pod := l.asked(name)
	for _, node := range o.Nodes {
		if l.rejects(pod, o.Plugin, node) == nil {
			return fmt.Errorf("%s does not reject %s", o.Plugin, node)
		}
	}
	for _, p := range l.trial.Pods() {
		if p.UID != pod.UID && p.Spec.NodeName != "" && p.DeletionTimestamp == nil && priority(p) <= priority(pod) {
			l.remove(p.Namespace, p.Name)
		}
	}
	for _, node := range o.Nodes {
		if l.rejects(pod, o.Plugin, node) == nil && l.fits(pod, node) {
			return fmt.Errorf("without the other pods it fits on %s", node)
		}
	}
	return nil
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
