package scheduler

import (
	"context"
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	apidispatcher "k8s.io/kubernetes/pkg/scheduler/backend/api_dispatcher"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// pluginMetricsSamplePercent is upstream's.
const pluginMetricsSamplePercent = 10

// queue returns a scheduling queue, wired to the recorded frameworks as
// upstream.New wires its own to the frameworks that it builds.
func (b *builder) queue(ctx context.Context, p *profiles, m *metrics.MetricAsyncRecorder, dispatcher *apidispatcher.APIDispatcher) (internalqueue.SchedulingQueue, error) {
	preEnqueue := map[string]map[string]fwk.PreEnqueuePlugin{}
	hints := internalqueue.QueueingHintMapPerProfile{}
	signers := map[string]internalqueue.PodSigner{}
	for name, f := range p.frameworks {
		preEnqueue[name] = map[string]fwk.PreEnqueuePlugin{}
		for _, plugin := range f.PreEnqueuePlugins() {
			preEnqueue[name][plugin.Name()] = plugin
		}
		var err error
		if hints[name], err = queueingHints(ctx, f.EnqueueExtensions()); err != nil {
			return nil, err
		}
		signers[name] = f.SignPod
	}
	options := []internalqueue.Option{
		internalqueue.WithPodInitialBackoffDuration(time.Duration(b.configuration.PodInitialBackoffSeconds) * time.Second),
		internalqueue.WithPodMaxBackoffDuration(time.Duration(b.configuration.PodMaxBackoffSeconds) * time.Second),
		internalqueue.WithPodLister(b.informers.Core().V1().Pods().Lister()),
		internalqueue.WithPodMaxInUnschedulablePodsDuration(internalqueue.DefaultPodMaxInUnschedulablePodsDuration),
		internalqueue.WithPreEnqueuePluginMap(preEnqueue),
		internalqueue.WithQueueingHintMapPerProfile(hints),
		internalqueue.WithPluginMetricsSamplePercent(pluginMetricsSamplePercent),
		internalqueue.WithMetricsRecorder(m),
		internalqueue.WithPodSigners(signers),
	}
	if dispatcher != nil {
		options = append(options, internalqueue.WithAPIDispatcher(dispatcher))
	}
	first := p.frameworks[b.configuration.Profiles[0].SchedulerName]
	return unmoved{internalqueue.NewSchedulingQueue(first.QueueSortFunc(), b.informers, options...), b.own, b.known}, nil
}

// queueingHints gathers the events for which each plugin may bring a pod back.
func queueingHints(ctx context.Context, extensions []fwk.EnqueueExtensions) (internalqueue.QueueingHintMap, error) {
	out := internalqueue.QueueingHintMap{}
	var errs []error
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
			for _, e := range on {
				out[e] = append(out[e], fn)
			}
		}
	}
	return out, errors.Join(errs...)
}

func alwaysQueue(klog.Logger, *v1.Pod, any, any) (fwk.QueueingHint, error) { return fwk.Queue, nil }

// seenCache is a scheduler's cache that sees which nodes and bound pods the
// scheduler has come to know of, also where no waiting pod is moved for that.
type seenCache struct {
	internalcache.Cache
	known *known
}

func (c seenCache) UpdateNode(logger klog.Logger, oldNode, newNode *v1.Node) {
	c.Cache.UpdateNode(logger, oldNode, newNode)
	c.known.note(oldNode, newNode)
}

func (c seenCache) UpdatePod(logger klog.Logger, oldPod, newPod *v1.Pod) error {
	err := c.Cache.UpdatePod(logger, oldPod, newPod)
	c.known.note(oldPod, newPod)
	return err
}

// unmoved is a scheduling queue that our own annotations do not move. It also
// sees which objects the scheduler has come to know.
type unmoved struct {
	internalqueue.SchedulingQueue
	own   *ownUpdates
	known *known
}

func (q unmoved) Add(ctx context.Context, pod *v1.Pod) {
	q.SchedulingQueue.Add(ctx, pod)
	q.known.note(nil, pod)
}

func (q unmoved) Update(ctx context.Context, oldPod, newPod *v1.Pod) {
	if !q.own.only(oldPod, newPod) {
		q.SchedulingQueue.Update(ctx, oldPod, newPod)
	}
	q.known.note(oldPod, newPod)
}

// Delete is also called for a pod that was bound, by the scheduler or another.
func (q unmoved) Delete(logger klog.Logger, pod *v1.Pod) {
	q.SchedulingQueue.Delete(logger, pod)
	q.known.gone(pod)
}

func (q unmoved) MoveAllToActiveOrBackoffQueue(logger klog.Logger, event fwk.ClusterEvent, oldObj, newObj any, check internalqueue.PreEnqueueCheck) {
	oldPod, _ := oldObj.(*v1.Pod)
	newPod, _ := newObj.(*v1.Pod)
	if !q.own.only(oldPod, newPod) {
		q.SchedulingQueue.MoveAllToActiveOrBackoffQueue(logger, event, oldObj, newObj, check)
	}
	if newObj != nil || oldPod == nil || oldPod.Spec.NodeName != "" { // otherwise a nomination has ended
		q.known.note(oldObj, newObj)
	}
}
