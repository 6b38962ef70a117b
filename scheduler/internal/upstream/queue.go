package upstream

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	apidispatcher "k8s.io/kubernetes/pkg/scheduler/backend/api_dispatcher"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// pluginMetricsSamplePercent is the constant of that name in Kubernetes'
// pkg/scheduler.
const pluginMetricsSamplePercent = 10

// LongestUnschedulable is how long the queue lets a pod wait for an event before it tries the pod
// again anyway.
const LongestUnschedulable = internalqueue.DefaultPodMaxInUnschedulablePodsDuration

type QueueTimes struct {
	// Gated: a PreEnqueue plugin holds the pod.
	Gated bool
	// Tried is when the last attempt ended, Flushed when the queue last retried the pod without an
	// event, and BackoffEnd when its backoff ends. Each is zero if that has not happened.
	Tried, Flushed, BackoffEnd time.Time
}

// QueueTimesOf returns the times of a pod that GetPod of q has returned. GetPod returns the queue's
// own object, so this takes the queue's lock. q must be a queue of Kubernetes.
func QueueTimesOf(q internalqueue.SchedulingQueue, pod *framework.QueuedPodInfo) QueueTimes {
	if lock := field(reflect.ValueOf(q), "lock"); lock.IsValid() && lock.CanAddr() && lock.Type() == reflect.TypeFor[sync.RWMutex]() {
		mu := (*sync.RWMutex)(lock.Addr().UnsafePointer())
		mu.RLock()
		defer mu.RUnlock()
	}
	return QueueTimes{Gated: pod.GatingPlugin != "", Tried: pod.Timestamp, Flushed: pod.FlushTimestamp, BackoffEnd: pod.BackoffExpiration}
}

// queue returns a scheduling queue, wired to frameworks as scheduler.New wires its own.
func (p *Parts) queue(ctx context.Context, frameworks map[string]framework.Framework, m *metrics.MetricAsyncRecorder, dispatcher *apidispatcher.APIDispatcher) (internalqueue.SchedulingQueue, error) {
	preEnqueue := map[string]map[string]fwk.PreEnqueuePlugin{}
	hints := internalqueue.QueueingHintMapPerProfile{}
	signers := map[string]internalqueue.PodSigner{}
	for name, f := range frameworks {
		preEnqueue[name] = p.preEnqueuePlugins(f)
		var err error
		if hints[name], err = p.queueingHints(ctx, f.EnqueueExtensions()); err != nil {
			return nil, err
		}
		signers[name] = f.SignPod
	}
	options := []internalqueue.Option{
		internalqueue.WithPodInitialBackoffDuration(time.Duration(p.Configuration.PodInitialBackoffSeconds) * time.Second),
		internalqueue.WithPodMaxBackoffDuration(time.Duration(p.Configuration.PodMaxBackoffSeconds) * time.Second),
		internalqueue.WithPodLister(p.Informers.Core().V1().Pods().Lister()),
		internalqueue.WithPodMaxInUnschedulablePodsDuration(LongestUnschedulable),
		internalqueue.WithPreEnqueuePluginMap(preEnqueue),
		internalqueue.WithQueueingHintMapPerProfile(hints),
		internalqueue.WithPluginMetricsSamplePercent(pluginMetricsSamplePercent),
		internalqueue.WithMetricsRecorder(m),
		internalqueue.WithPodSigners(signers),
	}
	if dispatcher != nil {
		options = append(options, internalqueue.WithAPIDispatcher(dispatcher))
	}
	if p.Clock != nil {
		options = append(options, internalqueue.WithClock(p.Clock))
	}
	first := frameworks[p.Configuration.Profiles[0].SchedulerName]
	p.made = internalqueue.NewPriorityQueue(first.QueueSortFunc(), p.Informers, options...)
	if p.passive {
		return p.made, leaveLengths(p.made)
	}
	return p.made, nil
}

// queueingHints collects the events on which each plugin may requeue a pod, as
// buildQueueingHintMap in Kubernetes' pkg/scheduler does.
func (p *Parts) queueingHints(ctx context.Context, extensions []fwk.EnqueueExtensions) (internalqueue.QueueingHintMap, error) {
	out := internalqueue.QueueingHintMap{}
	var errs []error
	if p.ordered { // a framework has them in random order
		extensions = slices.SortedFunc(slices.Values(extensions), func(a, b fwk.EnqueueExtensions) int { return cmp.Compare(a.Name(), b.Name()) })
	}
	for _, extension := range extensions {
		events, err := extension.EventsToRegister(ctx)
		errs = append(errs, err)
		for _, event := range events {
			hint := event.QueueingHintFn
			if hint == nil {
				hint = alwaysQueue
			}
			fn := &internalqueue.QueueingHintFunction{
				PluginName:        extension.Name(),
				QueueingHintFn:    hint,
				PreQueueingHintFn: event.PreQueueingHintFn,
			}
			on := []fwk.ClusterEvent{event.Event}
			if event.Event.Resource == fwk.Pod {
				on = framework.UnrollPodEvent(event.Event)
			}
			if p.ordered {
				on = apart(on)
			}
			for _, e := range on {
				out[e] = append(out[e], fn)
			}
		}
	}
	return out, errors.Join(errs...)
}

func alwaysQueue(klog.Logger, *v1.Pod, any, any) (fwk.QueueingHint, error) { return fwk.Queue, nil }
