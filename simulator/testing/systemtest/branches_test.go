//go:build linux

package systemtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"kube-scheduler-simulator/simulator/past/branch"
	"kube-scheduler-simulator/simulator/past/clusterdiff"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// twoPods fit on n1 and nowhere.
const twoPods = `[
  {"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"},"capacity":{"cpu":"4","memory":"8Gi","pods":"110"}}},
  {"apiVersion":"v1","kind":"Pod","metadata":{"name":"small","namespace":"default"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}},
  {"apiVersion":"v1","kind":"Pod","metadata":{"name":"large","namespace":"default"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"9"}}}]}}]`

// branches sends a request to the API of branches and decodes a successful answer.
func (p *program) branches(t *testing.T, method, path, body string, into any) int {
	t.Helper()
	a, err := p.request(method, "/api/v1/branches"+path, strings.NewReader(body), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
	if err != nil {
		t.Fatal(err)
	}
	if a.status < 300 && into != nil {
		if err := json.Unmarshal(a.body, into); err != nil {
			t.Fatal(err)
		}
	} else if a.status >= 300 && into != nil {
		t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
	return a.status
}

func (p *program) branch(t *testing.T, name string) branch.Branch {
	t.Helper()
	var list struct{ Items []branch.Branch }
	p.branches(t, http.MethodGet, "", "", &list)
	for _, b := range list.Items {
		if b.Name == name {
			return b
		}
	}
	t.Fatalf("there is no branch %s: %+v", name, list.Items)
	return branch.Branch{}
}

// awaitBranch returns a branch once it is in a state.
func (p *program) awaitBranch(t *testing.T, name string, state branch.State) (b branch.Branch) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s is %s", name, state), func() error {
		if b = p.branch(t, name); b.State != state {
			return fmt.Errorf("it is %s: %s", b.State, b.Message)
		}
		return nil
	})
	return b
}

// awaitPods waits until small is on n1 and large on no node, as the branch's own API says.
func awaitPods(t *testing.T, client *kubernetes.Clientset) {
	t.Helper()
	eventually(t, "the pods of the branch are scheduled", func() error {
		pods, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		at := map[string]string{}
		for _, p := range pods.Items {
			at[p.Name] = p.Spec.NodeName
			for _, c := range p.Status.Conditions {
				if c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse {
					at[p.Name] = c.Reason
				}
			}
		}
		if at["small"] != "n1" || at["large"] != v1.PodReasonUnschedulable {
			return fmt.Errorf("they are at %v", at)
		}
		return nil
	})
}

