package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	compbasemetrics "k8s.io/component-base/metrics"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"kube-scheduler-simulator/scheduler/result"
)

// QueueReader reads the state of the scheduling queue like Queues, but counts events only from
// its latest Restart. The metrics themselves count from the start of the process, because a
// Prometheus counter must not go back. The zero value counts like them. Safe for concurrent use.
type QueueReader struct {
	mu     sync.Mutex
	before map[queueEvent]int
}

type queueEvent struct {
	queue result.QueueName
	event string
}

// Restart forgets the events so far.
func (r *QueueReader) Restart() error {
	queues, err := Queues()
	if err != nil {
		return err
	}
	before := map[queueEvent]int{}
	for _, q := range queues.Queues {
		for _, e := range q.Events {
			before[queueEvent{q.Queue, e.Event}] = e.Count
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before = before
	return nil
}

// Queues returns the state of the queue.
func (r *QueueReader) Queues() (result.Queues, error) {
	queues, err := Queues()
	if err != nil {
		return result.Queues{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, q := range queues.Queues {
		for j := range q.Events {
			q.Events[j].Count -= r.before[queueEvent{q.Queue, q.Events[j].Event}]
		}
		queues.Queues[i].Events = slices.DeleteFunc(q.Events, func(e result.QueueEvent) bool { return e.Count <= 0 })
		slices.SortFunc(queues.Queues[i].Events, mostFirst)
	}
	return queues, nil
}

// Queues reads the state of the scheduling queue from the scheduler's own metrics, which all
// schedulers of the process share: those in memory add events, but no pods. Reading only these
// takes microseconds; gathering all metrics takes milliseconds. Safe for concurrent use.
func Queues() (result.Queues, error) {
	metrics.Register() // once; until then, the metrics do not exist
	lengths := map[result.QueueName]compbasemetrics.GaugeMetric{
		"active":        metrics.ActivePods(),
		"backoff":       metrics.BackoffPods(),
		"unschedulable": metrics.UnschedulablePods(),
		"gated":         metrics.GatedPods(),
		"incomplete":    metrics.IncompletePodGroupPods(),
		"pending":       metrics.PendingPodGroupPods(),
	}
	events, err := queueEvents()
	if err != nil {
		return result.Queues{}, err
	}
	var out result.Queues
	for _, name := range result.QueueNames {
		var length dto.Metric
		if err := lengths[name].Write(&length); err != nil {
			return result.Queues{}, fmt.Errorf("reading the length of the queue %s: %w", name, err)
		}
		state := result.QueueState{Queue: name, Pods: int(length.GetGauge().GetValue()), Events: events[name]}
		if state.Events == nil {
			state.Events = []result.QueueEvent{}
		}
		out.Queues = append(out.Queues, state)
	}
	return out, nil
}

func queueEvents() (map[result.QueueName][]result.QueueEvent, error) {
	counters := make(chan prometheus.Metric)
	go func() {
		defer close(counters)
		metrics.SchedulerQueueIncomingPods.Collect(counters)
	}()
	events := map[result.QueueName][]result.QueueEvent{}
	var failed error
	for counter := range counters {
		var m dto.Metric
		if err := counter.Write(&m); err != nil {
			failed = fmt.Errorf("reading the events that moved pods into the queues: %w", err)
			continue // Collect blocks until everything is received
		}
		var queue result.QueueName
		event := result.QueueEvent{Count: int(m.GetCounter().GetValue())}
		for _, label := range m.GetLabel() {
			switch label.GetName() {
			case "queue":
				queue = result.QueueName(label.GetValue())
			case "event":
				event.Event = label.GetValue()
			}
		}
		if event.Count > 0 {
			events[queue] = append(events[queue], event)
		}
	}
	for _, of := range events {
		slices.SortFunc(of, mostFirst)
	}
	return events, failed
}

func mostFirst(a, b result.QueueEvent) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Event, b.Event))
}
