package simulation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/simulation"
)

// TestKeepingChangesNothing checks that a run decides alike whether its decisions are kept or not, although plugins are asked less often when they
// are not.
func TestKeepingChangesNothing(t *testing.T) {
	for seed := range uint64(4) {
		var want []string
		for _, keep := range []simulation.Keep{simulation.Cycles, simulation.Summaries, simulation.Nothing} {
			s := start(t, simulation.Options{Seed: int64(seed), Keep: keep})
			nodes, pods := madeUp(20, 150)
			must(t, s.Create(t.Context(), nodes...))
			must(t, s.Create(t.Context(), pods...))
			must(t, s.Create(t.Context(), busyCluster(t, seed, 6, 30)...))
			must(t, s.Settle(t.Context()))
			got := placements(s)
			if keep == simulation.Cycles {
				want = got
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("seed %d: keeping %d (+) decides otherwise than keeping cycles (-):\n%s", seed, keep, diff)
			}
		}
	}
}
