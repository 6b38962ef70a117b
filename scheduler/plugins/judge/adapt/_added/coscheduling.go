package coscheduling

import (
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// queued is what an earlier framework gave Less: a pod that has been tried.
type queued struct{ *framework.QueuedPodInfo }

// GetInitialAttemptTimestamp returns when the pod was first tried, or queued if it has not been.
func (q queued) GetInitialAttemptTimestamp() *time.Time {
	if at := q.QueuedPodInfo.GetInitialAttemptTimestamp(); at != nil {
		return at
	}
	at := q.GetTimestamp()
	return &at
}

// Less has the signature of this framework.
func (cs *Coscheduling) Less(a, b fwk.QueuedEntityInfo) bool {
	return cs.lessPods(queued{a.(*framework.QueuedPodInfo)}, queued{b.(*framework.QueuedPodInfo)})
}
