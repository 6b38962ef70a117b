package systemtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"kube-scheduler-simulator/simulator/testing/clustertest"
	"kube-scheduler-simulator/simulator/testing/kubectltest"
)

var deploy = filepath.Join("..", "..", "deploy")

// TestManifests lets an API server check the manifests of sweeps, and the rights of kubectl why.
func TestManifests(t *testing.T) {
	cluster := start(t, passing(t))
	kubectl := kubectltest.Kubectl{Kubeconfig: cluster.kubeconfig, Namespace: "default"}
	sweep := filepath.Join(deploy, "sweep")
	out := kubectl.Must(t, "apply", "--dry-run=server", "--validate=strict", "-k", sweep)
	files, err := filepath.Glob(filepath.Join(sweep, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// Every file but kustomization.yaml is an object.
	if got, want := strings.Count(out, "(server dry run)"), len(files)-1; got != want {
		t.Errorf("%d of %d objects are there:\n%s", got, want, out)
	}
	kubectl.Must(t, "apply", "--dry-run=server", "--validate=strict", "-f", filepath.Join(deploy, "kubectl-why", "clusterrole.yaml"))
}

// helm is Helm itself, on a cluster.
type helm struct{ program, home, kubeconfig string }

// newHelm builds Helm, which is in a module of its own.
func newHelm(t *testing.T) helm {
	t.Helper()
	h := helm{program: filepath.Join(t.TempDir(), "helm"), home: t.TempDir(), kubeconfig: os.DevNull}
	build := exec.CommandContext(t.Context(), "go", "build", "-C", filepath.Join(deploy, "tools"), "-ldflags=-s -w", "-o", h.program, "helm.sh/helm/v3/cmd/helm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building helm: %v\n%s", err, out)
	}
	return h
}

// run returns what helm prints to stdout. The error holds its stderr.
func (h helm) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), h.program, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+h.kubeconfig, "HELM_CONFIG_HOME="+h.home, "HELM_CACHE_HOME="+h.home, "HELM_DATA_HOME="+h.home)
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		err = errors.New(said.String())
	}
	return string(out), err
}

