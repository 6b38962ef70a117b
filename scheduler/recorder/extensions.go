package recorder

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// preFilterExtensions counts the calls by which the scheduler, or a dry run of preemption, makes a
// plugin's state hypothetical. Many workers call it at once.
type preFilterExtensions struct {
	to    *base
	inner fwk.PreFilterExtensions
}

var _ fwk.PreFilterExtensions = preFilterExtensions{}

func (e preFilterExtensions) AddPod(ctx context.Context, state fwk.CycleState, pod *v1.Pod, added fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	start := e.to.recorder.now()
	status := e.inner.AddPod(ctx, state, pod, added, node)
	e.note(pod, func(calls *result.ExtensionCalls) { calls.Added++ }, start, status)
	return status
}

func (e preFilterExtensions) RemovePod(ctx context.Context, state fwk.CycleState, pod *v1.Pod, removed fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	start := e.to.recorder.now()
	status := e.inner.RemovePod(ctx, state, pod, removed, node)
	e.note(pod, func(calls *result.ExtensionCalls) { calls.Removed++ }, start, status)
	return status
}

func (e preFilterExtensions) note(pod *v1.Pod, count func(*result.ExtensionCalls), start time.Time, status *fwk.Status) {
	c := e.to.recorder.scheduling(pod)
	if c == nil {
		return
	}
	point := result.ForDryRuns
	if c.searching {
		point = result.ForNominatedPods
	}
	c.extensions.note(e.to.Name(), point, count, e.to.since(start), status)
}

type extensionCalls struct {
	mu   sync.Mutex
	list []result.ExtensionCalls
}

func (e *extensionCalls) note(plugin, point string, count func(*result.ExtensionCalls), took time.Duration, status *fwk.Status) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.list, func(c result.ExtensionCalls) bool { return c.Plugin == plugin && c.Point == point })
	if i < 0 {
		i = len(e.list)
		e.list = append(e.list, result.ExtensionCalls{Plugin: plugin, Point: point})
	}
	calls := &e.list[i]
	count(calls)
	calls.DurationSeconds += took.Seconds()
	if status.IsSuccess() {
		return
	}
	calls.Failed++
	if said := messageOf(status); len(calls.Errors) < result.MaxExtensionErrors && !slices.Contains(calls.Errors, said) {
		calls.Errors = append(calls.Errors, said)
	}
}

// sorted returns the calls by extension point, then in the order of the plugins.
func (e *extensionCalls) sorted(order []string) []result.ExtensionCalls {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := slices.Clone(e.list)
	slices.SortFunc(out, func(a, b result.ExtensionCalls) int {
		if a.Point != b.Point {
			return strings.Compare(a.Point, b.Point)
		}
		return slices.Index(order, a.Plugin) - slices.Index(order, b.Plugin)
	})
	return out
}
