package systemtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"kube-scheduler-simulator/simulator/testing/clustertest"
	"kube-scheduler-simulator/simulator/testing/kubectltest"
)

// why runs kubectl-why.
func why(t *testing.T, args ...string) asked {
	t.Helper()
	var out, stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), clustertest.Why(t), args...)
	command.Dir, command.Stdout, command.Stderr = t.TempDir(), &out, &stderr
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	answer := asked{out: out.String(), errors: stderr.String(), code: command.ProcessState.ExitCode()}
	if used, ok := command.ProcessState.SysUsage().(*syscall.Rusage); ok {
		answer.memory = used.Maxrss << 10
	}
	return answer
}

// whyAnswer is what this test reads of an answer.
type whyAnswer struct {
	Verdict, Sentence, SelectedNode string
	Reasons                         []struct {
		Plugin string
		Nodes  []string
	}
	Changes   []struct{ Text string }
	Judged    struct{ Record bool }
	NotJudged []struct{ What, Text string }
}

func (a asked) why(t *testing.T) (out whyAnswer) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.out), &out); err != nil {
		t.Fatalf("%v: %s", err, a)
	}
	return out
}

// TestWhyWithItsRights: kubectl why needs its ClusterRole and no more, says what it may not read, and answers as the
// simulator that it asks does.
func TestWhyWithItsRights(t *testing.T) {
	p := start(t, newHome(t))
	kubectl := kubectltest.Kubectl{Kubeconfig: p.kubeconfig, Namespace: namespace}
	kubectl.Apply(t, `
apiVersion: v1
kind: Node
metadata: {name: small}
status: {allocatable: {cpu: "1", memory: 8Gi, pods: "20"}}
---
apiVersion: v1
kind: Node
metadata: {name: batch}
spec: {taints: [{key: dedicated, value: batch, effect: NoSchedule}]}
status: {allocatable: {cpu: "8", memory: 8Gi, pods: "20"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: "1"}}}]}
`)
	var running, pending string
	eventually(t, "one pod runs and one is pending", func() error {
		pods, err := p.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		running, pending = "", ""
		for _, pod := range pods.Items {
			if pod.Spec.NodeName != "" {
				running = pod.Name
			} else if slices.ContainsFunc(pod.Status.Conditions, func(c v1.PodCondition) bool { return c.Reason == v1.PodReasonUnschedulable }) {
				pending = pod.Name
			}
		}
		if running == "" || pending == "" {
			return errors.New("not yet")
		}
		return nil
	})
	role := filepath.Join("..", "..", "deploy", "kubectl-why", "clusterrole.yaml")
	kubectl.Must(t, "apply", "-f", role)
	reader := p.kubeconfigOf(t, "reader", "kubectl-why")

	answer := why(t, "--kubeconfig", reader, "-n", namespace, pending, "-o", "json")
	got := answer.why(t)
	if answer.code != 1 || got.Verdict != "doesNotFit" || len(got.Reasons) != 2 || len(got.NotJudged) > 0 || answer.errors != "" {
		t.Errorf("with the role it answers %+v\n%s", got, answer)
	}
	if len(got.Changes) == 0 || !strings.Contains(got.Changes[0].Text, "dedicated=batch") {
		t.Errorf("the changes are %+v", got.Changes)
	}
	byDeployment := why(t, "--kubeconfig", reader, "-n", namespace, "deployment/web", "-o", "json")
	if a := byDeployment.why(t); a.Verdict != "doesNotFit" || !strings.Contains(a.Sentence, "1 of 2 pods run") {
		t.Errorf("of the Deployment it says %+v", a)
	}

	t.Run("the same as the simulator", func(t *testing.T) {
		var there, command whyAnswer
		body := `{"podRef": {"namespace": "` + namespace + `", "name": "` + pending + `"}}`
		a, err := p.request("POST", "/api/v1/why", strings.NewReader(body), nil)
		if err != nil || json.Unmarshal(a.body, &there) != nil {
			t.Fatalf("%v: %s", err, a.body)
		}
		command = ask(t, t.TempDir(), "why", pending, "-n", namespace, "--server", p.url, "-o", "json").why(t)
		for door, other := range map[string]whyAnswer{"HTTP": there, "simulator why": command} {
			if other.Verdict != got.Verdict || other.Sentence != got.Sentence || len(other.Reasons) != len(got.Reasons) || len(other.Changes) < len(got.Changes) {
				t.Errorf("%s answers %+v, and kubectl why %+v", door, other, got)
			}
		}
		// Only the simulator has the record.
		recorded := ask(t, t.TempDir(), "why", running, "-n", namespace, "--server", p.url, "-o", "json").why(t)
		if !recorded.Judged.Record || recorded.Verdict != "runs" || recorded.SelectedNode != "small" {
			t.Errorf("of a pod that runs, the simulator says %+v", recorded)
		}
		live := why(t, "--kubeconfig", reader, "-n", namespace, running, "-o", "json").why(t)
		if live.Judged.Record || live.Verdict != "runs" || live.SelectedNode != "small" || len(live.NotJudged) != 1 {
			t.Errorf("of a pod that runs, kubectl why says %+v", live)
		}
	})

	t.Run("what may not be read", func(t *testing.T) {
		rights, err := p.client.RbacV1().ClusterRoles().Get(t.Context(), "kubectl-why", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		without := func(name, resource string) string {
			less := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
			for _, rule := range rights.DeepCopy().Rules {
				if rule.Resources = slices.DeleteFunc(rule.Resources, func(r string) bool { return r == resource }); len(rule.Resources) > 0 {
					less.Rules = append(less.Rules, rule)
				}
			}
			if _, err := p.client.RbacV1().ClusterRoles().Create(t.Context(), less, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			return p.kubeconfigOf(t, name, name)
		}
		budgets := why(t, "--kubeconfig", without("no-budgets", "poddisruptionbudgets"), "-n", namespace, pending, "-o", "json").why(t)
		if len(budgets.NotJudged) != 1 || !strings.Contains(budgets.NotJudged[0].Text, "evicted") {
			t.Errorf("without budgets it says %+v", budgets.NotJudged)
		}
		if a := why(t, "--kubeconfig", without("no-pods", "pods"), "-n", namespace, pending); a.code != 2 || a.out != "" || !strings.Contains(a.errors, "Pod") {
			t.Errorf("without pods it says %s", a)
		}
	})
}

// kubeconfigOf writes a kubeconfig of a new service account that has a ClusterRole.
func (p *program) kubeconfigOf(t *testing.T, name, role string) string {
	t.Helper()
	accounts := p.client.CoreV1().ServiceAccounts(namespace)
	if _, err := accounts.Create(t.Context(), &v1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := p.client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	token, err := accounts.CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(p.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWhyOfTenThousandPods: in a cluster of 1,000 nodes and 10,000 pods an answer comes within 2 s of the lists, in at
// most 500 MB. Each pod has a UID, as in the lists of an API server.
func TestWhyOfTenThousandPods(t *testing.T) {
	clustertest.Slow(t)
	state := filepath.Join(t.TempDir(), "state.yaml")
	file, err := os.Create(state)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(file)
	for n := range 1000 {
		taints := ""
		if n%10 == 0 {
			taints = "taints: [{key: dedicated, value: batch, effect: NoSchedule}]"
		}
		fmt.Fprintf(w, "---\napiVersion: v1\nkind: Node\nmetadata: {name: node-%d, uid: n%d, labels: {kubernetes.io/hostname: node-%d, zone: z%d}}\nspec: {%s}\nstatus: {allocatable: {cpu: \"16\", memory: 64Gi, pods: \"110\"}}\n",
			n, n, n, n%3, taints)
	}
	for n := range 10000 {
		fmt.Fprintf(w, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p-%d, namespace: default, uid: p%d, labels: {app: a%d}}\nspec: {nodeName: node-%d, containers: [{name: c, image: x, resources: {requests: {cpu: 1500m, memory: 4Gi}}}]}\n",
			n, n, n%50, n%1000)
	}
	if err := errors.Join(w.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
	pod := filepath.Join(t.TempDir(), "pod.yaml")
	if err := os.WriteFile(pod, []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: big}\nspec: {containers: [{name: c, image: x, resources: {requests: {cpu: \"3\"}}}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	answer := why(t, "--state", state, "-f", pod, "-o", "json")
	var judged struct {
		Verdict string
		Changes []any
		Judged  struct {
			Nodes, Pods          int
			Seconds, ReadSeconds float64
		}
	}
	if err := json.Unmarshal([]byte(answer.out), &judged); err != nil || judged.Verdict != "doesNotFit" || judged.Judged.Nodes != 1000 || judged.Judged.Pods != 10000 || len(judged.Changes) == 0 {
		t.Fatalf("%v: %.3000s", err, answer)
	}
	t.Logf("judged in %.2f s, read in %.2f s, %d MB", judged.Judged.Seconds, judged.Judged.ReadSeconds, answer.memory>>20)
	if judged.Judged.Seconds > 2 || answer.memory > 500_000_000 {
		t.Errorf("it took %.2f s and %d bytes", judged.Judged.Seconds, answer.memory)
	}
}
