package explain

import (
	"math"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

const maxScore = 100

// resources follows leastResourceScorer, mostResourceScorer and
// buildRequestedToCapacityRatioScorerFunction of NodeResourcesFit.
func (w *work) resources(s *result.ResourceScore) int64 {
	byShape := s.Strategy == result.RequestedToCapacityRatio
	if byShape {
		w.say("shapePoints", "points", points(s.Shape))
	}
	m := &mean{rounded: byShape}
	for i := range s.Resources {
		r := &s.Resources[i]
		can, total := r.Allocatable[w.at], r.InUse[w.at]+r.Requested
		if can == 0 {
			w.leftOut(r)
			continue
		}
		w.defaults(r)
		score, kind := int64(0), "least"
		values := w.allocation(r)
		switch {
		case s.Strategy == result.LeastAllocated && total > can:
			kind = "leastFull"
		case s.Strategy == result.LeastAllocated:
			score = (can - total) * maxScore / can
		case s.Strategy == result.MostAllocated && total > can:
			kind, score = "mostFull", maxScore
		case s.Strategy == result.MostAllocated:
			kind, score = "most", total*maxScore/can
		default:
			var utilization int64
			if kind, utilization = "shapeFull", maxScore; total <= can {
				kind, utilization = "shape", total*maxScore/can
				values = append(values, "utilization", whole(utilization))
			}
			if score = onShape(s.Shape, utilization); score <= 0 {
				w.say("shapeZero", w.allocation(r)...)
				continue
			}
		}
		w.say(kind, append(values, "score", whole(score))...)
		m.add(score, r.Weight)
	}
	return w.mean(m)
}

// leftOut says why a resource does not count.
func (w *work) leftOut(r *result.ScoredResource) {
	if r.Requested == 0 && r.Name != "cpu" && r.Name != "memory" && r.Name != "ephemeral-storage" {
		w.say("notRequested", "resource", r.Name)
		return
	}
	w.say("notOnNode", "resource", r.Name)
}

// defaults says what counts for containers that request nothing.
func (w *work) defaults(r *result.ScoredResource) {
	of := func(n int64) string { return amount(Lack{Resource: r.Name, Amount: n}) }
	if r.Defaults != nil && r.Defaults[w.at] != nil {
		d := r.Defaults[w.at]
		w.say("defaults", "resource", r.Name, "each", defaultRequest[r.Name], "containers", whole(int64(d.Containers)), "pods", someOf(d.Pods, len(d.Pods)+d.PodsDropped),
			"amount", of(d.Amount), "described", of(d.Described))
	}
	if r.Own > 0 {
		w.say("ownDefaults", "resource", r.Name, "each", defaultRequest[r.Name], "containers", whole(int64(r.OwnContainers)), "amount", of(r.Own))
	}
}

// defaultRequest is what a container without a request counts in a score, see
// GetNonzeroRequests in k8s.io/kubernetes/pkg/scheduler/util.
var defaultRequest = map[string]string{"cpu": "100m", "memory": "200Mi"}

func someOf(pods []result.Pod, count int) string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Namespace+"/"+p.Name)
	}
	if len(out) == count && count <= mostNamed {
		return strings.Join(out, ", ")
	}
	out = out[:min(len(out), mostNamed-1)]
	return sprintf("%s, +%d", strings.Join(out, ", "), count-len(out))
}

// allocation has what is in use and what the pod adds.
func (w *work) allocation(r *result.ScoredResource) []string {
	of := func(n int64) string { return amount(Lack{Resource: r.Name, Amount: n}) }
	inUse := r.InUse[w.at]
	return []string{
		"resource", r.Name, "inUse", of(inUse), "pod", of(r.Requested), "total", of(inUse + r.Requested), "allocatable", of(r.Allocatable[w.at]),
	}
}

// onShape follows BuildBrokenLinearFunction.
func onShape(shape []result.ShapePoint, utilization int64) int64 {
	for i, p := range shape {
		switch {
		case utilization > p.Utilization:
		case i == 0:
			return p.Score
		default:
			before := shape[i-1]
			return before.Score + (p.Score-before.Score)*(utilization-before.Utilization)/(p.Utilization-before.Utilization)
		}
	}
	if len(shape) == 0 {
		return 0
	}
	return shape[len(shape)-1].Score
}

