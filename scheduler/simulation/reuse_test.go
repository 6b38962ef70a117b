package simulation_test

import (
	"encoding/json"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/simulation"
)

// TestKeepingChangesNothing checks that a run decides alike whether its decisions are kept or not,
// although plugins are asked less often when they are not, and that the summaries and the cycles
// that are kept are the same.
func TestKeepingChangesNothing(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		run := func(o simulation.Options) *simulation.Simulation {
			o.Seed = int64(seed)
			s := start(t, o)
			nodes, pods := madeUp(20, 150)
			must(t, s.Create(t.Context(), nodes...))
			must(t, s.Create(t.Context(), pods...))
			must(t, s.Create(t.Context(), busyCluster(t, seed, 6, 30)...))
			must(t, s.Settle(t.Context()))
			return s
		}
		all := run(simulation.Options{})
		some := sets.New[types.UID]()
		for i, summary := range all.Results().Summaries() {
			if i%10 == 0 {
				some.Insert(summary.Pod.UID)
			}
		}
		for name, o := range map[string]simulation.Options{
			"summaries": {Keep: simulation.Summaries}, "nothing": {Keep: simulation.Nothing}, "some pods": {Pods: some},
			"nothing, observed": {Keep: simulation.Nothing, Observe: func(*result.Cycle) {}},
		} {
			s := run(o)
			if diff := cmp.Diff(placements(all), placements(s)); diff != "" {
				t.Errorf("seed %d, keeping %s: other decisions (+) than when all are kept (-):\n%s", seed, name, diff)
			}
			if o.Keep == simulation.Nothing {
				continue
			}
			if diff := cmp.Diff(all.Results().Summaries(), s.Results().Summaries()); diff != "" {
				t.Errorf("seed %d, keeping %s: other summaries (+) than when all are kept (-):\n%s", seed, name, diff)
			}
			for _, summary := range all.Results().Summaries() {
				want, err := all.Results().Cycle(summary.Pod.UID, summary.Attempt)
				must(t, err)
				if !o.Pods.Has(summary.Pod.UID) {
					want = nil
				}
				got, err := s.Results().Cycle(summary.Pod.UID, summary.Attempt)
				must(t, err)
				if diff := cmp.Diff(text(t, want), text(t, got)); diff != "" {
					t.Errorf("seed %d, keeping %s: another decision about %s (+) than when all are kept (-):\n%s", seed, name, summary.Pod.Name, diff)
				}
			}
		}
	}
}

func text(t *testing.T, v any) string {
	data, err := json.MarshalIndent(v, "", " ")
	must(t, err)
	return string(data)
}

// TestUnkeptCyclesAreCheap bounds what a cycle allocates, which is most of what it costs.
func TestUnkeptCyclesAreCheap(t *testing.T) {
	nodes, pods := madeUp(600, 40)
	for i := range pods {
		pods[i].(*v1.Pod).Spec = pods[i%2].(*v1.Pod).Spec // a workload has few specs
	}
	allocated := func(keep simulation.Keep) uint64 {
		s := start(t, simulation.Options{Keep: keep})
		must(t, s.Create(t.Context(), nodes...))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		must(t, s.Create(t.Context(), pods...))
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / uint64(len(pods))
	}
	whole, summary := allocated(simulation.Cycles), allocated(simulation.Summaries)
	t.Logf("a cycle over %d nodes allocates %d KiB if it is kept, and %d KiB if it is not", len(nodes), whole>>10, summary>>10)
	if 2*summary > whole {
		t.Errorf("a cycle that is not kept allocates %d bytes, and one that is %d: want at most half", summary, whole)
	}
}
