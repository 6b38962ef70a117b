package judge

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/plugins/directed"
	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
)

// dice makes random scenarios.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 43))} }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

func raw(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // objects of Kubernetes can be encoded
	}
	return data
}

func object(v any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw(v), &u.Object); err != nil {
		panic(err)
	}
	return u
}

// TestTopologies: Filter and Score of NodeResourceTopologyMatch for every pod on every node,
// without a cache.
func TestTopologies(t *testing.T) {
	compare(t, *topologies, func(seed uint64) *directed.Case {
		d := newDice(seed)
		c := &directed.Case{Plugin: "NodeResourceTopologyMatch", Pods: map[string]*v1.Pod{}}
		c.Args = raw(map[string]any{"scoringStrategy": d.strategy()})
		for n := range 3 {
			name := fmt.Sprint("n", n)
			c.Objects = append(c.Objects, d.node(name))
			if d.chance(95) {
				c.Objects = append(c.Objects, d.topology(name))
			}
		}
		for p := range 8 {
			name := fmt.Sprint("p", p)
			c.Pods[name] = d.pod(name)
			for n := range 3 {
				c.Steps = append(c.Steps, directed.Step{Do: directed.Check, Pod: name, Node: fmt.Sprint("n", n)})
			}
		}
		return c
	})
}

// TestCaches: what NodeResourceTopologyMatch answers while pods come and go and agents report.
func TestCaches(t *testing.T) {
	compare(t, *caches, func(seed uint64) *directed.Case {
		d := newDice(seed)
		c := &directed.Case{Plugin: "NodeResourceTopologyMatch", Pods: map[string]*v1.Pod{}}
		args := map[string]any{"scoringStrategy": d.strategy()}
		if d.chance(20) {
			args["discardReservedNodes"] = true
		} else {
			args["cacheResyncPeriodSeconds"] = 3
			args["cache"] = map[string]any{
				"foreignPodsDetect": pick(d, "All", "All", "None", "OnlyExclusiveResources"), "resyncMethod": pick(d, "All", "Autodetect", "OnlyExclusiveResources"),
				"informerMode": pick(d, "Dedicated", "Shared"), "resyncScope": pick(d, "All", "OnlyResources"),
			}
		}
		c.Args = raw(args)
		var agents []string
		for n := range 3 {
			name := fmt.Sprint("n", n)
			c.Objects = append(c.Objects, d.node(name))
			if n < 2 || d.chance(50) {
				c.Objects = append(c.Objects, d.topology(name))
				agents = append(agents, name)
			}
		}
		var names []string
		for p := range 6 {
			name := fmt.Sprint("p", p)
			names = append(names, name)
			c.Pods[name] = d.pod(name)
		}
		on := map[string]string{}       // pods that run, by name
		reserved := map[string]string{} // pods that are reserved
		for range 25 {
			pod, node := pick(d, names...), fmt.Sprint("n", d.IntN(3))
			switch n := d.IntN(100); {
			case n < 30:
				c.Steps = append(c.Steps, directed.Step{Do: directed.Check, Pod: pod, Node: node})
			case n < 48 && reserved[pod] == "" && on[pod] == "":
				reserved[pod] = node
				c.Steps = append(c.Steps, directed.Step{Do: directed.Reserve, Pod: pod, Node: node})
			case n < 54 && reserved[pod] != "":
				c.Steps = append(c.Steps, directed.Step{Do: directed.Unreserve, Pod: pod, Node: reserved[pod]})
				delete(reserved, pod)
			case n < 70 && on[pod] == "":
				by := v1.DefaultSchedulerName
				if reserved[pod] != "" {
					node = reserved[pod]
					c.Steps = append(c.Steps, directed.Step{Do: directed.PostBind, Pod: pod, Node: node})
					delete(reserved, pod)
				} else if d.chance(40) {
					by = "another"
				}
				on[pod] = node
				c.Steps = append(c.Steps, directed.Step{Do: directed.Run, Pod: pod, Node: node, By: by})
			case n < 78 && on[pod] != "":
				delete(on, pod)
				c.Steps = append(c.Steps, directed.Step{Do: directed.Delete, Pod: pod})
			case n < 80 && on[pod] != "":
				c.Steps = append(c.Steps, directed.Step{Do: directed.Finish, Pod: pod})
			case n < 92:
				node = pick(d, agents...)
				s := directed.Step{Do: directed.Report, Node: node}
				if d.chance(80) {
					s.Prints = []string{}
					for _, name := range names {
						if on[name] == node && d.chance(90) {
							s.Prints = append(s.Prints, name)
						}
					}
				}
				if d.chance(15) {
					s.Policy = pick(d, v1alpha2.PolicyBestEffort, v1alpha2.PolicySingleNUMANode)
				}
				c.Steps = append(c.Steps, s)
			default:
				c.Steps = append(c.Steps, directed.Step{Do: directed.Wait, Seconds: 4})
			}
		}
		for _, pod := range names {
			c.Steps = append(c.Steps, directed.Step{Do: directed.Check, Pod: pod, Node: pick(d, agents...)})
		}
		return c
	})
}

func (d dice) strategy() map[string]any {
	var weights []map[string]any
	for _, name := range []string{"cpu", "memory", "example.com/gpu"} {
		if d.chance(70) {
			weights = append(weights, map[string]any{"name": name, "weight": 1 + d.IntN(5)})
		}
	}
	out := map[string]any{"type": pick(d, "LeastAllocated", "MostAllocated", "BalancedAllocation", "LeastNUMANodes")}
	if weights != nil {
		out["resources"] = weights
	}
	return out
}

