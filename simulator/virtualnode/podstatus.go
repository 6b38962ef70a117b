package virtualnode

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
	"sigs.k8s.io/kwok/pkg/utils/gotpl"

	"kube-scheduler-simulator/simulator/objects"
)

// DefaultRunDuration is how long the pods of Jobs run.
const DefaultRunDuration = 10 * time.Second

const (
	// killedExitCode is the exit code of a container that a termination signal
	// ended.
	killedExitCode = 143
)

// The networks of made-up addresses, with 20 bits for each host. Nothing answers
// there.
var (
	nodeNetwork = [2]byte{172, 16}
	podNetwork  = [2]byte{10, 128}
)

// podFunctions are functions for the templates of pod stages, besides kwok's. Each
// returns what a kubelet would write to the pod's status.
func podFunctions(now func() time.Time) gotpl.FuncMap {
	function := func(status func(*corev1.Pod, metav1.Time) (*podStatus, error)) func(any) (*podStatus, error) {
		return func(o any) (*podStatus, error) {
			pod, err := typed[corev1.Pod](o)
			if err != nil {
				return nil, err
			}
			return status(pod, metav1.NewTime(now()))
		}
	}
	return gotpl.FuncMap{
		"PodRunning": function(podRunning),
		"PodBack":    function(podBack),
		"PodEnded":   function(podEnded),
		"PodStopped": function(podStopped),
	}
}

// podStatus is the part of a pod's status that a virtual node writes.
type podStatus struct {
	Phase                 corev1.PodPhase          `json:"phase,omitempty"`
	Conditions            []corev1.PodCondition    `json:"conditions,omitempty"`
	StartTime             *metav1.Time             `json:"startTime,omitempty"`
	PodIP                 string                   `json:"podIP,omitempty"`
	PodIPs                []corev1.PodIP           `json:"podIPs,omitempty"`
	InitContainerStatuses []corev1.ContainerStatus `json:"initContainerStatuses,omitempty"`
	ContainerStatuses     []corev1.ContainerStatus `json:"containerStatuses,omitempty"`
}

// podRunning is the status of a pod whose containers have started, after its init
// containers.
func podRunning(pod *corev1.Pod, now metav1.Time) (*podStatus, error) {
	address := addressOf(string(pod.UID), podNetwork)
	s := &podStatus{
		Phase: corev1.PodRunning, StartTime: &now,
		PodIP: address, PodIPs: []corev1.PodIP{{IP: address}},
	}
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

// podBack is the status of a pod whose node is reachable again.
func podBack(_ *corev1.Pod, now metav1.Time) (*podStatus, error) {
	return &podStatus{Conditions: []corev1.PodCondition{podCondition(corev1.PodReady, corev1.ConditionTrue, now)}}, nil
}

// podEnded is the status of a pod whose containers have exited by themselves: the
// pod has succeeded or failed, or its containers start again under its restart
// policy.
func podEnded(pod *corev1.Pod, now metav1.Time) (*podStatus, error) {
	code, err := exitCode(pod)
	if err != nil {
		return nil, err
	}
	if code != 0 && pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		return restarted(pod, code, now), nil
	}
	return finished(pod, code, now), nil
}

// podStopped is the status of a pod that was told to stop.
func podStopped(pod *corev1.Pod, now metav1.Time) (*podStatus, error) {
	if len(pod.Status.ContainerStatuses) == 0 {
		return &podStatus{Phase: corev1.PodFailed}, nil // nothing has run
	}
	return finished(pod, killedExitCode, now), nil
}

func finished(pod *corev1.Pod, code int32, now metav1.Time) *podStatus {
	s := &podStatus{Phase: corev1.PodSucceeded}
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
		s.ContainerStatuses = append(s.ContainerStatuses, terminated(c, restarts, code, since, now))
	}
	return s
}

func restarted(pod *corev1.Pod, code int32, now metav1.Time) *podStatus {
	s := &podStatus{Phase: corev1.PodRunning}
	for i, c := range pod.Spec.Containers {
		restarts, since := runOf(pod, i, now)
		status := started(c, restarts+1, now)
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
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
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

// exitCode parses AnnotationExitCode of the pod.
func exitCode(pod *corev1.Pod) (int32, error) {
	value := strings.TrimSpace(pod.Annotations[objects.AnnotationExitCode])
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
			return 0, fmt.Errorf("annotation %s is %q; it can be an exit code from 0 to 255, or some by completion index, as in 1=42,3=1", objects.AnnotationExitCode, value)
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

// addressOf returns an address in the network for the object with that UID. Two
// objects may have the same: nothing here depends on addresses, and unique ones
// would need a register.
func addressOf(uid string, network [2]byte) string {
	hash := fnv.New32a()
	hash.Write([]byte(uid))
	sum := hash.Sum32()
	return netip.AddrFrom4([4]byte{network[0], network[1] | byte(sum>>16)&0x0f, byte(sum >> 8), byte(sum)}).String()
}
