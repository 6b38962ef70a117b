package perf

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics/legacyregistry"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Names of measurements. The others are those of the scheduler's histograms.
const (
	throughput = "SchedulingThroughput"
	durationOf = "SchedulingDuration"
)

// defaultMetrics are the histograms that are reported unless the test case says otherwise: those of
// scheduler_perf that have something to say about a run.
var defaultMetrics = map[string][]label{
	"scheduler_scheduling_attempt_duration_seconds":            {{"result", []string{"scheduled", "unschedulable", "error"}}},
	"scheduler_framework_extension_point_duration_seconds":     {{"extension_point", nil}},
	"scheduler_plugin_execution_duration_seconds":              {{"plugin", nil}, {"extension_point", nil}},
	"scheduler_podgroup_scheduling_attempt_duration_seconds":   {{"result", nil}},
	"scheduler_podgroup_scheduling_algorithm_duration_seconds": nil,
}

// collection is a phase that is measured.
type collection struct {
	load       *load
	name       string
	namespaces []string
	labels     labels
	before     map[string]*dto.MetricFamily
	// began is the real time, and spent that of the cluster's work.
	began time.Time
	spent time.Duration
	// base counts the pods that had a node before.
	base int
	// points are how many pods have got a node by when.
	points []point
}

type point struct {
	at    time.Duration
	count int
}

// collect begins a phase.
func (r *run) collect(w *load, name string, namespaces []string, labels labels) error {
	if r.collection != nil {
		return fmt.Errorf("the phase %q is still measured", r.collection.name)
	}
	before, err := families()
	if err != nil {
		return err
	}
	r.collection = &collection{load: w, name: name, namespaces: namespaces, labels: labels, before: before, began: time.Now(), spent: r.spent, base: -1}
	return nil
}

// sample notes how many pods have a node. Looking does not count as work.
func (r *run) sample() error {
	c := r.collection
	if c == nil || r.isReal() {
		return nil
	}
	count, _, err := r.scheduled(c.namespaces, c.labels)
	if err != nil {
		return err
	}
	c.points = append(c.points, point{r.spent - c.spent, count})
	return nil
}

// stop ends a phase.
func (r *run) stop() error {
	c := r.collection
	if c == nil {
		return fmt.Errorf("no phase is measured")
	}
	if err := r.sample(); err != nil {
		return err
	}
	r.collection = nil
	took := r.spent - c.spent
	if r.isReal() {
		took = time.Since(c.began)
		c.points = r.decidedSince(c)
	}
	name := c.load.name
	if c.name != "" {
		name += "/" + c.name
	}
	labels := func(metric string, more map[string]string) map[string]string {
		out := map[string]string{"Name": name, "Metric": metric}
		maps.Copy(out, more)
		return out
	}
	var items []scenario.Measurement
	if samples := samples(c.points, took); len(samples) > 0 {
		items = append(items, scenario.Measurement{Data: quantiles(samples), Unit: "pods/s", Labels: labels(throughput, nil)})
	}
	items = append(items, scenario.Measurement{Data: map[string]float64{"Duration": took.Seconds()}, Unit: "s", Labels: labels(durationOf, nil)})
	after, err := families()
	if err != nil {
		return err
	}
	metrics := defaultMetrics
	if c.load.kase.MetricsCollectorConfig != nil {
		metrics = c.load.kase.MetricsCollectorConfig.metrics
	}
	for _, metric := range slices.Sorted(maps.Keys(metrics)) {
		for _, h := range histograms(c.before[metric], after[metric], metrics[metric]) {
			if h.labels["extension_point"] == "PreEnqueue" && !r.isReal() {
				continue // the queue measures it by the cluster's clock
			}
			items = append(items, scenario.Measurement{Data: h.quantiles(), Unit: "ms", Labels: labels(metric, h.labels)})
		}
	}
	r.Measured(items...)
	return r.threshold(c.load, items)
}

// decidedSince returns when pods got their node, for a cluster in real time.
func (r *run) decidedSince(c *collection) []point {
	var ends []time.Duration
	for _, s := range r.Summaries() {
		at := s.StartTime.Add(time.Duration(s.DurationSeconds * float64(time.Second)))
		if s.Outcome == result.Scheduled && at.After(c.began) && slices.Contains(c.namespaces, s.Pod.Namespace) {
			ends = append(ends, at.Sub(c.began))
		}
	}
	slices.Sort(ends)
	out := make([]point, len(ends))
	for i, at := range ends {
		out[i] = point{at, i + 1}
	}
	return out
}

const (
	// interval is between two samples of the throughput. A phase of less than least of them is cut
	// into so many.
	interval = time.Second
	least    = 10
)

// samples returns the throughputs, in pods per second, of equal parts of the phase in which at
// least one pod got a node.
func samples(points []point, took time.Duration) []float64 {
	if len(points) == 0 || took <= 0 {
		return nil
	}
	interval := min(interval, took/least)
	if interval <= 0 {
		return nil
	}
	// countAt is between two points what a steady rate gives.
	countAt := func(at time.Duration) float64 {
		i, exact := slices.BinarySearchFunc(points, at, func(p point, at time.Duration) int { return cmp.Compare(p.at, at) })
		var before point
		if i > 0 {
			before = points[i-1]
		}
		switch {
		case exact:
			for i+1 < len(points) && points[i+1].at == at {
				i++
			}
			return float64(points[i].count)
		case i == len(points):
			return float64(before.count)
		}
		share := float64(at-before.at) / float64(points[i].at-before.at)
		return float64(before.count) + share*float64(points[i].count-before.count)
	}
	var out []float64
	last, skipped := countAt(0), 0
	for at := interval; at <= took; at += interval {
		skipped++
		count := countAt(at)
		if count <= last {
			last = min(last, count) // pods were deleted
			continue
		}
		for range skipped {
			out = append(out, (count-last)/(interval.Seconds()*float64(skipped)))
		}
		last, skipped = count, 0
	}
	return out
}