func (h helm) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := h.run(t, args...)
	if err != nil {
		t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// everyValue sets what the chart leaves out by default.
const everyValue = `
image: {repository: registry.example.com/simulator, tag: "1", pullSecrets: [{name: registry}]}
token: {value: 0123456789abcdef0123456789abcdef}
persistence: {size: 1Gi, storageClass: standard}
networkPolicy: {from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ingress}}}]}
service: {type: NodePort, port: 80}
kueue: true
schedulerConfiguration: |
  # A comment.
  apiVersion: kubescheduler.config.k8s.io/v1
  kind: KubeSchedulerConfiguration
  parallelism: 2
featureGates: {OpportunisticBatching: true, GenericWorkload: false}
extraArgs: ["--tie-seed=1", "--annotation-bytes=0"]
nodeSelector: {disk: fast}
tolerations: [{operator: Exists}]
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: Exists}]}]}}}
priorityClassName: system-cluster-critical
podAnnotations: {example.com/a: "1"}
podLabels: {example.com/b: "2"}
`

// TestTheChart lets Helm itself check, install, change and remove the chart of the server.
func TestTheChart(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	h := newHelm(t)
	chart := filepath.Join(deploy, "chart")
	every := filepath.Join(t.TempDir(), "every.yaml")
	if err := os.WriteFile(every, []byte(everyValue), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("lint", func(t *testing.T) {
		h.must(t, "lint", "--strict", chart)
		h.must(t, "lint", "--strict", chart, "--values", every)
	})
	t.Run("wrong values", func(t *testing.T) {
		for value, want := range map[string]string{
			"token.value=short": "pattern", "replicas=2": "replicas", "persistence.enabled=maybe": "boolean", "extraArgs[0]=serve": "pattern", "service.port=0": "minimum",
		} {
			if _, err := h.run(t, "template", "simulator", chart, "--set", value); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", value, err)
			}
		}
	})
	t.Run("the server runs", func(t *testing.T) { runChart(t, h.must(t, "template", "simulator", chart, "--values", every)) })
	t.Run("a release lives", func(t *testing.T) { h.live(t, chart, every) })
}

// rendered are the objects of the chart that matter here.
type rendered struct {
	deployment    appsv1.Deployment
	token         corev1.Secret
	configuration corev1.ConfigMap
}

func readChart(t *testing.T, manifests string) (r rendered) {
	t.Helper()
	kinds := map[string]any{"Deployment": &r.deployment, "Secret": &r.token, "ConfigMap": &r.configuration}
	for d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifests), 4096); ; {
		var object map[string]any
		if err := d.Decode(&object); errors.Is(err, io.EOF) {
			return r
		} else if err != nil {
			t.Fatal(err)
		}
		if into := kinds[fmt.Sprint(object["kind"])]; into != nil {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, into); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// runChart runs the container of the chart's Deployment, and its probes, as a kubelet would.
func runChart(t *testing.T, manifests string) {
	objects := readChart(t, manifests)
	container := objects.deployment.Spec.Template.Spec.Containers[0]
	mounted := t.TempDir()
	for name, content := range map[string]string{"token": string(objects.token.Data["token"]), "scheduler.yaml": objects.configuration.Data["scheduler.yaml"]} {
		if err := os.WriteFile(filepath.Join(mounted, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	dir := newHome(t)
	// What is mounted is elsewhere on this machine.
	here := strings.NewReplacer("/run/secrets/simulator/", mounted+"/", "/etc/simulator/", mounted+"/", "/data/", dir.tmp+"/", "--listen=:1212", "--listen="+address)
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

// live installs the chart into a simulator, whose namespace allows only pods that need no privileges, changes it and
// removes it.
func (h helm) live(t *testing.T, chart, every string) {
	cluster := start(t, passing(t))
	h.kubeconfig = cluster.kubeconfig
	kubectl := kubectltest.Kubectl{Kubeconfig: cluster.kubeconfig, Namespace: "team"}
	kubectl.Apply(t, `
apiVersion: v1
kind: Namespace
metadata: {name: team, labels: {pod-security.kubernetes.io/enforce: restricted}}
---
apiVersion: v1
kind: Node
metadata: {name: node, labels: {kubernetes.io/hostname: node, disk: fast}}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "20"}}
`)
	deployment := func() *appsv1.Deployment {
		d, err := cluster.client.AppsV1().Deployments("team").Get(t.Context(), "simulator", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	token := func() string {
		s, err := cluster.client.CoreV1().Secrets("team").Get(t.Context(), "simulator-token", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return string(s.Data["token"])
	}
	h.must(t, "install", "simulator", chart, "--namespace=team", "--wait", "--timeout=2m")
	if d := deployment(); d.Status.AvailableReplicas != 1 {
		t.Errorf("%d pods are available", d.Status.AvailableReplicas)
	}
	first := token()
	if len(first) < 32 {
		t.Errorf("the token is %q", first)
	}
	h.must(t, "upgrade", "simulator", chart, "--namespace=team", "--set=kueue=true", "--wait", "--timeout=2m")
	if args := deployment().Spec.Template.Spec.Containers[0].Args; args[len(args)-1] != "--kueue" {
		t.Errorf("the arguments are %q", args)
	}
	if diff := cmp.Diff(first, token()); diff != "" {
		t.Errorf("an upgrade changes the token (-want +got):\n%s", diff)
	}
	before := deployment().Spec.Template.Annotations["checksum/token"]
	h.must(t, "upgrade", "simulator", chart, "--namespace=team", "--set=token.value="+strings.Repeat("x", 32), "--wait", "--timeout=2m")
	if token() == first || deployment().Spec.Template.Annotations["checksum/token"] == before {
		t.Error("a new token does not reach the server")
	}
	// Everything that a value can bring is an object that the API server takes. The class of the claim cannot change.
	h.must(t, "upgrade", "simulator", chart, "--namespace=team", "--values", every, "--set=persistence.size=8Gi,persistence.storageClass=", "--wait", "--timeout=2m")
	h.must(t, "upgrade", "simulator", chart, "--namespace=team", "--set=persistence.enabled=false,networkPolicy.enabled=false,token.existingSecret=other,resources=null")
	eventually(t, "what is turned off is gone", func() error {
		if got := kubectl.Must(t, "get", "pvc,networkpolicy,secret", "-l", "app.kubernetes.io/instance=simulator", "-o", "name"); got != "" {
			return errors.New(got)
		}
		return nil
	})
	h.must(t, "uninstall", "simulator", "--namespace=team", "--wait", "--timeout=2m")
	eventually(t, "nothing is left", func() error {
		if got := kubectl.Must(t, "get", "all,pvc,secret,configmap,serviceaccount,networkpolicy", "-l", "app.kubernetes.io/instance=simulator", "-o", "name"); got != "" {
			return errors.New(got)
		}
		return nil
	})
}