func (d dice) node(name string) *unstructured.Unstructured {
	capacity := v1.ResourceList{"cpu": resource.MustParse("16"), "memory": resource.MustParse("64Gi"), "pods": resource.MustParse("110"), "example.com/gpu": resource.MustParse("4")}
	if d.chance(30) {
		capacity["hugepages-2Mi"] = resource.MustParse("1Gi")
	}
	if d.chance(20) {
		capacity["example.com/nic"] = resource.MustParse("2")
	}
	return object(&v1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Capacity: capacity, Allocatable: capacity}})
}

func (d dice) topology(name string) *unstructured.Unstructured {
	t := &v1alpha2.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Name: name}}
	t.APIVersion, t.Kind = "topology.node.k8s.io/v1alpha2", "NodeResourceTopology"
	if d.chance(25) {
		t.TopologyPolicies = []string{pick(d, "SingleNUMANodePodLevel", "SingleNUMANodeContainerLevel", "RestrictedPodLevel", "BestEffortContainerLevel", "None", "odd")}
	}
	set := func(name, value string) {
		t.Attributes = append(t.Attributes, v1alpha2.Attribute{Name: name, Value: value})
	}
	if t.TopologyPolicies == nil || d.chance(20) {
		set(v1alpha2.AttributePolicy, pick(d, v1alpha2.PolicySingleNUMANode, v1alpha2.PolicySingleNUMANode, v1alpha2.PolicySingleNUMANode, v1alpha2.PolicyBestEffort, v1alpha2.PolicyNone, "odd"))
		set(v1alpha2.AttributeScope, pick(d, v1alpha2.ScopeContainer, v1alpha2.ScopePod, "odd"))
	}
	if d.chance(30) {
		set(v1alpha2.AttributeMaxNUMANodes, pick(d, "4", "8", "16", "1", "odd", "5000"))
	}
	zones := 1 + d.IntN(4)
	for z := range zones {
		zone := v1alpha2.Zone{Name: fmt.Sprint(v1alpha2.ZonePrefix, z), Type: v1alpha2.ZoneType}
		amount := func(name string, q string) {
			value := resource.MustParse(q)
			zone.Resources = append(zone.Resources, v1alpha2.Amounts{Name: name, Capacity: resource.MustParse("64Gi"), Allocatable: resource.MustParse("64Gi"), Available: value})
		}
		amount("cpu", pick(d, "0", "500m", "1500m", "2", "4", "8"))
		if d.chance(90) {
			amount("memory", pick(d, "0", "1Gi", "4Gi", "8Gi"))
		}
		if d.chance(50) {
			amount("example.com/gpu", pick(d, "0", "1", "2"))
		}
		if d.chance(30) {
			amount("hugepages-2Mi", pick(d, "0", "64Mi", "512Mi"))
		}
		if d.chance(60) {
			for other := range zones {
				zone.Costs = append(zone.Costs, v1alpha2.Cost{Name: fmt.Sprint(v1alpha2.ZonePrefix, other), Value: pick[int64](d, 10, 12, 21)})
			}
		}
		t.Zones = append(t.Zones, zone)
	}
	if d.chance(10) { // zones that are no NUMA nodes
		t.Zones = append(t.Zones, v1alpha2.Zone{Name: pick(d, "socket-0", "node-7"), Type: "Socket"})
	}
	return object(t)
}

func (d dice) pod(name string) *v1.Pod {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	guaranteed, none := d.chance(70), d.chance(10)
	container := func(name string) v1.Container {
		c := v1.Container{Name: name}
		if none {
			if d.chance(40) {
				c.Resources.Requests = v1.ResourceList{"example.com/gpu": resource.MustParse(pick(d, "0", "1", "3"))}
				c.Resources.Limits = c.Resources.Requests
			}
			return c
		}
		requests := v1.ResourceList{"cpu": resource.MustParse(pick(d, "250m", "500m", "1", "1500m", "2", "3", "5")), "memory": resource.MustParse(pick(d, "256Mi", "1Gi", "3Gi", "6Gi"))}
		for _, extra := range []struct {
			name   v1.ResourceName
			chance int
			of     []string
		}{{"example.com/gpu", 30, []string{"0", "1", "2"}}, {"hugepages-2Mi", 12, []string{"32Mi", "128Mi"}}, {"example.com/nic", 12, []string{"0", "1"}}, {"ephemeral-storage", 8, []string{"1Gi"}}} {
			if d.chance(extra.chance) {
				requests[extra.name] = resource.MustParse(pick(d, extra.of...))
			}
		}
		c.Resources.Requests = requests
		if guaranteed {
			c.Resources.Limits = requests
		}
		return c
	}
	for i := range 1 + d.IntN(3) {
		pod.Spec.Containers = append(pod.Spec.Containers, container(fmt.Sprint("c", i)))
	}
	for i := range max(0, d.IntN(5)-2) {
		c := container(fmt.Sprint("i", i))
		if d.chance(40) {
			c.RestartPolicy = ptr.To(v1.ContainerRestartPolicyAlways)
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
	}
	if d.chance(10) {
		pod.Spec.Overhead = v1.ResourceList{"cpu": resource.MustParse("250m"), "memory": resource.MustParse("128Mi")}
	}
	return pod
}

// known returns which known difference a case may show; "" if none. See the documentation of the
// package noderesourcetopology.
func known(c *directed.Case) string {
	policies := 0
	for _, s := range c.Steps {
		if s.Do == directed.Report {
			policies++
		}
	}
	if policies > 1 && slices.ContainsFunc(c.Steps, func(s directed.Step) bool { return s.Policy != "" }) {
		return "a policy that changes and changes back"
	}
	return ""
}
