package objects

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is what the simulator knows of a kind of object, by group and name; any version of it that a
// cluster serves will do.
type Kind struct {
	Group, Kind string
	// Namespaced is not set for refused kinds.
	Namespaced bool
	Rank       Rank
	Uses       Use
	// Refused says why imports leave objects of the kind out. Empty: they do not.
	Refused string
	// Version and Resource are how recordings read and write the kind. Only recorded and custom kinds have
	// them.
	Version, Resource string
}

func (k Kind) GroupKind() schema.GroupKind { return schema.GroupKind{Group: k.Group, Kind: k.Kind} }

// Use is a set of what the simulator does with the objects of a kind.
type Use uint

const (
	// Exported: exports hold the objects, because they matter to scheduling or controllers make
	// from them objects that do.
	Exported Use = 1 << iota
	// Copied: an import from another cluster reads the objects.
	Copied
	// Followed: a mirror carries over changes of the objects. It does not follow kinds such as
	// workloads, whose controllers have already done their work in the other cluster, and limits,
	// which would refuse existing objects.
	Followed
	// Recorded: recordings hold the objects, because schedulers look at them.
	Recorded
	// Custom: a CustomResourceDefinition in package definitions defines the kind. A cluster need
	// not have it.
	Custom
	// Gated: the API server serves the kind only with a feature gate, and a cluster need not have
	// it.
	Gated
)

// Rank is a place in the order of creation: objects of a lower rank come first, so that everything
// that an object needs is there before it. Deletions go the other way round. Within a rank the
// order does not matter.
type Rank int

const (
	RankDefinition Rank = iota
	RankNamespace
	RankClass
	// RankOther is for kinds that the table does not name, such as custom resources: owners of
	// pods, and what plugins read.
	RankOther
	RankVolume
	RankClaim
	RankNode
	// RankOfNode is for objects that belong to nodes, which own them.
	RankOfNode
	// RankOfPod is for objects that pods refer to by name.
	RankOfPod
	RankPod
	// StatefulSets and DaemonSets know their pods by the revisions in RankHistory.
	RankHistory
	RankCronJob
	RankWorkload
	RankDeployment
	RankScaler
	// RankLimit is for objects that would refuse others that exist already. Pods that a scheduler
	// is to place go in just before them.
	RankLimit
	// RankTemplate is for the templates of resource claims. They come after all pods, because their
	// controller makes another claim for a pod that it finds without its own.
	RankTemplate
	// LastRank is the highest.
	LastRank = RankTemplate
)

// Why imports refuse a kind.
const (
	refusedSecret   = "Secrets are never imported"
	refusedRecord   = "it describes the cluster that it comes from, and this cluster writes its own"
	refusedServer   = "it configures the API server that it comes from"
	refusedQuestion = "it is a request to an API server and not an object"
	refusedMeasured = "it is measured by programs that do not run here"
)

