package fit

import (
	"slices"

	v1 "k8s.io/api/core/v1"
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

// dropPodTerms removes required terms of pod affinity or anti-affinity.
func dropPodTerms(spec *v1.PodSpec, anti bool, terms []result.PodTermComparison) {
	a := spec.Affinity
	if a == nil {
		return
	}
	drop := func(t v1.PodAffinityTerm) bool {
		return slices.ContainsFunc(terms, func(c result.PodTermComparison) bool { return samePodTerm(t, c) })
	}
	if !anti && a.PodAffinity != nil {
		required := &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*required = slices.DeleteFunc(*required, drop)
		if len(*required)+len(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			a.PodAffinity = nil
		}
	}
	if anti && a.PodAntiAffinity != nil {
		required := &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*required = slices.DeleteFunc(*required, drop)
		if len(*required)+len(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			a.PodAntiAffinity = nil
		}
	}
	dropEmptyAffinity(spec)
}

func samePodTerm(t v1.PodAffinityTerm, c result.PodTermComparison) bool {
	if t.TopologyKey != c.TopologyKey {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	return err == nil && selector.String() == c.Selector
}

// raiseMaxSkew lets the constraints on which the plugin stumbled allow a skew of to.
func raiseMaxSkew(spec *v1.PodSpec, c result.SpreadComparison, to int) {
	for i := range spec.TopologySpreadConstraints {
		if s := &spec.TopologySpreadConstraints[i]; sameSpread(*s, c) {
			s.MaxSkew = int32(to)
		}
	}
}

// preferSpread makes a preference of the constraints on which the plugin stumbled.
func preferSpread(spec *v1.PodSpec, c result.SpreadComparison) {
	for i := range spec.TopologySpreadConstraints {
		if s := &spec.TopologySpreadConstraints[i]; sameSpread(*s, c) {
			s.WhenUnsatisfiable = v1.ScheduleAnyway
			s.MinDomains = nil // is for DoNotSchedule only
		}
	}
}

func sameSpread(s v1.TopologySpreadConstraint, c result.SpreadComparison) bool {
	return s.WhenUnsatisfiable == v1.DoNotSchedule && s.TopologyKey == c.TopologyKey && int(s.MaxSkew) == c.MaxSkew
}

// spreads reports whether the constraint is the pod's own, and not one of the plugin's
// arguments.
func spreads(spec *v1.PodSpec, c result.SpreadComparison) bool {
	return slices.ContainsFunc(spec.TopologySpreadConstraints, func(s v1.TopologySpreadConstraint) bool { return sameSpread(s, c) })
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
