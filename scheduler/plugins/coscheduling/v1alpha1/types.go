// Package v1alpha1 has the API types of scheduling.x-k8s.io/v1alpha1 that the plugin Coscheduling
// reads. It may import apimachinery and Kubernetes' API types only.
package v1alpha1

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is that of the types of this package.
var GroupVersion = schema.GroupVersion{Group: "scheduling.x-k8s.io", Version: "v1alpha1"}

// PodGroups is the resource of PodGroup, and PodGroupKind its kind.
var (
	PodGroups    = GroupVersion.WithResource("podgroups")
	PodGroupKind = GroupVersion.WithKind("PodGroup")
)

// PodGroupLabel is the label by which a pod joins the group of that name in its own namespace.
const PodGroupLabel = "scheduling.x-k8s.io/pod-group"

// PodGroup is a group of pods that are bound together or not at all.
type PodGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PodGroupSpec   `json:"spec,omitempty"`
	Status PodGroupStatus `json:"status,omitempty"`
}

type PodGroupSpec struct {
	// MinMember is how many pods must have a place before any is bound. 0 lets every
	// pod pass.
	MinMember int32 `json:"minMember,omitempty"`
	// MinResources are the resources that the cluster must have free for the whole group
	// before any of its pods is tried; nil for no check.
	MinResources v1.ResourceList `json:"minResources,omitempty"`
	// ScheduleTimeoutSeconds is how long a pod that has a place waits for the others. nil and
	// 0 leave it to the plugin's arguments.
	ScheduleTimeoutSeconds *int32 `json:"scheduleTimeoutSeconds,omitempty"`
}

// PodGroupStatus is what has become of a group. A controller writes it, not the scheduler.
type PodGroupStatus struct {
	Phase PodGroupPhase `json:"phase,omitempty"`
	// OccupiedBy are the owners of the first pod, as namespace/name, sorted, joined by commas.
	OccupiedBy string `json:"occupiedBy,omitempty"`
	// Running, Succeeded and Failed count pods by their phase.
	Running   int32 `json:"running,omitempty"`
	Succeeded int32 `json:"succeeded,omitempty"`
	Failed    int32 `json:"failed,omitempty"`
	// ScheduleStartTime is written by nothing here.
	ScheduleStartTime metav1.Time `json:"scheduleStartTime,omitzero"`
}

type PodGroupPhase string

const (
	// PodGroupPending: the group has fewer pods than it needs.
	PodGroupPending PodGroupPhase = "Pending"
	// PodGroupScheduling: it has enough pods, and fewer of them run or have succeeded than it
	// needs.
	PodGroupScheduling PodGroupPhase = "Scheduling"
	// PodGroupRunning: enough pods run or have succeeded.
	PodGroupRunning PodGroupPhase = "Running"
	// PodGroupFinished: enough pods have succeeded. The phase is final.
	PodGroupFinished PodGroupPhase = "Finished"
	// PodGroupFailed: a pod has failed, after enough of them had started. The phase is final.
	PodGroupFailed PodGroupPhase = "Failed"
)

type PodGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []PodGroup `json:"items"`
}
