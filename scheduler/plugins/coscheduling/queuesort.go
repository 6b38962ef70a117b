package coscheduling

import (
	"cmp"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Less orders the queue by priority, then by how long the pods or their groups have waited, then by
// namespace/name. So the pods of a group follow each other, unless groups were created in the same
// second or members' priorities differ.
func (p *Plugin) Less(a, b fwk.QueuedEntityInfo) bool {
	if by := cmp.Compare(b.GetPriority(), a.GetPriority()); by != 0 {
		return by < 0
	}
	podA, podB := firstPod(a), firstPod(b)
	if by := p.since(a, podA).Compare(p.since(b, podB)); by != 0 {
		return by < 0
	}
	return nameOf(podA) < nameOf(podB)
}

// firstPod returns the pod that waits, or the first one of a group of Kubernetes' own; nil for an
// empty group.
func firstPod(entity fwk.QueuedEntityInfo) (first *v1.Pod) {
	if pods, ok := entity.(interface {
		ForEachPodInfo(func(*framework.QueuedPodInfo) bool)
	}); ok {
		pods.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
			first = info.Pod
			return false
		})
	}
	return first
}

// since returns the time that orders an entity in the queue: that of its group, if one exists.
func (p *Plugin) since(entity fwk.QueuedEntityInfo, pod *v1.Pod) time.Time {
	if at, _, grouped := p.groupSince(pod); grouped {
		return at
	}
	if at := entity.GetInitialAttemptTimestamp(); at != nil {
		return *at
	}
	return entity.GetTimestamp() // it has not been tried yet
}

// groupSince returns when the pod's group failed, or else when it was created. grouped is false
// when the pod has no group, or one that neither exists nor has failed.
func (p *Plugin) groupSince(pod *v1.Pod) (at time.Time, failed, grouped bool) {
	if pod == nil || groupName(pod) == "" {
		return time.Time{}, false, false
	}
	p.mu.Lock()
	m := p.known[keyOf(pod)]
	if m != nil {
		at = m.failure
	}
	p.mu.Unlock()
	if !at.IsZero() {
		return at, true, true
	}
	if group := p.groups.Cached(pod.Namespace, groupName(pod)); group != nil {
		return group.CreationTimestamp.Time, false, true
	}
	return time.Time{}, false, false
}

func nameOf(pod *v1.Pod) string {
	if pod == nil {
		return ""
	}
	return pod.Namespace + "/" + pod.Name
}
