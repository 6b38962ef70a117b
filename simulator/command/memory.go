package command

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Much of what a large cluster takes is caches. Collecting garbage only when
// the heap has doubled, as Go does by default, is fast and right for a small
// heap, but would have a large one take twice its size.
const (
	// smallHeap is what may be taken without collecting more often than Go does.
	smallHeap = 768 << 20
	// growth is by how much a large heap grows between two collections, in percent.
	growth = 50
	// restGrowth is growth for a program at rest, which has not collected for
	// restAfter: every collection goes through all that is live, for little. Go
	// collects every two minutes in any case.
	restGrowth = 100
	restAfter  = 30 * time.Second
	// balanceEvery is how often the growth follows the heap.
	balanceEvery = 2 * time.Second
)

// balanceMemory lets a large heap grow by half of what is live, no more, until
// ctx is done. GOGC and GOMEMLIMIT in the environment take precedence.
//
// A memory limit would do so too, but counts the holes that freed objects have left
// among others: after a large import, a program at rest would collect several times
// as often, for nothing.
func balanceMemory(ctx context.Context) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	ticker := time.NewTicker(balanceEvery)
	defer ticker.Stop()
	var cycles uint64
	var collected time.Time
	for current := 0; ; {
		metrics.Read(samples)
		if n := samples[1].Value.Uint64(); n != cycles {
			cycles, collected = n, time.Now()
		}
		// Setting it stops the program for a moment.
		if wanted := growthOf(samples[0].Value.Uint64(), time.Since(collected)); wanted != current {
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

// growthOf returns by how many percent the heap may grow, in steps of tens: at most
// restGrowth, which is Go's own, and at least growth where smallHeap is exceeded. rest
// is how long ago the last collection was.
func growthOf(live uint64, rest time.Duration) int {
	if rest >= restAfter || live == 0 {
		return restGrowth
	}
	return min(restGrowth, max(growth, int(smallHeap*100/live)-100)/10*10)
}
