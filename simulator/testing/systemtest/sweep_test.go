package systemtest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"kube-scheduler-simulator/simulator/testing/clustertest"
	"kube-scheduler-simulator/simulator/testing/kubectltest"
)

// The sweep of these tests: 4 points with 10 seeds.
var (
	sweepFile  = filepath.Join("..", "..", "examples", "scenarios", "weights.yaml")
	sweepSeeds = "1..10"
	sweepRuns  = 40
)

// sweeping is a sweep command.
type sweeping struct {
	dir  string
	args []string
}

func newSweep(t *testing.T, args ...string) sweeping {
	return sweepOf(t, sweepFile, append([]string{"--seeds", sweepSeeds}, args...)...)
}

func sweepOf(t *testing.T, file string, args ...string) sweeping {
	dir := t.TempDir()
	return sweeping{dir, append([]string{"sweep", file, "--state", filepath.Join(dir, "state"), "-o", filepath.Join(dir, "out.json")}, args...)}
}

// inCluster is a sweep in a namespace of a cluster, by a user of a kubeconfig.
func inCluster(t *testing.T, kubeconfig, namespace string, args ...string) sweeping {
	return newSweep(t, append(clusterFlags(kubeconfig, namespace), args...)...)
}

func clusterFlags(kubeconfig, namespace string) []string {
	return []string{"--kubernetes", "--kubeconfig", kubeconfig, "--namespace", namespace, "--image", "simulator:1"}
}

// run returns what the command prints.
func (s sweeping) run(t *testing.T, further ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, said bytes.Buffer
	command := exec.CommandContext(t.Context(), clustertest.Program(), append(s.args, further...)...)
	command.Stdout, command.Stderr = &out, &said
	err := command.Run()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return out.String(), said.String(), command.ProcessState.ExitCode()
}

func (s sweeping) file(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestASweepOnAFullDisk: what the state file could not hold is run again when there is room.
func TestASweepOnAFullDisk(t *testing.T) {
	clustertest.Slow(t)
	whole := newSweep(t)
	table, said, code := whole.run(t)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	page := os.Getpagesize() // the smallest disk; the state takes more
	full := newSweep(t, "--state", filepath.Join(filepath.Dir(smallDisk(t, page).data), "state"))
	_, said, code = full.run(t)
	if code != 1 || !strings.Contains(said, "the disk is full: make room and try again") {
		t.Errorf("exit code %d: %s", code, said)
	}
	state := full.args[len(full.args)-1]
	kept, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Count(kept, []byte("\n"))
	if lines < 2 || lines > sweepRuns || !bytes.HasSuffix(kept, []byte("\n")) {
		t.Errorf("the state has %d lines:\n%s", lines, kept)
	}
	if err := syscall.Mount("", filepath.Dir(state), "", syscall.MS_REMOUNT, "size=1m"); err != nil {
		t.Fatal(err)
	}
	again, said, code := full.run(t)
	if code != 0 || again != table {
		t.Errorf("exit code %d: %s\n%s", code, said, again)
	}
	if after, err := os.ReadFile(state); err != nil || !bytes.HasPrefix(after, kept) || bytes.Count(after, []byte("\n")) != 1+sweepRuns {
		t.Errorf("%v, the state is now\n%s", err, after)
	}
}

// sweepCluster is a cluster in which sweeps can run: the program without virtual nodes, with the manifests in a namespace.
func sweepCluster(t *testing.T, namespaces ...string) *program {
	t.Helper()
	cluster := start(t, passing(t), "--no-virtual-nodes")
	for _, name := range namespaces {
		// The cluster refuses pods with more privileges than they need.
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}
		if _, err := cluster.client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		kubectltest.Kubectl{Kubeconfig: cluster.kubeconfig, Namespace: name}.Must(t, "apply", "-k", filepath.Join("..", "..", "deploy", "sweep"))
		publishRootCA(t, cluster, name)
	}
	return cluster
}

