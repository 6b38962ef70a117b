package proxy

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"kube-scheduler-simulator/scheduler/versions/wire"
)

// preempting is the proxy of DefaultPreemption. The recorder learns from Preemption what it did.
type preempting struct {
	hinting
	real     *defaultpreemption.DefaultPreemption
	foretold *foretold
}

// Preemption returns what searches for victims and what evicts them.
func (p preempting) Preemption() (*preemption.Evaluator, *preemption.Executor) {
	return p.real.Evaluator, p.real.Executor
}

func (p preempting) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	p.foretold.chosen = ""
	if d := of(state); d != nil && d.Preemption != nil {
		p.foretold.chosen = d.Preemption.Node
	}
	res, status := p.real.PostFilter(ctx, state, pod, statuses)
	if d := of(state); status.IsRejected() && d != nil && d.Preemption != nil && d.Preemption.Status != nil {
		status = statusOf(d.Preemption.Status) // it knows why a dry run found no victims
	}
	return res, status
}

// foretold makes the evaluator find the candidates that the program has found, and choose the one that it has chosen. Everything else that
// preemption does is this version's: who may preempt, evictions and nominations.
type foretold struct {
	preemption.Interface
	// chosen is the node that the program nominated in the present cycle. The scheduling goroutine alone uses it.
	chosen string
}

// SelectVictimsOnNode is called by many workers at once.
func (f *foretold) SelectVictimsOnNode(_ context.Context, state fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo, _ []*preemption.DomainVictim, _ []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	var candidate *wire.Candidate
	if d := of(state); d != nil {
		candidate = d.candidates[node.Node().Name]
	}
	if candidate == nil {
		return nil, 0, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "No preemption victims found for incoming pod")
	}
	var victims []*v1.Pod
	for _, info := range node.GetPods() {
		if pod := info.GetPod(); slices.ContainsFunc(candidate.Victims, func(v wire.Reference) bool { return v.UID == string(pod.UID) }) {
			victims = append(victims, pod)
		}
	}
	if len(victims) != len(candidate.Victims) {
		return nil, 0, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "the victims that were chosen have gone")
	}
	slices.SortFunc(victims, func(a, b *v1.Pod) int {
		if util.MoreImportantPod(a, b) {
			return -1
		}
		return 1
	})
	return victims, candidate.PDBViolations, nil
}

// GetOffsetAndNumCandidates makes the search see all nodes: the program has chosen already.
func (f *foretold) GetOffsetAndNumCandidates(nodes int32) (int32, int32) { return 0, nodes }

func (f *foretold) OrderedScoreFuncs(context.Context, map[string]*extenderv1.Victims) []func(string) int64 {
	return []func(string) int64{func(node string) int64 {
		if node == f.chosen {
			return 1
		}
		return 0
	}}
}
