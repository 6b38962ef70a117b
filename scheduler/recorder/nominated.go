package recorder

import (
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/result"
)

// nominatedPasses collects the nodes that were filtered with their nominated pods.
// There are few, because a nominated pod is one that waits for its victims to
// terminate. The zero value is empty.
type nominatedPasses struct {
	mu     sync.Mutex
	byNode map[string]*result.NominatedPass
}

// note adds a pod that counts as running on node. Every plugin with
// PreFilterExtensions reports it; note keeps it once.
func (n *nominatedPasses) note(node string, pod *v1.Pod) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byNode == nil {
		n.byNode = map[string]*result.NominatedPass{}
	}
	pass := n.byNode[node]
	if pass == nil {
		pass = &result.NominatedPass{Node: node}
		n.byNode[node] = pass
	}
	if p := podOf(pod); !slices.Contains(pass.Pods, p) {
		pass.Pods = append(pass.Pods, p)
	}
}

// reject notes that node was rejected in its pass with nominated pods.
func (n *nominatedPasses) reject(node string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if pass := n.byNode[node]; pass != nil {
		pass.Rejected = true
	}
}

// sorted returns the passes by node.
func (n *nominatedPasses) sorted() []result.NominatedPass {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []result.NominatedPass
	for _, pass := range n.byNode {
		out = append(out, *pass)
	}
	slices.SortFunc(out, func(a, b result.NominatedPass) int { return strings.Compare(a.Node, b.Node) })
	return out
}
