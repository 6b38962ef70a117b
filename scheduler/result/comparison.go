package result

// Comparison holds the values that a plugin compared for a node. For a rejected node, these are the
// reasons: what is short, unmet or in use. For one that passed (see Passes), they are all that the
// plugin compared. Which lists are set depends on the plugin.
type Comparison struct {
	Node   string `json:"node"`
	Plugin string `json:"plugin"`
	// Resources are NodeResourcesFit's. For nodes that it let through, Passes has them.
	Resources []ResourceComparison `json:"resources,omitempty"`
	// Taint is the first that the pod does not tolerate: TaintToleration's or NodeUnschedulable's.
	Taint *Taint `json:"taint,omitempty"`
	// Tolerated are the taints that the pod tolerates, of a node that these plugins let
	// through.
	Tolerated []ToleratedTaint `json:"tolerated,omitempty"`
	// Terms are NodeAffinity's, VolumeZone's, VolumeBinding's and NodeName's, and
	// DynamicResources' for a claim that is allocated: requirements on the node's labels
	// or name.
	Terms []TermComparison `json:"terms,omitempty"`
	// PodTerms are InterPodAffinity's.
	PodTerms []PodTermComparison `json:"podTerms,omitempty"`
	// Spread is PodTopologySpread's.
	Spread []SpreadComparison `json:"spread,omitempty"`
	// Ports are NodePorts': the pod's host ports.
	Ports []Port `json:"ports,omitempty"`
	// Claims are VolumeBinding's.
	Claims []ClaimComparison `json:"claims,omitempty"`
	// Devices are DynamicResources': the requests of unallocated claims, with the node's devices
	// for each.
	Devices []DeviceComparison `json:"devices,omitempty"`
	// Alignment is NodeResourceTopologyMatch's: a part of the pod for which no NUMA node has
	// everything.
	Alignment *AlignmentComparison `json:"alignment,omitempty"`
	// Aligned are NodeResourceTopologyMatch's, of a node that it let through: the NUMA node of each
	// part of the pod, in the order in which the plugin aligns them.
	Aligned []AlignedPart `json:"aligned,omitempty"`
	// Limits are NodeVolumeLimits'.
	Limits []VolumeLimit `json:"limits,omitempty"`
	// Volumes are VolumeRestrictions'.
	Volumes []ExclusiveVolume `json:"volumes,omitempty"`
	// Features are NodeDeclaredFeatures'.
	Features []FeatureComparison `json:"features,omitempty"`
	// WithoutPods is set for a node that the plugin rejected.
	WithoutPods WithoutPods `json:"withoutPods,omitempty"`
}

// WithoutPods is what the plugin would say about a rejected node if its present pods were gone and
// nothing else changed. It follows from what the plugin compared. It does not mean that all of them
// may go: preemption may evict fewer pods. The zero value means unknown.
type WithoutPods string

// The values of WithoutPods.
const (
	PassesWithoutPods  WithoutPods = "passes"
	RejectsWithoutPods WithoutPods = "rejects"
)

// AlignmentComparison is a part of a pod that must get everything from one NUMA node, and what each
// NUMA node lacks.
type AlignmentComparison struct {
	// Role is what the part is: pod, container, init container or sidecar container.
	Role string `json:"role"`
	// Container is its name; empty for a pod.
	Container string `json:"container,omitempty"`
	// Zones are the NUMA nodes, by number, at most MaxZones of them.
	Zones []ZoneComparison `json:"zones"`
	// ZonesDropped counts the others.
	ZonesDropped int `json:"zonesDropped,omitempty"`
}

// AlignedPart is a part of a pod and the NUMA node that it gets.
type AlignedPart struct {
	// Role is as in AlignmentComparison.
	Role string `json:"role"`
	// Container is its name; empty for a pod.
	Container string `json:"container,omitempty"`
	Zone      string `json:"zone"`
}

// MaxZones bounds the NUMA nodes of an AlignmentComparison.
const MaxZones = 16

// ZoneComparison is what a NUMA node lacks. Short is not empty.
type ZoneComparison struct {
	Zone  string         `json:"zone"`
	Short []ZoneShortage `json:"short"`
}

// ZoneShortage is a resource of which a NUMA node has too little. CPU is in thousandths of a
// core, other resources in their own unit.
type ZoneShortage struct {
	Resource  string `json:"resource"`
	Requested int64  `json:"requested"`
	// Available is what containers before this one have left.
	Available int64 `json:"available"`
	// Absent: the NUMA node does not list the resource, or the node lacks it.
	Absent bool `json:"absent,omitempty"`
}

// Empty reports whether the plugin compared nothing.
func (c *Comparison) Empty() bool { return c.size() == 0 }

