package comparison

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// comparePodAffinity finds the affinity term that was not met, or the violated
// anti-affinity term with a pod that matches it.
func comparePodAffinity(h fwk.Handle, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	own, err := framework.NewPodInfo(pod)
	if err != nil {
		return nil
	}
	nodes := h.SnapshotSharedLister().NodeInfos()
	all, err := nodes.List()
	if err != nil {
		return nil
	}
	out := &result.Comparison{}
	for _, term := range own.GetRequiredAffinityTerms() {
		if domain := label(node.Node(), term.TopologyKey); domain == nil || matching(h, all, term, *domain) == nil {
			out.PodTerms = append(out.PodTerms, podTerm("affinity", node, term, nil))
		}
	}
	for _, term := range own.GetRequiredAntiAffinityTerms() {
		domain := label(node.Node(), term.TopologyKey)
		if domain == nil {
			continue
		}
		if met := matching(h, all, term, *domain); met != nil {
			out.PodTerms = append(out.PodTerms, podTerm("antiAffinity", node, term, met))
		}
	}
	out.PodTerms = append(out.PodTerms, existingAntiAffinity(h, nodes, pod, node)...)
	if len(out.PodTerms) == 0 {
		return nil
	}
	return out
}

// matching returns a pod in a domain that matches a term, or nil.
func matching(h fwk.Handle, nodes []fwk.NodeInfo, term fwk.AffinityTerm, domain string) *v1.Pod {
	for _, n := range nodes {
		if n.Node().Labels[term.TopologyKey] != domain {
			continue
		}
		for _, pi := range n.GetPods() {
			if term.Matches(pi.GetPod(), namespaceLabels(h, pi.GetPod().Namespace)) {
				return pi.GetPod()
			}
		}
	}
	return nil
}

// existingAntiAffinity returns an anti-affinity term of a running pod that repels
// pod.
func existingAntiAffinity(h fwk.Handle, nodes fwk.NodeInfoLister, pod *v1.Pod, node fwk.NodeInfo) []result.PodTermComparison {
	with, err := nodes.HavePodsWithRequiredAntiAffinityList()
	if err != nil {
		return nil
	}
	ns := namespaceLabels(h, pod.Namespace)
	for _, n := range with {
		for _, pi := range n.GetPodsWithRequiredAntiAffinity() {
			for _, term := range pi.GetRequiredAntiAffinityTerms() {
				domain := label(node.Node(), term.TopologyKey)
				if domain != nil && n.Node().Labels[term.TopologyKey] == *domain && term.Matches(pod, ns) {
					return []result.PodTermComparison{podTerm("existingAntiAffinity", node, term, pi.GetPod())}
				}
			}
		}
	}
	return nil
}

func podTerm(rule string, node fwk.NodeInfo, term fwk.AffinityTerm, met *v1.Pod) result.PodTermComparison {
	out := result.PodTermComparison{
		Rule: rule, TopologyKey: term.TopologyKey, Domain: label(node.Node(), term.TopologyKey), Selector: term.Selector.String(),
	}
	if met != nil {
		p := result.Pod{Namespace: met.Namespace, Name: met.Name, UID: met.UID}
		out.Pod = &p
	}
	return out
}

func namespaceLabels(h fwk.Handle, name string) labels.Set {
	ns, err := h.SharedInformerFactory().Core().V1().Namespaces().Lister().Get(name)
	if err != nil {
		return nil
	}
	return ns.Labels
}
