package recorder

import (
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/cpu"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/result"
)

// profile holds what the recorder knows about one scheduling profile.
type profile struct {
	name string
	// Plugins in running order.
	preEnqueueOrder, preFilterOrder, filterPlugins, scorePlugins, permitOrder, preBindOrder []string
	weights                                                                                 map[string]int64
	// The lists are complete before the scheduler starts.
	filterSamplers, scoreSamplers []*sampler
	// nearest hold the rejections of the Filter plugins that are compared.
	nearest []*nearest
	// compared is scratch of the scheduling goroutine.
	compared []result.Comparison
	scorers  []scorer
	// percentageOfNodesToScore is the profile's effective value; 0 means adaptive.
	percentageOfNodesToScore int32
	// stopsAtOne: the search ends with the first feasible node.
	stopsAtOne bool
}

// percentageOfNodesToScore applies to profiles without their own.
func (p *profile) learn(f framework.Framework, percentageOfNodesToScore *int32) {
	plugins := f.ListPlugins()
	p.preEnqueueOrder = namesOf(plugins.PreEnqueue)
	p.preFilterOrder = namesOf(plugins.PreFilter)
	p.filterPlugins = namesOf(plugins.Filter)
	p.permitOrder = namesOf(plugins.Permit)
	p.preBindOrder = namesOf(plugins.PreBind)
	p.stopsAtOne = upstream.StopsAtOne(f)
	p.weights = map[string]int64{}
	for _, pl := range plugins.Score.Enabled {
		p.scorePlugins = append(p.scorePlugins, pl.Name)
		p.weights[pl.Name] = int64(pl.Weight)
	}
	if own := f.PercentageOfNodesToScore(); own != nil {
		percentageOfNodesToScore = own
	}
	p.percentageOfNodesToScore = ptr.Deref(percentageOfNodesToScore, 0)
}

func namesOf(set config.PluginSet) []string {
	var out []string
	for _, plugin := range set.Enabled {
		out = append(out, plugin.Name)
	}
	return out
}

// ordered sorts results by a configured order: the scheduler calls PreEnqueue plugins in no
// particular order, and some PreBind plugins in parallel.
func (p *profile) ordered(results []result.PluginResult, order []string) []result.PluginResult {
	out := slices.Clone(results)
	slices.SortStableFunc(out, func(a, b result.PluginResult) int {
		return slices.Index(order, a.Plugin) - slices.Index(order, b.Plugin)
	})
	return out
}

// Reading the clock twice around each Filter and Score call would cost more than many
// of the calls, so only some are timed: all of them in a small cluster, otherwise
// those for nodes whose generation is a multiple of 16, or of 64 in a cluster of
// sampleLess nodes or more. One counter numbers the generations of all nodes, so the
// sample has no bias.
const (
	sampleAllBelow = 64
	sampleLess     = 256
	sampleMask     = 15
	sampleLessMask = 63
)

// sampler times the sampled calls of one plugin in the current cycle.
type sampler struct {
	plugin string
	mask   int64
	// Workers read mask at every call and sometimes write the totals, which must not evict mask
	// from the other processors' caches.
	_            cpu.CacheLinePad
	nanos, calls atomic.Int64
}

func (s *sampler) wants(generation int64) bool { return generation&s.mask == 0 }

func (s *sampler) add(took time.Duration) {
	s.nanos.Add(int64(took))
	s.calls.Add(1)
}

// beginSampling prepares for a cycle over n nodes. Call it while no plugin runs.
func (p *profile) beginSampling(n int) {
	mask := int64(sampleMask)
	switch {
	case n < sampleAllBelow:
		mask = 0
	case n >= sampleLess:
		mask = sampleLessMask
	}
	for _, samplers := range [][]*sampler{p.filterSamplers, p.scoreSamplers} {
		for _, s := range samplers {
			s.mask = mask
			s.nanos.Store(0)
			s.calls.Store(0)
		}
	}
	for _, n := range p.nearest {
		n.reset()
	}
}

// samples are the totals of a cycle, by plugin. There are few plugins, so searching the
// list is cheaper than making a map.
type samples []sample

type sample struct {
	plugin string
	took   time.Duration
	calls  int64
}

func readSamples(samplers []*sampler) samples {
	out := make(samples, 0, len(samplers))
	for _, s := range samplers {
		if calls := s.calls.Load(); calls > 0 {
			out = append(out, sample{plugin: s.plugin, took: time.Duration(s.nanos.Load()), calls: calls})
		}
	}
	return out
}

// extrapolate estimates the time of all calls from the sampled ones; nil for a plugin without any.
func (s samples) extrapolate(plugins []string, calls []int) []*float64 {
	out := make([]*float64, len(plugins))
	for p, name := range plugins {
		if at := slices.IndexFunc(s, func(s sample) bool { return s.plugin == name }); at >= 0 {
			estimate := s[at].took.Seconds() / float64(s[at].calls) * float64(calls[p])
			out[p] = &estimate
		}
	}
	return out
}
