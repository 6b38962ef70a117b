package schedulertest

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/pluginfact"
)

// OutOfTree returns typical out-of-tree plugins: they have no queueing hints, so
// every event requeues the pods that they rejected, and they make pods wait.
func OutOfTree() frameworkruntime.Registry {
	return frameworkruntime.Registry{
		"Picky": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return picky{}, nil },
		"Patient": func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			return &patient{handle: h, tried: map[types.UID]bool{}}, nil
		},
		"Thorough": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
			return preparer{"Thorough", 30 * time.Millisecond}, nil
		},
		"Brisk": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
			return preparer{"Brisk", 10 * time.Millisecond}, nil
		},
	}
}

// OutOfTree returns the same plugins and one more, Witness: a Filter plugin that lets all
// nodes pass and tells the observer what it sees of them.
func (o *Observer) OutOfTree() frameworkruntime.Registry {
	out := OutOfTree()
	out["Witness"] = func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return witness{o}, nil }
	return out
}

type witness struct{ to *Observer }

var _ fwk.FilterPlugin = witness{}

func (witness) Name() string { return "Witness" }

func (w witness) Filter(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	w.to.witnessed(pod, node)
	return nil
}

// picky requires hard disks for some pods. It attaches facts to the cycle.
type picky struct{}

var (
	_ fwk.FilterPlugin = picky{}
	_ fwk.SignPlugin   = picky{}
)

func (picky) Name() string { return "Picky" }

func (picky) Filter(_ context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	pluginfact.RecordNode(state, "Picky", node.Node().Name, "disk", node.Node().Labels["disk"])
	if pod.Labels["app"] == "b" && node.Node().Labels["disk"] == "ssd" {
		return fwk.NewStatus(fwk.Unschedulable, "solid state is too good for it")
	}
	return nil
}

func (picky) SignPod(_ context.Context, pod *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	return []fwk.SignFragment{{Key: "app", Value: pod.Labels["app"]}}, nil
}

// patient makes pods wait in Permit: it allows some in time, rejects others once, and lets
// others time out once.
type patient struct {
	handle fwk.Handle
	// tried holds the pods that were rejected or timed out. Permit is called on the
	// scheduling goroutine.
	tried map[types.UID]bool
}

var _ fwk.PermitPlugin = (*patient)(nil)

func (*patient) Name() string { return "Patient" }

const (
	patience = 300 * time.Millisecond
	grant    = 120 * time.Millisecond
	refusal  = 180 * time.Millisecond
)

func (p *patient) Permit(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) (*fwk.Status, time.Duration) {
	switch pod.Labels["app"] {
	case "a":
		time.AfterFunc(grant, func() {
			if waiting := p.handle.GetWaitingPod(pod.UID); waiting != nil {
				waiting.Allow(p.Name())
			}
		})
		return fwk.NewStatus(fwk.Wait), patience
	case "b":
		if !p.tried[pod.UID] {
			p.tried[pod.UID] = true
			time.AfterFunc(refusal, func() {
				if waiting := p.handle.GetWaitingPod(pod.UID); waiting != nil {
					waiting.Reject(p.Name(), "on second thoughts, no")
				}
			})
			return fwk.NewStatus(fwk.Wait), patience
		}
	case "c":
		if !p.tried[pod.UID] {
			p.tried[pod.UID] = true
			return fwk.NewStatus(fwk.Wait), patience
		}
	}
	return nil, 0
}

// preparer prepares nodes for pods in PreBind, beside other preparers. Pods of app c need
// no preparation.
type preparer struct {
	name string
	work time.Duration
}

var _ fwk.PreBindPlugin = preparer{}

func (p preparer) Name() string { return p.name }

func (p preparer) PreBindPreFlight(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	if pod.Labels["app"] == "c" {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	return &fwk.PreBindPreFlightResult{AllowParallel: true}, nil
}

func (p preparer) PreBind(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status {
	time.Sleep(p.work)
	return nil
}