// ResourceComparison compares a request with what a node has. The resource is short if
// Requested+InUse exceeds Allocatable. CPU is in thousandths of a core, other resources
// in their own unit (bytes, devices, pods).
type ResourceComparison struct {
	Name        string `json:"name"`
	Requested   int64  `json:"requested"`
	InUse       int64  `json:"inUse"`
	Allocatable int64  `json:"allocatable"`
	// Use breaks down InUse; nil if nothing is in use, or if the record does not keep it for this
	// node: see MaxUses.
	Use *ResourceUse `json:"use,omitempty"`
}

// Taint is a taint of a node.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// ToleratedTaint is a taint with the first of the pod's tolerations that tolerates it.
type ToleratedTaint struct {
	Taint
	By Toleration `json:"by"`
}

// Toleration is a toleration of a pod. An empty Key tolerates every key, and an empty
// Effect every effect.
type Toleration struct {
	Key string `json:"key"`
	// Operator is Equal if the pod does not name one.
	Operator string `json:"operator"`
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty"`
}

// TermComparison is a requirement on a label of the node.
type TermComparison struct {
	// Source says where the requirement comes from: nodeSelector, the pod's node affinity
	// (nodeAffinity), the affinity in the plugin's arguments (addedAffinity), a persistent volume
	// (volume), the topologies in which a storage class provisions volumes (storageClass), a claim
	// that is allocated, or whose volume is being provisioned, on certain nodes (claim), or the
	// pod's spec.nodeName (nodeName).
	Source string `json:"source"`
	// Volume and Claim name the persistent volume and the claim.
	Volume string `json:"volume,omitempty"`
	Claim  string `json:"claim,omitempty"`
	// Term numbers the alternatives of Source, from 0: a node must meet all requirements
	// of one of them.
	Term int `json:"term"`
	// Key is a label, or metadata.name. Key and Operator are empty for a term without
	// requirements, which no node meets.
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
	// Actual is the node's value; nil when it has no such label.
	Actual *string `json:"actual"`
}

// PodTermComparison is a term of pod affinity or anti-affinity. Affinity is met if Pods
// is not 0 or First is true, anti-affinity if Pods is 0.
type PodTermComparison struct {
	// Rule is affinity, antiAffinity, or existingAntiAffinity: a term of a running pod.
	Rule        string `json:"rule"`
	TopologyKey string `json:"topologyKey"`
	// Domain is the node's value of TopologyKey; nil when it has no such label.
	Domain *string `json:"domain"`
	// Selector selects the pods that the term is about, those of matchLabelKeys included. It is
	// empty for a term about every pod, when the recorder gave up the search for the term of a
	// running pod, and when a node has none of these in its domain.
	Selector string `json:"selector"`
	// SelectsNone: the term has no labelSelector, so it is about no pod.
	SelectsNone bool `json:"selectsNone,omitempty"`
	// Namespaces are those that the term lists, or the namespace of the term's pod if the term has
	// neither a list nor a selector: at most MaxNamespaces of NamespaceCount.
	Namespaces     []string `json:"namespaces,omitempty"`
	NamespaceCount int      `json:"namespaceCount,omitempty"`
	// NamespaceSelector adds the namespaces with certain labels, and every namespace if it is
	// empty; nil when the term has none.
	NamespaceSelector *string `json:"namespaceSelector,omitempty"`
	// Pod is, for anti-affinity, a pod in Domain that matches the term or has it; nil when there is
	// none or the recorder gave up the search.
	Pod *Pod `json:"pod,omitempty"`
	// PodNode is the node on which Pod runs, or to which it is nominated.
	PodNode string `json:"podNode,omitempty"`
	// Pods counts, for a node that passed, the pods in Domain that match all the pod's affinity
	// terms.
	Pods int64 `json:"pods,omitempty"`
	// First: the node passed because the plugin counted no pod that matches all the affinity terms,
	// and the pod itself does. The plugin counts pods on nodes that have the label of a term.
	First bool `json:"first,omitempty"`
	// Terms counts the pod's affinity terms. A pod counts only if it matches all of them.
	Terms int `json:"terms,omitempty"`
	// Match is, for affinity that no pod in Domain meets, a pod on any node that matches all the
	// affinity terms; if there is none, one that matches this term. It is nil when there is
	// neither, as NoneMatches says, and when the recorder gave up the search.
	Match *PodMatch `json:"match,omitempty"`
	// NoneMatches: no pod on any node matches the term.
	NoneMatches bool `json:"noneMatches,omitempty"`
}

// MaxNamespaces bounds the namespaces of a PodTermComparison.
const MaxNamespaces = 8

// PodMatch is a pod that matches affinity terms, and where it runs.
type PodMatch struct {
	Pod  Pod    `json:"pod"`
	Node string `json:"node"`
	// Domain is Node's value of the term's topology key; nil when it has no such label.
	Domain *string `json:"domain"`
	// All: the pod matches all the affinity terms, not only this one.
	All bool `json:"all,omitempty"`
}

