package whatif

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// autoscalers are known by what they write on their nodes: the prefixes of keys of labels, annotations and taints.
var autoscalers = []struct {
	name     string
	prefixes []string
}{
	{"Cluster Autoscaler", []string{"cluster-autoscaler.kubernetes.io/", "ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler"}},
	{"Karpenter", []string{"karpenter.sh/"}},
}

// autoscalersOf returns the names of those that manage some of the nodes, in order.
func autoscalersOf(nodes []fwk.NodeInfo) (names []string) {
	for _, a := range autoscalers {
		wrote := func(key string) bool {
			return slices.ContainsFunc(a.prefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
		}
		if slices.ContainsFunc(nodes, func(info fwk.NodeInfo) bool { return anyKey(info.Node(), wrote) }) {
			names = append(names, a.name)
		}
	}
	return names
}

// anyKey reports whether a label, an annotation or a taint of the node has such a key.
func anyKey(n *v1.Node, such func(key string) bool) bool {
	for key := range n.Labels {
		if such(key) {
			return true
		}
	}
	for key := range n.Annotations {
		if such(key) {
			return true
		}
	}
	return slices.ContainsFunc(n.Spec.Taints, func(t v1.Taint) bool { return such(t.Key) })
}
