package noderesourcetopology

import (
	"math"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
)

// The strategies by which nodes are scored.
const (
	MostAllocated      = "MostAllocated"
	BalancedAllocation = "BalancedAllocation"
	LeastAllocated     = "LeastAllocated"
	LeastNUMANodes     = "LeastNUMANodes"
)

type zoneScorer func(z *zone, wants []want) int64

// zoneScorer returns nil for LeastNUMANodes, which does not score single zones.
func (s *ScoringStrategy) zoneScorer() zoneScorer {
	switch s.Type {
	case MostAllocated:
		return s.weighted(func(available, requested int64) int64 { return percent(requested, available) })
	case LeastAllocated:
		return s.weighted(func(available, requested int64) int64 { return percent(available-requested, available) })
	case BalancedAllocation:
		return balanced
	}
	return nil
}

// weighted averages the scores of all requested resources. A resource that does not fit scores 0.
// Exact amounts decide whether it fits; scores are of whole units.
func (s *ScoringStrategy) weighted(score func(available, requested int64) int64) zoneScorer {
	weights := map[v1.ResourceName]int64{}
	for _, r := range s.Resources {
		weights[v1.ResourceName(r.Name)] = r.Weight
	}
	return func(z *zone, wants []want) int64 {
		var total, weight int64
		for _, w := range wants {
			n := max(1, weights[w.name])
			weight += n
			if available := z.available[w.name]; available > 0 && w.amount <= available {
				total += n * score(whole(w.name, available), whole(w.name, w.amount))
			}
		}
		if weight == 0 {
			return 0
		}
		return total / weight
	}
}

// percent returns how much of all a part is. Neither is negative, and all is not 0.
func percent(part, all int64) int64 {
	if part > math.MaxInt64/fwk.MaxScore {
		return part / (all / fwk.MaxScore)
	}
	return part * fwk.MaxScore / all
}

// whole returns an amount in whole units, rounded up: half a CPU counts as one.
func whole(name v1.ResourceName, amount int64) int64 {
	if name != v1.ResourceCPU {
		return amount
	}
	cpus := amount / 1000
	if amount > cpus*1000 {
		cpus++
	}
	return cpus
}

// balanced is higher the more evenly a zone's resources would be used: 100 less the sample
// variance of the shares, as a part of 100.
func balanced(z *zone, wants []want) int64 {
	shares, mean := make([]float64, 0, len(wants)), 0.0
	for _, w := range wants {
		share := 1.0
		if available := whole(w.name, z.available[w.name]); available > 0 {
			share = float64(whole(w.name, w.amount)) / float64(available)
		}
		if share > 1 {
			return 0
		}
		shares = append(shares, share)
		mean += share
	}
	if len(shares) < 2 {
		return fwk.MaxScore
	}
	mean /= float64(len(shares))
	variance := 0.0
	for _, share := range shares {
		variance += (share - mean) * (share - mean)
	}
	variance /= float64(len(shares) - 1)
	return int64(math.Floor((1 - variance) * float64(fwk.MaxScore)))
}

// score returns a node's score for a Guaranteed pod with single-numa-node: the lowest score above 0
// of its zones, because the kubelet chooses the zone. In the scope container it is the mean of all
// containers, each scored on the unchanged zones.
func (l *layout) score(r *request, scorer zoneScorer) int64 {
	if l.scope == v1alpha2.ScopePod {
		return l.lowest(r.whole.wants, scorer)
	}
	var total int64
	for i := range r.parts {
		total += l.lowest(r.parts[i].wants, scorer)
	}
	return total / int64(max(1, len(r.parts)))
}

func (l *layout) lowest(wants []want, scorer zoneScorer) int64 {
	var lowest int64
	for i := range l.zones {
		if score := scorer(&l.zones[i], wants); score != 0 && (lowest == 0 || score < lowest) {
			lowest = score
		}
	}
	return lowest
}

// leastNUMANodes scores a node by the number of zones that the pod needs, with a bonus if no other
// set of that size is nearer to each other.
func (l *layout) leastNUMANodes(r *request) int64 {
	parts := r.parts
	if l.scope == v1alpha2.ScopePod {
		parts = []part{r.whole}
	}
	left, most, nearest := copied(l.zones), 0, true
	for i := range parts {
		if !l.listsAny(parts[i].wants) {
			continue
		}
		set, minimal := l.fewest(left, parts[i].wants)
		if set == nil {
			return fwk.MinScore
		}
		most, nearest = max(most, len(set)), nearest && minimal
		for _, w := range parts[i].wants {
			rest := w.amount
			for _, at := range set {
				taken := min(rest, left[at].available[w.name])
				left[at].available[w.name] -= taken
				rest -= taken
			}
		}
	}
	if most == 0 {
		return fwk.MaxScore
	}
	step := fwk.MaxScore / int64(l.maxNUMANodes)
	score := fwk.MaxScore - int64(most)*step
	if nearest {
		score += step / 2
	}
	return max(fwk.MinScore, score)
}

func (l *layout) listsAny(wants []want) bool {
	for _, w := range wants {
		if l.lists(w.name) {
			return true
		}
	}
	return false
}

// mostSets bounds the sets of zones that fewest looks at. It suffices for all sets of twelve
// zones.
const mostSets = 1 << 12

// noCost is the distance between zones for which the node gives none.
const noCost = 255

// fewest returns the indexes of the fewest zones that together have everything; nil if there are
// none. Each must list every resource. Of several sets of one size it returns the nearest, then the
// first. minimal: no set of that size is nearer, even without enough.
func (l *layout) fewest(zones []zone, wants []want) (set []int, minimal bool) {
	seen := 0
	for size := 1; size <= len(zones) && set == nil; size++ {
		shortest, best := int64(math.MaxInt64), int64(math.MaxInt64)
		combinations(len(zones), size, func(candidate []int) bool {
			seen++
			distance := distanceIn(zones, candidate)
			shortest = min(shortest, distance)
			if distance < best && together(zones, candidate, wants) {
				set, best = append([]int(nil), candidate...), distance
			}
			return seen < mostSets
		})
		minimal = best == shortest
		if seen >= mostSets {
			break
		}
	}
	return set, minimal
}

// combinations calls visit for each combination of size of the numbers below n, in order,
// until visit returns false. The argument is valid during the call.
func combinations(n, size int, visit func([]int) bool) {
	chosen := make([]int, 0, size)
	var extend func(from int) bool
	extend = func(from int) bool {
		if len(chosen) == size {
			return visit(chosen)
		}
		for i := from; i <= n-(size-len(chosen)); i++ {
			chosen = append(chosen, i)
			if !extend(i + 1) {
				return false
			}
			chosen = chosen[:len(chosen)-1]
		}
		return true
	}
	extend(0)
}

// distanceIn adds up the costs between all zones of a set, including those to themselves.
func distanceIn(zones []zone, set []int) (sum int64) {
	for _, from := range set {
		for _, to := range set {
			cost, known := zones[from].costs[zones[to].id]
			if !known {
				cost = noCost
			}
			sum += cost
		}
	}
	return sum
}

// together reports whether every zone of a set lists every resource, and all of them have
// enough of it.
func together(zones []zone, set []int, wants []want) bool {
	for _, w := range wants {
		var available int64
		for _, at := range set {
			n, listed := zones[at].available[w.name]
			if !listed {
				return false
			}
			available += n
		}
		if available < w.amount {
			return false
		}
	}
	return true
}
