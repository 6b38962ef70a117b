package coscheduling

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/plugins/coscheduling/v1alpha1"
	"kube-scheduler-simulator/scheduler/result"
)

// leastFits is how long minResources count as free if permitWaitingTimeSeconds is 0.
const leastFits = 3 * time.Second

// PreFilter refuses a pod whose group cannot be complete yet. Each refusal is
// UnschedulableAndUnresolvable, because no preemption would help.
func (p *Plugin) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	if groupName(pod) == "" {
		return nil, nil
	}
	group, err := p.groups.Get(ctx, pod.Namespace, groupName(pod))
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	if group == nil {
		return nil, nil // Permit refuses it
	}
	facts := p.newFacts(state)
	facts.queue(pod)
	refuse := func(why, message string) (*fwk.PreFilterResult, *fwk.Status) {
		facts.set(result.GroupRefusal, why)
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, message)
	}
	key, least := keyOf(pod), int(group.Spec.MinMember)
	siblings := p.siblings(pod)
	facts.members(pod, least, siblings)
	p.mu.Lock()
	m := p.memory(key)
	backoff, fits := m.backoff, m.fits
	p.mu.Unlock()
	now := p.now()
	if now.Before(backoff) {
		facts.at(result.GroupBackoffUntil, backoff)
		return refuse(result.RefusedBackoff, fmt.Sprintf("podGroup %s failed recently", key))
	}
	if len(siblings) < least {
		return refuse(result.RefusedMembers, fmt.Sprintf("pre-filter pod %s cannot find enough sibling pods, current pods number: %d, minMember of group: %d", pod.Name, len(siblings), least))
	}
	if len(siblings)-countGated(siblings) < least {
		return refuse(result.RefusedGates, fmt.Sprintf("pre-filter pod %s cannot proceed due to gated pods in the same PodGroup", pod.Name))
	}
	if group.Spec.MinResources == nil || now.Before(fits) {
		return nil, nil
	}
	if gap := lacking(group, nodes); len(gap) > 0 {
		facts.set(result.GroupLacking, amounts(gap))
		return refuse(result.RefusedResources, fmt.Sprintf("resource gap: %v", gap))
	}
	p.mu.Lock()
	p.memory(key).fits = now.Add(p.fitsFor())
	p.mu.Unlock()
	return nil, nil
}

// PreFilterExtensions returns nil: what PreFilter finds does not depend on single nodes.
func (*Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

func (p *Plugin) fitsFor() time.Duration {
	if seconds := *p.args.PermitWaitingTimeSeconds; seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	return leastFits
}

func countGated(pods []*v1.Pod) (n int) {
	for _, pod := range pods {
		if len(pod.Spec.SchedulingGates) > 0 {
			n++
		}
	}
	return n
}

func belongs(pod *v1.Pod, group *v1alpha1.PodGroup) bool {
	return pod.Namespace == group.Namespace && groupName(pod) == group.Name
}
