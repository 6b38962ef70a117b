package coscheduling

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// PostFilter rejects the waiting members of the pod's group, unless so few members lack a place
// that the group may still become complete. It makes no room and nominates no node.
func (p *Plugin) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, _ fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	rejected := func(reasons ...string) (*fwk.PostFilterResult, *fwk.Status) {
		return &fwk.PostFilterResult{}, fwk.NewStatus(fwk.Unschedulable, reasons...)
	}
	if groupName(pod) == "" {
		return rejected("can not find pod group")
	}
	group, err := p.groups.Get(ctx, pod.Namespace, groupName(pod))
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	if group == nil {
		return rejected("can not find pod group")
	}
	key, least := keyOf(pod), int64(group.Spec.MinMember)
	p.mu.Lock()
	assigned := int64(len(p.memory(key).assigned))
	p.mu.Unlock()
	facts := p.newFacts(state)
	facts.group(pod, int(least))
	facts.number(result.GroupAssigned, int(assigned))
	if assigned >= least {
		return rejected()
	}
	if (least-assigned)*100 <= int64(*p.args.PodGroupRejectPercentage)*least {
		facts.set(result.GroupTolerated, "true")
		return rejected()
	}
	facts.sentBack(p.sendBack(group, "optimistic rejection in PostFilter", pod, result.CauseUnschedulable))
	now := p.now()
	p.mu.Lock()
	m := p.memory(key)
	if pause := time.Duration(*p.args.PodGroupBackoffSeconds) * time.Second; pause > 0 && !now.Before(m.backoff) && int64(len(p.siblings(pod))) >= least {
		m.backoff = now.Add(pause)
		facts.at(result.GroupBackoffUntil, m.backoff)
	}
	m.fits, m.failure = time.Time{}, now
	p.mu.Unlock()
	return rejected(fmt.Sprintf("PodGroup %s gets rejected due to Pod %s is unschedulable even after PostFilter", key, pod.Name))
}
