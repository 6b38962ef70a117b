package timeline

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/simulator/objects"
)

// failureOf returns the verb of a node's failure; empty if the node works. A node that has been Ready never fails by its
// conditions alone unless it was failing: new nodes are not ready for a moment.
func failureOf(node *unstructured.Unstructured, failing bool) string {
	switch failure := node.GetAnnotations()[objects.AnnotationFailure]; failure {
	case "":
	case objects.FailureUnreachable:
		return "unreachable"
	default:
		return "notReady"
	}
	if !failing {
		return ""
	}
	switch readiness(node) {
	case "False":
		return "notReady"
	case "Unknown":
		return "unreachable"
	}
	return ""
}

// readiness returns the status of a node's condition Ready.
func readiness(node *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(node.Object, "status", "conditions")
	for _, c := range conditions {
		if condition, ok := c.(map[string]any); ok && condition["type"] == "Ready" {
			status, _ := condition["status"].(string)
			return status
		}
	}
	return ""
}

var (
	nodeFields = [][]string{
		{"metadata", "name"}, {"metadata", "uid"}, {"metadata", "labels"}, {"metadata", "annotations"}, {"metadata", "creationTimestamp"}, {"metadata", "deletionTimestamp"},
		{"spec", "taints"}, {"spec", "unschedulable"}, {"status", "allocatable"}, {"status", "capacity"}, {"status", "conditions"},
	}
	podFields = [][]string{
		{"metadata", "name"}, {"metadata", "namespace"}, {"metadata", "uid"}, {"metadata", "labels"}, {"metadata", "creationTimestamp"}, {"metadata", "deletionTimestamp"},
		{"metadata", "ownerReferences"}, {"spec", "nodeName"}, {"spec", "schedulerName"}, {"spec", "priority"}, {"spec", "overhead"}, {"spec", "resources"},
		{"spec", "schedulingGates"}, {"spec", "tolerations"}, {"status", "phase"}, {"status", "reason"}, {"status", "conditions"}, {"status", "nominatedNodeName"},
	}
	containerFields = []string{"name", "resources", "restartPolicy"}
)

// reduced returns what a map of the cluster reads of an object.
func reduced(u *unstructured.Unstructured, fields [][]string) map[string]any {
	out := &unstructured.Unstructured{Object: map[string]any{"apiVersion": u.GetAPIVersion(), "kind": u.GetKind()}}
	for _, path := range fields {
		if value, found, _ := unstructured.NestedFieldNoCopy(u.Object, path...); found && value != nil {
			_ = unstructured.SetNestedField(out.Object, value, path...) // the parents are maps made here
		}
	}
	return out.Object
}

func reducedPod(u *unstructured.Unstructured) map[string]any {
	out := reduced(u, podFields)
	for _, list := range []string{"containers", "initContainers"} {
		containers, found, _ := unstructured.NestedSlice(u.Object, "spec", list)
		if !found {
			continue
		}
		for _, c := range containers {
			if container, ok := c.(map[string]any); ok {
				for field := range container {
					if !slices.Contains(containerFields, field) {
						delete(container, field)
					}
				}
			}
		}
		_ = unstructured.SetNestedSlice(out, containers, "spec", list)
	}
	return out
}

// nodeOf returns the node of a pod; empty for none, and for other objects.
func nodeOf(u *unstructured.Unstructured) string {
	if u == nil || u.GroupVersionKind().GroupKind() != objects.Pod {
		return ""
	}
	name, _, _ := unstructured.NestedString(u.Object, "spec", "nodeName")
	return name
}

// isPending reports whether a pod waits for a node.
func isPending(pod *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	return nodeOf(pod) == "" && phase != "Succeeded" && phase != "Failed"
}

func refTo(u *unstructured.Unstructured) ObjectRef {
	return ObjectRef{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}
