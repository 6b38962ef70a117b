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
		{0, 0, 100}, {10, 0, 100}, {256, 0, 100}, {400, 0, 90}, {400, restAfter, 100},
		{512, 0, 50}, {600, restAfter - 1, 50}, {600, restAfter, 100}, {8192, 0, 50},
	} {
		if got := growthOf(tc.live<<20, tc.rest); got != tc.want {
			t.Errorf("with %d MiB, %s after a collection: %d, not %d", tc.live, tc.rest, got, tc.want)
		}
	}
}
