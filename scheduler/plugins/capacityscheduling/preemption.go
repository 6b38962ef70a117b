package capacityscheduling

import (
	"context"
	"fmt"
	"slices"
	"sort"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"kube-scheduler-simulator/scheduler/pluginfact"
	"kube-scheduler-simulator/scheduler/result"
)

// PostFilter looks for a node on which pods may give way to the pod, and deletes them.
func (p *Plugin) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	metrics.PreemptionAttempts.Inc()
	if why := p.ineligible(state, pod, statuses); why != "" {
		// Without a result, the pod keeps its nominated node.
		return nil, fwk.NewStatus(fwk.Unschedulable, why)
	}
	found, status := p.evaluator.Preempt(ctx, state, pod, statuses)
	if _, check, ok := read(state); ok {
		check.staysOn.Range(func(node, _ any) bool {
			pluginfact.RecordNode(state, Name, node.(string), result.QuotaStays, "true")
			return true
		})
	}
	return found, status
}

// ineligible says why the pod may not preempt; empty if it may.
func (p *Plugin) ineligible(state fwk.CycleState, pod *v1.Pod, statuses fwk.NodeToStatusReader) string {
	if latest, err := p.evaluator.PodLister.Pods(pod.Namespace).Get(pod.Name); err == nil {
		pod = latest
	}
	if policy := pod.Spec.PreemptionPolicy; policy != nil && *policy == v1.PreemptNever {
		return "not eligible due to preemptionPolicy=Never."
	}
	quotas, check, ok := read(state)
	if !ok {
		return "not eligible due to failed to read from cycleState"
	}
	nominated := pod.Status.NominatedNodeName
	if nominated == "" || statuses.Get(nominated).Code() == fwk.UnschedulableAndUnresolvable {
		return ""
	}
	node, err := p.handle.SnapshotSharedLister().NodeInfos().Get(nominated)
	if err != nil {
		return ""
	}
	rule := newRule(check, pod)
	for _, other := range node.GetPods() {
		if other.GetPod().DeletionTimestamp != nil && rule.makesRoom(quotas, other.GetPod()) {
			return "not eligible due to a terminating pod on the nominated node."
		}
	}
	return ""
}

// rule says which pods may give way to a pod.
type rule struct {
	namespace string
	priority  int32
	// quota: the preemptor's namespace has a quota. reclaims: its min covers the preemptor, which
	// takes back what others borrowed.
	quota, reclaims bool
}

func newRule(check *check, preemptor *v1.Pod) rule {
	r := rule{namespace: preemptor.Namespace, priority: corev1helpers.PodPriority(preemptor)}
	if check.own != nil {
		r.quota, r.reclaims = true, check.withinMin()
	}
	return r
}

func (r rule) allows(quotas *accounts, pod *v1.Pod) bool {
	q := quotas.of[pod.Namespace]
	switch {
	case (q != nil) != r.quota:
		return false
	case !r.quota:
		return corev1helpers.PodPriority(pod) < r.priority
	case r.reclaims:
		return pod.Namespace != r.namespace && q.overMin()
	}
	return pod.Namespace == r.namespace && corev1helpers.PodPriority(pod) < r.priority
}

// makesRoom reports whether a terminating pod makes room for the preemptor. Pods of lower
// priority in its own namespace do, even if it could reclaim.
func (r rule) makesRoom(quotas *accounts, pod *v1.Pod) bool {
	if r.quota && pod.Namespace == r.namespace {
		return corev1helpers.PodPriority(pod) < r.priority
	}
	return r.allows(quotas, pod)
}

// GetOffsetAndNumCandidates makes the evaluator try every node.
func (*Plugin) GetOffsetAndNumCandidates(nodes int32) (offset, candidates int32) { return 0, nodes }

func (*Plugin) CandidatesToVictimsMap(candidates []preemption.Candidate) map[string]*extenderv1.Victims {
	out := make(map[string]*extenderv1.Victims, len(candidates))
	for _, c := range candidates {
		out[c.Name()] = c.Victims()
	}
	return out
}

// PodEligibleToPreemptOthers lets every pod preempt: PostFilter has already asked, with the cycle's
// state, which the arguments lack.
func (*Plugin) PodEligibleToPreemptOthers(context.Context, *v1.Pod, *fwk.Status) (bool, string) {
	return true, ""
}

// OrderedScoreFuncs leaves the choice among nodes to the evaluator.
func (*Plugin) OrderedScoreFuncs(context.Context, map[string]*extenderv1.Victims) []func(string) int64 {
	return nil
}

type dryRun struct {
	*Plugin
	ctx       context.Context
	state     fwk.CycleState
	preemptor *v1.Pod
	node      fwk.NodeInfo
	quotas    *accounts
	check     *check
}

// SelectVictimsOnNode runs on many workers, each with a clone of the state and a copy of its node.
func (p *Plugin) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, preemptor *v1.Pod, node fwk.NodeInfo, possible []*preemption.DomainVictim, budgets []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	quotas, check, ok := read(state)
	if !ok {
		return nil, 0, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "not eligible due to failed to read from cycleState")
	}
	d := &dryRun{p, ctx, state, preemptor, node, quotas, check}
	potential, err := d.takeOut(possible)
	if err != nil {
		return nil, 0, fwk.AsStatus(err)
	}
	if len(potential) == 0 {
		return nil, 0, fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
			fmt.Sprintf("No victims found on node %s for preemptor pod %s", node.Node().Name, preemptor.Name))
	}
	if status := p.handle.RunFilterPluginsWithNominatedPods(ctx, state, preemptor, node); !status.IsSuccess() {
		return nil, 0, status
	}
	if own := quotas.of[preemptor.Namespace]; own != nil && (own.overMax(check.request) || quotas.overTotal(check.request)) {
		return nil, 0, fwk.NewStatus(fwk.Unschedulable, "global quota max exceeded")
	}
	return d.reprieve(potential, budgets)
}

