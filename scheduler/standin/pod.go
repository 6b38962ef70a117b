package standin

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// DefaultRunDuration is how long the pods of Jobs run.
const DefaultRunDuration = 10 * time.Second

// killedExitCode is the exit code of a container that a termination signal
// ended.
const killedExitCode = 143

// The networks of made-up addresses, with 20 bits for each host. Nothing answers
// there.
var (
	NodeNetwork = [2]byte{172, 16}
	PodNetwork  = [2]byte{10, 128}
)

// PodStatus is the part of a pod's status that a virtual node writes.
type PodStatus struct {
	Phase                 corev1.PodPhase          `json:"phase,omitempty"`
	Conditions            []corev1.PodCondition    `json:"conditions,omitempty"`
	StartTime             *metav1.Time             `json:"startTime,omitempty"`
	PodIP                 string                   `json:"podIP,omitempty"`
	PodIPs                []corev1.PodIP           `json:"podIPs,omitempty"`
	InitContainerStatuses []corev1.ContainerStatus `json:"initContainerStatuses,omitempty"`
	ContainerStatuses     []corev1.ContainerStatus `json:"containerStatuses,omitempty"`
	// Resources and AllocatedResources are what the node granted the pod.
	Resources          *corev1.ResourceRequirements `json:"resources,omitempty"`
	AllocatedResources corev1.ResourceList          `json:"allocatedResources,omitempty"`
	// ObservedGeneration is that of the node's spec of the pod.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// PodRunning is the status of a pod whose containers have started, after its init
// containers.
func PodRunning(pod *corev1.Pod, now metav1.Time) (*PodStatus, error) {
	address := AddressOf(string(pod.UID), PodNetwork)
	s := &PodStatus{
		Phase: corev1.PodRunning, StartTime: &now,
		PodIP: address, PodIPs: []corev1.PodIP{{IP: address}},
		ObservedGeneration: pod.Generation,
	}
	s.Resources, s.AllocatedResources = grantedTo(pod)
	for _, kind := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		s.Conditions = append(s.Conditions, podCondition(kind, corev1.ConditionTrue, now))
	}
	// No controller here would ever open a readiness gate.
	for _, gate := range pod.Spec.ReadinessGates {
		s.Conditions = append(s.Conditions, podCondition(gate.ConditionType, corev1.ConditionTrue, now))
	}
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			s.InitContainerStatuses = append(s.InitContainerStatuses, started(c, 0, now))
			continue
		}
		status := terminated(c, 0, 0, now, now)
		status.Ready = true
		s.InitContainerStatuses = append(s.InitContainerStatuses, status)
	}
	for _, c := range pod.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, started(c, 0, now))
	}
	return s, nil
}

// PodBack is the status of a pod whose node is reachable again.
func PodBack(_ *corev1.Pod, now metav1.Time) (*PodStatus, error) {
	return &PodStatus{Conditions: []corev1.PodCondition{podCondition(corev1.PodReady, corev1.ConditionTrue, now)}}, nil
}

// PodEnded is the status of a pod whose containers have exited by themselves: it has succeeded or
// failed, or its restart policy starts the containers again.
func PodEnded(pod *corev1.Pod, now metav1.Time) (*PodStatus, error) {
	code, err := exitCode(pod)
	if err != nil {
		return nil, err
	}
	if code != 0 && pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		return restarted(pod, code, now), nil
	}
	return finished(pod, code, now), nil
}

// PodStopped is the status of a pod that was told to stop.
func PodStopped(pod *corev1.Pod, now metav1.Time) (*PodStatus, error) {
	if len(pod.Status.ContainerStatuses) == 0 {
		return &PodStatus{Phase: corev1.PodFailed}, nil // nothing has run
	}
	return finished(pod, killedExitCode, now), nil
}

func finished(pod *corev1.Pod, code int32, now metav1.Time) *PodStatus {
	s := &PodStatus{Phase: corev1.PodSucceeded}
	reason := "PodCompleted"
	if code != 0 {
		s.Phase, reason = corev1.PodFailed, "PodFailed"
	}
	for _, kind := range []corev1.PodConditionType{corev1.ContainersReady, corev1.PodReady} {
		condition := podCondition(kind, corev1.ConditionFalse, now)
		condition.Reason = reason
		s.Conditions = append(s.Conditions, condition)
	}
	for i, c := range pod.Spec.Containers {
		restarts, since := runOf(pod, i, now)
		s.ContainerStatuses = append(s.ContainerStatuses, asGranted(terminated(c, restarts, code, since, now), pod))
	}
	return s
}

func restarted(pod *corev1.Pod, code int32, now metav1.Time) *PodStatus {
	s := &PodStatus{Phase: corev1.PodRunning}
	for i, c := range pod.Spec.Containers {
		restarts, since := runOf(pod, i, now)
		status := asGranted(started(c, restarts+1, now), pod)
		status.LastTerminationState = terminated(c, restarts, code, since, now).State
		s.ContainerStatuses = append(s.ContainerStatuses, status)
	}
	return s
}

// runOf returns how often the pod's i-th container was restarted, and when it last
// started.
func runOf(pod *corev1.Pod, i int, now metav1.Time) (int32, metav1.Time) {
	name := pod.Spec.Containers[i].Name
	at := slices.IndexFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == name })
	if at < 0 {
		return 0, now
	}
	status := pod.Status.ContainerStatuses[at]
	if status.State.Running == nil {
		return status.RestartCount, now
	}
	return status.RestartCount, status.State.Running.StartedAt
}

func started(c corev1.Container, restarts int32, now metav1.Time) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, Ready: true, Started: ptr.To(true), RestartCount: restarts,
		State:     corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		Resources: c.Resources.DeepCopy(), AllocatedResources: c.Resources.Requests.DeepCopy(),
	}
}

func terminated(c corev1.Container, restarts, code int32, since, now metav1.Time) corev1.ContainerStatus {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	return corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, Started: ptr.To(false), RestartCount: restarts,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Reason: reason, StartedAt: since, FinishedAt: now,
		}},
	}
}

func podCondition(kind corev1.PodConditionType, status corev1.ConditionStatus, now metav1.Time) corev1.PodCondition {
	return corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: now}
}

func exitCode(pod *corev1.Pod) (int32, error) {
	value := strings.TrimSpace(pod.Annotations[AnnotationExitCode])
	if value == "" {
		return 0, nil
	}
	if code, err := parseExitCode(value); err == nil {
		return code, nil
	}
	index := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	for _, part := range strings.Split(value, ",") {
		at, number, pair := strings.Cut(part, "=")
		code, err := parseExitCode(number)
		if !pair || err != nil {
			return 0, fmt.Errorf("annotation %s is %q; it can be an exit code from 0 to 255, or some by completion index, as in 1=42,3=1", AnnotationExitCode, value)
		}
		if strings.TrimSpace(at) == index {
			return code, nil
		}
	}
	return 0, nil
}

func parseExitCode(value string) (int32, error) {
	code, err := strconv.ParseUint(strings.TrimSpace(value), 10, 8)
	return int32(code), err
}

// AddressOf returns an address in the network for the object with that UID. Two objects may share
// one: nothing here depends on addresses, and unique ones would need a register.
func AddressOf(uid string, network [2]byte) string {
	hash := fnv.New32a()
	hash.Write([]byte(uid))
	sum := hash.Sum32()
	return netip.AddrFrom4([4]byte{network[0], network[1] | byte(sum>>16)&0x0f, byte(sum >> 8), byte(sum)}).String()
}