// quantiles returns the buckets of samples.
func quantiles(samples []float64) map[string]float64 {
	sorted := slices.Sorted(slices.Values(samples))
	sum := 0.0
	for _, s := range sorted {
		sum += s
	}
	out := map[string]float64{"Average": sum / float64(len(sorted))}
	for _, percent := range []int{50, 90, 95, 99} {
		out[fmt.Sprintf("Perc%d", percent)] = sorted[int(math.Ceil(float64(len(sorted)*percent)/100))-1]
	}
	return out
}

// families returns the scheduler's metrics.
func families() (map[string]*dto.MetricFamily, error) {
	all, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		return nil, fmt.Errorf("reading the scheduler's metrics: %w", err)
	}
	out := map[string]*dto.MetricFamily{}
	for _, family := range all {
		out[family.GetName()] = family
	}
	return out, nil
}

// histogram is what a histogram has counted in a phase.
type histogram struct {
	labels map[string]string
	count  uint64
	sum    float64
	// upTo are the bounds of the buckets, and counts the observations up to each.
	upTo   []float64
	counts []uint64
}

// histograms returns the histograms of the values of labels, without those that have counted
// nothing. Without labels it returns their sum.
func histograms(before, after *dto.MetricFamily, labels []label) []histogram {
	sums := map[string]*histogram{}
	add := func(family *dto.MetricFamily, sign int) {
		for _, m := range family.GetMetric() {
			h := m.GetHistogram()
			chosen, key, wanted := map[string]string{}, "", h != nil
			for _, label := range labels {
				for _, pair := range m.GetLabel() {
					if pair.GetName() == label.Label {
						chosen[label.Label] = pair.GetValue()
						wanted = wanted && (label.Values == nil || slices.Contains(label.Values, pair.GetValue()))
					}
				}
				key += chosen[label.Label] + "\x00"
			}
			if !wanted {
				continue
			}
			sum := sums[key]
			if sum == nil {
				sum = &histogram{labels: chosen}
				sums[key] = sum
			}
			sum.add(h, sign)
		}
	}
	add(after, 1)
	add(before, -1)
	var out []histogram
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		if sums[key].count > 0 {
			out = append(out, *sums[key])
		}
	}
	return out
}

func (p *histogram) add(h *dto.Histogram, sign int) {
	p.count += uint64(sign) * h.GetSampleCount()
	p.sum += float64(sign) * h.GetSampleSum()
	for _, b := range h.GetBucket() {
		i, known := slices.BinarySearch(p.upTo, b.GetUpperBound())
		if !known {
			p.upTo, p.counts = slices.Insert(p.upTo, i, b.GetUpperBound()), slices.Insert(p.counts, i, 0)
		}
		p.counts[i] += uint64(sign) * b.GetCumulativeCount()
	}
}

// quantiles returns the buckets of a histogram in milliseconds. Within a bucket the observations
// count as evenly spread.
func (p *histogram) quantiles() map[string]float64 {
	out := map[string]float64{"Average": 1000 * p.sum / float64(p.count)}
	for _, percent := range []int{50, 90, 95, 99} {
		rank := float64(percent) / 100 * float64(p.count)
		value, from, below := math.NaN(), 0.0, uint64(0)
		for i, bound := range p.upTo {
			if float64(p.counts[i]) >= rank {
				value = bound
				if !math.IsInf(bound, 1) && p.counts[i] > below {
					value = from + (bound-from)*(rank-float64(below))/float64(p.counts[i]-below)
				}
				break
			}
			if !math.IsInf(bound, 1) {
				from = bound
			}
			below = p.counts[i]
		}
		if math.IsNaN(value) || math.IsInf(value, 1) {
			value = from // beyond the last bound
		}
		out[fmt.Sprintf("Perc%d", percent)] = 1000 * value
	}
	return out
}

// threshold compares a measurement with the threshold of the workload.
func (r *run) threshold(w *load, items []scenario.Measurement) error {
	if w.threshold == 0 {
		return nil
	}
	s := w.selector
	for _, item := range items {
		if item.Labels["Metric"] != s.Name || !labels(s.labels).match(item.Labels) {
			continue
		}
		item.Data[s.DataBucket+"Threshold"] = w.threshold
		got, measured := item.Data[s.DataBucket]
		switch {
		case !measured:
			return &scenario.UnmetError{Message: fmt.Sprintf("%s has no %s to compare with the threshold", s.Name, s.DataBucket)}
		case s.ExpectLower && got >= w.threshold:
			return &scenario.UnmetError{Message: fmt.Sprintf("%s %s is %.1f, and the threshold is less than %.1f %s", s.Name, s.DataBucket, got, w.threshold, item.Unit)}
		case !s.ExpectLower && got <= w.threshold:
			return &scenario.UnmetError{Message: fmt.Sprintf("%s %s is %.1f, and the threshold is more than %.1f %s", s.Name, s.DataBucket, got, w.threshold, item.Unit)}
		}
	}
	return nil
}
