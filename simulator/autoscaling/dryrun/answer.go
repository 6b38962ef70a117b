package dryrun

import (
	v1 "k8s.io/api/core/v1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"

	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

// Answer is what Karpenter would do.
type Answer struct {
	State Counts `json:"state"`
	// Prices says where all prices of the answer are from.
	Prices instances.Source `json:"prices"`
	// Pods has the pods in the order of the question.
	Pods []Placement `json:"pods"`
	// NewNodes are sorted by NodePool, in the order in which Karpenter tries them, and then by their first pod.
	NewNodes []NewNode `json:"newNodes"`
	// Pools has the NodePools in the order in which Karpenter tries them.
	Pools []Pool `json:"pools"`
	// Cost is that of all nodes, those of no NodePool included.
	Cost Cost `json:"cost"`
}

// Counts are the sizes of the copy that was asked.
type Counts struct {
	Nodes         int `json:"nodes"`
	Pods          int `json:"pods"`
	NodePools     int `json:"nodePools"`
	InstanceTypes int `json:"instanceTypes"`
}

// Verdict is the answer for a pod, in a word.
type Verdict string

const (
	// OnExistingNode: a node that exists has room in Karpenter's model. Karpenter adds nothing.
	OnExistingNode Verdict = "existingNode"
	// OnNewNode: a node that Karpenter would buy holds the pod.
	OnNewNode Verdict = "newNode"
	// OnNone: no NodePool would help.
	OnNone Verdict = "none"
	// NotJudged: Karpenter does not look at the pod.
	NotJudged Verdict = "notJudged"
)

// Placement is the answer for one pod.
type Placement struct {
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Verdict   Verdict `json:"verdict"`
	// Node is the node that exists, or the name of one of Answer.NewNodes; empty for other verdicts.
	Node string `json:"node,omitempty"`
	// Kind and Reason say why a pod is not judged, or why Karpenter refuses it whatever the NodePool.
	Kind   Kind   `json:"kind,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Refused has the NodePools that did not help, in the order in which Karpenter tries them. It is empty for a pod on an existing node.
	Refused []Refusal `json:"refused,omitempty"`
}

// Kind is the kind of a reason, for code that acts on it.
type Kind string

// Kinds of reasons for which a pod is not judged or refused by all NodePools alike.
const (
	Gated          Kind = "gated"          // its scheduling gates hold it back
	Nominated      Kind = "nominated"      // the scheduler waits for its preemption victims
	OwnedByNode    Kind = "ownedByNode"    // a pod of a DaemonSet, or a static one
	ResourceClaims Kind = "resourceClaims" // Karpenter does not provision for devices of dynamic resource allocation
	Unsupported    Kind = "unsupported"    // the pod itself, or a claim of it, is not fit for Karpenter
	NoNodePool     Kind = "noNodePool"     // there is none that is ready
)

// Kinds of reasons of a NodePool.
const (
	Deleting     Kind = "deleting"     // it is being deleted
	Static       Kind = "static"       // it has a fixed number of replicas
	NotReady     Kind = "notReady"     // its condition Ready is False
	Invalid      Kind = "invalid"      // Karpenter's validation refuses it
	Tainted      Kind = "taints"       // the pod does not tolerate its taints
	Requirements Kind = "requirements" // its requirements and the pod's exclude each other
	Volumes      Kind = "volumes"      // its requirements and those of the pod's volumes exclude each other
	Types        Kind = "types"        // none of its instance types is fit
	Limits       Kind = "limits"       // types are fit, and would exceed its limits
	MinValues    Kind = "minValues"    // fewer values than it demands are left
	Topology     Kind = "topology"     // spread, affinity or anti-affinity between pods
	Ports        Kind = "ports"        // a DaemonSet has the host port
	Batch        Kind = "batch"        // it would help if the other pods were not asked about
	Later        Kind = "later"        // it was not tried, because another one comes first and helps
	Other        Kind = "other"        // Karpenter's own words are all there is
)

// Refusal says why a NodePool did not help a pod.
type Refusal struct {
	NodePool string `json:"nodePool"`
	Kind     Kind   `json:"kind"`
	// Reason is a sentence without its period.
	Reason string `json:"reason"`
	// Said is what Karpenter's scheduling answered for this NodePool, where the verdict could not be explained otherwise.
	Said string `json:"said,omitempty"`
	// Taints are those that the pod does not tolerate.
	Taints []v1.Taint `json:"taints,omitempty"`
	// Conflicts are the labels on which requirements exclude each other.
	Conflicts []Conflict `json:"conflicts,omitempty"`
	// Constraints are those between pods of which each alone refuses the pod; without any, another pod's anti-affinity may.
	Constraints []string `json:"constraints,omitempty"`
	// Types are the instance types by what each lacks, most of them first. They are empty where types are not the reason.
	Types []TypeGroup `json:"types,omitempty"`
	// Otherwise is the cheapest node without that which refuses the pod; nil if there is none.
	Otherwise *provider.Offer `json:"otherwise,omitempty"`
}

// Conflict is a label on which requirements exclude each other, for example "In [zone-a]" and "In [zone-b]".
type Conflict struct {
	Key    string `json:"key"`
	Wanted string `json:"wanted"`
	// Offered is empty if the NodePool has nothing about the label, and its nodes do not get it.
	Offered string `json:"offered,omitempty"`
}

// Lack is the kind of what an instance type lacks.
type Lack string

const (
	LackLabel        Lack = "label"        // the type is another one: its architecture, its system, its name
	LackResources    Lack = "resources"    // it is too small
	LackOffering     Lack = "offering"     // it is not offered in the zone or as the capacity type
	LackAvailability Lack = "availability" // it is offered there, and none can be had now
	LackLimit        Lack = "limit"        // the NodePool's limits do not permit it
)

// TypeGroup are the instance types that lack the same.
type TypeGroup struct {
	Lack Lack `json:"lack"`
	// Reason follows the count: "66 types" "lack nvidia.com/gpu".
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// Names are the labels or resources that the reason is about.
	Names []string `json:"names"`
	// Examples are the first types by name, three at most.
	Examples []string `json:"examples"`
}

// NewNode is a node that Karpenter would buy.
type NewNode struct {
	// Name is made up of the NodePool's and a number, so that it is the same in every answer.
	Name     string `json:"name"`
	NodePool string `json:"nodePool"`
	// Offer is the cheapest that holds the pods. Karpenter leaves the choice to the cloud, which may take another of the Types.
	provider.Offer
	// Types is how many instance types hold the pods.
	Types int `json:"types"`
	// Pods are the pods of the question on the node, as namespace/name.
	Pods []string `json:"pods"`
	// Requests are those of the pods, and of the pods of DaemonSets that the node would get.
	Requests v1.ResourceList `json:"requests"`
	// Cheaper are offers of the NodePool for less that do not hold the pods, the dearest first; one for each reason, three at most.
	Cheaper []Cheaper `json:"cheaper,omitempty"`
	// Node is the node as it would be once it is ready.
	Node *v1.Node `json:"object"`
	// Claim is what Karpenter would create to get the node. It has no name yet.
	Claim *karpenter.NodeClaim `json:"-"`
	// Daemons are the pods that DaemonSets would have on it.
	Daemons []*v1.Pod `json:"-"`
}

// Cheaper is an offer for less, and what it lacks.
type Cheaper struct {
	provider.Offer
	Lack   Lack   `json:"lack"`
	Reason string `json:"reason"`
	// Short are the resources that it has too little of.
	Short []Shortage `json:"short,omitempty"`
}

// Shortage is a resource of which a node has too little.
type Shortage struct {
	Resource v1.ResourceName `json:"resource"`
	Wanted   string          `json:"wanted"`
	Has      string          `json:"has"`
}
