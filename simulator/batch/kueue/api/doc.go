// Package api has the API types of kueue.x-k8s.io/v1beta2, Kueue's stored version. Only the
// shapes are here: defaults, validation and the conversion from v1beta1 belong to the package that serves
// them. It may import apimachinery and Kubernetes' API types only.
//
// +k8s:deepcopy-gen=package
package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of every type of this package.
const GroupName = "kueue.x-k8s.io"

// GroupVersion is that of the types of this package.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1beta2"}

// The resources of the group.
var (
	ClusterQueues           = GroupVersion.WithResource("clusterqueues")
	LocalQueues             = GroupVersion.WithResource("localqueues")
	ResourceFlavors         = GroupVersion.WithResource("resourceflavors")
	Cohorts                 = GroupVersion.WithResource("cohorts")
	Workloads               = GroupVersion.WithResource("workloads")
	WorkloadPriorityClasses = GroupVersion.WithResource("workloadpriorityclasses")
	AdmissionChecks         = GroupVersion.WithResource("admissionchecks")
	Topologies              = GroupVersion.WithResource("topologies")
)

// Follows is the version of Kueue that the simulator does as.
const Follows = "main of August 2026, after v0.19.2"

// The kinds of the group.
var (
	ClusterQueueKind          = GroupVersion.WithKind("ClusterQueue")
	LocalQueueKind            = GroupVersion.WithKind("LocalQueue")
	ResourceFlavorKind        = GroupVersion.WithKind("ResourceFlavor")
	CohortKind                = GroupVersion.WithKind("Cohort")
	WorkloadKind              = GroupVersion.WithKind("Workload")
	WorkloadPriorityClassKind = GroupVersion.WithKind("WorkloadPriorityClass")
	AdmissionCheckKind        = GroupVersion.WithKind("AdmissionCheck")
	TopologyKind              = GroupVersion.WithKind("Topology")
)

// AddToScheme registers the types under GroupVersion.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&ClusterQueue{}, &ClusterQueueList{}, &LocalQueue{}, &LocalQueueList{}, &ResourceFlavor{}, &ResourceFlavorList{},
		&Cohort{}, &CohortList{}, &Workload{}, &WorkloadList{}, &WorkloadPriorityClass{}, &WorkloadPriorityClassList{},
		&AdmissionCheck{}, &AdmissionCheckList{}, &Topology{}, &TopologyList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// Labels and annotations of jobs, pods and workloads.
const (
	QueueNameLabel           = GroupName + "/queue-name"
	PriorityClassLabel       = GroupName + "/priority-class"
	MaxExecTimeSecondsLabel  = GroupName + "/max-exec-time-seconds"
	PrebuiltWorkloadLabel    = GroupName + "/prebuilt-workload-name"
	PodGroupNameLabel        = GroupName + "/pod-group-name"
	PodGroupPodIndexLabel    = GroupName + "/pod-group-pod-index"
	ManagedLabel             = GroupName + "/managed"
	PodSetLabel              = GroupName + "/podset"
	LocalQueueLabel          = GroupName + "/local-queue-name"
	ClusterQueueLabel        = GroupName + "/cluster-queue-name"
	JobUIDLabel              = GroupName + "/job-uid"
	WorkloadAnnotation       = GroupName + "/workload"
	AdmissionGatedAnnotation = GroupName + "/admission-gated-by"
)

// Scheduling gates that hold pods back, and the finalizer that keeps an object in use.
const (
	AdmissionGate          = GroupName + "/admission"
	TopologyGate           = GroupName + "/topology"
	ResourceInUseFinalizer = GroupName + "/resource-in-use"
	ManagedFinalizer       = GroupName + "/managed"
)

// StopPolicy says what a queue does with workloads while it is stopped.
type StopPolicy string

// The stop policies. Hold releases reservations that are not admitted yet and makes no new
// ones; HoldAndDrain evicts admitted workloads as well.
const (
	None         StopPolicy = "None"
	Hold         StopPolicy = "Hold"
	HoldAndDrain StopPolicy = "HoldAndDrain"
)
