package process

import (
	"slices"
	"testing"
	"time"
)

func TestGrowthOf(t *testing.T) {
	for _, tc := range []struct {
		live uint64 // MiB
		rest time.Duration
		want int
	}{
		{0, 0, 100}, {10, 0, 300}, {256, 0, 300}, {500, 0, 120}, {853, 0, 40}, {10, busyFor, 100}, {256, busyFor, 100}, {256, restAfter, 100}, {300, busyFor, 70}, {400, restAfter, 100},
		{512, busyFor, 40}, {600, restAfter - 1, 40}, {600, restAfter, 100}, {8192, 0, 40},
	} {
		if got := Server.growthOf(tc.live<<20, tc.rest); got != tc.want {
			t.Errorf("with %d MiB, %s after work: %d, not %d", tc.live, tc.rest, got, tc.want)
		}
	}
}

// TestWorkEnds checks that memory is returned once after work, and not in the middle of it.
func TestWorkEnds(t *testing.T) {
	const every = 2 * time.Second
	start := time.Now()
	for _, tc := range []struct {
		name string
		// allocates is in MiB per interval.
		allocates []uint64
		// ends are the intervals at whose end the work has ended.
		ends []int
	}{
		{"idle", []uint64{1, 1, 2, 1, 1, 1}, nil},
		{"busy for longer than busyFor", []uint64{100, 100, 100, 100, 100, 100}, nil},
		{"a pause shorter than busyFor", []uint64{100, 1, 1, 100, 1, 1, 100}, nil},
		{"work and rest", []uint64{100, 100, 1, 1, 1, 1, 1, 1}, []int{4}},
		{"work twice", []uint64{100, 1, 1, 1, 1, 100, 1, 1, 1, 1}, []int{3, 8}},
	} {
		var w work
		var ends []int
		total := uint64(0)
		for i, n := range tc.allocates {
			total += n << 20
			if w.ended(total, start.Add(time.Duration(i)*every), every) {
				ends = append(ends, i)
			}
		}
		if !slices.Equal(ends, tc.ends) {
			t.Errorf("%s: the work ended at %v, not %v", tc.name, ends, tc.ends)
		}
	}
}

// TestRunsStaySmall checks by how much the heap of a run with some 100 MB of live objects may grow.
func TestRunsStaySmall(t *testing.T) {
	for _, rest := range []time.Duration{0, busyFor} {
		const live = 100
		if most := live * (100 + Runs.growthOf(live<<20, rest)) / 100; most > 150 {
			t.Errorf("%s after work, a heap of %d MiB may grow to %d MiB", rest, live, most)
		}
	}
}
