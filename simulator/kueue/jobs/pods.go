package jobs

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/simulator/kueue/api"
)

// GroupOf returns the name of the group that a pod belongs to; "" for a pod of its own.
func GroupOf(pod *v1.Pod) string {
	return cmp.Or(pod.Annotations[api.PodGroupNameLabel], pod.Labels[api.PodGroupNameLabel])
}

// PodWorkloadName is the name of the workload of a pod, or of its group.
func PodWorkloadName(pod *v1.Pod) string {
	return cmp.Or(GroupOf(pod), NameOf("pod", pod.Name, "", pod.UID))
}

// roleLength is the number of hexadecimal digits in the name of a role.
const roleLength = 8

// RoleOf returns the name of the pod set of a pod in a group: pods of one shape have the same.
func RoleOf(pod *v1.Pod) string {
	spec := pod.Spec
	type container struct {
		Resources v1.ResourceRequirements
		Ports     []v1.ContainerPort
	}
	shape := struct {
		Containers, InitContainers []container
		NodeSelector               map[string]string
		Affinity                   *v1.Affinity
		Tolerations                []v1.Toleration
		Priority                   *int32
		Spread                     []v1.TopologySpreadConstraint
		Overhead                   v1.ResourceList
		RuntimeClass               *string
		Claims                     []v1.PodResourceClaim
	}{NodeSelector: spec.NodeSelector, Affinity: spec.Affinity, Tolerations: spec.Tolerations, Priority: spec.Priority,
		Spread: spec.TopologySpreadConstraints, Overhead: spec.Overhead, RuntimeClass: spec.RuntimeClassName, Claims: spec.ResourceClaims}
	for _, c := range spec.Containers {
		shape.Containers = append(shape.Containers, container{c.Resources, c.Ports})
	}
	for _, c := range spec.InitContainers {
		shape.InitContainers = append(shape.InitContainers, container{c.Resources, c.Ports})
	}
	text, _ := json.Marshal(shape) // plain data
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:roleLength]
}

// Admitted reports whether a pod has passed the gate.
func Admitted(pod *v1.Pod) bool { return !gated(pod, api.AdmissionGate) }

// AwaitsPlace reports whether a pod has been admitted and waits for its place in a topology.
func AwaitsPlace(pod *v1.Pod) bool { return Admitted(pod) && gated(pod, api.TopologyGate) }

func gated(pod *v1.Pod, gate string) bool {
	return slices.ContainsFunc(pod.Spec.SchedulingGates, func(g v1.PodSchedulingGate) bool { return g.Name == gate })
}

// Ungate removes a gate.
func Ungate(pod *v1.Pod, gate string) {
	pod.Spec.SchedulingGates = slices.DeleteFunc(pod.Spec.SchedulingGates, func(g v1.PodSchedulingGate) bool { return g.Name == gate })
}

// Ended reports whether the pod has run to its end, and Terminating whether it is stopped.
func Ended(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

// Terminating reports whether a pod is deleted or was told to end.
func Terminating(pod *v1.Pod) bool { return pod.DeletionTimestamp != nil }

// Ready reports whether a pod serves, or has succeeded.
func Ready(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || slices.ContainsFunc(pod.Status.Conditions, func(c v1.PodCondition) bool {
		return c.Type == v1.PodReady && c.Status == v1.ConditionTrue
	})
}

// template is that of a pod, without the gates, which are not part of what is asked for.
func template(pod *v1.Pod) v1.PodTemplateSpec {
	out := v1.PodTemplateSpec{Spec: *pod.Spec.DeepCopy()}
	out.Labels, out.Annotations = pod.Labels, pod.Annotations
	out.Spec.SchedulingGates = nil
	return out
}

// PodPodSets returns the pod set of a pod of its own.
func PodPodSets(pod *v1.Pod) []api.PodSet {
	return []api.PodSet{{Name: api.DefaultPodSetName, Count: 1, Template: template(pod), TopologyRequest: TopologyOf(pod.Annotations)}}
}

// maxRoles is the number of pod sets that a workload may have.
const maxRoles = 18

// GroupError says why a group makes no workload yet. It is for the user.
type GroupError struct{ Message string }

func (e *GroupError) Error() string { return e.Message }

// GroupPodSets returns the pod sets of a group, one for each role, by name. pods are the group's, in any order. The
// error is a *GroupError.
func GroupPodSets(group string, pods []*v1.Pod) ([]api.PodSet, error) {
	total := 0
	fast := false
	roles := map[string]*api.PodSet{}
	runnable := 0
	for _, pod := range pods {
		n, err := strconv.Atoi(pod.Annotations[GroupTotalCount])
		if err != nil || n < 1 {
			return nil, &GroupError{fmt.Sprintf("failed to extract '%s' annotation of pod %s: a positive number is expected", GroupTotalCount, pod.Name)}
		}
		if total != 0 && n != total {
			return nil, &GroupError{fmt.Sprintf("pods '%s' of the group have different '%s' annotation values", pod.Name, GroupTotalCount)}
		}
		total = n
		fast = fast || pod.Annotations[GroupFastAdmission] == "true"
		if pod.Status.Phase == v1.PodFailed || Terminating(pod) {
			continue
		}
		runnable++
		role := RoleOf(pod)
		if roles[role] == nil {
			roles[role] = &api.PodSet{Name: role, Template: template(pod), TopologyRequest: indexed(TopologyOf(pod.Annotations), api.PodGroupPodIndexLabel)}
		}
		roles[role].Count++
	}
	if runnable == 0 || runnable < total && !fast {
		return nil, &GroupError{fmt.Sprintf("'%s' group has fewer runnable pods than expected", group)}
	}
	if len(roles) > maxRoles {
		return nil, &GroupError{fmt.Sprintf("'%s' group has %d roles, more than %d", group, len(roles), maxRoles)}
	}
	sets := make([]api.PodSet, 0, len(roles))
	for _, set := range roles {
		sets = append(sets, *set)
	}
	slices.SortFunc(sets, func(a, b api.PodSet) int { return cmp.Compare(a.Name, b.Name) })
	if fast && len(sets) == 1 {
		sets[0].Count = int32(total) // the others follow the first, which is admitted for all
		sets[0].Name = api.DefaultPodSetName
	}
	return sets, nil
}

// GroupFinished reports whether a group has ended, and what to say about it.
func GroupFinished(pods []*v1.Pod, total int32) (message string, success, finished bool) {
	succeeded, active, unretriable, serving := int32(0), 0, false, false
	for _, pod := range pods {
		serving = serving || pod.Annotations[GroupServing] == "true"
		unretriable = unretriable || pod.Annotations[RetriableInGroup] == "false"
		switch pod.Status.Phase {
		case v1.PodSucceeded:
			succeeded++
		case v1.PodFailed:
		default:
			active++
		}
	}
	message = fmt.Sprintf("Pods succeeded: %d/%d.", succeeded, total)
	switch {
	case serving:
		return "", false, false
	case total > 0 && succeeded >= total:
		return message, true, true
	case unretriable && active == 0:
		return message, false, true
	}
	return "", false, false
}
