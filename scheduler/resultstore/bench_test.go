package resultstore

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"kube-scheduler-simulator/scheduler/result"
)

// The cycles that the benchmarks compare, by their contents.
var benchmarked = []struct {
	name string
	make func(name string) *result.Cycle
}{
	{"1523rejected", func(name string) *result.Cycle { return rejectedCycle(name, 1523, false) }},
	{"1523rejectedWithComparisonsAndDryRuns", func(name string) *result.Cycle { return rejectedCycle(name, 1523, true) }},
	{"5000evaluated500scored", func(name string) *result.Cycle { return scoredCycle(name, 5000, 500) }},
}

func sample(n int, make func(string) *result.Cycle) []*result.Cycle {
	var out []*result.Cycle
	for i := range n {
		out = append(out, make(fmt.Sprint("openb-pod-", i)))
	}
	return out
}

// BenchmarkPut measures putting and writing; diskBytes is the size of a cycle in
// the file.
func BenchmarkPut(b *testing.B) {
	for _, bc := range benchmarked {
		cycles := sample(100, bc.make)
		b.Run(bc.name+"/memory", func(b *testing.B) {
			s := New(Options{})
			for i := 0; b.Loop(); i++ {
				s.Put(again(cycles, i))
			}
		})
		for _, durable := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/disk/durable=%v", bc.name, durable), func(b *testing.B) {
				s := persistent(b, Options{Dir: b.TempDir(), Durable: durable, Clock: clocktesting.NewFakeClock(epoch)})
				n := 0
				for ; b.Loop(); n++ {
					s.Put(again(cycles, n))
					// A burst of 300 cycles per second, written every half second.
					if n%150 == 149 {
						flush(b, s)
					}
				}
				flush(b, s)
				b.ReportMetric(float64(s.writer.files.Bytes())/float64(n), "diskBytes/op")
				b.ReportMetric(float64(cycles[0].Size()), "memoryBytes/op")
			})
		}
	}
}

// again returns the i-th attempt, taking turns among the pods of cycles.
func again(cycles []*result.Cycle, i int) *result.Cycle {
	c := *cycles[i%len(cycles)]
	c.Attempt = 1 + i/len(cycles)
	return &c
}

func BenchmarkGet(b *testing.B) {
	for _, bc := range benchmarked {
		cycles := sample(150, bc.make)
		s := persistent(b, Options{Dir: b.TempDir()})
		for _, c := range cycles {
			s.Put(c)
		}
		get := func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if c, err := s.Get(cycles[i%len(cycles)].Pod.UID, 1); c == nil || err != nil {
					b.Fatal(c, err)
				}
			}
		}
		b.Run(bc.name+"/memory", get)
		flush(b, s)
		forgetMemory(s)
		b.Run(bc.name+"/disk", get)
	}
}

