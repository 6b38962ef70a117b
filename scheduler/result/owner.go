package result

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OwnerOf returns a pod's controller, or nil. For a Deployment's ReplicaSet it returns the
// Deployment, whose name is the ReplicaSet's without the hash of the label.
func OwnerOf(pod metav1.Object) *Owner {
	controller := metav1.GetControllerOfNoCopy(pod)
	if controller == nil {
		return nil
	}
	if hash := pod.GetLabels()["pod-template-hash"]; hash != "" && controller.Kind == "ReplicaSet" {
		if name, ok := strings.CutSuffix(controller.Name, "-"+hash); ok && name != "" {
			return &Owner{Kind: "Deployment", Name: name}
		}
	}
	return &Owner{Kind: controller.Kind, Name: controller.Name}
}
