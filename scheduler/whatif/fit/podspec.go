package fit

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/result"
)

// The functions of this file relax a pod's spec. They also work on the template that the
// pod was made from: they find what they change by its contents, and do nothing if it is
// not there.

// tolerate adds tolerations of exactly these taints.
func tolerate(spec *v1.PodSpec, taints []v1.Taint) {
	for _, t := range taints {
		added := v1.Toleration{Key: t.Key, Operator: v1.TolerationOpEqual, Value: t.Value, Effect: t.Effect}
		if t.Value == "" {
			added.Operator = v1.TolerationOpExists
		}
		if !slices.Contains(spec.Tolerations, added) {
			spec.Tolerations = append(spec.Tolerations, added)
		}
	}
}

// dropSelector removes labels from the node selector.
func dropSelector(spec *v1.PodSpec, keys []string) {
	for _, key := range keys {
		delete(spec.NodeSelector, key)
	}
	if len(spec.NodeSelector) == 0 {
		spec.NodeSelector = nil
	}
}

// dropRequirements removes requirements of one term of the required node affinity. A term
// that has none left selects no node, so all terms go with it.
func dropRequirements(spec *v1.PodSpec, drop []result.TermComparison) {
	required := requiredNodeAffinity(spec)
	if required == nil {
		return
	}
	for _, d := range drop {
		if d.Term >= len(required.NodeSelectorTerms) {
			continue
		}
		term := &required.NodeSelectorTerms[d.Term]
		same := func(r v1.NodeSelectorRequirement) bool { return sameRequirement(r, d) }
		term.MatchExpressions = slices.DeleteFunc(term.MatchExpressions, same)
		term.MatchFields = slices.DeleteFunc(term.MatchFields, same)
		if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
			dropNodeAffinity(spec)
			return
		}
	}
}

// acceptValue adds a value to a requirement of the required node affinity.
func acceptValue(spec *v1.PodSpec, to result.TermComparison) {
	required := requiredNodeAffinity(spec)
	if required == nil || to.Term >= len(required.NodeSelectorTerms) {
		return
	}
	expressions := required.NodeSelectorTerms[to.Term].MatchExpressions
	for i := range expressions {
		if sameRequirement(expressions[i], to) {
			expressions[i].Values = append(slices.Clone(expressions[i].Values), *to.Actual)
		}
	}
}

func sameRequirement(r v1.NodeSelectorRequirement, c result.TermComparison) bool {
	return r.Key == c.Key && string(r.Operator) == c.Operator && slices.Equal(r.Values, c.Values)
}