// sweepUser returns the kubeconfig of a user who has only the rights of the Role for those that sweep.
func sweepUser(t *testing.T, cluster *program, namespace string) (kubeconfig string) {
	t.Helper()
	kubectl := kubectltest.Kubectl{Kubeconfig: cluster.kubeconfig, Namespace: namespace}
	kubectl.Must(t, "create", "serviceaccount", "ci")
	kubectl.Must(t, "create", "rolebinding", "ci", "--role=simulator-sweep-client", "--serviceaccount="+namespace+":ci")
	token := strings.TrimSpace(kubectl.Must(t, "create", "token", "ci"))
	config, err := clientcmd.LoadFromFile(cluster.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		*user = clientcmdapi.AuthInfo{Token: token}
	}
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

// TestSweepInACluster plays kubelet for the Job of a sweep: it kills a pod in the middle of its share, lets one fail after it has written
// everything, and evicts one, and it kills the client. Every result is there once, as on one machine.
func TestSweepInACluster(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	local := newSweep(t)
	table, said, code := local.run(t)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}

	cluster := sweepCluster(t, "sweeps")
	user := sweepUser(t, cluster, "sweeps")
	sweep := inCluster(t, user, "sweeps", "--shares", "4", "--parallelism", "2")
	attempts := &attempts{count: map[string]int{}}
	firstRuns := make(chan struct{})
	first := sync.OnceFunc(func() { close(firstRuns) })
	startKubelet(t, &kubelet{cluster: cluster, interfere: func(pod *corev1.Pod, process *os.Process, exited <-chan struct{}) *fate {
		first()
		index := pod.Labels[batchv1.JobCompletionIndexAnnotation]
		if attempts.next(index) > 1 {
			return nil
		}
		switch index {
		case "0": // killed in the middle of its share
			hasResult(t, cluster, pod, exited)
			_ = process.Kill() // it may have ended
			<-exited
			return &fate{exitCode: 137}
		case "1": // killed after it has written everything
			<-exited
			return &fate{exitCode: 137}
		case "2": // evicted in the middle of its share
			hasResult(t, cluster, pod, exited)
			_ = process.Signal(syscall.SIGTERM) // it may have ended
			<-exited
			return &fate{exitCode: 1, evicted: true}
		}
		return nil
	}})

	// The first client is killed when the first pod runs.
	killed := exec.Command(clustertest.Program(), sweep.args...)
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	<-firstRuns
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // it was killed

	got, said, code := sweep.run(t)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	if !strings.Contains(said, "exists; going on with it") {
		t.Errorf("the second client said %s", said)
	}
	if diff := cmp.Diff(table, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(string(local.file(t, "out.json")), string(sweep.file(t, "out.json"))); diff != "" {
		t.Error(diff)
	}
	if n := bytes.Count(sweep.file(t, "state"), []byte("\n")); n != 1+sweepRuns {
		t.Errorf("the state has %d lines", n)
	}
	for _, index := range []string{"0", "1", "2"} {
		if attempts.of(index) < 2 {
			t.Errorf("share %s was not tried again", index)
		}
	}
	onceEach(t, cluster, "sweeps")

	// Another client, which has no state, takes the results of the Job that has ended, and cleans up.
	other := inCluster(t, user, "sweeps", "--clean-up")
	if got, said, code := other.run(t); code != 0 || got != table {
		t.Errorf("exit code %d: %s\n%s", code, said, got)
	}
	jobs, err := cluster.client.BatchV1().Jobs("sweeps").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(jobs.Items) != 0 || len(configMaps(t, cluster, "sweeps", "")) != 0 {
		t.Errorf("%v, %d Jobs are left", err, len(jobs.Items))
	}
}

// TestSweepInAClusterOnControlPlanes: each pod starts control planes of its own. It finds what the engine in memory finds.
func TestSweepInAClusterOnControlPlanes(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"fill.yaml": fillScenario, "sweep.yaml": fillSweep} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "sweep.yaml")
	want, said, code := sweepOf(t, file).run(t)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	cluster := sweepCluster(t, "sweeps")
	startKubelet(t, &kubelet{cluster: cluster})
	flags := append(clusterFlags(sweepUser(t, cluster, "sweeps"), "sweeps"), "--engine", "full", "--shares", "2", "--parallelism", "1")
	got, said, code := sweepOf(t, file, flags...).run(t)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

const fillScenario = `apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: fill}
steps:
- create:
    count: 3
    template: {apiVersion: v1, kind: Node, metadata: {name: "node-${i}"}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "20"}}}
- create:
    count: 6
    template: {apiVersion: v1, kind: Pod, metadata: {name: "pod-${i}"}, spec: {containers: [{name: app, image: app, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}}
- wait: settled
- expect:
  - that: pods.all(p, p.node != "")
`

const fillSweep = `apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Sweep
metadata: {name: fill}
scenario: fill.yaml
seed: 1
parameters:
- {name: strategy, plugin: NodeResourcesFit, args: scoringStrategy.type, values: [LeastAllocated, MostAllocated]}
- {name: fit, plugin: NodeResourcesFit, weight: [1, 100]}
metrics:
- {name: nodes used, value: "nodes.filter(n, n.pods > 0).size()"}
best:
- least: nodes used
`

// attempts counts the pods of each share.
type attempts struct {
	mu    sync.Mutex
	count map[string]int
}

func (a *attempts) next(index string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count[index]++
	return a.count[index]
}

func (a *attempts) of(index string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.count[index]
}

