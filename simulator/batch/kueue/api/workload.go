package api

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Workload is what a job asks a queue for, and what it was given.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Workload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WorkloadSpec   `json:"spec,omitempty"`
	Status WorkloadStatus `json:"status,omitempty"`
}

// WorkloadList is a list of Workloads.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type WorkloadList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Workload `json:"items"`
}

// WorkloadSpec is what a workload asks for.
type WorkloadSpec struct {
	PodSets []PodSet `json:"podSets,omitempty"`
	// QueueName is a LocalQueue of the workload's namespace.
	QueueName        string            `json:"queueName,omitempty"`
	PriorityClassRef *PriorityClassRef `json:"priorityClassRef,omitempty"`
	// Priority is what PriorityClassRef resolved to; nil counts as 0.
	Priority *int32 `json:"priority,omitempty"`
	// Active false evicts the workload and keeps it out of the queues; nil counts as true.
	Active *bool `json:"active,omitempty"`
	// MaximumExecutionTimeSeconds deactivates the workload after that time admitted.
	MaximumExecutionTimeSeconds *int32 `json:"maximumExecutionTimeSeconds,omitempty"`
}

// PriorityClassRef is the class that a workload has its priority from.
type PriorityClassRef struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
}

// DefaultPodSetName is the name of a pod set that has none.
const DefaultPodSetName = "main"

// PodSet is a number of pods of one shape.
type PodSet struct {
	Name     string             `json:"name,omitempty"`
	Template v1.PodTemplateSpec `json:"template"`
	Count    int32              `json:"count"`
	// MinCount allows the workload to start with fewer pods. At most one pod set has it.
	MinCount        *int32                 `json:"minCount,omitempty"`
	TopologyRequest *PodSetTopologyRequest `json:"topologyRequest,omitempty"`
}

// PodSetTopologyRequest says how close to each other the pods must be. At most one of Required,
// Preferred and Unconstrained is set.
type PodSetTopologyRequest struct {
	// Required and Preferred are the node label of a level.
	Required      *string `json:"required,omitempty"`
	Preferred     *string `json:"preferred,omitempty"`
	Unconstrained *bool   `json:"unconstrained,omitempty"`
	// PodIndexLabel is the label that ranks the pods.
	PodIndexLabel      *string `json:"podIndexLabel,omitempty"`
	SubGroupIndexLabel *string `json:"subGroupIndexLabel,omitempty"`
	SubGroupCount      *int32  `json:"subGroupCount,omitempty"`
	// PodSetGroupName joins two pod sets, one of them a single leader, in one domain.
	PodSetGroupName *string `json:"podSetGroupName,omitempty"`
	// PodSetSliceRequiredTopology is the level that every slice of PodSetSliceSize pods must
	// stay in.
	PodSetSliceRequiredTopology *string `json:"podSetSliceRequiredTopology,omitempty"`
	PodSetSliceSize             *int32  `json:"podSetSliceSize,omitempty"`
}

// The types of a workload's conditions.
const (
	WorkloadQuotaReserved      = "QuotaReserved"
	WorkloadAdmitted           = "Admitted"
	WorkloadEvicted            = "Evicted"
	WorkloadPreempted          = "Preempted"
	WorkloadRequeued           = "Requeued"
	WorkloadPodsReady          = "PodsReady"
	WorkloadFinished           = "Finished"
	WorkloadDeactivationTarget = "DeactivationTarget"
	// WorkloadWaitingForReplacementPods is true while a pod group waits for pods in place of
	// failed ones.
	WorkloadWaitingForReplacementPods = "WaitingForReplacementPods"
)

// WorkloadStatus is what became of a workload.
type WorkloadStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Admission is set while quota is reserved.
	Admission    *Admission    `json:"admission,omitempty"`
	RequeueState *RequeueState `json:"requeueState,omitempty"`
	// ReclaimablePods are pods whose quota is no longer needed.
	ReclaimablePods []ReclaimablePod      `json:"reclaimablePods,omitempty"`
	AdmissionChecks []AdmissionCheckState `json:"admissionChecks,omitempty"`
	// ResourceRequests is what was asked, while the workload is not admitted.
	ResourceRequests                    []PodSetRequest  `json:"resourceRequests,omitempty"`
	AccumulatedPastExecutionTimeSeconds *int32           `json:"accumulatedPastExecutionTimeSeconds,omitempty"`
	SchedulingStats                     *SchedulingStats `json:"schedulingStats,omitempty"`
	UnhealthyNodes                      []UnhealthyNode  `json:"unhealthyNodes,omitempty"`
}

// Admission is the quota that a workload holds.
type Admission struct {
	ClusterQueue      string             `json:"clusterQueue"`
	PodSetAssignments []PodSetAssignment `json:"podSetAssignments,omitempty"`
}

