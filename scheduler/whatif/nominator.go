package whatif

import (
	"context"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// nominator takes the place of the scheduling queue. No pod enters it, because the engine decides when it is asked; so
// the process-wide metrics of the queue stay those of the live scheduler. It knows the nominated pods: those
// pending pods of the profiles whose status names a node.
type nominator struct {
	// The queue provides the methods that the framework never calls.
	internalqueue.SchedulingQueue
	// saw is called when the scheduler is told of nominated pods.
	saw func()

	mu     sync.RWMutex
	byNode map[string][]fwk.PodInfo
	nodeOf map[types.UID]string
}

var _ internalqueue.SchedulingQueue = (*nominator)(nil)

func newNominator(q internalqueue.SchedulingQueue, saw func()) *nominator {
	return &nominator{SchedulingQueue: q, saw: saw, byNode: map[string][]fwk.PodInfo{}, nodeOf: map[types.UID]string{}}
}

// NominatedPodsForNode is called by Filter's workers, once per node.
func (n *nominator) NominatedPodsForNode(node string) []fwk.PodInfo {
	n.mu.RLock()
	defer n.mu.RUnlock()
	pods := n.byNode[node]
	if len(pods) > 0 {
		n.saw()
	}
	return slices.Clone(pods)
}

func (n *nominator) AddNominatedPod(_ klog.Logger, pod fwk.PodInfo, nominating *fwk.NominatingInfo) {
	node := pod.GetPod().Status.NominatedNodeName
	if nominating.Mode() == fwk.ModeOverride {
		node = nominating.NominatedNodeName
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.forget(pod.GetPod().UID)
	if node == "" || pod.GetPod().Spec.NodeName != "" {
		return
	}
	n.nodeOf[pod.GetPod().UID] = node
	n.byNode[node] = append(n.byNode[node], pod)
}

// UpdateNominatedPod notes the new version of a pod.
func (n *nominator) UpdateNominatedPod(logger klog.Logger, _ *v1.Pod, pod fwk.PodInfo) {
	n.AddNominatedPod(logger, pod, nil)
}

func (n *nominator) DeleteNominatedPodIfExists(pod *v1.Pod) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.forget(pod.UID)
}

func (n *nominator) forget(uid types.UID) {
	node, nominated := n.nodeOf[uid]
	if !nominated {
		return
	}
	delete(n.nodeOf, uid)
	n.byNode[node] = slices.DeleteFunc(n.byNode[node], func(p fwk.PodInfo) bool { return p.GetPod().UID == uid })
	if len(n.byNode[node]) == 0 {
		delete(n.byNode, node)
	}
}

// The scheduler's event handlers call the following.

func (n *nominator) Add(ctx context.Context, pod *v1.Pod) {
	// A pod whose affinity terms cannot be parsed is not nominated in a live cluster either.
	if info, err := framework.NewPodInfo(pod); err == nil {
		n.AddNominatedPod(klog.FromContext(ctx), info, nil)
	}
}

func (n *nominator) Update(ctx context.Context, _, pod *v1.Pod) { n.Add(ctx, pod) }

func (n *nominator) Delete(_ klog.Logger, pod *v1.Pod) { n.DeleteNominatedPodIfExists(pod) }

// AddAttemptedPodGroupIfNeeded is called at the end of the cycle of a pod group.
func (*nominator) AddAttemptedPodGroupIfNeeded(klog.Logger, *framework.QueuedPodGroupInfo, int64, *fwk.Status) error {
	return nil
}

// Done is called for a pod that the cycle of a pod group leaves out.
func (*nominator) Done(types.UID) {}

func (*nominator) Activate(klog.Logger, map[string]*v1.Pod) {}

func (*nominator) MoveAllToActiveOrBackoffQueue(klog.Logger, fwk.ClusterEvent, any, any, internalqueue.PreEnqueueCheck) {
}

func (*nominator) AddPodGroup(klog.Logger, *schedulingv1beta1.PodGroup) {}

func (*nominator) UpdatePodGroup(klog.Logger, *schedulingv1beta1.PodGroup) {}

func (*nominator) DeletePodGroup(klog.Logger, *schedulingv1beta1.PodGroup) {}

func (*nominator) AddCompositePodGroup(klog.Logger, *schedulingv1alpha3.CompositePodGroup) {}

func (*nominator) UpdateCompositePodGroup(klog.Logger, *schedulingv1alpha3.CompositePodGroup) {}

func (*nominator) DeleteCompositePodGroup(klog.Logger, *schedulingv1alpha3.CompositePodGroup) {}
