package controlplane

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"kube-scheduler-simulator/simulator/quiet"
)

const (
	pollInterval = 10 * time.Millisecond
	// testTimeout bounds each wait. It is generous: a test that passes does not
	// get near it, also on a busy machine.
	testTimeout = 60 * time.Second
)

// shared is the control plane of all tests that do not start and stop their own.
var shared struct {
	once         sync.Once
	controlPlane *ControlPlane
	err          error
}

func TestMain(m *testing.M) {
	if err := quiet.Klog(); err != nil {
		panic(err)
	}
	if dir := os.Getenv(crashDir); dir != "" {
		panic(runUntilKilled(dir))
	}
	dir, err := os.MkdirTemp("", "controlplane-test-")
	if err != nil {
		panic(err)
	}
	shared.controlPlane = New(Options{DataDir: dir})
	code := m.Run()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	if err := shared.controlPlane.Stop(ctx); err != nil {
		panic(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

func sharedControlPlane(t *testing.T) *ControlPlane {
	t.Helper()
	shared.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		shared.err = shared.controlPlane.Start(ctx)
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.controlPlane
}

// start starts a control plane on dir that the test's end stops, if the test
// has not.
func start(t testing.TB, opts Options) *ControlPlane {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	controlPlane := New(opts)
	if err := controlPlane.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, controlPlane) })
	return controlPlane
}

func stop(t testing.TB, controlPlane *ControlPlane) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	if err := controlPlane.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func newClient(config *rest.Config) (kubernetes.Interface, error) {
	return kubernetes.NewForConfig(config)
}

func clientFor(t testing.TB, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := newClient(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// kubeconfigOf reads the kubeconfig as another process would.
func kubeconfigOf(t testing.TB, controlPlane *ControlPlane) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", controlPlane.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// eventually waits until condition returns true; what says what for.
func eventually(t testing.TB, what string, condition func(context.Context) (bool, error)) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), pollInterval, testTimeout, true, condition)
	if err != nil {
		t.Fatalf("wait until %s: %v", what, err)
	}
}

// BenchmarkStart measures New to ready, without the stop. Run it with
// -benchtime 1x for a first start, which also pays for what Kubernetes builds
// once per process.
func BenchmarkStart(b *testing.B) {
	for _, durable := range []bool{false, true} {
		name := "throw-away"
		if durable {
			name = "durable"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				controlPlane := start(b, Options{DataDir: b.TempDir(), Durable: durable})
				b.StopTimer()
				stop(b, controlPlane)
				b.StartTimer()
			}
		})
	}
}

func dirNames(t testing.TB, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return names
}
