package controlplane

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

func TestStartOnDataOfEarlierOne(t *testing.T) {
	clustertest.Slow(t)
	dir := t.TempDir()
	first := clustertest.Start(t, New(Options{DataDir: dir, Durable: true}))
	created, err := clustertest.Client(t, first.ClientConfig()).CoreV1().ConfigMaps("default").Create(t.Context(), configMap("kept"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	firstKubeconfig := kubeconfigOf(t, first)
	clustertest.Stop(t, first)

	second := clustertest.Start(t, New(Options{DataDir: dir, Durable: true}))
	found, err := clustertest.Client(t, kubeconfigOf(t, second)).CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(created, found); diff != "" {
		t.Errorf("object after the restart (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(firstKubeconfig.TLSClientConfig, kubeconfigOf(t, second).TLSClientConfig); diff != "" {
		t.Errorf("credentials after the restart (-before +after):\n%s", diff)
	}
}

// crashDir makes the test binary run a durable control plane on that directory, create objects
// in an endless loop, and print the name of each object that the API server has acknowledged.
const crashDir = "CONTROLPLANE_TEST_CRASH_DIR"

func runUntilKilled(dir string) error {
	ctx := context.Background()
	controlPlane := New(Options{DataDir: dir, Durable: true})
	if err := controlPlane.Start(ctx); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(controlPlane.ClientConfig())
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		name := fmt.Sprintf("acknowledged-%d", i)
		if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, configMap(name), metav1.CreateOptions{}); err != nil {
			return err
		}
		fmt.Println(name)
	}
}

func TestStartAfterKill(t *testing.T) {
	clustertest.Slow(t)
	const enough = 50
	dir := t.TempDir()
	command := exec.CommandContext(t.Context(), os.Args[0])
	// The leftovers of the killed process are deleted with the test.
	command.Env = append(os.Environ(), crashDir+"="+dir, "TMPDIR="+t.TempDir())
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var acknowledged []string
	lines := bufio.NewScanner(stdout)
	for len(acknowledged) < enough && lines.Scan() {
		acknowledged = append(acknowledged, lines.Text())
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		acknowledged = append(acknowledged, lines.Text())
	}
	_ = command.Wait() // the error says that it was killed
	if len(acknowledged) < enough {
		t.Fatalf("the other process ended on its own after acknowledging %d objects", len(acknowledged))
	}

	list, err := clustertest.Client(t, clustertest.Start(t, New(Options{DataDir: dir, Durable: true})).ClientConfig()).
		CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, item := range list.Items {
		found[item.Name] = true
	}
	for _, name := range acknowledged {
		if !found[name] {
			t.Errorf("%s was acknowledged and is lost", name)
		}
	}
}

func TestTwoControlPlanes(t *testing.T) {
	clustertest.Slow(t)
	names := []string{"one", "two"}
	var clients []*ControlPlane
	for range names {
		clients = append(clients, clustertest.Start(t, New(Options{DataDir: t.TempDir(), Controllers: []string{"*"}})))
	}
	for i, name := range names {
		_, err := clustertest.Client(t, clients[i].ClientConfig()).CoreV1().Nodes().Create(t.Context(), node(name, nil), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range names {
		list, err := clustertest.Client(t, clients[i].ClientConfig()).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != 1 || list.Items[0].Name != name {
			t.Errorf("control plane %s has nodes %v", name, list.Items)
		}
	}
	clustertest.Stop(t, clients[0])
	if _, err := clustertest.Client(t, clients[1].ClientConfig()).CoreV1().Nodes().Get(t.Context(), "two", metav1.GetOptions{}); err != nil {
		t.Errorf("after the other control plane has stopped: %v", err)
	}
	if err := clients[1].Err(); err != nil {
		t.Error(err)
	}
}

// endTimeout is how long goroutines may take to notice that their server has ended.
const endTimeout = 10 * time.Second

func TestStopLeavesNothing(t *testing.T) {
	clustertest.Slow(t)
	sharedControlPlane(t) // starts Kubernetes' process-wide goroutines
	for name, opts := range map[string]Options{
		"bare":    {},
		"cluster": {Controllers: []string{"*"}, VirtualNodes: true},
	} {
		t.Run(name, func(t *testing.T) { leavesNothing(t, opts) })
	}
}

func leavesNothing(t *testing.T, opts Options) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	opts.DataDir = t.TempDir()
	// A goroutine inherits the label of the goroutine that starts it.
	const label = "controlplane-test"
	labels := pprof.Labels(label, t.Name())
	pprof.Do(t.Context(), labels, func(context.Context) {
		controlPlane := clustertest.Start(t, New(opts))
		if len(dirNames(t, filepath.Join(temporary, "*"))) == 0 {
			t.Error("the socket is not at the path that this test expects")
		}
		clustertest.Stop(t, controlPlane)
		if err := controlPlane.Err(); err != nil {
			t.Error(err)
		}
	})
	if left := dirNames(t, filepath.Join(temporary, "*")); len(left) > 0 {
		t.Errorf("left in the temporary directory: %v", left)
	}
	var left string
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, endTimeout, true, func(context.Context) (bool, error) {
		left = labelledGoroutines(t, label)
		return left == "", nil
	})
	if err != nil {
		t.Errorf("goroutines left:\n%s", left)
	}
}

func labelledGoroutines(t *testing.T, label string) string {
	t.Helper()
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	var left []string
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(stack, label) {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}

func TestStopTwiceAndStartAgain(t *testing.T) {
	neverStarted := New(Options{DataDir: t.TempDir()})
	clustertest.Stop(t, neverStarted)
	clustertest.Stop(t, neverStarted)
	if err := neverStarted.Start(t.Context()); err == nil {
		t.Error("a stopped control plane has started")
	}
}

func TestStartFails(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	inUse := t.TempDir()
	lock, err := datadir.Lock(inUse)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	broken := t.TempDir()
	wal := filepath.Join(broken, "etcd", "member", "wal")
	if err := os.MkdirAll(wal, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(wal, "0000000000000000-0000000000000000.wal"), []byte("not a log"), 0o600); err != nil {
		t.Fatal(err)
	}

	tests := []struct {
		name   string
		ctx    context.Context
		within time.Duration
		dir    string
		want   string
	}{
		{"missing directory", t.Context(), time.Minute, filepath.Join(t.TempDir(), "missing"), "no such file or directory; restore the data directory"},
		{"directory in use", t.Context(), time.Minute, inUse, "in use by another control plane"},
		{"broken data", t.Context(), time.Minute, broken, "etcd's database is missing"},
		{"no time", cancelled, time.Minute, t.TempDir(), context.Canceled.Error()},
		// Enough for etcd, far from enough for kube-apiserver.
		{"too little time", t.Context(), 200 * time.Millisecond, t.TempDir(), context.DeadlineExceeded.Error()},
		// Not enough for etcd.
		{"much too little time", t.Context(), 40 * time.Millisecond, t.TempDir(), context.DeadlineExceeded.Error()},
		{"hardly any time", t.Context(), 10 * time.Millisecond, t.TempDir(), context.DeadlineExceeded.Error()},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			ctx, cancel := context.WithTimeout(test.ctx, test.within)
			defer cancel()
			controlPlane := New(Options{DataDir: test.dir})
			err := controlPlane.Start(ctx)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Start: %v; want an error with %q", err, test.want)
			}
			if left := dirNames(t, filepath.Join(os.Getenv("TMPDIR"), "*")); len(left) > 0 {
				t.Errorf("left in the temporary directory: %v", left)
			}
			stacks := make([]byte, 4<<20)
			if stacks = stacks[:runtime.Stack(stacks, true)]; bytes.Contains(stacks, []byte("embed.StartEtcd(")) {
				t.Error("etcd still starts in the directory, whose lock is free")
			}
			clustertest.Stop(t, controlPlane)
		})
	}
}

