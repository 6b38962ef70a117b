package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
	"kube-scheduler-simulator/scheduler/supervisor"
)

func TestMain(m *testing.M) {
	schedulertest.Prepare()
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

const (
	header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	gated  = header + "profiles:\n- plugins: {multiPoint: {enabled: [{name: Gate}, {name: Latch}]}}\n"
)

// cluster is an API server in memory with a scheduler. Each node has room for one
// pod.
type cluster struct {
	server *schedulertest.APIServer
	client kubernetes.Interface
	cycles *cycles
	gate   *gate
	live   *supervisor.Scheduler
}

// inBubble runs a test in a synctest bubble, which ends only when every goroutine
// of every scheduler has ended.
func inBubble(t *testing.T, nodes int, change func(*supervisor.Options), test func(t *testing.T, c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nodes, change)
		if err := c.live.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.live.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
			// Goroutines that Kubernetes does not wait for end on their own.
			time.Sleep(time.Minute)
		}()
		test(t, c)
	})
}

func newCluster(t testing.TB, nodes int, change func(*supervisor.Options)) *cluster {
	t.Helper()
	c := &cluster{server: schedulertest.NewAPIServer(), cycles: newCycles(), gate: &gate{}}
	var err error
	if c.client, err = kubernetes.NewForConfig(c.server.Config("user")); err != nil {
		t.Fatal(err)
	}
	for i := range nodes {
		has := v1.ResourceList{v1.ResourceCPU: resource.MustParse("1"), v1.ResourceMemory: resource.MustParse("8Gi"), v1.ResourcePods: resource.MustParse("110")}
		_, err := c.client.CoreV1().Nodes().Create(t.Context(), &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%03d", i)}, Status: v1.NodeStatus{Capacity: has, Allocatable: has},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	options := supervisor.Options{Client: c.server.Config("scheduler"), Sink: c.cycles, OutOfTree: frameworkruntime.Registry{"Gate": c.gate.build, "Latch": c.gate.buildLatch}}
	if change != nil {
		change(&options)
	}
	c.live = supervisor.New(options)
	return c
}

func (c *cluster) apply(t *testing.T, document string) config.Applied {
	t.Helper()
	applied, err := c.live.Apply(t.Context(), []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return applied
}

// add creates a pod that fills a node.
func (c *cluster) add(t testing.TB, name, profile string) *v1.Pod {
	t.Helper()
	p, err := c.client.CoreV1().Pods("default").Create(t.Context(), &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: v1.PodSpec{SchedulerName: profile, Containers: []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{
			Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")},
		}}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// attempts returns the attempts of a pod, each as "outcome revision".
func (c *cluster) attempts(p *v1.Pod) []string {
	var out []string
	for _, cycle := range c.cycles.of(p.UID) {
		out = append(out, fmt.Sprintf("%s %d", cycle.Outcome, cycle.Revision))
	}
	return out
}

// states returns the states of the revisions, newest first.
func (c *cluster) states() []string {
	var out []string
	for _, r := range c.live.Revisions() {
		out = append(out, fmt.Sprintf("%d %s %s", r.Number, r.Source, r.State))
	}
	return out
}

// cycles is a sink that keeps every cycle.
type cycles struct {
	mu   sync.Mutex
	next map[types.UID]int
	all  map[types.UID][]*result.Cycle
	// put wakes a test that waits for a cycle.
	put chan struct{}
}

func newCycles() *cycles {
	return &cycles{next: map[types.UID]int{}, all: map[types.UID][]*result.Cycle{}, put: make(chan struct{}, 1)}
}

func (c *cycles) NextAttempt(uid types.UID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next[uid]++
	return c.next[uid]
}

func (c *cycles) Put(cycle *result.Cycle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[cycle.Pod.UID] = append(c.all[cycle.Pod.UID], cycle)
	select {
	case c.put <- struct{}{}:
	default:
	}
}

func (c *cycles) of(uid types.UID) []*result.Cycle {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*result.Cycle(nil), c.all[uid]...)
}

// forget drops the cycles of a pod that the test no longer needs.
func (c *cycles) forget(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, uid)
	delete(c.next, uid)
}

// gate controls the plugins Gate and Latch; the test opens and closes it. The zero
// value lets every pod pass.
type gate struct {
	// building, if not nil, blocks the factory of Gate until it is closed.
	building chan struct{}
	// refusal is the error of Gate's factory, which panics if the text starts with
	// "panic".
	refusal atomic.Pointer[string]
	// permit makes pods wait for a permit, and preBind makes them wait for the end
	// of the scheduler.
	permit, preBind atomic.Bool
	// explosive makes Reserve panic.
	explosive atomic.Bool
	reserved  atomic.Int32
}

func (g *gate) build(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
	if g.building != nil {
		<-g.building
	}
	if why := g.refusal.Load(); why != nil {
		if strings.HasPrefix(*why, "panic") {
			panic(*why)
		}
		return nil, errors.New(*why)
	}
	return gatekeeper{g}, nil
}

func (g *gate) buildLatch(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
	return latch{g}, nil
}

type (
	gatekeeper struct{ gate *gate }
	latch      struct{ gate *gate }
)

var (
	_ fwk.ReservePlugin = gatekeeper{}
	_ fwk.PreBindPlugin = gatekeeper{}
	_ fwk.PermitPlugin  = latch{}
)

func (gatekeeper) Name() string { return "Gate" }

func (k gatekeeper) Reserve(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status {
	if k.gate.explosive.Load() {
		panic("the gate explodes")
	}
	k.gate.reserved.Add(1)
	return nil
}

func (k gatekeeper) Unreserve(context.Context, fwk.CycleState, *v1.Pod, string) {
	k.gate.reserved.Add(-1)
}

func (latch) Name() string { return "Latch" }

func (l latch) Permit(context.Context, fwk.CycleState, *v1.Pod, string) (*fwk.Status, time.Duration) {
	if l.gate.permit.Load() {
		return fwk.NewStatus(fwk.Wait), time.Hour
	}
	return nil, 0
}

func (gatekeeper) PreBindPreFlight(context.Context, fwk.CycleState, *v1.Pod, string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	return nil, nil
}

func (k gatekeeper) PreBind(ctx context.Context, _ fwk.CycleState, _ *v1.Pod, _ string) *fwk.Status {
	if !k.gate.preBind.Load() {
		return nil
	}
	<-ctx.Done()
	return fwk.AsStatus(ctx.Err())
}

func TestAppliesWaitForEachOther(t *testing.T) {
	inBubble(t, 1, nil, func(t *testing.T, c *cluster) {
		const n = 5
		numbers := make(chan int, n)
		var applying sync.WaitGroup
		for i := range n {
			applying.Go(func() {
				applied, err := c.live.Apply(t.Context(), fmt.Appendf(nil, "%sparallelism: %d\n", header, i+1))
				if err != nil {
					t.Error(err)
				}
				numbers <- applied.Revision.Number
			})
		}
		applying.Wait()
		close(numbers)
		seen := map[int]bool{}
		for number := range numbers {
			seen[number] = true
		}
		if diff := cmp.Diff(map[int]bool{2: true, 3: true, 4: true, 5: true, 6: true}, seen); diff != "" {
			t.Error("revisions:", diff)
		}
		want := []string{"6 user running", "5 user replaced", "4 user replaced", "3 user replaced", "2 user replaced", "1 default replaced"}
		if diff := cmp.Diff(want, c.states()); diff != "" {
			t.Error(diff)
		}
		latest, _ := c.live.Revision(6)
		if got := string(c.live.Configuration().YAML); got != latest.Document {
			t.Errorf("the running configuration is %q, and the running revision %q", got, latest.Document)
		}
		p := c.add(t, "p", v1.DefaultSchedulerName)
		time.Sleep(time.Second)
		if diff := cmp.Diff([]string{"scheduled 6"}, c.attempts(p)); diff != "" {
			t.Error(diff)
		}
	})
}

// A stop may come at any time during an apply. Both then complete or have no
// effect.
func TestStopDuringApply(t *testing.T) {
	for after := time.Duration(0); after < 320*time.Millisecond; after += 20 * time.Millisecond {
		inBubble(t, 1, nil, func(t *testing.T, c *cluster) {
			applied := make(chan error, 1)
			go func() {
				_, err := c.live.Apply(t.Context(), []byte(header+"parallelism: 3\n"))
				applied <- err
			}()
			time.Sleep(after)
			if err := c.live.Stop(t.Context()); err != nil {
				t.Errorf("stop after %v: %v", after, err)
			}
			if err := <-applied; err != nil && !errors.Is(err, config.ErrNotRunning) {
				t.Errorf("stop after %v: the apply answers %v", after, err)
			}
			if state := c.live.State(); state.Running || state.Swapping {
				t.Errorf("stop after %v: the state is %+v", after, state)
			}
			for _, do := range []func(context.Context, []byte) (config.Applied, error){c.live.Apply, c.live.Check} {
				if _, err := do(t.Context(), []byte(header)); !errors.Is(err, config.ErrNotRunning) {
					t.Errorf("after the stop: %v", err)
				}
			}
		})
	}
}

func TestACallerThatGivesUpWaitingChangesNothing(t *testing.T) {
	inBubble(t, 1, nil, func(t *testing.T, c *cluster) {
		c.gate.building = make(chan struct{})
		first := make(chan error, 1)
		go func() {
			_, err := c.live.Apply(t.Context(), []byte(gated))
			first <- err
		}()
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.live.Apply(ctx, []byte(header)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller that gives up gets %v", err)
		}
		// The old scheduler schedules meanwhile.
		p := c.add(t, "p", v1.DefaultSchedulerName)
		time.Sleep(time.Second)
		if diff := cmp.Diff([]string{"scheduled 1"}, c.attempts(p)); diff != "" {
			t.Error(diff)
		}
		close(c.gate.building)
		if err := <-first; err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"2 user running", "1 default replaced"}, c.states()); diff != "" {
			t.Error(diff)
		}
	})
}

// A caller that disconnects while the new scheduler is being prepared changes
// nothing.
func TestACallerThatDisconnectsDuringThePreparationChangesNothing(t *testing.T) {
	for _, after := range []time.Duration{0, 500 * time.Microsecond, time.Millisecond} {
		inBubble(t, 1, nil, func(t *testing.T, c *cluster) {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			if _, err := c.live.Apply(ctx, []byte(header+"parallelism: 3\n")); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after %v: %v", after, err)
			}
			if diff := cmp.Diff([]string{"1 default running"}, c.states()); diff != "" {
				t.Errorf("after %v: %s", after, diff)
			}
			p := c.add(t, "p", v1.DefaultSchedulerName)
			time.Sleep(time.Second)
			if diff := cmp.Diff([]string{"scheduled 1"}, c.attempts(p)); diff != "" {
				t.Errorf("after %v: %s", after, diff)
			}
		})
	}
}

func TestAFailedPluginFactoryIsRolledBack(t *testing.T) {
	for _, why := range []string{"the gate is stuck", "panic in the gate house"} {
		t.Run(why, func(t *testing.T) {
			inBubble(t, 1, nil, func(t *testing.T, c *cluster) {
				c.gate.refusal.Store(&why)
				for _, do := range []func(context.Context, []byte) (config.Applied, error){c.live.Check, c.live.Apply} {
					_, err := do(t.Context(), []byte(gated))
					bad, ok := errors.AsType[*config.Error](err)
					if !ok || len(bad.Mistakes) != 1 || !strings.Contains(bad.Mistakes[0].Message, why) {
						t.Errorf("the error is %v", err)
					}
					if strings.Contains(err.Error(), "RecordedProfile") {
						t.Errorf("the error exposes internal names: %v", err)
					}
				}
				if diff := cmp.Diff([]string{"2 user rolledBack", "1 default running"}, c.states()); diff != "" {
					t.Error(diff)
				}
				if r, _ := c.live.Revision(2); !strings.Contains(r.Error, why) || r.Document != gated {
					t.Errorf("the revision is %+v", r)
				}
				if state := c.live.State(); !state.Running || state.Swapping || state.Revision != 1 {
					t.Errorf("the state is %+v", state)
				}
				p := c.add(t, "p", v1.DefaultSchedulerName)
				time.Sleep(time.Second)
				if diff := cmp.Diff([]string{"scheduled 1"}, c.attempts(p)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestAPodThatWaitsForAPermitIsRetried(t *testing.T) {
	inBubble(t, 1, nil, func(t *testing.T, c *cluster) {
		c.apply(t, gated)
		c.gate.permit.Store(true)
		p := c.add(t, "p", v1.DefaultSchedulerName)
		time.Sleep(time.Second)
		if diff := cmp.Diff([]string{"waiting 2"}, c.attempts(p)); diff != "" {
			t.Fatal(diff)
		}
		c.gate.permit.Store(false)
		if applied := c.apply(t, gated); applied.DurationSeconds > 1 {
			t.Errorf("it took %.2f s", applied.DurationSeconds)
		}
		time.Sleep(time.Second)
		if diff := cmp.Diff([]string{"waiting 2", "unschedulable 2", "scheduled 3"}, c.attempts(p)); diff != "" {
			t.Error(diff)
		}
		if got := c.gate.reserved.Load(); got != 1 {
			t.Errorf("reserved %d times more often than released, want once", got)
		}
	})
}

func TestALongBindingCycleIsCancelled(t *testing.T) {
	inBubble(t, 1, nil, func(t *testing.T, c *cluster) {
		c.apply(t, gated)
		c.gate.preBind.Store(true)
		p := c.add(t, "p", v1.DefaultSchedulerName)
		time.Sleep(10 * time.Second)
		if got := c.attempts(p); got != nil {
			t.Fatalf("the pod is not in its binding cycle: %v", got)
		}
		applied := c.applyWhile(t, func() { c.gate.preBind.Store(false) })
		if applied.DurationSeconds < 1 || applied.DurationSeconds > 2 {
			t.Errorf("it took %.2f s, want a little more than a second", applied.DurationSeconds)
		}
		time.Sleep(time.Second)
		if diff := cmp.Diff([]string{"error 2", "scheduled 3"}, c.attempts(p)); diff != "" {
			t.Error(diff)
		}
		if got := c.gate.reserved.Load(); got != 1 {
			t.Errorf("reserved %d times more often than released, want once", got)
		}
	})
}

// applyWhile applies a configuration and calls do a moment later.
func (c *cluster) applyWhile(t *testing.T, do func()) config.Applied {
	t.Helper()
	timer := time.AfterFunc(10*time.Millisecond, do)
	defer timer.Stop()
	return c.apply(t, gated)
}

// Pods are created while configurations replace each other. Every pod is bound
// once, and no two are on the same node. The bubble fails if any scheduler leaves a
// goroutine behind.
func TestAppliesInARowLoseNothing(t *testing.T) {
	const pods = 60
	inBubble(t, pods, nil, func(t *testing.T, c *cluster) {
		var creating sync.WaitGroup
		creating.Go(func() {
			for i := range pods {
				c.add(t, fmt.Sprintf("p%02d", i), v1.DefaultSchedulerName)
				time.Sleep(40 * time.Millisecond)
			}
		})
		for i := range 12 {
			c.apply(t, fmt.Sprintf("%sparallelism: %d\n", header, i+1))
		}
		creating.Wait()
		time.Sleep(time.Minute)

		list, err := c.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		nodes := map[string]string{}
		for _, p := range list.Items {
			if p.Spec.NodeName == "" || nodes[p.Spec.NodeName] != "" {
				t.Errorf("%s is on %q together with %q", p.Name, p.Spec.NodeName, nodes[p.Spec.NodeName])
			}
			nodes[p.Spec.NodeName] = p.Name
			last := c.cycles.of(p.UID)
			if n := len(last); n == 0 || last[n-1].Outcome != result.Scheduled {
				t.Errorf("the attempts of %s are %v", p.Name, c.attempts(&p))
			}
		}
		counted, revisions := 0, 0
		for _, r := range c.live.Revisions() {
			counted += r.PodsScheduled
			if r.PodsScheduled > 0 {
				revisions++
			}
		}
		if counted != pods || revisions < 3 {
			t.Errorf("%d revisions count %d pods, want %d", revisions, counted, pods)
		}
	})
}

func TestTheStateShowsASwap(t *testing.T) {
	var c *cluster
	var mu sync.Mutex
	var seen []supervisor.State
	change := func(o *supervisor.Options) {
		o.Changed = func() {
			mu.Lock()
			defer mu.Unlock()
			if state := c.live.State(); len(seen) == 0 || !cmp.Equal(seen[len(seen)-1], state) {
				seen = append(seen, state)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		c = newCluster(t, 1, change)
		if err := c.live.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.apply(t, header+"profiles:\n- schedulerName: a\n- schedulerName: b\n")
		if err := c.live.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
	})
	standard, other := []string{v1.DefaultSchedulerName}, []string{"a", "b"}
	want := []supervisor.State{
		{Revision: 1, Profiles: standard},
		{Revision: 1, Profiles: standard, Running: true},
		{Revision: 1, Profiles: standard, Swapping: true},
		{Revision: 2, Profiles: other, Swapping: true},
		{Revision: 2, Profiles: other, Running: true},
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}

// gone reports whether a pod does not exist.
func (c *cluster) gone(ctx context.Context, name string) bool {
	_, err := c.client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
	return apierrors.IsNotFound(err)
}
