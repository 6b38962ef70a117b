// Package standin says what kubelets and provisioners write in a cluster where nothing runs: the
// status of nodes and pods, and volumes. Virtual nodes and the controllers of the simulator write
// it through the API server, and package simulation in memory.
//
// Its functions are pure. It may import Kubernetes' API types and the functions that go with them,
// and scheduler/annotation for the prefix.
package standin

import "kube-scheduler-simulator/scheduler/annotation"

const (
	// AnnotationFailure makes a virtual node fail until the annotation is
	// removed. Its value is FailureNotReady or FailureUnreachable.
	AnnotationFailure = annotation.Prefix + "failure"
	// AnnotationDevices lists the devices of a virtual node, in YAML or JSON; see
	// virtualnode.DeviceGroup. The virtual driver publishes them in
	// ResourceSlices.
	AnnotationDevices = annotation.Prefix + "devices"
	// AnnotationRunDuration is how long a pod's containers run, such as 30s.
	// Without it, the containers of a Job's pods run for
	// DefaultRunDuration, and all others never end. Pods with the
	// restart policy Always ignore it.
	AnnotationRunDuration = annotation.Prefix + "run-duration"
	// AnnotationExitCode is the exit code of a pod's containers. Default: 0. For
	// an indexed Job it may map completion indexes to exit codes, as in
	// "1=42,3=1"; the other indexes exit with 0.
	AnnotationExitCode = annotation.Prefix + "exit-code"
	// AnnotationStartupDuration is how long a pod takes from its node to being ready, such as 10s. Without it, no time passes.
	AnnotationStartupDuration = annotation.Prefix + "startup-duration"
	// AnnotationShutdownDuration is how long a pod's containers take to stop after the pod is
	// deleted, such as 5s. The grace period bounds it. Without it, containers use up the grace
	// period unless it is Kubernetes' default of 30 seconds. Then they stop at once, because most
	// programs stop within a second.
	AnnotationShutdownDuration = annotation.Prefix + "shutdown-duration"
)

// The values of AnnotationFailure.
const (
	// FailureNotReady is a node whose kubelet reports that it is not ready. The
	// kubelet still runs and stops pods. Kubernetes taints the node not-ready.
	FailureNotReady = "not-ready"
	// FailureUnreachable is a node that has stopped reporting. Its pods turn not ready and then
	// stay unchanged, even when they are deleted, until the node is back or deleted. Kubernetes
	// taints the node unreachable.
	FailureUnreachable = "unreachable"
)

// LabelVirtualDriver marks the ResourceSlices and NodeResourceTopologies that virtual
// nodes publish. They change no others, and transfers leave them out.
const LabelVirtualDriver = annotation.Prefix + "virtual-driver"

const (
	// ReasonFailure marks a Ready condition that AnnotationFailure caused. Removing the annotation
	// reverts only such a condition.
	ReasonFailure = "FailureOnDemand"
	// ReasonNodeUnreachable marks a pod's Ready condition while its node is
	// unreachable.
	ReasonNodeUnreachable = "NodeUnreachable"
)
