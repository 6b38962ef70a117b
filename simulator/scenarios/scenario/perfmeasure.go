package scenario

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
)

// Measurement is a data item of scheduler_perf.
type Measurement struct {
	// Data has values by bucket: Average, Perc50, Perc90, Perc95 and Perc99, or Duration.
	Data map[string]float64 `json:"data"`
	Unit string             `json:"unit"`
	// Labels tell the measurement: Metric, Name, and those of a histogram.
	Labels map[string]string `json:"labels"`
}

// Names of measurements. The others are those of the scheduler's histograms.
const (
	perfThroughput = "SchedulingThroughput"
	perfDurationOf = "SchedulingDuration"
)

// perfDefaultMetrics are the histograms that are reported unless the test case says otherwise: those of scheduler_perf that have something to say
// about a run.
var perfDefaultMetrics = map[string][]perfLabel{
	"scheduler_scheduling_attempt_duration_seconds":            {{"result", []string{"scheduled", "unschedulable", "error"}}},
	"scheduler_framework_extension_point_duration_seconds":     {{"extension_point", nil}},
	"scheduler_plugin_execution_duration_seconds":              {{"plugin", nil}, {"extension_point", nil}},
	"scheduler_podgroup_scheduling_attempt_duration_seconds":   {{"result", nil}},
	"scheduler_podgroup_scheduling_algorithm_duration_seconds": nil,
}

// perfCollection is a phase that is measured.
type perfCollection struct {
	load       *perfLoad
	name       string
	namespaces []string
	labels     perfLabels
	before     map[string]*dto.MetricFamily
	// began is the real time, and spent that of the cluster's work.
	began time.Time
	spent time.Duration
	// base counts the pods that had a node before.
	base int
	// points are how many pods have got a node by when.
	points []perfPoint
}

type perfPoint struct {
	at    time.Duration
	count int
}

// collect begins a phase.
func (p *perfRun) collect(w *perfLoad, name string, namespaces []string, labels perfLabels) error {
	if p.collection != nil {
		return fmt.Errorf("the phase %q is still measured", p.collection.name)
	}
	before, err := perfFamilies()
	if err != nil {
		return err
	}
	p.collection = &perfCollection{load: w, name: name, namespaces: namespaces, labels: labels, before: before, began: time.Now(), spent: p.spent, base: -1}
	return nil
}

// sample notes how many pods have a node. Looking does not count as work.
func (p *perfRun) sample(r *run) error {
	c := p.collection
	if c == nil || p.isReal(r) {
		return nil
	}
	count, _, err := p.scheduled(r, c.namespaces, c.labels)
	if err != nil {
		return err
	}
	c.points = append(c.points, perfPoint{p.spent - c.spent, count})
	return nil
}

