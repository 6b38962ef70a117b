package whatif

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/result"
)

// GroupName returns the name of the PodGroup of Kubernetes with whose other pods the scheduler decides about the pod; empty if it decides
// about the pod alone.
func GroupName(pod *v1.Pod) string {
	if !utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload) || pod.Spec.SchedulingGroup == nil {
		return ""
	}
	return ptr.Deref(pod.Spec.SchedulingGroup.PodGroupName, "")
}

// DecideGroup makes recorded decisions about a pod of a PodGroup and all its pending pods, in one cycle, as the scheduler does.
// Their order is that of their creation. The pod becomes a pending pod of the state if it is not one yet; none is
// placed. profile is as in Question. The error is an *InvalidError if the state has no such PodGroup: the scheduler does not try its pods before it has.
func (t *Trial) DecideGroup(ctx context.Context, pod *v1.Pod, profile string) ([]*result.Cycle, error) {
	f, err := frameworkOf(t, pod, profile)
	if err != nil {
		return nil, err
	}
	if _, err := prepare(ctx, t, pod); err != nil {
		return nil, err
	}
	group, err := queuedGroup(t, pod)
	if err != nil {
		return nil, err
	}
	r := in(t).Replica
	group.ForEachPodInfo(func(member *framework.QueuedPodInfo) bool {
		for _, plugin := range f.PreEnqueuePlugins() {
			plugin.PreEnqueue(ctx, member.Pod) // for the record
		}
		return true
	})
	var members []*framework.QueuedPodInfo
	ended := map[types.UID]upstream.Decision{}
	r.decider.DecideGroup(ctx, f, group, func(member *framework.QueuedPodInfo, decision upstream.Decision) {
		members = append(members, member)
		ended[member.Pod.UID] = decision
	})
	// The cycle has placed the members and taken them off again.
	t.changed()
	nodes := r.decider.Nodes()
	out := make([]*result.Cycle, 0, len(members))
	for _, member := range members {
		r.decider.SchedulingQueue.Update(ctx, nil, member.Pod) // still nominated where it was
		decision := ended[member.Pod.UID]
		out = append(out, r.observer.ConcludeMember(f.ProfileName(), member, nodes, decision.Status, decision.Nominating))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(out, func(c *result.Cycle) bool { return c.Pod.UID == pod.UID }) {
		return nil, fmt.Errorf("the cycle of the PodGroup %s/%s left out the pod %s", group.GetNamespace(), group.GetName(), pod.Name)
	}
	return out, nil
}

// FillGroup decides in one cycle about so many further pods like this one of a PodGroup, and places those that find a node. It returns their
// nodes. It also decides about the pending pods of the group, and leaves them pending. profile is as in Question.
func (t *Trial) FillGroup(ctx context.Context, pod *v1.Pod, profile string, count int) ([]string, error) {
	first, err := t.Another(pod)
	if err != nil {
		return nil, err
	}
	pods, err := t.Await(ctx, first, count)
	if err != nil {
		return nil, err
	}
	cycles, err := t.DecideGroup(ctx, first, profile)
	if err != nil {
		return nil, err
	}
	nodes := map[types.UID]string{}
	for _, c := range cycles {
		nodes[c.Pod.UID] = c.SelectedNode
	}
	var out []string
	for _, p := range pods {
		node := nodes[p.UID]
		if node == "" {
			continue
		}
		if err := t.Place(ctx, p, profile, node); err != nil {
			return out, err
		}
		out = append(out, node)
	}
	return out, nil
}

// Await makes a pod that Asked, Another or New has returned, and copies of it, together so many, pending pods of the state, and returns them.
func (t *Trial) Await(ctx context.Context, pod *v1.Pod, count int) ([]*v1.Pod, error) {
	pods := []*v1.Pod{pod}
	for {
		last := pods[len(pods)-1]
		if _, err := prepare(ctx, t, last); err != nil || len(pods) == count {
			return pods, err
		}
		next, err := t.Another(last)
		if err != nil {
			return nil, err
		}
		pods = append(pods, next)
	}
}

// queuedGroup returns the group of a pod as the scheduling queue would hand it out.
func queuedGroup(t *Trial, pod *v1.Pod) (*framework.QueuedPodGroupInfo, error) {
	name := GroupName(pod)
	object, ok := in(t).world.Get(podGroupKind, pod.Namespace, name).(*schedulingv1beta1.PodGroup)
	if !ok {
		return nil, &InvalidError{
			Path:    "spec.schedulingGroup.podGroupName",
			Message: fmt.Sprintf("the state has no PodGroup %q, and the scheduler does not try its pods before it has", name),
		}
	}
	if object.Spec.ParentCompositePodGroupName != nil && utilfeature.DefaultFeatureGate.Enabled(features.CompositePodGroup) {
		return nil, &InvalidError{
			Path:    "spec.schedulingGroup.podGroupName",
			Message: fmt.Sprintf("the PodGroup %q belongs to a CompositePodGroup, and questions about those are not supported", name),
		}
	}
	group := &framework.QueuedPodGroupInfo{PodGroupInfo: &framework.PodGroupInfo{Namespace: pod.Namespace, Name: name, Type: fwk.PodGroupKeyType, PodGroup: object}}
	for i, member := range t.pendingMembers(pod) {
		info, err := upstream.NewPodInfo(member)
		if err != nil {
			return nil, &InvalidError{Message: err.Error()}
		}
		info.Timestamp = time.Unix(0, int64(i)) // the order
		group.AddPod(info)
	}
	return group, nil
}

// pendingMembers returns the pod and the pending pods of its group that the scheduler would try with it, by their creation.
func (t *Trial) pendingMembers(pod *v1.Pod) []*v1.Pod {
	var out []*v1.Pod
	for _, other := range t.Pods() {
		switch {
		case other.UID == pod.UID:
			out = append(out, pod)
		case other.Namespace == pod.Namespace && GroupName(other) == GroupName(pod) &&
			other.Spec.NodeName == "" && other.DeletionTimestamp == nil && len(other.Spec.SchedulingGates) == 0:
			out = append(out, other)
		}
	}
	slices.SortFunc(out, func(a, b *v1.Pod) int {
		if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}
