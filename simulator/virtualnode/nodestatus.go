package virtualnode

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"

	"kube-scheduler-simulator/simulator/objects"
)

const (
	defaultOS           = "linux"
	defaultArchitecture = "amd64"
)

// defaultResources are the resources of a node that does not state its size. Pods
// and ephemeral storage also complete a node that states neither: without a number
// of pods, no pod would fit.
func defaultResources() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("8"),
		corev1.ResourceMemory:           resource.MustParse("32Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
		corev1.ResourcePods:             resource.MustParse("110"),
	}
}

// nodeFunctions are functions for the templates of node stages, besides kwok's. A
// template's object has been through JSON.
func nodeFunctions(now func() time.Time) gotpl.FuncMap {
	return gotpl.FuncMap{
		// NodeReady is a patch that makes a node Ready, or fail as its annotation
		// asks, and completes the fields that its author left out.
		"NodeReady": func(o any) (map[string]any, error) {
			node, err := typed[corev1.Node](o)
			if err != nil {
				return nil, err
			}
			return map[string]any{
				"metadata": map[string]any{"labels": missingLabels(node)},
				"status":   statusOf(node, now()),
			}, nil
		},
	}
}

// Complete fills in what a virtual node writes and a scheduler reads, where the node's author has left it out:
// labels, capacity and allocatable resources. It changes node.
func Complete(node *corev1.Node) {
	for name, value := range missingLabels(node) {
		metav1.SetMetaDataLabel(&node.ObjectMeta, name, value)
	}
	node.Status.Capacity, node.Status.Allocatable = sizeOf(node)
}

// missingLabels are the labels that a kubelet gives its node and that this one
// lacks.
func missingLabels(node *corev1.Node) map[string]string {
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

// nodeStatus is the part of a node's status that a virtual node writes.
type nodeStatus struct {
	Capacity    corev1.ResourceList    `json:"capacity"`
	Allocatable corev1.ResourceList    `json:"allocatable"`
	Conditions  []corev1.NodeCondition `json:"conditions"`
	Addresses   []corev1.NodeAddress   `json:"addresses,omitempty"`
	NodeInfo    corev1.NodeSystemInfo  `json:"nodeInfo"`
}

// statusOf completes the status that a node's author has given it.
func statusOf(node *corev1.Node, now time.Time) *nodeStatus {
	s := &nodeStatus{NodeInfo: node.Status.NodeInfo, Addresses: node.Status.Addresses}
	s.Capacity, s.Allocatable = sizeOf(node)
	s.NodeInfo.OperatingSystem, s.NodeInfo.Architecture = operatingSystem(node), architecture(node)
	s.NodeInfo.KubeletVersion = firstOf(s.NodeInfo.KubeletVersion, "virtual")
	s.NodeInfo.ContainerRuntimeVersion = firstOf(s.NodeInfo.ContainerRuntimeVersion, "virtual://none")
	if len(s.Addresses) == 0 {
		s.Addresses = []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: addressOf(string(node.UID), nodeNetwork)},
			{Type: corev1.NodeHostName, Address: node.Name},
		}
	}
	for _, condition := range conditionsOf(node.Annotations[objects.AnnotationFailure]) {
		if conditionOf(node, condition.Type) != nil {
			continue // its author has set it
		}
		condition.LastHeartbeatTime, condition.LastTransitionTime = metav1.NewTime(now), metav1.NewTime(now)
		s.Conditions = append(s.Conditions, condition)
	}
	return s
}

// sizeOf completes capacity by allocatable, allocatable by capacity, and both by
// defaults.
func sizeOf(node *corev1.Node) (capacity, allocatable corev1.ResourceList) {
	defaults := defaultResources()
	capacity, allocatable = corev1.ResourceList{}, corev1.ResourceList{}
	if len(node.Status.Capacity) > 0 || len(node.Status.Allocatable) > 0 {
		// A node without CPU or memory is what its author wants.
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

// typed is an object that a template was given.
func typed[T any](o any) (*T, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	object := new(T)
	if err := json.Unmarshal(data, object); err != nil {
		return nil, fmt.Errorf("it is not a %T: %w", *object, err)
	}
	return object, nil
}

func firstOf(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}