// stop ends a phase.
func (p *perfRun) stop(r *run) error {
	c := p.collection
	if c == nil {
		return fmt.Errorf("no phase is measured")
	}
	if err := p.sample(r); err != nil {
		return err
	}
	p.collection = nil
	took := p.spent - c.spent
	if p.isReal(r) {
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
	var items []Measurement
	if samples := perfSamples(c.points, took); len(samples) > 0 {
		items = append(items, Measurement{perfQuantiles(samples), "pods/s", labels(perfThroughput, nil)})
	}
	items = append(items, Measurement{map[string]float64{"Duration": took.Seconds()}, "s", labels(perfDurationOf, nil)})
	after, err := perfFamilies()
	if err != nil {
		return err
	}
	metrics := perfDefaultMetrics
	if c.load.kase.MetricsCollectorConfig != nil {
		metrics = c.load.kase.MetricsCollectorConfig.metrics
	}
	for _, metric := range slices.Sorted(maps.Keys(metrics)) {
		for _, h := range perfHistograms(c.before[metric], after[metric], metrics[metric]) {
			if h.labels["extension_point"] == "PreEnqueue" && !p.isReal(r) {
				continue // the queue measures it by the cluster's clock
			}
			items = append(items, Measurement{h.quantiles(), "ms", labels(metric, h.labels)})
		}
	}
	r.result.Measurements = append(r.result.Measurements, items...)
	return p.threshold(c.load, items)
}

// decidedSince returns when pods got their node, for a cluster in real time.
func (r *run) decidedSince(c *perfCollection) []perfPoint {
	var ends []time.Duration
	for _, s := range r.summaries {
		at := s.StartTime.Add(time.Duration(s.DurationSeconds * float64(time.Second)))
		if s.Outcome == result.Scheduled && at.After(c.began) && slices.Contains(c.namespaces, s.Pod.Namespace) {
			ends = append(ends, at.Sub(c.began))
		}
	}
	slices.Sort(ends)
	out := make([]perfPoint, len(ends))
	for i, at := range ends {
		out[i] = perfPoint{at, i + 1}
	}
	return out
}

const (
	// perfInterval is between two samples of the throughput. A phase of less than perfLeast of them is cut into so many.
	perfInterval = time.Second
	perfLeast    = 10
)

// perfSamples returns the throughputs, in pods per second, of equal parts of the phase in which at least one pod got a node.
func perfSamples(points []perfPoint, took time.Duration) []float64 {
	if len(points) == 0 || took <= 0 {
		return nil
	}
	interval := min(perfInterval, took/perfLeast)
	if interval <= 0 {
		return nil
	}
	// countAt is between two points what a steady rate gives.
	countAt := func(at time.Duration) float64 {
		i, exact := slices.BinarySearchFunc(points, at, func(p perfPoint, at time.Duration) int { return cmp.Compare(p.at, at) })
		var before perfPoint
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

// perfQuantiles returns the buckets of samples.
func perfQuantiles(samples []float64) map[string]float64 {
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

// perfFamilies returns the scheduler's metrics.
func perfFamilies() (map[string]*dto.MetricFamily, error) {
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

// perfHistogram is what a histogram has counted in a phase.
type perfHistogram struct {
	labels map[string]string
	count  uint64
	sum    float64
	// upTo are the bounds of the buckets, and counts the observations up to each.
	upTo   []float64
	counts []uint64
}

// perfHistograms returns the histograms of the values of labels, without those that have counted nothing. Without labels it returns their sum.
func perfHistograms(before, after *dto.MetricFamily, labels []perfLabel) []perfHistogram {
	sums := map[string]*perfHistogram{}
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
				sum = &perfHistogram{labels: chosen}
				sums[key] = sum
			}
			sum.add(h, sign)
		}
	}
	add(after, 1)
	add(before, -1)
	var out []perfHistogram
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		if sums[key].count > 0 {
			out = append(out, *sums[key])
		}
	}
	return out
}

func (p *perfHistogram) add(h *dto.Histogram, sign int) {
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

// quantiles returns the buckets of a histogram in milliseconds. Within a bucket the observations count as evenly spread.
func (p *perfHistogram) quantiles() map[string]float64 {
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
func (p *perfRun) threshold(w *perfLoad, items []Measurement) error {
	if w.threshold == 0 {
		return nil
	}
	s := w.selector
	for _, item := range items {
		if item.Labels["Metric"] != s.Name || !perfLabels(s.labels).match(item.Labels) {
			continue
		}
		item.Data[s.DataBucket+"Threshold"] = w.threshold
		got, measured := item.Data[s.DataBucket]
		switch {
		case !measured:
			return &waitError{fmt.Sprintf("%s has no %s to compare with the threshold", s.Name, s.DataBucket)}
		case s.ExpectLower && got >= w.threshold:
			return &waitError{fmt.Sprintf("%s %s is %.1f, and the threshold is less than %.1f %s", s.Name, s.DataBucket, got, w.threshold, item.Unit)}
		case !s.ExpectLower && got <= w.threshold:
			return &waitError{fmt.Sprintf("%s %s is %.1f, and the threshold is more than %.1f %s", s.Name, s.DataBucket, got, w.threshold, item.Unit)}
		}
	}
	return nil
}
