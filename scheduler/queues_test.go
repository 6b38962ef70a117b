package scheduler_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/result"
)

// TestQueuesAgreeWithMetrics compares Queues with /metrics.
func TestQueuesAgreeWithMetrics(t *testing.T) {
	metrics.Register()
	length := metrics.IncompletePodGroupPods()
	length.Add(3)
	defer length.Add(-3)
	for event, count := range map[string]float64{"TestB": 2, "TestA": 2, "TestMost": 5} {
		metrics.SchedulerQueueIncomingPods.WithLabelValues("gated", event).Add(count)
	}

	queues, err := scheduler.Queues()
	if err != nil {
		t.Fatal(err)
	}
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}

	var names []result.QueueName
	lengths, events := map[string]float64{}, map[string]float64{}
	var ofTest []string
	for _, q := range queues.Queues {
		names = append(names, q.Queue)
		lengths[string(q.Queue)] = float64(q.Pods)
		for _, e := range q.Events {
			events[string(q.Queue)+" "+e.Event] = float64(e.Count)
			if e.Event == "TestA" || e.Event == "TestB" || e.Event == "TestMost" {
				ofTest = append(ofTest, e.Event)
			}
		}
	}
	if diff := cmp.Diff(result.QueueNames, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"TestMost", "TestA", "TestB"}, ofTest); diff != "" {
		t.Errorf("order of events (-want +got):\n%s", diff)
	}
	for _, family := range families {
		switch family.GetName() {
		case "scheduler_pending_pods":
			wanted := map[string]float64{}
			for _, m := range family.GetMetric() {
				wanted[labelOf(m, "queue")] = m.GetGauge().GetValue()
			}
			if diff := cmp.Diff(wanted, lengths); diff != "" {
				t.Errorf("lengths (-metrics +queues):\n%s", diff)
			}
		case "scheduler_queue_incoming_pods_total":
			wanted := map[string]float64{}
			for _, m := range family.GetMetric() {
				if m.GetCounter().GetValue() == 0 {
					continue
				}
				wanted[labelOf(m, "queue")+" "+labelOf(m, "event")] = m.GetCounter().GetValue()
			}
			if diff := cmp.Diff(wanted, events); diff != "" {
				t.Errorf("events (-metrics +queues):\n%s", diff)
			}
		}
	}
	if lengths["incomplete"] < 3 {
		t.Errorf("incomplete has %v pods, want at least 3", lengths["incomplete"])
	}
}

// After a restart, the reader counts only what came later; the metrics go on.
func TestQueueReaderRestarts(t *testing.T) {
	metrics.Register()
	counter := func(event string) interface{ Add(float64) } {
		return metrics.SchedulerQueueIncomingPods.WithLabelValues("gated", event)
	}
	counter("ReaderBefore").Add(7)
	counter("ReaderBoth").Add(5)
	counted := func(read func() (result.Queues, error)) map[string]int {
		t.Helper()
		queues, err := read()
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]int{}
		for _, q := range queues.Queues {
			for _, e := range q.Events {
				if q.Queue == "gated" && strings.HasPrefix(e.Event, "Reader") {
					out[e.Event] = e.Count
				}
			}
		}
		return out
	}
	var reader scheduler.QueueReader
	if diff := cmp.Diff(map[string]int{"ReaderBefore": 7, "ReaderBoth": 5}, counted(reader.Queues)); diff != "" {
		t.Errorf("before (-want +got):\n%s", diff)
	}
	if err := reader.Restart(); err != nil {
		t.Fatal(err)
	}
	counter("ReaderBoth").Add(2)
	if diff := cmp.Diff(map[string]int{"ReaderBoth": 2}, counted(reader.Queues)); diff != "" {
		t.Errorf("after (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"ReaderBefore": 7, "ReaderBoth": 7}, counted(scheduler.Queues)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func labelOf(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}
