package session

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type Rules string

const (
	// KubeBatch decides as kube-batch at its last commit does.
	KubeBatch Rules = "kube-batch"
	Volcano   Rules = "volcano"
)

// Dialects lists the rules. Each is also the schedulerName of the pods that it serves.
var Dialects = []Rules{KubeBatch, Volcano}

// Serves reports whether a session scheduler serves the pods of a schedulerName.
func Serves(schedulerName string) bool { return slices.Contains(Dialects, Rules(schedulerName)) }

// GroupVersions returns the API versions of the PodGroups and Queues that a dialect reads.
func (r Rules) GroupVersions() []schema.GroupVersion {
	if r == Volcano {
		return []schema.GroupVersion{{Group: "scheduling.volcano.sh", Version: "v1beta1"}}
	}
	return []schema.GroupVersion{
		{Group: "scheduling.incubator.k8s.io", Version: "v1alpha1"},
		{Group: "scheduling.sigs.dev", Version: "v1alpha2"},
	}
}

// Names of annotations.
const (
	// GroupAnnotation, of a pod, names its PodGroup in the same namespace.
	GroupAnnotation = "scheduling.k8s.io/group-name"
	// MinMemberAnnotation, of a pod without a group, is kube-batch's minimum for the job of the pod's controller.
	MinMemberAnnotation = "scheduling.k8s.io/group-min-member"
	// VolcanoMinMemberAnnotation is Volcano's, and belongs on the controller.
	VolcanoMinMemberAnnotation = "scheduling.volcano.sh/group-min-member"
	// QueueAnnotation, of a pod or a namespace, names the queue of a PodGroup that is made for it.
	QueueAnnotation = "scheduling.volcano.sh/queue-name"
	// RoleAnnotation names the role of a pod within its job, as minTaskMember counts it.
	RoleAnnotation = "volcano.sh/task-spec"
	// TaskPriorityAnnotation overrides a pod's priority within its job.
	TaskPriorityAnnotation = "volcano.sh/task-priority"
	// PreemptableAnnotation, as an annotation or a label, says whether Volcano may evict a pod; true by default.
	PreemptableAnnotation = "volcano.sh/preemptable"
)

// DefaultQueue is the queue of jobs that name none.
const DefaultQueue = "default"

// PodGroup is a job, of either API family.
type PodGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PodGroupSpec   `json:"spec,omitempty"`
	Status PodGroupStatus `json:"status,omitempty"`
}

// PodGroupSpec says what a job needs.
type PodGroupSpec struct {
	// MinMember is how many pods must have a place before any is bound.
	MinMember int32 `json:"minMember,omitempty"`
	// Queue is the queue's name; empty means DefaultQueue.
	Queue             string `json:"queue,omitempty"`
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// MinTaskMember is the minimum of each role. Volcano only, like MinResources.
	MinTaskMember map[string]int32 `json:"minTaskMember,omitempty"`
	// MinResources is what action enqueue reserves; nil for nothing.
	MinResources v1.ResourceList `json:"minResources,omitempty"`
}

type PodGroupPhase string

// The phases. PhaseInqueue and PhaseCompleted are Volcano's.
const (
	PhasePending   PodGroupPhase = "Pending"
	PhaseInqueue   PodGroupPhase = "Inqueue"
	PhaseRunning   PodGroupPhase = "Running"
	PhaseUnknown   PodGroupPhase = "Unknown"
	PhaseCompleted PodGroupPhase = "Completed"
)

type PodGroupStatus struct {
	Phase      PodGroupPhase `json:"phase,omitempty"`
	Conditions []Condition   `json:"conditions,omitempty"`
	Running    int32         `json:"running,omitempty"`
	Succeeded  int32         `json:"succeeded,omitempty"`
	Failed     int32         `json:"failed,omitempty"`
}

// Types and reasons of conditions.
const (
	ConditionUnschedulable   = "Unschedulable"
	ConditionScheduled       = "Scheduled"
	ReasonNotEnoughResources = "NotEnoughResources"
	// ReasonReady is Volcano's, with an empty message.
	ReasonReady = "tasks in gang are ready to be scheduled"
)

// Condition is a condition of a PodGroup. A session replaces that of its type and never sets it to False: it is current
// only if TransitionID is the session's.
type Condition struct {
	Type               string                 `json:"type,omitempty"`
	Status             metav1.ConditionStatus `json:"status,omitempty"`
	TransitionID       string                 `json:"transitionID,omitempty"`
	LastTransitionTime metav1.Time            `json:"lastTransitionTime,omitempty"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
}

// Queue shares the cluster with the other queues by its weight, of either API family.
type Queue struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   QueueSpec   `json:"spec,omitempty"`
	Status QueueStatus `json:"status,omitempty"`
}

// QueueSpec is what a queue is given. Volcano reads all of it, kube-batch only the weight.
type QueueSpec struct {
	Weight     int32           `json:"weight,omitempty"`
	Capability v1.ResourceList `json:"capability,omitempty"`
	// Reclaimable: other queues may take back what is beyond the queue's share; nil means true.
	Reclaimable *bool          `json:"reclaimable,omitempty"`
	Guarantee   QueueGuarantee `json:"guarantee,omitempty"`
	// Deserved is read by Volcano's plugin capacity, which is not among the plugins here.
	Deserved v1.ResourceList `json:"deserved,omitempty"`
	Priority int32           `json:"priority,omitempty"`
}

// QueueGuarantee is what no other queue is given.
type QueueGuarantee struct {
	Resource v1.ResourceList `json:"resource,omitempty"`
}

// QueueStatus is Volcano's. State is Open, Closed, Closing or Unknown; an empty one means Open.
type QueueStatus struct {
	State string `json:"state,omitempty"`
}
