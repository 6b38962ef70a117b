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

// Filter is called for each plugin and node, so the guard must cost little.
func BenchmarkFilter(b *testing.B) {
	for name, plugin := range map[string]fwk.FilterPlugin{
		"bare": passing{}, "guarded": New("Passing", func(*Panic, *v1.Pod) {}).Filter(passing{}),
	} {
		b.Run(name, func(b *testing.B) {
			ctx := b.Context()
			for b.Loop() {
				plugin.Filter(ctx, nil, nil, nil)
			}
		})
	}
}
