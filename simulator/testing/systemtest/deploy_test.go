package systemtest

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/simulator/testing/clustertest"
	"kube-scheduler-simulator/simulator/testing/kubectltest"
)

// serverManifests returns a copy of the manifests of the server, with a token.
func serverManifests(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "deploy", "server"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

const serverNamespace = "kube-scheduler-simulator"

// TestManifests lets an API server check the manifests in simulator/deploy, and the pods that they make.
func TestManifests(t *testing.T) {
	cluster := start(t, passing(t))
	kubectl := kubectltest.Kubectl{Kubeconfig: cluster.kubeconfig, Namespace: serverNamespace}
	manifests := serverManifests(t)
	// Objects of a namespace are checked only if it exists.
	kubectl.Must(t, "apply", "-f", filepath.Join(manifests, "namespace.yaml"))
	for _, dir := range []string{manifests, filepath.Join("..", "..", "deploy", "sweep")} {
		out := kubectl.Must(t, "apply", "--dry-run=server", "--validate=strict", "-k", dir)
		files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		// Every file but kustomization.yaml is an object, and so is the Secret.
		want := len(files) - 1
		if dir == manifests {
			want++
		}
		if got := strings.Count(out, "(server dry run)"); got != want {
			t.Errorf("%d of %d objects are there:\n%s", got, want, out)
		}
	}
	// The API server checks the template of a Deployment for its form only. The namespace allows only pods that need no privileges.
	deployment := serverDeployment(t, kubectl, manifests)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "simulator"}, Spec: deployment.Spec.Template.Spec}
	if _, err := cluster.client.CoreV1().Pods(serverNamespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Error(err)
	}
}

// serverDeployment is the Deployment as kustomize makes it.
func serverDeployment(t *testing.T, kubectl kubectltest.Kubectl, manifests string) *appsv1.Deployment {
	t.Helper()
	for document := range strings.SplitSeq(kubectl.Must(t, "kustomize", manifests), "\n---\n") {
		var d appsv1.Deployment
		if err := yaml.Unmarshal([]byte(document), &d); err != nil {
			t.Fatal(err)
		}
		if d.Kind == "Deployment" {
			return &d
		}
	}
	t.Fatal("there is no Deployment")
	return nil
}

// TestTheDeployedServer runs the container of the server's Deployment, and its probes, as a kubelet would.
func TestTheDeployedServer(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	manifests := serverManifests(t)
	container := serverDeployment(t, kubectltest.Kubectl{}, manifests).Spec.Template.Spec.Containers[0]
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	dir := newHome(t)
	// What is mounted is elsewhere on this machine.
	here := strings.NewReplacer("/run/secrets/simulator/", manifests+"/", "/data/", dir.tmp+"/", "--listen=:1212", "--listen="+address)
	command := func(ctx context.Context, args ...string) *exec.Cmd {
		for i, arg := range args {
			args[i] = here.Replace(arg)
		}
		return exec.CommandContext(ctx, clustertest.Program(), args...)
	}
	probe := func(ctx context.Context, p *corev1.Probe) error {
		if p.Exec.Command[0] != "/simulator" {
			t.Errorf("the image has no %s", p.Exec.Command[0])
		}
		return command(ctx, append(p.Exec.Command[1:], "--server=http://"+address)...).Run()
	}
	if err := probe(t.Context(), container.LivenessProbe); err == nil {
		t.Error("it lives before it was started")
	}
	p := launchAs(t, home{tmp: dir.tmp}, func([]string) *exec.Cmd { return command(context.Background(), container.Args...) })
	eventually(t, "the startup probe succeeds", func() error { return probe(t.Context(), container.StartupProbe) })
	for name, one := range map[string]*corev1.Probe{"readiness": container.ReadinessProbe, "liveness": container.LivenessProbe} {
		if err := probe(t.Context(), one); err != nil {
			t.Errorf("the %s probe: %v", name, err)
		}
	}
	p.stop(t)
}