// Within a rank, exports keep the order of this table.
var kinds = []Kind{
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Rank: RankDefinition, Uses: Exported},
	{Kind: "Namespace", Rank: RankNamespace, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "namespaces"},
	{Group: "scheduling.k8s.io", Kind: "PriorityClass", Rank: RankClass, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "priorityclasses"},
	{Group: "storage.k8s.io", Kind: "StorageClass", Rank: RankClass, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "storageclasses"},
	{Group: "storage.k8s.io", Kind: "VolumeAttributesClass", Rank: RankClass, Uses: Exported | Copied | Followed},
	{Group: "storage.k8s.io", Kind: "CSIDriver", Rank: RankClass, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "csidrivers"},
	{Group: "node.k8s.io", Kind: "RuntimeClass", Rank: RankClass, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "runtimeclasses"},
	{Group: "resource.k8s.io", Kind: "DeviceClass", Rank: RankClass, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "deviceclasses"},
	{Group: "kueue.x-k8s.io", Kind: "ResourceFlavor", Rank: RankClass, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1beta2", Resource: "resourceflavors"},
	{Group: "kueue.x-k8s.io", Kind: "Topology", Rank: RankClass, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1beta2", Resource: "topologies"},
	{Group: "kueue.x-k8s.io", Kind: "WorkloadPriorityClass", Rank: RankClass, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1beta2", Resource: "workloadpriorityclasses"},
	{Group: "kueue.x-k8s.io", Kind: "AdmissionCheck", Rank: RankClass, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1beta2", Resource: "admissionchecks"},
	{Group: "kueue.x-k8s.io", Kind: "ProvisioningRequestConfig", Rank: RankClass, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1beta2", Resource: "provisioningrequestconfigs"},
	{Group: "kueue.x-k8s.io", Kind: "Cohort", Rank: RankClass, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1beta2", Resource: "cohorts"},
	{Group: "kueue.x-k8s.io", Kind: "ClusterQueue", Rank: RankClass, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1beta2", Resource: "clusterqueues"},
	{Group: "karpenter.sh", Kind: "NodePool", Rank: RankClass, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1", Resource: "nodepools"},
	{Group: "karpenter.kwok.sh", Kind: "KWOKNodeClass", Rank: RankClass, Uses: Exported | Custom, Version: "v1alpha1", Resource: "kwoknodeclasses"},
	{Group: "karpenter.sh", Kind: "NodeClaim", Rank: RankOther, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1", Resource: "nodeclaims"},
	{Kind: "ServiceAccount", Namespaced: true, Rank: RankOther, Uses: Exported},
	{Kind: "Service", Namespaced: true, Rank: RankOther, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "services"},
	{Kind: "LimitRange", Namespaced: true, Rank: RankOther, Uses: Exported | Copied},
	{Group: "scheduling.x-k8s.io", Kind: "ElasticQuota", Namespaced: true, Rank: RankOther, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1alpha1", Resource: "elasticquotas"},
	{Group: "scheduling.incubator.k8s.io", Kind: "Queue", Rank: RankOther, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1alpha1", Resource: "queues"},
	{Group: "scheduling.sigs.dev", Kind: "Queue", Rank: RankOther, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1alpha2", Resource: "queues"},
	{Group: "scheduling.volcano.sh", Kind: "Queue", Rank: RankOther, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1beta1", Resource: "queues"},
	{Group: "kueue.x-k8s.io", Kind: "LocalQueue", Namespaced: true, Rank: RankOther, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1beta2", Resource: "localqueues"},
	{Kind: "PersistentVolume", Rank: RankVolume, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "persistentvolumes"},
	{Kind: "PersistentVolumeClaim", Namespaced: true, Rank: RankClaim, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "persistentvolumeclaims"},
	{Kind: "Node", Rank: RankNode, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "nodes"},
	{Group: "storage.k8s.io", Kind: "CSINode", Rank: RankOfNode, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "csinodes"},
	{Group: "storage.k8s.io", Kind: "CSIStorageCapacity", Namespaced: true, Rank: RankOfNode, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "csistoragecapacities"},
	{Group: "storage.k8s.io", Kind: "VolumeAttachment", Rank: RankOfNode},
	{Group: "resource.k8s.io", Kind: "ResourceSlice", Rank: RankOfNode, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "resourceslices"},
	{Group: "topology.node.k8s.io", Kind: "NodeResourceTopology", Rank: RankOfNode, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1alpha2", Resource: "noderesourcetopologies"},
	{Group: "resource.k8s.io", Kind: "DeviceTaintRule", Rank: RankOfNode, Uses: Exported | Copied | Followed},
	{Group: "resource.k8s.io", Kind: "ResourceClaim", Namespaced: true, Rank: RankOfPod, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "resourceclaims"},
	{Group: "scheduling.k8s.io", Kind: "Workload", Namespaced: true, Rank: RankOfPod, Uses: Exported | Copied | Followed | Recorded | Gated, Version: "v1beta1", Resource: "workloads"},
	{Group: "scheduling.k8s.io", Kind: "CompositePodGroup", Namespaced: true, Rank: RankOfPod, Uses: Exported | Copied | Followed | Recorded | Gated, Version: "v1alpha3", Resource: "compositepodgroups"},
	{Group: "scheduling.k8s.io", Kind: "PodGroup", Namespaced: true, Rank: RankOfPod, Uses: Exported | Copied | Followed | Recorded | Gated, Version: "v1beta1", Resource: "podgroups"},
	{Group: "scheduling.x-k8s.io", Kind: "PodGroup", Namespaced: true, Rank: RankOfPod, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1alpha1", Resource: "podgroups"},
	{Group: "scheduling.incubator.k8s.io", Kind: "PodGroup", Namespaced: true, Rank: RankOfPod, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1alpha1", Resource: "podgroups"},
	{Group: "scheduling.sigs.dev", Kind: "PodGroup", Namespaced: true, Rank: RankOfPod, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1alpha2", Resource: "podgroups"},
	{Group: "scheduling.volcano.sh", Kind: "PodGroup", Namespaced: true, Rank: RankOfPod, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1beta1", Resource: "podgroups"},
	{Group: "policy", Kind: "PodDisruptionBudget", Namespaced: true, Rank: RankOfPod, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "poddisruptionbudgets"},
	{Kind: "Pod", Namespaced: true, Rank: RankPod, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "pods"},
	{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate", Namespaced: true, Rank: RankTemplate, Uses: Exported | Copied | Followed | Recorded, Version: "v1", Resource: "resourceclaimtemplates"},
	{Group: "kueue.x-k8s.io", Kind: "Workload", Namespaced: true, Rank: RankHistory, Uses: Exported | Copied | Followed | Recorded | Custom, Version: "v1beta2", Resource: "workloads"},
	{Group: "autoscaling.x-k8s.io", Kind: "ProvisioningRequest", Namespaced: true, Rank: RankHistory, Uses: Exported | Copied | Custom, Version: "v1", Resource: "provisioningrequests"},
	{Group: "apps", Kind: "ControllerRevision", Namespaced: true, Rank: RankHistory, Uses: Exported | Copied},
	{Group: "batch", Kind: "CronJob", Namespaced: true, Rank: RankCronJob, Uses: Exported | Copied},
	{Group: "apps", Kind: "ReplicaSet", Namespaced: true, Rank: RankWorkload, Uses: Exported | Copied | Recorded, Version: "v1", Resource: "replicasets"},
	{Kind: "ReplicationController", Namespaced: true, Rank: RankWorkload, Uses: Exported | Copied | Recorded, Version: "v1", Resource: "replicationcontrollers"},
	{Group: "apps", Kind: "StatefulSet", Namespaced: true, Rank: RankWorkload, Uses: Exported | Copied | Recorded, Version: "v1", Resource: "statefulsets"},
	{Group: "jobset.x-k8s.io", Kind: "JobSet", Namespaced: true, Rank: RankWorkload, Uses: Exported | Copied | Custom, Version: "v1alpha2", Resource: "jobsets"},
	{Group: "leaderworkerset.x-k8s.io", Kind: "LeaderWorkerSet", Namespaced: true, Rank: RankWorkload, Uses: Exported | Copied | Custom, Version: "v1", Resource: "leaderworkersets"},
	{Group: "apps", Kind: "DaemonSet", Namespaced: true, Rank: RankWorkload, Uses: Exported | Copied},
	{Group: "batch", Kind: "Job", Namespaced: true, Rank: RankWorkload, Uses: Exported | Copied},
	{Group: "apps", Kind: "Deployment", Namespaced: true, Rank: RankDeployment, Uses: Exported | Copied},
	{Group: "workload.codeflare.dev", Kind: "AppWrapper", Namespaced: true, Rank: RankDeployment, Uses: Exported | Copied | Custom, Version: "v1beta2", Resource: "appwrappers"},
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler", Namespaced: true, Rank: RankScaler, Uses: Exported | Copied},
	{Kind: "ResourceQuota", Namespaced: true, Rank: RankLimit, Uses: Exported | Copied},
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy", Rank: RankLimit},
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding", Rank: RankLimit},
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy", Rank: RankLimit},
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding", Rank: RankLimit},
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration", Rank: RankLimit},
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration", Rank: RankLimit},
	{Group: "apiregistration.k8s.io", Kind: "APIService", Rank: RankLimit},
	{Kind: "Secret", Refused: refusedSecret},
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest", Refused: refusedSecret},
	{Kind: "Event", Refused: refusedRecord},
	{Group: "events.k8s.io", Kind: "Event", Refused: refusedRecord},
	{Group: "coordination.k8s.io", Kind: "Lease", Refused: refusedRecord},
	{Group: "coordination.k8s.io", Kind: "LeaseCandidate", Refused: refusedRecord},
	{Kind: "Endpoints", Refused: refusedRecord},
	{Group: "discovery.k8s.io", Kind: "EndpointSlice", Refused: refusedRecord},
	{Kind: "ComponentStatus", Refused: refusedServer},
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema", Refused: refusedServer},
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration", Refused: refusedServer},
	{Group: "internal.apiserver.k8s.io", Kind: "StorageVersion", Refused: refusedServer},
	{Group: "networking.k8s.io", Kind: "ServiceCIDR", Refused: refusedServer},
	{Group: "networking.k8s.io", Kind: "IPAddress", Refused: refusedServer},
	{Group: "metrics.k8s.io", Kind: "NodeMetrics", Refused: refusedMeasured},
	{Group: "metrics.k8s.io", Kind: "PodMetrics", Refused: refusedMeasured},
	{Kind: "Binding", Refused: refusedQuestion},
	{Group: "policy", Kind: "Eviction", Refused: refusedQuestion},
	{Group: "authentication.k8s.io", Kind: "TokenReview", Refused: refusedQuestion},
	{Group: "authentication.k8s.io", Kind: "TokenRequest", Refused: refusedSecret},
	{Group: "authentication.k8s.io", Kind: "SelfSubjectReview", Refused: refusedQuestion},
	{Group: "authorization.k8s.io", Kind: "SubjectAccessReview", Refused: refusedQuestion},
	{Group: "authorization.k8s.io", Kind: "SelfSubjectAccessReview", Refused: refusedQuestion},
	{Group: "authorization.k8s.io", Kind: "SelfSubjectRulesReview", Refused: refusedQuestion},
	{Group: "authorization.k8s.io", Kind: "LocalSubjectAccessReview", Refused: refusedQuestion}}

// KindOf returns what the table says of a kind. A kind that it lacks has RankOther and no uses:
// exports and imports take it anyway when it is a custom resource.
func KindOf(gk schema.GroupKind) Kind {
	for _, k := range kinds {
		if k.GroupKind() == gk {
			return k
		}
	}
	return Kind{Group: gk.Group, Kind: gk.Kind, Rank: RankOther}
}

func RankOf(gk schema.GroupKind) Rank { return KindOf(gk).Rank }

// Kinds returns the kinds that have all of the uses, by rank. They include only those custom
// resources that the simulator's own plugins read, and a cluster need not serve them.
func Kinds(uses Use) []Kind {
	found := slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool { return k.Uses&uses != uses })
	slices.SortStableFunc(found, func(a, b Kind) int { return cmp.Compare(a.Rank, b.Rank) })
	return found
}
