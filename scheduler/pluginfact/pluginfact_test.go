package pluginfact

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func always() bool { return true }

func TestFactsAreSortedAndTheLatestStays(t *testing.T) {
	state := framework.NewCycleState()
	log := Attach(state, always)
	RecordNode(state, "B", "n2", "k", "1")
	RecordNode(state, "B", "n1", "k", "2")
	Record(state, "B", "k", "first")
	Record(state, "A", "z", "3")
	Record(state, "A", "a", "4")
	Record(state, "B", "k", "second")

	got, dropped := log.Facts()
	want := []Fact{
		{Plugin: "A", Key: "a", Value: "4"},
		{Plugin: "A", Key: "z", Value: "3"},
		{Plugin: "B", Key: "k", Value: "second"},
		{Plugin: "B", Node: "n1", Key: "k", Value: "2"},
		{Plugin: "B", Node: "n2", Key: "k", Value: "1"},
	}
	if diff := cmp.Diff(want, got); diff != "" || dropped != 0 {
		t.Errorf("dropped %d, diff %s", dropped, diff)
	}
}

func TestWithoutARecorderNothingHappens(t *testing.T) {
	Record(nil, "A", "k", "v")
	Record(framework.NewCycleState(), "A", "k", "v")
	if facts, dropped := (*Log)(nil).Facts(); facts != nil || dropped != 0 {
		t.Errorf("facts %v, dropped %d", facts, dropped)
	}
}

func TestAClonedStateCountsOnlyInTheSearch(t *testing.T) {
	state := framework.NewCycleState()
	searching := true
	log := Attach(state, func() bool { return searching })
	clone := state.Clone()
	Record(clone, "A", "passed", "with nominated pods")
	Record(clone.Clone(), "A", "rejected", "with nominated pods")
	Record(state, "A", "passed", "without")
	searching = false
	Record(clone, "A", "passed", "in a dry run")
	Record(state.Clone(), "A", "dry run", "v")
	Record(state, "A", "reserved", "v")
	got, _ := log.Facts()
	if diff := cmp.Diff([]Fact{
		{Plugin: "A", Key: "passed", Value: "without"},
		{Plugin: "A", Key: "rejected", Value: "with nominated pods"},
		{Plugin: "A", Key: "reserved", Value: "v"},
	}, got); diff != "" {
		t.Error(diff)
	}
}

func TestFactsAreBounded(t *testing.T) {
	t.Run("in number, from many workers", func(t *testing.T) {
		state := framework.NewCycleState()
		log := Attach(state, always)
		var workers sync.WaitGroup
		for w := range 8 {
			workers.Go(func() {
				for i := range 200 {
					RecordNode(state, "A", fmt.Sprint("n", w, "-", i), "k", "v")
				}
			})
		}
		workers.Wait()
		if facts, dropped := log.Facts(); len(facts) != MaxFacts || dropped != 1600-MaxFacts {
			t.Errorf("%d facts, %d dropped", len(facts), dropped)
		}
	})
	t.Run("in bytes, and a dropped value leaves no older one", func(t *testing.T) {
		state := framework.NewCycleState()
		log := Attach(state, always)
		Record(state, "A", "k", "short")
		Record(state, "A", "k", strings.Repeat("x", MaxBytes))
		Record(state, "A", "other", "v")
		got, dropped := log.Facts()
		if diff := cmp.Diff([]Fact{{Plugin: "A", Key: "other", Value: "v"}}, got); diff != "" || dropped != 1 {
			t.Errorf("dropped %d, diff %s", dropped, diff)
		}
	})
}

func BenchmarkRecordNode(b *testing.B) {
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprint("node-", i)
	}
	state := framework.NewCycleState()
	Attach(state, always)
	b.ReportAllocs()
	for i := range b.N {
		RecordNode(state, "A", names[i%len(names)], "value", "0.25")
	}
}
