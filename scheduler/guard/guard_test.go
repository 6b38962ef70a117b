package guard

import (
	"context"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// broken panics in every call, because the interfaces that it embeds are nil.
type broken struct {
	fwk.SignPlugin
	fwk.QueueSortPlugin
	fwk.PodGroupPostFilterPlugin
	fwk.PlacementGeneratePlugin
	fwk.PlacementScorePlugin
	framework.PlacementFeasiblePlugin
	fwk.Extender
}

func (broken) Name() string { return "Broken" }
func (broken) Close() error { panic("cannot close") }

func (broken) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{{
		PreQueueingHintFn: func(klog.Logger, any, any) (fwk.PreQueueingHintResult, error) { panic("no hint") },
	}}, nil
}

// The panics at the other extension points are tested with a scheduler.
func TestCallsThatPanicFail(t *testing.T) {
	var caught []*Panic
	g := New("Broken", func(p *Panic, _ *v1.Pod) { caught = append(caught, p) })
	ctx, b := t.Context(), broken{}
	failed := func(call string, answered bool) {
		t.Helper()
		if !answered || len(caught) != 1 || caught[0].Call != call || caught[0].Plugin != "Broken" || caught[0].Stack == "" {
			t.Errorf("%s: failed %t, caught %+v", call, answered, caught)
		}
		caught = nil
	}
	isError := func(s *fwk.Status) bool {
		return s.Code() == fwk.Error && strings.Contains(s.Message(), "Broken panicked in ")
	}

	_, status := g.Sign(b).SignPod(ctx, &v1.Pod{})
	failed("SignPod", isError(status))
	_, status = g.PodGroupPostFilter(b).PodGroupPostFilter(ctx, nil, nil, nil)
	failed("PodGroupPostFilter", isError(status))
	_, status = g.PlacementGenerate(b).GeneratePlacements(ctx, nil, nil, nil)
	failed("GeneratePlacements", isError(status))
	_, status = g.PlacementScore(b).ScorePlacement(ctx, nil, nil, nil)
	failed("ScorePlacement", isError(status))
	status = g.PlacementScore(b).PlacementScoreExtensions().NormalizePlacementScore(ctx, nil, nil, nil)
	failed("PlacementScoreExtensions", isError(status))
	failed("PlacementFeasible", isError(g.PlacementFeasible(b).PlacementFeasible(ctx, nil, nil, framework.PlacementProgress{})))
	failed("Close", g.Closer(b).Close() != nil)
	events, err := g.EnqueueExtensions(b).EventsToRegister(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = events[0].PreQueueingHintFn(klog.Logger{}, nil, nil)
	failed("PreQueueingHintFn", err != nil)
	_, _, _, err = g.Extender(b).Filter(&v1.Pod{}, nil)
	failed("Filter", err != nil)
	_, _, err = g.Extender(b).Prioritize(&v1.Pod{}, nil)
	failed("Prioritize", err != nil)
	failed("Bind", g.Extender(b).Bind(&v1.Binding{}) != nil)
}

func TestAQueueSortThatPanicsIsReplacedByPrioritySort(t *testing.T) {
	count := 0
	sort := New("Broken", func(*Panic, *v1.Pod) { count++ }).QueueSort(broken{})
	entity := func(priority int32, added time.Time) fwk.QueuedEntityInfo {
		info, err := framework.NewPodInfo(st.MakePod().Priority(priority).Obj())
		if err != nil {
			t.Fatal(err)
		}
		return &framework.QueuedPodInfo{PodInfo: info, QueueingParams: framework.QueueingParams{Timestamp: added}}
	}
	first := time.Unix(1, 0)
	high, early, late := entity(2, first.Add(time.Hour)), entity(1, first), entity(1, first.Add(time.Minute))
	if !sort.Less(high, early) || !sort.Less(early, late) || sort.Less(late, early) || count != 3 {
		t.Errorf("the order is not that of PrioritySort, after %d panics", count)
	}
}

func TestAPanicOfAWorkerReachesTheCaller(t *testing.T) {
	defer func() {
		p, ok := recover().(*workerPanic)
		if !ok || p.value != "piece 3" || !strings.Contains(p.stack, "TestAPanicOfAWorkerReachesTheCaller") {
			t.Errorf("recovered %+v", p)
		}
	}()
	inParallel{}.handle().Parallelizer().Until(t.Context(), 10, func(piece int) {
		if piece == 3 {
			panic("piece 3")
		}
	}, "")
	t.Error("Until returned")
}

// inParallel is a handle and a Parallelizer with a goroutine for each piece.
type inParallel struct{ fwk.Handle }

func (p inParallel) handle() fwk.Handle { return Handle(p) }

func (p inParallel) Parallelizer() fwk.Parallelizer { return p }

func (inParallel) Until(_ context.Context, pieces int, do workqueue.DoWorkPieceFunc, _ string) {
	done := make(chan struct{})
	for i := range pieces {
		go func() {
			defer func() { done <- struct{}{} }()
			do(i)
		}()
	}
	for range pieces {
		<-done
	}
}
