package recorder

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

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

// preempts is a plugin, other than DefaultPreemption, that preempts with Kubernetes'
// evaluator and executor. Both exist before the first cycle and stay.
type preempts interface {
	Preemption() (*preemption.Evaluator, *preemption.Executor)
}

// preemptionOf returns nil for a plugin that does not preempt in a way that we know.
func preemptionOf(plugin fwk.Plugin) (*preemption.Evaluator, *preemption.Executor) {
	switch p := plugin.(type) {
	case *defaultpreemption.DefaultPreemption:
		return p.Evaluator, p.Executor
	case preempts:
		return p.Preemption()
	}
	return nil, nil
}

// dryRuns observes the dry runs of a plugin. It replaces an exported field of the evaluator, notes
// each dry run's answer and passes it on unchanged.
type dryRuns struct {
	preemption.Interface
	to *base
	// rule is nil if every pod of lower priority may give way.
	rule victimRule
}

// victimRule is a plugin's rule about which pods may give way.
type victimRule interface {
	// PotentialVictims returns the pods on a node that may give way. It changes the state.
	PotentialVictims(state fwk.CycleState, preemptor *v1.Pod, possible []*preemption.DomainVictim) []*preemption.DomainVictim
}

func observeDryRuns(b *base) {
	if evaluator, _ := preemptionOf(b.plugin); evaluator != nil {
		rule, _ := evaluator.Interface.(victimRule)
		evaluator.Interface = &dryRuns{Interface: evaluator.Interface, to: b, rule: rule}
	}
}

// SelectVictimsOnNode is called by many workers at once, each for a different node,
// with a cloned state and a copied node.
func (d *dryRuns) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, preemptor *v1.Pod, node fwk.NodeInfo, possible []*preemption.DomainVictim, pdbs []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	name := node.Node().Name
	c := d.to.recorder.scheduling(preemptor)
	potential := possible
	if d.rule != nil && c != nil {
		potential = d.rule.PotentialVictims(state.Clone(), preemptor, possible)
	}
	victims, violations, status := d.Interface.SelectVictimsOnNode(ctx, state, preemptor, node, possible, pdbs)
	if c != nil {
		c.preemption.note(preemptor, dryRun{
			node: name, victims: victims, violations: violations, possible: len(possible), potential: potential, byPriority: d.rule == nil,
		}, status)
	}
	return victims, violations, status
}

// PodEligibleToPreemptOthers is called on the scheduling goroutine before the dry runs.
func (d *dryRuns) PodEligibleToPreemptOthers(ctx context.Context, preemptor *v1.Pod, nominated *fwk.Status) (bool, string) {
	eligible, message := d.Interface.PodEligibleToPreemptOthers(ctx, preemptor, nominated)
	if c := d.to.recorder.scheduling(preemptor); c != nil && !eligible {
		c.preemption.ineligible(ineligibility(preemptor, d.rule == nil))
	}
	return eligible, message
}

// Kubernetes has two reasons of its own why a pod may not preempt.
func ineligibility(preemptor *v1.Pod, byPriority bool) result.Ineligibility {
	switch policy := preemptor.Spec.PreemptionPolicy; {
	case policy != nil && *policy == v1.PreemptNever:
		return result.NeverPreempts
	case byPriority && preemptor.Status.NominatedNodeName != "":
		return result.VictimsTerminating
	}
	return result.IneligibleOtherwise
}

// CandidatesToVictimsMap is called on the scheduling goroutine with the remaining candidates,
// unless there is only one.
func (d *dryRuns) CandidatesToVictimsMap(candidates []preemption.Candidate) map[string]*extenderv1.Victims {
	victims := d.Interface.CandidatesToVictimsMap(candidates)
	if c := d.to.recorder.current.Load(); c != nil && !d.to.recorder.trial.Load() {
		c.preemption.consider(victims)
	}
	return victims
}

// preemptionRecord collects the dry runs of a cycle. It keeps the scheduler's pods until build,
// which copies only the victims of the candidates that it keeps.
type preemptionRecord struct {
	mu  sync.Mutex
	ran bool
	// why is empty if the plugin made dry runs.
	why        result.Ineligibility
	preemptor  int32 // its priority
	candidates []dryRun
	unhelpful  []result.UnhelpfulNodes
	considered bool
}

// consider marks the candidates that the evaluator dropped because it had enough. It ignores the
// cycle's later calls, which follow the extenders.
func (r *preemptionRecord) consider(kept map[string]*extenderv1.Victims) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.considered {
		return
	}
	r.considered = true
	for i := range r.candidates {
		r.candidates[i].surplus = kept[r.candidates[i].node] == nil
	}
}

// dryRun is a dry run that found victims. Its lists are the scheduler's, and do not change.
type dryRun struct {
	node    string
	victims []*v1.Pod
	// potential are the pods that may give way, or, with byPriority, those of them with a
	// lower priority than the preemptor's.
	potential  []*preemption.DomainVictim
	byPriority bool
	// possible counts the pods of the node, a group of them once.
	possible   int
	violations int
	// changedBy and removedBy name extenders. replaced are the victims that changedBy replaced.
	changedBy, removedBy string
	replaced             []*v1.Pod
	// surplus: the evaluator had enough candidates without it.
	surplus bool
}

func (r *preemptionRecord) ineligible(why result.Ineligibility) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran, r.why = true, why
}

func (r *preemptionRecord) note(preemptor *v1.Pod, d dryRun, status *fwk.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran, r.preemptor = true, corev1helpers.PodPriority(preemptor)
	if !status.IsSuccess() || len(d.victims) == 0 {
		r.noteUnhelpful(d, status)
		return
	}
	r.candidates = append(r.candidates, d)
}

