package recorder_test

import (
	"context"
	"fmt"
	"log"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/recorder/comparison"
	"kube-scheduler-simulator/scheduler/result"
)

// approval is a PreEnqueue plugin that holds back pods without an approval.
type approval struct{}

func (approval) Name() string { return "Approval" }

func (approval) PreEnqueue(_ context.Context, pod *v1.Pod) *fwk.Status {
	if pod.Labels["approved"] == "yes" {
		return nil
	}
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "the pod is not approved")
}

// printer is a sink that prints the cycles of a recorded scheduler.
type printer struct{}

func (printer) NextAttempt(types.UID) int { return 1 }

func (printer) Put(c *result.Cycle) { fmt.Println(c.Pod.Name, c.Outcome, c.SelectedNode) }

// profile is the handle that a framework gives to its plugins.
type profile struct{ fwk.Handle }

func (profile) ProfileName() string { return "default-scheduler" }

// The factories of a wrapped registry create plugins that record their answers. They
// keep their names.
func ExampleRecorder_Wrap() {
	r := recorder.New(printer{}, comparison.InTree{}, nil)
	registry := r.Wrap(frameworkruntime.Registry{
		"Approval": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return approval{}, nil },
	})

	// A framework does this for each plugin of a profile, and the queue for each pod.
	ctx := context.Background()
	plugin, err := registry["Approval"](ctx, nil, profile{})
	if err != nil {
		log.Fatal(err)
	}
	pod := st.MakePod().Name("web").UID("1").Obj()
	plugin.(fwk.PreEnqueuePlugin).PreEnqueue(ctx, pod)

	fmt.Println(plugin.Name())
	for _, answer := range r.PreEnqueueRejections(pod.UID) {
		fmt.Println(answer.Plugin, answer.Status, answer.Reasons)
	}
	// Output:
	// Approval
	// Approval UnschedulableAndUnresolvable [the pod is not approved]
}
