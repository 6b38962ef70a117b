package timeline

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func requesting(name, node, cpu string) *v1.Pod {
	p := pod(name, node)
	p.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}
	return p
}

// TestUsage checks the samples of a cluster that fills, empties and fails to place a pod: each is of the state at its time, and a second
// query, of a part, agrees with the first.
func TestUsage(t *testing.T) {
	h := newHarness(t, 1<<20)
	n := node("n1")
	n.Status.Allocatable = v1.ResourceList{v1.ResourceCPU: resource.MustParse("4"), v1.ResourcePods: resource.MustParse("110")}
	start := h.clock.Now()
	step := func(key string, value []byte) {
		h.put(key, value)
		h.clock.Step(10 * time.Second)
	}
	step(nodePrefix+"n1", stored(t, n))
	step(podPrefix+"default/a", stored(t, requesting("a", "", "3")))
	step(podPrefix+"default/a", stored(t, requesting("a", "n1", "3")))
	step(podPrefix+"default/b", stored(t, requesting("b", "", "3")))
	done := requesting("a", "n1", "3")
	done.Status.Phase = v1.PodSucceeded
	step(podPrefix+"default/a", stored(t, done))

	type sample struct {
		After         float64
		Requested     float64
		Allocatable   float64
		Pending       int
		Fragmentation float64
	}
	ask := func(q Query) (all []sample) {
		t.Helper()
		q.Buckets = 6
		got, err := h.Usage(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range got {
			s := sample{u.Time.Sub(start).Seconds(), u.Resources["cpu"].Requested, u.Resources["cpu"].Allocatable, u.Pending, -1}
			if u.Fragmentation != nil {
				s.Fragmentation = math.Round(*u.Fragmentation*100) / 100
			}
			if len(u.Resources) > 1 {
				t.Errorf("resources %v, want only those of nodes, without pods", u.Resources)
			}
			all = append(all, s)
		}
		return all
	}
	whole := []sample{{0, 0, 0, 0, -1}, {10, 0, 4, 0, -1}, {20, 0, 4, 1, 0}, {30, 3, 4, 0, 1}, {40, 3, 4, 1, 1}, {50, 0, 4, 1, 0}, {50.05, 0, 4, 1, 0}}
	if diff := cmp.Diff(whole, ask(Query{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	part := []sample{{20, 0, 4, 1, 0}, {22, 3, 4, 0, 1}, {24, 3, 4, 0, 1}, {26, 3, 4, 0, 1}, {28, 3, 4, 0, 1}, {30, 3, 4, 0, 1}}
	if diff := cmp.Diff(part, ask(Query{From: start.Add(20 * time.Second), To: start.Add(30 * time.Second)})); diff != "" {
		t.Errorf("a part (-want +got):\n%s", diff)
	}
}