func (r *preemptionRecord) noteUnhelpful(d dryRun, status *fwk.Status) {
	why, said := r.noVictims(d, status), reasons(status)
	for i := range r.unhelpful {
		u := &r.unhelpful[i]
		if u.Why == why && u.Status == status.Code().String() && u.Plugin == pluginOf(status) && slices.Equal(u.Reasons, said) {
			u.Nodes = append(u.Nodes, d.node)
			return
		}
	}
	r.unhelpful = append(r.unhelpful, result.UnhelpfulNodes{
		Why: why, Status: status.Code().String(), Plugin: pluginOf(status), Reasons: said, Nodes: []string{d.node},
	})
}

func (r *preemptionRecord) noVictims(d dryRun, status *fwk.Status) result.NoVictims {
	lower := func(v *preemption.DomainVictim) bool { return v.Priority() < r.preemptor }
	switch {
	case status.IsSuccess(), status.IsError():
		return result.DryRunFailed // A pod that fits beside everybody was rejected for another reason.
	case d.possible == 0:
		return result.NoPods
	case d.byPriority && !slices.ContainsFunc(d.potential, lower):
		return result.NobodyLower
	case len(d.potential) == 0:
		return result.NobodyMay
	}
	return result.NotEnough
}

// victimsFor returns the victims on the node that PostFilter nominates, nil if unknown.
func (r *preemptionRecord) victimsFor(res *fwk.PostFilterResult) []*v1.Pod {
	if res == nil || res.NominatingInfo == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.candidates {
		if r.candidates[i].node == res.NominatedNodeName {
			return r.candidates[i].victims
		}
	}
	return nil
}

// build returns the candidates, or nil when there was no dry run.
func (r *preemptionRecord) build(chosen string) *result.Preemption {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ran {
		return nil
	}
	slices.SortFunc(r.candidates, func(a, b dryRun) int { return strings.Compare(a.node, b.node) })
	if !r.considered && chosen != "" {
		// With a single candidate the evaluator has nothing to compare.
		for i := range r.candidates {
			r.candidates[i].surplus = r.candidates[i].node != chosen
		}
	}
	ranked := make([]result.Candidate, len(r.candidates))
	for i := range r.candidates {
		ranked[i] = r.candidates[i].rank()
	}
	out := &result.Preemption{Unhelpful: slices.Clone(r.unhelpful), Ineligible: r.why, Chosen: chosen, Rule: result.DecidingRule(ranked, chosen)}
	kept := result.KeepCandidates(ranked, chosen)
	out.CandidatesDropped = len(ranked) - len(kept)
	out.Candidates = make([]result.Candidate, len(kept))
	for at, i := range kept {
		out.Candidates[at] = r.candidates[i].candidate(r.preemptor)
	}
	for i := range out.Unhelpful {
		slices.Sort(out.Unhelpful[i].Nodes)
	}
	slices.SortFunc(out.Unhelpful, func(a, b result.UnhelpfulNodes) int { return strings.Compare(a.Nodes[0], b.Nodes[0]) })
	return out
}

func (d *dryRun) rank() result.Candidate {
	c := result.Candidate{Node: d.node, PDBViolations: d.violations, RemovedBy: d.removedBy, Surplus: d.surplus, Victims: make([]result.Victim, len(d.victims))}
	for i, pod := range d.victims {
		c.Victims[i].Priority, c.Victims[i].StartTime = corev1helpers.PodPriority(pod), startOf(pod)
	}
	return c
}

// preemptor is a priority.
func (d *dryRun) candidate(preemptor int32) result.Candidate {
	c := result.Candidate{Node: d.node, PDBViolations: d.violations, ChangedBy: d.changedBy, RemovedBy: d.removedBy, Surplus: d.surplus}
	for i, pod := range d.victims {
		if i == result.MaxVictims {
			c.VictimsDropped = len(d.victims) - i
			break
		}
		c.Victims = append(c.Victims, victimBeside(d.node, pod))
	}
	found := d.victims
	if d.changedBy != "" {
		found = d.replaced
	}
	gone := make(map[*v1.Pod]bool, len(found))
	for _, pod := range found {
		gone[pod] = true
	}
	for _, dv := range d.potential {
		if d.byPriority && dv.Priority() >= preemptor {
			continue
		}
		for _, pi := range dv.Pods() {
			switch pod := pi.GetPod(); {
			case gone[pod]:
			case len(c.Reprieved) == result.MaxVictims:
				c.ReprievedDropped++
			default:
				c.Reprieved = append(c.Reprieved, victimBeside(d.node, pod))
			}
		}
	}
	return c
}

func victimOf(pod *v1.Pod) result.Victim {
	v := result.Victim{Pod: podOf(pod), Priority: corev1helpers.PodPriority(pod), StartTime: startOf(pod), Node: pod.Spec.NodeName}
	if group := pod.Spec.SchedulingGroup; group != nil {
		v.PodGroup = ptr.Deref(group.PodGroupName, "")
	}
	return v
}

func startOf(pod *v1.Pod) *time.Time {
	if pod.Status.StartTime == nil {
		return nil
	}
	return &pod.Status.StartTime.Time
}

// victimBeside returns a victim of the dry run on node. It may run elsewhere, if its whole group
// goes.
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

func pluginOf(s *fwk.Status) string {
	if s == nil {
		return ""
	}
	return s.Plugin()
}
