package comparison

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology"
	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
	"kube-scheduler-simulator/scheduler/result"
)

// TestAlignmentAgrees: every NUMA node of a rejected node lacks something, and what it is said
// to lack is more than it has or not in it. On other nodes, the NUMA nodes of the containers
// together have what the containers ask for.
func TestAlignmentAgrees(t *testing.T) {
	aligned := 0
	agreement{plugin: noderesourcetopology.Name, clusters: 1000, generate: randomTopologies, passed: func(s *subject, a answer) error {
		aligned += len(a.passed.Aligned)
		return enoughFor(s.cluster.pod, a.passed.Aligned, s.cluster.topology(a.node.Node().Name))
	}, verify: func(s *subject, a answer) error {
		found := a.found.Alignment
		if found == nil || found.Role == "pod" != (found.Container == "") || a.status.Message() != "cannot align "+found.Role {
			return fmt.Errorf("the part is not the one of the plugin's message")
		}
		if found.Container != "" && !strings.Contains(containersOf(s.cluster.pod), found.Container) {
			return fmt.Errorf("the pod has no container %s", found.Container)
		}
		topology := s.cluster.topology(a.node.Node().Name)
		if len(found.Zones) != len(topology.Zones) {
			return fmt.Errorf("of %d NUMA nodes it names %d", len(topology.Zones), len(found.Zones))
		}
		for i, z := range found.Zones {
			if len(z.Short) == 0 {
				return fmt.Errorf("%s lacks nothing", z.Zone)
			}
			for _, short := range z.Short {
				if err := trueShortage(&topology.Zones[i], short.Resource, short.Requested, short.Available, short.Absent); err != nil {
					return fmt.Errorf("%s: %w", z.Zone, err)
				}
			}
		}
		return nil
	}}.test(t)
	if aligned == 0 {
		t.Error("no container was aligned")
	}
}

// enoughFor checks that the NUMA nodes have all that the containers of a Guaranteed pod ask for.
func enoughFor(pod *v1.Pod, parts []result.AlignedPart, topology *v1alpha2.NodeResourceTopology) error {
	if len(parts) == 0 {
		return nil
	}
	asked := map[string]map[v1.ResourceName]int64{}
	for _, p := range parts {
		if p.Role == "pod" != (p.Container == "") {
			return fmt.Errorf("the %s has the name %q", p.Role, p.Container)
		}
		if !needsOneZone(pod, p) {
			return fmt.Errorf("the %s %s needs nothing of one NUMA node", p.Role, p.Container)
		}
		for _, c := range pod.Spec.Containers {
			if c.Name != p.Container || len(c.Resources.Limits) == 0 {
				continue
			}
			for name, quantity := range c.Resources.Requests {
				if asked[p.Zone] == nil {
					asked[p.Zone] = map[v1.ResourceName]int64{}
				}
				asked[p.Zone][name] += quantity.MilliValue()
			}
		}
	}
	for _, z := range topology.Zones {
		for _, r := range z.Resources {
			if amount := asked[z.Name][v1.ResourceName(r.Name)]; amount > r.Available.MilliValue() {
				return fmt.Errorf("%s has %s %s, and containers ask for %dm", z.Name, r.Available.String(), r.Name, amount)
			}
		}
		delete(asked, z.Name)
	}
	if len(asked) > 0 {
		return fmt.Errorf("the node has no NUMA nodes %v", asked)
	}
	return nil
}

// needsOneZone reports whether a part of a pod asks for devices, or is of a Guaranteed pod.
func needsOneZone(pod *v1.Pod, part result.AlignedPart) bool {
	for _, c := range append(append([]v1.Container(nil), pod.Spec.InitContainers...), pod.Spec.Containers...) {
		if part.Container != "" && part.Container != c.Name {
			continue
		}
		for name, quantity := range c.Resources.Requests {
			if !quantity.IsZero() && (len(c.Resources.Limits) > 0 || !v1alpha2.IsShared(name)) {
				return true
			}
		}
	}
	return false
}

