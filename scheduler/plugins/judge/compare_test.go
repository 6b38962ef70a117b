package judge

import (
	"encoding/json"
	"flag"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kube-scheduler-simulator/scheduler/plugins"
	"kube-scheduler-simulator/scheduler/plugins/directed"
)

var (
	first      = flag.Uint64("seed", 1, "the first seed")
	topologies = flag.Int("topologies", 600, "how many scenarios of Filter and Score")
	caches     = flag.Int("caches", 400, "how many scenarios of the caches")
	gangs      = flag.Int("gangs", 60, "how many scenarios of Coscheduling")
	quotas     = flag.Int("quotas", 60, "how many scenarios of CapacityScheduling")
)

// differ returns how the plugins' answers differ, and how many there are.
func differ(t *testing.T, c *directed.Case) (diff string, answers int) {
	theirs, ours := replay(t, c, originals()), replay(t, c, plugins.Registry())
	if theirs.err != nil || ours.err != nil {
		t.Fatalf("the original: %v; ours: %v; the case:\n%s", theirs.err, ours.err, raw(c))
	}
	return cmp.Diff(theirs.answers, ours.answers, cmpopts.EquateEmpty()), len(ours.answers)
}

// compare asks both plugins about many random cases. It writes what differs as small as it can make
// it.
func compare(t *testing.T, count int, generate func(seed uint64) *directed.Case) {
	answers, expected := 0, map[string]int{}
	for i := range count {
		seed := *first + uint64(i)
		c := generate(seed)
		diff, n := differ(t, c)
		answers += n
		if diff == "" {
			continue
		}
		shrink(t, c)
		diff, _ = differ(t, c)
		if why := known(c); why != "" {
			expected[why]++
			continue
		}
		t.Errorf("seed %d: the original (-) and ours (+) differ:\n%s\nin this case:\n%s", seed, diff, pretty(c))
	}
	t.Logf("%d scenarios, %d answers, known differences: %v", count, answers, expected)
}

func pretty(c *directed.Case) []byte {
	out, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		panic(err) // cases can be encoded
	}
	return out
}

// shrink leaves out steps and objects while the answers differ.
func shrink(t *testing.T, c *directed.Case) {
	still := func() bool {
		theirs, ours := replay(t, c, originals()), replay(t, c, plugins.Registry())
		return theirs.err == nil && ours.err == nil && !cmp.Equal(theirs.answers, ours.answers, cmpopts.EquateEmpty())
	}
	for changed := true; changed; {
		changed = false
		for i := len(c.Steps) - 1; i >= 0; i-- {
			before := c.Steps
			c.Steps = slices.Delete(slices.Clone(before), i, i+1)
			if still() {
				changed = true
			} else {
				c.Steps = before
			}
		}
		for i := len(c.Objects) - 1; i >= 0; i-- {
			before := c.Objects
			c.Objects = slices.Delete(slices.Clone(before), i, i+1)
			if still() {
				changed = true
			} else {
				c.Objects = before
			}
		}
	}
	for name := range c.Pods {
		if !slices.ContainsFunc(c.Steps, func(s directed.Step) bool { return s.Pod == name || slices.Contains(s.Prints, name) }) {
			delete(c.Pods, name)
		}
	}
}
