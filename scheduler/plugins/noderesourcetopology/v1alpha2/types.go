// Package v1alpha2 has the API type of topology.node.k8s.io/v1alpha2 that the plugin
// NodeResourceTopologyMatch reads, and what agents on nodes write into it: fingerprints of pods,
// and the zones of containers. It may import Kubernetes' API and the libraries around it.
package v1alpha2

import (
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var NodeResourceTopologies = schema.GroupVersionResource{Group: "topology.node.k8s.io", Version: "v1alpha2", Resource: "noderesourcetopologies"}

// NodeResourceTopology says how the node of the same name is cut into zones.
type NodeResourceTopology struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// TopologyPolicies has the policy and the scope of the topology manager in one word.
	// Attributes take precedence.
	TopologyPolicies []string    `json:"topologyPolicies,omitempty"`
	Zones            []Zone      `json:"zones"`
	Attributes       []Attribute `json:"attributes,omitempty"`
}

// Zone is a part of a node. The plugin reads those of ZoneType whose name is ZonePrefix and
// a number.
type Zone struct {
	Name       string      `json:"name"`
	Type       string      `json:"type"`
	Parent     string      `json:"parent,omitempty"`
	Costs      []Cost      `json:"costs,omitempty"`
	Attributes []Attribute `json:"attributes,omitempty"`
	Resources  []Amounts   `json:"resources,omitempty"`
}

// ZoneType and ZonePrefix mark the zones that are NUMA nodes.
const (
	ZoneType   = "Node"
	ZonePrefix = "node-"
)

// ID returns the number of a NUMA node; false for a zone that is none.
func (z *Zone) ID() (int, bool) {
	id, ok := ZoneID(z.Name)
	return id, ok && z.Type == ZoneType
}

// ZoneID reads the number in the name of a NUMA node.
func ZoneID(name string) (int, bool) {
	number, ok := strings.CutPrefix(name, ZonePrefix)
	if !ok {
		return 0, false
	}
	id, err := strconv.ParseUint(number, 10, 16)
	return int(id), err == nil
}

// Cost is the distance to a zone.
type Cost struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

// Attribute is a setting of a node or a zone.
type Attribute struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Amounts are those of a resource in a zone.
type Amounts struct {
	Name        string            `json:"name"`
	Capacity    resource.Quantity `json:"capacity"`
	Allocatable resource.Quantity `json:"allocatable"`
	// Available is what the agent on the node says is left.
	Available resource.Quantity `json:"available"`
}

// The attributes of a node that the plugin reads.
const (
	AttributePolicy            = "topologyManagerPolicy"
	AttributeScope             = "topologyManagerScope"
	AttributeMaxNUMANodes      = "topologyManagerMaxNUMANodes"
	AttributeFingerprint       = "nodeTopologyPodsFingerprint"
	AttributeFingerprintMethod = "nodeTopologyPodsFingerprintMethod"
)

// The policies and scopes of the topology manager.
const (
	PolicyNone           = "none"
	PolicyBestEffort     = "best-effort"
	PolicyRestricted     = "restricted"
	PolicySingleNUMANode = "single-numa-node"

	ScopeContainer = "container"
	ScopePod       = "pod"
)

var _ runtime.Object = (*NodeResourceTopology)(nil)

// DeepCopyObject returns a copy.
func (t *NodeResourceTopology) DeepCopyObject() runtime.Object {
	out := *t
	out.ObjectMeta = *t.ObjectMeta.DeepCopy()
	out.TopologyPolicies, out.Attributes = slices.Clone(t.TopologyPolicies), slices.Clone(t.Attributes)
	out.Zones = slices.Clone(t.Zones)
	for i := range out.Zones {
		z := &out.Zones[i]
		z.Costs, z.Attributes, z.Resources = slices.Clone(z.Costs), slices.Clone(z.Attributes), slices.Clone(z.Resources)
		for j := range z.Resources {
			r := &z.Resources[j]
			r.Capacity, r.Allocatable, r.Available = r.Capacity.DeepCopy(), r.Allocatable.DeepCopy(), r.Available.DeepCopy()
		}
	}
	return &out
}

// Attribute returns the value of an attribute of the node; empty if there is none.
func (t *NodeResourceTopology) Attribute(name string) string {
	for _, a := range t.Attributes {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

func (t *NodeResourceTopology) Lists(name v1.ResourceName) bool {
	return slices.ContainsFunc(t.Zones, func(z Zone) bool {
		_, isNode := z.ID()
		return isNode && slices.ContainsFunc(z.Resources, func(a Amounts) bool { return a.Name == string(name) })
	})
}
