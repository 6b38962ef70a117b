package app

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// crowd creates n objects concurrently.
func crowd(t *testing.T, n int, create func(ctx context.Context, i int) error) {
	t.Helper()
	next := make(chan int)
	var creating sync.WaitGroup
	for range 16 {
		creating.Go(func() {
			for i := range next {
				if err := create(t.Context(), i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	creating.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// crowdOfNodes creates nodes of one pool in a simulator that belongs to the test.
func crowdOfNodes(t *testing.T, s *running, n, cpu int) {
	t.Helper()
	crowd(t, n, func(ctx context.Context, _ int) error {
		_, err := s.makeNode(ctx, "crowd", cpu, nil, nil)
		return err
	})
}

func (s *running) createPod(ctx context.Context, p *v1.Pod) error {
	_, err := s.client.CoreV1().Pods("default").Create(ctx, p, metav1.CreateOptions{})
	return err
}

// bound returns the pods of the default namespace that have a node, and the number of all pods.
func (s *running) bound(t *testing.T) ([]v1.Pod, int) {
	t.Helper()
	list, err := s.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []v1.Pod
	for _, p := range list.Items {
		if p.Spec.NodeName != "" {
			out = append(out, p)
		}
	}
	return out, len(list.Items)
}

// slowest is far above the expected time of an apply, which the race detector and other processes
// slow down. The test logs the measured value.
const slowest = 15.0

func TestConcurrentApplyIsFastInALargeCluster(t *testing.T) {
	clustertest.Slow(t)
	s := launch(t, DefaultOptions())
	const nodes, placed, pending = 1000 / smaller, 1500 / smaller, 500 / smaller
	crowdOfNodes(t, s, nodes, 8)
	names, err := s.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	crowd(t, placed, func(ctx context.Context, i int) error {
		p := sized(fmt.Sprintf("placed-%d", i), "crowd", 100)
		p.Spec.NodeName = names.Items[i%nodes].Name
		return s.createPod(ctx, p)
	})
	kept := s.applied(t, http.MethodPut, configurationPath, onlyBlue)
	t.Logf("applied at %d nodes with %d pods in %.3f s", nodes, placed, kept.DurationSeconds)
	crowd(t, pending, func(ctx context.Context, i int) error {
		return s.createPod(ctx, sized(fmt.Sprintf("pending-%d", i), "crowd", 100))
	})
	var page result.Page
	clustertest.Eventually(t, "pods are pending", func(context.Context) (bool, error) {
		s.get(t, "/api/v1/results?outcome=unschedulable&limit=1", &page)
		return len(page.Items) > 0, nil
	})

	freed := s.applied(t, http.MethodDelete, configurationPath, "")
	t.Logf("applied at %d nodes with %d pods, %d of them pending, in %.3f s", nodes, placed+pending, pending, freed.DurationSeconds)
	for _, applied := range []config.Applied{kept, freed} {
		if applied.DurationSeconds > slowest {
			t.Errorf("revision %d took %.1f s", applied.Revision.Number, applied.DurationSeconds)
		}
	}
	clustertest.Eventually(t, "the pending pods are scheduled", func(context.Context) (bool, error) {
		return s.revision(t, freed.Revision.Number).PodsScheduled == pending, nil
	})
	if bound, all := s.bound(t); len(bound) != all || all != placed+pending {
		t.Errorf("%d of %d pods are bound, want %d", len(bound), all, placed+pending)
	}
	if got := s.revision(t, kept.Revision.Number).PodsScheduled; got != 0 {
		t.Errorf("%d pods are scheduled under the configuration that allows none", got)
	}
}

// TestConcurrentAppliesLoseNothing applies configurations in a row while pods are created. The pods
// nearly fill the nodes, so that a new scheduler with a stale view would overcommit one.
func TestConcurrentAppliesLoseNothing(t *testing.T) {
	clustertest.Slow(t)
	options := DefaultOptions()
	options.AnnotationBytes = 0 // late annotations would show in the heap
	s := launch(t, options)
	const nodes, cpu, applies, podsPerApply = 300 / smaller, 7, 100 / smaller, 20
	crowdOfNodes(t, s, nodes, cpu)
	s.applied(t, http.MethodPut, configurationPath, header) // so that everything is initialized
	before := settledGoroutines(t)

	// Pods are created throughout the test, not all at the start.
	ahead := make(chan struct{}, 2*podsPerApply)
	var creating sync.WaitGroup
	creating.Go(func() {
		for i := range applies * podsPerApply {
			<-ahead
			if err := s.createPod(t.Context(), sized(fmt.Sprintf("p-%04d", i), "crowd", 1000)); err != nil {
				t.Error(err)
			}
		}
	})
	took := 0.0
	begin := time.Now()
	for i := range applies {
		for range podsPerApply {
			ahead <- struct{}{}
		}
		strategy := []string{"MostAllocated", "LeastAllocated"}[i%2]
		applied := s.applied(t, http.MethodPut, configurationPath, header+fmt.Sprintf(
			"parallelism: %d\nprofiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args: {scoringStrategy: {type: %s}}\n", i%16+1, strategy))
		took = max(took, applied.DurationSeconds)
	}
	creating.Wait()
	t.Logf("%d applies took %.1f s, the slowest %.3f s", applies, time.Since(begin).Seconds(), took)
	const pods = applies * podsPerApply
	clustertest.Eventually(t, "all pods are scheduled", func(context.Context) (bool, error) { return s.podsScheduled(t) >= pods, nil })
	if bound, all := s.bound(t); len(bound) != pods || all != pods {
		t.Errorf("%d of %d pods are bound, want %d", len(bound), all, pods)
	}
	checkCapacity(t, s, nodes, cpu)
	checkScheduledOnce(t, s, pods)
	checkGoroutines(t, before)

	// Nothing else changes now, so the heap must not grow either.
	heap := liveHeap()
	for range applies / 5 {
		s.applied(t, http.MethodPut, configurationPath, header)
	}
	checkGoroutines(t, before)
	grown := (int64(liveHeap()) - int64(heap)) >> 20
	t.Logf("%d more applies: the heap grew from %d MB by %d MB", applies/5, heap>>20, grown)
	if grown > 64 {
		t.Errorf("the heap grew by %d MB in %d applies", grown, applies/5)
	}
}

// podsScheduled is the sum over all revisions.
func (s *running) podsScheduled(t *testing.T) int {
	t.Helper()
	n := 0
	for _, r := range s.revisions(t) {
		n += r.PodsScheduled
	}
	return n
}

func checkCapacity(t *testing.T, s *running, nodes, cpu int) {
	t.Helper()
	bound, _ := s.bound(t)
	used := map[string]int64{}
	for _, p := range bound {
		used[p.Spec.NodeName] += p.Spec.Containers[0].Resources.Requests.Cpu().Value()
	}
	for node, n := range used {
		if n > int64(cpu) {
			t.Errorf("%s has %d CPUs, and pods that request %d", node, cpu, n)
		}
	}
	t.Logf("%d of %d nodes are in use", len(used), nodes)
}

// checkScheduledOnce checks that every pod has one scheduled result, and that the revisions count
// as many pods.
func checkScheduledOnce(t *testing.T, s *running, pods int) {
	t.Helper()
	results, times := 0, map[string]int{}
	clustertest.Eventually(t, "the results are there", func(context.Context) (bool, error) {
		results, times = 0, map[string]int{}
		for next := ""; ; {
			var page result.Page
			s.get(t, "/api/v1/results?outcome=scheduled&limit=500&continue="+next, &page)
			for _, item := range page.Items {
				results++
				times[item.Pod.Name]++
				if item.Revision == 0 {
					t.Errorf("the result of %s names no revision", item.Pod.Name)
				}
			}
			if next = page.Continue; next == "" {
				break
			}
		}
		return len(times) == pods, nil
	})
	if results != pods {
		t.Errorf("%d pods have %d scheduled results", pods, results)
	}
	var failed result.Page
	s.get(t, "/api/v1/results?outcome=error&limit=500", &failed)
	for _, item := range failed.Items {
		t.Logf("attempt %d of %s, revision %d: %s", item.Attempt, item.Pod.Name, item.Revision, item.Message)
		if strings.Contains(item.Message, "already assigned") {
			t.Errorf("the scheduler tried to bind %s twice: %s", item.Pod.Name, item.Message)
		}
	}
	if counted := s.podsScheduled(t); counted != pods {
		t.Errorf("the revisions count %d pods, want %d", counted, pods)
	}
}

// goroutines counts the goroutines of schedulers, and all goroutines.
type goroutines struct{ schedulers, all int }

func countGoroutines(t *testing.T) goroutines {
	t.Helper()
	var stacks bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&stacks, 1); err != nil {
		t.Fatal(err)
	}
	var out goroutines
	// After a first line, each paragraph is a stack with its number of goroutines.
	_, rest, _ := strings.Cut(stacks.String(), "\n")
	for stack := range strings.SplitSeq(rest, "\n\n") {
		var n int
		if _, err := fmt.Sscan(stack, &n); err != nil {
			continue
		}
		out.all += n
		if strings.Contains(stack, "k8s.io/kubernetes/pkg/scheduler.") || strings.Contains(stack, "k8s.io/kubernetes/pkg/scheduler/") || strings.Contains(stack, "kube-scheduler-simulator/scheduler/") {
			out.schedulers += n
		}
	}
	return out
}

// settledGoroutines counts when nothing has changed for a while.
func settledGoroutines(t *testing.T) goroutines {
	t.Helper()
	last, since := goroutines{}, time.Now()
	clustertest.Eventually(t, "the goroutines settle", func(context.Context) (bool, error) {
		if now := countGoroutines(t); now.schedulers != last.schedulers {
			last, since = now, time.Now()
		}
		return time.Since(since) > time.Second, nil
	})
	return last
}

// checkGoroutines waits until only the earlier schedulers' goroutines are left. The other goroutines
// include connections, whose number varies.
func checkGoroutines(t *testing.T, before goroutines) {
	t.Helper()
	const connections = 40
	var now goroutines
	defer func() { t.Logf("goroutines: %+v before, %+v now", before, now) }()
	clustertest.Eventually(t, "the goroutines of the replaced schedulers have ended", func(context.Context) (bool, error) {
		now = countGoroutines(t)
		return now.schedulers <= before.schedulers && now.all <= before.all+connections, nil
	})
}

// liveHeap returns the bytes in use.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC() // a second time, for objects that finalizers released
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
