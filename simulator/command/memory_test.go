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
		if got := growthOf(tc.live<<20, tc.rest); got != tc.want {
			t.Errorf("with %d MiB, %s after a collection: %d, not %d", tc.live, tc.rest, got, tc.want)
		}
	}
}
