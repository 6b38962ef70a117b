package jobs

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"
)

// GroupOf returns the name of the group that a pod belongs to; "" for a pod of its own.
func GroupOf(pod *v1.Pod) string {
	return cmp.Or(pod.Annotations[podconstants.GroupNameLabel], pod.Labels[podconstants.GroupNameLabel])
}

var podKind = v1.SchemeGroupVersion.WithKind("Pod").GroupKind()

func PodWorkloadName(pod *v1.Pod) string {
	return cmp.Or(GroupOf(pod), NameOf(podKind, pod.Name, pod.UID))
}

// roleLength is the number of hexadecimal digits in the name of a role.
const roleLength = 8

// RoleOf returns the name of the pod set of a pod in a group: pods of one shape have the same. Admission
// changes the shape of a pod, so the role that the pod had when it came is kept in an annotation.
func RoleOf(pod *v1.Pod) string {
	if role, ok := pod.Annotations[podconstants.RoleHashAnnotation]; ok {
		return role
	}
	return RoleOfSpec(pod.Spec)
}

// RoleOfSpec returns the role of a pod with this spec: a hash of its shape, digit for digit that of Kueue. The
// names of pod sets, and the order in which they get flavors, follow from it.
func RoleOfSpec(spec v1.PodSpec) string {
	text, _ := json.Marshal(map[string]any{"spec": ShapeOf(spec)}) // plain data
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:roleLength]
}

// ShapeOf returns what of a pod's spec makes its role, by the names that Kueue gives in its hash. Limits are not part of
// it.
func ShapeOf(spec v1.PodSpec) map[string]any {
	containers := func(list []v1.Container) (shapes []map[string]any) {
		for _, c := range list {
			shapes = append(shapes, map[string]any{"resources": map[string]any{"requests": c.Resources.Requests}, "ports": c.Ports})
		}
		return shapes
	}
	return map[string]any{
		"initContainers": containers(spec.InitContainers), "containers": containers(spec.Containers),
		"nodeSelector": spec.NodeSelector, "affinity": spec.Affinity, "tolerations": spec.Tolerations, "priority": spec.Priority,
		"topologySpreadConstraints": spec.TopologySpreadConstraints, "overhead": spec.Overhead,
		"runtimeClassName": spec.RuntimeClassName, "resourceClaims": spec.ResourceClaims,
	}
}

func Admitted(pod *v1.Pod) bool { return !gated(pod, podconstants.SchedulingGateName) }

// AwaitsPlace reports whether a pod has been admitted and waits for its place in a topology.
func AwaitsPlace(pod *v1.Pod) bool { return Admitted(pod) && gated(pod, kueue.TopologySchedulingGate) }

func gated(pod *v1.Pod, gate string) bool {
	return slices.ContainsFunc(pod.Spec.SchedulingGates, func(g v1.PodSchedulingGate) bool { return g.Name == gate })
}

func Ungate(pod *v1.Pod, gate string) {
	pod.Spec.SchedulingGates = slices.DeleteFunc(pod.Spec.SchedulingGates, func(g v1.PodSchedulingGate) bool { return g.Name == gate })
}

// Ended reports whether the pod has run to its end, and Terminating whether it is stopped.
func Ended(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

// Terminating reports whether a pod is deleted or was told to end.
func Terminating(pod *v1.Pod) bool { return pod.DeletionTimestamp != nil }

// Runnable reports whether a pod can run, runs, or has succeeded. One that is deleted before it has a node never runs.
func Runnable(pod *v1.Pod) bool {
	return pod.Status.Phase != v1.PodFailed && !(Terminating(pod) && pod.Spec.NodeName == "")
}

// Serves reports whether a pod is one of a group whose controller replaces its pods, such as a StatefulSet.
func Serves(pod *v1.Pod) bool {
	return pod.Annotations[podconstants.GroupServingAnnotationKey] == "true"
}

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
func PodPodSets(pod *v1.Pod) []kueue.PodSet {
	return []kueue.PodSet{{Name: kueue.DefaultPodSetName, Count: 1, Template: template(pod), TopologyRequest: indexed(TopologyOf(pod.Annotations), kueue.PodGroupPodIndexLabel)}}
}

// maxRoles is the number of pod sets that a workload may have.
const maxRoles = 18

// GroupError says why a group makes no workload yet. It is for the user.
type GroupError struct{ Message string }

func (e *GroupError) Error() string { return e.Message }

// GroupPodSets returns the pod sets of a group, one for each role, by name. pods are the group's, in any order. The
// error is a *GroupError.
func GroupPodSets(group string, pods []*v1.Pod) ([]kueue.PodSet, error) {
	total := 0
	fast := false
	roles := map[string]*kueue.PodSet{}
	runnable := 0
	var first *v1.Pod
	for _, pod := range pods {
		n, err := strconv.Atoi(pod.Annotations[podconstants.GroupTotalCountAnnotation])
		if err != nil || n < 1 {
			return nil, &GroupError{fmt.Sprintf("failed to extract '%s' annotation of pod %s: a positive number is expected", podconstants.GroupTotalCountAnnotation, pod.Name)}
		}
		if total != 0 && n != total {
			return nil, &GroupError{fmt.Sprintf("pods '%s' and '%s' has different '%s' values: %d!=%d", pods[0].Name, pod.Name, podconstants.GroupTotalCountAnnotation, total, n)}
		}
		if queue, other := pods[0].Labels[controllerconstants.QueueLabel], pod.Labels[controllerconstants.QueueLabel]; queue != other {
			return nil, &GroupError{fmt.Sprintf("pods '%s' and '%s' has different queue names: %s!=%s", pods[0].Name, pod.Name, queue, other)}
		}
		total = n
		fast = fast || pod.Annotations[podconstants.GroupFastAdmissionAnnotationKey] == "true"
		if !Runnable(pod) {
			continue
		}
		if runnable++; first == nil {
			first = pod
		}
		role := RoleOf(pod)
		if roles[role] == nil {
			label := kueue.PodGroupPodIndexLabel
			if Serves(pod) {
				label = appsv1.PodIndexLabel
			}
			roles[role] = &kueue.PodSet{Name: kueue.PodSetReference(role), Template: template(pod), TopologyRequest: indexed(TopologyOf(pod.Annotations), label)}
		}
		roles[role].Count++
	}
	if runnable == 0 || runnable < total && !fast {
		return nil, &GroupError{fmt.Sprintf("'%s' group has fewer runnable pods than expected", group)}
	}
	if len(roles) > maxRoles {
		return nil, &GroupError{fmt.Sprintf("'%s' group has %d roles, more than %d", group, len(roles), maxRoles)}
	}
	sets := make([]kueue.PodSet, 0, len(roles))
	for _, set := range roles {
		sets = append(sets, *set)
	}
	slices.SortFunc(sets, func(a, b kueue.PodSet) int { return cmp.Compare(a.Name, b.Name) })
	if fast {
		// The first pod stands for all that will come.
		of := RoleOf(first)
		sets = slices.DeleteFunc(sets, func(set kueue.PodSet) bool { return string(set.Name) != of })
		sets[0].Count = int32(total)
		if Serves(first) {
			sets[0].Name = kueue.DefaultPodSetName
		}
	}
	return sets, nil
}

// GroupFinished reports whether a group has ended, and what to say about it.
func GroupFinished(pods []*v1.Pod, total int32) (message string, success, finished bool) {
	succeeded, active, unretriable, serving := int32(0), 0, false, false
	for _, pod := range pods {
		serving = serving || Serves(pod)
		unretriable = unretriable || pod.Annotations[podconstants.RetriableInGroupAnnotationKey] == "false"
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
