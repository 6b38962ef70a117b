package controlplane

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"kube-scheduler-simulator/simulator/host/quiet"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// shared is the control plane of all tests that do not start their own.
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
	ctx, cancel := context.WithTimeout(context.Background(), clustertest.Timeout)
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
		ctx, cancel := context.WithTimeout(context.Background(), clustertest.Timeout)
		defer cancel()
		shared.err = shared.controlPlane.Start(ctx)
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.controlPlane
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

// BenchmarkStart measures New to ready, without the stop. Run it with -benchtime 1x
// for a first start, which also includes the structures that Kubernetes builds once
// per process.
func BenchmarkStart(b *testing.B) {
	for _, durable := range []bool{false, true} {
		name := "throw-away"
		if durable {
			name = "durable"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				controlPlane := clustertest.Start(b, New(Options{DataDir: b.TempDir(), Durable: durable}))
				b.StopTimer()
				clustertest.Stop(b, controlPlane)
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
