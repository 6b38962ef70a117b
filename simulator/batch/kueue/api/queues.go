package api

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterQueue is a pool of quota and the queue of the workloads that wait for it.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type ClusterQueue struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ClusterQueueSpec   `json:"spec,omitempty"`
	Status ClusterQueueStatus `json:"status,omitempty"`
}

// ClusterQueueList is a list of ClusterQueues.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type ClusterQueueList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterQueue `json:"items"`
}

// ClusterQueueSpec is what a ClusterQueue offers and to whom.
type ClusterQueueSpec struct {
	// ResourceGroups have the quota. A resource and a flavor belong to one group each.
	ResourceGroups []ResourceGroup `json:"resourceGroups,omitempty"`
	// CohortName is the Cohort whose members share unused quota. "" shares nothing. The
	// Cohort need not exist as an object.
	CohortName string `json:"cohortName,omitempty"`
	// QueueingStrategy defaults to BestEffortFIFO.
	QueueingStrategy QueueingStrategy `json:"queueingStrategy,omitempty"`
	// NamespaceSelector picks the namespaces whose workloads are accepted. nil accepts none,
	// an empty selector all.
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	// FlavorFungibility says when the search for a flavor goes on to the next.
	FlavorFungibility *FlavorFungibility `json:"flavorFungibility,omitempty"`
	// Preemption says whom a pending workload may evict. nil: no workload.
	Preemption *ClusterQueuePreemption `json:"preemption,omitempty"`
	// AdmissionChecksStrategy lists what must agree, besides quota.
	AdmissionChecksStrategy *AdmissionChecksStrategy `json:"admissionChecksStrategy,omitempty"`
	// StopPolicy defaults to None.
	StopPolicy *StopPolicy `json:"stopPolicy,omitempty"`
	// FairSharing has the weight in the cohort. nil weighs 1.
	FairSharing    *FairSharing    `json:"fairSharing,omitempty"`
	AdmissionScope *AdmissionScope `json:"admissionScope,omitempty"`
}

// QueueingStrategy is the order in which a ClusterQueue tries its workloads.
type QueueingStrategy string

// StrictFIFO lets nothing overtake the head. BestEffortFIFO tries later workloads while an
// older one does not fit.
const (
	StrictFIFO     QueueingStrategy = "StrictFIFO"
	BestEffortFIFO QueueingStrategy = "BestEffortFIFO"
)

// ResourceGroup is the quota of resources that are taken from one flavor together.
type ResourceGroup struct {
	CoveredResources []v1.ResourceName `json:"coveredResources"`
	// Flavors are tried in this order.
	Flavors []FlavorQuotas `json:"flavors"`
}

// FlavorQuotas is the quota in one flavor.
type FlavorQuotas struct {
	Name string `json:"name"`
	// Resources are those that the group covers, in its order.
	Resources []ResourceQuota `json:"resources"`
}

// ResourceQuota is the quota of one resource in one flavor.
type ResourceQuota struct {
	Name         v1.ResourceName   `json:"name"`
	NominalQuota resource.Quantity `json:"nominalQuota"`
	// BorrowingLimit is how much more than the nominal quota may be used; nil for no limit.
	BorrowingLimit *resource.Quantity `json:"borrowingLimit,omitempty"`
	// LendingLimit is how much unused nominal quota others may use; nil for no limit.
	LendingLimit *resource.Quantity `json:"lendingLimit,omitempty"`
}

// FlavorFungibility says when the search for a flavor goes on to the next.
type FlavorFungibility struct {
	// WhenCanBorrow defaults to MayStopSearch.
	WhenCanBorrow FlavorFungibilityPolicy `json:"whenCanBorrow,omitempty"`
	// WhenCanPreempt defaults to TryNextFlavor.
	WhenCanPreempt FlavorFungibilityPolicy `json:"whenCanPreempt,omitempty"`
	// Preference compares flavors when both of the above are TryNextFlavor. nil is
	// BorrowingOverPreemption.
	Preference *FlavorFungibilityPreference `json:"preference,omitempty"`
}

