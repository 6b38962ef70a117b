package guard

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// passing is a Filter plugin that does nothing.
type passing struct{}

func (passing) Name() string { return "Passing" }

//go:noinline
func (passing) Filter(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) *fwk.Status { return nil }

// rejecting is a Filter plugin that rejects every node.
type rejecting struct{ passing }

var full = fwk.NewStatus(fwk.Unschedulable, "full")

//go:noinline
func (rejecting) Filter(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) *fwk.Status {
	return full
}

// Filter is called for each plugin and node, so the guard must cost little.
func BenchmarkFilter(b *testing.B) {
	guard := New("Passing", func(*Panic, *v1.Pod) {})
	for name, plugin := range map[string]fwk.FilterPlugin{
		"bare": passing{}, "guarded": guard.Filter(passing{}), "rejecting": rejecting{}, "guarded, rejecting": guard.Filter(rejecting{}),
	} {
		b.Run(name, func(b *testing.B) {
			ctx := b.Context()
			for b.Loop() {
				plugin.Filter(ctx, nil, nil, nil)
			}
		})
	}
}
