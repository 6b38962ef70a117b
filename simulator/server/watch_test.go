package server

import (
	"bytes"
	"context"
	"runtime"
	"testing"

	"github.com/gorilla/websocket"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/server/watch/watchtest"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

func (h *harness) dial() *watchtest.Client {
	h.t.Helper()
	return watchtest.Dial(h.t, h.url, watchPath)
}

func TestWatchStatus(t *testing.T) {
	h := serve(t, Options{})
	c := h.dial()
	c.Topic("status")
	want(t, "list", c.Next(), "list t first: starting ready=false")
	running := Status{Ready: true, Phase: Running, Scheduler: SchedulerStatus{Phase: Running, Profiles: []string{"default-scheduler"}, Revision: 1}}
	h.SetStatus(running)
	h.SetStatus(running)
	want(t, "event", c.Events(1), []string{"MODIFIED running ready=true"})
	h.SetStatus(Status{Phase: Stopping})
	want(t, "event", c.Events(1), []string{"MODIFIED stopping ready=false"})
}

func TestWatchQueues(t *testing.T) {
	h := serve(t, Options{})
	queues := func() (result.Queues, error) {
		return result.Queues{Queues: []result.QueueState{{Queue: "backoff", Pods: 2, Events: []result.QueueEvent{{Event: "ScheduleAttemptFailure", Count: 3}}}}}, nil
	}
	if err := h.SetBackend(Backend{ClientConfig: &rest.Config{Host: "127.0.0.1:1"}, Results: &watchtest.Results{}, Configuration: &fakeConfiguration{}, Queues: queues}); err != nil {
		t.Fatal(err)
	}
	c := h.dial()
	c.Topic("queues")
	want(t, "list", c.NextRaw(), `{"type":"list","id":"t","first":true,"items":[{"queues":[{"queue":"backoff","pods":2,"events":[{"event":"ScheduleAttemptFailure","count":3}]}]}],"more":false}`)
}

// TestShutdownTellsWatchers: WebSocket clients get a close frame, and the hub ends.
func TestShutdownTellsWatchers(t *testing.T) {
	results := &watchtest.Results{}
	h := serve(t, Options{})
	h.attach(nil, results)
	c := h.dial()
	c.Topic("status")
	c.Next()
	closed := make(chan int)
	go func() { closed <- c.Closed() }()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := h.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	want(t, "close code", <-closed, websocket.CloseGoingAway)
	want(t, "subscribers", results.Subscribers(), 0)
	clustertest.EventuallyTrue(t, "no goroutine of the hub is left", func() bool {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		return !bytes.Contains(stacks, []byte("server/watch."))
	})
}

// TestWatchResultsThroughAReset: even a client that has read everything lists again.
func TestWatchResultsThroughAReset(t *testing.T) {
	results := &watchtest.Results{}
	results.Put(watchtest.Cycle("u1", 1, result.Scheduled))
	h := serve(t, Options{})
	h.attach(nil, results)
	c := h.dial()
	c.Topic("results")
	want(t, "list", c.Next(), "list t first: u1/1=scheduled")

	h.ClearResults()
	want(t, "list after the reset", c.Next(), "list t first: ")
	results.Put(watchtest.Cycle("u2", 1, result.Scheduled))
	want(t, "events", c.Events(1), []string{"ADDED u2/1=scheduled"})
}
