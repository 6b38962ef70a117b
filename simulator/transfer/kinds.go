package transfer

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is what the package knows of one. Kinds go by group and name: whatever
// version of them is served will do.
type kind struct {
	schema.GroupKind
	rank int
	// exported kinds matter to scheduling, or make what does.
	exported bool
	// refused says why an import leaves objects of the kind out; empty for those
	// that go in.
	refused string
}

// The ranks. A lower one goes in first, deletions go the other way round.
const (
	rankDefinition = iota
	rankNamespace
	rankClass
	// rankOther is for what nothing here knows by name, custom resources among
	// them: owners of pods, and what plugins read.
	rankOther
	rankVolume
	rankClaim
	rankNode
	// rankOfNode is for what belongs to nodes, and is owned by them.
	rankOfNode
	// rankOfPod is for what pods name.
	rankOfPod
	rankPod
	// rankHistory: what a StatefulSet or DaemonSet knows its pods' revisions by.
	rankHistory
	rankCronJob
	rankWorkload
	rankDeployment
	rankScaler
	// rankLimit is for what would refuse objects that a cluster already had, and
	// before that for the pods that a scheduler is to place.
	rankLimit
	// rankTemplate: the templates of resource claims come after all pods, because
	// their controller makes another claim for a pod that it finds without its own.
	rankTemplate
)

const (
	refusedSecret    = "secrets stay where they are"
	refusedRecord    = "it tells of the cluster it comes from, and is written anew here"
	refusedWebhook   = "it calls a program that does not run here"
	refusedServer    = "it is about the API server it comes from"
	refusedQuestion  = "it is a question to an API server and not an object"
	refusedMeasured  = "it is measured by programs that do not run here"
	refusedOwnGroups = "its API is served by a program that does not run here"
)