// PotentialVictims returns, for the recorder, the pods on a node that may give way. It changes the
// state, which must be a clone.
func (p *Plugin) PotentialVictims(state fwk.CycleState, preemptor *v1.Pod, possible []*preemption.DomainVictim) []*preemption.DomainVictim {
	quotas, check, ok := read(state)
	if !ok {
		return nil
	}
	return potential(quotas, newRule(check, preemptor), possible)
}

// potential returns the pods that may give way, the least important first. It takes each out of its
// quota before it looks at the next: a namespace gives pods only while it uses more than its min.
func potential(quotas *accounts, r rule, possible []*preemption.DomainVictim) (out []*preemption.DomainVictim) {
	ordered := slices.Clone(possible)
	// In a simulator, pods often start in the same second, and their order decides who the victims
	// are. The original sorts with this order, which puts each of two equal pods before the other,
	// so that sort.Slice reverses up to twelve of them.
	sort.Slice(ordered, func(i, j int) bool { return !preemption.MoreImportantVictim(ordered[i], ordered[j]) })
	for _, victim := range ordered {
		pod := victim.Pods()[0].GetPod()
		if !r.allows(quotas, pod) {
			continue
		}
		if q := quotas.change(pod.Namespace); q != nil {
			q.remove(pod.UID)
		}
		out = append(out, victim)
	}
	return out
}

// sortByImportance puts the most important victims first. Like the first sort, it orders equal pods
// as the original does.
func sortByImportance(victims []*preemption.DomainVictim) {
	sort.Slice(victims, func(i, j int) bool { return preemption.MoreImportantVictim(victims[i], victims[j]) })
}

// takeOut removes the pods that may give way from the node and from all plugins' state.
func (d *dryRun) takeOut(possible []*preemption.DomainVictim) ([]*preemption.DomainVictim, error) {
	out := potential(d.quotas, newRule(d.check, d.preemptor), possible)
	for _, victim := range out {
		if err := d.remove(victim); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (d *dryRun) remove(victim *preemption.DomainVictim) error {
	pod := victim.Pods()[0]
	if err := d.node.RemovePod(klog.FromContext(d.ctx), pod.GetPod()); err != nil {
		return err
	}
	if status := d.handle.RunPreFilterExtensionRemovePod(d.ctx, d.state, d.preemptor, pod, d.node); !status.IsSuccess() {
		return status.AsError()
	}
	return nil
}

func (d *dryRun) add(victim *preemption.DomainVictim) error {
	pod := victim.Pods()[0]
	d.node.AddPodInfo(pod)
	if status := d.handle.RunPreFilterExtensionAddPod(d.ctx, d.state, d.preemptor, pod, d.node); !status.IsSuccess() {
		return status.AsError()
	}
	return nil
}

// reprieve puts pods back while the preemptor fits, first those whose budget would be violated,
// then by importance. It returns the rest.
func (d *dryRun) reprieve(potential []*preemption.DomainVictim, budgets []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	sortByImportance(potential)
	violating, others := preemption.FilterVictimsWithPDBViolation(potential, budgets)
	var victims []*preemption.DomainVictim
	violations := 0
	for i, all := 0, len(violating)+len(others); i < all; i++ {
		victim, breaks := (*preemption.DomainVictim)(nil), 0
		if i < len(violating) {
			victim, breaks = violating[i].Victim, violating[i].ViolateCount
		} else {
			victim = others[i-len(violating)]
		}
		fits, within, err := d.putBack(victim)
		if err != nil {
			return nil, 0, fwk.AsStatus(err)
		}
		if !fits {
			violations += breaks
		}
		if !fits || !within {
			victims = append(victims, victim)
		}
	}
	if len(violating) > 0 && len(others) > 0 {
		sortByImportance(victims)
	}
	if checkBeside(d.check.waiting, d.quotas, d.preemptor).exceeded != "" {
		d.check.staysOn.Store(d.node.Node().Name, true)
	}
	out := make([]*v1.Pod, len(victims))
	for i, victim := range victims {
		out[i] = victim.Pods()[0].GetPod()
	}
	return out, violations, nil
}

// putBack puts a pod back, and takes it out again if the preemptor does not fit beside it or a
// quota is exceeded. If both are true it takes the pod out twice, like the original, and the error
// drops the node.
func (d *dryRun) putBack(victim *preemption.DomainVictim) (fits, within bool, err error) {
	if err := d.add(victim); err != nil {
		return false, false, err
	}
	fits = d.handle.RunFilterPluginsWithNominatedPods(d.ctx, d.state, d.preemptor, d.node).IsSuccess()
	if !fits {
		if err := d.remove(victim); err != nil {
			return false, false, err
		}
	}
	own := d.quotas.of[d.preemptor.Namespace]
	within = own == nil || !own.overMax(d.check.inNamespace()) && !d.quotas.overTotal(d.check.inAll())
	if !within {
		if err := d.remove(victim); err != nil {
			return false, false, err
		}
	}
	return fits, within, nil
}
