// Package clustertest helps tests wait for conditions, start a control plane, stop it and reach it,
// and find the program.
//
// Only tests import it. It accesses control planes through an interface, so that their own tests
// can use it, too. It may import none of our packages.
package clustertest

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const pollInterval = 20 * time.Millisecond

// Timeout bounds each wait. A passing test stays far below it, even on a busy machine.
const Timeout = slowdown * time.Minute

// Scale multiplies a time bound by the slowdown of this test binary. Use it for the bounds of
// measured times; Timeout bounds waits.
func Scale(d time.Duration) time.Duration { return slowdown * d }

// Eventually waits until condition returns true, and fails the test when it returns an error or
// Timeout is over. what completes the sentence "waiting until …".
func Eventually(t testing.TB, what string, condition func(ctx context.Context) (bool, error)) {
	t.Helper()
	EventuallyWithin(t, Timeout, what, condition)
}

// EventuallyWithin is Eventually with a timeout of the caller's.
func EventuallyWithin(t testing.TB, timeout time.Duration, what string, condition func(ctx context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), pollInterval, timeout, true, condition); err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}

// EventuallyTrue is Eventually for conditions that cannot fail.
func EventuallyTrue(t testing.TB, what string, condition func() bool) {
	t.Helper()
	Eventually(t, what, func(context.Context) (bool, error) { return condition(), nil })
}

// Stopper is what a test stops. Stop does nothing the second time.
type Stopper interface {
	Stop(ctx context.Context) error
}

// ControlPlane is a control plane that a test starts.
type ControlPlane interface {
	Stopper
	Start(ctx context.Context) error
	ClientConfig() *rest.Config
}

// Start starts a control plane. The end of the test stops it at the latest.
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

// Stop stops s, and fails the test when that fails. Cleanups may call it.
func Stop(t testing.TB, s Stopper) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Timeout) // t's context ends before its cleanups
	defer cancel()
	if err := s.Stop(ctx); err != nil {
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

// Slow skips a test in short mode, which is what `make test` uses. make test-all runs it.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow; make test-all runs it")
	}
}
