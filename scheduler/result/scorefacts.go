package result

// MaxScoreFacts bounds the nodes whose ScoreFacts a cycle keeps: the selected node and those with
// the best totals.
const MaxScoreFacts = 12

// Normalization names the rule by which a plugin turns raw scores into normalized ones.
// Every rule but NotNormalized and OwnNormalization compares a node's raw score with
// those of the other scored nodes.
type Normalization string

const (
	// NotNormalized: the raw score counts as it is.
	NotNormalized Normalization = "none"
	// HighestIs100: 100 × raw ÷ the highest. If that is 0, all stay 0.
	HighestIs100 Normalization = "highest"
	// LowestIs100: 100 − 100 × raw ÷ the highest. If that is 0, all become 100.
	LowestIs100 Normalization = "lowest"
	// RangeTo100: 100 × (raw − lowest) ÷ (highest − lowest). If all are equal, all become 0.
	RangeTo100 Normalization = "range"
	// SpreadTo100: 100 × (highest + lowest − raw) ÷ highest. If the highest is 0, all become 100.
	// Nodes that lack a topology label do not count and become 0.
	SpreadTo100 Normalization = "spread"
	// OwnNormalization: the plugin has a rule that the recorder does not know.
	OwnNormalization Normalization = "own"
)

// ScoreFacts are the inputs from which the raw scores of some nodes follow. The recorder reads them
// right after scoring from the plugins' nodes and states. Lists with a value per node are in the
// order of Nodes.
type ScoreFacts struct {
	// Nodes are at most MaxScoreFacts of the scored nodes, the best total first.
	Nodes []string `json:"nodes"`
	// Plugins are those of Kubernetes whose inputs are known, in the order in which they
	// scored.
	Plugins []PluginScoreFacts `json:"plugins"`
	// FromExtender: instead of the snapshot's nodes, the plugins got those that an extender without
	// a node cache returned. These have no pods and no images.
	FromExtender bool `json:"fromExtender,omitempty"`
}

// PluginScoreFacts are the inputs of one plugin. One of the pointers is set, depending
// on the plugin.
type PluginScoreFacts struct {
	Plugin string `json:"plugin"`
	// Resources are NodeResourcesFit's and NodeResourcesBalancedAllocation's.
	Resources *ResourceScore `json:"resources,omitempty"`
	// Images are ImageLocality's.
	Images *ImageScore `json:"images,omitempty"`
	// Preferences are NodeAffinity's.
	Preferences *PreferenceScore `json:"preferences,omitempty"`
	// Taints are TaintToleration's.
	Taints *TaintScore `json:"taints,omitempty"`
	// Spread is PodTopologySpread's.
	Spread *SpreadScore `json:"spread,omitempty"`
	// PodTerms are InterPodAffinity's.
	PodTerms *PodTermScore `json:"podTerms,omitempty"`
	// Volumes are VolumeBinding's.
	Volumes *VolumeScore `json:"volumes,omitempty"`
	// Devices are DynamicResources'.
	Devices *DeviceScore `json:"devices,omitempty"`
}

// Strategies of ResourceScore.
const (
	LeastAllocated           = "LeastAllocated"
	MostAllocated            = "MostAllocated"
	RequestedToCapacityRatio = "RequestedToCapacityRatio"
	BalancedAllocation       = "BalancedAllocation"
)

// ResourceScore compares what is allocated on a node with what it has.
type ResourceScore struct {
	// Strategy is NodeResourcesFit's, or BalancedAllocation.
	Strategy string `json:"strategy"`
	// Shape is RequestedToCapacityRatio's.
	Shape     []ShapePoint     `json:"shape,omitempty"`
	Resources []ScoredResource `json:"resources"`
}

// ShapePoint is a point of a function from utilization in percent to a score from 0 to
// 100, which is linear between the points.
type ShapePoint struct {
	Utilization int64 `json:"utilization"`
	Score       int64 `json:"score"`
}

// ScoredResource is a resource that counts for the score. CPU is in thousandths of a
// core, other resources in their own unit.
type ScoredResource struct {
	Name string `json:"name"`
	// Weight is that of the plugin's arguments.
	Weight int64 `json:"weight"`
	// Requested is the pod's request. NodeResourcesFit scores a container that requests
	// no CPU or no memory as if it requested a small amount.
	Requested int64 `json:"requested"`
	// InUse and Allocatable are those of each node. A node with 0 allocatable lacks the resource,
	// which then does not count for it. An extended resource that the pod does not request never
	// counts.
	InUse       []int64 `json:"inUse"`
	Allocatable []int64 `json:"allocatable"`
	// Own is the part of Requested that counts for containers without a request. OwnContainers
	// counts these.
	Own           int64 `json:"own,omitempty"`
	OwnContainers int   `json:"ownContainers,omitempty"`
	// Defaults are, for each node, the part of InUse that no pod requests; nil for a node without
	// one. The list is nil if no node has one.
	Defaults []*ScoreDefaults `json:"defaults,omitempty"`
}