// FlavorFungibilityPolicy says whether a flavor that does not fit cleanly ends the search.
type FlavorFungibilityPolicy string

// The policies of FlavorFungibility.
const (
	MayStopSearch FlavorFungibilityPolicy = "MayStopSearch"
	TryNextFlavor FlavorFungibilityPolicy = "TryNextFlavor"
)

// FlavorFungibilityPreference is what counts first when two flavors are compared.
type FlavorFungibilityPreference string

// The preferences of FlavorFungibility.
const (
	BorrowingOverPreemption FlavorFungibilityPreference = "BorrowingOverPreemption"
	PreemptionOverBorrowing FlavorFungibilityPreference = "PreemptionOverBorrowing"
)

// ClusterQueuePreemption says whom a pending workload may evict.
type ClusterQueuePreemption struct {
	// WithinClusterQueue is Never (the default), LowerPriority or LowerOrNewerEqualPriority.
	WithinClusterQueue PreemptionPolicy `json:"withinClusterQueue,omitempty"`
	// ReclaimWithinCohort is Never (the default), LowerPriority or Any.
	ReclaimWithinCohort PreemptionPolicy    `json:"reclaimWithinCohort,omitempty"`
	BorrowWithinCohort  *BorrowWithinCohort `json:"borrowWithinCohort,omitempty"`
}

// PreemptionPolicy says which workloads are candidates for preemption.
type PreemptionPolicy string

// The preemption policies.
const (
	PreemptionNever                     PreemptionPolicy = "Never"
	PreemptionAny                       PreemptionPolicy = "Any"
	PreemptionLowerPriority             PreemptionPolicy = "LowerPriority"
	PreemptionLowerOrNewerEqualPriority PreemptionPolicy = "LowerOrNewerEqualPriority"
)

// BorrowWithinCohort allows preemption in the cohort by a workload that borrows.
type BorrowWithinCohort struct {
	// Policy is Never (the default) or LowerPriority.
	Policy PreemptionPolicy `json:"policy,omitempty"`
	// MaxPriorityThreshold spares workloads of a higher priority; nil spares none.
	MaxPriorityThreshold *int32 `json:"maxPriorityThreshold,omitempty"`
}

// AdmissionChecksStrategy lists the admission checks of a ClusterQueue.
type AdmissionChecksStrategy struct {
	AdmissionChecks []AdmissionCheckStrategyRule `json:"admissionChecks,omitempty"`
}

// AdmissionCheckStrategyRule requires one admission check.
type AdmissionCheckStrategyRule struct {
	Name string `json:"name"`
	// OnFlavors limits the check to workloads that use one of the flavors; empty for all.
	OnFlavors []string `json:"onFlavors,omitempty"`
}

// FairSharing has the weight of a queue or cohort.
type FairSharing struct {
	// Weight defaults to 1. 0 makes any borrowing an infinite share.
	Weight *resource.Quantity `json:"weight,omitempty"`
}

// AdmissionScope turns on fair sharing between the LocalQueues of a ClusterQueue.
type AdmissionScope struct {
	// AdmissionMode is UsageBasedAdmissionFairSharing or NoAdmissionFairSharing.
	AdmissionMode AdmissionMode `json:"admissionMode"`
}

// AdmissionMode is the mode of an AdmissionScope.
type AdmissionMode string

// The admission modes.
const (
	UsageBasedAdmissionFairSharing AdmissionMode = "UsageBasedAdmissionFairSharing"
	NoAdmissionFairSharing         AdmissionMode = "NoAdmissionFairSharing"
)

// ConditionActive is the condition of ClusterQueues, LocalQueues and AdmissionChecks that says
// whether they take part in admission.
const ConditionActive = "Active"

