package standin

import (
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	defaultOS           = "linux"
	defaultArchitecture = "amd64"
)

// defaultResources are the resources of a node that does not state its size. Pods and ephemeral
// storage also complete other nodes: without a number of pods, no pod fits.
func defaultResources() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("8"),
		corev1.ResourceMemory:           resource.MustParse("32Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
		corev1.ResourcePods:             resource.MustParse("110"),
	}
}

// Complete fills in the labels, capacity and allocatable resources that the node's author left out.
// It changes node.
func Complete(node *corev1.Node) {
	for name, value := range MissingLabels(node) {
		metav1.SetMetaDataLabel(&node.ObjectMeta, name, value)
	}
	node.Status.Capacity, node.Status.Allocatable = SizeOf(node)
}

// MissingLabels are the kubelet's labels that the node lacks.
func MissingLabels(node *corev1.Node) map[string]string {
	missing := map[string]string{
		corev1.LabelHostname:   node.Name,
		corev1.LabelOSStable:   operatingSystem(node),
		corev1.LabelArchStable: architecture(node),
		// The node lifecycle controller would add the older names.
		"beta.kubernetes.io/os":   operatingSystem(node),
		"beta.kubernetes.io/arch": architecture(node),
	}
	for name := range node.Labels {
		delete(missing, name)
	}
	return missing
}

func operatingSystem(node *corev1.Node) string {
	return firstOf(node.Status.NodeInfo.OperatingSystem, node.Labels[corev1.LabelOSStable], defaultOS)
}

func architecture(node *corev1.Node) string {
	return firstOf(node.Status.NodeInfo.Architecture, node.Labels[corev1.LabelArchStable], defaultArchitecture)
}

// NodeStatus is the part of a node's status that a virtual node writes.
type NodeStatus struct {
	Capacity    corev1.ResourceList    `json:"capacity"`
	Allocatable corev1.ResourceList    `json:"allocatable"`
	Conditions  []corev1.NodeCondition `json:"conditions"`
	Addresses   []corev1.NodeAddress   `json:"addresses,omitempty"`
	NodeInfo    corev1.NodeSystemInfo  `json:"nodeInfo"`
}

// StatusOf completes the status that a node's author has given it.
func StatusOf(node *corev1.Node, now time.Time) *NodeStatus {
	s := &NodeStatus{NodeInfo: node.Status.NodeInfo, Addresses: node.Status.Addresses}
	s.Capacity, s.Allocatable = SizeOf(node)
	s.NodeInfo.OperatingSystem, s.NodeInfo.Architecture = operatingSystem(node), architecture(node)
	s.NodeInfo.KubeletVersion = firstOf(s.NodeInfo.KubeletVersion, "virtual")
	s.NodeInfo.ContainerRuntimeVersion = firstOf(s.NodeInfo.ContainerRuntimeVersion, "virtual://none")
	if len(s.Addresses) == 0 {
		s.Addresses = []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: AddressOf(string(node.UID), NodeNetwork)},
			{Type: corev1.NodeHostName, Address: node.Name},
		}
	}
	for _, condition := range ConditionsOf(node.Annotations[AnnotationFailure]) {
		if ConditionOf(node, condition.Type) != nil {
			continue // its author has set it
		}
		condition.LastHeartbeatTime, condition.LastTransitionTime = metav1.NewTime(now), metav1.NewTime(now)
		s.Conditions = append(s.Conditions, condition)
	}
	return s
}

// SizeOf completes capacity by allocatable, allocatable by capacity, and both by
// defaults.
func SizeOf(node *corev1.Node) (capacity, allocatable corev1.ResourceList) {
	defaults := defaultResources()
	capacity, allocatable = corev1.ResourceList{}, corev1.ResourceList{}
	if len(node.Status.Capacity) > 0 || len(node.Status.Allocatable) > 0 {
		// The author wants a node without CPU or memory.
		delete(defaults, corev1.ResourceCPU)
		delete(defaults, corev1.ResourceMemory)
	}
	for _, known := range []corev1.ResourceList{defaults, node.Status.Allocatable, node.Status.Capacity} {
		maps.Copy(capacity, known)
	}
	maps.Copy(allocatable, capacity)
	maps.Copy(allocatable, node.Status.Allocatable)
	return capacity, allocatable
}

func firstOf(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}

// ConditionsOf returns a node's conditions under that failure, or under none,
// without their times.
func ConditionsOf(failure string) []corev1.NodeCondition {
	healthy := []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "the virtual node is ready"},
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory", Message: "the virtual node has sufficient memory"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure", Message: "the virtual node has no disk pressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID", Message: "the virtual node has sufficient process IDs"},
	}
	message := fmt.Sprintf("annotation %s is %s", AnnotationFailure, failure)
	switch failure {
	case FailureNotReady:
		healthy[0].Status, healthy[0].Reason, healthy[0].Message = corev1.ConditionFalse, ReasonFailure, message
	case FailureUnreachable:
		for i := range healthy {
			healthy[i].Status, healthy[i].Reason, healthy[i].Message = corev1.ConditionUnknown, ReasonFailure, message
		}
	}
	return healthy
}

// ConditionOf returns a condition of a node, or nil.
func ConditionOf(node *corev1.Node, kind corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == kind {
			return &node.Status.Conditions[i]
		}
	}
	return nil
}
