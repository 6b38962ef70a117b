package result

// Comparison holds the values that a plugin compared when it rejected a node. One of
// the pointers or lists is set, depending on the plugin.
type Comparison struct {
	Node   string `json:"node"`
	Plugin string `json:"plugin"`
	// Resources are those that NodeResourcesFit found short.
	Resources []ResourceComparison `json:"resources,omitempty"`
	// Taint is TaintToleration's: the first that the pod does not tolerate.
	Taint *Taint `json:"taint,omitempty"`
	// Terms are NodeAffinity's, VolumeZone's and VolumeBinding's, and DynamicResources'
	// for a claim that is allocated: requirements on the node's labels that it does not
	// meet.
	Terms []TermComparison `json:"terms,omitempty"`
	// PodTerms are InterPodAffinity's.
	PodTerms []PodTermComparison `json:"podTerms,omitempty"`
	// Spread is PodTopologySpread's.
	Spread []SpreadComparison `json:"spread,omitempty"`
	// Ports are NodePorts': the host ports that are in use.
	Ports []Port `json:"ports,omitempty"`
	// Claims are VolumeBinding's: a claim for which the node has no volume.
	Claims []ClaimComparison `json:"claims,omitempty"`
	// Devices are DynamicResources': the requests of claims that are not allocated,
	// with the node's devices for each.
	Devices []DeviceComparison `json:"devices,omitempty"`
	// Alignment is NodeResourceTopologyMatch's: a part of the pod for which no NUMA node has
	// everything.
	Alignment *AlignmentComparison `json:"alignment,omitempty"`
}

// AlignmentComparison is a part of a pod that must get everything from one NUMA node of a node,
// and what each of them lacks.
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
	// Absent: the NUMA node does not list the resource, or the node does not have it.
	Absent bool `json:"absent,omitempty"`
}

// ResourceComparison is a resource that is short. CPU is in thousandths of a core,
// other resources in their own unit (bytes, devices, pods).
type ResourceComparison struct {
	Name        string `json:"name"`
	Requested   int64  `json:"requested"`
	InUse       int64  `json:"inUse"`
	Allocatable int64  `json:"allocatable"`
}

// Taint is a taint of a node.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// TermComparison is a requirement on a label of the node.
type TermComparison struct {
	// Source says where the requirement comes from: nodeSelector, the pod's node
	// affinity (nodeAffinity), the affinity that the plugin's arguments add
	// (addedAffinity), a persistent volume (volume), the topologies in which a storage
	// class provisions volumes (storageClass), or a claim that is allocated, or for which
	// a volume is being provisioned, on other nodes (claim).
	Source string `json:"source"`
	// Volume and Claim are the names of the persistent volume and of the claim.
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

// PodTermComparison is a term of pod affinity or anti-affinity that Domain does not
// meet. For affinity, no pod in Domain matches all the pod's affinity terms together.
type PodTermComparison struct {
	// Rule is affinity, antiAffinity, or existingAntiAffinity: a term of a running pod.
	Rule        string `json:"rule"`
	TopologyKey string `json:"topologyKey"`
	// Domain is the node's value of TopologyKey; nil when it has no such label.
	Domain *string `json:"domain"`
	// Selector selects the pods that the term is about. It is empty when the search for
	// the term of a running pod was given up.
	Selector string `json:"selector"`
	// Pod is, for anti-affinity, a pod in Domain that matches the term or has it; nil
	// when the search for one was given up.
	Pod *Pod `json:"pod,omitempty"`
}

// SpreadComparison is a violated topology spread constraint: Matching+Self-Minimum
// exceeds MaxSkew, or the node lacks the label.
type SpreadComparison struct {
	TopologyKey string  `json:"topologyKey"`
	Domain      *string `json:"domain"`
	// Matching counts the matching pods in Domain, and Maximum those in the domain with
	// the most. Minimum counts those in the domain with the fewest; it is 0 when there
	// are fewer domains than minDomains.
	Matching int `json:"matching"`
	Minimum  int `json:"minimum"`
	Maximum  int `json:"maximum"`
	// Self is 1 when the constraint's selector matches the pod itself.
	Self    int `json:"self"`
	MaxSkew int `json:"maxSkew"`
}

// ClaimComparison is a claim that is to be bound on the node. No persistent volume that
// the node can reach is left for it.
type ClaimComparison struct {
	Claim        string `json:"claim"`
	StorageClass string `json:"storageClass"`
	// Requested is the size that the claim wants, in bytes.
	Requested int64 `json:"requested"`
	// Provisionable is true if the class can provision volumes, but none as large as
	// Requested for the node. Largest is then the size of the largest, in bytes.
	Provisionable bool  `json:"provisionable"`
	Largest       int64 `json:"largest,omitempty"`
}

// Port is a port of a host.
type Port struct {
	Protocol string `json:"protocol"`
	HostIP   string `json:"hostIP"`
	Port     int32  `json:"port"`
}
