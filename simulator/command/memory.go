package command

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Most of the memory of a large cluster is caches. By default Go collects garbage when the
// heap has doubled. That makes a large heap take twice its size, and a busy program with a small
// heap collect more than once per second, which costs it a third of its time.
const (
	// busyGrowth is by how many percent the heap of a busy program may grow at most between two collections. A program is busy that has
	// collected within busyFor.
	busyGrowth = 300
	busyFor    = 5 * time.Second
	// growth is how much a large heap may grow between two collections, in percent.
	growth = 50
	// restGrowth replaces growth for a program at rest, which has not collected for
	// restAfter: each collection scans all live objects and frees little. Go
	// collects every two minutes in any case.
	restGrowth = 100
	restAfter  = 30 * time.Second
)

// heapSizes are sizes of the heap in bytes.
type heapSizes struct {
	// quiet is the size up to which Go's default applies, so that a quiet program stays small.
	quiet uint64
	// busy is the size up to which the heap of a busy program may grow between two collections.
	busy uint64
	// every is the interval at which the growth is adjusted to the heap.
	every time.Duration
}

var (
	serverHeap = heapSizes{quiet: 768 << 20, busy: 1280 << 20, every: 2 * time.Second}
	// runHeap keeps a run of 8,000 pods on 1,500 nodes, of which some 90 MB are live, within 300 MB of memory. The program itself takes 100 MB of these. The
	// heap of a run grows within its first second.
	runHeap = heapSizes{quiet: 160 << 20, busy: 160 << 20, every: 50 * time.Millisecond}
)

// balanceMemory lets a large heap grow by at most half of its live size, and a smaller one of a busy program
// up to sizes.busy, until ctx is done.
// GOGC and GOMEMLIMIT in the environment take precedence.
//
// A memory limit would do the same, but it counts the gaps between live objects, too: after a
// large import, a program at rest would collect several times as often for no benefit.
func balanceMemory(ctx context.Context, sizes heapSizes) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	ticker := time.NewTicker(sizes.every)
	defer ticker.Stop()
	var cycles uint64
	var collected time.Time
	for current := 0; ; {
		metrics.Read(samples)
		if n := samples[1].Value.Uint64(); n != cycles {
			cycles, collected = n, time.Now()
		}
		// SetGCPercent stops the world, so call it only when the value changes.
		if wanted := sizes.growthOf(samples[0].Value.Uint64(), time.Since(collected)); wanted != current {
			debug.SetGCPercent(wanted)
			current = wanted
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// growthOf returns by how many percent the heap may grow, in steps of ten. rest is the time since the last collection.
func (s heapSizes) growthOf(live uint64, rest time.Duration) int {
	if rest >= restAfter || live == 0 {
		return restGrowth
	}
	size, most := s.quiet, restGrowth
	if rest < busyFor {
		size, most = s.busy, busyGrowth
	}
	return min(most, max(growth, int(size*100/live)-100)/10*10)
}
