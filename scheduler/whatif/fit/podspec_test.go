package fit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/result"
)

func in(key string, values ...string) v1.NodeSelectorRequirement {
	return v1.NodeSelectorRequirement{Key: key, Operator: v1.NodeSelectorOpIn, Values: values}
}

func nodeTerms(terms ...v1.NodeSelectorTerm) *v1.Affinity {
	return &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: terms}}}
}

func expressions(r ...v1.NodeSelectorRequirement) v1.NodeSelectorTerm {
	return v1.NodeSelectorTerm{MatchExpressions: r}
}

func podTerms(terms ...v1.PodAffinityTerm) []v1.PodAffinityTerm { return terms }

func over(key, app string) v1.PodAffinityTerm {
	return v1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}
}

func TestRelaxingASpec(t *testing.T) {
	unmet := func(term int, r v1.NodeSelectorRequirement, actual *string) result.TermComparison {
		return result.TermComparison{Source: fromPod, Term: term, Key: r.Key, Operator: string(r.Operator), Values: r.Values, Actual: actual}
	}
	spread := func(skew int32, when v1.UnsatisfiableConstraintAction) v1.TopologySpreadConstraint {
		return v1.TopologySpreadConstraint{TopologyKey: "zone", MaxSkew: skew, WhenUnsatisfiable: when}
	}
	port := func(container, host int32) v1.ContainerPort {
		return v1.ContainerPort{ContainerPort: container, HostPort: host, Protocol: v1.ProtocolTCP}
	}
	inNamespace := func(namespace string) v1.PodAffinityTerm {
		t := over("zone", "a")
		t.Namespaces = []string{namespace}
		return t
	}
	keyed := func(merged ...v1.NodeSelectorRequirement) v1.PodAffinityTerm {
		t := over("zone", "a")
		t.MatchLabelKeys = []string{"rev"}
		for _, r := range merged {
			t.LabelSelector.MatchExpressions = append(t.LabelSelector.MatchExpressions, metav1.LabelSelectorRequirement{Key: r.Key, Operator: metav1.LabelSelectorOpIn, Values: r.Values})
		}
		return t
	}
	exists := v1.NodeSelectorRequirement{Key: "gpu", Operator: v1.NodeSelectorOpExists}
	for _, test := range []struct {
		name  string
		spec  v1.PodSpec
		relax func(*v1.PodSpec)
		want  v1.PodSpec
	}{
		{
			name: "tolerate taints, with and without a value",
			relax: func(s *v1.PodSpec) {
				tolerate(s, []v1.Taint{{Key: "a", Value: "b", Effect: "NoSchedule"}, {Key: "c", Effect: "NoExecute"}})
			},
			want: v1.PodSpec{Tolerations: []v1.Toleration{
				{Key: "a", Operator: v1.TolerationOpEqual, Value: "b", Effect: "NoSchedule"}, {Key: "c", Operator: v1.TolerationOpExists, Effect: "NoExecute"},
			}},
		},
		{
			name:  "a toleration that is there already",
			spec:  v1.PodSpec{Tolerations: []v1.Toleration{{Key: "c", Operator: v1.TolerationOpExists, Effect: "NoExecute"}}},
			relax: func(s *v1.PodSpec) { tolerate(s, []v1.Taint{{Key: "c", Effect: "NoExecute"}}) },
			want:  v1.PodSpec{Tolerations: []v1.Toleration{{Key: "c", Operator: v1.TolerationOpExists, Effect: "NoExecute"}}},
		},
		{
			name:  "drop one label of the selector",
			spec:  v1.PodSpec{NodeSelector: map[string]string{"disk": "ssd", "arch": "arm"}},
			relax: func(s *v1.PodSpec) { dropSelector(s, []string{"disk"}) },
			want:  v1.PodSpec{NodeSelector: map[string]string{"arch": "arm"}},
		},
		{
			name:  "drop the last label of the selector",
			spec:  v1.PodSpec{NodeSelector: map[string]string{"disk": "ssd"}},
			relax: func(s *v1.PodSpec) { dropSelector(s, []string{"disk"}) },
		},
		{
			name:  "drop a requirement of the second term",
			spec:  v1.PodSpec{Affinity: nodeTerms(expressions(in("zone", "a")), expressions(in("zone", "a"), exists))},
			relax: func(s *v1.PodSpec) { dropRequirements(s, []result.TermComparison{unmet(1, exists, nil)}) },
			want:  v1.PodSpec{Affinity: nodeTerms(expressions(in("zone", "a")), expressions(in("zone", "a")))},
		},
		{
			name:  "a term without requirements would select nothing",
			spec:  v1.PodSpec{Affinity: nodeTerms(expressions(in("zone", "a")), expressions(exists))},
			relax: func(s *v1.PodSpec) { dropRequirements(s, []result.TermComparison{unmet(1, exists, nil)}) },
		},
		{
			name: "a requirement on the node's name",
			spec: v1.PodSpec{Affinity: nodeTerms(v1.NodeSelectorTerm{MatchFields: []v1.NodeSelectorRequirement{in("metadata.name", "n1")}, MatchExpressions: []v1.NodeSelectorRequirement{exists}})},
			relax: func(s *v1.PodSpec) {
				dropRequirements(s, []result.TermComparison{unmet(0, in("metadata.name", "n1"), ptr.To("n2"))})
			},
			want: v1.PodSpec{Affinity: nodeTerms(v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{exists}, MatchFields: []v1.NodeSelectorRequirement{}})},
		},
		{
			name:  "accept a value",
			spec:  v1.PodSpec{Affinity: nodeTerms(expressions(in("zone", "a")))},
			relax: func(s *v1.PodSpec) { acceptValue(s, unmet(0, in("zone", "a"), ptr.To("b"))) },
			want:  v1.PodSpec{Affinity: nodeTerms(expressions(in("zone", "a", "b")))},
		},
		{
			name: "a template without what the pod has",
			relax: func(s *v1.PodSpec) {
				acceptValue(s, unmet(0, in("zone", "a"), ptr.To("b")))
				dropRequirements(s, []result.TermComparison{unmet(0, exists, nil)})
				dropSelector(s, []string{"disk"})
				dropPodTerms(s, true, podTerms(over("zone", "a")))
				widerSkew([]v1.TopologySpreadConstraint{spread(1, v1.DoNotSchedule)}, 1, 1).pod(s)
			},
		},
		{
			name: "drop one of two terms of anti-affinity",
			spec: v1.PodSpec{Affinity: &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: podTerms(over("zone", "a"), over("zone", "b"))}}},
			relax: func(s *v1.PodSpec) {
				dropPodTerms(s, true, podTerms(over("zone", "a")))
			},
			want: v1.PodSpec{Affinity: &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: podTerms(over("zone", "b"))}}},
		},
		{
			name:  "drop the term of one namespace",
			spec:  v1.PodSpec{Affinity: &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: podTerms(inNamespace("y"), inNamespace("z"))}}},
			relax: func(s *v1.PodSpec) { dropPodTerms(s, true, podTerms(inNamespace("y"))) },
			want:  v1.PodSpec{Affinity: &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: podTerms(inNamespace("z"))}}},
		},
		{
			name:  "a term into which the API server has merged a label of the pod",
			spec:  v1.PodSpec{Affinity: &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: podTerms(keyed())}}},
			relax: func(s *v1.PodSpec) { dropPodTerms(s, true, podTerms(keyed(in("rev", "7")))) },
		},
		{
			name:  "prefer a term",
			spec:  v1.PodSpec{Affinity: &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: podTerms(over("zone", "a"), over("zone", "b"))}}},
			relax: func(s *v1.PodSpec) { preferPodTerms(s, true, podTerms(over("zone", "a"))) },
			want: v1.PodSpec{Affinity: &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution:  podTerms(over("zone", "b")),
				PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: over("zone", "a")}},
			}}},
		},
		{
			name: "drop the only term of affinity",
			spec: v1.PodSpec{Affinity: &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: podTerms(over("zone", "a"))}}},
			relax: func(s *v1.PodSpec) {
				dropPodTerms(s, false, podTerms(over("zone", "a")))
			},
		},
		{
			name:  "raise the skew of the constraint, not of a preference",
			spec:  v1.PodSpec{TopologySpreadConstraints: []v1.TopologySpreadConstraint{spread(1, v1.DoNotSchedule), spread(1, v1.ScheduleAnyway)}},
			relax: widerSkew([]v1.TopologySpreadConstraint{spread(1, v1.DoNotSchedule)}, 1, 2).pod,
			want:  v1.PodSpec{TopologySpreadConstraints: []v1.TopologySpreadConstraint{spread(3, v1.DoNotSchedule), spread(1, v1.ScheduleAnyway)}},
		},
		{
			name:  "prefer the spread",
			spec:  v1.PodSpec{TopologySpreadConstraints: []v1.TopologySpreadConstraint{{TopologyKey: "zone", MaxSkew: 1, WhenUnsatisfiable: v1.DoNotSchedule, MinDomains: ptr.To[int32](3)}}},
			relax: preference([]v1.TopologySpreadConstraint{{TopologyKey: "zone", MaxSkew: 1, WhenUnsatisfiable: v1.DoNotSchedule, MinDomains: ptr.To[int32](3)}}).pod,
			want:  v1.PodSpec{TopologySpreadConstraints: []v1.TopologySpreadConstraint{spread(1, v1.ScheduleAnyway)}},
		},
		{
			name: "give up a host port",
			spec: v1.PodSpec{Containers: []v1.Container{{Ports: []v1.ContainerPort{port(80, 8080), port(81, 8081)}}}},
			relax: func(s *v1.PodSpec) {
				dropHostPorts(s, []result.Port{{Protocol: "TCP", Port: 8080}})
			},
			want: v1.PodSpec{Containers: []v1.Container{{Ports: []v1.ContainerPort{port(80, 0), port(81, 8081)}}}},
		},
		{
			name: "in the host's network",
			spec: v1.PodSpec{HostNetwork: true, Containers: []v1.Container{{Ports: []v1.ContainerPort{port(80, 80), port(81, 81)}}}},
			relax: func(s *v1.PodSpec) {
				dropHostPorts(s, []result.Port{{Protocol: "TCP", Port: 80}})
			},
			want: v1.PodSpec{HostNetwork: true, Containers: []v1.Container{{Ports: []v1.ContainerPort{port(81, 81)}}}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.relax(&test.spec)
			if diff := cmp.Diff(test.want, test.spec); diff != "" {
				t.Error(diff)
			}
		})
	}
}
