package podrequest

import (
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// Amounts returns the amounts of a list by resource: cores of CPU, bytes, or a number.
func Amounts(list v1.ResourceList) map[string]float64 {
	out := make(map[string]float64, len(list))
	for name, amount := range list {
		out[string(name)] = amount.AsApproximateFloat64()
	}
	return out
}

// Fragmentation returns which share of the free CPU lies on nodes that lack room for a large pod:
// one that requests as much CPU, and as much memory, as nine in ten of the pods that request any.
// It is nil where no CPU is free, or no pod requests CPU. The amounts are those of Amounts; free
// ones may be negative.
func Fragmentation(free, requests []map[string]float64) *float64 {
	cpu, memory := large(requests, v1.ResourceCPU), large(requests, v1.ResourceMemory)
	if cpu == 0 {
		return nil
	}
	all, useless := 0.0, 0.0
	for _, node := range free {
		left := max(0, node[string(v1.ResourceCPU)])
		all += left
		if lacks(left, cpu) || lacks(node[string(v1.ResourceMemory)], memory) {
			useless += left
		}
	}
	if all == 0 {
		return nil
	}
	share := useless / all
	return &share
}

// Sums of fractions of a core are not exact.
func lacks(left, wanted float64) bool { return wanted-left > 1e-6*wanted }

func large(requests []map[string]float64, name v1.ResourceName) float64 {
	var all []float64
	for _, r := range requests {
		if amount := r[string(name)]; amount > 0 {
			all = append(all, amount)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[int(math.Ceil(0.9*float64(len(all))))-1]
}
