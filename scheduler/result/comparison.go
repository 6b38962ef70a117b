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
	// Terms are NodeAffinity's, VolumeZone's and VolumeBinding's: requirements
	// on the node's labels that it does not meet.
	Terms []TermComparison `json:"terms,omitempty"`
	// PodTerms are InterPodAffinity's.
	PodTerms []PodTermComparison `json:"podTerms,omitempty"`
	// Spread is PodTopologySpread's.
	Spread []SpreadComparison `json:"spread,omitempty"`
	// Ports are NodePorts': the host ports that are in use.
	Ports []Port `json:"ports,omitempty"`
	// Devices are DynamicResources': the requests of claims that are not allocated,
	// with the node's devices for each.
	Devices []DeviceComparison `json:"devices,omitempty"`
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
	// affinity (nodeAffinity), or a persistent volume (volume).
	Source string `json:"source"`
	// Volume and Claim are the names of the persistent volume and of its claim.
	Volume string `json:"volume,omitempty"`
	Claim  string `json:"claim,omitempty"`
	// Term numbers the alternatives of node affinity, from 0: a node must meet
	// all requirements of one of them.
	Term     int      `json:"term"`
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
	// Actual is the node's value; nil when it has no such label.
	Actual *string `json:"actual"`
}

// PodTermComparison is a term of pod affinity or anti-affinity.
type PodTermComparison struct {
	// Rule is affinity, antiAffinity, or existingAntiAffinity: a term of a running pod.
	Rule        string `json:"rule"`
	TopologyKey string `json:"topologyKey"`
	// Domain is the node's value of TopologyKey; nil when it has no such label.
	Domain   *string `json:"domain"`
	Selector string  `json:"selector"`
	// Pod is a pod that matches the term (anti-affinity only).
	Pod *Pod `json:"pod,omitempty"`
}

// SpreadComparison is a violated topology spread constraint: Matching+Self-Minimum
// exceeds MaxSkew, or the node lacks the label.
type SpreadComparison struct {
	TopologyKey string  `json:"topologyKey"`
	Domain      *string `json:"domain"`
	// Matching, Minimum and Maximum count the matching pods in Domain, in the domain with
	// the fewest and in the one with the most.
	Matching int `json:"matching"`
	Minimum  int `json:"minimum"`
	Maximum  int `json:"maximum"`
	// Self is 1 when the constraint's selector matches the pod itself.
	Self    int `json:"self"`
	MaxSkew int `json:"maxSkew"`
	// DomainCount is the number of domains that the constraint considers.
	DomainCount int `json:"domainCount"`
}

// Port is a port of a host.
type Port struct {
	Protocol string `json:"protocol"`
	HostIP   string `json:"hostIP"`
	Port     int32  `json:"port"`
}
