package scheduler_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

// TestRoundsLeakNothing starts and stops the recorded scheduler a hundred times.
// Each round runs in a synctest bubble, which fails if one of its goroutines is
// left behind.
func TestRoundsLeakNothing(t *testing.T) {
	rounds, warmUp := fewer(100, 12), fewer(20, 4)
	cluster := schedulertest.Generate(0)
	c, err := config.Parse([]byte(cluster.Configuration))
	if err != nil {
		t.Fatal(err)
	}
	var heap uint64
	var goroutines int
	for n := range rounds {
		if n == warmUp { // by now the process has started everything that it starts once
			heap = heapInUse()
			goroutines = runtime.NumGoroutine()
		}
		synctest.Test(t, func(t *testing.T) {
			cycles := &sink{}
			ctx := klog.NewContext(t.Context(), logr.Discard())
			server := schedulertest.NewAPIServer()
			if err := schedulertest.Fill(ctx, server, cluster.Objects); err != nil {
				t.Fatal(err)
			}
			s := scheduler.New(scheduler.Options{Client: server.Config("scheduler"), Configuration: c.Internal, Sink: cycles})
			if err := s.Start(ctx); err != nil {
				t.Fatal(err)
			}
			time.Sleep(schedulertest.DefaultWait)
			if err := s.Stop(context.WithoutCancel(ctx)); err != nil {
				t.Fatal(err)
			}
			if len(cycles.attempts) == 0 {
				t.Fatal("nothing was scheduled")
			}
		})
		if t.Failed() {
			t.FailNow()
		}
	}
	// The runtime's own goroutines come and go: those that run cleanups are counted
	// while they run.
	err = wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		return runtime.NumGoroutine() <= goroutines, nil
	})
	if err != nil {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), goroutines, stacks[:runtime.Stack(stacks, true)])
	}
	// The metrics gain a label value per scheduler, and the signal package keeps
	// each scheduler's channel, because upstream's debugger never stops its
	// notifications.
	const allowed = 16 << 10
	if grown := int64(heapInUse()-heap) / int64(rounds-warmUp); grown > allowed {
		t.Errorf("a round leaves %d bytes", grown)
	} else {
		t.Logf("a round leaves %d bytes", grown)
	}
}

func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestStopAtAnyTime stops the recorded scheduler while it works: while pods are
// queued, being scheduled, waiting for a volume or a permit, and being bound.
func TestStopAtAnyTime(t *testing.T) {
	for _, seed := range []uint64{3, 12} { // volumes, permits
		cluster := schedulertest.Generate(seed)
		c, err := config.Parse([]byte(cluster.Configuration))
		if err != nil {
			t.Fatal(err)
		}
		rounds := fewer(80, 8)
		for n := range rounds {
			synctest.Test(t, func(t *testing.T) {
				ctx := klog.NewContext(t.Context(), logr.Discard())
				server := schedulertest.NewAPIServer()
				s := scheduler.New(scheduler.Options{
					Client: server.Config("scheduler"), Configuration: c.Internal, OutOfTree: schedulertest.OutOfTree(), Sink: &sink{},
				})
				if err := s.Start(ctx); err != nil {
					t.Fatal(err)
				}
				if err := schedulertest.Fill(ctx, server, cluster.Objects); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Duration(n) * 12 * time.Millisecond / time.Duration(rounds))
				if err := s.Stop(context.WithoutCancel(ctx)); err != nil {
					t.Fatal(err)
				}
				// Upstream does not wait for its binding cycles. They end on their
				// own.
				time.Sleep(time.Minute)
			})
		}
	}
}