// SpreadComparison is a topology spread constraint. It is violated if
// Matching+Self-Minimum exceeds MaxSkew, or if the node lacks the label.
type SpreadComparison struct {
	TopologyKey string  `json:"topologyKey"`
	Domain      *string `json:"domain"`
	// Selector selects the pods of the pod's namespace that count, by matchLabelKeys too.
	Selector string `json:"selector,omitempty"`
	// Matching counts the matching pods in Domain, and Maximum those in the domain with
	// the most. Minimum counts those in the domain with the fewest; it is 0 when there
	// are fewer domains than minDomains.
	Matching int `json:"matching"`
	Minimum  int `json:"minimum"`
	Maximum  int `json:"maximum"`
	// Here counts those of Matching that run on the node itself.
	Here int `json:"here,omitempty"`
	// Domains counts the domains of the nodes that count: those that have the labels of all
	// constraints and that neither policy leaves out.
	Domains int `json:"domains,omitempty"`
	// MinDomains is 0 when the constraint names none.
	MinDomains int `json:"minDomains,omitempty"`
	// Fewest are domains with the fewest matching pods, by name: at most MaxFewest of
	// FewestCount. They decide Minimum unless Domains is less than MinDomains.
	Fewest      []SpreadDomain `json:"fewest,omitempty"`
	FewestCount int            `json:"fewestCount,omitempty"`
	// NodeAffinityPolicy and NodeTaintsPolicy are Honor or Ignore.
	NodeAffinityPolicy string `json:"nodeAffinityPolicy,omitempty"`
	NodeTaintsPolicy   string `json:"nodeTaintsPolicy,omitempty"`
	// Self is 1 when the constraint's selector matches the pod itself.
	Self    int `json:"self"`
	MaxSkew int `json:"maxSkew"`
}

// SpreadDomain is a domain of a spread constraint, with the nodes that have its label.
type SpreadDomain struct {
	Name string `json:"name"`
	// Nodes are at most MaxDomainNodes of NodeCount, by name. Only comparisons of rejected nodes
	// have them.
	Nodes     []string `json:"nodes,omitempty"`
	NodeCount int      `json:"nodeCount,omitempty"`
}

// Bounds of SpreadComparison.Fewest and SpreadDomain.Nodes.
const (
	MaxFewest      = 3
	MaxDomainNodes = 8
)

// ClaimComparison is a claim of the pod. On a rejected node, no reachable persistent volume is left
// for the claim, or the volume to which it is bound is Missing.
type ClaimComparison struct {
	Claim        string `json:"claim"`
	StorageClass string `json:"storageClass"`
	// Requested is the size that the claim wants, in bytes.
	Requested int64 `json:"requested"`
	// Provisionable is true if the class can provision volumes. On a rejected node, it can
	// provision none as large as Requested.
	Provisionable bool `json:"provisionable"`
	// Largest is the size in bytes of the largest volume that can be provisioned for the node; 0
	// when the driver does not say.
	Largest int64 `json:"largest,omitempty"`
	// Volume is the persistent volume to which the claim is bound if Bound is true, and
	// otherwise the one to which it can be bound on the node.
	Volume string `json:"volume,omitempty"`
	Bound  bool   `json:"bound,omitempty"`
	// Missing is true if Volume does not exist.
	Missing bool `json:"missing,omitempty"`
}

// VolumeLimit compares the number of a CSI driver's volumes with how many the node can attach. The
// node is full if InUse+Requested exceeds Limit.
type VolumeLimit struct {
	Driver string `json:"driver"`
	// InUse counts the volumes that pods on the node use or that are attached to it, and
	// Requested those of the pod that no pod on the node uses.
	InUse     int `json:"inUse"`
	Requested int `json:"requested"`
	// Limit is nil for a driver that names none for the node.
	Limit *int32 `json:"limit"`
	// Missing: the node lacks the driver, and the driver keeps pods off such nodes.
	Missing bool `json:"missing,omitempty"`
}

// ExclusiveVolume is a volume that pods on one node, or in the cluster, may not share.
type ExclusiveVolume struct {
	// Volume is the pod's name for a disk, such as one of AWS, or for the volume of Claim.
	Volume string `json:"volume"`
	// Claim has the access mode ReadWriteOncePod; empty for a disk.
	Claim string `json:"claim,omitempty"`
	// InUse: another pod uses it, on the node for a disk, in the cluster for a claim. Pod is that
	// pod, if it is on the node.
	InUse bool `json:"inUse,omitempty"`
	Pod   *Pod `json:"pod,omitempty"`
}

// FeatureComparison is a node feature that the pod needs.
type FeatureComparison struct {
	Name     string `json:"name"`
	Declared bool   `json:"declared"`
}

// Port is a port of a host.
type Port struct {
	Protocol string `json:"protocol"`
	HostIP   string `json:"hostIP"`
	Port     int32  `json:"port"`
}
