package recorder

import (
	"context"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/result"
)

// dryRuns observes the dry runs of DefaultPreemption. The evaluator calls the plugin
// through an interface in an exported field, which lets us note the answer of each dry
// run and pass it on unchanged.
type dryRuns struct {
	preemption.Interface
	to *base
}

// observeDryRuns records the plugin's dry runs, if it makes any.
func observeDryRuns(b *base) {
	if p, ok := b.plugin.(*defaultpreemption.DefaultPreemption); ok && p.Evaluator != nil {
		p.Evaluator.Interface = &dryRuns{Interface: p.Evaluator.Interface, to: b}
	}
}

// SelectVictimsOnNode is called by many workers at once, each for a different node,
// with a cloned state and a copied node.
func (d *dryRuns) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, preemptor *v1.Pod, node fwk.NodeInfo, possible []*preemption.DomainVictim, pdbs []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	name := node.Node().Name
	victims, violations, status := d.Interface.SelectVictimsOnNode(ctx, state, preemptor, node, possible, pdbs)
	if c := d.to.recorder.scheduling(preemptor); c != nil {
		c.preemption.note(name, preemptor, victims, violations, possible, status)
	}
	return victims, violations, status
}

// CandidatesToVictimsMap is called on the scheduling goroutine with the candidates that
// the evaluator goes on with, unless there is only one.
func (d *dryRuns) CandidatesToVictimsMap(candidates []preemption.Candidate) map[string]*extenderv1.Victims {
	victims := d.Interface.CandidatesToVictimsMap(candidates)
	if c := d.to.recorder.current.Load(); c != nil && !d.to.recorder.trial.Load() {
		c.preemption.consider(victims)
	}
	return victims
}

// preemptionRecord collects the dry runs of a cycle. The zero value is empty.
type preemptionRecord struct {
	mu         sync.Mutex
	ran        bool
	candidates []result.Candidate
	unhelpful  []result.UnhelpfulNodes
	// considered: the surplus candidates are marked.
	considered bool
}

// consider marks the candidates that the evaluator dropped because it had enough. The
// later calls in a cycle, after extenders have changed the candidates, say nothing new.
func (r *preemptionRecord) consider(kept map[string]*extenderv1.Victims) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.considered {
		return
	}
	r.considered = true
	for i := range r.candidates {
		r.candidates[i].Surplus = kept[r.candidates[i].Node] == nil
	}
}

func (r *preemptionRecord) note(node string, preemptor *v1.Pod, victims []*v1.Pod, violations int, possible []*preemption.DomainVictim, status *fwk.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran = true
	if !status.IsSuccess() || len(victims) == 0 {
		r.noteUnhelpful(node, status)
		return
	}
	candidate := result.Candidate{Node: node, PDBViolations: violations}
	chosen := map[*v1.Pod]bool{}
	for _, v := range victims {
		chosen[v] = true
		candidate.Victims = append(candidate.Victims, victimBeside(node, v))
	}
	for _, dv := range possible {
		if dv.Priority() >= corev1helpers.PodPriority(preemptor) {
			continue
		}
		for _, pi := range dv.Pods() {
			if !chosen[pi.GetPod()] {
				candidate.Reprieved = append(candidate.Reprieved, victimBeside(node, pi.GetPod()))
			}
		}
	}
	r.candidates = append(r.candidates, candidate)
}

func (r *preemptionRecord) noteUnhelpful(node string, status *fwk.Status) {
	said := reasons(status)
	for i := range r.unhelpful {
		u := &r.unhelpful[i]
		if u.Status == status.Code().String() && u.Plugin == pluginOf(status) && slices.Equal(u.Reasons, said) {
			u.Nodes = append(u.Nodes, node)
			return
		}
	}
	r.unhelpful = append(r.unhelpful, result.UnhelpfulNodes{
		Status: status.Code().String(), Plugin: pluginOf(status), Reasons: said, Nodes: []string{node},
	})
}

// build returns the candidates, or nil when there was no dry run.
func (r *preemptionRecord) build(chosen string) *result.Preemption {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ran {
		return nil
	}
	out := &result.Preemption{Candidates: slices.Clone(r.candidates), Unhelpful: slices.Clone(r.unhelpful), Chosen: chosen}
	slices.SortFunc(out.Candidates, func(a, b result.Candidate) int { return strings.Compare(a.Node, b.Node) })
	for i := range out.Unhelpful {
		slices.Sort(out.Unhelpful[i].Nodes)
	}
	slices.SortFunc(out.Unhelpful, func(a, b result.UnhelpfulNodes) int { return strings.Compare(a.Nodes[0], b.Nodes[0]) })
	if out.Candidates == nil {
		out.Candidates = []result.Candidate{}
	}
	if !r.considered && chosen != "" {
		// With a single candidate the evaluator has nothing to compare.
		for i := range out.Candidates {
			out.Candidates[i].Surplus = out.Candidates[i].Node != chosen
		}
	}
	out.Rule = result.DecidingRule(out.Candidates, chosen)
	return out
}

func victimOf(pod *v1.Pod) result.Victim {
	v := result.Victim{Pod: podOf(pod), Priority: corev1helpers.PodPriority(pod), Node: pod.Spec.NodeName}
	if pod.Status.StartTime != nil {
		v.StartTime = &pod.Status.StartTime.Time
	}
	if group := pod.Spec.SchedulingGroup; group != nil {
		v.PodGroup = ptr.Deref(group.PodGroupName, "")
	}
	return v
}

// victimBeside returns a victim of the dry run on a node. A victim may run on another
// node when its whole group is removed.
func victimBeside(node string, pod *v1.Pod) result.Victim {
	v := victimOf(pod)
	if v.Node == node {
		v.Node = ""
	}
	return v
}

func podOf(pod *v1.Pod) result.Pod {
	return result.Pod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
}

// pluginOf returns the plugin that a status names, or "" for a nil status.
func pluginOf(s *fwk.Status) string {
	if s == nil {
		return ""
	}
	return s.Plugin()
}