func requiredNodeAffinity(spec *v1.PodSpec) *v1.NodeSelector {
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil {
		return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// dropNodeAffinity removes the required node affinity.
func dropNodeAffinity(spec *v1.PodSpec) {
	if requiredNodeAffinity(spec) == nil {
		return
	}
	a := spec.Affinity
	a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
	if len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		a.NodeAffinity = nil
	}
	dropEmptyAffinity(spec)
}

func dropEmptyAffinity(spec *v1.PodSpec) {
	if *spec.Affinity == (v1.Affinity{}) {
		spec.Affinity = nil
	}
}

// requiredTerms returns the required terms of pod affinity or anti-affinity.
func requiredTerms(spec *v1.PodSpec, anti bool) []v1.PodAffinityTerm {
	switch a := spec.Affinity; {
	case a == nil:
	case anti && a.PodAntiAffinity != nil:
		return a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	case !anti && a.PodAffinity != nil:
		return a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// dropPodTerms removes required terms of pod affinity or anti-affinity.
func dropPodTerms(spec *v1.PodSpec, anti bool, terms []v1.PodAffinityTerm) {
	takePodTerms(spec, anti, terms)
	dropEmptyPodTerms(spec)
}

// preferPodTerms makes preferences of required terms.
func preferPodTerms(spec *v1.PodSpec, anti bool, terms []v1.PodAffinityTerm) {
	for _, t := range takePodTerms(spec, anti, terms) {
		preferred := v1.WeightedPodAffinityTerm{Weight: 100, PodAffinityTerm: t}
		if anti {
			to := &spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
			*to = append(*to, preferred)
		} else {
			to := &spec.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution
			*to = append(*to, preferred)
		}
	}
}

// takePodTerms removes required terms, and returns them as the spec has them.
func takePodTerms(spec *v1.PodSpec, anti bool, terms []v1.PodAffinityTerm) []v1.PodAffinityTerm {
	var kept, taken []v1.PodAffinityTerm
	for _, t := range requiredTerms(spec, anti) {
		if slices.ContainsFunc(terms, func(o v1.PodAffinityTerm) bool { return equality.Semantic.DeepEqual(bareTerm(t), bareTerm(o)) }) {
			taken = append(taken, t)
		} else {
			kept = append(kept, t)
		}
	}
	switch {
	case len(taken) == 0:
	case anti:
		spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = kept
	default:
		spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = kept
	}
	return taken
}

func dropEmptyPodTerms(spec *v1.PodSpec) {
	a := spec.Affinity
	if a == nil {
		return
	}
	if with := a.PodAffinity; with != nil && len(with.RequiredDuringSchedulingIgnoredDuringExecution)+len(with.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		a.PodAffinity = nil
	}
	if without := a.PodAntiAffinity; without != nil && len(without.RequiredDuringSchedulingIgnoredDuringExecution)+len(without.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		a.PodAntiAffinity = nil
	}
	dropEmptyAffinity(spec)
}

// bareTerm returns a term as the template has it: without the requirements that the API server adds for its label keys.
func bareTerm(t v1.PodAffinityTerm) v1.PodAffinityTerm {
	out := *t.DeepCopy()
	bareSelector(out.LabelSelector, out.MatchLabelKeys, metav1.LabelSelectorOpIn)
	bareSelector(out.LabelSelector, out.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
	return out
}

// bareSpread is bareTerm for a constraint.
func bareSpread(c v1.TopologySpreadConstraint) v1.TopologySpreadConstraint {
	out := *c.DeepCopy()
	bareSelector(out.LabelSelector, out.MatchLabelKeys, metav1.LabelSelectorOpIn)
	return out
}

func bareSelector(selector *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator) {
	if selector == nil {
		return
	}
	selector.MatchExpressions = slices.DeleteFunc(selector.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
		return slices.Contains(keys, r.Key) && r.Operator == operator && len(r.Values) == 1
	})
}

// samePodTerm reports whether a comparison may be about a term. Terms that differ in their namespaces only may share it.
func samePodTerm(t v1.PodAffinityTerm, c result.PodTermComparison) bool {
	return t.TopologyKey == c.TopologyKey && selectorText(t.LabelSelector) == c.Selector
}

func selectorText(s *metav1.LabelSelector) string {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return ""
	}
	return selector.String()
}

// changeSpread changes those constraints of the spec that are like these.
func changeSpread(spec *v1.PodSpec, own []v1.TopologySpreadConstraint, change func(*v1.TopologySpreadConstraint)) {
	for i := range spec.TopologySpreadConstraints {
		s := &spec.TopologySpreadConstraints[i]
		if slices.ContainsFunc(own, func(o v1.TopologySpreadConstraint) bool {
			return equality.Semantic.DeepEqual(bareSpread(*s), bareSpread(o))
		}) {
			change(s)
		}
	}
}

// sameSpread reports whether a comparison may be about a constraint. Constraints that differ in their selectors only may share it.
func sameSpread(s v1.TopologySpreadConstraint, c result.SpreadComparison) bool {
	return s.WhenUnsatisfiable == v1.DoNotSchedule && s.TopologyKey == c.TopologyKey && int(s.MaxSkew) == c.MaxSkew
}

// dropHostPorts gives up ports of the host. A pod in the host's network has no other
// ports, so there it loses the whole entry.
func dropHostPorts(spec *v1.PodSpec, ports []result.Port) {
	drop := func(p v1.ContainerPort) bool {
		return slices.Contains(ports, result.Port{Protocol: string(p.Protocol), HostIP: p.HostIP, Port: p.HostPort})
	}
	for _, containers := range [][]v1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			c := &containers[i]
			if spec.HostNetwork {
				c.Ports = slices.DeleteFunc(c.Ports, drop)
				continue
			}
			for j := range c.Ports {
				if drop(c.Ports[j]) {
					c.Ports[j].HostPort, c.Ports[j].HostIP = 0, ""
				}
			}
		}
	}
}

func openGates(spec *v1.PodSpec) { spec.SchedulingGates = nil }