func containersOf(pod *v1.Pod) string {
	var all []string
	for _, c := range append(append([]v1.Container(nil), pod.Spec.InitContainers...), pod.Spec.Containers...) {
		all = append(all, c.Name)
	}
	return strings.Join(all, " ")
}

func trueShortage(z *v1alpha2.Zone, name string, requested, available int64, absent bool) error {
	for _, r := range z.Resources {
		if r.Name != name {
			continue
		}
		has := r.Available.Value()
		if name == "cpu" {
			has = r.Available.MilliValue()
		}
		if absent || available > has || available >= requested {
			return fmt.Errorf("it has %d %s, %d after other containers, and %d are requested; absent: %v", has, name, available, requested, absent)
		}
		return nil
	}
	if !absent {
		return fmt.Errorf("it does not list %s", name)
	}
	return nil
}

func (c *cluster) topology(node string) *v1alpha2.NodeResourceTopology {
	for _, o := range c.objects {
		if t, ok := o.(*v1alpha2.NodeResourceTopology); ok && t.Name == node {
			return t
		}
	}
	return nil
}

func randomTopologies(r random) *cluster {
	c := &cluster{args: &runtime.Unknown{}, pod: pod("p", "")}
	for i := range 6 {
		name := fmt.Sprint("n", i)
		allocatable := v1.ResourceList{"cpu": resource.MustParse("16"), "memory": resource.MustParse("64Gi"), "example.com/gpu": resource.MustParse("4")}
		c.nodes = append(c.nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: allocatable}})
		t := &v1alpha2.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Name: name}}
		t.Attributes = []v1alpha2.Attribute{
			{Name: v1alpha2.AttributePolicy, Value: v1alpha2.PolicySingleNUMANode},
			{Name: v1alpha2.AttributeScope, Value: one(r, v1alpha2.ScopeContainer, v1alpha2.ScopePod)},
		}
		for zone := range 1 + r.IntN(3) {
			z := v1alpha2.Zone{Name: fmt.Sprint(v1alpha2.ZonePrefix, zone), Type: v1alpha2.ZoneType}
			z.Resources = append(z.Resources, amountsOf("cpu", r.IntN(8)))
			if !r.in(8) {
				z.Resources = append(z.Resources, amountsOf("memory", r.IntN(8)<<30))
			}
			if r.in(2) {
				z.Resources = append(z.Resources, amountsOf("example.com/gpu", r.IntN(3)))
			}
			t.Zones = append(t.Zones, z)
		}
		if !r.in(8) {
			c.objects = append(c.objects, t)
		}
	}
	guaranteed := !r.in(4)
	container := func(name string) v1.Container {
		list := v1.ResourceList{"cpu": *resource.NewMilliQuantity(int64(500*(1+r.IntN(8))), resource.DecimalSI), "memory": *resource.NewQuantity(int64(1+r.IntN(4))<<30, resource.BinarySI)}
		if r.in(3) {
			list[v1.ResourceName(one(r, "example.com/gpu", "example.com/gpu", "example.com/none"))] = *resource.NewQuantity(int64(r.IntN(3)), resource.DecimalSI)
		}
		out := v1.Container{Name: name, Resources: v1.ResourceRequirements{Requests: list}}
		if guaranteed {
			out.Resources.Limits = list
		}
		return out
	}
	for i := range 1 + r.IntN(3) {
		c.pod.Spec.Containers = append(c.pod.Spec.Containers, container(fmt.Sprint("c", i)))
	}
	if r.in(3) {
		c.pod.Spec.InitContainers = append(c.pod.Spec.InitContainers, container("init"))
	}
	return c
}

func amountsOf(name string, n int) v1alpha2.Amounts {
	q := *resource.NewQuantity(int64(n), resource.DecimalSI)
	return v1alpha2.Amounts{Name: name, Capacity: q, Allocatable: q, Available: q}
}
