package session

import (
	"fmt"
	"testing"
)

// crowd is a cluster on which jobs of ten tasks wait, in four queues.
func crowd(b *testing.B, rules Rules, nodes, jobs int) *stage {
	s := newStage(b, rules, "")
	for i := range nodes {
		s.node(fmt.Sprintf("n%04d", i), 32)
	}
	for q := range 4 {
		s.queue(fmt.Sprintf("q%d", q), int32(q+1))
	}
	for j := range jobs {
		name := fmt.Sprintf("j%04d", j)
		s.group(name, fmt.Sprintf("q%d", j%4), 10, 0)
		s.number = 1000 * (j + 1)
		for i := range 10 {
			p := s.pod(fmt.Sprintf("%s-%d", name, i), 1, "")
			p.Annotations = map[string]string{GroupAnnotation: name}
		}
	}
	return s
}

// One session that places all jobs. 1,000 nodes and 500 jobs of 10 must reach 100 pods a second with room for what the cluster itself
// needs to bind them.
func BenchmarkSession(b *testing.B) {
	for _, size := range []struct{ nodes, jobs int }{{1000, 50}, {1000, 500}, {5000, 1000}} {
		for _, rules := range Dialects {
			b.Run(fmt.Sprintf("%s/%dx%d", rules, size.nodes, size.jobs), func(b *testing.B) {
				s := crowd(b, rules, size.nodes, size.jobs)
				bound := 0
				for b.Loop() {
					out := s.run()
					bound += len(out.Binds)
					if len(out.Binds) != 10*size.jobs {
						b.Fatalf("%d bound", len(out.Binds))
					}
				}
				b.ReportMetric(float64(bound)/b.Elapsed().Seconds(), "pods/s")
			})
		}
	}
}
