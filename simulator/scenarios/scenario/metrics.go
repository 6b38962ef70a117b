package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"kube-scheduler-simulator/scheduler/podrequest"
)

type Metric struct {
	Name string
	// After is the name of the step after which it is evaluated; empty means the end of the run.
	After   string
	program *program
}

func (r *run) values(step string) error {
	for _, m := range r.options.Metrics {
		if m.After == "" || m.After != step {
			continue
		}
		if err := r.value(m); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) value(m *Metric) error {
	value, err := r.evaluate(m.program)
	if err != nil {
		return fmt.Errorf("metric %s: %w", m.Name, err)
	}
	if r.result.Values == nil {
		r.result.Values = map[string]float64{}
	}
	r.result.Values[m.Name] = number(value)
	return nil
}

// A duration counts in seconds, and true as 1.
func number(value ref.Val) float64 {
	switch v := value.(type) {
	case types.Int:
		return float64(v)
	case types.Uint:
		return float64(v)
	case types.Double:
		return float64(v)
	case types.Duration:
		return v.Seconds()
	case types.Bool:
		if v {
			return 1
		}
	}
	return 0
}

func (r *run) measure() error {
	v, err := r.look()
	if err != nil {
		return err
	}
	for _, m := range r.options.Metrics {
		if m.After == "" {
			if err := r.value(m); err != nil {
				return err
			}
		}
	}
	r.result.Metrics = v.metrics()
	r.result.Autoscaling = r.autoscaling()
	r.result.Metrics.measureCosts(r.costs(), r.result.Autoscaling != nil)
	r.result.Metrics.Preemptions = len(r.victims)
	if p, ok := r.cluster.(Pricer); ok && r.options.Gap {
		if r.result.Metrics.Gap, err = p.Gap(r.ctx); err != nil {
			return fmt.Errorf("pricing the placement: %w", err)
		}
	}
	if r.options.KeepPods {
		for _, p := range v.pods {
			r.result.Pods = append(r.result.Pods, PlacedPod{
				Namespace: p.Namespace, Name: p.Name, Owner: p.Owner, Node: p.Node, UID: string(p.UID), Attempts: p.Attempts, WaitedSeconds: seconds(p.Waited),
			})
		}
	}
	return nil
}

func (v *view) metrics() Metrics {
	m := Metrics{Pods: len(v.pods), Nodes: len(v.nodes), Allocation: map[string]float64{}, Decisions: len(v.decisions), Fragmentation: v.fragmentation(), Skew: v.skew()}
	var waited []float64
	for _, p := range v.pods {
		if p.Node != "" {
			m.Placed++
		} else {
			m.Pending++
		}
		waited = append(waited, seconds(p.Waited))
	}
	m.Waited = quantiles(waited)
	m.price(v.nodes)
	requested, allocatable := map[string]float64{}, map[string]float64{}
	for _, n := range v.nodes {
		if n.Pods > 0 {
			m.NodesUsed++
		}
		for name, amount := range n.Allocatable {
			allocatable[name] += amount
			requested[name] += n.Requested[name]
		}
	}
	for name, amount := range allocatable {
		if amount > 0 && name != string(v1.ResourcePods) {
			m.Allocation[name] = requested[name] / amount
		}
	}
	return m
}

// price adds what the nodes cost, if any has a price.
func (m *Metrics) price(nodes []*Node) {
	cost, unused, unpriced := 0.0, 0.0, 0
	for _, n := range nodes {
		if n.Price == 0 {
			unpriced++
			continue
		}
		fullest := 0.0
		for name, amount := range n.Allocatable {
			if amount > 0 && name != string(v1.ResourcePods) {
				fullest = max(fullest, n.Requested[name]/amount)
			}
		}
		cost += n.Price
		unused += n.Price * (1 - min(1, fullest))
	}
	if unpriced < len(nodes) {
		m.CostPerHour, m.UnusedPerHour, m.Unpriced = &cost, &unused, unpriced
	}
}

func (v *view) fragmentation() *float64 {
	var free, requests []map[string]float64
	for _, n := range v.nodes {
		left := maps.Clone(n.Allocatable)
		for name, amount := range n.Requested {
			left[name] -= amount
		}
		free = append(free, left)
	}
	for _, p := range v.pods {
		requests = append(requests, p.Requests)
	}
	return podrequest.Fragmentation(free, requests)
}

func (v *view) skew() *int {
	byOwner := map[string][]*Pod{}
	for _, p := range v.pods {
		if p.Owner != "" {
			byOwner[p.Namespace+"/"+p.Owner] = append(byOwner[p.Namespace+"/"+p.Owner], p)
		}
	}
	if len(byOwner) == 0 || len(domains(nil, "zone", v.nodes)) == 0 {
		return nil
	}
	most := 0
	for _, pods := range byOwner {
		most = max(most, skew(domains(pods, "zone", v.nodes)))
	}
	return &most
}

func quantiles(values []float64) Quantiles {
	slices.Sort(values)
	return Quantiles{Median: quantile(values, 0.5), P95: quantile(values, 0.95), Max: quantile(values, 1)}
}

// quantile returns the smallest of the sorted values that a share q does not exceed, or 0.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

func median(values []float64) float64 {
	sorted := slices.SortedFunc(slices.Values(values), cmp.Compare[float64])
	return quantile(sorted, 0.5)
}
