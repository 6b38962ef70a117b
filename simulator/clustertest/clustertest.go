// Package clustertest helps tests that run a control plane: it starts and stops one with the
// test, creates clients, and waits for conditions.
//
// Only tests import it. It accesses control planes through an interface, so that their own
// tests can use it, too. It may import none of our packages.
package clustertest

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// pollInterval is the pause between two checks of a condition.
const pollInterval = 20 * time.Millisecond

// Timeout bounds each wait. A passing test stays far below it, even on a busy
// machine.
const Timeout = slowdown * time.Minute

// Scale multiplies a time bound by the slowdown of this test binary. Use it for the bounds of
// measured times; Timeout bounds waits.
func Scale(d time.Duration) time.Duration { return slowdown * d }

// Eventually waits until condition returns true, and fails the test when it returns an error
// or Timeout is over. what completes the sentence "waiting until …".
func Eventually(t testing.TB, what string, condition func(ctx context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), pollInterval, Timeout, true, condition); err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}

// ControlPlane is a control plane that a test starts.
type ControlPlane interface {
	Start(ctx context.Context) error
	// Stop does nothing when the control plane has stopped already.
	Stop(ctx context.Context) error
	ClientConfig() *rest.Config
}

// Start starts a control plane, which stops at the end of the test at the latest.
func Start[C ControlPlane](t testing.TB, c C) C {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Timeout)
	defer cancel()
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Stop(t, c) })
	return c
}

// Stop stops a control plane.
func Stop(t testing.TB, c ControlPlane) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Timeout) // t's context ends before its cleanups
	defer cancel()
	if err := c.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// Client returns a typed client.
func Client(t testing.TB, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}
