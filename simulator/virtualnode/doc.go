// Package virtualnode does for every node what a kubelet would do, as far as
// scheduling can see it: nodes turn Ready, pods on them run, finish and go, and
// devices are published. No container runs.
//
// What happens to a node or a pod, and when, is written as Stages of kwok, whose
// engine matches them and renders what they write. The loop around it is our own:
// it never writes to an object that has changed meanwhile, deletes by UID, so
// that the next pod of a StatefulSet is not taken for the last, retries every
// kind of failure, and ends when it is told to.
//
// Annotations steer a single node or pod; see those that begin with Annotation.
//
// The package may import Kubernetes and kwok. It imports nothing else of the
// simulator: who starts it gives it a client.
package virtualnode

// Annotations that people, and the web, set.
const (
	prefix = "kube-scheduler-simulator.sigs.k8s.io/"

	// AnnotationFailure makes a node fail until it is removed: one of the
	// Failure constants.
	AnnotationFailure = prefix + "failure"
	// AnnotationDevices has the devices of a node, which the virtual driver
	// publishes in ResourceSlices: a list of DeviceGroup in YAML or JSON.
	AnnotationDevices = prefix + "devices"
	// AnnotationRunDuration is how long a pod's containers run until they end,
	// such as 30s. Without it, those of a Job run for DefaultRunDuration and all
	// others without end. It means nothing with the restart policy Always.
	AnnotationRunDuration = prefix + "run-duration"
	// AnnotationExitCode is what a pod's containers end with. Default: 0. For an
	// indexed Job it may name completion indexes, as in "1=42,3=1": all others
	// end with 0.
	AnnotationExitCode = prefix + "exit-code"
	// AnnotationShutdownDuration is how long a pod's containers take to stop when
	// the pod is deleted, such as 5s, at most the grace period. Without it they
	// take the whole grace period, except for Kubernetes' default of 30 seconds,
	// of which nobody has said anything: most programs stop within a second.
	AnnotationShutdownDuration = prefix + "shutdown-duration"
)

// The values of AnnotationFailure.
const (
	// FailureNotReady is a kubelet that says that its node is not ready. It still
	// runs and stops pods. The node is tainted not-ready.
	FailureNotReady = "not-ready"
	// FailureUnreachable is a node that nobody hears of any more. Its pods are not
	// ready, and stay as they are, also when they are deleted, until it is back
	// or deleted. The node is tainted unreachable.
	FailureUnreachable = "unreachable"
)