// hasResult returns when the share of a pod has begun, or when its process has ended.
func hasResult(t *testing.T, cluster *program, pod *corev1.Pod, exited <-chan struct{}) {
	name := fmt.Sprintf("%s-result-%s-0", pod.Labels[batchv1.JobNameLabel], pod.Labels[batchv1.JobCompletionIndexAnnotation])
	clustertest.Eventually(t, "the share has begun", func(ctx context.Context) (bool, error) {
		select {
		case <-exited:
			return true, nil
		default:
		}
		_, err := cluster.client.CoreV1().ConfigMaps(pod.Namespace).Get(ctx, name, metav1.GetOptions{})
		return err == nil, nil
	})
}

// configMaps are those of a sweep.
func configMaps(t *testing.T, cluster *program, namespace, component string) []corev1.ConfigMap {
	t.Helper()
	selector := "kube-scheduler-simulator.sigs.k8s.io/sweep"
	if component != "" {
		selector += ",app.kubernetes.io/component=" + component
	}
	list, err := cluster.client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// onceEach checks that the ConfigMaps hold each run of the sweep once.
func onceEach(t *testing.T, cluster *program, namespace string) {
	t.Helper()
	seen := map[string]int{}
	for _, c := range configMaps(t, cluster, namespace, "sweep-result") {
		compressed, err := gzip.NewReader(bytes.NewReader(c.BinaryData["runs.gz"]))
		if err != nil {
			t.Fatal(err)
		}
		for lines := json.NewDecoder(compressed); ; {
			var run struct{ Point, Seed int }
			if err := lines.Decode(&run); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			seen[fmt.Sprint(run)]++
		}
	}
	for run, n := range seen {
		if n != 1 {
			t.Errorf("the run %s is there %d times", run, n)
		}
	}
	if len(seen) != sweepRuns {
		t.Errorf("%d of %d runs are there", len(seen), sweepRuns)
	}
}

// TestSweepSaysWhatIsWrong: missing rights, a missing image, a quota and a missing ServiceAccount are one clear error each.
func TestSweepSaysWhatIsWrong(t *testing.T) {
	clustertest.Slow(t)
	cluster := sweepCluster(t, "no-image", "no-rights", "quota", "abandoned")
	startKubelet(t, &kubelet{cluster: cluster, noImage: "none:1"})
	ctx, core := t.Context(), cluster.client.CoreV1()
	if err := cluster.client.RbacV1().RoleBindings("no-rights").Delete(ctx, "simulator-sweep", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}}}
	if _, err := core.ResourceQuotas("quota").Create(ctx, quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the quota counts", func() error {
		now, err := core.ResourceQuotas("quota").Get(ctx, "none", metav1.GetOptions{})
		if err == nil && now.Status.Hard == nil {
			err = errors.New("not yet")
		}
		return err
	})
	for _, test := range []struct {
		namespace string
		flags     []string
		code      int
		want      string
	}{
		{"no-image", []string{"--image", "none:1"}, 1, `ImagePullBackOff: Back-off pulling image "none:1"`},
		{"no-rights", nil, 1, `configmaps "sweep-weights-`},
		{"quota", nil, 1, "exceeded quota: none"},
		{"default", nil, 1, "the namespace default has no ServiceAccount simulator-sweep for the pods; kubectl apply"},
		{"none", nil, 1, "the namespace none has no ServiceAccount"},
	} {
		t.Run(test.namespace, func(t *testing.T) {
			t.Parallel()
			_, said, code := inCluster(t, cluster.kubeconfig, test.namespace, test.flags...).run(t)
			if code != test.code || !strings.Contains(said, test.want) {
				t.Errorf("exit code %d: %s", code, said)
			}
		})
	}
	t.Run("abandoned", func(t *testing.T) {
		t.Parallel()
		sweep := inCluster(t, cluster.kubeconfig, "abandoned", "--image", "none:1")
		client := exec.Command(clustertest.Program(), sweep.args...)
		if err := client.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the Job has its input", func() error {
			if len(configMaps(t, cluster, "abandoned", "sweep-input")) == 0 {
				return errors.New("not yet")
			}
			return nil
		})
		if err := client.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		_ = client.Wait() // the code of an interrupted client is checked elsewhere
		if _, said, code := sweep.run(t, "--abandon"); code != 0 {
			t.Errorf("exit code %d: %s", code, said)
		}
		if jobs, err := cluster.client.BatchV1().Jobs("abandoned").List(t.Context(), metav1.ListOptions{}); err != nil || len(jobs.Items) != 0 || len(configMaps(t, cluster, "abandoned", "")) != 0 {
			t.Errorf("%v, %d Jobs are left", err, len(jobs.Items))
		}
	})
}
