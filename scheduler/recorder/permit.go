package recorder

import (
	"context"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// permitWait is the wait of a pod that Permit plugins hold. The cycle's mu guards it.
type permitWait struct {
	start    time.Time
	timeouts map[string]time.Duration
	took     time.Duration
	// status is nil while the pod waits.
	status *fwk.Status
}

// RunPermitPlugins publishes the cycle of a pod that has to wait, perhaps for minutes.
func (f *recorded) RunPermitPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (map[string]time.Duration, *fwk.Status) {
	start := f.recorder.now()
	timeouts, status := f.Framework.RunPermitPlugins(ctx, state, pod, node)
	f.schedulingPoint(pod, "permit", start)
	if status.IsWait() {
		if c := f.recorder.scheduling(pod); c != nil {
			c.beginWait(f.recorder.now(), timeouts)
			f.recorder.send(c, ending{at: f.recorder.now(), outcome: result.Waiting, status: status.Clone()})
		}
	}
	return timeouts, status
}

// AddWaitingPod starts the plugins' timeouts.
func (f *recorded) AddWaitingPod(pod *v1.Pod, timeouts map[string]time.Duration) {
	if c := f.recorder.scheduling(pod); c != nil {
		c.beginWait(f.recorder.now(), timeouts)
	}
	f.Framework.AddWaitingPod(pod, timeouts)
}

func (c *cycle) beginWait(now time.Time, timeouts map[string]time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wait = &permitWait{start: now, timeouts: timeouts}
}

// WaitOnPermit is called in every binding cycle. It returns at once for a pod that does
// not wait.
func (f *recorded) WaitOnPermit(ctx context.Context, pod *v1.Pod) *fwk.Status {
	f.recorder.forgetOtherTries(pod.UID)
	status := f.Framework.WaitOnPermit(ctx, pod)
	if c := f.recorder.binding(pod); c != nil {
		c.endWait(f.recorder.now(), status)
	}
	return status
}

func (c *cycle) endWait(now time.Time, status *fwk.Status) {
	c.mu.Lock()
	if c.wait == nil {
		c.mu.Unlock()
		return
	}
	c.wait.took = now.Sub(c.wait.start)
	c.wait.status = fwk.NewStatus(fwk.Success)
	if status != nil {
		c.wait.status = status.Clone()
	}
	took := c.wait.took
	c.mu.Unlock()
	c.point("waitOnPermit", took)
}

// build returns nil for a pod that did not wait. order is that of the Permit plugins.
//
// When a plugin's timeout expires, the framework ends the wait as if that plugin had rejected the
// pod. Timers never fire early and the pod's timers start after start, so a plugin that ended the
// wait after its timeout did not answer in time.
func (w *permitWait) build(order []string) *result.PermitWait {
	if w == nil {
		return nil
	}
	out := &result.PermitWait{Plugins: []string{}}
	for plugin := range w.timeouts {
		out.Plugins = append(out.Plugins, plugin)
	}
	slices.SortFunc(out.Plugins, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	if w.status == nil {
		return out
	}
	seconds := w.took.Seconds()
	out.DurationSeconds = &seconds
	out.Status, out.Plugin, out.Reasons = w.status.Code().String(), w.status.Plugin(), reasons(w.status)
	timeout, waited := w.timeouts[out.Plugin]
	out.TimedOut = w.status.IsRejected() && waited && w.took >= timeout
	return out
}
