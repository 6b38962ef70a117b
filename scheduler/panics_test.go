package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

// volatile is a plugin that panics in one of its calls until it is healed.
type volatile struct {
	handle fwk.Handle
	in     string
	healed atomic.Bool
}

// explode is named in the stacks.
func (v *volatile) explode(in string) {
	if in == v.in && !v.healed.Load() {
		var none []int
		_ = none[len(in)]
	}
}

func (*volatile) Name() string { return "Volatile" }

func (v *volatile) PreEnqueue(context.Context, *v1.Pod) *fwk.Status {
	v.explode("PreEnqueue")
	return nil
}

func (v *volatile) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	v.explode("EventsToRegister")
	return []fwk.ClusterEventWithHint{{
		Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add},
		QueueingHintFn: func(klog.Logger, *v1.Pod, any, any) (fwk.QueueingHint, error) {
			v.explode("QueueingHintFn")
			return fwk.Queue, nil
		},
	}}, nil
}

func (v *volatile) PreFilter(ctx context.Context, _ fwk.CycleState, _ *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	v.explode("PreFilter")
	v.handle.Parallelizer().Until(ctx, len(nodes), func(int) { v.explode("Until") }, "Volatile")
	return nil, nil
}

func (v *volatile) PreFilterExtensions() fwk.PreFilterExtensions {
	v.explode("PreFilterExtensions")
	return v
}

func (v *volatile) AddPod(context.Context, fwk.CycleState, *v1.Pod, fwk.PodInfo, fwk.NodeInfo) *fwk.Status {
	v.explode("AddPod")
	return nil
}

func (v *volatile) RemovePod(context.Context, fwk.CycleState, *v1.Pod, fwk.PodInfo, fwk.NodeInfo) *fwk.Status {
	v.explode("RemovePod")
	return nil
}

func (v *volatile) Filter(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) *fwk.Status {
	v.explode("Filter")
	if !v.healed.Load() {
		switch {
		case v.in == "QueueingHintFn":
			return fwk.NewStatus(fwk.Unschedulable, "not yet")
		case v.in == "Error":
			var none *nothing
			return fwk.AsStatus(none)
		case v.in == "Rejection":
			var none *nothing
			return fwk.NewStatus(fwk.Unschedulable, "not here").WithError(none)
		}
	}
	return nil
}

// nothing is an error that a plugin returns by mistake as a nil pointer.
type nothing struct{ text string }

func (n *nothing) Error() string { return n.text }

func (v *volatile) PostFilter(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	v.explode("PostFilter")
	return nil, fwk.NewStatus(fwk.Unschedulable)
}

func (v *volatile) PreScore(context.Context, fwk.CycleState, *v1.Pod, []fwk.NodeInfo) *fwk.Status {
	v.explode("PreScore")
	return nil
}

func (v *volatile) Score(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) (int64, *fwk.Status) {
	v.explode("Score")
	return 0, nil
}

func (v *volatile) ScoreExtensions() fwk.ScoreExtensions {
	v.explode("ScoreExtensions")
	return v
}

func (v *volatile) NormalizeScore(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeScoreList) *fwk.Status {
	v.explode("NormalizeScore")
	return nil
}

