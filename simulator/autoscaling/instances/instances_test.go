package instances_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/scheduler/yamlsource/bombs"
	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

// kwokType is the beginning of Karpenter's own list of types, with two of its offerings and one that cannot be had.
const kwokType = `[
 {
  "name": "c-1x-amd64-linux",
  "offerings": [
   {"Price": 0.019003238553599998, "Available": true, "Requirements": [
    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["test-zone-b"]}]},
   {"Price": 0.027147483648, "Available": false, "Requirements": [
    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["test-zone-a"]}]},
   {"Price": 0.027147483648, "Requirements": [
    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["test-zone-b"]}]}
  ],
  "architecture": "x86_64",
  "operatingSystems": ["linux"],
  "resources": {"cpu": "1", "ephemeral-storage": "20Gi", "memory": "2Gi"}
 }
]`

func TestRead(t *testing.T) {
	c, err := instances.Read(t.Context(), []byte(kwokType), "types.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(instances.Source{From: "types.json"}, c.Prices); diff != "" {
		t.Error(diff)
	}
	want := []instances.Offering{
		{Zone: "test-zone-a", CapacityType: "on-demand", Price: 0.027147483648},
		{Zone: "test-zone-b", CapacityType: "on-demand", Price: 0.027147483648, Available: true},
		{Zone: "test-zone-b", CapacityType: "spot", Price: 0.019003238553599998, Available: true},
	}
	if diff := cmp.Diff(want, c.Types[0].Offerings); diff != "" {
		t.Error(diff)
	}
	of := c.Karpenter()[0]
	for name, want := range map[v1.ResourceName][2]string{"cpu": {"1", "900m"}, "memory": {"2Gi", "2038Mi"}, "pods": {"110", "110"}, "ephemeral-storage": {"20Gi", "20Gi"}} {
		capacity, allocatable := of.Capacity[name], of.Allocatable()[name]
		if got := [2]string{capacity.String(), allocatable.String()}; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	for key, want := range map[string]string{
		v1.LabelArchStable: "amd64", v1.LabelOSStable: "linux", v1.LabelInstanceTypeStable: "c-1x-amd64-linux",
		"karpenter.kwok.sh/instance-family": "c", "karpenter.kwok.sh/instance-size": "1", "karpenter.kwok.sh/instance-cpu": "1", "karpenter.kwok.sh/instance-memory": "2Gi",
	} {
		if got := of.Requirements.Get(key).Values(); !slices.Equal(got, []string{want}) {
			t.Errorf("%s is %v, want %s", key, got, want)
		}
	}
	if len(of.Offerings.Available()) != 2 {
		t.Errorf("%d offerings are available, want 2", len(of.Offerings.Available()))
	}
}

// TestMistakes: all mistakes of a file are told at once, each with its place.
func TestMistakes(t *testing.T) {
	const file = `
- name: a
  architecture: amd64
  operatingSystems: [linux]
  resources: {cpu: 4, memory: lots, nvidia.com/gpu: -1}
  offerings:
  - Price: cheap
    Requirements:
    - {key: topology.kubernetes.io/zone, operator: In, values: [zone-a, zone-b]}
    - {key: karpenter.sh/capacity-type, operator: In, values: [on-request]}
  - Price: 1
    Available: perhaps
    Requirements:
    - {key: rack, operator: In, values: [r1]}
- name: a
  architecture: amd64
  operatingSystems: [windows]
  resources: {cpu: 1, memory: 1Gi}
  offerings:
  - Price: 1
    Requirements: &where
    - {key: topology.kubernetes.io/zone, operator: In, values: [zone-a]}
    - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
- name: a
  architecture: x86_64
  operatingSystems: [linux]
  resources: {cpu: 1, memory: 1Gi}
  offerings: [{Price: 1, Requirements: *where}]
- name: b
  architecture: amd64
  operatingSystems: [7]
  resources: {cpu: 1, memory: 1Gi}
  offerings: []
- name: old
  architecture: amd64
  operatingSystems: [linux]
  resources: {cpu: 1}
  offerings:
  - {capacityType: spot, zone: zone-a, price: 1}
  - Price: 1
    Requirements: *where
  - Price: 2
    Requirements: *where
- only a name
`
	_, err := instances.Read(t.Context(), []byte(file), "types.yaml")
	var found yamlsource.Errors
	if !errors.As(err, &found) {
		t.Fatalf("it is read: %v", err)
	}
	var lines []string
	for _, m := range found {
		lines = append(lines, m.String())
	}
	want := `types.yaml:5: [0].resources.memory: want a quantity such as 4 or 16Gi, not "lots"
types.yaml:5: [0].resources.nvidia.com/gpu: want a quantity of at least 0, not -1
types.yaml:7: [0].offerings[0].Price: want dollars per hour, 0 or more, not "cheap"
types.yaml:9: [0].offerings[0].Requirements[0]: an offering has one topology.kubernetes.io/zone: want the operator In and one value
types.yaml:10: [0].offerings[0].Requirements[1].values[0]: want on-demand or spot, not "on-request"
types.yaml:12: [0].offerings[1].Available: want true or false, not "perhaps"
types.yaml:14: [0].offerings[1].Requirements: an offering must say its topology.kubernetes.io/zone
types.yaml:14: [0].offerings[1].Requirements: an offering must say its karpenter.sh/capacity-type
types.yaml:14: [0].offerings[1].Requirements[0].key: want topology.kubernetes.io/zone or karpenter.sh/capacity-type, not "rack"
types.yaml:24: [2].name: there is a type "a" for amd64 and linux already, on line 2
types.yaml:31: [3].operatingSystems[0]: want a string, not 7
types.yaml:33: [3].offerings: a type must be offered somewhere
types.yaml:37: [4].resources.memory: a type must say how much memory it has
types.yaml:39: [4].offerings[0].Price: the field is missing
types.yaml:39: [4].offerings[0].Requirements: the field is missing
types.yaml:39: [4].offerings[0].capacityType: unknown field "capacityType"; the fields are Price, Available, Requirements
types.yaml:39: [4].offerings[0].zone: unknown field "zone"; the fields are Price, Available, Requirements
types.yaml:39: [4].offerings[0].price: unknown field "price", did you mean Price?
types.yaml:42: [4].offerings[2]: spot in zone-a is offered on line 40 already
types.yaml:44: [5]: want a mapping, not "only a name"`
	if diff := cmp.Diff(want, strings.Join(lines, "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestNoTypes(t *testing.T) {
	for text, want := range map[string]string{
		"":            "types.yaml: the file has no instance types",
		"[]":          "types.yaml:1: the list has no instance types",
		"{types: []}": "types.yaml:1: want a list, not a mapping",
		"[":           "types.yaml:1: not YAML: did not find expected node content",
	} {
		if _, err := instances.Read(t.Context(), []byte(text), "types.yaml"); err == nil || err.Error() != want {
			t.Errorf("%q is refused by %v, want %s", text, err, want)
		}
	}
}

// TestBombs: what is small does not grow.
func TestBombs(t *testing.T) {
	for name, text := range bombs.Texts(200 << 10) {
		t.Run(name, func(t *testing.T) {
			allocated, _ := bombs.Measure(func() {
				if _, err := instances.Read(t.Context(), []byte(text), "bomb"); err == nil {
					t.Error("it is read")
				}
			})
			if allocated > bombs.Slowdown*200<<20 {
				t.Errorf("it took %d MB", allocated>>20)
			}
		})
	}
}

// TestBuiltIn: each type can be had in every zone, on demand and as spot, and KWOK's formula gives its price.
func TestBuiltIn(t *testing.T) {
	c := instances.BuiltIn("z1", "z2")
	if len(c.Types) != 38 || c.Prices != instances.BuiltInPrices {
		t.Errorf("%d types by %v", len(c.Types), c.Prices)
	}
	prices := map[string]float64{}
	gpus := map[string]string{}
	for i, of := range c.Karpenter() {
		if len(of.Offerings.Available()) != 4 {
			t.Errorf("%s has %d offerings", of.Name, len(of.Offerings.Available()))
		}
		if i > 0 && of.Name <= c.Types[i-1].Name {
			t.Errorf("%s comes after %s", of.Name, c.Types[i-1].Name)
		}
		prices[of.Name] = priceOf(of, "z2", karpenter.CapacityTypeSpot)
		if gpu, has := of.Capacity["nvidia.com/gpu"]; has {
			gpus[of.Name] = gpu.String()
		}
	}
	if diff := cmp.Diff(map[string]string{"gpu-1x-amd64-linux": "1", "gpu-8x-amd64-linux": "8"}, gpus); diff != "" {
		t.Error(diff)
	}
	// Karpenter's own list has this price for c-16x-amd64-linux as spot.
	if got, want := prices["c-16x-amd64-linux"], 0.30405181685759997; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("c-16x-amd64-linux costs %v as spot, want %v", got, want)
	}
}

func priceOf(of *cloudprovider.InstanceType, zone, capacityType string) float64 {
	price, _ := of.OfferingPrice(zone, capacityType)
	return price
}

// TestPriceOfALabel: what a node says of its price counts more than its type, unless it says nonsense.
func TestPriceOfALabel(t *testing.T) {
	c := instances.BuiltIn("zone-a")
	typed := map[string]string{"node.kubernetes.io/instance-type": "c-2x-amd64-linux", "topology.kubernetes.io/zone": "zone-a", "karpenter.sh/capacity-type": "on-demand"}
	usual, known := c.Price(typed)
	if !known {
		t.Fatal("the type has no price")
	}
	for label, want := range map[string]float64{"0.5": 0.5, "0": usual, "-1": usual, "NaN": usual, "+Inf": usual, "cheap": usual} {
		labels := maps.Clone(typed)
		labels[objects.LabelPrice] = label
		if got, known := c.Price(labels); !known || got != want {
			t.Errorf("with the label %s: %v %v, want %v", label, got, known, want)
		}
	}
	if got, known := c.Price(map[string]string{objects.LabelPrice: "1.25"}); !known || got != 1.25 {
		t.Errorf("a node of no known type: %v %v", got, known)
	}
}
