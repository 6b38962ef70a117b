package judge

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"kube-scheduler-simulator/simulator/batch/kueue/judge/original"
)

var (
	begin     = flag.Uint64("seed", 1, "the first seed")
	count     = flag.Int("scenarios", 300, "how many scenarios")
	seeds     = flag.String("seeds", "", "seeds instead of those from the first, separated by commas")
	shrinks   = flag.Int("shrink", 3, "how many differences are made small")
	quick     = flag.Bool("quick", false, "report differences without playing them again")
	directory = flag.String("dir", "", "directory for the original and the logs; without one, the tests that need them are skipped")
	simulator = flag.String("simulator", "", "path of the simulator")
)

// built returns the original, its program, and a directory for a test.
func built(t *testing.T) (kueue original.Kueue, manager, dir string) {
	ctrllog.SetLogger(logr.Discard())
	if *directory == "" || *simulator == "" {
		t.Skip("run this with make judge-kueue")
	}
	kueue, err := original.Module()
	if err == nil {
		manager, err = kueue.Build(t.Context(), *directory)
	}
	if err == nil {
		dir, err = os.MkdirTemp(*directory, "run-")
	}
	if err != nil {
		t.Fatal(err)
	}
	return kueue, manager, dir
}

// inCourt opens a court for a test.
func inCourt(t *testing.T) (context.Context, *court) {
	kueue, manager, dir := built(t)
	ctx := t.Context()
	c, err := open(ctx, dir, *simulator, kueue, manager, t.Logf)
	t.Cleanup(func() {
		c.close()
		if t.Failed() {
			t.Logf("the logs are in %s", dir)
			return
		}
		os.RemoveAll(dir)
	})
	if err != nil {
		t.Fatal(err)
	}
	return ctx, c
}

// TestScenarios: both Kueues do the same in many random scenarios.
func TestScenarios(t *testing.T) {
	started := time.Now()
	e, err := parseExpectations(expectedFile)
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := chosenSeeds()
	if err != nil {
		t.Fatal(err)
	}
	ctx, c := inCourt(t)
	steps, reservations, preemptions, first, chance := 0, 0, 0, 0, 0
	for _, fair := range []bool{false, true} {
		var scenarios []*scenario
		for _, seed := range chosen {
			if s := generate(seed); s.Fair == fair {
				scenarios = append(scenarios, s)
			}
		}
		if len(scenarios) == 0 {
			continue
		}
		if err := c.configure(ctx, fair); err != nil {
			t.Fatal(err)
		}
		runs, err := c.play(ctx, scenarios)
		if err != nil {
			t.Fatal(err)
		}
		var differ []*run
		for _, r := range runs {
			steps += len(r.Steps)
			reserved, preempted := totals(r.kueue)
			reservations, preemptions = reservations+reserved, preemptions+preempted
			if d := e.compare(r.scenario, r.kueue, r.simulator); d != nil {
				t.Logf("seed %d differs at first %s", r.Seed, d)
				differ = append(differ, r)
			}
		}
		if *quick {
			first += len(differ)
			continue
		}
		confirmed, err := c.confirm(ctx, e, differ)
		if err != nil {
			t.Fatal(err)
		}
		chance += len(differ) - len(confirmed)
		for r, d := range confirmed {
			t.Logf("seed %d differs each time %s", r.Seed, d)
		}
		for r, d := range confirmed {
			t.Errorf("seed %d differs %s\n%s", r.Seed, d, c.small(ctx, t, e, r.scenario, d))
		}
	}
	if first > 0 {
		t.Errorf("%d scenarios differ at first", first)
	}
	t.Logf("%d scenarios, %d steps, %d reservations, %d preemptions, %d differences by chance, expected differences %v, in %s",
		len(chosen), steps, reservations, preemptions, chance, e.hits, time.Since(started).Round(time.Second))
	if unused := e.unused(); len(chosen) >= 300 && len(unused) > 0 {
		t.Errorf("no scenario has these expected differences any more: %v", unused)
	}
	if len(chosen) >= 300 && preemptions < 200 {
		t.Errorf("the scenarios have %d preemptions, which says too little", preemptions)
	}
}

// chosenSeeds are those that the flags ask for.
func chosenSeeds() (out []uint64, err error) {
	if *seeds == "" {
		for i := range *count {
			out = append(out, *begin+uint64(i))
		}
		return out, nil
	}
	for text := range strings.SplitSeq(*seeds, ",") {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, err
		}
		out = append(out, seed)
	}
	return out, nil
}

// totals counts the workloads that once had quota, and the preemptions.
func totals(states []state) (reserved, preempted int) {
	once, most := map[string]bool{}, map[string]int{}
	for _, s := range states {
		for uid, has := range s.reserved {
			once[uid] = once[uid] || has
		}
		for uid, n := range s.preempted {
			most[uid] = max(most[uid], n)
		}
	}
	for _, has := range once {
		if has {
			reserved++
		}
	}
	for _, n := range most {
		preempted += n
	}
	return reserved, preempted
}

// small returns the smallest scenario with a difference of the same kind, as text.
func (c *court) small(ctx context.Context, t *testing.T, e *expectations, s *scenario, d *difference) string {
	if *shrinks <= 0 {
		return "in the scenario of this seed"
	}
	*shrinks--
	latest := map[*scenario]*difference{}
	s, err := shrink(s, func(candidates []*scenario) ([]bool, error) {
		runs, err := c.play(ctx, candidates)
		out := make([]bool, len(candidates))
		for i, r := range runs {
			found := e.compare(r.scenario, r.kueue, r.simulator)
			out[i] = found != nil && found.lead() == d.lead()
			latest[r.scenario] = found
		}
		return out, err
	})
	if err != nil {
		t.Errorf("shrinking: %v", err)
	}
	path := filepath.Join(*directory, fmt.Sprintf("differs-%d.yaml", s.Seed))
	if err := os.WriteFile(path, []byte(s.text()), 0o600); err != nil {
		t.Error(err)
	}
	return fmt.Sprintf("and so does this one, which is also in %s, %s\n%s", path, latest[s], s.text())
}