func (v *volatile) Reserve(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status {
	v.explode("Reserve")
	return nil
}

func (v *volatile) Unreserve(context.Context, fwk.CycleState, *v1.Pod, string) {
	v.explode("Unreserve")
}

func (v *volatile) Permit(context.Context, fwk.CycleState, *v1.Pod, string) (*fwk.Status, time.Duration) {
	v.explode("Permit")
	if v.in == "Unreserve" && !v.healed.Load() {
		return fwk.AsStatus(errors.New("not permitted")), 0
	}
	return nil, 0
}

func (v *volatile) PreBindPreFlight(context.Context, fwk.CycleState, *v1.Pod, string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	v.explode("PreBindPreFlight")
	return nil, nil
}

func (v *volatile) PreBind(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status {
	v.explode("PreBind")
	return nil
}

func (v *volatile) Bind(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status {
	v.explode("Bind")
	return fwk.NewStatus(fwk.Skip)
}

func (v *volatile) PostBind(context.Context, fwk.CycleState, *v1.Pod, string) { v.explode("PostBind") }

func (v *volatile) Close() error {
	v.explode("Close")
	return nil
}

// stage is a cluster with a scheduler that runs Volatile.
type stage struct {
	client   kubernetes.Interface
	volatile *volatile
	live     *scheduler.Scheduler
	told     atomic.Int32

	mu     sync.Mutex
	cycles []*result.Cycle
}

func (s *stage) NextAttempt(uid types.UID) int { return len(s.of(string(uid))) + 1 }

func (s *stage) Put(c *result.Cycle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cycles = append(s.cycles, c)
}

// of returns the cycles of a pod.
func (s *stage) of(name string) []*result.Cycle {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.cycles), func(c *result.Cycle) bool { return c.Pod.Name != name && string(c.Pod.UID) != name })
}

func (s *stage) create(t *testing.T, objects ...runtime.Object) {
	t.Helper()
	for _, o := range objects {
		if err := schedulertest.Create(t.Context(), s.client, o); err != nil {
			t.Fatal(err)
		}
	}
}

func podAsking(name, cpu string, priority int32) *v1.Pod {
	return st.MakePod().Name(name).Namespace("default").SchedulerName(v1.DefaultSchedulerName).Priority(priority).
		Req(map[v1.ResourceName]string{"cpu": cpu}).Obj()
}

// onStage runs a test with a plugin that panics in a call. start is the error of the
// scheduler's start.
func onStage(t *testing.T, in string, test func(t *testing.T, s *stage, start error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := schedulertest.NewAPIServer()
		client, err := kubernetes.NewForConfig(server.Config("user"))
		if err != nil {
			t.Fatal(err)
		}
		s := &stage{client: client, volatile: &volatile{in: in}}
		document := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- plugins: {multiPoint: {enabled: [{name: Volatile}]}, bind: {enabled: [{name: Volatile}]}}\n"
		c, err := config.ParseWith([]byte(document), config.Options{OutOfTree: []string{"Volatile"}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 { // more than there are workers
			s.create(t, st.MakeNode().Name(fmt.Sprintf("n%02d", i)).Capacity(map[v1.ResourceName]string{"cpu": "1", "pods": "10"}).Obj())
		}
		s.live = scheduler.New(scheduler.Options{
			Client: server.Config("scheduler"), Configuration: c.Internal, Sink: s, Panicked: func() { s.told.Add(1) },
			OutOfTree: frameworkruntime.Registry{"Volatile": func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
				s.volatile.handle = h
				s.volatile.explode("New")
				return s.volatile, nil
			}},
		})
		start := s.live.Start(t.Context())
		test(t, s, start)
		if start == nil {
			if err := s.live.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Minute) // goroutines that Kubernetes does not wait for end on their own
	})
}

// noticed checks that the panic is among those that the scheduler lists, with its stack.
func (s *stage) noticed(t *testing.T, call, function string) {
	t.Helper()
	for _, p := range s.live.Panics() {
		if p.Plugin == "Volatile" && p.Call == call && strings.Contains(p.Value, "index out of range") && strings.Contains(p.Stack, function) {
			if s.told.Load() == 0 {
				t.Error("the scheduler did not tell of the panic")
			}
			return
		}
	}
	t.Errorf("the panic in %s is not noticed: %+v", call, s.live.Panics())
}

// The attempt of a pod ends with an error that has the stack, the scheduler goes on, and
// the pod is scheduled when the plugin no longer panics.
func TestAPanicEndsTheAttemptOnly(t *testing.T) {
	for in, call := range map[string]string{
		"PreFilter": "PreFilter", "Until": "PreFilter", "Filter": "Filter", "PreScore": "PreScore", "Score": "Score",
		"ScoreExtensions": "ScoreExtensions", "NormalizeScore": "NormalizeScore", "Reserve": "Reserve", "Permit": "Permit",
		"PreBindPreFlight": "PreBindPreFlight", "PreBind": "PreBind", "Bind": "Bind",
	} {
		t.Run(in, func(t *testing.T) {
			onStage(t, in, func(t *testing.T, s *stage, start error) {
				if start != nil {
					t.Fatal(start)
				}
				s.create(t, podAsking("p", "1", 0))
				time.Sleep(30 * time.Second)
				attempts := s.of("p")
				if len(attempts) < 3 || attempts[0].Outcome != result.Error {
					t.Fatalf("%d attempts, the first ended as %+v", len(attempts), attempts[0].Summary)
				}
				if backoff := attempts[1].StartTime.Sub(attempts[0].StartTime); backoff < 900*time.Millisecond {
					t.Errorf("the second attempt followed after %v, without backoff", backoff)
				}
				first := attempts[0]
				if want := "Volatile panicked in " + call + ": runtime error: index out of range"; !strings.Contains(first.Message, want) {
					t.Errorf("the message is %q, want %q", first.Message, want)
				}
				if len(first.Panics) != 1 || first.Panics[0].Call != call || !strings.Contains(first.Panics[0].Stack, "(*volatile).explode") {
					t.Errorf("the panics of the attempt: %+v", first.Panics)
				}
				s.noticed(t, call, "(*volatile).explode")
				s.volatile.healed.Store(true)
				time.Sleep(time.Minute)
				if last := s.of("p")[len(s.of("p"))-1]; last.Outcome != result.Scheduled || len(last.Panics) > 0 {
					t.Errorf("after the plugin was healed: %+v", last.Summary)
				}
			})
		})
	}
}

// These calls do not fail an attempt: the pod is scheduled, or could not be anyway.
func TestPanicsInCallsThatCannotFail(t *testing.T) {
	for _, tc := range []struct {
		in      string
		cpu     string
		outcome result.Outcome
	}{
		{"PostBind", "1", result.Scheduled},
		{"PostFilter", "2", result.Unschedulable},
		{"Unreserve", "1", result.Error},
	} {
		t.Run(tc.in, func(t *testing.T) {
			onStage(t, tc.in, func(t *testing.T, s *stage, start error) {
				if start != nil {
					t.Fatal(start)
				}
				s.create(t, podAsking("p", tc.cpu, 0))
				time.Sleep(30 * time.Second)
				s.noticed(t, tc.in, "(*volatile).explode")
				first := s.of("p")[0]
				if first.Outcome != tc.outcome || len(first.Panics) != 1 {
					t.Errorf("the first attempt: %s %q, panics %+v", first.Outcome, first.Message, first.Panics)
				}
				if tc.in == "Unreserve" {
					s.volatile.healed.Store(true)
					time.Sleep(time.Minute)
					if last := s.of("p")[len(s.of("p"))-1]; last.Outcome != result.Scheduled {
						t.Errorf("after the plugin was healed: %+v", last.Summary)
					}
				}
			})
		})
	}
}

// Preemption tries what happens without other pods.
func TestPanicsInDryRuns(t *testing.T) {
	for _, in := range []string{"RemovePod", "AddPod", "PreFilterExtensions"} {
		t.Run(in, func(t *testing.T) {
			onStage(t, in, func(t *testing.T, s *stage, start error) {
				if start != nil {
					t.Fatal(start)
				}
				for i := range 20 {
					s.create(t, podAsking(fmt.Sprintf("low-%02d", i), "500m", 1), podAsking(fmt.Sprintf("mid-%02d", i), "500m", 2))
				}
				time.Sleep(30 * time.Second)
				s.create(t, podAsking("high", "500m", 10))
				time.Sleep(30 * time.Second)
				s.noticed(t, in, "(*volatile).explode")
				s.volatile.healed.Store(true)
				s.create(t, st.MakeNode().Name("more").Capacity(map[v1.ResourceName]string{"cpu": "1", "pods": "10"}).Obj())
				time.Sleep(time.Minute)
				if last := s.of("high")[len(s.of("high"))-1]; last.Outcome != result.Scheduled {
					t.Errorf("after the plugin was healed: %s %q", last.Outcome, last.Message)
				}
			})
		})
	}
}

// The queue calls plugins too, under its lock.
func TestPanicsInTheQueue(t *testing.T) {
	for in, call := range map[string]string{
		"PreEnqueue": "PreEnqueue", "QueueingHintFn": "QueueingHintFn",
	} {
		t.Run(in, func(t *testing.T) {
			onStage(t, in, func(t *testing.T, s *stage, start error) {
				if start != nil {
					t.Fatal(start)
				}
				s.create(t, podAsking("p", "1", 0), podAsking("q", "1", 0))
				time.Sleep(time.Second)
				more := st.MakeNode().Name("more").Capacity(map[v1.ResourceName]string{"cpu": "1", "pods": "10"}).Obj()
				if in != "PreEnqueue" {
					s.create(t, more)
					time.Sleep(30 * time.Second)
				}
				s.noticed(t, call, "(*volatile).explode")
				if in == "PreEnqueue" {
					p, err := s.client.CoreV1().Pods("default").Get(t.Context(), "p", metav1.GetOptions{})
					if err != nil {
						t.Fatal(err)
					}
					if got := s.live.PreEnqueueRejections(p.UID); len(got) != 1 || got[0].Plugin != "Volatile" || got[0].Status != "Error" {
						t.Errorf("the pod is kept out of the queue by %+v", got)
					}
				}
				s.volatile.healed.Store(true)
				s.create(t, st.MakeNode().Name("another").Capacity(map[v1.ResourceName]string{"cpu": "1", "pods": "10"}).Obj())
				time.Sleep(time.Minute)
				for _, name := range []string{"p", "q"} {
					if of := s.of(name); len(of) == 0 || of[len(of)-1].Outcome != result.Scheduled {
						t.Errorf("%s is not scheduled in %d attempts", name, len(of))
					}
				}
			})
		})
	}
}

// A scheduler that cannot be built is refused, by the name of the plugin.
func TestPanicsAtTheStartAreRefusals(t *testing.T) {
	for _, in := range []string{"New", "EventsToRegister"} {
		onStage(t, in, func(t *testing.T, _ *stage, start error) {
			build, ok := errors.AsType[*scheduler.BuildError](start)
			if !ok || !strings.Contains(build.Error(), "Volatile panicked in "+in+": runtime error: index out of range") {
				t.Errorf("a panic in %s: the start answers %v", in, start)
			}
		})
	}
}

func TestAPanicInCloseDoesNotKeepTheSchedulerFromStopping(t *testing.T) {
	onStage(t, "Close", func(t *testing.T, s *stage, start error) {
		if start != nil {
			t.Fatal(start)
		}
		s.create(t, podAsking("p", "1", 0))
		time.Sleep(time.Second)
	})
}

// A nil pointer that is returned as an error panics only when it is read.
func TestAnErrorThatPanicsEndsTheAttemptOnly(t *testing.T) {
	for _, in := range []string{"Error", "Rejection"} {
		t.Run(in, func(t *testing.T) {
			onStage(t, in, func(t *testing.T, s *stage, start error) {
				if start != nil {
					t.Fatal(start)
				}
				s.create(t, podAsking("p", "1", 0))
				time.Sleep(5 * time.Second)
				first := s.of("p")[0]
				if want := "Volatile panicked in Filter: runtime error: invalid memory address"; first.Outcome != result.Error || !strings.Contains(first.Message, want) {
					t.Errorf("the first attempt: %s %q", first.Outcome, first.Message)
				}
			})
		})
	}
}
