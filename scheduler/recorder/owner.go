package recorder

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/result"
)

// ownerOf returns a pod's controller, or nil. For a Deployment's ReplicaSet it returns the
// Deployment, whose name is the ReplicaSet's without the hash of the label.
func ownerOf(pod *v1.Pod) *result.Owner {
	if pod == nil {
		return nil
	}
	controller := metav1.GetControllerOf(pod)
	if controller == nil {
		return nil
	}
	if hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]; hash != "" && controller.Kind == "ReplicaSet" {
		if name, ok := strings.CutSuffix(controller.Name, "-"+hash); ok && name != "" {
			return &result.Owner{Kind: "Deployment", Name: name}
		}
	}
	return &result.Owner{Kind: controller.Kind, Name: controller.Name}
}
