package watchfilter

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/watch"
)

// enough is how long a test waits for what happens at once.
const enough = 10 * time.Second

func TestEventsAreChangedAndLeftOut(t *testing.T) {
	source := watch.NewFake()
	filtered := New(source, func(e watch.Event) (watch.Event, bool) {
		if e.Type == watch.Bookmark {
			return e, false
		}
		e.Type += "!"
		return e, true
	})
	go func() {
		source.Add(nil)
		source.Action(watch.Bookmark, nil)
		source.Delete(nil)
		source.Stop()
	}()
	var got []watch.EventType
	for e := range filtered.ResultChan() {
		got = append(got, e.Type)
	}
	if diff := cmp.Diff([]watch.EventType{"ADDED!", "DELETED!"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// With watch.Filter, a goroutine waits forever if its reader stops the watch and then reads no more. Here the channel closes by itself.
func TestAStopWhileAnEventWaitsStopsTheSource(t *testing.T) {
	source := watch.NewFake()
	asked := make(chan struct{})
	filtered := New(source, func(e watch.Event) (watch.Event, bool) {
		close(asked)
		return e, true
	})
	source.Add(nil)
	<-asked
	filtered.Stop()
	for ended := false; !ended; {
		select {
		case _, open := <-filtered.ResultChan():
			ended = !open
		case <-time.After(enough):
			t.Fatal("the filter still waits for its reader")
		}
	}
	if !source.IsStopped() {
		t.Error("the source runs on")
	}
}
