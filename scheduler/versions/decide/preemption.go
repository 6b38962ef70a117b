package decide

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"kube-scheduler-simulator/scheduler/internal/preemptioncriteria"
	"kube-scheduler-simulator/scheduler/versions/wire"
)

// preempting stands in for an evaluator's strategy. It notes the candidates that dry runs find, and makes the choice among equals the
// same each time: the search begins at the first node, and the last criterion is the node's name.
type preempting struct {
	preemption.Interface

	mu         sync.Mutex
	candidates []wire.Candidate
}

// observePreemption makes a plugin evict no pod, and end its evictions before it returns rather than in the background.
func observePreemption(p *defaultpreemption.DefaultPreemption) (*preempting, error) {
	if err := evictNone(p); err != nil {
		return nil, err
	}
	out := &preempting{Interface: p.Evaluator.Interface}
	p.Evaluator.Interface = out
	return out, nil
}

// begin and end may be called on nil, which finds no candidates.
func (p *preempting) begin() {
	if p != nil {
		p.candidates = nil
	}
}

// end returns the candidates by name.
func (p *preempting) end() []wire.Candidate {
	if p == nil {
		return nil
	}
	slices.SortFunc(p.candidates, func(a, b wire.Candidate) int { return strings.Compare(a.Node, b.Node) })
	return p.candidates
}

// note notes what a dry run found on a node. Many workers call it at once.
func (p *preempting) note(node string, victims []*v1.Pod, violations int, status *fwk.Status) {
	if !status.IsSuccess() || len(victims) == 0 {
		return
	}
	c := wire.Candidate{Node: node, PDBViolations: violations}
	for _, v := range victims {
		c.Victims = append(c.Victims, wire.Reference{Namespace: v.Namespace, Name: v.Name, UID: string(v.UID)})
	}
	slices.SortFunc(c.Victims, func(a, b wire.Reference) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.candidates = append(p.candidates, c)
}

func (p *preempting) GetOffsetAndNumCandidates(nodes int32) (int32, int32) {
	_, candidates := p.Interface.GetOffsetAndNumCandidates(max(nodes, 1))
	return 0, candidates
}

// OrderedScoreFuncs returns the criteria of the plugin, or else Kubernetes', and then the name.
func (p *preempting) OrderedScoreFuncs(ctx context.Context, victims map[string]*extenderv1.Victims) []func(string) int64 {
	rank := map[string]int64{}
	for node := range victims {
		for other := range victims {
			if other > node {
				rank[node]++
			}
		}
	}
	byName := func(node string) int64 { return rank[node] }
	if own := p.Interface.OrderedScoreFuncs(ctx, victims); len(own) > 0 {
		return append(own, byName)
	}
	return preemptioncriteria.With(victims, func() time.Time { return never }, byName)
}

// never is the start of pods that have not started, which Kubernetes takes for the present.
var never = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
