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
	// smallHeap is what may be taken without collecting more often.
	smallHeap = 768 << 20
	// besidesHeap is what the memory limit counts beside the heap: stacks and
	// the runtime's own.
	besidesHeap = 128 << 20
	// balanceEvery is how often the limit follows the heap.
	balanceEvery = 2 * time.Second
)

// balanceMemory lets a large heap grow by half of what is live, no more, until
// ctx is done. GOGC and GOMEMLIMIT in the environment take precedence.
func balanceMemory(ctx context.Context) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	ticker := time.NewTicker(balanceEvery)
	defer ticker.Stop()
	for {
		metrics.Read(live)
		debug.SetMemoryLimit(max(smallHeap, int64(live[0].Value.Uint64())*3/2) + besidesHeap)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