// BenchmarkStart reads 20,000 cycles of 2,000 pods, and lists 100 of them.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	s := persistent(b, Options{Dir: dir})
	for i := range 20_000 {
		c := rejectedCycle("pod", 20, false)
		c.Pod.Name, c.Pod.UID = fmt.Sprint("openb-pod-", i%2000), types.UID(fmt.Sprint("uid-", i%2000))
		c.Attempt = 1 + i/2000
		s.Put(c)
		if i%150 == 149 {
			flush(b, s)
		}
	}
	stop(b, s)
	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			s := New(Options{Dir: dir})
			if err := s.Start(context.Background()); err != nil {
				b.Fatal(err)
			}
			stop(b, s)
		}
	})
	s = persistent(b, Options{Dir: dir})
	for name, q := range map[string]result.Query{"newest": {}, "pod": {UID: "uid-7"}, "nothing": {Name: "none"}} {
		b.Run("list/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.List(q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// kept is how many decisions the server must search in 300 ms.
const kept = 100_000

// searchable returns a store that keeps decisions of 20,000 pods on disk, like that of a server
// that has run for a while: 40 workloads in 12 namespaces, 500 nodes, 30 revisions.
func searchable(t testing.TB) *Store {
	t.Helper()
	s := persistent(t, Options{Dir: t.TempDir()})
	rejected, scored := sample(50, func(name string) *result.Cycle { return rejectedCycle(name, 20, false) }),
		sample(50, func(name string) *result.Cycle { return scoredCycle(name, 20, 8) })
	for i := range kept {
		c := *rejected[i%50]
		if i%5 == 0 {
			c = *scored[i%50]
			c.SelectedNode = fmt.Sprint("node-", i*7%500)
		}
		pod, workload := i%20_000, i%40
		c.Pod = result.Pod{Namespace: fmt.Sprint("team-", workload%12), Name: fmt.Sprintf("workload-%d-5d4f8c7b6-%05d", workload, pod), UID: types.UID(fmt.Sprintf("0a1b2c3d-4e5f-6789-abcd-%012d", pod))}
		c.Attempt, c.Revision, c.Profile = 1+i/20_000, 1+i/3500, "default-scheduler"
		c.Owner = &result.Owner{Kind: "Deployment", Name: fmt.Sprint("workload-", workload)}
		c.StartTime = epoch.Add(time.Duration(i) * 10 * time.Millisecond)
		c.Refusal = result.FindRefusal(&c)
		s.Put(&c)
		if i%500 == 499 {
			flush(t, s)
		}
	}
	flush(t, s)
	forgetMemory(s)
	if n := s.Len(); n != kept {
		t.Fatalf("%d of %d decisions are kept", n, kept)
	}
	return s
}

// searches ask for the page that the web application shows, with all counts.
var searches = map[string]result.Query{
	"all":                  {},
	"text":                 {Text: "workload-3 13"},
	"one pod":              {Text: "team-3/workload-3-5d4f8c7b6-00003"},
	"nothing":              {Text: "no such pod"},
	"plugin and outcome":   {Plugin: "TaintToleration", Outcome: result.Unschedulable},
	"node":                 {Node: "node-35"},
	"namespace":            {Namespace: "team-3"},
	"reason":               {Reason: "node(s) had untolerated taint(s)"},
	"profile and revision": {Profile: "default-scheduler", Revision: 7},
	"time":                 {Since: epoch.Add(5 * time.Minute), Until: epoch.Add(10 * time.Minute)},
	"rejected node":        {RejectedOn: "openb-node-0007"},
	"rejected node, by":    {RejectedOn: "openb-node-0007", Plugin: "TaintToleration"},
	"rejected nowhere":     {RejectedOn: "no such node"},
	"owner and timeline":   {Owner: "Deployment/workload-7", Buckets: 300, Since: epoch, Until: epoch.Add(time.Hour)},
	"scattered over disk":  {Text: "0777"},
}

// fast is how long an answer may take.
const fast = 300 * time.Millisecond

// TestSearchIsFast: at 100,000 kept decisions, an answer takes at most 300 ms.
func TestSearchIsFast(t *testing.T) {
	if testing.Short() {
		t.Skip("keeps 100,000 decisions")
	}
	s := searchable(t)
	for name, q := range searches {
		answersFast(t, s, name, q)
	}
	t.Logf("the index takes %d bytes", s.index.bytes)
}

// TestSearchForRejectedNodesIsFastOnManyNodes: however many decisions are kept, a page reads about
// 200 of those that evaluated 5,000 nodes.
func TestSearchForRejectedNodesIsFastOnManyNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("keeps 600 decisions about 5,000 nodes")
	}
	s := persistent(t, Options{Dir: t.TempDir()})
	cycles := sample(20, func(name string) *result.Cycle { return rejectedCycle(name, 5000, false) })
	for i := range 600 {
		c := *cycles[i%len(cycles)]
		c.Pod.UID, c.StartTime = types.UID(fmt.Sprint("uid-", i)), epoch.Add(time.Duration(i)*time.Second)
		c.Refusal = result.FindRefusal(&c)
		s.Put(&c)
	}
	flush(t, s)
	forgetMemory(s)
	for name, q := range map[string]result.Query{
		"rejected node":     {RejectedOn: "openb-node-4999"},
		"rejected node, by": {RejectedOn: "openb-node-4999", Plugin: "TaintToleration"},
		"rejected nowhere":  {RejectedOn: "no such node"},
	} {
		answersFast(t, s, name, q)
	}
}

// answersFast asks five times, for the page and the counts that the web application shows.
func answersFast(t *testing.T, s *Store, name string, q result.Query) {
	t.Helper()
	q.Limit, q.Counts = 200, true
	var page result.Page
	fastest, slowest := time.Hour, time.Duration(0)
	for range 5 {
		start := time.Now()
		var err error
		if page, err = s.List(q); err != nil {
			t.Fatal(err)
		}
		took := time.Since(start)
		fastest, slowest = min(fastest, took), max(slowest, took)
	}
	t.Logf("%s: %v to %v, %d items, %d read, %d match", name, fastest, slowest, len(page.Items), page.Read, page.Counts.Matching)
	if fastest > fast {
		t.Errorf("%s takes %v", name, fastest)
	}
	if found, wanted := len(page.Items) > 0, !slices.Contains([]string{"nothing", "rejected nowhere"}, name); found != wanted {
		t.Errorf("%s finds %d decisions", name, len(page.Items))
	}
}

func BenchmarkSearch(b *testing.B) {
	s := searchable(b)
	for name, q := range searches {
		q.Limit, q.Counts = 200, true
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.List(q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
