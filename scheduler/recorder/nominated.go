package recorder

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// SawNominatedPods notes that the scheduler has read nominated pods. Nothing else reveals that it
// then filters a node twice, first as if they ran there. The recorder looks for that pass until the
// end of the cycle. Any goroutine may call it, also for a node that is not filtered.
func (r *Recorder) SawNominatedPods() {
	if !r.nominating.Load() { // write once, because Filter's workers read it
		r.nominating.Store(true)
	}
}

// nominatedPasses collects the nodes that were filtered with their nominated pods. They are few,
// because nominated pods wait for victims to terminate.
type nominatedPasses struct {
	mu     sync.Mutex
	byNode map[string]*result.NominatedPass
	// given are the nodes with their nominated pods, as Filter saw them.
	given map[string]fwk.NodeInfo
}

// note notes that Filter sees node with more than the running pods of the snapshot; the others are
// nominated. Every Filter plugin reports the pass; note keeps it once. A nomination that does not
// count because of its priority adds no pod.
func (n *nominatedPasses) note(node fwk.NodeInfo, running int) {
	pods := node.GetPods()
	if len(pods) <= running {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	name := node.Node().Name
	if n.byNode[name] != nil {
		return
	}
	if n.byNode == nil {
		n.byNode = map[string]*result.NominatedPass{}
	}
	pass := &result.NominatedPass{Node: name, PodCount: len(pods) - running}
	for _, pod := range pods[running:] {
		pass.Pods = append(pass.Pods, podOf(pod.GetPod()))
	}
	slices.SortFunc(pass.Pods, func(a, b result.Pod) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	pass.Pods = slices.Clip(pass.Pods[:min(len(pass.Pods), result.MaxNominatedPods)])
	n.byNode[name] = pass
	if n.given == nil {
		n.given = map[string]fwk.NodeInfo{}
	}
	n.given[name] = node
}

// with returns a node with its nominated pods, nil if it was not filtered with any.
func (n *nominatedPasses) with(node string) fwk.NodeInfo {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.given[node]
}

func (n *nominatedPasses) forget(node string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.byNode, node)
	delete(n.given, node)
}

func (n *nominatedPasses) reject(node string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if pass := n.byNode[node]; pass != nil {
		pass.Rejected = true
	}
}

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
