package simulation

import (
	"context"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/internal/upstream"
)

// turns makes the binding cycles take turns. The scheduler starts a goroutine for each; here, only
// one of these or the goroutine of the simulation's caller runs at a time. A binding cycle begins,
// and resumes after a wait, when the simulation gives it the turn. It gives the turn back when it
// has to wait, and at its end.
type turns struct {
	timeline *timeline
	// running are the binding cycles in starting order.
	running []*binding
	back    chan struct{}
	// nominated: the queue has heard of a nominated pod.
	nominated bool

	// mu guards byPod, because a new binding cycle looks for its turn at once.
	mu    sync.Mutex
	byPod map[types.UID]*binding
}

func newTurns(t *timeline) *turns {
	return &turns{timeline: t, byPod: map[types.UID]*binding{}, back: make(chan struct{})}
}

type binding struct {
	pod  *v1.Pod
	turn chan struct{}
	// begun: its goroutine waits for the first turn or has had it.
	begun, over bool
	// ready reports whether a waiting cycle can go on; nil if it can.
	ready func() bool
	// failing: the failure handler has run, and only a call of the queue is left.
	failing, forgotten bool
	// activates: PostBind has run, and only a call of the queue is left.
	activates bool
}

// expect notes that the scheduler is about to start a binding cycle.
func (t *turns) expect(pod *v1.Pod) {
	b := &binding{pod: pod, turn: make(chan struct{})}
	t.running = append(t.running, b)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byPod[pod.UID] = b
}

func (t *turns) of(pod *v1.Pod) *binding {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byPod[pod.UID]
}

// begin is called on a binding cycle's goroutine, at each of its first steps.
func (t *turns) begin(pod *v1.Pod) {
	if b := t.of(pod); !b.begun {
		<-b.turn
		b.begun = true
	}
}

// park gives the turn back until ready.
func (t *turns) park(b *binding, ready func() bool) {
	b.ready = ready
	t.back <- struct{}{}
	<-b.turn
	b.ready = nil
}

func (t *turns) end(b *binding) {
	b.over = true
	t.mu.Lock()
	delete(t.byPod, b.pod.UID)
	t.mu.Unlock()
	t.back <- struct{}{}
}

func (t *turns) nominates() bool { return t.nominated }

// run gives each binding cycle that can go on one turn, and reports whether there was one.
func (t *turns) run() bool {
	any := false
	for i := 0; i < len(t.running); i++ {
		b := t.running[i]
		if b.ready != nil && !b.ready() {
			continue
		}
		any = true
		b.turn <- struct{}{}
		<-t.back
	}
	if any {
		kept := t.running[:0]
		for _, b := range t.running {
			if !b.over {
				kept = append(kept, b)
			}
		}
		clear(t.running[len(kept):])
		t.running = kept
	}
	return any
}

func (t *turns) wait(ctx context.Context, pod *v1.Pod, interval, timeout time.Duration, done func() (bool, error)) error {
	b := t.of(pod)
	for end := t.timeline.Now().Add(timeout); ; {
		due := false
		alarm := t.timeline.after(min(interval, end.Sub(t.timeline.Now())), true, func() { due = true })
		t.park(b, func() bool { return due || ctx.Err() != nil })
		alarm.stop()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if finished, err := done(); finished || err != nil {
			return err
		}
		if !t.timeline.Now().Before(end) {
			return context.DeadlineExceeded
		}
	}
}

// inner decorates a framework beneath the recorder.
type inner struct {
	framework.Framework
	turns *turns
}

// forever is longer than any simulation runs.
const forever = 1000 * time.Hour

// AddWaitingPod starts the timeouts of permits in virtual time.
func (f inner) AddWaitingPod(pod *v1.Pod, timeouts map[string]time.Duration) {
	real := map[string]time.Duration{}
	for plugin := range timeouts {
		real[plugin] = forever
	}
	f.Framework.AddWaitingPod(pod, real)
	for _, plugin := range sortedKeys(timeouts) {
		d := timeouts[plugin]
		f.turns.timeline.after(d, true, func() {
			if waiting := f.GetWaitingPod(pod.UID); waiting != nil && waiting.GetPod() == pod {
				waiting.Reject(plugin, "rejected due to timeout after waiting "+d.String()+" at plugin "+plugin)
			}
		})
	}
}

// WaitOnPermit is called in every binding cycle.
func (f inner) WaitOnPermit(ctx context.Context, pod *v1.Pod) *fwk.Status {
	if waiting := f.GetWaitingPod(pod.UID); waiting != nil && !upstream.Released(waiting) {
		f.turns.park(f.turns.of(pod), func() bool { return upstream.Released(waiting) })
	}
	return f.Framework.WaitOnPermit(ctx, pod)
}

