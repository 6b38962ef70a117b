package schedulertest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// queue notes which event moved which pod. It ignores events that moved none.
type queue struct {
	internalqueue.SchedulingQueue
	transcript *Transcript

	// moving serializes moves, so that each is noted with its cause.
	moving  sync.Mutex
	changed chan struct{}
	closed  atomic.Bool
}

func newQueue(t *Transcript, q internalqueue.SchedulingQueue) *queue {
	return &queue{SchedulingQueue: q, transcript: t, changed: make(chan struct{}, 1)}
}

const (
	// pause is the time between a move in the queue and the next pop.
	pause = 2 * time.Millisecond
	// thinking is the time between the pop and the cycle, in which events may come.
	thinking = 1100 * time.Microsecond
	// idle is how often to check a quiet queue: pods leave the backoff queue on their own.
	idle = 250 * time.Millisecond
)

// next returns a pop function for the scheduler, which pauses before and after each
// pop until stop.
func (q *queue) next(pop func(klog.Logger) (framework.QueuedEntityInfo, error), stop <-chan struct{}) func(klog.Logger) (framework.QueuedEntityInfo, error) {
	return func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		for {
			select {
			case <-stop:
				return pop(logger) // returns when the queue is closed
			default:
			}
			if q.ready() {
				entity, err := pop(logger)
				time.Sleep(thinking)
				return entity, err
			}
			select {
			case <-q.changed:
				time.Sleep(pause)
			case <-time.After(idle):
			case <-stop:
			}
		}
	}
}

func (q *queue) ready() bool {
	if len(q.PodsInActiveQ()) > 0 {
		return true
	}
	for _, pod := range q.PodsInBackoffQ() {
		if info, ok := q.GetPod(pod.Name, pod.Namespace, pod.Spec.SchedulingGroup); ok && pod.Spec.SchedulingGroup == nil && info.ConsecutiveErrorsCount == 0 {
			return popsFromBackoff()
		}
	}
	return false
}

// moved runs do, which may move pods, and notes the pods that moved.
func (q *queue) moved(cause string, do func()) {
	q.moving.Lock()
	defer q.moving.Unlock()
	before := q.places()
	do()
	after := q.places()
	var moves []string
	for pod, place := range after {
		if before[pod] != place {
			moves = append(moves, fmt.Sprintf("%s %s→%s", pod, orElse(before[pod], "none"), place))
		}
	}
	for pod, place := range before {
		if after[pod] == "" {
			moves = append(moves, fmt.Sprintf("%s %s→none", pod, place))
		}
	}
	if len(moves) == 0 {
		return
	}
	slices.Sort(moves)
	q.transcript.note(requeuing, "queue: %s moved %s", cause, strings.Join(moves, ", "))
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// places returns the part of the queue that each waiting pod is in. In flight is not
// a part, because a pod leaves it without a move of the queue.
func (q *queue) places() map[string]string {
	out := map[string]string{}
	for place, pods := range map[string][]*v1.Pod{
		"unschedulable": q.UnschedulablePods(),
		"group pending": q.PendingPodGroupPods(),
		"no group":      q.IncompletePodGroupPodsPods(),
		"active":        q.PodsInActiveQ(),
		"backoff":       q.PodsInBackoffQ(),
	} {
		for _, pod := range pods {
			if was := out[podKey(pod)]; was != "" {
				places := []string{was, place}
				slices.Sort(places)
				place = strings.Join(places, "+")
			}
			out[podKey(pod)] = place
		}
	}
	return out
}

// Add gives each pod of an informer's first list a different instant, because the
// queue orders pods by time.
func (q *queue) Add(ctx context.Context, pod *v1.Pod) {
	time.Sleep(time.Microsecond)
	q.moved("a new pod", func() { q.SchedulingQueue.Add(ctx, pod) })
}

func (q *queue) Update(ctx context.Context, oldPod, newPod *v1.Pod) {
	q.moved("an update of "+podKey(newPod), func() { q.SchedulingQueue.Update(ctx, oldPod, newPod) })
}

// Close closes the queue. Moves that empty it afterwards are not noted.
func (q *queue) Close() {
	q.closed.Store(true)
	q.SchedulingQueue.Close()
}

func (q *queue) Delete(logger klog.Logger, pod *v1.Pod) {
	if q.closed.Load() {
		q.SchedulingQueue.Delete(logger, pod)
		return
	}
	q.moved("the end of "+podKey(pod), func() { q.SchedulingQueue.Delete(logger, pod) })
}

func (q *queue) Activate(logger klog.Logger, pods map[string]*v1.Pod) {
	q.moved("an activation", func() { q.SchedulingQueue.Activate(logger, pods) })
}

func (q *queue) MoveAllToActiveOrBackoffQueue(logger klog.Logger, event fwk.ClusterEvent, oldObj, newObj any, check internalqueue.PreEnqueueCheck) {
	q.moved(event.Label(), func() { q.SchedulingQueue.MoveAllToActiveOrBackoffQueue(logger, event, oldObj, newObj, check) })
}

func (q *queue) AddUnschedulablePodIfNotPresent(logger klog.Logger, info *framework.QueuedPodInfo, cycle int64) (err error) {
	q.moved("failure", func() { err = q.SchedulingQueue.AddUnschedulablePodIfNotPresent(logger, info, cycle) })
	return err
}

func (q *queue) AddAttemptedPodGroupIfNeeded(logger klog.Logger, info *framework.QueuedPodGroupInfo, cycle int64, status *fwk.Status) (err error) {
	q.moved("the attempt of a group", func() { err = q.SchedulingQueue.AddAttemptedPodGroupIfNeeded(logger, info, cycle, status) })
	return err
}

// state describes the pending pods, one line each, in order.
func (q *queue) state(since time.Time) []string {
	q.moving.Lock()
	defer q.moving.Unlock()
	places := q.places()
	pods := map[string]*v1.Pod{}
	all, _ := q.PendingPods()
	for _, pod := range slices.Concat(all, q.PendingPodGroupPods(), q.IncompletePodGroupPodsPods(), q.InFlightPods()) {
		pods[podKey(pod)] = pod
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(pods)) {
		text := fmt.Sprintf("pending %s: %s", key, orElse(places[key], "in flight"))
		if info, ok := q.GetPod(pods[key].Name, pods[key].Namespace, pods[key].Spec.SchedulingGroup); ok {
			text += describe(info, since)
		}
		out = append(out, text)
	}
	// Taking the queue's lock again orders these reads before its next action.
	_, _ = q.PendingPods()
	return out
}

func describe(info *framework.QueuedPodInfo, since time.Time) string {
	text := fmt.Sprintf(", %d attempts, %d unschedulable, %d errors, unschedulable by %v, pending by %v, since %v",
		info.Attempts, info.UnschedulableCount, info.ConsecutiveErrorsCount,
		sets.List(info.UnschedulablePlugins), sets.List(info.PendingPlugins), info.Timestamp.Sub(since))
	if info.GatingPlugin != "" {
		text += ", gated by " + info.GatingPlugin
	}
	if !info.BackoffExpiration.IsZero() {
		text += fmt.Sprintf(", backs off until %v", info.BackoffExpiration.Sub(since))
	}
	if info.InitialAttemptTimestamp != nil {
		text += fmt.Sprintf(", first tried %v", info.InitialAttemptTimestamp.Sub(since))
	}
	if info.WasFlushedFromUnschedulable {
		text += ", flushed"
	}
	return text
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
