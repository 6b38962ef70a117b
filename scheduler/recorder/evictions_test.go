package recorder

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"kube-scheduler-simulator/scheduler/result"
)

// putting is a sink that keeps what it is given.
type putting struct{ puts chan *result.Cycle }

func (putting) NextAttempt(types.UID) int { return 1 }
func (p putting) Put(c *result.Cycle)     { p.puts <- c }

// candidate is the candidate that the evaluator chose.
type candidate struct {
	preemption.Candidate
	pods []*v1.Pod
}

func (c candidate) Victims() *extenderv1.Victims { return &extenderv1.Victims{Pods: c.pods} }

func victimPods(terminating int, names ...string) []*v1.Pod {
	var out []*v1.Pod
	for i, name := range names {
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
		if i < terminating {
			pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}
		out = append(out, pod)
	}
	return out
}

// preempted returns a recorder that has published the cycle of a preemptor whose victims
// are still to be evicted. stop ends the recorder, which changes the evictions on its goroutine.
func preempted(t *testing.T) (e *evictions, sink putting, stop func()) {
	t.Helper()
	sink = putting{make(chan *result.Cycle, 8)}
	r := New(sink, nil, nil)
	e = r.expectEvictions("p")
	r.Start()
	stop = sync.OnceFunc(func() {
		if err := r.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	e.chosen(fwk.NewStatus(fwk.Success), victimPods(1, "gone", "here"))
	e.published(&result.Cycle{Summary: result.Summary{Attempt: 3}, Preemption: &result.Preemption{Chosen: "n1"}})
	return e, sink, stop
}

func TestACycleIsPublishedAgainWhenItsVictimsAreEvicted(t *testing.T) {
	e, sink, _ := preempted(t)
	pods := victimPods(1, "gone", "deleted", "released")
	e.begin(candidate{pods: pods})
	e.begin(candidate{pods: pods})
	e.end(pods[1], false, nil)
	e.end(pods[2], true, nil)
	c := <-sink.puts
	c.Preemption.Evictions.DurationSeconds = nil
	want := &result.Evictions{Victims: 3, Deleted: 1, Released: 1, Terminating: 1, Done: true}
	if diff := cmp.Diff(want, c.Preemption.Evictions); diff != "" || c.Attempt != 3 || c.Updates != 1 {
		t.Errorf("attempt %d, %d updates: %s", c.Attempt, c.Updates, diff)
	}
}

// After a failure the scheduler makes no further calls, except for those that have
// started.
func TestAFailureEndsTheEvictions(t *testing.T) {
	e, sink, stop := preempted(t)
	pods := victimPods(0, "a", "b", "c")
	e.begin(candidate{pods: pods})
	e.end(pods[0], false, errors.New("refused"))
	if c := <-sink.puts; c.Preemption.Evictions.Failed != 1 || c.Preemption.Evictions.NotTried() != 2 {
		t.Errorf("%+v", c.Preemption.Evictions)
	}
	stop()
	e.published(&result.Cycle{Preemption: &result.Preemption{}}) // nothing is to come
	if len(e.cycles) > 0 {
		t.Error("a cycle is kept although its evictions are over")
	}
}

// The scheduler makes no call for victims that terminate already, so a cycle that chose only
// such victims is complete.
func TestTerminatingVictimsNeedNoSecondVersion(t *testing.T) {
	for name, tc := range map[string]struct {
		terminating int
		kept        bool
	}{"all": {2, false}, "some": {1, true}, "unknown": {0, true}} {
		r := New(nil, nil, nil)
		e := r.expectEvictions("p")
		record := preemptionRecord{candidates: []dryRun{{node: "n1", victims: victimPods(tc.terminating, "a", "b")}}}
		chosen := framework.NewPostFilterResultWithNominatedNode("n1")
		if name == "unknown" {
			chosen = framework.NewPostFilterResultWithNominatedNode("n2")
		}
		e.chosen(fwk.NewStatus(fwk.Success), record.victimsFor(chosen))
		e.published(&result.Cycle{Preemption: &result.Preemption{}})
		if kept := len(e.cycles) > 0; kept != tc.kept {
			t.Errorf("%s victims terminate: the cycle is kept: %t", name, kept)
		}
	}
}

// The evaluator compares only as many candidates as it looks for.
func TestSurplusCandidatesAreMarked(t *testing.T) {
	r := &preemptionRecord{ran: true, candidates: []dryRun{{node: "a"}, {node: "b"}, {node: "c"}}}
	victims := &extenderv1.Victims{Pods: victimPods(0, "v")}
	r.consider(map[string]*extenderv1.Victims{"a": victims, "c": victims})
	r.consider(map[string]*extenderv1.Victims{"a": victims}) // extenders have removed one
	if got := surplus(r.build("a")); !cmp.Equal(got, []string{"b"}) {
		t.Errorf("surplus are %v", got)
	}
	alone := &preemptionRecord{ran: true, candidates: []dryRun{{node: "a"}, {node: "b"}}}
	if got := surplus(alone.build("a")); !cmp.Equal(got, []string{"b"}) {
		t.Errorf("with nothing to compare, surplus are %v", got)
	}
}

func surplus(p *result.Preemption) []string {
	var out []string
	for _, c := range p.Candidates {
		if c.Surplus {
			out = append(out, c.Node)
		}
	}
	return out
}

// Nothing tells the recorder that a pod group was deleted.
func TestEvictionsThatAreOverAreForgotten(t *testing.T) {
	now := time.Unix(0, 0)
	r := New(nil, nil, func() time.Time { return now })
	for i := range 4 * keepEvictions {
		now = now.Add(time.Second)
		e := r.expectEvictions(types.UID(fmt.Sprint("group-", i)))
		if i%2 == 0 {
			e.chosen(fwk.NewStatus(fwk.Unschedulable), nil)
		}
	}
	if n := len(r.evicting); n > keepEvictions {
		t.Errorf("%d are kept", n)
	}
}