// PodSetAssignment is the quota of one pod set.
type PodSetAssignment struct {
	Name    string                     `json:"name"`
	Flavors map[v1.ResourceName]string `json:"flavors,omitempty"`
	// ResourceUsage is that of all Count pods.
	ResourceUsage      v1.ResourceList     `json:"resourceUsage,omitempty"`
	Count              *int32              `json:"count,omitempty"`
	TopologyAssignment *TopologyAssignment `json:"topologyAssignment,omitempty"`
	// DelayedTopologyRequest is Pending while an admission check must come first, then Ready.
	DelayedTopologyRequest *DelayedTopologyRequestState `json:"delayedTopologyRequest,omitempty"`
}

// DelayedTopologyRequestState says whether a delayed topology assignment has been made.
type DelayedTopologyRequestState string

// The states of a delayed topology assignment.
const (
	DelayedTopologyRequestPending DelayedTopologyRequestState = "Pending"
	DelayedTopologyRequestReady   DelayedTopologyRequestState = "Ready"
)

// TopologyAssignment says how many pods go to which domains. Its form is compact: Slices follow
// each other, and each lists DomainCount domains column by column.
type TopologyAssignment struct {
	// Levels are the node labels of the levels that the domains are given by, the hostname
	// alone if it is the lowest.
	Levels []string                  `json:"levels"`
	Slices []TopologyAssignmentSlice `json:"slices"`
}

// TopologyAssignmentSlice is a run of domains.
type TopologyAssignmentSlice struct {
	DomainCount int32 `json:"domainCount"`
	// ValuesPerLevel has an entry for each of the levels.
	ValuesPerLevel []TopologyAssignmentSliceLevelValues `json:"valuesPerLevel"`
	PodCounts      TopologyAssignmentSlicePodCounts     `json:"podCounts"`
}

// TopologyAssignmentSliceLevelValues are the values of one level: one for all domains, or one
// for each.
type TopologyAssignmentSliceLevelValues struct {
	Universal  *string                                       `json:"universal,omitempty"`
	Individual *TopologyAssignmentSliceLevelIndividualValues `json:"individual,omitempty"`
}

// TopologyAssignmentSliceLevelIndividualValues are values that share a prefix and a suffix.
type TopologyAssignmentSliceLevelIndividualValues struct {
	Prefix *string  `json:"prefix,omitempty"`
	Suffix *string  `json:"suffix,omitempty"`
	Roots  []string `json:"roots"`
}

// TopologyAssignmentSlicePodCounts are the pods of each domain: one number for all, or one for
// each.
type TopologyAssignmentSlicePodCounts struct {
	Universal  *int32  `json:"universal,omitempty"`
	Individual []int32 `json:"individual,omitempty"`
}

// RequeueState has the backoff of a workload whose pods were not ready in time.
type RequeueState struct {
	Count     *int32       `json:"count,omitempty"`
	RequeueAt *metav1.Time `json:"requeueAt,omitempty"`
}

// ReclaimablePod counts pods of a pod set that have given their quota back.
type ReclaimablePod struct {
	Name  string `json:"name"`
	Count int32  `json:"count"`
}

// PodSetRequest is what a pod set asked for.
type PodSetRequest struct {
	Name      string          `json:"name"`
	Resources v1.ResourceList `json:"resources,omitempty"`
}

// AdmissionCheckState is the state of one check of a workload.
type AdmissionCheckState struct {
	Name                string         `json:"name"`
	State               CheckState     `json:"state"`
	LastTransitionTime  metav1.Time    `json:"lastTransitionTime"`
	RequeueAfterSeconds *int32         `json:"requeueAfterSeconds,omitempty"`
	RetryCount          *int32         `json:"retryCount,omitempty"`
	Message             string         `json:"message"`
	PodSetUpdates       []PodSetUpdate `json:"podSetUpdates,omitempty"`
}

// CheckState is the verdict of an admission check.
type CheckState string

// The states of an admission check. Retry evicts the workload, Rejected deactivates it.
const (
	CheckStatePending  CheckState = "Pending"
	CheckStateReady    CheckState = "Ready"
	CheckStateRetry    CheckState = "Retry"
	CheckStateRejected CheckState = "Rejected"
)

// PodSetUpdate is what an admission check adds to the pods of a pod set.
type PodSetUpdate struct {
	Name         string            `json:"name"`
	Labels       map[string]string `json:"labels,omitempty"`
	Annotations  map[string]string `json:"annotations,omitempty"`
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	Tolerations  []v1.Toleration   `json:"tolerations,omitempty"`
}

// SchedulingStats counts what happened to a workload.
type SchedulingStats struct {
	Evictions []WorkloadSchedulingStatsEviction `json:"evictions,omitempty"`
}

// WorkloadSchedulingStatsEviction counts the evictions of one reason.
type WorkloadSchedulingStatsEviction struct {
	Reason          string `json:"reason"`
	UnderlyingCause string `json:"underlyingCause"`
	Count           int32  `json:"count"`
}

// UnhealthyNode is a failed node that a topology assignment uses.
type UnhealthyNode struct {
	Name string `json:"name"`
}
