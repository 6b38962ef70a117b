package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/host/process"
	"kube-scheduler-simulator/simulator/host/quiet"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// asProgram makes this test binary run as the simulator, with its arguments, so
// that a test can kill it.
const asProgram = "SIMULATOR_TEST_PROGRAM"

// programGates holds the feature gates of such a simulator, because gates apply to
// a whole process.
const programGates = "SIMULATOR_TEST_GATES"

// shared is the simulator that most tests use. Its nodes can be used as soon as
// they are created, so that a pod's first attempt sees them all.
var shared *running

func TestMain(m *testing.M) {
	if err := quiet.Klog(); err != nil {
		panic(err)
	}
	if os.Getenv(asProgram) != "" {
		os.Exit(program())
	}
	os.Exit(func() int {
		var err error
		options := DefaultOptions()
		options.NoVirtualNodes = true
		if shared, err = startInProcess(options); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		code := m.Run()
		if err := shared.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the simulator:", err)
			return 1
		}
		return code
	}())
}

func program() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	options := DefaultOptions()
	options.Listen, options.DataDir, options.stopTimeout = "127.0.0.1:0", os.Getenv(asProgram), clustertest.Timeout
	if err := process.SetGates(os.Getenv(programGates)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := Run(ctx, options, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// running is a simulator that is ready.
type running struct {
	url string
	// token is the one in the ready line, if any.
	token      string
	kubeconfig string
	client     kubernetes.Interface
	stop       func() error
	// simulator is nil when it runs as a program.
	simulator *simulator
}

// launch starts a simulator. It stops at the end of the test unless it has stopped before.
func launch(t *testing.T, options Options) *running {
	t.Helper()
	s, err := startInProcess(options)
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceValue(s.stop)
	s.stop = stop
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func startInProcess(options Options) (*running, error) {
	options.Listen, options.stopTimeout = "127.0.0.1:0", clustertest.Timeout
	simulator, err := newSimulator(context.Background(), options)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := simulator.run(ctx, w)
		w.CloseWithError(errors.Join(errors.New("the simulator ended"), err))
		done <- err
	}()
	s, err := attach(r)
	if err != nil {
		cancel()
		return nil, err
	}
	s.simulator = simulator
	s.stop = func() error {
		cancel()
		return <-done
	}
	return s, nil
}

// attach reads the ready line and creates a client from its kubeconfig.
func attach(out io.Reader) (*running, error) {
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("waiting for the ready line: %w", err)
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "ready: ")
	address, kubeconfig, both := strings.Cut(rest, " kubeconfig ")
	u, err := url.Parse(address)
	if !ok || !both || err != nil {
		return nil, fmt.Errorf("the ready line is %q", line)
	}
	token := u.Query().Get("token")
	u.RawQuery, u.Path = "", ""
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // no limit
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &running{url: u.String(), token: token, kubeconfig: kubeconfig, client: client}, nil
}

// authorized adds the token, if there is one.
func (s *running) authorized(r *http.Request) *http.Request {
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	return r
}

// get decodes the answer of a GET.
func (s *running) get(t *testing.T, path string, into any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(s.authorized(request))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s: %s", path, resp.Status, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("GET %s: %v: %s", path, err, body)
	}
}