func TestEtcdEndsUnexpectedly(t *testing.T) {
	controlPlane := New(Options{})
	etcd, err := startEtcd(t.Context(), etcdOptions{dataDir: t.TempDir()}, controlPlane.fail)
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.stop(t.Context())
	if err := controlPlane.Err(); err != nil {
		t.Fatal(err)
	}

	etcd.server.Server.Stop()

	<-controlPlane.Done()
	if controlPlane.Err() == nil {
		t.Error("no reason given")
	}
}

func TestEtcdThatGivesUp(t *testing.T) {
	controlPlane := New(Options{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		etcdLogger(&etcdBroken{fail: controlPlane.fail}).Fatal("disk is gone")
		t.Error("the call that logs etcd's fatal error returned")
	}()
	<-ended
	<-controlPlane.Done()
	if err := controlPlane.Err(); err == nil || !strings.Contains(err.Error(), "disk is gone") {
		t.Errorf("Err() = %v", err)
	}
}

func TestOnlyTheFirstFailureCounts(t *testing.T) {
	controlPlane := New(Options{})
	first := errors.New("first")
	controlPlane.fail(first)
	controlPlane.fail(errors.New("second"))
	if err := controlPlane.Err(); err != first {
		t.Errorf("Err() = %v, want %v", err, first)
	}

	stopped := New(Options{})
	clustertest.Stop(t, stopped)
	stopped.fail(first)
	if err := stopped.Err(); err != nil {
		t.Errorf("Err() of a stopped control plane = %v", err)
	}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"key": "value"}}
}
