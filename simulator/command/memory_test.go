package command

import (
	"testing"
	"time"
)

func TestGrowthOf(t *testing.T) {
	for _, tc := range []struct {
		live uint64 // MiB
		rest time.Duration
		want int
	}{
		{0, 0, 100}, {10, 0, 300}, {256, 0, 300}, {512, 0, 150}, {853, 0, 50}, {10, busyFor, 100}, {256, busyFor, 100}, {256, restAfter, 100}, {400, busyFor, 90}, {400, restAfter, 100},
		{512, busyFor, 50}, {600, restAfter - 1, 50}, {600, restAfter, 100}, {8192, 0, 50},
	} {
		if got := serverHeap.growthOf(tc.live<<20, tc.rest); got != tc.want {
			t.Errorf("with %d MiB, %s after a collection: %d, not %d", tc.live, tc.rest, got, tc.want)
		}
	}
}

// TestRunsStaySmall checks by how much the heap of a run with some 100 MB of live objects may grow, and that other commands have the server's heap.
func TestRunsStaySmall(t *testing.T) {
	for _, command := range []string{"run", "compare", "sweep"} {
		sizes := heapOf([]string{command, "file.yaml", "--engine", "memory"})
		for _, rest := range []time.Duration{0, busyFor} {
			const live = 100
			if most := live * (100 + sizes.growthOf(live<<20, rest)) / 100; most > 150 {
				t.Errorf("%s: a heap of %d MiB may grow to %d MiB", command, live, most)
			}
		}
	}
	for _, args := range [][]string{
		nil, {"--port", "0"}, {"lesson"}, {"run", "a.yaml", "--engine", "full"}, {"sweep", "--engine=full", "a.yaml"},
	} {
		if heapOf(args) != serverHeap {
			t.Errorf("%v has another heap than the server", args)
		}
	}
}
