package bench

import (
	"context"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

const gateName = "Gate"

// gate holds pods at Permit until a number of them wait.
type gate struct {
	handle  fwk.Handle
	pods    int64
	waiting atomic.Int64
}

var _ fwk.PermitPlugin = (*gate)(nil)

func newGate(pods int) frameworkruntime.PluginFactory {
	return func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
		return &gate{handle: h, pods: int64(pods)}, nil
	}
}

func (*gate) Name() string { return gateName }

// The framework calls Permit for one pod at a time, and the earlier pods wait already.
func (g *gate) Permit(context.Context, fwk.CycleState, *v1.Pod, string) (*fwk.Status, time.Duration) {
	if g.waiting.Add(1) < g.pods {
		return fwk.NewStatus(fwk.Wait), maxWait
	}
	g.handle.IterateOverWaitingPods(func(pod fwk.WaitingPod) { pod.Allow(gateName) })
	return nil, 0
}