// kinds is the table: which kinds there are, in which order they go in, which
// are exported and which never go in.
var kinds = []kind{
	{GroupKind: schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, rank: rankDefinition, exported: true},
	{GroupKind: schema.GroupKind{Kind: "Namespace"}, rank: rankNamespace, exported: true},

	{GroupKind: schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}, rank: rankClass, exported: true},
	{GroupKind: schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}, rank: rankClass, exported: true},
	{GroupKind: schema.GroupKind{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}, rank: rankClass, exported: true},
	{GroupKind: schema.GroupKind{Group: "storage.k8s.io", Kind: "CSIDriver"}, rank: rankClass, exported: true},
	{GroupKind: schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}, rank: rankClass, exported: true},
	{GroupKind: schema.GroupKind{Group: "resource.k8s.io", Kind: "DeviceClass"}, rank: rankClass, exported: true},

	{GroupKind: schema.GroupKind{Kind: "ServiceAccount"}, rank: rankOther, exported: true},
	{GroupKind: schema.GroupKind{Kind: "Service"}, rank: rankOther, exported: true},
	{GroupKind: schema.GroupKind{Kind: "LimitRange"}, rank: rankOther, exported: true},

	{GroupKind: schema.GroupKind{Kind: "PersistentVolume"}, rank: rankVolume, exported: true},
	{GroupKind: schema.GroupKind{Kind: "PersistentVolumeClaim"}, rank: rankClaim, exported: true},

	{GroupKind: schema.GroupKind{Kind: "Node"}, rank: rankNode, exported: true},
	{GroupKind: schema.GroupKind{Group: "storage.k8s.io", Kind: "CSINode"}, rank: rankOfNode, exported: true},
	{GroupKind: schema.GroupKind{Group: "storage.k8s.io", Kind: "CSIStorageCapacity"}, rank: rankOfNode, exported: true},
	{GroupKind: schema.GroupKind{Group: "storage.k8s.io", Kind: "VolumeAttachment"}, rank: rankOfNode},
	{GroupKind: schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceSlice"}, rank: rankOfNode, exported: true},
	{GroupKind: schema.GroupKind{Group: "resource.k8s.io", Kind: "DeviceTaintRule"}, rank: rankOfNode, exported: true},

	{GroupKind: schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceClaim"}, rank: rankOfPod, exported: true},
	{GroupKind: schema.GroupKind{Group: "scheduling.k8s.io", Kind: "Workload"}, rank: rankOfPod, exported: true},
	{GroupKind: schema.GroupKind{Group: "scheduling.k8s.io", Kind: "CompositePodGroup"}, rank: rankOfPod, exported: true},
	{GroupKind: schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PodGroup"}, rank: rankOfPod, exported: true},
	{GroupKind: schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"}, rank: rankOfPod, exported: true},

	{GroupKind: schema.GroupKind{Kind: "Pod"}, rank: rankPod, exported: true},
	{GroupKind: schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"}, rank: rankTemplate, exported: true},
	{GroupKind: schema.GroupKind{Group: "apps", Kind: "ControllerRevision"}, rank: rankHistory, exported: true},
	{GroupKind: schema.GroupKind{Group: "batch", Kind: "CronJob"}, rank: rankCronJob, exported: true},
	{GroupKind: schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}, rank: rankWorkload, exported: true},
	{GroupKind: schema.GroupKind{Kind: "ReplicationController"}, rank: rankWorkload, exported: true},
	{GroupKind: schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, rank: rankWorkload, exported: true},
	{GroupKind: schema.GroupKind{Group: "apps", Kind: "DaemonSet"}, rank: rankWorkload, exported: true},
	{GroupKind: schema.GroupKind{Group: "batch", Kind: "Job"}, rank: rankWorkload, exported: true},
	{GroupKind: schema.GroupKind{Group: "apps", Kind: "Deployment"}, rank: rankDeployment, exported: true},
	{GroupKind: schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}, rank: rankScaler, exported: true},
	{GroupKind: schema.GroupKind{Kind: "ResourceQuota"}, rank: rankLimit, exported: true},

	{GroupKind: schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}, rank: rankLimit},
	{GroupKind: schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}, rank: rankLimit},
	{GroupKind: schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy"}, rank: rankLimit},
	{GroupKind: schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}, rank: rankLimit},
	{GroupKind: schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}, refused: refusedWebhook},
	{GroupKind: schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}, refused: refusedWebhook},
	{GroupKind: schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}, refused: refusedOwnGroups},

	{GroupKind: schema.GroupKind{Kind: "Secret"}, refused: refusedSecret},
	{GroupKind: schema.GroupKind{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}, refused: refusedSecret},
	{GroupKind: schema.GroupKind{Kind: "Event"}, refused: refusedRecord},
	{GroupKind: schema.GroupKind{Group: "events.k8s.io", Kind: "Event"}, refused: refusedRecord},
	{GroupKind: schema.GroupKind{Group: "coordination.k8s.io", Kind: "Lease"}, refused: refusedRecord},
	{GroupKind: schema.GroupKind{Group: "coordination.k8s.io", Kind: "LeaseCandidate"}, refused: refusedRecord},
	{GroupKind: schema.GroupKind{Kind: "Endpoints"}, refused: refusedRecord},
	{GroupKind: schema.GroupKind{Group: "discovery.k8s.io", Kind: "EndpointSlice"}, refused: refusedRecord},
	{GroupKind: schema.GroupKind{Kind: "ComponentStatus"}, refused: refusedServer},
	{GroupKind: schema.GroupKind{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}, refused: refusedServer},
	{GroupKind: schema.GroupKind{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}, refused: refusedServer},
	{GroupKind: schema.GroupKind{Group: "internal.apiserver.k8s.io", Kind: "StorageVersion"}, refused: refusedServer},
	{GroupKind: schema.GroupKind{Group: "networking.k8s.io", Kind: "ServiceCIDR"}, refused: refusedServer},
	{GroupKind: schema.GroupKind{Group: "networking.k8s.io", Kind: "IPAddress"}, refused: refusedServer},
	{GroupKind: schema.GroupKind{Group: "metrics.k8s.io", Kind: "NodeMetrics"}, refused: refusedMeasured},
	{GroupKind: schema.GroupKind{Group: "metrics.k8s.io", Kind: "PodMetrics"}, refused: refusedMeasured},
	{GroupKind: schema.GroupKind{Kind: "Binding"}, refused: refusedQuestion},
	{GroupKind: schema.GroupKind{Group: "policy", Kind: "Eviction"}, refused: refusedQuestion},
	{GroupKind: schema.GroupKind{Group: "authentication.k8s.io", Kind: "TokenReview"}, refused: refusedQuestion},
	{GroupKind: schema.GroupKind{Group: "authentication.k8s.io", Kind: "TokenRequest"}, refused: refusedSecret},
	{GroupKind: schema.GroupKind{Group: "authentication.k8s.io", Kind: "SelfSubjectReview"}, refused: refusedQuestion},
	{GroupKind: schema.GroupKind{Group: "authorization.k8s.io", Kind: "SubjectAccessReview"}, refused: refusedQuestion},
	{GroupKind: schema.GroupKind{Group: "authorization.k8s.io", Kind: "SelfSubjectAccessReview"}, refused: refusedQuestion},
	{GroupKind: schema.GroupKind{Group: "authorization.k8s.io", Kind: "SelfSubjectRulesReview"}, refused: refusedQuestion},
	{GroupKind: schema.GroupKind{Group: "authorization.k8s.io", Kind: "LocalSubjectAccessReview"}, refused: refusedQuestion},
}

// kindOf returns what is known of a kind. One that is not in the table has
// rankOther; it is exported when it is a custom resource.
func kindOf(gk schema.GroupKind) kind {
	for _, k := range kinds {
		if k.GroupKind == gk {
			return k
		}
	}
	return kind{GroupKind: gk, rank: rankOther}
}

// Rank orders kinds by what needs what: objects of a lower rank are created
// before those of a higher one, and deleted after them. Within a rank order does
// not matter.
func Rank(gk schema.GroupKind) int { return kindOf(gk).rank }

// Refused says why an import leaves objects of a kind out; empty when it does not.
func Refused(gk schema.GroupKind) string { return kindOf(gk).refused }

// Kinds are those that matter to scheduling, or make what does, by rank. Custom
// resources are not among them, as their kinds are only known to a cluster; they
// matter, too, and have the rank that Rank says.
func Kinds() []schema.GroupKind {
	var exported []kind
	for _, k := range kinds {
		if k.exported {
			exported = append(exported, k)
		}
	}
	slices.SortStableFunc(exported, func(a, b kind) int { return cmp.Compare(a.rank, b.rank) })
	names := make([]schema.GroupKind, len(exported))
	for i, k := range exported {
		names[i] = k.GroupKind
	}
	return names
}