// ClusterQueueStatus is what a controller reports about a ClusterQueue.
type ClusterQueueStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// FlavorsReservation counts workloads that have reserved quota, FlavorsUsage those that
	// are admitted.
	FlavorsReservation []FlavorUsage `json:"flavorsReservation,omitempty"`
	FlavorsUsage       []FlavorUsage `json:"flavorsUsage,omitempty"`
	PendingWorkloads   int32         `json:"pendingWorkloads"`
	ReservingWorkloads int32         `json:"reservingWorkloads"`
	AdmittedWorkloads  int32         `json:"admittedWorkloads"`
	// FairSharing is nil unless fair sharing is on.
	FairSharing *FairSharingStatus `json:"fairSharing,omitempty"`
}

// FlavorUsage is the usage in one flavor.
type FlavorUsage struct {
	Name      string          `json:"name"`
	Resources []ResourceUsage `json:"resources"`
}

// ResourceUsage is the usage of one resource in one flavor.
type ResourceUsage struct {
	Name  v1.ResourceName   `json:"name"`
	Total resource.Quantity `json:"total,omitempty"`
	// Borrowed is what Total exceeds the nominal quota by.
	Borrowed resource.Quantity `json:"borrowed,omitempty"`
}

// FairSharingStatus reports the share of a ClusterQueue or Cohort.
type FairSharingStatus struct {
	// WeightedShare is rounded up; the largest int64 means a borrower of weight 0.
	WeightedShare int64 `json:"weightedShare"`
}

// LocalQueue lets the workloads of a namespace into a ClusterQueue.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type LocalQueue struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   LocalQueueSpec   `json:"spec,omitempty"`
	Status LocalQueueStatus `json:"status,omitempty"`
}

// LocalQueueList is a list of LocalQueues.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type LocalQueueList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []LocalQueue `json:"items"`
}

// LocalQueueSpec names the ClusterQueue of a LocalQueue.
type LocalQueueSpec struct {
	ClusterQueue string      `json:"clusterQueue,omitempty"`
	StopPolicy   *StopPolicy `json:"stopPolicy,omitempty"`
	// FairSharing has the weight among the LocalQueues of the ClusterQueue.
	FairSharing *FairSharing `json:"fairSharing,omitempty"`
}

// LocalQueueStatus is what a controller reports about a LocalQueue.
type LocalQueueStatus struct {
	Conditions         []metav1.Condition      `json:"conditions,omitempty"`
	PendingWorkloads   int32                   `json:"pendingWorkloads"`
	ReservingWorkloads int32                   `json:"reservingWorkloads"`
	AdmittedWorkloads  int32                   `json:"admittedWorkloads"`
	FlavorsReservation []LocalQueueFlavorUsage `json:"flavorsReservation,omitempty"`
	FlavorsUsage       []LocalQueueFlavorUsage `json:"flavorsUsage,omitempty"`
}

// LocalQueueFlavorUsage is the usage in one flavor.
type LocalQueueFlavorUsage struct {
	Name      string                    `json:"name"`
	Resources []LocalQueueResourceUsage `json:"resources"`
}

// LocalQueueResourceUsage is the usage of one resource in one flavor.
type LocalQueueResourceUsage struct {
	Name  v1.ResourceName   `json:"name"`
	Total resource.Quantity `json:"total,omitempty"`
}

// Cohort joins ClusterQueues and other Cohorts that share unused quota.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Cohort struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CohortSpec   `json:"spec,omitempty"`
	Status CohortStatus `json:"status,omitempty"`
}

// CohortList is a list of Cohorts.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type CohortList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Cohort `json:"items"`
}

// CohortSpec has the place of a Cohort in the tree and quota of its own.
type CohortSpec struct {
	// ParentName is the Cohort above; "" makes it a root. A cycle disables all its members.
	ParentName     string          `json:"parentName,omitempty"`
	ResourceGroups []ResourceGroup `json:"resourceGroups,omitempty"`
	FairSharing    *FairSharing    `json:"fairSharing,omitempty"`
}

// CohortStatus is what a controller reports about a Cohort.
type CohortStatus struct {
	FairSharing *FairSharingStatus `json:"fairSharing,omitempty"`
}