func points(shape []result.ShapePoint) string {
	var out []string
	for _, p := range shape {
		out = append(out, sprintf("%d%% → %d", p.Utilization, p.Score))
	}
	return strings.Join(out, ", ")
}

// mean is a weighted mean of whole numbers.
type mean struct {
	rounded       bool
	scores        []int64
	weights       []int64
	total, weight int64
}

func (m *mean) add(score, weight int64) {
	m.scores, m.weights = append(m.scores, score), append(m.weights, weight)
	m.total += score * weight
	m.weight += weight
}

func (w *work) mean(m *mean) int64 {
	if m.weight == 0 {
		w.say("nothingCounts")
		return 0
	}
	raw, kind := m.total/m.weight, "mean"
	switch {
	case len(m.scores) == 1:
		w.say("meanOfOne", "raw", whole(raw))
		return raw
	case m.total%m.weight == 0:
	case m.rounded:
		raw, kind = int64(math.Round(float64(m.total)/float64(m.weight))), "meanRounded"
	default:
		kind = "meanDown"
	}
	w.say(kind, "terms", m.terms(), "raw", whole(raw))
	return raw
}

func (m *mean) terms() string {
	same := true
	for _, weight := range m.weights {
		same = same && weight == 1
	}
	var out []string
	for i, score := range m.scores {
		if same {
			out = append(out, whole(score))
			continue
		}
		out = append(out, sprintf("%d × %d", score, m.weights[i]))
	}
	return sprintf("(%s) / %d", strings.Join(out, " + "), m.weight)
}

// balance follows balancedResourceScorer.
func (w *work) balance(s *result.ResourceScore) int64 {
	var without, with []float64
	for i := range s.Resources {
		r := &s.Resources[i]
		can := r.Allocatable[w.at]
		if can == 0 {
			w.leftOut(r)
			continue
		}
		before, after := fraction(r.InUse[w.at], can), fraction(r.InUse[w.at]+r.Requested, can)
		without, with = append(without, before), append(with, after)
		w.say("share", append(w.allocation(r), "without", decimal(100*before, 1), "with", decimal(100*after, 1))...)
	}
	before, after := balanceOf(without), balanceOf(with)
	w.say("balanceWithout", "deviation", decimal(deviation(without), 4), "score", whole(before))
	w.say("balanceWith", "deviation", decimal(deviation(with), 4), "score", whole(after))
	raw := maxScore/2 + (maxScore/2+after-before)/2
	w.say("balance", "with", whole(after), "without", whole(before), "raw", whole(raw))
	return raw
}

func fraction(n, of int64) float64 { return min(float64(n)/float64(of), 1) }

func balanceOf(fractions []float64) int64 {
	return int64((1 - deviation(fractions)) * float64(maxScore))
}

// deviation follows balancedResourceScore, which computes the standard deviation of two
// fractions without a square root.
func deviation(fractions []float64) float64 {
	switch n := len(fractions); n {
	case 0, 1:
		return 0
	case 2:
		return math.Abs((fractions[0] - fractions[1]) / 2)
	default:
		var total, squares float64
		for _, f := range fractions {
			total += f
		}
		average := total / float64(n)
		for _, f := range fractions {
			squares += (f - average) * (f - average)
		}
		return math.Sqrt(squares / float64(n))
	}
}

// volumes follows buildScorerFunction of VolumeBinding.
func (w *work) volumes(s *result.VolumeScore) int64 {
	m := &mean{rounded: true}
	for _, c := range s.Classes {
		requested, capacity := c.Requested[w.at], c.Capacity[w.at]
		if requested == 0 && capacity == 0 {
			continue
		}
		if len(m.scores) == 0 {
			w.say("shapePoints", "points", points(s.Shape))
		}
		values := []string{"class", c.StorageClass, "requested", ofBytes(requested), "capacity", ofBytes(capacity)}
		kind, utilization := "classFull", int64(maxScore)
		if capacity > 0 && requested <= capacity {
			kind, utilization = "class", requested*maxScore/capacity
			values = append(values, "utilization", whole(utilization))
		}
		score := onShape(s.Shape, utilization)
		w.say(kind, append(values, "score", whole(score))...)
		m.add(score, 1)
	}
	return w.mean(m)
}

func ofBytes(n int64) string { return amount(Lack{Resource: "memory", Amount: n}) }