func clientOf(t *testing.T, kubeconfig string) *kubernetes.Clientset {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// processOf returns the process whose command line has the data directory of a branch, or 0.
func processOf(t *testing.T, h home, name string) int {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		args, _ := os.ReadFile(path) // it may have ended
		if bytes.Contains(args, []byte(filepath.Join(h.data, "branches", name, "data")+"\x00")) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	return 0
}

func awaitNoProcess(t *testing.T, h home, name string) {
	t.Helper()
	eventually(t, "the process of "+name+" ends", func() error {
		if pid := processOf(t, h, name); pid != 0 {
			return fmt.Errorf("%d runs", pid)
		}
		return nil
	})
}

// TestBranches: a branch is a whole simulator beside the trunk. It survives the end of the trunk, in order or not, as
// what it is, and its process does not.
func TestBranches(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	h := newHome(t)
	p := start(t, h)
	begin := time.Now()
	if status := p.branches(t, http.MethodPost, "", `{"name":"a","objects":`+twoPods+`}`, &branch.Branch{}); status != http.StatusCreated {
		t.Fatalf("creating a branch: %d", status)
	}
	a := p.awaitBranch(t, "a", branch.Running)
	t.Logf("the branch was ready after %v, the trunk after %v; it takes %d MiB of memory and %d MiB on disk", time.Since(begin), p.started, a.MemoryBytes>>20, a.Bytes>>20)
	awaitPods(t, clientOf(t, a.Kubeconfig))
	var results struct{ Items []json.RawMessage }
	if err := p.get("/branches/a/api/v1/results", &results); err != nil || len(results.Items) < 2 {
		t.Errorf("the branch has %d results, %v", len(results.Items), err)
	}
	if pods, err := p.client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}); err != nil || len(pods.Items) > 0 {
		t.Errorf("the trunk has %d pods, %v", len(pods.Items), err)
	}
	var compared clusterdiff.Comparison
	p.branches(t, http.MethodGet, "/compare?a=&b=a", "", &compared)
	if compared.A.Nodes != 0 || compared.B != (clusterdiff.Side{Name: "a", Nodes: 1, Pods: 2, Pending: 1, CPUShare: 0.25}) || len(compared.Pods) != 2 {
		t.Errorf("compared: %+v", compared)
	}

	p.kill()
	awaitNoProcess(t, h, "a")
	p = start(t, h)
	if got := p.branch(t, "a"); got.State != branch.Stopped {
		t.Errorf("after a kill it is %s: %s", got.State, got.Message)
	}
	p.branches(t, http.MethodPost, "/a/start", "", &branch.Branch{})
	awaitPods(t, clientOf(t, p.awaitBranch(t, "a", branch.Running).Kubeconfig))

	// A second branch continues the first one.
	p.branches(t, http.MethodPost, "", `{"name":"b","of":"a"}`, &branch.Branch{})
	awaitPods(t, clientOf(t, p.awaitBranch(t, "b", branch.Running).Kubeconfig))
	if autoscaler(t, p, "b").On {
		t.Error("Karpenter acts in a branch of one in which it does not")
	}
	// A third one has Karpenter, which a user has turned on since.
	if a, err := p.request(http.MethodPut, "/api/v1/karpenter", strings.NewReader(`{"on": true, "registrationDelay": "7s"}`), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }); err != nil || a.status != http.StatusOK {
		t.Fatalf("turning Karpenter on: %v %v", a, err)
	}
	p.branches(t, http.MethodPost, "", `{"name":"c"}`, &branch.Branch{})
	p.awaitBranch(t, "c", branch.Running)
	if got := autoscaler(t, p, "c"); !got.On || got.RegistrationDelay != "7s" {
		t.Errorf("the branch has the settings %+v", got)
	}
	if got := p.branches(t, http.MethodDelete, "/c", "", nil); got != http.StatusNoContent {
		t.Errorf("deleting c: %d", got)
	}
	if err := syscall.Kill(processOf(t, h, "b"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := p.awaitBranch(t, "b", branch.Failed); got.Message != "its process ended: signal: killed" {
		t.Errorf("it says %s", got.Message)
	}
	var status struct{ Ready bool }
	if err := p.get("/api/v1/status", &status); err != nil || !status.Ready {
		t.Errorf("beside a branch that failed the trunk is not ready: %v", err)
	}
	p.stop(t)
	if pid := processOf(t, h, "a"); pid != 0 {
		t.Errorf("after an orderly stop %d runs", pid)
	}
	for line := range strings.Lines(p.stderr.String()) {
		if !strings.Contains(line, "Warning: a branch has failed") {
			t.Errorf("it said: %s", line)
		}
	}

	if err := os.WriteFile(filepath.Join(h.data, "branches", "b", "branch.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	p = start(t, h)
	if got := p.branch(t, "b"); got.State != branch.Failed || !strings.Contains(got.Message, "cannot be read") {
		t.Errorf("damaged, it is %s: %s", got.State, got.Message)
	}
	for path, want := range map[string]int{"/b/start": http.StatusConflict, "/none/start": http.StatusNotFound} {
		if got := p.branches(t, http.MethodPost, path, "", nil); got != want {
			t.Errorf("%s: %d", path, got)
		}
	}
	for _, name := range []string{"a", "b"} {
		if got := p.branches(t, http.MethodDelete, "/"+name, "", nil); got != http.StatusNoContent {
			t.Errorf("deleting %s: %d", name, got)
		}
	}
	p.stop(t)
	if left, err := os.ReadDir(filepath.Join(h.data, "branches")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

type autoscalerSettings struct {
	On                bool
	RegistrationDelay string
}

// autoscaler returns the settings of Karpenter in a branch.
func autoscaler(t *testing.T, p *program, branch string) autoscalerSettings {
	t.Helper()
	var state struct{ Settings autoscalerSettings }
	if err := p.get("/branches/"+branch+"/api/v1/karpenter", &state); err != nil {
		t.Fatal(err)
	}
	return state.Settings
}

// TestABranchOfATemporaryTrunk: it leaves nothing, however the trunk ends.
func TestABranchOfATemporaryTrunk(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	h := passing(t)
	p := start(t, h, "--tie-seed", "7")
	p.branches(t, http.MethodPost, "", `{"name":"a","objects":`+twoPods+`}`, &branch.Branch{})
	a := p.awaitBranch(t, "a", branch.Running)
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", processOf(t, home{data: filepath.Dir(p.kubeconfig)}, "a")))
	if err != nil || !bytes.Contains(args, []byte("--tie-seed=7")) {
		t.Errorf("the branch runs with %q, %v", args, err)
	}
	awaitPods(t, clientOf(t, a.Kubeconfig))
	p.stop(t)
	if left, err := filepath.Glob(filepath.Join(h.tmp, "*simulator*")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// binPacking is a scenario that a new branch plays: with the weights of bin packing, the third pod joins the others.
const binPacking = `{"apiVersion":"kube-scheduler-simulator.sigs.k8s.io/v1alpha1","kind":"Scenario","metadata":{"name":"packed"},"steps":[
  {"configure":{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"schedulerName":"default-scheduler",
    "plugins":{"multiPoint":{"disabled":[{"name":"NodeResourcesBalancedAllocation"}]}},
    "pluginConfig":[{"name":"NodeResourcesFit","args":{"scoringStrategy":{"type":"MostAllocated","resources":[{"name":"cpu","weight":1}]}}}]}]}},
  {"apply":{"objects":[
    {"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"8","pods":"110"},"capacity":{"cpu":"8","pods":"110"}}},
    {"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"},"status":{"allocatable":{"cpu":"8","pods":"110"},"capacity":{"cpu":"8","pods":"110"}}},
    {"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default"},"spec":{"nodeName":"n2","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"4"}}}]}}]}},
  {"wait":{"for":"pods.all(p, p.node == 'n2') && nodes.size() == 2"}},
  {"apply":{"objects":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b","namespace":"default"},"spec":{"tolerations":[{"operator":"Exists"}],"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}]}},
  {"wait":{"for":"pods.exists(p, p.name == 'b' && p.node == 'n2')"}}]}`

// TestWorkspaces: a branch that was set up runs when its scenario has been played. Promoted, the trunk has its pods where
// they ran and its configuration, and a branch keeps what the trunk had.
func TestWorkspaces(t *testing.T) {
	h := newHome(t)
	p := start(t, h)
	node := v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "old"}}
	trunk := clientOf(t, p.kubeconfig)
	if _, err := trunk.CoreV1().Nodes().Create(t.Context(), &node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var made branch.Branch
	p.branches(t, http.MethodPost, "", `{"title":"try: bin packing","purpose":"preset","objects":[],"setup":[{"method":"PUT","path":"/api/v1/kueue"},{"method":"POST","path":"/api/v1/play","body":`+binPacking+`}]}`, &made)
	p.awaitBranch(t, "try-bin-packing", branch.Running)
	where := func(client *kubernetes.Clientset) string {
		pod, err := client.CoreV1().Pods("default").Get(t.Context(), "b", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return pod.Spec.NodeName
	}
	if got := where(clientOf(t, made.Kubeconfig)); got != "n2" {
		t.Errorf("in the branch that runs, b is on %q", got)
	}

	var report struct{ Deleted, Created int }
	p.branches(t, http.MethodPost, "/try-bin-packing/promote", `{"title":"before"}`, &report)
	if got := where(trunk); got != "n2" {
		t.Errorf("after the promotion, b is on %q", got)
	}
	var configuration json.RawMessage
	if err := p.get("/api/v1/schedulerconfiguration", &configuration); err != nil || !bytes.Contains(configuration, []byte("MostAllocated")) {
		t.Errorf("the configuration of the trunk is %s, %v", configuration, err)
	}
	if _, err := trunk.CoreV1().Nodes().Get(t.Context(), "old", metav1.GetOptions{}); err == nil {
		t.Error("the trunk still has what it had")
	}
	kept := p.branch(t, "before")
	if kept.State != branch.Stopped {
		t.Errorf("what the trunk had is %s", kept.State)
	}
	p.branches(t, http.MethodPost, "/before/start", "", &kept)
	p.awaitBranch(t, "before", branch.Running)
	if _, err := clientOf(t, kept.Kubeconfig).CoreV1().Nodes().Get(t.Context(), "old", metav1.GetOptions{}); err != nil {
		t.Errorf("what the trunk had is not kept: %v", err)
	}
	// Three simulators that end at once may need longer than one may take.
	for _, name := range []string{"before", "try-bin-packing"} {
		p.branches(t, http.MethodPost, "/"+name+"/stop", "", &kept)
	}
	p.stop(t)
}
