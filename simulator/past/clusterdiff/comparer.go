package clusterdiff

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/past/branch"
)

// Comparer compares running simulators by their names. The trunk's is empty. Its method is safe for
// concurrent use.
type Comparer struct {
	// Access returns how to reach the Kubernetes API of a simulator, and its scheduler
	// configuration.
	Access func(ctx context.Context, name string) (*rest.Config, []byte, error)
	Parse  func(document []byte) (*config.Configuration, error)
}

// Compare compares two simulators. The error is a *branch.Refusal if they are the same one.
func (c Comparer) Compare(ctx context.Context, nameA, nameB string) (*Comparison, error) {
	if nameA == nameB {
		return nil, &branch.Refusal{Reason: branch.Invalid, Message: "compare two different simulators; an empty name is the trunk"}
	}
	var states [2]State
	for i, name := range []string{nameA, nameB} {
		var err error
		if states[i], err = c.state(ctx, name); err != nil {
			return nil, err
		}
	}
	found := Compare(states[0], states[1])
	return &found, nil
}

// requestTimeout bounds each request to a simulator.
const requestTimeout = 30 * time.Second

func (c Comparer) state(ctx context.Context, name string) (State, error) {
	state := State{Name: name}
	address, document, err := c.Access(ctx, name)
	if err != nil {
		return state, err
	}
	called := "the trunk"
	if name != "" {
		called = "the branch " + name
	}
	address = rest.CopyConfig(address)
	address.Timeout = requestTimeout
	client, err := kubernetes.NewForConfig(address)
	if err != nil {
		return state, fmt.Errorf("preparing a client of %s: %w", called, err)
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return state, fmt.Errorf("listing the nodes of %s: %w", called, err)
	}
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return state, fmt.Errorf("listing the pods of %s: %w", called, err)
	}
	state.Nodes, state.Pods = nodes.Items, pods.Items
	if state.Configuration, err = c.Parse(document); err != nil {
		return state, fmt.Errorf("reading the scheduler configuration of %s: %w", called, err)
	}
	return state, nil
}
