package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
	"kube-scheduler-simulator/scheduler/whatif"
)

// counted is a sink that counts the pods that were scheduled.
type counted struct {
	scheduled atomic.Int64
	// all is closed when want pods were scheduled.
	want int64
	all  chan struct{}
}

func (c *counted) NextAttempt(types.UID) int { return 1 }

func (c *counted) Put(cycle *result.Cycle) {
	if cycle.Outcome == result.Scheduled && c.scheduled.Add(1) == c.want {
		close(c.all)
	}
}

// BenchmarkQuestionsWhileScheduling schedules pods without questions, and again while questions are
// asked one after the other.
func BenchmarkQuestionsWhileScheduling(b *testing.B) {
	for b.Loop() {
		quietly, asking := compareThroughput(b)
		b.ReportMetric(throughputPods/quietly.took.Seconds(), "pods/s-without")
		b.ReportMetric(throughputPods/asking.took.Seconds(), "pods/s-with")
		b.ReportMetric(float64(asking.questions)/asking.took.Seconds(), "questions/s")
		b.ReportMetric((asking.took - quietly.took).Seconds(), "s-longer")
		b.ReportMetric((asking.processor - quietly.processor).Seconds(), "s-of-processor")
	}
}

// TestQuestionsTakeNoMoreThanTheirProcessorTime: scheduling takes longer by at most the processor
// time of the questions, because nothing waits for one.
func TestQuestionsTakeNoMoreThanTheirProcessorTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many seconds")
	}
	if _, asking := compareThroughput(t); asking.questions < 100 {
		t.Errorf("only %d questions were answered", asking.questions)
	}
}

const throughputNodes, throughputPods = 500, 1500

// compareThroughput fails if scheduling takes longer with questions by more than their processor
// time.
func compareThroughput(tb testing.TB) (quietly, asking scheduled) {
	tb.Helper()
	quietly = scheduleAll(tb, throughputNodes, throughputPods, false)
	asking = scheduleAll(tb, throughputNodes, throughputPods, true)
	// Two runs without questions differ by some percent.
	noise := quietly.took / 20
	if longer, took := asking.took-quietly.took, asking.processor-quietly.processor; longer > took+noise {
		tb.Errorf("scheduling took %v longer, but the questions took only %v of the processor", longer, took)
	}
	return quietly, asking
}

// scheduled is a run of scheduleAll.
type scheduled struct {
	// took is how long it took to schedule the pods, and processor the processor time that passed
	// meanwhile.
	took, processor time.Duration
	// questions is how many were answered meanwhile.
	questions int
}

// scheduleAll schedules pods on nodes.
func scheduleAll(b testing.TB, nodes, pods int, ask bool) scheduled {
	ctx := b.Context()
	server := schedulertest.NewAPIServer()
	var cluster, created []runtime.Object
	for i := range nodes {
		name := fmt.Sprintf("n%d", i)
		cluster = append(cluster, st.MakeNode().Name(name).Label(v1.LabelHostname, name).Capacity(map[v1.ResourceName]string{"cpu": "32", "memory": "64Gi", "pods": "110"}).Obj())
	}
	for i := range pods {
		created = append(created, workload(fmt.Sprintf("p%d", i)))
	}
	fill(b, server, cluster)
	c, err := config.Default()
	if err != nil {
		b.Fatal(err)
	}
	sink := &counted{want: int64(pods), all: make(chan struct{})}
	followed := scheduler.NewFeed()
	s := scheduler.New(scheduler.Options{Client: server.Config("scheduler"), Configuration: c.Internal, Sink: sink, Feed: followed})
	engine := whatif.New(whatif.Options{Source: followed, Configuration: func() *schedulerconfig.KubeSchedulerConfiguration { return c.Internal }})
	defer engine.Stop()
	if err := s.Start(ctx); err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Stop(context.WithoutCancel(ctx)); err != nil {
			b.Error(err)
		}
	}()
	questions := 0
	asking, leave := context.WithCancel(ctx)
	var asked sync.WaitGroup
	if ask {
		question := whatif.Question{Pod: workload("question")}
		if _, err := engine.Ask(ctx, question); err != nil { // which builds everything
			b.Fatal(err)
		}
		asked.Go(func() {
			for asking.Err() == nil {
				if _, err := engine.Ask(asking, question); err != nil && !errors.Is(err, context.Canceled) {
					b.Error(err)
				}
				questions++
			}
		})
	}
	start, before := time.Now(), processorTime(b)
	fill(b, server, created)
	<-sink.all
	out := scheduled{took: time.Since(start), processor: processorTime(b) - before}
	leave()
	asked.Wait()
	out.questions = questions
	return out
}

func fill(b testing.TB, server *schedulertest.APIServer, objects []runtime.Object) {
	b.Helper()
	if err := schedulertest.Fill(b.Context(), server, objects); err != nil {
		b.Fatal(err)
	}
}

func workload(name string) *v1.Pod {
	return st.MakePod().Name(name).Namespace(schedulertest.Namespace).SchedulerName(v1.DefaultSchedulerName).Label("app", "web").
		Req(map[v1.ResourceName]string{"cpu": "500m", "memory": "1Gi"}).Obj()
}

// processorTime is what the process has used so far.
func processorTime(b testing.TB) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