// ImageScore says which of the pod's images the nodes have.
type ImageScore struct {
	// Containers counts the pod's containers, init containers and image volumes.
	Containers int `json:"containers"`
	// ClusterNodes counts the snapshot's nodes.
	ClusterNodes int `json:"clusterNodes"`
	// Images are the distinct images that one of the nodes has.
	Images []ScoredImage `json:"images"`
}

// ScoredImage is an image.
type ScoredImage struct {
	Name string `json:"name"`
	// Times counts the containers with the image.
	Times int64 `json:"times"`
	// Size is the image's size on each node in bytes, and Nodes the number of nodes with the image.
	// Both are 0 for a node that lacks it.
	Size  []int64 `json:"size"`
	Nodes []int64 `json:"nodes"`
}

// PreferenceScore are preferred node affinity terms.
type PreferenceScore struct {
	Terms []Preference `json:"terms"`
}

// Preference is a term. A node that meets all its requirements gets its weight.
type Preference struct {
	// Source is nodeAffinity, the pod's, or addedAffinity, that of the plugin's
	// arguments.
	Source       string        `json:"source"`
	Weight       int64         `json:"weight"`
	Requirements []Requirement `json:"requirements"`
	Met          []bool        `json:"met"`
}

// Requirement is a requirement on a label of a node, or on metadata.name.
type Requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// TaintScore are the PreferNoSchedule taints that the pod does not tolerate. A node's raw score
// counts those it has.
type TaintScore struct {
	Taints []ScoredTaint `json:"taints"`
}

// ScoredTaint is a taint.
type ScoredTaint struct {
	Key   string `json:"key"`
	Value string `json:"value,omitempty"`
	On    []bool `json:"on"`
}

// SpreadScore are the topology spread constraints that count for the score.
type SpreadScore struct {
	// Source is pod, or default for the constraints of the plugin's arguments, or
	// system for those that are built into Kubernetes.
	Source      string             `json:"source"`
	Constraints []ScoredConstraint `json:"constraints"`
	// Ignored nodes lack a topology label; nil when no scored node does.
	Ignored []bool `json:"ignored,omitempty"`
	// Lowest and Highest are the extreme raw scores of all scored nodes that are not ignored.
	Lowest  int64 `json:"lowest"`
	Highest int64 `json:"highest"`
}

// ScoredConstraint is a constraint. It adds matching × ln(domains + 2) + (maxSkew − 1)
// to the raw score of a node that has its label.
type ScoredConstraint struct {
	TopologyKey string `json:"topologyKey"`
	MaxSkew     int64  `json:"maxSkew"`
	// Selector selects the pods that count.
	Selector string `json:"selector"`
	// Domains counts the domains of the scored nodes.
	Domains int64 `json:"domains"`
	// Domain is each node's value of TopologyKey, nil when it has no such label, and
	// Matching counts the matching pods in it.
	Domain   []*string `json:"domain"`
	Matching []int64   `json:"matching"`
}

// PodTermScore are InterPodAffinity's sums.
type PodTermScore struct {
	// HardWeight is the plugin's argument hardPodAffinityWeight: what a running pod's
	// required affinity to this pod counts.
	HardWeight int64 `json:"hardWeight"`
	// Domains are the sums of weights by topology key. A node's raw score is the sum
	// over its domains.
	Domains []ScoredDomain `json:"domains"`
	// Terms make up the sums; nil when there were too many pods to count again.
	Terms []ScoredPodTerm `json:"terms,omitempty"`
}

// ScoredDomain has the sum of the weights in the domain of each node.
type ScoredDomain struct {
	TopologyKey string `json:"topologyKey"`
	// Domain is each node's value of TopologyKey; nil when it has no such label.
	Domain []*string `json:"domain"`
	Sum    []int64   `json:"sum"`
}

// Rules of ScoredPodTerm.
const (
	// Preferred is a preferred term of the pod; its weight is negative for
	// anti-affinity.
	Preferred = "preferred"
	// ExistingPreferred is a preferred term of running pods that selects the pod.
	ExistingPreferred = "existingPreferred"
	// ExistingRequired is a required affinity term of running pods that selects the pod.
	ExistingRequired = "existingRequired"
)

// ScoredPodTerm is a term, or equal terms of several running pods.
type ScoredPodTerm struct {
	Rule        string `json:"rule"`
	TopologyKey string `json:"topologyKey"`
	// Weight is negative for anti-affinity.
	Weight int64 `json:"weight"`
	// Selector selects the pods of a preferred term. For existing terms, it selects
	// this pod.
	Selector string `json:"selector"`
	// Pods counts, for each node, the pods in its domain that the term selects, or that
	// have the term.
	Pods []int64 `json:"pods"`
}

// VolumeScore is the storage that the pod's claims would use on a node.
type VolumeScore struct {
	Shape   []ShapePoint  `json:"shape"`
	Classes []ScoredClass `json:"classes"`
}

