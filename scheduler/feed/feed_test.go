package feed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/feed"
)

// cluster knows a state and writes its changes to a log.
type cluster struct {
	log   *feed.Log
	nodes []string
}

func newCluster(nodes ...string) *cluster {
	c := &cluster{log: feed.NewLog(nil), nodes: nodes}
	c.log.Restart(c.state)
	return c
}

func (c *cluster) state(add func(feed.Operation)) {
	for _, name := range c.nodes {
		add(set(name))
	}
}

func (c *cluster) add(name string) {
	c.log.Do(func(add func(feed.Operation)) {
		c.nodes = append(c.nodes, name)
		add(set(name))
	})
}

func (c *cluster) decide(pod string) {
	c.log.Do(func(add func(feed.Operation)) {
		add(feed.Operation{Mark: &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod}}})
	})
}

func set(name string) feed.Operation {
	return feed.Operation{Set: &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}}
}

// drained has what Drain returns, in words: "all" if it is the whole state, and then the
// operations.
func drained(t *testing.T, f *feed.Follower) []string {
	t.Helper()
	ops, whole, err := f.Drain(t.Context())
	if err != nil {
		t.Error(err)
	}
	out := []string{}
	if whole {
		out = append(out, "all")
	}
	for _, op := range ops {
		switch {
		case op.Set != nil:
			out = append(out, op.Set.(*v1.Node).Name)
		case op.Mark != nil:
			out = append(out, "decide about "+op.Mark.Name)
		}
	}
	return out
}

func wantDrained(t *testing.T, f *feed.Follower, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), drained(t, f)); diff != "" {
		t.Error(diff)
	}
}

// arrived reports whether Drain has something to return.
func arrived(f *feed.Follower) bool {
	select {
	case <-f.Arrived():
		return true
	default:
		return false
	}
}

func TestFollowersGetTheStateAndThenTheChanges(t *testing.T) {
	c := newCluster("a", "b")
	first := c.log.Follow(false)
	wantDrained(t, first, "all", "a", "b")
	wantDrained(t, first)
	c.add("c")
	second := c.log.Follow(false)
	c.add("d")
	wantDrained(t, first, "c", "d")
	wantDrained(t, second, "all", "a", "b", "c", "d")
	second.Close()
	c.add("e")
	wantDrained(t, first, "e")
}

// TestMarks: only those who want them get them, at their places among the changes.
func TestMarks(t *testing.T) {
	c := newCluster()
	with, without := c.log.Follow(true), c.log.Follow(false)
	wantDrained(t, with, "all")
	wantDrained(t, without, "all")
	c.add("a")
	c.decide("p")
	c.add("b")
	wantDrained(t, with, "a", "decide about p", "b")
	wantDrained(t, without, "a", "b")
	if all, marks := c.log.Followers(); all != 2 || marks != 1 {
		t.Errorf("%d follow, %d of them with marks", all, marks)
	}
}

// TestLosingTrack: a follower that has lost track gets the whole state instead of what waits.
func TestLosingTrack(t *testing.T) {
	for name, lose := range map[string]func(*cluster){
		"another scheduler": func(c *cluster) { c.log.Restart(c.state) },
		"a missed change":   func(c *cluster) { c.log.Lose() },
		"too many changes": func(c *cluster) {
			for range 1<<16 + 1 {
				c.decide("p")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster("a")
			f := c.log.Follow(true)
			wantDrained(t, f, "all", "a")
			c.add("b")
			lose(c)
			c.decide("unnoticed")
			if !arrived(f) {
				t.Error("it is not told that the whole state waits")
			}
			wantDrained(t, f, "all", "a", "b")
			c.decide("q")
			wantDrained(t, f, "decide about q")
		})
	}
}

func TestArrived(t *testing.T) {
	c := newCluster("a")
	f := c.log.Follow(false)
	if !arrived(f) {
		t.Error("the state waits")
	}
	wantDrained(t, f, "all", "a")
	if arrived(f) {
		t.Error("nothing waits")
	}
	next := f.Arrived()
	c.decide("p")
	select {
	case <-next:
		t.Error("a mark is nothing for one who wants none")
	default:
	}
	c.add("b")
	<-next
	if !arrived(f) {
		t.Error("it still waits")
	}
}

// TestNobodyKnowsTheState: until somebody does, Drain waits as long as its context allows.
func TestNobodyKnowsTheState(t *testing.T) {
	log := feed.NewLog(nil)
	f := log.Follow(false)
	if arrived(f) {
		t.Error("there is nothing to drain")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := f.Drain(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	var waiting sync.WaitGroup
	waiting.Go(func() { wantDrained(t, f, "all", "a") })
	log.Restart(func(add func(feed.Operation)) { add(set("a")) })
	waiting.Wait()
	log.Restart(nil)
	if _, _, err := f.Drain(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("after the scheduler has gone, the error is %v", err)
	}
}

// TestFollowedIsCalled: the scheduler is followed only while somebody wants to know.
func TestFollowedIsCalled(t *testing.T) {
	var log *feed.Log
	var seen []int
	log = feed.NewLog(func() {
		all, _ := log.Followers()
		seen = append(seen, all)
	})
	a, b := log.Follow(false), log.Follow(true)
	a.Close()
	b.Close()
	if diff := cmp.Diff([]int{1, 2, 1, 0}, seen); diff != "" {
		t.Error(diff)
	}
}

// TestConcurrentFollowers: whoever follows, whenever, ends with the same state.
func TestConcurrentFollowers(t *testing.T) {
	c := newCluster()
	const nodes, followers = 200, 4
	var writing, reading sync.WaitGroup
	writing.Go(func() {
		for i := range nodes {
			c.add(fmt.Sprint("n", i))
			if i%50 == 25 {
				c.log.Lose()
			}
		}
	})
	for range followers {
		reading.Go(func() {
			f := c.log.Follow(false)
			defer f.Close()
			var have []string
			for len(have) < nodes {
				<-f.Arrived()
				got := drained(t, f)
				if len(got) > 0 && got[0] == "all" {
					have, got = nil, got[1:]
				}
				have = append(have, got...)
			}
			if len(slices.Compact(have)) != nodes {
				t.Errorf("it has %v", have)
			}
		})
	}
	writing.Wait()
	reading.Wait()
}