// outer decorates a framework around the recorder.
type outer struct {
	framework.Framework
	turns *turns
}

// RunPermitPlugins is the last step of a scheduling cycle.
func (f outer) RunPermitPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (map[string]time.Duration, *fwk.Status) {
	timeouts, status := f.Framework.RunPermitPlugins(ctx, state, pod, node)
	if status.IsSuccess() || status.IsWait() {
		f.turns.expect(pod)
	}
	return timeouts, status
}

// RunPreBindPreFlights is the first step of a binding cycle, unless it is disabled.
func (f outer) RunPreBindPreFlights(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	f.turns.begin(pod)
	return f.Framework.RunPreBindPreFlights(ctx, state, pod, node)
}

// WaitOnPermit is the next step.
func (f outer) WaitOnPermit(ctx context.Context, pod *v1.Pod) *fwk.Status {
	f.turns.begin(pod)
	return f.Framework.WaitOnPermit(ctx, pod)
}

// RunPostBindPlugins is the last step, unless there are pods to activate.
func (f outer) RunPostBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	f.Framework.RunPostBindPlugins(ctx, state, pod, node)
	b := f.turns.of(pod)
	if data, err := state.Read(framework.PodsToActivateKey); err == nil {
		if activate, ok := data.(*framework.PodsToActivate); ok && len(activate.Map) > 0 {
			b.activates = true
			return
		}
	}
	f.turns.end(b)
}

// failed is called after the failure handler. It ends a failed binding cycle, unless a call of the
// queue is left.
func (t *turns) failed(pod *v1.Pod, status *fwk.Status) {
	b := t.of(pod)
	switch {
	case b == nil || !b.begun:
	case status.IsRejected() && b.forgotten:
		b.failing = true
	default:
		t.end(b)
	}
}

type turnCache struct {
	internalcache.Cache
	turns *turns
}

func (c turnCache) ForgetPod(logger klog.Logger, pod *v1.Pod) error {
	err := c.Cache.ForgetPod(logger, pod)
	if b := c.turns.of(pod); b != nil && err == nil {
		b.forgotten = true
	}
	return err
}

// turnQueue ends binding cycles whose last step is a call of the queue.
type turnQueue struct {
	internalqueue.SchedulingQueue
	turns *turns
	// sawNominated is called when the queue names nominated pods.
	sawNominated func()
}

func (q turnQueue) MoveAllToActiveOrBackoffQueue(logger klog.Logger, event fwk.ClusterEvent, oldObj, newObj any, check internalqueue.PreEnqueueCheck) {
	q.SchedulingQueue.MoveAllToActiveOrBackoffQueue(logger, event, oldObj, newObj, check)
	pod, ok := oldObj.(*v1.Pod)
	if !ok || newObj != nil {
		return
	}
	if b := q.turns.of(pod); b != nil && b.failing && b.pod == pod {
		q.turns.end(b)
	}
}

func (q turnQueue) Activate(logger klog.Logger, pods map[string]*v1.Pod) {
	q.SchedulingQueue.Activate(logger, pods)
	for _, b := range q.turns.running {
		if b.activates && !b.over {
			q.turns.end(b)
			return
		}
	}
}

func (q turnQueue) AddNominatedPod(logger klog.Logger, pod fwk.PodInfo, nominating *fwk.NominatingInfo) {
	if nominating.Mode() == fwk.ModeOverride && nominating.NominatedNodeName != "" || pod.GetPod().Status.NominatedNodeName != "" {
		q.turns.nominated = true
	}
	q.SchedulingQueue.AddNominatedPod(logger, pod, nominating)
}

func (q turnQueue) Add(ctx context.Context, pod *v1.Pod) {
	q.turns.nominated = q.turns.nominated || pod.Status.NominatedNodeName != ""
	q.SchedulingQueue.Add(ctx, pod)
}

func (q turnQueue) Update(ctx context.Context, before, after *v1.Pod) {
	q.turns.nominated = q.turns.nominated || after.Status.NominatedNodeName != ""
	q.SchedulingQueue.Update(ctx, before, after)
}

func (q turnQueue) NominatedPodsForNode(node string) []fwk.PodInfo {
	pods := q.SchedulingQueue.NominatedPodsForNode(node)
	if len(pods) > 0 {
		q.sawNominated()
	}
	return pods
}