// ScoredClass is a storage class. Requested and Capacity are in bytes; both are 0 for a
// node on which no claim of the class counts.
type ScoredClass struct {
	StorageClass string  `json:"storageClass"`
	Requested    []int64 `json:"requested"`
	Capacity     []int64 `json:"capacity"`
}

// MostAlternatives is how many alternatives a request for devices may have. The first
// one counts as many points, the next one point less, and so on.
const MostAlternatives = 8

// DeviceScore are the requests for devices that have alternatives.
type DeviceScore struct {
	Requests []ScoredRequest `json:"requests"`
}

// ScoredRequest is a request of a claim.
type ScoredRequest struct {
	Claim        string   `json:"claim"`
	Request      string   `json:"request"`
	Alternatives []string `json:"alternatives"`
	// Chosen is the index of each node's allocated alternative, or −1.
	Chosen []int64 `json:"chosen"`
}

// Of returns the facts of a plugin, or nil.
func (f *ScoreFacts) Of(plugin string) *PluginScoreFacts {
	if f == nil {
		return nil
	}
	for p := range f.Plugins {
		if f.Plugins[p].Plugin == plugin {
			return &f.Plugins[p]
		}
	}
	return nil
}

// size leaves out the names of nodes, which are shared.
func (f *ScoreFacts) size() int {
	if f == nil {
		return 0
	}
	size := sizeOf(*f) + sizeOfList(f.Nodes) + sizeOfList(f.Plugins)
	for i := range f.Plugins {
		size += f.Plugins[i].size()
	}
	return size
}

func (f *PluginScoreFacts) size() int {
	return f.Resources.size() + f.Images.size() + f.Preferences.size() + f.Taints.size() + f.Spread.size() +
		f.PodTerms.size() + f.Volumes.size() + f.Devices.size()
}

func (s *ResourceScore) size() int {
	if s == nil {
		return 0
	}
	size := sizeOf(*s) + sizeOfList(s.Shape) + sizeOfList(s.Resources)
	for _, r := range s.Resources {
		size += len(r.Name) + sizeOfList(r.InUse) + sizeOfList(r.Allocatable) + sizeOfList(r.Defaults)
		for _, d := range r.Defaults {
			size += d.size()
		}
	}
	return size
}

func (s *ImageScore) size() int {
	if s == nil {
		return 0
	}
	size := sizeOf(*s) + sizeOfList(s.Images)
	for _, i := range s.Images {
		size += len(i.Name) + sizeOfList(i.Size) + sizeOfList(i.Nodes)
	}
	return size
}

func (s *PreferenceScore) size() int {
	if s == nil {
		return 0
	}
	size := sizeOf(*s) + sizeOfList(s.Terms)
	for _, t := range s.Terms {
		size += sizeOfList(t.Requirements) + sizeOfList(t.Met)
		for _, r := range t.Requirements {
			size += len(r.Key) + sizeOfTexts(r.Values)
		}
	}
	return size
}

func (s *TaintScore) size() int {
	if s == nil {
		return 0
	}
	size := sizeOf(*s) + sizeOfList(s.Taints)
	for _, t := range s.Taints {
		size += len(t.Key) + len(t.Value) + sizeOfList(t.On)
	}
	return size
}

func (s *SpreadScore) size() int {
	if s == nil {
		return 0
	}
	size := sizeOf(*s) + sizeOfList(s.Constraints) + sizeOfList(s.Ignored)
	for _, c := range s.Constraints {
		size += len(c.TopologyKey) + len(c.Selector) + sizeOfDomains(c.Domain) + sizeOfList(c.Matching)
	}
	return size
}

func (s *PodTermScore) size() int {
	if s == nil {
		return 0
	}
	size := sizeOf(*s) + sizeOfList(s.Domains) + sizeOfList(s.Terms)
	for _, d := range s.Domains {
		size += len(d.TopologyKey) + sizeOfDomains(d.Domain) + sizeOfList(d.Sum)
	}
	for _, t := range s.Terms {
		size += len(t.TopologyKey) + len(t.Selector) + sizeOfList(t.Pods)
	}
	return size
}

func (s *VolumeScore) size() int {
	if s == nil {
		return 0
	}
	size := sizeOf(*s) + sizeOfList(s.Shape) + sizeOfList(s.Classes)
	for _, c := range s.Classes {
		size += len(c.StorageClass) + sizeOfList(c.Requested) + sizeOfList(c.Capacity)
	}
	return size
}

func (s *DeviceScore) size() int {
	if s == nil {
		return 0
	}
	size := sizeOf(*s) + sizeOfList(s.Requests)
	for _, r := range s.Requests {
		size += len(r.Claim) + len(r.Request) + sizeOfTexts(r.Alternatives) + sizeOfList(r.Chosen)
	}
	return size
}

func sizeOfDomains(list []*string) int {
	size := sizeOfList(list)
	for _, s := range list {
		size += sizeOfText(s)
	}
	return size
}
