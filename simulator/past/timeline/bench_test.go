package timeline

import (
	"context"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// BenchmarkScrub is a step from moment to moment on a cluster of 8,000 pods: of a client that looks for the first time, and of one that
// scrubs.
func BenchmarkScrub(b *testing.B) {
	at := snapshot{objects: map[string][]byte{}, decode: decodeStored}
	for i := range 8000 {
		p := pod(fmt.Sprintf("p%d", i), "node-17")
		at.objects["pods/default/"+p.Name] = stored(b, p)
	}
	for _, scrubs := range []bool{false, true} {
		b.Run(fmt.Sprintf("scrubs=%t", scrubs), func(b *testing.B) {
			line := New(Options{})
			for b.Loop() {
				if !scrubs {
					line.drawn = nil
				}
				if err := line.draw(b.Context(), &Moment{}, &at); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRecord is what the time line adds to the life of a pod: it is created, bound, given its results, and run.
func BenchmarkRecord(b *testing.B) {
	var changes []Entry
	for i := range 1000 {
		p := pod(fmt.Sprintf("p%d", i), "")
		key := "pods/default/" + p.Name
		put := func() { changes = append(changes, Entry{Key: key, Value: stored(b, p)}) }
		put()
		p.Spec.NodeName = "node-17"
		put()
		p.Annotations = map[string]string{"kube-scheduler-simulator.sigs.k8s.io/filter-result": string(make([]byte, 16<<10))}
		put()
		p.Status.Phase = v1.PodRunning
		put()
	}
	line := New(Options{Dir: b.TempDir(), Bytes: DefaultBytes, Results: &noResults{}, Follow: func(ctx context.Context, _ func([]Entry, bool), _ func([]Entry)) error {
		<-ctx.Done()
		return nil
	}})
	line.Start()
	<-line.loaded
	line.listed(nil, true)
	for b.Loop() {
		for _, c := range changes {
			line.changed([]Entry{c})
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/pod")
	if err := line.Stop(context.Background()); err != nil {
		b.Fatal(err)
	}
}
