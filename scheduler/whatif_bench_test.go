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

// BenchmarkQuestionsWhileScheduling schedules pods without questions, and again while questions are asked one after the other.
// The second run may take longer by the processor time that it needs in addition, and by no more: nothing waits for a question.
func BenchmarkQuestionsWhileScheduling(b *testing.B) {
	const nodes, pods = 500, 1500
	for b.Loop() {
		quietly, quietCPU, _ := scheduleAll(b, nodes, pods, false)
		asking, askingCPU, questions := scheduleAll(b, nodes, pods, true)
		b.ReportMetric(pods/quietly.Seconds(), "pods/s-without")
		b.ReportMetric(pods/asking.Seconds(), "pods/s-with")
		b.ReportMetric(float64(questions)/asking.Seconds(), "questions/s")
		b.ReportMetric((asking - quietly).Seconds(), "s-longer")
		b.ReportMetric((askingCPU - quietCPU).Seconds(), "s-of-processor")
		// Two runs without questions differ by some percent.
		if noise := quietly / 20; asking-quietly > askingCPU-quietCPU+noise {
			b.Errorf("scheduling took %v longer, but the questions took only %v of the processor", asking-quietly, askingCPU-quietCPU)
		}
	}
}

// scheduleAll returns how long it takes to schedule pods on nodes, the processor time that passes meanwhile, and how many questions
// were answered.
func scheduleAll(b *testing.B, nodes, pods int, ask bool) (took, processor time.Duration, questions int) {
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
	took, processor = time.Since(start), processorTime(b)-before
	leave()
	asked.Wait()
	return took, processor, questions
}

func fill(b *testing.B, server *schedulertest.APIServer, objects []runtime.Object) {
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
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
