package roundtrip

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/cluster/controlplane"
	"kube-scheduler-simulator/simulator/cluster/virtualnode"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest/manifesttest"
	"kube-scheduler-simulator/simulator/host/quiet"
	"kube-scheduler-simulator/simulator/testing/clustertest"
	"kube-scheduler-simulator/simulator/testing/kubectltest"
)

// shared is the cluster of all tests that do not start their own.
var shared *cluster

func TestMain(m *testing.M) {
	flag.Parse()
	if err := quiet.Klog(); err != nil {
		panic(err)
	}
	os.Exit(func() int {
		if testing.Short() {
			fmt.Println("slow; make test-all runs it")
			return 0
		}
		// Pod groups need it. Feature gates belong to the process.
		if err := utilfeature.DefaultMutableFeatureGate.Set("GenericWorkload=true"); err != nil {
			panic(err)
		}
		var err error
		if shared, err = startCluster(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		code := m.Run()
		if err := shared.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the cluster:", err)
			return 1
		}
		return code
	}())
}

// cluster is a control plane with all controllers and virtual nodes, and without a scheduler: tests
// place the pods.
type cluster struct {
	client  kubernetes.Interface
	config  *rest.Config
	kubectl kubectltest.Kubectl
	undo    []func(context.Context) error
}

func startCluster() (_ *cluster, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), clustertest.Timeout)
	defer cancel()
	c := &cluster{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.stop())
		}
	}()
	dir, err := os.MkdirTemp("", "transfer-test-")
	if err != nil {
		return nil, err
	}
	c.undo = append(c.undo, func(context.Context) error { return os.RemoveAll(dir) })
	control := controlplane.New(controlplane.Options{DataDir: dir, Controllers: []string{"*"}, VirtualNodes: true})
	if err := control.Start(ctx); err != nil {
		return nil, err
	}
	c.undo = append(c.undo, control.Stop)
	c.config, c.kubectl = control.ClientConfig(), kubectltest.Kubectl{Kubeconfig: control.Kubeconfig()}
	if c.client, err = kubernetes.NewForConfig(c.config); err != nil {
		return nil, err
	}
	nodes := virtualnode.New(virtualnode.Options{ClientConfig: c.config, Informers: control.Informers()})
	if err := nodes.Start(ctx); err != nil {
		return nil, err
	}
	c.undo = append(c.undo, nodes.Stop)
	return c, nil
}

func (c *cluster) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), clustertest.Timeout)
	defer cancel()
	var errs []error
	for i := len(c.undo) - 1; i >= 0; i-- {
		errs = append(errs, c.undo[i](ctx))
	}
	return errors.Join(errs...)
}

// another starts a cluster for one test.
func another(t testing.TB) *cluster {
	t.Helper()
	c, err := startCluster()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// importText imports a text, and fails the test for each object that failed.
func importText(t testing.TB, c *cluster, text string, opts transfer.ImportOptions) *transfer.Report {
	t.Helper()
	report, err := transfer.New(transfer.Options{Config: c.config}).Import(t.Context(), manifest.NewSource(manifesttest.Part("input", text)), opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Failed {
		t.Errorf("failed: %s %s/%s: %s", f.Kind, f.Namespace, f.Name, f.Message)
	}
	for _, w := range report.Warnings {
		t.Logf("warning: %s %s/%s: %s", w.Kind, w.Namespace, w.Name, w.Message)
	}
	return report
}

func export(t testing.TB, c *cluster, opts transfer.ExportOptions) string {
	t.Helper()
	var out strings.Builder
	if err := transfer.New(transfer.Options{Config: c.config}).Export(t.Context(), &out, opts); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// podsOf returns the pods of a namespace by name.
func podsOf(ctx context.Context, c *cluster, namespace string) (map[string]*corev1.Pod, error) {
	list, err := c.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	found := map[string]*corev1.Pod{}
	for i := range list.Items {
		found[list.Items[i].Name] = &list.Items[i]
	}
	return found, nil
}

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}
