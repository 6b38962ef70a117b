package coscheduling

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/plugins/coscheduling/v1alpha1"
	"kube-scheduler-simulator/scheduler/result"
)

// lastWait is the wait if neither the group nor the arguments set one.
const lastWait = 60 * time.Second

// Permit lets the pod wait until enough members of its group have a place, and then lets them all
// go on.
func (p *Plugin) Permit(ctx context.Context, state fwk.CycleState, pod *v1.Pod, _ string) (*fwk.Status, time.Duration) {
	if groupName(pod) == "" {
		return nil, 0
	}
	group, err := p.groups.Get(ctx, pod.Namespace, groupName(pod))
	if err != nil {
		return fwk.AsStatus(err), 0
	}
	facts := p.newFacts(state)
	if group == nil {
		facts.set(result.GroupKey, keyOf(pod))
		facts.set(result.GroupRefusal, result.RefusedNoGroup)
		return fwk.NewStatus(fwk.Unschedulable, "PodGroup not found"), 0
	}
	p.mu.Lock()
	m := p.memory(keyOf(pod))
	m.assigned[pod.Name] = true
	assigned := len(m.assigned)
	complete := assigned >= int(group.Spec.MinMember)
	if complete {
		m.failure = time.Time{}
	} else {
		p.waiting[pod.UID] = state
	}
	p.mu.Unlock()
	facts.group(pod, int(group.Spec.MinMember))
	facts.number(result.GroupAssigned, assigned)
	if complete {
		facts.number(result.GroupPlaced, assigned)
		p.eachWaiting(group, func(waiting fwk.WaitingPod) {
			if state := p.forget(waiting.GetPod()); state != nil {
				p.newFacts(state).number(result.GroupPlaced, assigned)
			}
			waiting.Allow(Name)
		})
		return nil, 0
	}
	if assigned == 1 {
		p.activate(state, pod)
	}
	wait := p.waitOf(group)
	facts.at(result.GroupWaitUntil, p.now().Add(wait))
	return fwk.NewStatus(fwk.Wait), wait
}

// waitOf returns how long a member waits for the others. A negative wait is over at once.
func (p *Plugin) waitOf(group *v1alpha1.PodGroup) time.Duration {
	own, usual := group.Spec.ScheduleTimeoutSeconds, *p.args.PermitWaitingTimeSeconds
	switch {
	case own != nil && *own != 0:
		return time.Duration(*own) * time.Second
	case usual != 0 || own != nil:
		return time.Duration(usual) * time.Second
	}
	return lastWait
}

// activate makes the scheduler try the other members at once, wherever they are in the queue.
func (p *Plugin) activate(state fwk.CycleState, pod *v1.Pod) {
	data, err := state.Read(framework.PodsToActivateKey)
	if err != nil {
		return
	}
	pods, ok := data.(*framework.PodsToActivate)
	if !ok {
		return
	}
	pods.Lock()
	defer pods.Unlock()
	for _, sibling := range p.siblings(pod) {
		if sibling.UID != pod.UID {
			pods.Map[nameOf(sibling)] = sibling
		}
	}
}

// Reserve does nothing: Permit counts the pod.
func (*Plugin) Reserve(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status { return nil }

// Unreserve is called when the pod loses its place. The members that wait for it would wait in
// vain, so it rejects them.
func (p *Plugin) Unreserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) {
	if groupName(pod) == "" {
		return
	}
	p.forget(pod)
	group := p.groups.Cached(pod.Namespace, groupName(pod))
	if group == nil {
		return // the pod's name stays assigned
	}
	p.mu.Lock()
	m := p.memory(keyOf(pod))
	delete(m.assigned, pod.Name)
	m.fits, m.failure = time.Time{}, p.now()
	p.mu.Unlock()
	p.sendBack(group, "rejection in Unreserve", pod, result.CauseReleased)
}

func (p *Plugin) eachWaiting(group *v1alpha1.PodGroup, do func(fwk.WaitingPod)) {
	p.handle.IterateOverWaitingPods(func(waiting fwk.WaitingPod) {
		if belongs(waiting.GetPod(), group) {
			do(waiting)
		}
	})
}

// sendBack rejects the members that wait at Permit, because of what happened to pod, and returns
// their names.
func (p *Plugin) sendBack(group *v1alpha1.PodGroup, message string, pod *v1.Pod, cause string) (names []string) {
	p.eachWaiting(group, func(waiting fwk.WaitingPod) {
		member := waiting.GetPod()
		if state := p.forget(member); state != nil {
			facts := p.newFacts(state)
			facts.set(result.GroupCause, nameOf(pod))
			facts.set(result.GroupCauseStage, cause)
		}
		if waiting.Reject(Name, message) {
			names = append(names, nameOf(member))
		}
	})
	return names
}

// forget returns the state of the cycle of a pod whose wait is over; nil if it does not wait.
func (p *Plugin) forget(pod *v1.Pod) fwk.CycleState {
	p.mu.Lock()
	defer p.mu.Unlock()
	state := p.waiting[pod.UID]
	delete(p.waiting, pod.UID)
	return state
}