func namespace(t *testing.T, s *running) string {
	t.Helper()
	ns, err := s.client.CoreV1().Namespaces().Create(t.Context(), &v1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// createNode creates a node that the test's pods select by the label pool.
func createNode(t *testing.T, s *running, pool, cpu string, taints ...v1.Taint) string {
	t.Helper()
	has := v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse("8Gi"), v1.ResourcePods: resource.MustParse("110")}
	node, err := s.client.CoreV1().Nodes().Create(t.Context(), &v1.Node{
		ObjectMeta: metav1.ObjectMeta{GenerateName: pool + "-", Labels: map[string]string{"pool": pool}},
		Spec:       v1.NodeSpec{Taints: taints},
		Status:     v1.NodeStatus{Capacity: has, Allocatable: has},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.untainted(t, node.Name)
	t.Cleanup(func() {
		if err := s.client.CoreV1().Nodes().Delete(context.Background(), node.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return node.Name
}

// untainted waits until a new node has no not-ready taint.
func (s *running) untainted(t *testing.T, name string) {
	t.Helper()
	clustertest.Eventually(t, name+" is ready", func(ctx context.Context) (bool, error) {
		node, err := s.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return !slices.ContainsFunc(node.Spec.Taints, func(taint v1.Taint) bool { return taint.Key == v1.TaintNodeNotReady }), nil
	})
}

func pod(name, pool, cpu string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PodSpec{
			NodeSelector: map[string]string{"pool": pool},
			Containers: []v1.Container{{Name: "c", Image: "pause", Resources: v1.ResourceRequirements{
				Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)},
			}}},
		},
	}
}

// create creates a pod and waits for a result with an outcome. It need not be the first attempt,
// because the scheduler may see the pod before the test's nodes. The filters are further parameters of the list of results.
func create(t *testing.T, s *running, ns string, p *v1.Pod, outcome result.Outcome, filters ...string) (*v1.Pod, *result.Cycle) {
	t.Helper()
	created, err := s.client.CoreV1().Pods(ns).Create(t.Context(), p, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created, await(t, s, created, outcome, filters...)
}

// await returns the latest result of a pod that has an outcome and passes the filters.
func await(t *testing.T, s *running, p *v1.Pod, outcome result.Outcome, filters ...string) *result.Cycle {
	t.Helper()
	defer func() {
		if t.Failed() {
			var attempts json.RawMessage
			s.get(t, "/api/v1/results?uid="+string(p.UID), &attempts)
			t.Logf("its attempts are %s", attempts)
		}
	}()
	var page result.Page
	clustertest.Eventually(t, fmt.Sprintf("%s is %s", p.Name, outcome), func(context.Context) (bool, error) {
		s.get(t, fmt.Sprintf("/api/v1/results?uid=%s&outcome=%s&%s", p.UID, outcome, strings.Join(filters, "&")), &page)
		return len(page.Items) > 0, nil
	})
	cycle := &result.Cycle{}
	s.get(t, fmt.Sprintf("/api/v1/results/%s/%d", p.UID, page.Items[0].Attempt), cycle)
	return cycle
}

func TestAPodIsScheduledAndItsDecisionIsRecorded(t *testing.T) {
	ns := namespace(t, shared)
	tainted := createNode(t, shared, "decide", "4", v1.Taint{Key: "gpu", Value: "yes", Effect: v1.TaintEffectNoSchedule})
	small := createNode(t, shared, "decide", "4")
	big := createNode(t, shared, "decide", "8")
	created, cycle := create(t, shared, ns, pod("web", "decide", "1"), result.Scheduled)

	if cycle.SelectedNode != big {
		t.Fatalf("scheduled on %q; the biggest node is %q", cycle.SelectedNode, big)
	}
	verdicts := map[string]result.Verdict{}
	for i, node := range cycle.Filter.Nodes.All() {
		verdicts[node] = cycle.Filter.Verdict(i)
	}
	if v := verdicts[tainted]; v.Plugin != "TaintToleration" || len(v.Reasons) == 0 {
		t.Errorf("the tainted node's verdict is %+v", v)
	}
	if v := verdicts[small]; v.Plugin != "" {
		t.Errorf("the small node's verdict is %+v", v)
	}
	if cycle.Score.Nodes.Len() != 2 {
		t.Errorf("%d nodes are scored: %v", cycle.Score.Nodes.Len(), cycle.Score.Nodes)
	}
	clustertest.Eventually(t, "annotations", func(ctx context.Context) (bool, error) {
		got, err := shared.client.CoreV1().Pods(ns).Get(ctx, created.Name, metav1.GetOptions{})
		return err == nil && got.Annotations[annotation.Prefix+"selected-node"] == big, err
	})
}

func TestAnUnschedulablePodSaysWhyAndIsAnnotated(t *testing.T) {
	ns := namespace(t, shared)
	createNode(t, shared, "full", "1")
	create(t, shared, ns, pod("small", "full", "100m"), result.Scheduled) // now the scheduler knows the node
	created, cycle := create(t, shared, ns, pod("big", "full", "100"), result.Unschedulable)
	if !strings.Contains(cycle.Message, "Insufficient cpu") {
		t.Errorf("the message is %q", cycle.Message)
	}
	clustertest.Eventually(t, "annotations", func(ctx context.Context) (bool, error) {
		got, err := shared.client.CoreV1().Pods(ns).Get(ctx, created.Name, metav1.GetOptions{})
		return err == nil && strings.Contains(got.Annotations[annotation.Prefix+"filter-result"], "Insufficient cpu"), err
	})
}

func TestAClaimThatWaitsForItsConsumerIsBound(t *testing.T) {
	ns := namespace(t, shared)
	createNode(t, shared, "storage", "4")
	ctx := t.Context()
	class, err := shared.client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "late-"}, Provisioner: "example.com/noop",
		VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = shared.client.CoreV1().PersistentVolumeClaims(ns).Create(ctx, &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: v1.PersistentVolumeClaimSpec{
			StorageClassName: &class.Name, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := pod("db", "storage", "1")
	p.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	create(t, shared, ns, p, result.Scheduled)
	claim, err := shared.client.CoreV1().PersistentVolumeClaims(ns).Get(ctx, "data", metav1.GetOptions{})
	if err != nil || claim.Status.Phase != v1.ClaimBound {
		t.Errorf("the claim is %s, %v", claim.Status.Phase, err)
	}
}

func TestPreemptionIsRecorded(t *testing.T) {
	ns := namespace(t, shared)
	node := createNode(t, shared, "preempt", "2")
	create(t, shared, ns, pod("low", "preempt", "1500m"), result.Scheduled)
	high := pod("high", "preempt", "1500m")
	high.Spec.PriorityClassName = "system-cluster-critical"
	created, cycle := create(t, shared, ns, high, result.Unschedulable)
	if cycle.NominatedNode != node || cycle.Preemption == nil || cycle.Preemption.Chosen != node {
		t.Fatalf("nominated %q, preemption %+v: %s", cycle.NominatedNode, cycle.Preemption, cycle.Message)
	}
	if v := cycle.Preemption.Candidates[0].Victims; len(v) != 1 || v[0].Pod.Name != "low" {
		t.Errorf("victims = %+v", v)
	}
	second := await(t, shared, created, result.Scheduled)
	if second.SelectedNode != node || second.Attempt < 2 {
		t.Errorf("attempt %d went to %q", second.Attempt, second.SelectedNode)
	}
	if q := second.Queue; q == nil || q.RequeuedBy == nil || q.RequeuedBy.Name != "low" || q.RequeuedBy.Event != "AssignedPodDelete" {
		t.Errorf("the second attempt's queue = %+v", q)
	}
}

func TestARecreatedPodHasItsOwnAttempts(t *testing.T) {
	ns := namespace(t, shared)
	createNode(t, shared, "again", "4")
	first, _ := create(t, shared, ns, pod("web", "again", "1"), result.Scheduled)
	if err := shared.client.CoreV1().Pods(ns).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	clustertest.Eventually(t, "the pod is gone", func(ctx context.Context) (bool, error) {
		_, err := shared.client.CoreV1().Pods(ns).Get(ctx, "web", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	second, cycle := create(t, shared, ns, pod("web", "again", "1"), result.Scheduled)
	if first.UID == second.UID || cycle.Attempt != 1 {
		t.Errorf("attempt %d of %s after %s", cycle.Attempt, second.UID, first.UID)
	}
}

func TestConfigurationAnswersTheUsersDocument(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "scheduler.yaml")
	const document = "# mine\napiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: mine\n"
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	options := DefaultOptions()
	options.SchedulerConfig = file
	s, err := startInProcess(options)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/v1/schedulerconfiguration", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/yaml")
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || string(body) != document {
		t.Errorf("got %q, %v", body, err)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

func TestBadOptionsFailAtOnce(t *testing.T) {
	dir := t.TempDir()
	occupied, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer occupied.Close()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tc := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"a taken port", func(o *Options) { o.Listen = occupied.Addr().String() }, "address already in use"},
		{"a data directory that is a file", func(o *Options) { o.DataDir = file("plain", "") }, "data directory"},
		{"a missing configuration", func(o *Options) { o.SchedulerConfig = filepath.Join(dir, "none") }, "no such file"},
		{"a broken configuration", func(o *Options) { o.SchedulerConfig = file("broken", "kind: Pod\napiVersion: v1\n") }, "scheduler configuration"},
		{"off loopback without a token", func(o *Options) { o.Listen = "0.0.0.0:0" }, "token"},
		{"an example extender off loopback", func(o *Options) { o.ExampleExtender = "0.0.0.0:0" }, "not a loopback address"},
		{"an example extender at a taken port", func(o *Options) { o.ExampleExtender = occupied.Addr().String() }, "address already in use"},
		{"a missing token file", func(o *Options) { o.TokenFile = filepath.Join(dir, "none") }, "token file"},
		{"an empty token", func(o *Options) { o.TokenFile = file("empty", "\n") }, "empty"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			options := DefaultOptions()
			options.Listen = "127.0.0.1:0"
			tc.change(&options)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			var out bytes.Buffer
			err := Run(ctx, options, &out)
			if err == nil || ctx.Err() != nil {
				t.Fatalf("error %v, context %v", err, ctx.Err())
			}
			if !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is %q; want one line with %q", err, tc.want)
			}
			if out.Len() > 0 {
				t.Errorf("stdout has %q", out.String())
			}
		})
	}
}

func TestATemporaryClusterLeavesNoFiles(t *testing.T) {
	clustertest.Slow(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	s, err := startInProcess(DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(tmp)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// startProgram runs the simulator in its own process: $SIMULATOR_BIN, or this test binary.
func startProgram(t *testing.T, dataDir, gates string) (*running, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command(os.Getenv("SIMULATOR_BIN"), "--listen=127.0.0.1:0", "--data-dir="+dataDir, "--feature-gates="+gates)
	if cmd.Path == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd = exec.Command(self)
		cmd.Env = append(os.Environ(), asProgram+"="+dataDir, programGates+"="+gates)
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s, err := attach(out)
	if err != nil {
		_ = cmd.Process.Kill()
		t.Fatal(err)
	}
	return s, cmd
}

func TestKillLosesNothingThatWasAcknowledged(t *testing.T) {
	clustertest.Slow(t)
	dataDir := t.TempDir()
	s, cmd := startProgram(t, dataDir, "")
	const objects = 200
	names := make(chan string, objects)
	alive, died := context.WithCancel(t.Context())
	defer died()
	go func() {
		defer close(names)
		for i := range objects {
			name := fmt.Sprintf("acknowledged-%03d", i)
			_, err := s.client.CoreV1().ConfigMaps("default").Create(alive, &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			if err != nil {
				return
			}
			names <- name
		}
	}()
	var acknowledged []string
	for name := range names {
		if acknowledged = append(acknowledged, name); len(acknowledged) == 50 {
			if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			died()
		}
	}
	_ = cmd.Wait()

	s, cmd = startProgram(t, dataDir, "")
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	for _, name := range acknowledged {
		if _, err := s.client.CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Errorf("%s was acknowledged: %v", name, err)
		}
	}
}
