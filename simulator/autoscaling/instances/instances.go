// Package instances has the instance types that an autoscaler buys nodes of: what each holds, where it is offered, and at what
// price. They come from a file in the format of Karpenter's KWOK provider, or are a small set that is built in.
//
// It decides nothing. A Catalog is read-only once it is made. It may import scheduler/yamlsource, and of Karpenter the types of
// cloud providers and the labels of KWOK. It never changes Karpenter's well-known labels, which nothing guards against races.
package instances

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Catalog is a set of instance types.
type Catalog struct {
	// Types are sorted by name. Some of one name differ in their architecture or operating systems.
	Types []Type `json:"types"`
	// Prices says where the prices are from.
	Prices Source `json:"prices"`
	// Overhead is what the system takes of every node: allocatable is capacity less overhead.
	Overhead v1.ResourceList `json:"overhead"`
}

// Source says where prices are from, so that an answer can.
type Source struct {
	// From names the source: a file, or BuiltInPrices.
	From string `json:"from"`
	// Date is the day of the prices, as 2006-01-02; empty when it is not known.
	Date string `json:"date,omitempty"`
}

// Type is an instance type.
type Type struct {
	// Name is the value of node.kubernetes.io/instance-type.
	Name string `json:"name"`
	// Architecture and OperatingSystems are the values of kubernetes.io/arch and kubernetes.io/os.
	Architecture     string   `json:"architecture"`
	OperatingSystems []string `json:"operatingSystems"`
	// Capacity is all that a node of the type has, pods included.
	Capacity v1.ResourceList `json:"capacity"`
	// Offerings are sorted by zone and capacity type; there is one of each at most.
	Offerings []Offering `json:"offerings"`
}

// Offering is a way to get a node of a type.
type Offering struct {
	Zone string `json:"zone"`
	// CapacityType is on-demand, spot or reserved.
	CapacityType string `json:"capacityType"`
	// Price is in US dollars per hour.
	Price float64 `json:"price"`
	// Available false says that no node can be had now.
	Available bool `json:"available"`
}

// DefaultOverhead returns what Karpenter's KWOK provider takes for the system's share of every node. Its files do not say.
func DefaultOverhead() v1.ResourceList {
	return v1.ResourceList{v1.ResourceCPU: resource.MustParse("100m"), v1.ResourceMemory: resource.MustParse("10Mi")}
}

// Karpenter returns the types as Karpenter has them, in the order of their names. They may be shared by any number of dry runs.
func (c *Catalog) Karpenter() []*cloudprovider.InstanceType {
	all := make([]*cloudprovider.InstanceType, len(c.Types))
	for i, t := range c.Types {
		all[i] = t.karpenter(c.Overhead)
	}
	return all
}

// Price returns the price of a node with these labels in US dollars per hour. objects.LabelPrice says it; otherwise it is not known without a type, a
// zone and a capacity type that the catalog has.
func (c *Catalog) Price(labels map[string]string) (price float64, known bool) {
	if price, known := objects.Price(labels); known {
		return price, true
	}
	for _, t := range c.Types {
		if t.Name != labels[v1.LabelInstanceTypeStable] || labels[v1.LabelArchStable] != "" && labels[v1.LabelArchStable] != t.Architecture {
			continue
		}
		for _, o := range t.Offerings {
			if o.Zone == labels[v1.LabelTopologyZone] && o.CapacityType == labels[karpenter.CapacityTypeLabelKey] {
				return o.Price, true
			}
		}
	}
	return 0, false
}

// key is different for each type of a catalog. Its order is that of names.
func (t Type) key() string {
	return t.Name + "\x00" + t.Architecture + "\x00" + strings.Join(t.OperatingSystems, "\x00")
}

func (t Type) karpenter(overhead v1.ResourceList) *cloudprovider.InstanceType {
	var zones, capacityTypes []string
	offerings := make(cloudprovider.Offerings, len(t.Offerings))
	for i, o := range t.Offerings {
		zones, capacityTypes = append(zones, o.Zone), append(capacityTypes, o.CapacityType)
		offerings[i] = &cloudprovider.Offering{
			Requirements: scheduling.NewRequirements(in(v1.LabelTopologyZone, o.Zone), in(karpenter.CapacityTypeLabelKey, o.CapacityType)),
			Price:        o.Price,
			Available:    o.Available,
		}
	}
	cpu, memory := t.Capacity[v1.ResourceCPU], t.Capacity[v1.ResourceMemory]
	return &cloudprovider.InstanceType{
		Name: t.Name,
		Requirements: scheduling.NewRequirements(
			in(v1.LabelInstanceTypeStable, t.Name),
			in(v1.LabelArchStable, t.Architecture),
			in(v1.LabelOSStable, t.OperatingSystems...),
			in(v1.LabelTopologyZone, zones...),
			in(karpenter.CapacityTypeLabelKey, capacityTypes...),
			in(v1alpha1.InstanceFamilyLabelKey, family(t.Name)),
			in(v1alpha1.InstanceSizeLabelKey, size(t.Name, cpu.String())),
			in(v1alpha1.InstanceCPULabelKey, cpu.String()),
			in(v1alpha1.InstanceMemoryLabelKey, memory.String()),
		),
		Offerings: offerings,
		Capacity:  maps.Clone(t.Capacity),
		Overhead:  &cloudprovider.InstanceTypeOverhead{KubeReserved: maps.Clone(overhead)},
	}
}

func in(key string, values ...string) *scheduling.Requirement {
	return scheduling.NewRequirement(key, v1.NodeSelectorOpIn, values...)
}

// family is the part of a name before the first dot or dash, and its first letter if there is none, as KWOK labels its nodes.
func family(name string) string {
	if i := strings.IndexAny(name, ".-"); i >= 0 {
		return name[:i]
	}
	return name[:min(1, len(name))]
}

var sized = regexp.MustCompile(`^\w+\.(nano|micro|small|medium|large|\d*xlarge|metal)$`)

// size is the part of a name such as m5.2xlarge after the dot, and otherwise the CPU, as KWOK labels its nodes.
func size(name, cpu string) string {
	if found := sized.FindStringSubmatch(name); found != nil {
		return found[1]
	}
	return cpu
}

// sort puts a catalog in its order.
func (c *Catalog) sort() {
	slices.SortFunc(c.Types, func(a, b Type) int { return strings.Compare(a.key(), b.key()) })
	for _, t := range c.Types {
		slices.SortFunc(t.Offerings, compare)
	}
}

func compare(a, b Offering) int {
	if d := strings.Compare(a.Zone, b.Zone); d != 0 {
		return d
	}
	return strings.Compare(a.CapacityType, b.CapacityType)
}
