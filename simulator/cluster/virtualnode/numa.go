package virtualnode

import (
	"fmt"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
	"kube-scheduler-simulator/scheduler/standin"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Cut says how a node is cut into NUMA nodes, as on AnnotationNUMA:
//
//	{zones: 2, policy: single-numa-node, scope: pod}
type Cut struct {
	// Zones is how many zones share the node, from 1 to maxZones. Each gets the same part of
	// the allocatable CPU, memory, huge pages and extended resources: whole CPUs and whole units
	// of the others. What is left over goes to the first zones.
	Zones int `json:"zones,omitempty"`
	// Resources are the zones instead, each with what it has, whatever the node says.
	Resources []corev1.ResourceList `json:"resources,omitempty"`
	// Policy and Scope are the topology manager's. Default: single-numa-node, container.
	Policy string `json:"policy,omitempty"`
	Scope  string `json:"scope,omitempty"`
	// Costs are the distances from each zone to each, such as [[10, 20], [20, 10]]. Default:
	// not published.
	Costs [][]int64 `json:"costs,omitempty"`
}

// NodeCut cuts the nodes with those labels. A file is a list of NodeCut, of which the first
// that matches a node counts.
type NodeCut struct {
	// NodeSelector are labels that a node must have. Default: every node.
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	Cut          `json:",inline"`
}

// maxZones bounds the zones of a node. A kubelet's topology manager refuses to start on more,
// unless it is told otherwise.
const maxZones = 8

// LoadNUMA reads a list of NodeCut from a file, in YAML or JSON.
func LoadNUMA(file string) ([]NodeCut, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the NUMA nodes: %w", err)
	}
	all, err := parseNodeCuts(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return all, nil
}

func parseNodeCuts(data []byte) ([]NodeCut, error) {
	if err := checkShape(data, "a list of {nodeSelector, zones}"); err != nil {
		return nil, err
	}
	var all []NodeCut
	if err := decode(data, &all); err != nil {
		return nil, err
	}
	for i, entry := range all {
		if _, err := labels.ValidatedSelectorFromSet(entry.NodeSelector); err != nil {
			return nil, fmt.Errorf("[%d].nodeSelector: %w", i, err)
		}
		if err := entry.check(); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return all, nil
}

// cutOf returns how a node is cut; nil if it is not. The node's annotation counts before the
// file.
func cutOf(node metav1.Object, file []NodeCut) (*Cut, error) {
	if value := node.GetAnnotations()[objects.AnnotationNUMA]; value != "" {
		cut := &Cut{}
		if err := decode([]byte(value), cut); err != nil {
			return nil, err
		}
		return cut, cut.check()
	}
	for i := range file {
		if labels.SelectorFromSet(file[i].NodeSelector).Matches(labels.Set(node.GetLabels())) {
			return &file[i].Cut, nil
		}
	}
	return nil, nil
}

var (
	policies = []string{v1alpha2.PolicyNone, v1alpha2.PolicyBestEffort, v1alpha2.PolicyRestricted, v1alpha2.PolicySingleNUMANode}
	scopes   = []string{v1alpha2.ScopeContainer, v1alpha2.ScopePod}
)

func (c *Cut) check() error {
	count := c.count()
	switch {
	case c.Zones != 0 && len(c.Resources) > 0:
		return fmt.Errorf("it has zones and resources; want one of them")
	case count < 1 || count > maxZones:
		return fmt.Errorf("it has %d zones, which is not from 1 to %d", count, maxZones)
	case c.Policy != "" && !slices.Contains(policies, c.Policy):
		return fmt.Errorf("policy: %q is none of %s", c.Policy, strings.Join(policies, ", "))
	case c.Scope != "" && !slices.Contains(scopes, c.Scope):
		return fmt.Errorf("scope: %q is none of %s", c.Scope, strings.Join(scopes, ", "))
	case len(c.Costs) > 0 && (len(c.Costs) != count || slices.ContainsFunc(c.Costs, func(row []int64) bool { return len(row) != count })):
		return fmt.Errorf("costs: want %d lists of %d distances", count, count)
	}
	for i, zone := range c.Resources {
		for name, amount := range zone {
			if amount.Sign() < 0 {
				return fmt.Errorf("resources[%d].%s: %s is negative", i, name, amount.String())
			}
		}
	}
	return nil
}

func (c *Cut) count() int { return max(c.Zones, len(c.Resources)) }

func (c *Cut) amounts(node *corev1.Node) []corev1.ResourceList {
	if len(c.Resources) > 0 {
		return c.Resources
	}
	out := make([]corev1.ResourceList, c.Zones)
	for i := range out {
		out[i] = corev1.ResourceList{}
	}
	_, allocatable := standin.SizeOf(node)
	for name, amount := range allocatable {
		if !v1alpha2.IsShared(name) && !v1alpha2.IsDevice(name) {
			continue
		}
		for i, part := range divide(name, amount, c.Zones) {
			out[i][name] = part
		}
	}
	return out
}

// divide divides an amount into whole units. The first parts get one unit more, if they do not
// share alike, and the first of all what is no whole unit.
func divide(name corev1.ResourceName, amount resource.Quantity, parts int) []resource.Quantity {
	unit, total, quantity := int64(1), amount.Value(), resource.NewQuantity
	if name == corev1.ResourceCPU {
		unit, total, quantity = 1000, amount.MilliValue(), resource.NewMilliQuantity
	}
	out := make([]resource.Quantity, parts)
	for i := range out {
		share := total / unit / int64(parts) * unit
		if int64(i) < total/unit%int64(parts) {
			share += unit
		}
		if i == 0 {
			share += total % unit
		}
		out[i] = *quantity(share, amount.Format)
	}
	return out
}

func (c *Cut) topologyOf(node *corev1.Node) *v1alpha2.NodeResourceTopology {
	t := &v1alpha2.NodeResourceTopology{Attributes: []v1alpha2.Attribute{
		{Name: v1alpha2.AttributePolicy, Value: firstOf(c.Policy, v1alpha2.PolicySingleNUMANode)},
		{Name: v1alpha2.AttributeScope, Value: firstOf(c.Scope, v1alpha2.ScopeContainer)},
	}}
	for i, amounts := range c.amounts(node) {
		z := v1alpha2.Zone{Name: zoneName(i), Type: v1alpha2.ZoneType}
		for _, name := range sortedNames(amounts) {
			amount := amounts[name]
			z.Resources = append(z.Resources, v1alpha2.Amounts{
				Name: string(name), Capacity: amount, Allocatable: amount, Available: amount.DeepCopy(),
			})
		}
		if len(c.Costs) > 0 {
			for to, cost := range c.Costs[i] {
				z.Costs = append(z.Costs, v1alpha2.Cost{Name: zoneName(to), Value: cost})
			}
		}
		t.Zones = append(t.Zones, z)
	}
	return t
}

func zoneName(i int) string { return fmt.Sprintf("%s%d", v1alpha2.ZonePrefix, i) }
