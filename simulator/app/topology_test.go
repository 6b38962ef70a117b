package app

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/cluster/definitions"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

const topologyMatch = header + `
profiles:
- plugins:
    multiPoint: {enabled: [{name: NodeResourceTopologyMatch}]}
    reserve: {disabled: [{name: NodeResourceTopologyMatch}]}
`

// TestNodeResourceTopologyMatch needs a simulator of its own for its configuration and its file.
func TestNodeResourceTopologyMatch(t *testing.T) {
	clustertest.Slow(t)
	options := DefaultOptions()
	options.NUMA = filepath.Join(t.TempDir(), "numa.yaml")
	if err := os.WriteFile(options.NUMA, []byte("- nodeSelector: {numa: pod}\n  zones: 2\n  scope: pod\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	options.Definitions = []string{"Coscheduling"}
	s := launch(t, options)
	s.applied(t, http.MethodPut, configurationPath, topologyMatch)
	t.Run("everything at once", func(t *testing.T) { everythingAtOnce(t, newKubectl(t, s)) })
	t.Run("a pod fits a node and no zone", func(t *testing.T) { noZone(t, newKubectl(t, s)) })
	t.Run("the whole pod is aligned", func(t *testing.T) { podScope(t, newKubectl(t, s)) })
	t.Run("what is available is true", func(t *testing.T) { availableIsTrue(t, newKubectl(t, s)) })
	t.Run("mistakes are told", func(t *testing.T) { badTopologies(t, newKubectl(t, s)) })
	t.Run("the definition comes and goes", func(t *testing.T) { publishedTopologiesGo(t, newKubectl(t, s)) })
	t.Run("topologies are exported and imported", func(t *testing.T) {
		k := newKubectl(t, s)
		k.apply(t, "{apiVersion: topology.node.k8s.io/v1alpha2, kind: NodeResourceTopology, metadata: {name: moved}, zones: [{name: node-0, type: Node, resources: [{name: cpu, capacity: 4, allocatable: 4, available: 3}]}]}")
		s.transferred(t, "NodeResourceTopology", "moved", "{.items[*].zones[*].resources[*].available}", "3")
	})
	t.Run("definitions of the command line survive a reset", func(t *testing.T) {
		s.wantInstalled(t, "after the resets", "PodGroup", definitions.ForConfiguration)
	})
}

// byTopology selects attempts in which the plugin rejected a node. The scheduler may try a pod before it learns that
// the taint of a new node has gone.
const byTopology = "plugin=NodeResourceTopologyMatch"

// numaNode creates a node of 8 CPUs and 16 GiB that is cut into zones.
func (k *kubectl) numaNode(t *testing.T, name, labels, cut string) string {
	t.Helper()
	k.apply(t, fmt.Sprintf(`
apiVersion: v1
kind: Node
metadata:
  name: "%%s-%[1]s"
  labels: {pool: "%%s-%[1]s", %[2]s}
  annotations: {kube-scheduler-simulator.sigs.k8s.io/numa: "%[3]s"}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "20"}}
`, name, labels, cut))
	node := k.namespace + "-" + name
	k.available(t, node, "4 8Gi 4 8Gi")
	return node
}

// available waits until the topology of a node says that this is available, zone by zone.
func (k *kubectl) available(t *testing.T, node, want string) {
	t.Helper()
	k.prints(t, want, "{.zones[*].resources[*].available}", "noderesourcetopology", node)
}

// aligned is a pod for a node, whose containers ask for these CPUs and 1 GiB each. A Guaranteed one has
// limits.
func aligned(name, node string, guaranteed bool, cpus ...int) string {
	out := fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  nodeSelector: {pool: %s}
  terminationGracePeriodSeconds: 0
  containers:
`, name, node)
	for i, cpu := range cpus {
		resources := fmt.Sprintf("requests: {cpu: %d, memory: 1Gi}", cpu)
		if guaranteed {
			resources = strings.Replace(resources, "requests", "limits", 1)
		}
		out += fmt.Sprintf("  - {name: c%d, image: example.com/main, resources: {%s}}\n", i, resources)
	}
	return out
}

// everythingAtOnce: no pod gets to a new node before its topology is known, not even right after the
// plugin is enabled.
func everythingAtOnce(t *testing.T, k *kubectl) {
	s := k.simulator
	node := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: k.namespace + "-a", Labels: map[string]string{"pool": k.namespace}, Annotations: map[string]string{objects.AnnotationNUMA: "{zones: 2}"}},
		Status:     v1.NodeStatus{Allocatable: v1.ResourceList{v1.ResourceCPU: resource.MustParse("8"), v1.ResourceMemory: resource.MustParse("16Gi"), v1.ResourcePods: resource.MustParse("9")}},
	}
	large := pod("large", k.namespace, "5")
	large.Spec.Containers[0].Resources.Requests[v1.ResourceMemory] = resource.MustParse("1Gi")
	large.Spec.Containers[0].Resources.Limits = large.Spec.Containers[0].Resources.Requests
	s.applied(t, http.MethodDelete, configurationPath, "")
	s.applied(t, http.MethodPut, configurationPath, topologyMatch)
	if _, err := s.client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.untainted(t, node.Name)
	_, c := create(t, s, k.namespace, large, result.Unschedulable, byTopology)
	k.rejected(t, c, "a", "NodeResourceTopologyMatch: cannot align container")
}

// noZone: of the pods that fit a node, only those are refused that fit no zone and are Guaranteed.
func noZone(t *testing.T, k *kubectl) {
	node := k.numaNode(t, "a", "", "{zones: 2}")
	k.apply(t, aligned("burstable", node, false, 5))
	k.prints(t, "Running", "{.status.phase}", "pod", "burstable")
	k.do(t, "delete", "pod", "burstable")

	k.apply(t, aligned("large", node, true, 5))
	c := k.cycle(t, "large", result.Unschedulable, byTopology)
	k.rejected(t, c, "a", "NodeResourceTopologyMatch: cannot align container")
	if sentence := explain.Cycle(c).Sentence; !strings.Contains(sentence, "No NUMA node of "+node+" has 5 cpu for container c0: node-0 has 4, node-1 has 4.") {
		t.Errorf("%q", sentence)
	}
	var lacks []string
	for _, comparison := range c.Filter.Comparisons {
		if comparison.Alignment == nil {
			continue
		}
		for _, z := range comparison.Alignment.Zones {
			for _, short := range z.Short {
				lacks = append(lacks, fmt.Sprintf("%s %s %d of %d", z.Zone, short.Resource, short.Available, short.Requested))
			}
		}
	}
	if got, want := strings.Join(lacks, ", "), "node-0 cpu 4000 of 5000, node-1 cpu 4000 of 5000"; got != want {
		t.Errorf("the zones lack %q, want %q", got, want)
	}

	// Each container may go to a zone of its own.
	k.apply(t, aligned("two", node, true, 3, 3))
	k.prints(t, "Running", "{.status.phase}", "pod", "two")
	k.available(t, node, "1 7Gi 1 7Gi")
}

// podScope: with the scope pod, all containers have to come from one zone. The file says so.
func podScope(t *testing.T, k *kubectl) {
	node := k.numaNode(t, "a", "numa: pod", "")
	k.apply(t, aligned("two", node, true, 3, 3))
	c := k.cycle(t, "two", result.Unschedulable, byTopology)
	k.rejected(t, c, "a", "NodeResourceTopologyMatch: cannot align pod")
	k.apply(t, aligned("burstable", node, false, 3, 3))
	k.prints(t, "Running", "{.status.phase}", "pod", "burstable")
	k.do(t, "delete", "pod", "burstable")
	k.apply(t, aligned("small", node, true, 2, 2))
	k.prints(t, "Running", "{.status.phase}", "pod", "small")
	k.available(t, node, "0 6Gi 4 8Gi")
}

// availableIsTrue: a pod that fits the node but no zone waits until another one leaves its zone.
func availableIsTrue(t *testing.T, k *kubectl) {
	node := k.numaNode(t, "a", "", "{zones: 2}")
	k.apply(t, aligned("first", node, true, 3))
	k.available(t, node, "1 7Gi 4 8Gi")
	k.apply(t, aligned("second", node, true, 3))
	k.available(t, node, "1 7Gi 1 7Gi")
	k.apply(t, aligned("third", node, true, 2)) // 2 CPUs are left, one in each zone
	k.rejected(t, k.cycle(t, "third", result.Unschedulable, byTopology), "a", "NodeResourceTopologyMatch: cannot align container")
	k.do(t, "delete", "pod", "first")
	k.prints(t, "Running", "{.status.phase}", "pod", "third")
	k.available(t, node, "2 7Gi 1 7Gi")
	k.do(t, "delete", "pod", "second", "third")
	k.available(t, node, "4 8Gi 4 8Gi")
	k.do(t, "delete", "node", node)
	k.prints(t, "", "{.items[?(@.metadata.name==\""+node+"\")].metadata.name}", "noderesourcetopology")
}

func badTopologies(t *testing.T, k *kubectl) {
	for body, want := range map[string]string{
		"zones: [{name: node-0}]": "zones[0].type",
		"zones: [{name: node-0, type: Node, resources: [{name: cpu}]}]":          "zones[0].resources[0].available",
		"zones: [{name: node-0, type: Node, costs: [{name: node-0, value: x}]}]": "zones[0].costs[0].value",
		"topologyPolicies: [SingleNUMANodePodLevel]":                             "zones",
	} {
		manifest := fmt.Sprintf("{apiVersion: topology.node.k8s.io/v1alpha2, kind: NodeResourceTopology, metadata: {name: bad}, %s}", body)
		if err := k.refused(t, manifest); !strings.Contains(err, want) {
			t.Errorf("%s: %s", body, err)
		}
	}
	// Zones of other types and with other names are accepted, and not looked at.
	k.apply(t, `
apiVersion: v1
kind: Node
metadata: {name: %s-odd, labels: {pool: %s-odd}}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "20"}}
---
apiVersion: topology.node.k8s.io/v1alpha2
kind: NodeResourceTopology
metadata: {name: %s-odd}
attributes: [{name: topologyManagerPolicy, value: single-numa-node}]
zones:
- {name: socket-0, type: Socket, resources: [{name: cpu, capacity: 8, allocatable: 8, available: 8}]}
- {name: node-7, type: Node, resources: [{name: cpu, capacity: 4, allocatable: 4, available: 4}, {name: memory, capacity: 8Gi, allocatable: 8Gi, available: 8Gi}]}
`)
	k.prints(t, "True", `{.status.conditions[?(@.type=="Ready")].status}`, "node", k.namespace+"-odd")
	k.apply(t, aligned("large", k.namespace+"-odd", true, 5))
	k.rejected(t, k.cycle(t, "large", result.Unschedulable, byTopology), "odd", "NodeResourceTopologyMatch: cannot align container")
	k.apply(t, aligned("small", k.namespace+"-odd", true, 2))
	k.prints(t, "Running", "{.status.phase}", "pod", "small")

	for name, told := range map[string]struct{ cut, event string }{
		"odd":   {"{zones: 2}", "has not published"}, // the node has a topology already
		"wrong": {"{zones: many}", "cannot unmarshal"},
	} {
		node := k.namespace + "-" + name
		if name != "odd" {
			k.apply(t, "{apiVersion: v1, kind: Node, metadata: {name: "+node+"}}")
		}
		k.do(t, "annotate", "node", node, "kube-scheduler-simulator.sigs.k8s.io/numa="+told.cut)
		clustertest.Eventually(t, "an event about "+node, func(context.Context) (bool, error) {
			out, err := k.Run("get", "events", "-n", "default", "--field-selector", "reason=InvalidNUMA,involvedObject.name="+node, "-o", "jsonpath={.items[*].message}")
			return err == nil && strings.Contains(out, told.event), nil
		})
	}
	k.do(t, "delete", "noderesourcetopology", k.namespace+"-odd")
	k.available(t, k.namespace+"-odd", "2 7Gi 4 8Gi") // now the node publishes its own
}

// publishedTopologiesGo: what nodes publish does not keep the definition, and comes back with it.
func publishedTopologiesGo(t *testing.T, k *kubectl) {
	node := k.numaNode(t, "a", "", "{zones: 2}")
	s := k.simulator
	s.applied(t, http.MethodDelete, configurationPath, "")
	s.wantInstalled(t, "without the plugin", "NodeResourceTopology", definitions.Absent)
	s.applied(t, http.MethodPut, configurationPath, topologyMatch)
	k.available(t, node, "4 8Gi 4 8Gi")
	k.do(t, "annotate", "node", node, "kube-scheduler-simulator.sigs.k8s.io/numa-")
	k.prints(t, "", "{.items[?(@.metadata.name==\""+node+"\")].metadata.name}", "noderesourcetopology")
}
