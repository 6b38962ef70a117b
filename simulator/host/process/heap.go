// Package process owns what belongs to the whole process: the version of Kubernetes that it emulates, Kubernetes' feature gates, the errors
// that Kubernetes' parts report to it, and how far the heap may grow before Go collects garbage.
//
// It may import Kubernetes' libraries and simulator/host/version.
package process

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Most of the memory of a large cluster is caches. By default Go collects garbage when the heap has
// doubled. That makes a large heap take twice its size, and a busy program with a small heap
// collect more than once per second, which costs it a third of its time.
const (
	// busyGrowth is by how many percent the heap of a busy program may grow at most between two
	// collections. A program is busy while it allocates busyRate bytes per second, and for busyFor
	// after that.
	busyGrowth = 300
	busyRate   = 16 << 20
	busyFor    = 5 * time.Second
	// restGrowth replaces Sizes.growth once a program has not been busy for restAfter: each
	// collection scans all live objects and frees little. Go collects every two minutes in any
	// case.
	restGrowth = 100
	restAfter  = 30 * time.Second
)

// Sizes are sizes of the heap in bytes.
type Sizes struct {
	// Go's default applies up to quiet, so that a quiet program stays small.
	quiet uint64
	// The heap of a busy program may grow up to busy between two collections.
	busy uint64
	// growth is how much a large heap may grow between two collections, in percent.
	growth int
	// The growth is adjusted to the heap at this interval.
	every time.Duration
}

var (
	// Server is for a program that serves a cluster.
	Server = Sizes{quiet: 512 << 20, busy: 1100 << 20, growth: 40, every: 2 * time.Second}
	// Runs is for many concurrent runs. One of 8,000 pods on 1,500 nodes has some 90 MB of live
	// objects and takes less than 300 MB of memory, 100 MB of them the program itself. The heap of
	// a run grows within its first second.
	Runs = Sizes{quiet: 120 << 20, busy: 120 << 20, growth: 40, every: 50 * time.Millisecond}
)

// Balance runs until ctx is done. It lets a large heap grow by at most sizes.growth percent of its
// live size, and a smaller one of a busy program up to sizes.busy. A program that is no longer busy
// returns unused memory to the system. GOGC and GOMEMLIMIT in the environment take precedence.
//
// A memory limit would do the same, but it counts the gaps between live objects, too: after a large
// import, a program at rest would collect several times as often for no benefit.
func Balance(ctx context.Context, sizes Sizes) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	ticker := time.NewTicker(sizes.every)
	defer ticker.Stop()
	live, allocated := read()
	w := work{allocated: allocated}
	for current := 0; ; {
		// SetGCPercent stops the world, so call it only when the value changes.
		if wanted := sizes.growthOf(live, time.Since(w.at)); wanted != current {
			debug.SetGCPercent(wanted)
			current = wanted
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		live, allocated = read()
		if w.ended(allocated, time.Now(), sizes.every) {
			debug.FreeOSMemory() // which collects
		}
	}
}

// work knows when the program was busy.
type work struct {
	// allocated is the argument of the last call of ended.
	allocated uint64
	// at is when it was last seen busy; zero if it never was.
	at   time.Time
	busy bool
}

// ended reports, once each time, that the program is no longer busy. allocated is how many bytes
// the program has allocated so far. How often Go collects says less: a busy program with much room
// collects rarely.
func (w *work) ended(allocated uint64, now time.Time, every time.Duration) bool {
	rate := float64(allocated-w.allocated) / every.Seconds()
	w.allocated = allocated
	if rate >= busyRate {
		w.busy, w.at = true, now
		return false
	}
	if !w.busy || now.Sub(w.at) < busyFor {
		return false
	}
	w.busy = false
	return true
}

// read returns how many bytes were live at the last collection, and how many the program has
// allocated so far.
func read() (live, allocated uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64(), samples[1].Value.Uint64()
}

// growthOf returns by how many percent the heap may grow, in steps of ten. rest is the time since
// the program was last busy.
func (s Sizes) growthOf(live uint64, rest time.Duration) int {
	if rest >= restAfter || live == 0 {
		return restGrowth
	}
	size, most := s.quiet, restGrowth
	if rest < busyFor {
		size, most = s.busy, busyGrowth
	}
	return min(most, max(s.growth, int(size*100/live)-100)/10*10)
}
