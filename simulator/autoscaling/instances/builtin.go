package instances

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// BuiltInPrices is the source of the prices of BuiltIn. They are examples, and no cloud's: the formula by which Karpenter 1.14.1 of
// 19 August 2026 makes the types of its KWOK provider, which is 0.025 dollars an hour for a CPU, 0.001 for 10^9 bytes of memory, and
// 30 percent off for spot. That formula has no price for a GPU; here one is a dollar an hour.
var BuiltInPrices = Source{From: "example prices by the formula of Karpenter's KWOK provider, 1.14.1", Date: "2026-08-19"}

const (
	perCPU, perGB, perGPU = 0.025, 0.001, 1.0
	spot                  = 0.7
)

// BuiltIn returns a small set of types of Linux, each on demand and as spot in every zone; without zones these are zone-a, zone-b and
// zone-c:
//   - c, s and m with 2, 4 and 8 GiB of memory for each CPU, of 2 to 64 CPUs, for amd64 and arm64;
//   - gpu-1x with 8 CPUs, 32 GiB and one nvidia.com/gpu, and gpu-8x with eight times that, for amd64.
//
// All are available. Their prices are BuiltInPrices.
func BuiltIn(zones ...string) *Catalog {
	if len(zones) == 0 {
		zones = []string{"zone-a", "zone-b", "zone-c"}
	}
	c := &Catalog{Prices: BuiltInPrices, Overhead: DefaultOverhead()}
	for _, family := range []struct {
		name   string
		memory int64 // in GiB per CPU
	}{{"c", 2}, {"s", 4}, {"m", 8}} {
		for _, architecture := range []string{"amd64", "arm64"} {
			for cpus := int64(2); cpus <= 64; cpus *= 2 {
				name := fmt.Sprintf("%s-%dx-%s-linux", family.name, cpus, architecture)
				c.Types = append(c.Types, newType(name, architecture, cpus, family.memory*cpus, 0, zones))
			}
		}
	}
	for _, gpus := range []int64{1, 8} {
		c.Types = append(c.Types, newType(fmt.Sprintf("gpu-%dx-amd64-linux", gpus), "amd64", 8*gpus, 32*gpus, gpus, zones))
	}
	c.sort()
	return c
}

func newType(name, architecture string, cpus, memory, gpus int64, zones []string) Type {
	bytes := memory << 30
	t := Type{Name: name, Architecture: architecture, OperatingSystems: []string{"linux"}, Capacity: v1.ResourceList{
		v1.ResourceCPU:              *resource.NewQuantity(cpus, resource.DecimalSI),
		v1.ResourceMemory:           *resource.NewQuantity(bytes, resource.BinarySI),
		v1.ResourceEphemeralStorage: resource.MustParse("20Gi"),
		v1.ResourcePods:             resource.MustParse(defaultPods),
	}}
	if gpus > 0 {
		t.Capacity["nvidia.com/gpu"] = *resource.NewQuantity(gpus, resource.DecimalSI)
	}
	price := perCPU*float64(cpus) + perGB*float64(bytes)/1e9 + perGPU*float64(gpus)
	for _, zone := range zones {
		t.Offerings = append(t.Offerings,
			Offering{Zone: zone, CapacityType: karpenter.CapacityTypeOnDemand, Price: price, Available: true},
			Offering{Zone: zone, CapacityType: karpenter.CapacityTypeSpot, Price: spot * price, Available: true})
	}
	return t
}
