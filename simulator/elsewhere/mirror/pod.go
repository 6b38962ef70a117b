package mirror

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// shapePod removes fields that admission sets here, from classes that the mirror copied before.
func shapePod(p *prepared, u *unstructured.Unstructured, reschedule bool) bool {
	status := field(u.Object, "status")
	spec := without(field(u.Object, "spec"), "priority", "preemptionPolicy", "overhead", "ephemeralContainers", "serviceAccountName", "serviceAccount")
	p.node, _ = spec["nodeName"].(string)
	delete(spec, "nodeName")
	phase, _ := status["phase"].(string)
	ended := phase == string(corev1.PodSucceeded) || phase == string(corev1.PodFailed)
	_, ofItsNode := u.GetAnnotations()[corev1.MirrorPodAnnotationKey]
	if reschedule && !ended && !ofItsNode {
		p.node = ""
	} else {
		p.status = podStatus(status)
	}
	if p.node != "" {
		delete(spec, "schedulingGates")
	}
	p.object["spec"] = spec
	p.pending = p.node == "" && !reschedule && !tried(status)
	if u.GetDeletionTimestamp() != nil {
		grace := int64(0)
		if g := u.GetDeletionGracePeriodSeconds(); g != nil {
			grace = *g
		}
		p.deleting = &grace
	}
	return true
}

// tried reports whether a scheduler has looked at the pod and found no node, or a gate keeps
// schedulers from looking.
func tried(status map[string]any) bool {
	for _, c := range conditions(status) {
		condition := c.(map[string]any)
		if condition["type"] == string(corev1.PodScheduled) && condition["status"] == string(corev1.ConditionFalse) {
			return true
		}
	}
	return false
}

// podStatus keeps the fields that the scheduler, controllers and people look at. None of them
// changes while a pod just runs.
func podStatus(status map[string]any) map[string]any {
	out := only(status, "phase", "startTime", "podIP", "podIPs", "hostIP", "hostIPs",
		"resourceClaimStatuses", "extendedResourceClaimStatus", "allocatedResources", "resources")
	out["conditions"] = conditions(status, "lastProbeTime")
	for _, name := range []string{"containerStatuses", "initContainerStatuses"} {
		if containers, ok := status[name].([]any); ok {
			out[name] = containerStatuses(containers)
		}
	}
	return out
}

func containerStatuses(all []any) []any {
	out := []any{}
	for _, c := range all {
		container, ok := c.(map[string]any)
		if !ok {
			continue
		}
		kept := only(container, "name", "image", "imageID", "ready", "started", "state", "allocatedResources", "resources")
		kept["restartCount"] = int64(0)
		out = append(out, kept)
	}
	return out
}
